"""What a sieve passes over: never a line whose event is wanted, and most of the others."""

import random
import sys
from itertools import product

import pytest
from support.record import NOW, make_draft, make_log

from transcript.context import Window, context
from transcript.event import Event
from transcript.filters import Filter
from transcript.log import Log
from transcript.sieve import CASED, FOLDED_TO_ASCII, Sieve

TEXTS = (
    "plain words about the retry policy",
    "RetryPolicy and snake_case_names, hooks",
    "Die Straße ist groß — «ﬁle» not file",
    "Kelvin K and ſtate",
    "日本語の設定を読む",
    "ПРИВЕТ, мир: ΟΔΟΣ ὁδός ᾳ",
    "one Ångström, ÜBERGRÖSSE, déjà vu, İstanbul, \U00010400\U00010428",
    'quoted "text": {"agent":"codex"} and a \\ backslash',
    "line one\nline two\ttabbed",
    "emoji 🦩 and a lone \ud800 surrogate",
    "",
)
LONG = "x" * 33_000 + " flamingo at the end of a text that stands in a blob"
AGENTS = ("claude-code", "codex", "grok-build", 'odd "name" ü')
KINDS = ("prompt", "reply", "summary", "worker_prompt")


def drafts(count: int):
    rng = random.Random(3)
    for n in range(count):
        kind = rng.choice(("conversation_turn", "conversation_turn", "conversation_turn", "tool_call", "tool_result"))
        body = {"worker": "w1"} if rng.random() < 0.1 else {}
        if kind == "tool_call":
            body["input"] = {"path": rng.choice(TEXTS[:6]), "text": rng.choice(TEXTS[:6])}
        else:
            body["text"] = rng.choice(TEXTS) if n % 80 else LONG
        if kind == "conversation_turn":
            body["kind"] = rng.choice(KINDS)
        if rng.random() < 0.2:
            body |= {"surface": "web", "session_key": "desk"}
        yield make_draft(
            n,
            kind,
            body=body,
            agent=rng.choice((*AGENTS, "unknown")),
            session=rng.choice(("short", "a-session-of-some-length", "a-session-of-another", 'se"ssion')),
            actor=rng.choice(("user", "assistant", "tool", "human")),
            native={"harness": rng.choice(AGENTS)},
            ts=f"2026-03-0{1 + n % 9}T12:00:00.{n % 1000:03d}Z",
        )


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Log:
    return make_log(tmp_path_factory.mktemp("record"), drafts(400), segment_bytes=100_000)


def one_by_one(log: Log, wanted: Filter) -> list[str]:
    """The ids of what a filter lets through, from a record of which every line is parsed."""
    return [event.id for event in log.read() if wanted(event, log)]


def ids(window: Window) -> list[str]:
    return [turn.event.id for turn in window.turns]


WANTED = [
    *({"agent": name} for name in (*AGENTS, "nobody")),
    *({"role": name} for name in ("user", "assistant", "tool", "system", "human")),
    *({"session": name} for name in ("short", "sho", "a-sessio", "a-session-of-another", 'se"ssion')),
    *(
        {"topic": words, "types": frozenset({"conversation_turn", "tool_call", "tool_result"})}
        for words in (
            "retry", "Policy", "hooks", "strasse", "STRASSE", "gross", "file", "state", "kelvin", "k", "設定",
            "привет", "Мир", "οδοσ", "αι", "ångström", "übergrösse", "DÉJÀ", "istanbul", "i̇stanbul", "\U00010428",
            "flamingo", "agent codex", "backslash", "nline", "zwei", "emoji surrogate", "größe",
            "claude", "read",
        )
    ),
    {"since": "2026-03-04T12:00:00.100Z"},
    {"until": "2026-03-04T12:00:00.100Z"},
    {"since": "2026-03-02T12:00:00Z", "until": "2026-03-02T12:00:00.300Z"},
    {"since": "2030"},
    {"surface": "web"},
    {"session_key": "short"},
    {"types": frozenset({"decision"})},
]  # fmt: skip


