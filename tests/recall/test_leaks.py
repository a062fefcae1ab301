"""Attempts to make something private leave: on a channel, to a peer, through a file, a message, a protocol.

Three canaries: in a private memory, in a private observation, and in the user's own file. None of them may stand in a
byte of what leaves; each is there for the owner, so that every one of these tests can fail.
"""

import copy
import json
import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client
from support.command import Result, runner
from support.embedder import StubEmbedder
from support.hooks import SITE, client_command, hold_lock, run_client
from support.project import exchanges

from consolidation import standing_set
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall import rules_block, session_state
from recall.cli.app import App
from recall.cli.group import cli, run
from recall.cli.warm import Keeper
from recall.cli.work import settings_of
from recall.harness import Payload, recognise
from recall.hook_start import HookStart
from recall.hook_turn import HookTurn, Means
from recall.mcp_server import environment, server
from recall.resident import Resident
from recall.session_state import Cue
from recall.settings import GateSettings, Settings
from recall.warm_model import WarmModel
from transcript.curation import Author, Setting, observation
from transcript.event import stamp
from transcript.grants import granted
from transcript.log import Log
from transcript.projections.views import project as project_views
from transcript.projections.views import refresh
from transcript.workspace import user_workspace

MEMORY, OBSERVED, USER = "zirconfinch", "opalheron", "jaspercrane"
CANARIES = (MEMORY, OBSERVED, USER)
ASKED = "What do we know of the salary review and who reads the release notes?"
PLAIN = "The release notes are read by the support team."
OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))


class Place:
    """A project with private things in it, and the ways out of it."""

    def __init__(self, folder: Path, recall: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.recall, self.monkeypatch = folder, recall, monkeypatch
        self.data = Path(os.environ["RECALL_HOME"])
        app = App(os.environ, folder)
        self.workspace = app.workspace()
        self.memory = self.observation = ""

    def agent(self) -> None:
        """From here on commands run as an agent's."""
        self.monkeypatch.setenv("CLAUDECODE", "1")

    def turn(self, harness: str = "pi", **more: Any) -> bytes:
        """Return what a prompt's hook answers; `more` changes the payload."""
        payload = self.payload(harness, "UserPromptSubmit", prompt=ASKED, **more)
        turn = HookTurn(payload, self.data, mode="warm", call=os.urandom(4).hex(), now=datetime.now(UTC), started=0.0)
        if not payload.asks:
            return b""
        turn.open(os.environ)
        with Store.open(self.workspace.index_path) as store:
            audience = App(os.environ, self.folder).config.audience()
            answer = turn.answer(Means(store, TokenCounter(), meta=store.meta(), audience=audience), OPEN)
        turn.record()
        return answer

    def start(self, harness: str = "pi", **more: Any) -> bytes:
        """Return what the start of a session is told."""
        payload = self.payload(harness, "SessionStart", source="startup", **more)
        start = HookStart(payload, self.data, call=os.urandom(4).hex(), now=datetime.now(UTC), started=0.0)
        answer = start.answer(TokenCounter(), os.environ)
        start.record()
        return answer

    def payload(self, harness: str, event: str, **more: Any) -> Payload:
        whole = {"session_id": os.urandom(4).hex(), "hook_event_name": event, "cwd": str(self.folder)}
        if harness == "pi":
            whole["harness"] = harness
        found = recognise(harness, json.dumps({**whole, **more}).encode())
        assert isinstance(found, Payload)
        return found

    def config(self, text: str) -> None:
        """Write the user's settings."""
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "config.toml").write_text(text)


