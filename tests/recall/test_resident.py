"""The inside of the service: words when the model is late, vectors when it is there, one ledger row a prompt.

Cases emb-offline, recall-hook-timeout (b). Public references: openai/tiktoken#369; huggingface/setfit#495;
thedotmack/claude-mem#3303; topoteretes/cognee-integrations#273.
"""

import errno
import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.embedder import StubEmbedder
from support.hooks import (
    SITE,
    counted,
    event,
    ledger_rows,
    payload,
    project,
    remember,
    run_client,
    serving,
    wait_for,
)

from indexer.embedder import Embedder
from indexer.sidefile import SideFile
from recall.hook_turn import read_beat
from recall.resident import KEPT_FOR_WORDS_S, Resident
from recall.warm_model import WarmModel
from transcript.errors import EmbedderUnavailable
from transcript.workspace import Workspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the resident service is for Unix")
ASKED = "Which port does the invoice gateway listen on?"
SAID = "The invoice gateway listens on port 7443 because 8080 is taken by the metrics exporter."
QUESTION = "on which port listens the invoice gateway"


@pytest.fixture
def workspace(data: Path) -> Workspace:
    return remember(data, project(), (ASKED, SAID), ("Rename the button.", "Done, it says Save now."))


def resident(data: Path, load: Callable[[], Embedder], *, ready: bool = True) -> Resident:
    model = WarmModel(load)
    if ready:
        wait_for(lambda: model.ready.is_set() or model.failure)
    return Resident(data, SITE, model, os.environ)


def ask(made: Resident, prompt: str = QUESTION, left: float = 60, **more: object) -> str:
    """Send one prompt of a new session and let what follows the answer happen."""
    reply = made.respond("claude-code", payload(prompt, **{"session_id": os.urandom(8).hex(), **more}), left)
    if reply.afterwards is not None:
        reply.afterwards(True)
    return json.loads(reply.output)["hookSpecificOutput"]["additionalContext"] if reply.output else ""


def test_a_warm_turn_uses_vectors_and_says_so(data, workspace):
    found = ask(resident(data, StubEmbedder))
    (row,) = ledger_rows(workspace)

    assert "7443" in found, row
    assert row["mode"] == "warm"
    assert "note" not in row
    assert "words_only" not in row
    assert row["items"][0]["cosine"] is not None


def test_a_passage_that_shares_no_word_is_found_by_its_vector(data):
    """With words alone the same prompt has no candidate at all (whether the gate lets one pass is not asked here)."""

    class Likes(StubEmbedder):
        def encode(self, texts):
            return super().encode(["zebra crossing" if "tariff" in t else t for t in texts])

    def gone():
        raise EmbedderUnavailable("gone")

    workspace = remember(data, project(), ("What about stripes?", "zebra crossing"))

    for load in (Likes, gone):
        ask(resident(data, load), "tariff of today")

    assert [row["counts"]["candidates"] for row in ledger_rows(workspace)] == [2, 0]


@pytest.mark.parametrize("failure", [EmbedderUnavailable("the model file is missing"), RuntimeError("ORT broke")])
def test_without_a_model_words_answer_and_the_row_says_why(failure, data, workspace):
    def load():
        raise failure

    assert "7443" in ask(resident(data, load))
    assert [(row["note"], row["words_only"]) for row in ledger_rows(workspace)] == [("model_missing", "no_vectors")]


def test_while_the_model_loads_words_answer_at_once(data, workspace):
    go = threading.Event()

    def load():
        go.wait(180)
        return StubEmbedder()

    found = ask(resident(data, load, ready=False))
    go.set()

    assert "7443" in found
    assert ledger_rows(workspace)[0]["note"] == "model_loading"


