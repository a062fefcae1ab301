import shutil

import pytest
from support.record import NOW, make_draft, make_log, make_turns

from transcript.context import LAST, context
from transcript.errors import PointerError
from transcript.filters import Filter


def words(window):
    return [turn.text for turn in window.turns]


def numbers(window):
    return [int(turn.text.split()[1]) for turn in window.turns]


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A record of 95 turns in two sessions, tool events between them, over several segments."""
    monkeypatch.setattr("transcript.log.BATCH_EVENTS", 20)
    drafts = []
    for number in range(95):
        session = "even" if number % 2 == 0 else "odd"
        agent = "codex" if number % 10 == 0 else "claude-code"
        drafts.append(make_draft(number, text=f"turn {number}", session=session, agent=agent))
        drafts.append(make_draft(f"tool {number}", "tool_result", session=session))
    log = make_log(tmp_path, drafts, segment_bytes=20_000)
    assert log.head().segment > 2
    return log


def test_default_is_the_newest_twenty_turns_oldest_first(log):
    """ESAA-20: never the whole record by default."""
    window = context(log)

    assert numbers(window) == list(range(75, 95))
    assert len(window.turns) == LAST == 20
    assert window.cursor is not None
    assert window.note == "20 turns; older ones behind the cursor"


@pytest.mark.parametrize("last", [1, 7, 20, 95])
def test_following_the_cursor_meets_every_turn_once(log, last):
    """ESAA-16: without gap or repeat, while the record grows."""
    seen = []
    window = context(log, last=last)
    while True:
        seen = numbers(window) + seen
        if window.cursor is None:
            break
        log.append([make_draft(f"new {len(seen)}", text="turn 999")], now=NOW)
        window = context(log, last=last, cursor=window.cursor)

    assert seen == list(range(95))


def test_filters_hold_on_every_page(log):
    first = context(log, last=4, wanted=Filter(session="odd"))
    second = context(log, last=4, wanted=Filter(session="odd"), cursor=first.cursor)

    assert numbers(second) + numbers(first) == [79, 81, 83, 85, 87, 89, 91, 93]
    assert numbers(context(log, last=3, wanted=Filter(agent="codex"))) == [70, 80, 90]


def test_a_turn_whose_long_text_is_gone_does_not_hide_the_others(tmp_path):
    log = make_log(tmp_path, [make_draft(0, text="long " * 10_000), make_draft(1, text="short")])
    shutil.rmtree(log.workspace.blobs_dir)

    gone, kept = words(context(log))

    assert "is missing from the record" in gone
    assert kept == "short"


def test_window_around_an_event_has_radius_turns_on_each_side_and_marks_it(tmp_path):
    """ESAA-19."""
    log = make_log(tmp_path, make_turns(40))

    window = context(log, around=make_draft(20).id[:10], radius=5)

    assert numbers(window) == list(range(15, 26))
    assert [turn.text for turn in window.turns if turn.target] == ["turn 20"]


def test_window_around_an_event_stays_in_its_session_and_stops_at_its_ends(log):
    assert numbers(context(log, around=make_draft(2).id, radius=2)) == [0, 2, 4, 6]
    assert numbers(context(log, around=make_draft(93).id, radius=2)) == [89, 91, 93]


def test_target_may_be_of_any_type(log):
    window = context(log, around=make_draft("tool 20").id, radius=1)

    assert [(turn.event.type, turn.target) for turn in window.turns] == [
        ("conversation_turn", False),
        ("tool_result", True),
        ("conversation_turn", False),
    ]


def test_token_cap_ends_a_page_and_the_cursor_goes_on(tmp_path):
    log = make_log(tmp_path, [make_draft(number, text=f"turn {number} " + "w" * 290) for number in range(10)])

    first = context(log, token_cap=350)
    second = context(log, token_cap=350, cursor=first.cursor)

    assert numbers(first) == [7, 8, 9]
    assert numbers(second) == [4, 5, 6]
    assert first.note == "token cap of 350 reached; older turns behind the cursor"
    assert sum(turn.tokens for turn in first.turns) <= 350


def test_turn_longer_than_the_cap_is_cut_and_says_so(tmp_path):
    log = make_log(tmp_path, [make_draft(0, text="é" * 100_000), make_draft(1, text="short")])

    first = context(log, token_cap=100)
    second = context(log, token_cap=100, cursor=first.cursor)

    assert words(first) == ["short"]
    assert second.turns[0].cut
    assert second.turns[0].tokens <= 100
    assert second.turns[0].text.endswith("… [cut; 'recall show' has the rest]")
    assert second.note == "one turn cut to 100 tokens"
    assert second.cursor is None


def test_long_turns_around_a_target_are_cut_to_fit(tmp_path):
    log = make_log(tmp_path, [make_draft(number, text=f"turn {number} " + "w" * 5000) for number in range(11)])

    window = context(log, around=make_draft(5).id, token_cap=1100)

    assert len(window.turns) == 11
    assert sum(turn.tokens for turn in window.turns) <= 1100


def test_all_lifts_both_caps(log):
    window = context(log, all=True, token_cap=10)

    assert numbers(window) == list(range(95))
    assert window.cursor is None


def test_own_counter_of_tokens_is_used(log):
    assert len(context(log, token_cap=50, count_tokens=lambda text: 10).turns) == 5


def test_empty_record_gives_an_empty_window(tmp_path):
    assert context(make_log(tmp_path)).turns == []


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "1.2.3",
        "1.5.3.00000000",
        "9.9.9999.00000000",
        "1.0.0.00000000",
        "-1.2.3.4",
        "1.0.1.",
        f"{'9' * 5000}.0.1.00000000",
    ],
)
def test_cursor_of_something_else_is_refused(log, cursor):
    with pytest.raises(PointerError, match="cursor"):
        context(log, cursor=cursor)


def test_cursor_survives_moved_offsets(log):
    window = context(log, last=5)
    segment, offset, seq, digest = window.cursor.split(".")

    moved = context(log, last=5, cursor=f"{segment}.{int(offset) - 3}.{seq}.{digest}")

    assert numbers(moved) == [85, 86, 87, 88, 89]


@pytest.mark.parametrize("wrong", [{"last": 0}, {"radius": -1}, {"token_cap": 0}])
def test_senseless_sizes_are_refused(log, wrong):
    with pytest.raises(ValueError, match="at least"):
        context(log, **wrong)
