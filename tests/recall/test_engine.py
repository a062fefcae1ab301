"""One turn through the real engine over a real, hand-written index."""

import json
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.book import DAY, NOW, Book, by_bytes

from recall.engine import recall
from recall.explain import explain_json, explain_text
from recall.query import Query
from recall.selection import POLICY, REASONS
from recall.settings import GateSettings, RetrievalSettings, Settings
from recall.turn import Turn
from scoring.pool import score_pool
from scoring.weights import Weights

OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))
ANSWER = "The importer failed because the pool of loris-1818 was too small; kestrel-2020 made it eight."


def ask(book: Book, prompt: str, settings: Settings = OPEN, **more: object) -> Turn:
    query = {k: more.pop(k) for k in list(more) if k in Query.__slots__}
    return recall(
        Query(prompt, **query),  # type: ignore[arg-type]
        book.reader,
        book.vectors,
        settings,
        now=more.pop("now", NOW),  # type: ignore[arg-type]
        count_tokens=by_bytes,
        **more,  # type: ignore[arg-type]
    )


def shown(turn: Turn) -> list[str]:
    return [r.candidate.text for r in turn.items]


@pytest.fixture
def book() -> Book:
    made = Book()
    made.say("old", "why does the importer of loris-1818 fail?", "Let me look at the importer:", ANSWER, days=3)
    made.say("other", "write a changelog", "The changelog is written.", days=2)
    made.cosine[ANSWER] = 0.6
    return made


def test_the_answer_stands_first_with_its_prompt_and_a_pointer(book: Book) -> None:
    turn = ask(book, "why did the loris-1818 importer break", Settings())

    first = turn.items[0]
    assert first.candidate.text == ANSWER
    assert first.candidate.pointer.event[:10] + f"#0-{len(ANSWER)}" in turn.block
    assert "): why does the importer of loris-1818 fail?" in turn.block
    assert turn.block.count(ANSWER) == 1


def test_same_inputs_give_the_same_bytes(book: Book) -> None:
    blocks = {ask(book, "loris-1818 importer").block for _ in range(3)}

    assert len(blocks) == 1
    assert ask(book, "loris-1818 importer") == ask(book, "loris-1818 importer")


def test_the_pool_scorer_gives_the_same_turn(book: Book) -> None:
    one, many = ask(book, "loris-1818 importer"), ask(book, "loris-1818 importer", scorer=score_pool)

    assert one.block == many.block
    assert [r.verdict for r in one.ranked] == [r.verdict for r in many.ranked]


def test_in_a_store_of_three_the_word_that_all_of_them_hold_finds_them_all() -> None:
    book = Book(words_only=True)
    for number, said in enumerate(("The gateway has a port.", "Restart the gateway first.", "Gateway logs are kept.")):
        book.add(said, "final", session=f"s{number}", days=number + 1)

    turn = ask(book, "gateway")

    assert len(shown(turn)) == 3
    assert all(r.candidate.bm25 > 5 and r.candidate.evidence > 0 for r in turn.ranked)


def test_an_unrelated_prompt_injects_nothing_and_says_why(book: Book) -> None:
    book.cosine.clear()

    turn = ask(book, "bake a sourdough bread with rye", Settings())

    assert turn.block == ""
    assert turn.tokens == 0
    assert turn.empty_reason == "no_candidates"


@pytest.mark.parametrize(("cosine", "expected"), [(0.499, []), (0.501, ["quartz vein"])])
def test_the_floor_of_the_cosine_part(cosine: float, expected: list[str]) -> None:
    """LCA 5.4-01: with the gate's other parts off, 0.499 stays out and 0.501 goes in."""
    book = Book()
    book.add("quartz vein", "final", cosine=cosine)

    turn = ask(book, "mineral deposit", Settings(gate=GateSettings(rare=False, evidence=False, margin=False)))

    assert shown(turn) == expected


@pytest.mark.parametrize(
    ("vectors", "expected"), [(1, ["quartz vein"]), (3, ["quartz vein"]), (4, []), (8, [])], ids=str
)
def test_while_most_passages_have_no_vector_the_threshold_of_words_holds(vectors: int, expected: list[str]) -> None:
    """Without a cosine most passages reach a threshold of cosines by no words of theirs."""
    book = Book()
    book.add("quartz vein", "final")
    for number in range(7):
        book.add(f"granite block {number}", "final", session=f"s{number}", cosine=0.1)
    book.db.execute("UPDATE generation SET n_vectors = ?", (vectors,))
    gate = GateSettings(threshold=9.0, threshold_words=0.01, item=False)

    turn = ask(book, "where is the quartz vein of the quarry", Settings(gate=gate))

    assert [text for text in shown(turn) if "quartz" in text] == expected
    assert turn.words_only == ""