@pytest.fixture
def place(indexed: Callable[..., Path], capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Place:
    recall = runner(capsys)
    here = Place(indexed(exchanges([("Who reads the release notes?", PLAIN)]), words_only=True), recall, monkeypatch)
    user = here.data / "identity" / "USER.md"
    user.parent.mkdir()
    user.write_text(f"# The user\n\nTheir salary review is about {USER}.\n")
    who = ("--as", "human", "--actor", "ana")
    for words in (
        ("memory", "add", f"The salary review is about {MEMORY}.", "--why", "said so", "--private", *who),
        (
            "observe",
            f"The salary review names {OBSERVED}.",
            "--channel",
            "dm",
            "--category",
            "review",
            "--private",
            *who,
        ),
        ("decide", "The release notes stay short.", "--why", "support reads them", *who),
        ("index", "--words-only"),
    ):
        done = recall(*words)
        assert done.code == 0, done.err
    events = {event.type: event.id for event in Log(here.workspace).read()}
    here.memory, here.observation = events["memory.written"], events["observation"]
    app = App(os.environ, here.folder)
    standing_set.after_apply(here.workspace, settings_of(app), now=app.now())
    return here


def clean(data: bytes | str) -> None:
    """Nothing private stands in there."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    assert [canary for canary in CANARIES if canary in text] == []


def test_everything_private_is_there_for_its_owner(place: Place) -> None:
    """The other tests can fail: what they look for is found where only the owner reads along."""
    turn, start = place.turn().decode(), place.start().decode()

    assert MEMORY in turn
    assert OBSERVED in turn
    assert USER in start
    assert MEMORY in place.recall("query", "salary review").out
    assert MEMORY in place.recall("show", place.memory).out
    assert OBSERVED in place.recall("context", "--type", "observation").out


@pytest.mark.parametrize("more", [{"channel": "ops"}, {"audience": "shared"}, {"audience": "public"}])
def test_1_a_shared_channel(place: Place, more: dict[str, str]) -> None:
    place.config('[audience]\nshared_channels = "ops"\n')

    clean(place.turn(**more))
    clean(place.start(**more))
    assert MEMORY in place.turn(channel="dm").decode()


def test_1_a_shared_channel_named_for_the_session(place: Place) -> None:
    place.config('[audience]\nshared_channels = "ops"\n')
    (place.folder / ".recall" / "identity" / "roles").mkdir(parents=True)
    (place.folder / ".recall" / "identity" / "roles" / "support.md").write_text("You answer the support channel.\n")
    assert place.recall("role", "use", "support", "--channel", "ops").code == 0

    clean(place.turn("claude-code"))
    start = place.start("claude-code")
    clean(start)
    assert b"release notes stay short" not in start
    clean(place.recall("query", "salary review").out)


@pytest.mark.skipif(os.name != "posix", reason="clients are started as on Unix")
@pytest.mark.parametrize("how", ["client", "service"])
def test_1_a_shared_channel_in_the_real_client_and_service(place: Place, how: str) -> None:
    """The process that a harness starts, and the service that answers for it, take the audience alike."""
    place.config('[audience]\nshared_channels = "ops"\n[gate]\nitem = false\nevidence = false\nmargin = false\n')

    def answer(**more: str) -> bytes:
        whole = {"harness": "pi", "session_id": os.urandom(4).hex(), "hook_event_name": "UserPromptSubmit"}
        raw = json.dumps({**whole, "cwd": str(place.folder), "prompt": ASKED, **more}).encode()
        if how == "client":
            return run_client(place.data, raw, command=client_command(place.data, harness="pi")).out
        return Resident(place.data, SITE, WarmModel(StubEmbedder), os.environ).respond("pi", raw, 60).output

    held = hold_lock(place.data)
    try:
        assert MEMORY.encode() in answer(channel="dm")
        clean(answer(channel="ops"))
        clean(answer(channel="ops", audience="private"))
        place.config("[audience\n")
        clean(answer(channel="dm"))
    finally:
        os.close(held)


def test_2_a_peer(place: Place) -> None:
    clean(place.turn(audience="peer"))
    clean(place.start(audience="peer"))
    place.monkeypatch.setenv("RECALL_CHILD", "1")

    for words in (["query", "salary review"], ["show", place.memory], ["context"], ["handoff"], ["memory", "list"]):
        done = place.recall(*words)
        clean(done.out + done.err)
        assert PLAIN not in done.out


def test_3_a_sub_agent(place: Place) -> None:
    assert place.turn("claude-code", agent_id="worker-1") == b""
    payload = place.payload("claude-code", "SessionStart", source="startup", agent_id="worker-1")
    assert not payload.opens


def test_4_an_export(place: Place, tmp_path: Path) -> None:
    wire, atif = tmp_path / "record.jsonl", tmp_path / "sessions"

    refused = place.recall("export", str(wire))
    assert (refused.code, wire.exists()) == (1, False)
    assert "2 private events" in refused.err or "3 private events" in refused.err
    clean(refused.out + refused.err)
    assert place.recall("export", str(atif), "--format", "atif").code == 0
    files = [path.read_bytes() for path in atif.iterdir()]
    assert files
    clean(b"".join(files))

    assert place.recall("export", str(wire), "--audience", "private").code == 0
    assert MEMORY.encode() in wire.read_bytes()
    place.agent()
    asked = place.recall("export", str(tmp_path / "again.jsonl"), "--audience", "private")
    assert (asked.code, (tmp_path / "again.jsonl").exists()) == (2, False)


def test_5_a_handoff(place: Place) -> None:
    owner = place.recall("handoff", "--json").out
    place.agent()

    done = place.recall("handoff")
    clean(done.out + done.err)
    clean((place.workspace.run_dir / "handoff.json").read_bytes())
    assert "release notes stay short" in done.out
    assert "release notes stay short" in owner


def test_6_the_views_and_a_rules_file(place: Place) -> None:
    project_views(place.workspace, snapshot=False)

    files = [path for path in (place.folder / ".recall").rglob("*") if path.is_file()]
    assert [path.name for path in files if path.name == "state.md"]
    for path in files:
        clean(path.read_bytes())
    told = rules_block.content(
        place.workspace, harness="codex", carried=App(os.environ, place.folder).config.standing()
    )
    clean(told)
    assert "release notes stay short" in told


def test_7_an_error_that_names_a_private_item(place: Place) -> None:
    place.agent()

    for words in (
        ["show", place.memory],
        ["show", f"{place.memory}#0-10"],
        ["show", place.observation, "--json"],
        ["show", f"{place.memory}#0-99999"],
        ["memory", "show", place.memory],
        ["memory", "history", place.memory],
        ["context", "--around", place.memory],
        ["query", "salary review", "--explain"],
        ["graph", "show", "salary"],
    ):
        done = place.recall(*words)
        clean(done.out + done.err)
    shown = place.recall("show", place.memory)
    assert shown.code == 1
    assert "is not for the audience 'project'; a person can let single items through" in shown.err
    asked = place.recall("show", place.memory, "--audience", "private")
    assert (asked.code, asked.out) == (2, "")


def test_8_what_is_told_of_health_and_of_earlier_turns(place: Place) -> None:
    place.turn("claude-code")
    place.start("claude-code")
    owner = place.recall("last").out
    place.agent()

    for words in (["health"], ["health", "--json"], ["verify"], ["last"], ["last", "-n", "9", "--json"], ["explain"]):
        done = place.recall(*words)
        clean(done.out + done.err)
    assert MEMORY in owner or USER in owner


def test_9_a_client_of_mcp(place: Place) -> None:
    keeper = Keeper(App(environment(os.environ), place.folder), by_agent=True)

    def execute(words: Any) -> None:
        cli.main(args=list(words), prog_name="recall", standalone_mode=False, obj=keeper.app())

    async def talk() -> list[Any]:
        async with Client(server(execute)) as client:
            calls = (
                ("search", {"query": "salary review"}),
                ("show", {"pointer": place.memory}),
                ("show", {"pointer": place.observation}),
                ("context", {"last": 20}),
                ("context", {"around": place.memory}),
                ("handoff", {}),
                ("search", {"query": "release notes support team"}),
            )
            return [await client.call_tool(name, given) for name, given in calls]

    answers = anyio.run(talk)

    for answer in answers:
        clean(json.dumps([block.text for block in answer.content]))
    assert PLAIN in answers[-1].content[0].text
    assert answers[1].is_error


def test_10_another_workspace_and_the_users_own(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    place.monkeypatch.chdir(other)
    assert run(["init"]) == 0
    now = datetime.now(UTC)
    users = user_workspace(place.data)
    by, at = Author("ana", "human", "recall"), Setting(stamp(now), "recall:x", "x", {}, users.id)
    draft = observation(by, at, f"The salary review names {OBSERVED}.", channel="dm", category="review", private=True)
    Log(users).append([draft], now=now)

    assert OBSERVED in place.recall("show", draft.id).out
    place.agent()
    for words in (
        ["show", place.memory],
        ["show", draft.id],
        ["query", "salary review"],
        ["memory", "list"],
        ["context"],
        ["handoff"],
    ):
        done = place.recall(*words)
        clean(done.out + done.err)


def test_whatever_an_agent_runs_prints_and_leaves_nothing_private(place: Place) -> None:
    """Every command that prints words of the record, asked about the private items by their ids and words."""
    place.recall("query", "salary review")
    place.turn("claude-code")
    place.agent()
    memory, observation = place.memory, place.observation

    for words in (
        ["log", "trail", memory],
        ["log", "trail", observation],
        ["log", "audit"],
        ["index", "status"],
        ["last", "--all", "-n", "5", "--json"],
        ["replay-turn"],
        ["memory", "list", "--state", "all"],
        ["memory", "list", "--proposals"],
        ["memory", "archive", memory, "--reason", "x"],
        ["memory", "edit", memory, "--tag", "x"],
        ["memory", "add", "The salary review is about nothing."],
        ["correct", memory, "no"],
        ["coord", "propose", "archive", "--target", f"memory:{memory}", "--summary", "x", "--evidence", memory],
        ["coord", "read", "--all"],
        ["consolidate", "--dry-run"],
        ["redact", memory, "--dry-run"],
        ["forget", "salary", "--dry-run"],
        ["replay", "--cold"],
        ["session-start"],
        ["session-start", "--harness", "claude-code"],
        ["role", "list"],
        ["grant", "list"],
        ["query", "salary review", "--json", "--explain"],
    ):
        done = place.recall(*words)
        clean(done.out + done.err)
    for path in place.folder.rglob("*"):
        if path.is_file():
            clean(path.read_bytes())


def test_a_grant_lets_one_item_through_all_of_them_and_no_other(place: Place) -> None:
    now = datetime.now(UTC)
    draft = granted(stamp(now), place.memory, "peer", actor="ana", reason="asked for")
    Log(place.workspace).append([draft], now=now)
    refresh(place.workspace)

    turn = place.turn(audience="peer").decode()
    assert MEMORY in turn
    assert OBSERVED not in turn
    assert PLAIN not in turn
    place.monkeypatch.setenv("RECALL_CHILD", "1")
    assert MEMORY in place.recall("show", place.memory).out
    assert MEMORY in place.recall("query", "salary review").out
    assert OBSERVED not in place.recall("show", place.observation).out


def test_a_critical_memory_that_becomes_private_leaves_what_others_are_told_at_once(place: Place) -> None:
    who = ("--as", "human", "--actor", "ana")
    assert place.recall("enable-hooks", "grok-build").code == 0  # a rules file of the project
    said = place.recall("memory", "add", "Wrens go out on Tuesdays.", "--why", "x", "--critical", "--for", "a", *who)
    assert said.code == 0, said.err
    name = [event.id for event in Log(place.workspace).read() if event.type == "memory.written"][-1]

    def told() -> tuple[bool, list[str]]:
        files = [path for path in place.folder.rglob("*") if path.is_file() and b"Wrens go out" in path.read_bytes()]
        return b"Wrens go out" in place.start(audience="project"), sorted(path.name for path in files)

    before = told()
    assert place.recall("memory", "edit", name, "--private", *who).code == 0

    assert before == (True, ["MEMORY.md", "recall.md", f"wrens-go-out-on-tuesdays-{name[:10]}.md"])
    assert told() == (False, [])


@pytest.mark.parametrize("said", [Cue(role="larkrole", audience="shared"), Cue(channel="larkroom")])
def test_what_forgets_a_word_does_not_forget_who_reads_along(place: Place, said: Cue) -> None:
    place.config('[audience]\nshared_channels = "larkroom"\n')
    session_state.written(place.workspace.run_dir, said, "s1")
    word = said.role or said.channel
    assert place.recall("decide", f"The {word} is closed.", "--why", "x", "--as", "human", "--actor", "ana").code == 0

    done = place.recall("forget", word, "--authorised", "--reason", "asked")

    assert done.code == 0, done.err
    assert word.encode() not in (place.workspace.run_dir / "session.json").read_bytes()
    assert session_state.of(place.workspace.run_dir, "s1") == Cue(audience="shared")
    clean(place.turn("claude-code", session_id="s1"))
    assert MEMORY in place.turn("claude-code", session_id="s2").decode()


JUNK = (None, 1, -1.5, "x", "", [], {}, True, [1], {"a": 1}, 10**30, "\ud800", "2026-13-01")


def damaged(value: Any, chance: random.Random) -> Any:
    """A copy of what a file holds with one value of another kind, or one that is missing."""
    value = copy.deepcopy(value)
    where: list[tuple[Any, Any]] = []
    parts = [value]
    while parts:
        part = parts.pop()
        inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, held in inner:
            where.append((part, key))
            parts.append(held)
    part, key = chance.choice(where)
    if isinstance(part, dict) and chance.random() < 0.2:
        del part[key]
    else:
        part[key] = chance.choice(JUNK)
    return value


@pytest.mark.parametrize("name", ["facets.json", "standing.json", "handoff.json", "session.json"])
def test_a_damaged_file_in_run_ends_no_hook_and_lets_nothing_out(place: Place, name: str) -> None:
    roles = place.folder / ".recall" / "identity" / "roles"
    roles.mkdir(parents=True)
    (roles / "support.md").write_text("---\nauthority: [review]\n---\nYou answer the support channel.\n")
    assert place.recall("role", "use", "support", "--channel", "dm").code == 0
    draft = granted(stamp(datetime.now(UTC)), place.memory, "peer", actor="ana", reason="asked for")
    Log(place.workspace).append([draft], now=datetime.now(UTC))
    refresh(place.workspace)
    path = place.workspace.run_dir / name
    whole = json.loads(path.read_bytes())

    for seed in range(25):
        path.write_text(json.dumps(damaged(whole, random.Random(seed))))
        clean(place.turn(audience="shared"))
        clean(place.start(audience="shared"))
        place.turn("claude-code")
        place.start("claude-code")
    for words in (["query", "salary review"], ["session-start"], ["role", "show"], ["grant", "list"], ["health"]):
        assert "Traceback" not in place.recall(*words).err


def test_help_of_the_commands_names_the_audiences() -> None:
    for words in (["query", "--help"], ["show", "--help"], ["context", "--help"], ["handoff", "--help"]):
        assert "--audience [private|project|shared|peer]" in CliRunner().invoke(cli, words).output
