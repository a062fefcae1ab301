"""Near copies, diversity, the gate's verdicts and the shares of the kinds."""

import random

import pytest

from recall.gate import Asked
from recall.selection import REASONS, SHOWN, Scored, choose, diversified, unique
from recall.settings import GateSettings, SelectionSettings
from recall.turn import Candidate, Pointer
from scoring.authority import authority
from scoring.score import Features, score
from scoring.weights import Weights
from transcript.canonical import b32id

OPEN = GateSettings(item=False, evidence=False, margin=False)
KNOWN = Asked(5, 5, words_only=False)
NO_WEIGHTS = Weights(alpha=1.0, beta=0, gamma=0, delta=0, epsilon=0, lambda_=0)


def scored(text: str, relevance: float, *, source: str = "final", event: str = "", said: int = 0) -> Scored:
    at = Pointer(event or b32id(text, str(said)), 0, len(text), "s", said, source)
    item = Candidate(1, text, (at,), evidence=relevance, relevance=relevance)
    return Scored(item, score(Features(relevance, source=source), NO_WEIGHTS))


def texts(items: list[Scored]) -> list[str]:
    return [item.candidate.text for item in items]


def test_ten_near_copies_collapse_to_one_item_with_all_pointers() -> None:
    """LCA 5.3-02."""
    line = "Always run the migration with the  lock held, never beside a running importer on this host"
    copies = [scored(line.upper() if i % 2 else f"{line}{' ' * i}", 1.0 - i / 100, said=i) for i in range(10)]
    distinct = [scored(f"another fact about subject{i} and value{i}", 0.5 - i / 100) for i in range(5)]

    kept, dropped = unique([*copies, *distinct], SelectionSettings())

    assert len(kept) == 6
    assert len(kept[0].candidate.pointers) == 10
    assert {d.verdict for d in dropped} == {"near_copy"}
    assert len(dropped) == 9


def test_two_facts_that_share_most_words_stay_two() -> None:
    kept, _ = unique([scored("the port is 8080", 0.9), scored("the port is 9090", 0.8)], SelectionSettings())

    assert len(kept) == 2


def test_of_two_near_copies_the_later_value_speaks_at_the_better_rank() -> None:
    words = " ".join(f"w{i}" for i in range(40))
    old, new = scored(f"{words} port 8080", 0.9, said=1), scored(f"{words} port 9090", 0.7, said=2)

    kept, dropped = unique([old, new], SelectionSettings())

    assert texts(kept) == [f"{words} port 9090"]
    assert kept[0].score.total == old.score.total
    assert [p.said for p in kept[0].candidate.pointers] == [2, 1]
    assert dropped[0].candidate.text.endswith("8080")


def output(run: str, *, port: int = 8080) -> str:
    lines = ("starting", "connected", f"listening on {port}", "the socket is gone", "stopped")
    return "\n".join(f"2026-03-0{run} 10:00:0{i} id={run * 4}{i}aa{run}b {line}" for i, line in enumerate(lines))


def test_two_pasted_outputs_that_differ_in_ids_and_times_are_one_item() -> None:
    old, new = (scored(output(run), 0.9, source="prompt", said=int(run)) for run in "12")

    kept, dropped = unique([old, new], SelectionSettings())

    assert texts(kept) == [output("2")]
    assert [d.verdict for d in dropped] == ["near_copy"]


@pytest.mark.parametrize("source", ["final", "tool"])
def test_ids_and_times_count_in_what_nobody_pasted(source: str) -> None:
    kept, _ = unique([scored(output(run), 0.9, source=source) for run in "12"], SelectionSettings())

    assert len(kept) == 2


def test_ids_and_times_count_in_ordinary_sentences() -> None:
    kept, _ = unique(
        [scored(f"it broke with commit {name} on 2026-03-0{day}", 0.9, source="prompt") for name, day in
         (("7c35564", 1), ("310776e", 2))],
        SelectionSettings(),
    )  # fmt: skip

    assert len(kept) == 2


def test_numbers_count_in_pasted_text() -> None:
    lines = [("8080", "9090"), ("1", "2"), ("30", "60")]
    old, new = ("\n".join(f"- setting{i}: {pair[n]}" for i, pair in enumerate([*lines, *lines])) for n in (0, 1))

    kept, _ = unique([scored(old, 0.9, source="prompt"), scored(new, 0.8, source="prompt")], SelectionSettings())

    assert len(kept) == 2


def test_what_a_person_pasted_has_less_authority_than_what_a_person_said() -> None:
    said = scored("we use sqlite", 0.5, source="prompt").candidate
    pasted = scored(output("1"), 0.5, source="prompt").candidate
    answer = scored(output("1"), 0.5, source="final").candidate

    assert [authority(item.voice) for item in (said, pasted, answer)] == [0.60, 0.40, 0.50]


def test_one_item_a_record() -> None:
    first, second = scored("first passage", 0.9, event="e" * 26), scored("second passage", 0.8, event="e" * 26)

    kept, dropped = unique([first, second], SelectionSettings())

    assert texts(kept) == ["first passage"]
    assert dropped[0].verdict == "same_record"


def of_exchange(text: str, relevance: float, *, source: str, head: str = "") -> Scored:
    at = Pointer(b32id(text), 0, len(text), "s", 5, source, exchange=7)
    item = Candidate(1, text, (at,), head=head, evidence=relevance, relevance=relevance)
    return Scored(item, score(Features(relevance, source=source), NO_WEIGHTS))


