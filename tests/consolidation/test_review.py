"""A reviewer's rounds, and the transports by which one is reached."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.remembered import Remembered, make_remembered

from consolidation.model import Candidate, Reviewer, Verdict
from consolidation.neighbours import touched
from consolidation.review import review
from consolidation.review_protocol import answer, request
from consolidation.reviewers import make
from consolidation.sources import read
from consolidation.verify import verify
from recall.memory_settings import ReviewerSettings
from transcript.errors import ConfigError, ReviewFailed

SCRIPT = Path(__file__).parents[1] / "support" / "reviewer.py"
PORT = "The API listens on port 8080 behind the proxy."
TIME = "The proxy closes idle connections after 30 seconds."
LOW = {"severity": "low", "evidence_pointer": "x", "text": "loose wording", "kind": "wording"}
HIGH = {"severity": "high", "evidence_pointer": "x", "text": "not in the source", "kind": "support"}
NEW = {"severity": "critical", "evidence_pointer": "x", "text": "should use a queue", "kind": "new_mechanism"}
NARROWED = {"findings": [HIGH], "edits": [{"op": "replace", "before": f"{PORT} {TIME}", "after": PORT}]}


@pytest.fixture
def kept(tmp_path: Path) -> Remembered:
    return make_remembered(tmp_path / "record")


class Scripted:
    """Answers in the order of a list and keeps what it was asked."""

    kind, id = "command", "scripted"

    def __init__(self, *answers: Mapping[str, Any] | str) -> None:
        self.answers = answers
        self.asked: list[Mapping[str, Any]] = []

    def ask(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(asked)
        said = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(said, str):
            raise ReviewFailed(said)
        return {"protocol": "recall-review/1", "reviewer": "s", "verdict": "not_refuted", "findings": []} | dict(said)


def both(kept: Remembered) -> Candidate:
    return kept.candidate(f"{PORT} {TIME}")


def reviewed(
    kept: Remembered,
    candidate: Candidate,
    reviewer: Reviewer,
    *,
    past: Sequence[Mapping[str, Any]] = (),
    **settings: Any,
) -> list[Verdict]:
    near = touched(candidate, kept.state)
    computed = verify(candidate, kept.log, near, key=kept.key)
    shown = read(kept.log, candidate.sources, kept.key)
    return review(candidate, computed, near, shown, reviewer, ReviewerSettings(**settings), past=past)


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        files("consolidation.schema").joinpath(f"review_{name}.schema.json").read_bytes()
    )
    return found


# Rounds -----------------------------------------------------------------------------------------------------------


def test_the_rounds_end_when_nothing_severe_is_found(kept: Remembered) -> None:
    reviewer = Scripted({"findings": [LOW]})

    [verdict] = reviewed(kept, both(kept), reviewer)

    assert (verdict.round, verdict.verdict, verdict.label) == (1, "not_refuted", "claim")
    assert verdict.reviewer == ("command", "scripted")
    assert len(reviewer.asked) == 1


def test_a_low_finding_counts_where_the_severity_is_set_low(kept: Remembered) -> None:
    [verdict] = reviewed(kept, both(kept), Scripted({"findings": [LOW]}), severity="low")

    assert verdict.verdict == "unverified"


def test_the_second_round_is_asked_about_the_edit_alone(kept: Remembered) -> None:
    reviewer = Scripted(NARROWED, {})

    verdicts = reviewed(kept, both(kept), reviewer)

    assert [(v.round, v.verdict, v.kept_text) for v in verdicts] == [(1, "downgrade", PORT), (2, "downgrade", PORT)]
    second = reviewer.asked[1]
    assert second["edits"] == [{"op": "replace", "before": TIME, "after": ""}]
    assert (second["candidate"]["text"], second["claims"], second["sources"]) == ("", [], [])


def test_an_edit_that_words_anew_has_to_stand_in_the_sources(kept: Remembered) -> None:
    place = kept.say(f"{PORT} {TIME}")
    candidate = kept.candidate(f"{PORT} {TIME}", place)
    good = {
        "findings": [HIGH],
        "edits": [{"op": "replace", "before": TIME, "after": "The proxy closes idle connections."}],
    }
    invented = {"findings": [HIGH], "edits": [{"op": "replace", "before": TIME, "after": "The proxy never closes."}]}

    assert reviewed(kept, candidate, Scripted(invented, {}))[-1].kept_text == PORT
    assert reviewed(kept, candidate, Scripted(good, {}))[-1].kept_text == PORT  # no clause of the source ends there


def test_ideas_of_a_later_round_are_set_aside(kept: Remembered) -> None:
    [first] = reviewed(kept, both(kept), Scripted({"findings": [NEW]}))
    verdicts = reviewed(kept, both(kept), Scripted(NARROWED, {"findings": [NEW]}))

    assert (first.verdict, first.set_aside) == ("unverified", ())
    assert verdicts[-1].verdict == "downgrade"
    assert [one.kind for one in verdicts[-1].set_aside] == ["new_mechanism"]
    assert verdicts[-1].findings == ()


def test_faults_without_an_edit_leave_it_unverified(kept: Remembered) -> None:
    assert reviewed(kept, both(kept), Scripted({"findings": [HIGH]}))[-1].verdict == "unverified"


def test_edits_that_nobody_reviewed_are_not_accepted(kept: Remembered) -> None:
    verdicts = reviewed(kept, both(kept), Scripted(NARROWED), rounds=1)

    assert [v.verdict for v in verdicts] == ["unverified"]


@pytest.mark.parametrize(
    ("said", "verdict", "label"),
    [
        ({"verdict": "refuted", "findings": [HIGH]}, "refuted", "claim"),
        ({"verdict": "downgrade"}, "not_refuted", "inference"),
        ("did not answer within 1 s", "unverified", "claim"),
        ({"verdict": "proven"}, "unverified", "claim"),
        ({"findings": [LOW | {"severity": "terrible"}]}, "unverified", "claim"),
        ({"edits": [{"op": "replace", "before": "words that are not there", "after": "x"}]}, "unverified", "claim"),
        ({"verdict": "supersede", "target": "m" * 26}, "unverified", "claim"),
        ({"praise": "well done"}, "unverified", "claim"),
    ],
    ids=["refuted", "downgrade", "late", "a verdict of its own", "a severity of its own", "a foreign edit",
         "a memory it was not shown", "a field of its own"],
)  # fmt: skip
def test_a_reviewer_only_takes_away(kept: Remembered, said: Mapping[str, Any] | str, verdict: str, label: str) -> None:
    last = reviewed(kept, both(kept), Scripted(said))[-1]

    assert (last.verdict, last.label) == (verdict, label)


def test_what_the_checks_refuted_or_found_in_conflict_is_not_put_to_a_reviewer(kept: Remembered) -> None:
    kept.remember(kept.candidate(PORT, day=5))
    older = kept.candidate(PORT.replace("8080", "8443"), day=4)
    false = kept.candidate("Sessions are kept in Redis.", kept.say("Baskets are thrown away."))
    reviewer = Scripted({})

    assert reviewed(kept, older, reviewer) == []
    assert reviewed(kept, false, reviewer) == []
    assert reviewer.asked == []


def test_other_words_become_an_inference_when_the_reviewer_finds_nothing(kept: Remembered) -> None:
    place = kept.say(PORT)
    candidate = kept.candidate("Behind the proxy the API listens on port 8080.", place)

    [verdict] = reviewed(kept, candidate, Scripted({}))

    assert (verdict.verdict, verdict.label) == ("not_refuted", "inference")


def test_the_writer_is_never_its_own_reviewer(kept: Remembered) -> None:
    candidate = kept.candidate(PORT, drafted_by="scripted", found_by="drafter")

    with pytest.raises(ConfigError, match="scripted wrote the candidate"):
        reviewed(kept, candidate, Scripted({}))


def test_private_texts_are_shown_only_where_that_is_set(kept: Remembered) -> None:
    kept.remember(kept.candidate("The API token of the proxy lies in the vault.", day=1), privacy="private")
    candidate = kept.candidate("The API listens on the proxy for tokens.", day=2)
    private = kept.candidate("The API listens on the proxy for tokens.", day=2, privacy="private")
    closed, opened = Scripted({}), Scripted({})

    assert reviewed(kept, private, closed) == []
    reviewed(kept, candidate, closed)
    reviewed(kept, candidate, opened, private=True)

    assert [asked["memories"] for asked in closed.asked] == [[]]
    assert [memory["text"] for memory in opened.asked[0]["memories"]] == [
        "The API token of the proxy lies in the vault."
    ]


def test_a_question_that_was_answered_is_not_asked_again(kept: Remembered) -> None:
    candidate = both(kept)
    first = Scripted(NARROWED, {})
    verdicts = reviewed(kept, candidate, first)
    past = [
        {
            "of": v.of, "round": v.round, "reviewer": {"kind": v.reviewer[0], "id": v.reviewer[1]}, "label": v.label,
            "verdict": v.verdict, "findings": [vars_of(f) for f in v.findings], "set_aside": [], "target": v.target,
            "kept_text": v.kept_text, "request_sha256": v.request_sha256, "answer_sha256": v.answer_sha256,
            "seconds": v.seconds, "note": v.note,
        }
        for v in verdicts
    ]  # fmt: skip
    again = Scripted("must not be asked")

    assert reviewed(kept, candidate, again, past=past) == verdicts
    assert again.asked == []
    assert [v.round for v in reviewed(kept, candidate, first, past=past[:1])] == [1, 2]
    assert len(first.asked) == 3


def vars_of(finding: Any) -> dict[str, str]:
    return {name: getattr(finding, name) for name in ("severity", "evidence_pointer", "text", "kind")}


def test_a_finding_that_quotes_a_memory_names_it(kept: Remembered) -> None:
    memory = kept.remember(kept.candidate("The proxy is restarted on port 8080 each night.", day=1))
    quoting = LOW | {"text": "It says that the proxy is restarted on port 8080 at other times."}

    [verdict] = reviewed(kept, both(kept), Scripted({"findings": [quoting, LOW]}))

    assert [one.evidence_pointer for one in verdict.findings] == [memory.id[:10], "x"]


# Forms ------------------------------------------------------------------------------------------------------------


def test_a_request_holds_the_candidate_what_it_touches_and_its_sources_and_nothing_else(kept: Remembered) -> None:
    kept.say("A secret plan that stands in the same session.")
    kept.remember(kept.candidate("The proxy is restarted on port 8080 each night.", day=1))
    reviewer = Scripted(NARROWED, {})

    reviewed(kept, both(kept), reviewer)

    for asked in reviewer.asked:
        jsonschema.validate(asked, schema("request"))
    whole = json.dumps(reviewer.asked)
    assert "secret plan" not in whole
    assert str(kept.log.workspace.log_dir) not in whole
    assert set(reviewer.asked[0]) == set(schema("request")["required"])
    assert [s["text"] for s in reviewer.asked[0]["sources"]] == [f"{PORT} {TIME}"]
    assert [m["text"] for m in reviewer.asked[0]["memories"]] == ["The proxy is restarted on port 8080 each night."]


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"target": None, "edits": []}, True),
        ({"findings": [LOW, NEW]}, True),
        ({"verdict": "proven"}, False),
        ({"protocol": "recall-review/2"}, False),
        ({"findings": [LOW | {"kind": "style"}]}, False),
        ({"findings": [{"severity": "low"}]}, False),
        ({"findings": "none"}, False),
        ({"edits": [{"op": "insert", "before": "a", "after": "b"}]}, False),
        ({"reviewer": ""}, False),
        ({"score": 9}, False),
    ],
)
def test_an_answer_is_taken_as_the_schema_says(kept: Remembered, change: dict[str, Any], valid: bool) -> None:
    given = {"protocol": "recall-review/1", "reviewer": "rex", "verdict": "not_refuted", "findings": []} | change
    asked = request(both(kept), "claim", [], [], number=1, severity="medium")

    held_by_schema = jsonschema.Draft202012Validator(schema("answer")).is_valid(given)
    try:
        answer(given, asked)
        taken = True
    except ReviewFailed:
        taken = False

    assert (taken, held_by_schema) == (valid, valid)


# Transports -------------------------------------------------------------------------------------------------------


def command(tmp_path: Path, table: Mapping[str, Any], **settings: Any) -> Reviewer:
    (tmp_path / "table.json").write_text(json.dumps(table))
    line = f"{sys.executable} {SCRIPT} {tmp_path / 'table.json'} {tmp_path / 'seen.jsonl'}"
    made = make(ReviewerSettings(**({"kind": "command", "command": line} | settings)), home=tmp_path / "home")
    assert made is not None
    return made


def seen(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "seen.jsonl").read_text().splitlines()]


def test_a_program_gets_one_request_and_none_of_our_environment(
    kept: Remembered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNING_SECRET", "s3cret")
    monkeypatch.setenv("REVIEW_KEY", "k")

    verdicts = reviewed(kept, both(kept), command(tmp_path, {"*": [NARROWED, {}]}, env="REVIEW_KEY"))

    assert [v.verdict for v in verdicts] == ["downgrade", "downgrade"]
    first, second = seen(tmp_path)
    assert set(first["names"]) <= {
        "PATH",
        "LANG",
        "TMPDIR",
        "SYSTEMROOT",
        "HOME",
        "RECALL_CHILD",
        "REVIEW_KEY",
        "LC_CTYPE",
        "PWD",
    }
    assert first["home"] not in (os.environ["HOME"], second["home"])
    assert not Path(first["home"]).exists()


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("late", "did not answer within 1 s"),
        ("nonsense", "no JSON"),
        ("silent", "empty"),
        ("long", "more than"),
        ("fails", "exit code 3"),
    ],
)
def test_a_program_that_does_not_answer_accepts_nothing(kept: Remembered, tmp_path: Path, said: str, note: str) -> None:
    late = {"timeout_s": 1.0} if said == "late" else {}

    [verdict] = reviewed(kept, both(kept), command(tmp_path, {"*": said}, **late))

    assert verdict.verdict == "unverified"
    assert note in verdict.note


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("rex --fast", "rex"),
        ("/opt/bin/rex", "rex"),
        ("python3 -I /opt/rex.py --x", "rex.py"),
        ("env A=1 node rex.mjs", "rex.mjs"),
        ("python", "python"),
    ],
)
def test_a_reviewer_is_named_after_the_program_that_is_meant(tmp_path: Path, command: str, name: str) -> None:
    made = make(ReviewerSettings(kind="command", command=command), home=tmp_path)

    assert made is not None
    assert made.id == name


def test_a_program_that_is_not_there_is_named(kept: Remembered, tmp_path: Path) -> None:
    reviewer = make(ReviewerSettings(kind="command", command="no-such-reviewer --x"), home=tmp_path)
    assert reviewer is not None

    [verdict] = reviewed(kept, both(kept), reviewer)

    assert (reviewer.id, verdict.verdict) == ("no-such-reviewer", "unverified")
    assert "cannot be started" in verdict.note


def test_a_peer_keeps_a_home_of_its_own(kept: Remembered, tmp_path: Path) -> None:
    peer = command(tmp_path, {"*": [{}]}, kind="peer", id="rex")

    verdict = reviewed(kept, both(kept), peer)[-1]
    reviewed(kept, both(kept), peer)

    first, second = seen(tmp_path)
    assert verdict.reviewer == ("peer", "rex")
    assert first["home"] == second["home"] == str(tmp_path / "home" / "peers" / "rex")
    assert first["recall_home"] == str(tmp_path / "home" / "peers" / "rex" / "recall")


@pytest.fixture
def model() -> Iterator[tuple[str, list[dict[str, Any]], list[Any]]]:
    """A model on this machine: its address, what it was asked, and what it says (text, or an exit code)."""
    asked: list[dict[str, Any]] = []
    says: list[Any] = ["{}"]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "key": self.headers.get("Authorization"), "body": body})
            if isinstance(says[0], int):
                self.send_response(says[0])
                self.send_header("Location", "http://example.org/v1/chat/completions")
                self.end_headers()
                return
            out = json.dumps({"choices": [{"message": {"role": "assistant", "content": says[0]}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked, says
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_is_asked_at_its_address(
    kept: Remembered,
    model: tuple[str, list[dict[str, Any]], list[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, asked, says = model
    says[0] = json.dumps({"protocol": "recall-review/1", "reviewer": "m", "verdict": "refuted", "findings": [HIGH]})
    monkeypatch.setenv("MODEL_KEY", "k-1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    settings = ReviewerSettings(kind="openai", url=f"{url}/v1", model="m1", key_env="MODEL_KEY")
    reviewer = make(settings, home=tmp_path)
    assert reviewer is not None

    [verdict] = reviewed(kept, both(kept), reviewer)

    assert (verdict.verdict, verdict.reviewer) == ("refuted", ("openai", "m1"))
    [one] = asked
    assert (one["path"], one["key"], one["body"]["temperature"]) == ("/v1/chat/completions", "Bearer k-1", 0)
    jsonschema.validate(json.loads(one["body"]["messages"][1]["content"]), schema("request"))


def test_the_stand_in_for_a_model_is_asked_as_any_other(kept: Remembered, tmp_path: Path, shared: Path) -> None:
    stub = shared / "clients" / "stub_model.py"
    reply = json.dumps({"protocol": "recall-review/1", "reviewer": "stub", "verdict": "not_refuted", "findings": []})
    line = [sys.executable, str(stub), "--out", str(tmp_path / "asked"), "--reply", reply, "--requests", "9"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().split()[1]
            settings = ReviewerSettings(kind="openai", url=f"http://127.0.0.1:{port}", model="stub", id="stub-1")
            reviewer = make(settings, home=tmp_path)
            assert reviewer is not None
            verdicts = reviewed(kept, both(kept), reviewer)
        finally:
            server.kill()

    assert [(v.verdict, v.reviewer) for v in verdicts] == [("not_refuted", ("openai", "stub-1"))]
    [asked] = [json.loads(path.read_text()) for path in sorted((tmp_path / "asked").glob("*.json"))]
    assert asked["path"] == "/v1/chat/completions"
    jsonschema.validate(json.loads(asked["body"]["messages"][1]["content"]), schema("request"))


@pytest.mark.parametrize("said", ["I agree.", "", "[]", 500, 302])
def test_a_model_that_answers_otherwise_accepts_nothing(
    kept: Remembered, model: tuple[str, list[dict[str, Any]], list[Any]], tmp_path: Path, said: Any
) -> None:
    url, asked, says = model
    says[0] = said
    reviewer = make(ReviewerSettings(kind="openai", url=url, model="m1"), home=tmp_path)
    assert reviewer is not None

    [verdict] = reviewed(kept, both(kept), reviewer)

    assert verdict.verdict == "unverified"
    assert len(asked) == 1


@pytest.mark.parametrize("url", ["http://10.0.0.1/v1", "https://api.example.org", "http://localhost.example.org"])
def test_texts_leave_this_machine_only_where_that_is_set(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"reviewer\.remote"):
        make(ReviewerSettings(kind="openai", url=url, model="m"), home=tmp_path)
    assert make(ReviewerSettings(kind="openai", url=url, model="m", remote=True), home=tmp_path) is not None