@pytest.mark.parametrize("wanted", WANTED, ids=lambda wanted: ascii(next(iter(wanted.items())))[:40])
@pytest.mark.parametrize("workers", [True, False])
def test_window_holds_what_a_look_at_every_event_finds(log, wanted, workers):
    """ESAA-17, ESAA-18."""
    asked = Filter(**wanted, workers=workers)
    found = context(log, wanted=asked, all=True).turns
    if asked.session_key:
        found = sorted(found, key=lambda turn: turn.event.seq)

    assert [turn.event.id for turn in found] == one_by_one(log, asked)


def test_filters_combined_find_the_same_through_pages(log):
    """Cursors too: every page begins behind the last one."""
    met = 0
    for agent, role, topic in product((None, *AGENTS), (None, "user", "assistant"), ("", "policy", "strasse", "設定")):
        asked = Filter(agent=agent, role=role, topic=topic)
        page = context(log, last=3, wanted=asked)
        seen = ids(page)
        while page.cursor:
            page = context(log, last=3, wanted=asked, cursor=page.cursor)
            seen = ids(page) + seen
        assert seen == one_by_one(log, asked)
        met += len(seen)
    assert met > 1000


def test_window_around_an_event_is_that_of_a_look_at_every_event(log):
    events = list(log.read())
    for target in events[::37]:
        asked = Filter(session=target.session, topic="policy", workers=bool(target.body.get("worker")))
        kept = [event for event in events if asked(event, log) and event.id != target.id]
        before = [event.id for event in kept if event.seq < target.seq][-3:]
        after = [event.id for event in kept if event.seq > target.seq][:3]

        window = context(log, around=target.id, radius=3, wanted=Filter(topic="policy"), token_cap=10**9)

        assert ids(window) == [*before, target.id, *after]


def test_lines_that_cannot_be_wanted_are_not_parsed(log, monkeypatch):
    """That is what makes a window on a long record quick."""
    parsed: list[Event] = []
    real = sys.modules["transcript.log"].from_line
    monkeypatch.setattr(
        "transcript.log.from_line", lambda *args, **kwargs: parsed.append(real(*args, **kwargs)) or parsed[-1]
    )
    asked = Filter(agent="codex", role="user", topic="retry")

    found = context(log, wanted=asked, all=True).turns

    assert found
    assert len(parsed) < log.head().seq / 4
    assert {event.type for event in parsed} == {"conversation_turn"}


def test_blocks_without_a_wanted_line_are_passed_over_whole(log, monkeypatch):
    looked: list[bytes] = []
    monkeypatch.setattr(Sieve, "line", lambda self, line: looked.append(line) or True)

    assert context(log, wanted=Filter(topic="flamingo elsewhere zebra", agent="nobody")).turns == []
    assert looked == []


def test_every_character_that_folds_to_ascii_is_known():
    folding = {
        point
        for point in range(128, sys.maxunicode + 1)
        if (folded := chr(point).casefold()).isascii() and folded.isalnum()
    }

    assert folding == set(FOLDED_TO_ASCII)


def test_every_character_that_is_folded_at_all_is_looked_for():
    looked = {point for span in CASED for point in span}
    folded = {point for point in range(128, sys.maxunicode + 1) if chr(point).casefold() != chr(point)}

    assert folded <= looked


def test_a_line_added_while_pages_are_turned_is_met_once(tmp_path):
    log = make_log(tmp_path, (make_draft(n, text=f"turn {n} policy") for n in range(9)))
    first = context(log, last=4, wanted=Filter(topic="policy"))
    log.append([make_draft("new", text="turn new policy")], now=NOW)

    second = context(log, last=9, wanted=Filter(topic="policy"), cursor=first.cursor)

    assert [turn.text.split()[1] for turn in (*second.turns, *first.turns)] == [str(n) for n in range(9)]