def test_a_model_that_takes_a_minute_costs_its_share_of_the_time_once(data, workspace):
    """Case recall-hook-timeout (b): both turns are answered while the model is still at the first one's text."""
    asleep = threading.Event()

    class Slow(StubEmbedder):
        def encode(self, texts):
            if texts != ["warm up"]:
                asleep.wait(180)
            return super().encode(texts)

    made = resident(data, Slow)
    found = [ask(made, left=KEPT_FOR_WORDS_S + 0.1) for _ in range(2)]
    asleep.set()

    assert ["7443" in text for text in found] == [True, True]
    first, second = (row["note"] for row in ledger_rows(workspace))
    assert first == "model_slow"
    assert second in ("model_busy", "model_slow")


def test_who_waited_its_whole_time_for_another_turn_is_searched_for_no_more(data, workspace, monkeypatch):
    """Else a service that once fell behind answers each next prompt too late."""
    made = resident(data, StubEmbedder)
    made.respond("claude-code", payload(QUESTION, session_id="a"), 60)
    room = made._room(workspace)
    searched = []
    monkeypatch.setattr(Resident, "_search", lambda *_: searched.append(1) or b"")

    with room.lock:
        waited = made.respond("claude-code", payload(QUESTION, session_id="b"), 0.01)
    made.respond("claude-code", payload(QUESTION, session_id="c"), 60)

    assert waited.output == b""
    assert len(searched) == 1


@pytest.mark.parametrize("failure", ["zero", "nan", "short"])
def test_a_vector_that_cannot_be_used_is_refused_and_words_answer(failure, data, workspace):
    assert "7443" in ask(resident(data, lambda: StubEmbedder(failures={"invoice gateway": failure})))
    assert ledger_rows(workspace)[0]["note"] == "vector_unusable"


def test_a_text_the_model_fails_on_is_one_turn_of_words(data, workspace):
    made = resident(data, lambda: StubEmbedder(failures={"listens": ValueError("bad text")}))

    assert "7443" in ask(made)
    assert "7443" in ask(made, "which port has the invoice gateway")
    assert [row.get("note", "") for row in ledger_rows(workspace)] == ["model_failed:ValueError", ""]


def test_vectors_of_another_model_are_not_compared(data, workspace):
    assert "7443" in ask(resident(data, lambda: StubEmbedder(id="other")))
    assert ledger_rows(workspace)[0]["note"] == "other_model"


def test_what_was_indexed_meanwhile_is_found_by_the_next_prompt(data, workspace):
    made = resident(data, StubEmbedder)
    assert ask(made, "where do the nightly backups go") == ""

    remember(
        data,
        project(),
        ("Where do the nightly backups go?", "The nightly backups go to the vault in Basel."),
        session="b",
    )

    assert "Basel" in ask(made, "where do the nightly backups go")


def test_vectors_answer_though_the_disk_takes_no_more_of_their_mapped_file(data, workspace, monkeypatch):
    made = resident(data, StubEmbedder)
    ask(made)
    said = ("Where do the nightly backups go?", "The nightly backups go to the vault in Basel.")
    remember(data, project(), said, session="b")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(SideFile, "_write", full)

    assert "Basel" in ask(made, "where do the nightly backups go")
    newest = ledger_rows(workspace)[-1]
    assert (newest["mode"], newest["items"][0]["cosine"] is not None, "note" in newest) == ("warm", True, False)


def test_an_index_that_was_deleted_is_no_longer_answered_from(data, workspace):
    made = resident(data, StubEmbedder)
    assert ask(made)

    workspace.index_path.unlink()

    assert ask(made) == ""
    assert ledger_rows(workspace)[-1]["empty_reason"] == "no_index"


def test_the_same_prompt_twice_in_one_session_injects_once(data, workspace, monkeypatch):
    monkeypatch.setattr("recall.turnstate.TWIN_SECONDS", 3600.0)  # the three follow at once, or on a busy machine later
    made = resident(data, StubEmbedder)

    first = ask(made, session_id="s", prompt_id="1")
    twin = ask(made, session_id="s", prompt_id="1")
    later = ask(made, session_id="s", prompt_id="2")

    assert [bool(found) for found in (first, twin, later)] == [True, False, False]
    rows = ledger_rows(workspace)
    assert rows[1]["empty_reason"] == "twin"
    assert "already_injected" in [item["reason"] for item in rows[2]["left_out"]]


