"""Every filter of a window, alone and together, on events of every age."""

from datetime import timedelta

import pytest
from support.record import NOW, make_draft, make_log

from recall.cli.app import moment
from transcript.canonical import canonical
from transcript.context import context
from transcript.errors import ConfigError
from transcript.event import Draft, commitment, envelope_parts, stamp, to_line
from transcript.filters import Filter, matches
from transcript.log import Log
from transcript.segments import Head, append_bytes


def texts(log, **wanted) -> list[str]:
    last = wanted.pop("last", 20)
    return [turn.text for turn in context(log, last=last, wanted=Filter(**wanted)).turns]


def minute(number: int) -> str:
    return stamp(NOW + timedelta(minutes=number))


def mixed(count: int) -> list[Draft]:
    """Turns of three agents in turn, one in four about hooks."""
    agents = ("claude-code", "codex", "grok-build")
    return [
        make_draft(
            n,
            text=f"turn {n}" + (" about the hook" if n % 4 == 0 else " about shooks"),
            agent=agents[n % 3],
            session=f"session-{n % 2}",
            ts=minute(n),
            actor="user" if n % 2 == 0 else "assistant",
            body={"kind": "prompt" if n % 2 == 0 else "reply"},
        )
        for n in range(count)
    ]


def append_unchecked(log: Log, draft: Draft) -> None:
    """Write a line as an older version wrote it: without the fields that are demanded today."""
    head = log.head()
    body = canonical({**draft.body, "salt": "5a17"})
    line, digest = to_line(envelope_parts(draft, commitment("5a17", body)), body, seq=head.seq + 1, prev=head.hash)
    append_bytes(log.directory, head, Head(head.segment, head.seq + 1, digest, head.length + len(line)), line)


def test_last_twenty_of_one_agent_are_exact_and_in_order(tmp_path):
    """ESAA-17."""
    log = make_log(tmp_path, mixed(90))

    window = context(log, last=20, wanted=Filter(agent="grok-build"))

    assert [turn.text.split()[1] for turn in window.turns] == [str(n) for n in range(32, 90, 3)]
    assert len(window.turns) == 20
    assert window.cursor is not None


def test_fewer_than_asked_for_are_all_given_with_a_note(tmp_path):
    """ESAA-17."""
    log = make_log(tmp_path, mixed(9))

    window = context(log, last=20, wanted=Filter(agent="grok-build"))

    assert len(window.turns) == 3
    assert window.cursor is None
    assert window.note == "3 turns: all there are of what was asked for"


def test_topic_gives_only_turns_that_hold_its_words(tmp_path):
    """ESAA-18: precision 1.0, recall 1.0 on the labelled turns; shooks is another word."""
    log = make_log(tmp_path, mixed(40))

    found = texts(log, topic="hooks")

    assert [text.split()[1] for text in found] == [str(n) for n in range(0, 40, 4)]


@pytest.mark.parametrize(
    ("text", "topic", "expected"),
    [
        ("the retryPolicy is wrong", "retry policy", True),
        ("use snake_case here", "snake case", True),
        ("the policies differ", "police", False),
        ("RETRY at once", "retry", True),
        ("日本語の設定を読む", "設定", True),
        ("nothing of it", "", False),
        ("class glass", "clas", False),
    ],
)
def test_topic_is_held_word_by_word(text, topic, expected):
    assert matches(text, topic) is expected


def test_filters_combine(tmp_path):
    log = make_log(tmp_path, mixed(60))

    found = texts(
        log, agent="codex", session="session-0", role="user", topic="hook", since=minute(10), until=minute(50)
    )

    expected = [n for n in range(10, 50) if n % 3 == 1 and n % 2 == 0 and n % 4 == 0]
    assert [int(text.split()[1]) for text in found] == expected == [16, 28, 40]


def test_around_an_event_the_other_filters_hold_too(tmp_path):
    log = make_log(tmp_path, mixed(60))

    window = context(log, around=make_draft(30).id, radius=2, wanted=Filter(agent="codex"))

    assert [turn.text.split()[1] for turn in window.turns] == ["22", "28", "30", "34", "40"]


def test_cursor_goes_on_under_every_filter(tmp_path):
    log = make_log(tmp_path, mixed(60))
    wanted = Filter(agent="codex", topic="hook")
    first = context(log, last=2, wanted=wanted)
    second = context(log, last=2, wanted=wanted, cursor=first.cursor)
    third = context(log, last=2, wanted=wanted, cursor=second.cursor)

    seen = [turn.text.split()[1] for page in (third, second, first) for turn in page.turns]
    assert seen == ["4", "16", "28", "40", "52"]
    assert third.cursor is None


