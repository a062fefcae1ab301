"""Which items a turn was shown although they no longer held: held against what the record knew at that turn."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval.planted_project import Project
from health.facts import Replaced
from health.gather_replaced import replaced_items
from transcript.event import Event

OLD, NEW, SAID = "a" * 26, "b" * 26, "c" * 26
ASKED = "Which port does the pump listen on?"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "planted")


def tell(project: Project, kind: str, **body: object) -> Event:
    project.tell(project.event("s", kind, body, actor="system"))
    return next(project.log.read_back())


def superseded(project: Project, of: str, by: str = NEW, span: tuple[int, int] = (0, 9)) -> Event:
    places = [{"event": event, "start": span[0], "end": span[1], "hash": "0" * 16} for event in (of, by)]
    return tell(project, "memory.superseded", of=places[0], by=places[1], reason="newer")


def turn(project: Project, *items: dict[str, object], read: int | None = None, prompt: str = ASKED) -> Event:
    read = project.log.head().seq if read is None else read
    body = {
        "mode": "warm",
        "prompt": prompt,
        "now": datetime(2026, 6, 20, 12, 0, tzinfo=UTC).isoformat(),
        "items": list(items),
        "index": {"watermark": f'{{"seq": {read}}}'},
    }
    return tell(project, "recall", **body)


def memory(event: str = OLD, kind: str = "memory") -> dict[str, object]:
    return {"pointer": f"{event[:10]}#0-9", "event": event, "start": 0, "end": 9, "kind": kind}


def found(project: Project, *turns: Event) -> list[tuple[str, bool]]:
    return [(one.pointer, one.read) for one in replaced_items(project.log, turns)]


def test_a_memory_that_was_replaced_before_the_turn_is_named_and_one_that_was_replaced_after_it_is_not(
    project: Project,
) -> None:
    """Case recall-superseded (MemPalace/mempalace#224): a retired instruction must not be told again."""
    before = turn(project, memory(), memory(NEW))
    superseded(project, OLD)
    after = turn(project, memory(), memory(NEW))

    assert replaced_items(project.log, [after, before]) == (Replaced(after.id[:10], f"{OLD[:10]}#0-9", True),)


def test_what_the_index_had_not_read_yet_is_told_apart(project: Project) -> None:
    known = project.log.head().seq
    superseded(project, OLD)

    assert found(project, turn(project, memory(), read=known)) == [(f"{OLD[:10]}#0-9", False)]


def test_an_answer_about_the_past_may_show_what_was_replaced(project: Project) -> None:
    superseded(project, OLD)

    assert found(project, turn(project, memory(), prompt="Which port did the pump listen on before?")) == []


@pytest.mark.parametrize(
    ("kind", "body", "ends"),
    [
        ("memory.refuted", {"memory": OLD, "because": "wrong"}, True),
        ("memory.archived", {"memory": OLD}, True),
        ("decision", {"text": "5434", "supersedes": OLD}, True),
        ("memory.refuted", {"memory": NEW, "because": "wrong"}, False),
    ],
)
def test_each_way_in_which_a_statement_ends(project: Project, kind: str, body: dict[str, object], ends: bool) -> None:
    tell(project, kind, **body)

    assert bool(found(project, turn(project, memory()))) is ends


def test_what_was_restored_holds_again(project: Project) -> None:
    tell(project, "memory.archived", memory=OLD)
    tell(project, "memory.restored", memory=OLD)

    assert found(project, turn(project, memory())) == []


def test_a_file_is_replaced_by_its_next_version(project: Project) -> None:
    old = tell(project, "memory.source", path="docs/pump.md", sha256="1", text="5432")
    new = tell(project, "memory.source", path="docs/pump.md", sha256="2", text="5433")

    assert found(project, turn(project, memory(old.id), memory(new.id))) == [(f"{old.id[:10]}#0-9", True)]


def words(start: int, end: int) -> dict[str, object]:
    return {"pointer": f"{SAID[:10]}#{start}-{end}", "event": SAID, "start": start, "end": end, "kind": "final"}


def test_of_what_was_said_only_the_replaced_words_have_ended(project: Project) -> None:
    superseded(project, SAID, span=(10, 20))

    assert found(project, turn(project, words(0, 10), words(15, 40))) == [(f"{SAID[:10]}#15-40", True)]


def test_words_hold_again_once_the_memory_that_took_their_place_was_wrong(project: Project) -> None:
    superseded(project, SAID)
    tell(project, "memory.refuted", memory=NEW, because="wrong")
    given_back = turn(project, words(0, 9))
    superseded(project, SAID, by=OLD)
    superseded(project, OLD, by=NEW[:-1] + "d")
    tell(project, "memory.refuted", memory=OLD, because="wrong")

    assert found(project, given_back) == []
    assert found(project, turn(project, words(0, 9))) == [(f"{SAID[:10]}#0-9", True)]


def test_turns_that_showed_nothing_ask_for_nothing(project: Project) -> None:
    superseded(project, OLD)

    assert found(project, turn(project)) == []


def test_a_turn_that_names_no_index_counts_as_having_known_all(project: Project) -> None:
    superseded(project, OLD)
    row = tell(project, "recall", items=[memory()], prompt=ASKED, now="2026-06-20T12:00:00+00:00")

    assert found(project, row) == [(f"{OLD[:10]}#0-9", True)]