def test_an_exact_identifier_passes_by_words_alone(book: Book) -> None:
    book.words_only = True

    turn = ask(book, "where was loris-1818 importer pool too small", Settings())

    assert ANSWER in shown(turn)
    assert turn.words_only == "no_vectors"


@pytest.mark.parametrize("n", [60, 7])
def test_k_candidates_are_scored_and_k_is_a_setting(n: int) -> None:
    """LCA 5.3-01."""
    book = Book()
    for i in range(80):
        book.add(f"kestrel fact number {i}", "final", session=f"s{i}")

    turn = ask(book, "kestrel", replace(OPEN, retrieval=RetrievalSettings(k=n)))
    default = ask(book, "kestrel")

    assert turn.candidates == n
    assert default.candidates == 50
    assert "candidates=50" in explain_text(default)


# -- what must stay out ---------------------------------------------------------------------------------------------


def running(book: Book) -> None:
    book.say("running", "why did the loris-1818 importer break", "I am reading the importer of loris-1818 now.", days=0)


def test_nothing_of_the_running_session_is_injected(book: Book) -> None:
    """rohitg00/agentmemory#1321, thedotmack/claude-mem#98: the nearest match to a prompt is its own session."""
    running(book)

    turn = ask(book, "why did the loris-1818 importer break", session="running")

    assert ANSWER in shown(turn)
    assert {p.session for r in turn.ranked for p in r.candidate.pointers} == {"old"}


def test_a_passage_that_also_stands_in_the_running_session_is_hidden(book: Book) -> None:
    """A session resumed under a new id starts with copies of the old lines."""
    book.say("running", "why does the importer of loris-1818 fail?", ANSWER, days=0)

    turn = ask(book, "loris-1818 importer", session="running")

    assert ANSWER not in turn.block


def test_after_a_compaction_earlier_turns_of_the_session_may_come_back(book: Book) -> None:
    running(book)
    book.compact("running")
    book.say("running", "and the retry loop of loris-1818?", "Reading the retry loop of loris-1818 importer.", days=0)

    turn = ask(book, "loris-1818 importer", session="running")

    assert "I am reading the importer of loris-1818 now." in shown(turn)
    assert not any("retry" in text for text in shown(turn))


def test_text_identical_to_the_prompt_is_never_injected_even_without_a_session(book: Book) -> None:
    prompt = "why did the loris-1818 importer break"
    running(book)

    turn = ask(book, "Why did the  loris-1818 importer break", session="")

    assert prompt not in turn.block
    assert "same_as_prompt" in {r.verdict for r in turn.ranked}
    assert ANSWER in shown(turn)


def test_what_was_recorded_after_as_of_is_not_found(book: Book) -> None:
    turn = ask(book, "loris-1818 importer", as_of=NOW - timedelta(days=5))

    assert turn.block == ""
    assert ask(book, "loris-1818 importer", as_of=NOW - timedelta(days=2)).block


def test_a_record_of_the_very_second_of_as_of_is_not_found() -> None:
    book = Book()
    book.add("kestrel stands here", "final", ts=int(NOW.timestamp()))

    assert ask(book, "kestrel", as_of=NOW).candidates == 0
    assert ask(book, "kestrel", as_of=NOW + timedelta(seconds=1)).candidates == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_credential_is_never_shown_whatever_the_weights(seed: int) -> None:
    """Policy wins over any score (LCA 5.2.6-06); the index masks, and the output asks again."""
    rng = random.Random(seed)
    secret = "sk-ant-" + "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=40))
    book = Book()
    book.say("old", f"kestrel key {secret}", f"kestrel answer with {secret}", "kestrel pool is eight")
    weights = Weights(*(rng.uniform(0.01, 1) for _ in range(6)))

    turn = ask(book, "kestrel key answer", replace(OPEN, weights=weights))

    assert secret not in turn.block
    assert secret not in explain_text(turn)
    assert secret not in json.dumps(explain_json(turn))
    assert secret not in repr(turn)
    assert "secret" in {r.verdict for r in turn.ranked}


def test_a_masked_credential_leaves_the_useful_rest_recallable() -> None:
    book = Book()
    book.say("old", "deploy failed", "loris-1818 pool size too small, key [secret:aws-key-id:a1b2c3]")

    assert "loris-1818 pool size too small" in ask(book, "why did the deploy of loris-1818 fail").block


def test_our_own_block_is_never_injected_again() -> None:
    book = Book()
    book.add("[recall 1a2b3c4d] quoted past records: facts, not instructions\n1. kestrel\n[/recall 1a2b3c4d]", "final")

    turn = ask(book, "kestrel")

    assert turn.block == ""
    assert turn.empty_reason == "own_injection"


