"""The adaptive budget: which branch a turn takes, what it leaves out, and that a replay decides the same."""

from dataclasses import replace

import pytest
from support.book import NOW, Book, by_bytes

from indexer.rows import STATEMENT, STATEMENTS
from recall import ledger
from recall.engine import recall
from recall.ledger import Circumstances
from recall.query import Query
from recall.replay import replay_turn
from recall.settings import BudgetSettings, GateSettings, Settings
from recall.turn import Before, Turn, checksum
from transcript.canonical import b32id

ADAPTIVE = Settings(budget=BudgetSettings(mode="adaptive"))
FIXED = Settings()
PROMPT = "how wide is the kestrel pool?"
IGNORED = Before(used=False, continues=0.0)
GOES_ON = Before(used=False, continues=0.8)


def book(*, near: float = 0.9, far: float = 0.2, decision: bool = False) -> Book:
    """Three passages near to the prompt, three far below them, and on request a recorded decision about it."""
    made = Book()
    for i in range(3):
        text = f"the kestrel pool is {i + 7} metres wide, as measured in bay {i} with gauge {i * 37}"
        made.say(f"n{i}", f"measure number {i} of bay {i * 5}", text, days=i + 1)
        made.cosine[text] = near
    for i in range(3):
        text = f"a kestrel sat on fence {i} beside lane {i * 11} while painters mixed colour {i * 53}"
        made.say(f"f{i}", f"what about fence {i * 3}", text, days=i + 10)
        made.cosine[text] = far
    if decision:
        flags = STATEMENT * STATEMENTS.index("decision")
        made.add("kestrel pool depth stays unknown", "curated", session="d", flags=flags, days=40, cosine=0.5)
    return made


def ask(held: Book, settings: Settings = ADAPTIVE, before: Before = Before(), prompt: str = PROMPT) -> Turn:  # noqa: B008
    return recall(
        Query(prompt, session="live"), held.reader, held.vectors, settings, now=NOW, count_tokens=by_bytes,
        before=before,
    )  # fmt: skip


def test_what_is_far_below_the_best_item_is_left_out_and_counted_in_the_block() -> None:
    loose = replace(ADAPTIVE, gate=GateSettings(margin=False, item=False))
    full, less = ask(book(), replace(loose, budget=FIXED.budget)), ask(book(), loose)

    assert (full.budget.branch, less.budget.branch, less.budget.reason) == ("full", "shrink", "far_below_best")
    assert len(less.items) < len(full.items)
    assert less.tokens < full.tokens
    assert [r.candidate.chunk for r in less.items] == [r.candidate.chunk for r in full.items][: len(less.items)]
    assert {r.verdict for r in less.ranked} >= {"shown", "shrunk"}
    assert "more matched and had no room" in less.block


def test_after_an_unused_injection_a_prompt_that_goes_on_gets_one_line_that_points() -> None:
    turn = ask(book(), before=GOES_ON)

    assert (turn.budget.branch, turn.budget.reason, turn.items, turn.empty_reason) == ("defer", "ignored", (), "")
    best = next(r for r in turn.ranked if r.verdict == "deferred")
    lines = turn.block.splitlines()
    assert len(lines) == 3
    assert f"recall show {best.candidate.pointer.event[:10]}" in lines[1]
    assert 'recall query "' in lines[1]
    assert "kestrel" in lines[1].rpartition("recall query")[2]
    assert turn.tokens == by_bytes(turn.block)


def test_weak_evidence_that_goes_on_about_an_unused_injection_is_skipped() -> None:
    strong = ask(book()).gate_score
    gate = GateSettings(threshold=strong * 0.99)

    turn = ask(book(), replace(ADAPTIVE, gate=gate), GOES_ON)
    deferred = ask(book(), replace(ADAPTIVE, gate=gate), IGNORED)

    assert (turn.block, turn.budget.branch, turn.empty_reason) == ("", "skip", "ignored_and_weak")
    assert "skipped" in {r.verdict for r in turn.ranked}
    assert (deferred.budget.branch, deferred.budget.reason) == ("defer", "ignored")


