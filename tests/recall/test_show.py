"""A pointer opens from the record alone."""

import shutil
from pathlib import Path

import pytest
from support.book import NOW

from recall.show import parse_pointer, show
from transcript.canonical import b32id
from transcript.errors import PointerError
from transcript.event import Draft
from transcript.log import Log
from transcript.workspace import Workspace


def turn(number: int, text: str, session: str = "s1") -> Draft:
    return Draft(
        "conversation_turn", b32id("show", session, str(number)), "2026-06-01T12:00:00.000Z", "record", session,
        "claude-code", "user", "internal", {}, {"kind": "prompt", "text": text},
    )  # fmt: skip


def log_with(tmp_path: Path, name: str, *drafts: Draft) -> Log:
    home = tmp_path / name
    home.mkdir()
    log = Log(Workspace(f"0f4c7f2a-0000-4000-8000-{len(name):012d}", home, None))
    if drafts:
        log.append(drafts, now=NOW)
    return log


def test_the_exact_words_come_with_their_neighbours(tmp_path: Path) -> None:
    drafts = [turn(i, f"turn {i}: the pool\r\nis 😀 wide  ") for i in range(5)]
    log = log_with(tmp_path, "one", *drafts[:2], turn(9, "elsewhere", "s2"), *drafts[2:])

    opened = show(f"{drafts[2].id[:10]}#8-16", [log], neighbours=2)

    assert opened.words == "the pool"
    assert opened.text == "turn 2: the pool\r\nis 😀 wide  "
    assert [text[:6] for _, text in opened.before] == ["turn 0", "turn 1"]
    assert [text[:6] for _, text in opened.after] == ["turn 3", "turn 4"]


def test_a_neighbour_whose_long_text_is_gone_does_not_hide_the_words(tmp_path: Path) -> None:
    log = log_with(tmp_path, "one", turn(1, "long " * 10_000), turn(2, "the pool is wide"))
    shutil.rmtree(log.workspace.blobs_dir)

    opened = show(turn(2, "").id[:10], [log])

    assert opened.words == "the pool is wide"
    assert "is missing from the record" in opened.before[0][1]


def test_a_pointer_without_a_span_names_the_whole_event(tmp_path: Path) -> None:
    draft = turn(1, "all of it")

    assert show(draft.id[:10], [log_with(tmp_path, "one", draft)]).words == "all of it"


def test_the_words_of_a_tool_call_are_those_its_spans_count_in(tmp_path: Path) -> None:
    call = Draft(
        "tool_call", b32id("show", "call"), "2026-06-01T12:00:00.000Z", "record", "s1", "claude-code", "assistant",
        "internal", {}, {"tool": "Bash", "call_id": "c", "input": {"command": "make loris"}},
    )  # fmt: skip

    assert show(f"{call.id[:10]}#5-24", [log_with(tmp_path, "one", call)]).words == "command: make loris"


def test_the_next_record_is_looked_in_as_well(tmp_path: Path) -> None:
    draft = turn(1, "in the demo")

    opened = show(draft.id[:10], [log_with(tmp_path, "mine"), log_with(tmp_path, "demo", draft)])

    assert opened.words == "in the demo"


@pytest.mark.parametrize(
    ("pointer", "parsed"),
    [
        ("abcdefghij#0-12", ("abcdefghij", 0, 12)),
        ("[abcdefghij#3-4]", ("abcdefghij", 3, 4)),
        ("abcdefghij#0-12,", ("abcdefghij", 0, 12)),
        ("abcdefghij", ("abcdefghij", None, None)),
    ],
)
def test_pointers_are_read_as_people_paste_them(pointer: str, parsed: tuple[str, int | None, int | None]) -> None:
    assert parse_pointer(pointer) == parsed


@pytest.mark.parametrize("pointer", ["", "#1-2", "abcdefghij#", "abcdefghij#4-2", "abcdefghij#a-b", "abcdefghij#1-99"])
def test_what_is_no_pointer_is_an_error_with_its_name(tmp_path: Path, pointer: str) -> None:
    draft = turn(1, "text")
    log = log_with(tmp_path, "one", draft)

    with pytest.raises(PointerError):
        show(pointer.replace("abcdefghij", draft.id[:10]), [log])


def test_an_unknown_pointer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PointerError, match="aaaaaaaaaa"):
        show("aaaaaaaaaa#0-1", [log_with(tmp_path, "one", turn(1, "x"))])