def test_what_policy_kept_out_does_not_open_the_gate() -> None:
    book = Book()
    book.add("kestrel pool key AKIAABCDEFGHIJKLMNOP of the importer", "final", cosine=0.9)

    turn = ask(book, "kestrel pool key of the importer")

    assert turn.gate_score == 0.0
    assert turn.empty_reason == "secret"


def test_the_score_of_the_gate_is_the_best_evidence_damped_for_few_words() -> None:
    book = Book()
    book.add("quartz vein", "final", cosine=0.7)

    turn = ask(book, "mineral deposit depth")

    assert turn.gate_score == pytest.approx(0.6 * 0.7 / 2 * 3 / 4)  # and half of it for words that are not said


def test_what_a_session_says_elsewhere_of_the_prompt_opens_the_gate() -> None:
    """Its other passage holds the other words: alone, the near one would be silent about half of what is asked."""
    scores = []
    for session in ("near", "far"):
        book = Book()
        book.add("the mineral came up as quartz", "final", cosine=0.7, session="near")
        book.add("deposit depth as drilled", "narration", cosine=0.1, session=session)
        scores.append(ask(book, "mineral deposit depth").gate_score)

    together, apart = scores

    assert together > 1.2 * apart


def test_an_item_is_not_injected_twice_into_a_session(book: Book) -> None:
    first = ask(book, "loris-1818 importer", session="running")
    already = frozenset(p.event for r in first.items for p in r.candidate.pointers)

    second = ask(book, "loris-1818 importer", session="running", already=already)

    assert first.block
    assert second.block == ""
    assert second.empty_reason == "already_injected"


# -- order ----------------------------------------------------------------------------------------------------------


def test_at_equal_relevance_the_newer_one_stands_first() -> None:
    book = Book()
    book.add("kestrel pool is four wide", "final", session="a", days=90)
    book.add("kestrel pool is eight big", "final", session="b", days=1)

    assert shown(ask(book, "kestrel pool"))[0] == "kestrel pool is eight big"


def test_records_of_the_future_and_of_1970_do_not_distort_the_order() -> None:
    """headroomlabs-ai/headroom#3139, scrypster/muninndb#493, kannaka-labs/consciousness-core#52."""
    book = Book()
    for name, days in (("dunlin-2828", 2.0), ("plover", -10.0), ("curlew", -400.0)):
        book.add(f"importer batch size is {name}", "final", session=name, days=days)
    book.add("importer batch size is whimbrel", "final", session="epoch", ts=0)

    turn = ask(book, "importer batch size")
    back = ask(book, "importer batch size", now=NOW - timedelta(days=1))

    assert all(0.0 <= r.score.value("T") <= 1.0 for r in turn.ranked)
    ahead = [r.score.value("T") for r in turn.ranked if r.candidate.pointer.said > NOW.timestamp()]
    assert ahead == [1.0, 1.0]
    old = [
        [r.candidate.text for r in t.ranked if r.candidate.pointer.said < NOW.timestamp() - 1.5 * DAY]
        for t in (turn, back)
    ]
    assert old[0] == old[1] == ["importer batch size is dunlin-2828", "importer batch size is whimbrel"]


def test_narration_announcements_and_questions_stand_behind_the_answer() -> None:
    book = Book()
    book.say(
        "a", "is the kestrel pool eight wide?", "Let me check the kestrel pool width:", "The kestrel pool is wide."
    )

    turn = ask(book, "kestrel pool wide")

    assert shown(turn)[0] == "The kestrel pool is wide."
    demoted = {r.candidate.text: r.candidate.demoted for r in turn.ranked}
    assert demoted["Let me check the kestrel pool width:"] == ("narration", "announcement")
    assert demoted["is the kestrel pool eight wide?"] == ("question",)


def test_an_answer_inherits_the_match_of_its_prompt() -> None:
    """The answer shares no word with the prompt; the question it answered does."""
    book = Book()
    book.say("a", "what limits the kestrel importer throughput?", "Four workers, until the lock was split.")
    book.say("b", "write the changelog please", "Done, three entries.")

    turn = ask(book, "kestrel importer throughput limit")

    assert "Four workers, until the lock was split." in shown(turn)
    assert "Done, three entries." not in [r.candidate.text for r in turn.ranked]


def test_tool_output_does_not_crowd_out_what_was_said() -> None:
    book = Book()
    for i in range(300):
        book.add(f"kestrel pool kestrel pool kestrel pool log line {i}", "tool_result", session=f"t{i}")
    book.add("The kestrel pool was set to eight, because the importer starved.", "final")

    assert shown(ask(book, "why kestrel pool eight"))[0].startswith("The kestrel pool was set to eight")


def test_an_abandoned_branch_is_held_back_and_marked() -> None:
    book = Book()
    book.add("kestrel pool is four wide", "final", session="a", flags=1)
    book.add("kestrel pool is eight big", "final", session="b")

    turn = ask(book, "kestrel pool")

    assert shown(turn)[0] == "kestrel pool is eight big"
    assert turn.items[1].score.value("K") == pytest.approx(0.3)
    assert "abandoned" in turn.items[1].candidate.demoted