def test_an_answer_that_came_too_late_leaves_no_row_and_can_be_injected_again(data, workspace):
    made = resident(data, StubEmbedder)
    reply = made.respond("claude-code", payload(QUESTION, session_id="s", prompt_id="1"), 60)
    reply.afterwards(False)

    assert ledger_rows(workspace) == []
    assert "7443" in ask(made, session_id="s", prompt_id="2")


@pytest.mark.parametrize("name", ["SessionStart", "Stop", "SubagentStop", "SessionEnd", "PreCompact"])
def test_other_events_answer_nothing_and_leave_a_heartbeat(name, data, workspace, monkeypatch):
    started = []
    monkeypatch.setattr("recall.spawn.start_capture", lambda *a, **k: started.append(a))
    reply = resident(data, StubEmbedder).respond("claude-code", event(name, project(), source="startup"), 0.5)
    reply.afterwards(True)

    assert reply.output == b""
    assert set(read_beat(data, "claude-code")) == {name}
    assert len(started) == (name != "SessionStart")


def test_what_a_library_prints_never_reaches_the_harness(data, workspace, capfd):
    """Case recall-stdout-purity (a), (b), (e)."""

    class Chatty(StubEmbedder):
        def encode(self, texts):
            print("\x1b[31mloading weights: 100%\x1b[0m")
            os.write(2, b"warning: deprecated\n")
            return super().encode(texts)

    made = resident(data, Chatty)
    with serving(data, made.respond):
        ran = run_client(
            data, payload(QUESTION), FORCE_COLOR="1", CLICOLOR_FORCE="1", PYTHONWARNINGS="always", TERM="xterm"
        )

    assert (ran.code, ran.err) == (0, b"")
    assert ran.out.isascii()
    assert b"\x1b" not in ran.out
    assert "7443" in ran.context


def test_no_turn_opens_a_connection_but_the_clients_own_socket(data, workspace, monkeypatch):
    """Case emb-offline (1) and ESAA-44: nothing listens or calls beyond this machine's own socket file."""
    opened = []
    real = socket.socket.connect

    def connect(self, address):
        opened.append((self.family, address))
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)

    assert "7443" in ask(resident(data, StubEmbedder))
    assert opened == []


def test_a_failure_in_the_engine_is_the_clients_turn_and_counted(data, workspace, monkeypatch):
    def broken(*args, **more):
        raise ZeroDivisionError

    made = resident(data, StubEmbedder)
    monkeypatch.setattr("recall.engine.recall", broken)
    with serving(data, made.respond):
        ran = run_client(data, payload(QUESTION))

    assert "7443" in ran.context
    assert counted(data) == {"error:service:ZeroDivisionError": 1, "service_failed": 1}
    assert [row["mode"] for row in ledger_rows(workspace)] == ["words"]


def test_a_turn_whose_tokens_had_to_be_estimated_is_counted(data, workspace, monkeypatch):
    """Case count-special-tokens (openai/tiktoken#290): the counter raises, the turn is answered, health is told."""
    monkeypatch.setattr("indexer.tokens._encoding", lambda: None)
    made = resident(data, StubEmbedder)

    found = [ask(made) for _ in range(2)]

    assert ["7443" in text for text in found] == [True, True]
    assert counted(data) == {"tokens_estimated": 2}


def test_settings_of_a_project_are_followed_within_seconds(data, monkeypatch):
    more = ("Does the invoice gateway listen anywhere else?", "No, port 7443 is the only one it listens on.")
    workspace = remember(data, project(), (ASKED, SAID), more)
    monkeypatch.setattr("recall.resident.FRESH_S", -1.0)
    made = resident(data, StubEmbedder)
    assert ask(made)

    (data / "config.toml").write_text("[budget]\nitems = 1\n")

    assert len(ledger_rows(workspace)[-1]["items"]) > 1
    ask(made)
    assert len(ledger_rows(workspace)[-1]["items"]) == 1