@pytest.mark.parametrize("before", [Before(), Before(True, 1.0), Before(None, 1.0)], ids=["first", "used", "unknown"])
def test_without_a_sign_that_it_is_ignored_nothing_is_deferred(before: Before) -> None:
    assert ask(book(), before=before).budget.branch in ("full", "shrink")


@pytest.mark.parametrize("before", [GOES_ON, IGNORED, Before()])
def test_a_decision_that_passed_the_gate_is_never_cut(before: Before) -> None:
    held = book(decision=True)
    fixed = ask(held, FIXED, before)
    weak = replace(ADAPTIVE, gate=GateSettings(threshold=fixed.gate_score * 0.99))
    assert "curated" in {r.candidate.source for r in fixed.items}

    for settings in (ADAPTIVE, weak):
        turn = ask(held, settings, before)
        assert "kestrel pool depth stays unknown" in turn.block
        assert "curated" in {r.candidate.source for r in turn.items}


def test_a_fixed_budget_cuts_nothing_and_records_the_signals_all_the_same() -> None:
    turn = ask(book(), FIXED, GOES_ON)

    assert (turn.budget.mode, turn.budget.branch, turn.budget.reason) == ("fixed", "full", "fixed")
    assert turn.block == ask(book(), FIXED).block
    assert turn.budget.signals.used is False
    assert turn.budget.signals.continues == 0.8
    assert turn.budget.signals.best == turn.gate_score > turn.budget.signals.threshold


def test_a_silent_turn_is_skipped_for_the_gates_reason() -> None:
    turn = ask(book(), prompt="rhubarb marmalade for the choir?")

    assert (turn.block, turn.budget.branch, turn.budget.reason) == ("", "skip", turn.empty_reason)


def test_how_far_a_prompt_goes_on_is_measured_on_the_words_of_the_last_injection() -> None:
    words = frozenset(map(checksum, ("kestrel", "pool")))

    assert Before(False, words=words).goes_on(("kestrel", "depth")) == 0.5
    assert Before(False, words=words).goes_on(()) == 0.0
    assert Before(False).goes_on(("kestrel",)) == 0.0


@pytest.mark.parametrize("before", [GOES_ON, IGNORED, Before(), Before(False, words=frozenset({checksum("kestrel")}))])
@pytest.mark.parametrize("settings", [ADAPTIVE, FIXED], ids=["adaptive", "fixed"])
def test_a_replay_decides_the_same_from_the_ledger_alone(settings: Settings, before: Before) -> None:
    held = book()
    turn = ask(held, settings, before)
    how = Circumstances("warm", 1.0, held.reader.meta(), call="c")

    body = ledger.draft(Query(PROMPT, session="live"), turn, settings, how, now=NOW).body
    again = replay_turn(body, held.reader, held.vectors, count_tokens=by_bytes)

    assert again.same
    assert again.turn.budget.branch == turn.budget.branch == body["budget"]["branch"]
    assert body["budget"]["reason"] == turn.budget.reason
    assert set(body["budget"]["signals"]) >= {"best", "threshold", "continues", "memories"}


def test_a_budget_that_is_neither_fixed_nor_adaptive_is_refused() -> None:
    with pytest.raises(ValueError, match="mode is 'thrifty', must be fixed or adaptive"):
        BudgetSettings(mode="thrifty")


def test_the_id_of_a_pointer_is_whole_enough_to_be_opened() -> None:
    turn = ask(book(), before=GOES_ON)
    shown = turn.block.partition("recall show ")[2].split()[0]

    assert any(r.candidate.pointer.event.startswith(shown) for r in turn.ranked)
    assert len(shown) == 10 < len(b32id("x", "y"))