@pytest.mark.parametrize("answer_relevance", [0.9, 0.5], ids=["answer first", "prompt first"])
def test_a_short_prompt_and_its_answer_are_one_item_at_the_better_place(answer_relevance: float) -> None:
    prompt = of_exchange("which port?", 0.7, source="prompt")
    answer = of_exchange("8087, for 8080 is taken", answer_relevance, source="final", head="which port?")

    kept, dropped = unique([prompt, answer], SelectionSettings(), head_chars=160)

    assert texts(kept) == ["8087, for 8080 is taken"]
    assert [p.source for p in kept[0].candidate.pointers] == ["final", "prompt"]
    assert kept[0].score.total == max(prompt.score.total, answer.score.total)
    assert [(d.candidate.text, d.verdict) for d in dropped] == [("which port?", "shown_as_head")]


def test_a_prompt_that_the_head_line_cannot_hold_stays_an_item() -> None:
    long = "which port does it use, and why " * 6
    prompt = of_exchange(long, 0.7, source="prompt")
    answer = of_exchange("8087, for 8080 is taken", 0.9, source="final", head=long.strip())

    kept, dropped = unique([prompt, answer], SelectionSettings(), head_chars=160)

    assert len(kept) == 2
    assert dropped == []


def test_diversity_moves_the_alike_down_and_drops_nothing() -> None:
    a = scored("red green blue cyan", 0.90)
    b = scored("red green blue pink", 0.89)
    c = scored("one two three four", 0.85)

    plain = diversified([a, b, c], SelectionSettings(diversity=0.0))
    spread = diversified([a, b, c], SelectionSettings(diversity=0.2))

    assert texts(plain) == texts([a, b, c])
    assert texts(spread) == texts([a, c, b])


def test_ties_break_by_event_id() -> None:
    one, two = scored("x one", 0.5, event="b" * 26), scored("y two", 0.5, event="a" * 26)

    assert texts(diversified([one, two], SelectionSettings())) == ["y two", "x one"]


@pytest.mark.parametrize(
    ("memories", "fragments", "expected"),
    [(20, 20, (4, 2)), (0, 20, (0, 6)), (20, 0, (6, 0)), (1, 20, (1, 5)), (20, 1, (5, 1))],
)
def test_the_kinds_have_shares_and_lend_what_they_leave(
    memories: int, fragments: int, expected: tuple[int, int]
) -> None:
    """LCA 5.4-02: four from memory files and two from transcript out of 20 and 20."""
    pool = [scored(f"memory {i}", 0.7 - i / 1000, source="memory") for i in range(memories)]
    pool += [scored(f"fragment {i}", 0.9 - i / 1000) for i in range(fragments)]
    ordered = diversified(pool, SelectionSettings())

    ranked, reason = choose(ordered, OPEN, SelectionSettings(), KNOWN, places=6)

    shown = [r.candidate.source for r in ranked if r.shown]
    assert (shown.count("memory"), shown.count("final")) == expected
    assert reason == ""
    assert all(r.verdict == "no_place" for r in ranked if not r.shown)


def test_the_shares_are_settings() -> None:
    pool = [scored(f"memory {i}", 0.7, source="memory") for i in range(5)] + [scored(f"f {i}", 0.9) for i in range(5)]

    ranked, _ = choose(pool, OPEN, SelectionSettings(memory_items=1, transcript_items=1), KNOWN, places=2)

    assert sorted(r.candidate.source for r in ranked if r.shown) == ["final", "memory"]


@pytest.mark.parametrize(("low", "high"), [("memory", "final"), ("final", "memory")], ids=["memories", "passages"])
def test_no_place_is_kept_for_what_is_far_below_the_best(low: str, high: str) -> None:
    pool = [scored(f"best {i}", 0.9 - i / 100, source=high) for i in range(6)]
    pool += [scored("near it", 0.65, source=low), scored("far below", 0.5, source=low)]

    kept, _ = choose(pool, OPEN, SelectionSettings(), KNOWN, places=6)
    walls, _ = choose(pool, OPEN, SelectionSettings(reserve_share=0), KNOWN, places=6)
    roomy, _ = choose(pool, OPEN, SelectionSettings(), KNOWN, places=8)

    assert [r.candidate.text for r in kept if r.shown] == [*(f"best {i}" for i in range(5)), "near it"]
    assert [r.candidate.text for r in walls if r.shown][-2:] == ["near it", "far below"]
    assert all(r.shown for r in roomy)  # a place that is free is anybody's


def test_every_verdict_has_a_reason_text() -> None:
    pool = [scored("strong", 1.0), scored("weak", 0.01)]

    ranked, reason = choose(pool, GateSettings(item=False, evidence=False), SelectionSettings(), KNOWN, places=6)
    closed_list, closed_reason = choose(pool, GateSettings(threshold=9.0), SelectionSettings(), KNOWN, places=6)

    assert [r.verdict for r in ranked] == [SHOWN, "below_margin"]
    assert reason == ""
    assert closed_reason == "low_evidence"
    assert {r.verdict for r in [*ranked, *closed_list]} - {SHOWN} <= set(REASONS)


@pytest.mark.parametrize("seed", range(30))
def test_no_weighting_shows_more_than_there_are_places(seed: int) -> None:
    rng = random.Random(seed)
    pool = [
        scored(f"t{i} {rng.random()}", rng.random(), source=rng.choice(["memory", "final", "prompt", "curated"]))
        for i in range(rng.randrange(0, 30))
    ]

    ranked, _ = choose(
        pool,
        OPEN,
        SelectionSettings(memory_items=rng.randrange(5), transcript_items=rng.randrange(5)),
        KNOWN,
        places=rng.randrange(7),
    )

    assert sum(r.shown for r in ranked) <= 6
    assert len(ranked) == len(pool)
