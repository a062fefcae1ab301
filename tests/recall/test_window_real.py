"""Windows of real sessions with compactions: planned, applied and reported on, from the record and from their files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.command import Result, runner
from support.embedder import StubEmbedder
from support.record import NOW

from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from recall import window_notice, window_state
from recall.governance_settings import WindowSettings
from recall.live_window import LiveWindow, look
from recall.window_host import given
from recall.window_policy import plan
from transcript.capture import sync
from transcript.context import context
from transcript.log import Log
from transcript.workspace import init

pytestmark = pytest.mark.real_data
SESSIONS = (
    "0276a600-2f22-4d2b-844c-3feb9c5aa108",
    "0442a060-edc3-4307-bddb-11a2951fd1a1",
    "1284c080-f9cd-45f8-9942-ff58f5c517e5",
)
SLIDING = WindowSettings(policy="sliding")


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture(scope="module")
def files(real_sessions: Path) -> dict[str, Path]:
    return {name: next(real_sessions.glob(f"claude/*/{name}.jsonl")) for name in SESSIONS}


@pytest.fixture(scope="module")
def log(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Log:
    """The three, each two compactions long, taken in and indexed by words."""
    folder = tmp_path_factory.mktemp("window")
    own, root = folder / "sessions" / "shop", folder / "project"
    own.mkdir(parents=True)
    root.mkdir()
    for path in files.values():
        (own / path.name).write_bytes(path.read_bytes())
    workspace = init(root, folder / "data")
    sync(workspace, folder / "data", {}, sources=own.parent, all_roots=True)
    with Store.open(workspace.index_path, "w") as store:
        writer.index(workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    return Log(workspace)


@pytest.fixture
def call(log: Log, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    assert log.workspace.root is not None
    monkeypatch.setenv("RECALL_HOME", str(log.workspace.data))
    monkeypatch.chdir(log.workspace.root)
    return runner(capsys)


def seen(log: Log, name: str, file: Path | None = None) -> LiveWindow:
    source = {"session": name} if file is None else {"file": file, "harness": "claude-code"}
    return look(log, **source, host=given(60_000), settings=SLIDING, env={}, count=words)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SESSIONS)
def test_record_and_file_show_the_same_window_since_the_last_compaction(
    name: str, log: Log, files: dict[str, Path]
) -> None:
    ours, theirs = seen(log, name), seen(log, name, files[name])

    assert ours.items.boundary == theirs.items.boundary > 0
    assert [item.id for item in ours.items.items] == [item.id for item in theirs.items.items]
    assert [(p.events, p.kind, p.risk) for p in ours.pieces] == [(p.events, p.kind, p.risk) for p in theirs.pieces]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_plan_is_applied_reported_and_every_event_of_it_is_still_there(
    name: str, log: Log, call: Callable[..., Result]
) -> None:
    view = seen(log, name)
    made = plan(view.pieces, view.pressure, SLIDING)
    left = {event for step in made.steps for event in step.piece.events}
    texts = {item.id: item.text for item in view.items.items if item.type == "conversation_turn"}

    done = call("window", "apply", "--session", name, "--window", "60000", "--policy", "sliding", "--json")
    (row, *_) = call("window", "report", "--session", name, "--json").rows()

    assert made.steps
    assert (done.code, done.rows()[0]["state"]) == (0, "applied")
    gone = {item["event"] for item in row["items"]}
    assert window_state.pruned(log.workspace.run_dir, name) == gone
    with Store.open(log.workspace.index_path) as store:
        blank = {item.id for item in view.items.items if not item.text.strip()}
        assert store.indexed(gone) >= gone - blank
    for event in sorted(left & texts.keys())[:5]:
        (turn,) = (one for one in context(log, around=event, radius=0, token_cap=10**6).turns if one.target)
        assert turn.text == texts[event]


@pytest.mark.parametrize("name", SESSIONS)
def test_the_notice_of_a_compaction_counts_what_the_record_has(name: str, log: Log) -> None:
    """LCA-6.1-03."""
    told = window_notice.gone(log, name)

    assert told is not None
    own = [e for e in log.read() if e.session == name and not e.body.get("worker")]
    ends = [e.seq for e in own if e.type == "system" and e.body.get("subtype") == "compact_boundary"]
    inside = [e for e in own if ends[-2] < e.seq < ends[-1]]
    said = [e for e in inside if e.type == "conversation_turn"]
    assert (told.messages, told.boundary) == (len(said), ends[-1])
    assert told.prompts == sum(e.body["kind"] == "prompt" for e in said)
    assert told.calls == sum(e.type == "tool_call" for e in inside)
    assert told.first in {e.id for e in inside}
