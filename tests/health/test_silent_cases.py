"""Faults that make no noise: each is planted, and health names it; what the public cases expect of health is shown."""

import copy
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import runner

from eval import silent_index, silent_planting
from eval.incidents import INCIDENTS, Incident, replay
from eval.planted_project import Project, Words, healthy
from eval.planting import remember
from eval.silent_cases import SILENT
from eval.silent_index import SECRET
from health.signal import Level
from transcript.capture import sync
from transcript.event import stamp
from transcript.injected import OPEN_PHRASE

pytestmark = pytest.mark.slow

SPEAKS_OF_HEALTH = re.compile(r"^(\d+)\. .*\bhealth\b", re.MULTILINE | re.IGNORECASE)


class Healthy:
    """The project that every fault is planted in: made once, and put back into its place for each."""

    def __init__(self, folder: Path) -> None:
        self._place, self._aside = folder / "planted", folder / "aside"
        self._project = healthy(self._place)
        shutil.copytree(self._place, self._aside)
        self.signals = self._project.signals()

    def __call__(self, folder: Path, embedder: Words) -> Project:
        """Return it in its first state; one of another model is made anew."""
        if embedder != Words():
            return healthy(folder, embedder)
        shutil.rmtree(self._place)
        shutil.copytree(self._aside, self._place)
        again = copy.copy(self._project)
        again.during = []
        return again


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Healthy:
    return Healthy(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("incident", SILENT, ids=lambda one: one.id)
def test_a_silent_fault_is_named_and_only_where_it_is(incident: Incident, made: Healthy, tmp_path: Path) -> None:
    well = made.signals

    found = replay(incident, tmp_path / "planted", made)

    assert found.faults == ()
    assert all(bool(signal.action) == bool(signal.level) for signal in found.signals)
    assert all(one.fault(well) for one in incident.expected if one.signal != "versions")
    assert {one.signal for one in incident.expected if one.signal in well and well[one.signal].level} == set()


def test_what_the_public_cases_expect_of_health_has_a_fault_that_shows_it(shared: Path) -> None:
    """Each expectation of the public cases that speaks of health is planted by the fault whose row names it."""
    planted = {row.strip() for one in (*INCIDENTS, *SILENT) for row in one.rows.split(",")}
    expected = {
        f"case {file.parent.name} {number}"
        for file in sorted((shared / "cases").glob("*/expected.md"))
        for number in SPEAKS_OF_HEALTH.findall(file.read_text(encoding="utf-8"))
    }
    folders = {path.name for path in (shared / "cases").iterdir() if path.is_dir()}

    assert len(expected) >= 17
    assert expected - planted == set()
    assert {row.split()[1] for row in planted if row.startswith("case ")} <= folders


@pytest.mark.parametrize(
    ("case", "signal", "level", "says"),
    [
        ("log-corrupt-lines", "damaged_lines", Level.WARN, (".jsonl line ", " byte ")),
        ("log-shape-drift", "unknown_types", Level.WARN, ("7 records of 7 unknown types", "brand-new-record@")),
        ("log-line-separators", "damaged_lines", Level.OK, ("0 ",)),
        ("log-torn-tail", "incomplete_tails", Level.OK, ("1 ",)),
        ("recall-secret", "secrets_masked", Level.OK, (" secrets masked",)),
        ("time-future", "implausible_times", Level.WARN, ("3 ",)),
    ],
)
def test_the_public_inputs_themselves_are_named(
    case: str, signal: str, level: Level, says: tuple[str, ...], shared: Path, tmp_path: Path
) -> None:
    project = Project(tmp_path / "planted")
    _capture(project, shared / "cases" / case / "input")

    found = project.signals()[signal]

    assert (found.level, found.action != "") == (level, bool(level))
    assert all(word in "\n".join((found.text, *found.details)) for word in says), (found.text, found.details)


def test_what_was_injected_is_kept_out_in_every_place_where_it_comes_back(shared: Path, tmp_path: Path) -> None:
    """Case recall-feedback-loop (thedotmack/claude-mem#98, mem0ai/mem0#4573): the files show each of these places."""
    project = Project(tmp_path / "planted")
    _capture(project, shared / "cases" / "recall-feedback-loop" / "input")

    found = project.signals()["own_injections"]

    assert found.level is Level.OK
    assert isinstance(found.value, dict)
    assert (found.value["passages"], found.value["kept_out"]) == (0, 4)


def _capture(project: Project, inputs: Path) -> None:
    """Take in the session files of a case as if they had been held in this project, recall's own marks in them."""
    slug = "".join(c if c.isalnum() else "-" for c in str(project.root))
    claude, codex = project.home / ".claude" / "projects" / slug, project.home / ".codex" / "sessions"
    root, mark = str(project.root).encode(), f"[recall 1a2b3c4d]{OPEN_PHRASE}".encode()
    for number, file in enumerate(sorted(inputs.glob("step1/*.jsonl")) or sorted(inputs.rglob("*.jsonl"))):
        name = f"{number:08d}-1111-4222-8333-444444444444.jsonl"
        place = codex / "2026" / "06" / "15" / file.name if "codex" in file.parts else claude / name
        place.parent.mkdir(parents=True, exist_ok=True)
        data = re.sub(rb'"cwd":\s*"[^"]*"', b'"cwd":"%b"' % root, file.read_bytes())
        data = data.replace(b"[[RECALLED-BLOCK-START]]", mark).replace(b"[[RECALLED-BLOCK-END]]", b"[/recall 1a2b3c4d]")
        place.write_bytes(data)
    sync(project.workspace, project.data, project.env, now=project.now)
    project.index()


@pytest.fixture
def leaky(tmp_path: Path) -> Project:
    """A project in which a credential stands wherever words can stand, and much is wrong."""
    project = healthy(tmp_path / "planted")
    silent_index.said_secret(project)
    remember(project, f"The site's token is {SECRET}.", said_at=stamp(project.now))
    project.tell(
        project.event("s", "tool_result", {"call_id": "1", "text": f"token={SECRET}"}, actor="tool"),
        project.event("s", "decision", {"text": f"We use {SECRET}.", "actor": "dana", "actor_kind": "human"}),
    )
    silent_index.failed_event(project)
    silent_index.replaced_statement(project)
    silent_index.ask(project, f"Which token is {SECRET}?", note="vector_unusable")
    silent_planting.damaged_line(project)
    return project


def _renderings(capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[str, str]]:
    run = runner(capsys)
    for words in (
        ("health", "--all"),
        ("health", "--json", "--series"),
        ("health", "--csv"),
        ("health", "--html", "-"),
        ("health", "--prometheus", "-"),
        ("doctor",),
    ):
        done = run(*words)
        yield " ".join(words), done.out + done.err


def test_no_rendering_and_no_file_beside_the_record_holds_a_credential(
    leaky: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case recall-secret (supermemoryai/claude-supermemory#122): reports and indexes make a pasted key durable."""
    monkeypatch.chdir(leaky.root)
    for name, value in leaky.env.items():
        monkeypatch.setenv(name, value)

    told = dict(_renderings(capsys))

    assert len(told) == 6
    assert all(len(text) > 100 for text in told.values()), {name: len(text) for name, text in told.items()}
    assert [name for name, text in told.items() if SECRET in text or SECRET[4:20] in text] == []
    files = [path for path in leaky.data.rglob("*") if path.is_file() and leaky.workspace.log_dir not in path.parents]
    assert [str(path) for path in files if SECRET.encode() in path.read_bytes()] == []