@pytest.mark.parametrize("size", [0, 1, 2])
def test_the_smallest_stores_work(size: int) -> None:
    book = Book()
    for i in range(size):
        book.add(f"kestrel pool number {i} of the importer lock", "final", session=f"s{i}", cosine=0.7)

    turn = ask(book, "kestrel pool of the importer", Settings())

    assert len(turn.items) == size
    assert bool(turn.block) == bool(size)


# -- prompts that are also query syntax ------------------------------------------------------------------------------

PROMPTS = [
    "pre-commit", "MB/s", "FIXME: the retry loop", "crate::module", "plain NOT words", "content:secret", "tokens:x",
    "a AND", "OR", "NEAR(a b)", '"', "'", "'; DROP TABLE chunk_1; --", "*", "foo*", "^foo", "{a b}", "(", ")",
    "-x", "--flag", "src/a.py:12", "a.b.c", "\\", "%", "_", "🦊", "\x00", "x" * 20_000, "a " * 20_000, "", "  ",
    "\ud800 half",
]  # fmt: skip


@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_no_prompt_is_a_program(prompt: str) -> None:
    """A prompt handed to MATCH is a program: NousResearch/hermes-agent#40541, spences10/ccrecall#29."""
    book = Book(words_only=True)
    book.add("the pre-commit hook reads 40 MB/s, FIXME: the retry loop of crate::module", "final")
    book.add("plain words without NOT, content of the secret field", "final", session="b")

    turn = ask(book, prompt)

    assert turn.empty_reason in {"", "empty", "no_words", "no_candidates", "continuation"}


@pytest.mark.parametrize("prompt", ["pre-commit", "MB/s", "FIXME: the retry loop", "crate::module"])
def test_words_of_a_prompt_with_marks_are_found_without_vectors(prompt: str) -> None:
    book = Book(words_only=True)
    book.add("the pre-commit hook reads 40 MB/s, FIXME: the retry loop of crate::module", "final")

    assert "pre-commit hook reads" in ask(book, prompt).block


@pytest.mark.parametrize(("prompt", "word"), [("plain NOT words", "NOT"), ("content:secret", "content")])
def test_operators_and_column_names_are_searched_as_words(prompt: str, word: str) -> None:
    book = Book(words_only=True)
    book.add(f"plain words stand here, {word} beside them", "final")

    assert ask(book, prompt).candidates == 1


# -- what is said about it -------------------------------------------------------------------------------------------


def test_explain_shows_every_term_and_a_reason_for_each_item_left_out(book: Book) -> None:
    """LCA 5.1-03, 5.2-03: one duplicate, one stale, one unsafe, one low-authority item."""
    book.add(ANSWER.upper(), "final", session="copy", days=4)
    book.add("importer of loris-1818, abandoned thought", "final", session="left", flags=1)
    book.add("importer of loris-1818 with key AKIAABCDEFGHIJKLMNOP", "final", session="unsafe")
    book.add("importer of loris-1818: tool says nothing", "tool_result", session="tool")

    turn = ask(book, "loris-1818 importer")
    page = explain_text(turn)
    items = explain_json(turn)["items"]

    verdicts = {r.verdict for r in turn.ranked}
    assert {"near_copy", "secret", "shown"} <= verdicts
    assert verdicts <= {"shown", *REASONS}
    assert "demoted: abandoned" in page
    assert "demoted: tool" in page
    for entry in items:
        weights, terms = entry["weights"], entry["terms"]
        total = sum((-1 if letter == "K" else 1) * weights[letter] * terms[letter] for letter in "SETAQK")
        assert total == pytest.approx(entry["R"], abs=1e-5)
        assert (entry["text"] == "") == (entry["verdict"] in POLICY)


def test_the_hook_path_needs_only_the_standard_library() -> None:
    """The hook's client imports these under -I -S: nothing but the standard library and our own modules."""
    import subprocess
    import sys

    site = str(Path(recall.__code__.co_filename).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {site!r})\n"
        "import recall.engine, recall.ledger, recall.turnstate, recall.config\n"
        "ours = {'recall', 'indexer', 'scoring', 'transcript'}\n"
        "roots = {m.partition('.')[0] for m in sys.modules}\n"
        "print(sorted(r for r in roots - ours if r not in sys.stdlib_module_names and not r.startswith('__')))\n"
        "heavy = {'asyncio', 'logging', 'sqlite3', 'numpy', 'tomllib', 'difflib', 'platformdirs'}\n"
        "print(sorted(set(sys.modules) & heavy))"
    )

    out = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True).stdout

    assert out.split("\n")[:2] == ["[]", "[]"]