def test_types_other_than_turns_are_given_when_asked_for(tmp_path):
    log = make_log(tmp_path, [make_draft(0), make_draft(1, "tool_call"), make_draft(2, "tool_result")])

    assert texts(log, types=frozenset({"tool_call", "tool_result"})) == ['Read {"path": "a.py"}', "print(1)"]


def test_workers_are_left_out_unless_asked_for(tmp_path):
    """LCA-4.7-02."""
    told = make_draft(1, text="from a worker", body={"worker": "w1", "kind": "reply"})
    log = make_log(tmp_path, [make_draft(0, text="mine"), told])

    assert texts(log) == ["mine"]
    assert texts(log, workers=True) == ["mine", "from a worker"]
    assert log.get(told.id).origin == "internal"
    assert [turn.text for turn in context(log, around=told.id).turns] == ["mine", "from a worker"]


def test_one_key_unites_surfaces_in_the_order_of_time(tmp_path):
    """LCA-4.7-01: captured one file after the other, read as one talk; pages meet each turn once."""
    drafts = [
        make_draft(
            f"{surface} {n}",
            text=f"{surface} {n}",
            session=f"s-{surface}",
            ts=minute(2 * n + offset),
            body={"surface": surface, "session_key": "desk"},
        )
        for offset, surface in enumerate(("cli", "web"))
        for n in range(5)
    ]
    log = make_log(tmp_path, [*drafts, make_draft("other", text="other")])

    expected = [f"{surface} {n}" for n in range(5) for surface in ("cli", "web")]
    assert texts(log, session_key="desk") == expected
    assert texts(log, session_key="desk", surface="web") == [f"web {n}" for n in range(5)]
    seen: list[str] = []
    cursor = None
    while True:
        page = context(log, last=3, wanted=Filter(session_key="desk"), cursor=cursor)
        seen = [turn.text for turn in page.turns] + seen
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, ["old prompt", "old reply", "new prompt"]),
        ({"agent": "grok-build"}, ["old prompt", "old reply"]),
        ({"role": "user"}, ["old prompt", "new prompt"]),
        ({"role": "assistant"}, ["old reply"]),
        ({"session": "s-old"}, ["old prompt", "old reply"]),
        ({"topic": "old"}, ["old prompt", "old reply"]),
        ({"until": minute(5)}, ["old prompt", "old reply"]),
        ({"since": minute(5)}, ["new prompt"]),
        ({"agent": "grok-build", "role": "user", "topic": "prompt", "until": minute(5)}, ["old prompt"]),
        ({"surface": "web"}, []),
        ({"session_key": "s-old"}, ["old prompt", "old reply"]),
    ],
)
def test_legacy_event_filtering_defect(tmp_path, wanted, expected):
    """ESAA-39: old events name no agent of their own, no kind, no branch, no surface."""
    log = make_log(tmp_path)
    native = {"harness": "grok-build"}
    for n, (actor, text) in enumerate((("user", "old prompt"), ("assistant", "old reply"))):
        old = make_draft(n, agent="unknown", actor=actor, session="s-old", ts=minute(n), native=native)
        append_unchecked(log, Draft(**{**{s: getattr(old, s) for s in Draft.__slots__}, "body": {"text": text}}))
    log = Log(log.workspace)
    log.append([make_draft("new", text="new prompt", ts=minute(9), body={"branch": "main"})], now=NOW)

    assert texts(log, **wanted) == expected


@pytest.mark.parametrize("written", ["2026-03-01T12:00:05Z", "2026-03-01T12:00:05.0Z", "2026-03-01T12:00:05.000000Z"])
@pytest.mark.parametrize("asked", ["2026-03-01T12:00:05Z", "2026-03-01T12:00:05.000Z"])
def test_a_moment_is_the_same_however_it_is_written(tmp_path, written, asked):
    """Harnesses write fractions of a second or leave them out: `--since` takes the turn of that very moment in."""
    log = make_log(tmp_path, [make_draft(0, ts=written)])

    assert len(context(log, wanted=Filter(since=asked)).turns) == 1
    assert len(context(log, wanted=Filter(until=asked)).turns) == 0
    assert len(context(log, wanted=Filter(since="2026-03-01T12:00:05.001Z")).turns) == 0
    assert len(context(log, wanted=Filter(until="2026-03-01T12:00:05.001Z")).turns) == 1


@pytest.mark.parametrize("asked", ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-13-01", "soon"])
def test_a_time_that_is_none_is_refused_by_name(asked):
    with pytest.raises(ConfigError, match="is no time"):
        moment(asked)
