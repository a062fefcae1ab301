"""Newest first among equals, history prompts, and prompts that want exact wording."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from recall.history import asks_for_history
from recall.supersession import newest_first, values
from recall.time_words import stretch
from recall.turn import Candidate, Pointer
from recall.verbatim import wants_exact_words
from scoring.authority import AUTHORITY, PARAPHRASED, authority


@dataclass(frozen=True)
class Item:
    candidate: Candidate


def said(*texts: str) -> list[Item]:
    """One item a text, best first; a text's place in the alphabet of `a:` to `z:` is the day on which it was said."""
    return [
        Item(Candidate(i, text[2:], (Pointer(f"event{i}", 0, 9, f"s{i}", ord(text[0]) * 86_400, "prompt"),)))
        for i, text in enumerate(texts)
    ]


def order(items: list[Item], prompt: str, words: str) -> list[int]:
    """The chunk ids after the tie-break; every word of `words` stands in five passages."""
    return [item.candidate.chunk for item in newest_first(items, prompt, dict.fromkeys(words.split(), 5), 100)]


def test_newest_of_equal_statements_comes_first_and_nothing_else_moves():
    items = said(
        "m:Deploys are announced on the wall.",
        "a:Start function names with 'x_'.",
        "z:The function is slow.",
        "c:From now on, all function names must start with 'y_'.",
        "b:I will start function names with 'z_'.",
    )

    assert order(items, "always start function names with", "always start function names") == [0, 3, 2, 4, 1]


def test_of_equal_statements_the_one_that_more_speaks_against_comes_last_however_new():
    """What belongs to another role, or is contradicted, does not win by being the newest (LCA-5.2.6-04)."""
    items = said(
        "a:Start function names with 'x_'.",
        "d:Start function names with 'w_'.",
        "c:Start function names with 'v_'.",
        "b:Start function names with 'u_'.",
    )
    risks = {0: 0.0, 1: 0.6, 2: 0.0, 3: 0.2}

    found = newest_first(
        items,
        "start function names with",
        dict.fromkeys(("start", "function", "names"), 5),
        100,
        lambda item: risks[item.candidate.chunk],
    )

    assert [item.candidate.chunk for item in found] == [2, 0, 3, 1]


def test_statement_about_less_than_the_prompt_is_no_equal():
    items = said("a:The retry limit of uploads is 5.", "z:The retry limit is 9.")

    assert order(items, "what is the retry limit of uploads", "retry limit uploads") == [0, 1]


@pytest.mark.parametrize("source", ["tool", "narration", "summary", "reasoning", "worker"])
def test_what_only_mentions_a_name_is_no_statement_however_new(source):
    stated, mentioned = said("a:We renamed it to fetch_rates.", "z:grep: fetch_rates, fetch_rates.")
    pointer = replace(mentioned.candidate.pointers[0], source=source)
    mentioned = Item(replace(mentioned.candidate, pointers=(pointer,)))

    assert order([stated, mentioned], "what about fetch_rates?", "fetchrates fetch rates") == [0, 1]


def test_words_of_two_sentences_make_no_statement():
    items = said("a:End function names with '_x'.", "z:End variable names with '_y'. A function starts with 'd_'.")

    assert order(items, "end function names", "end function names") == [0, 1]


def test_function_argument_is_another_subject_than_function():
    items = said("a:Start function names with 'x_'.", "z:Start function argument names with 'a_'.")

    assert order(items, "start function names with", "start function names") == [0, 1]


def test_prefix_and_suffix_are_not_two_values_of_one_rule():
    items = said("a:Function names carry 'x_'.", "z:Function names carry '_y'.")

    assert order(items, "what do function names carry", "function names carry") == [0, 1]


def test_prompt_that_names_the_old_value_finds_the_old_statement():
    items = said("a:Start function names with 'x_'.", "z:Start function names with 'y_'.")

    assert order(items, "who said to start function names with 'x_'", "start function names") == [0, 1]


def test_restated_value_is_as_new_as_its_last_statement():
    items = said(
        "b:Start function names with 'y_'.",
        "a:Start function names with 'x_'.",
        "c:Yes, start function names with 'x_'.",
    )

    assert order(items, "start function names with", "start function names")[0] == 2


def test_prompt_of_directive_words_alone_moves_nothing():
    items = said("a:Always do it now.", "z:Always do it now, please.")

    assert order(items, "always now", "always now") == [0, 1]


def test_a_word_that_no_passage_holds_tells_no_statements_apart_unless_most_are_unknown():
    items = said("a:Deploys go through the job.", "z:Deploys go through the workflow.")
    frequency = {"deploy": 2, "flurble": 0}

    found = newest_first(items, "deploy the flurble", frequency, 100)
    unknown = newest_first(items, "deploy the flurble grault", {**frequency, "grault": 0}, 100)

    assert [item.candidate.chunk for item in found] == [1, 0]
    assert [item.candidate.chunk for item in unknown] == [0, 1]


def test_an_empty_list_stays_empty():
    assert newest_first([], "start function names", {"start": 1}, 10) == []


def test_values_are_what_a_text_names_literally():
    text = "Use `x_` or '--dry-run', not @cached in src/app.py; version 1.2.3 of loadUser and MAX_ROWS"

    assert values(text) == ["x_", "--dry-run", "@cached", "src/app.py", "1.2.3", "loadUser", "MAX_ROWS"]


@pytest.mark.parametrize(
    "prompt",
    [
        "What did we use before?",
        "What port did it have earlier?",
        "was it originally sqlite?",
        "which broker did we use before we switched to NATS?",
        "what was the old port?",
        "how did we previously deploy?",
        "Tell me what the limit used to be",
        "Was haben wir früher benutzt?",
        "Wie war das Limit ursprünglich?",
        "Qu'utilisions-nous avant ?",
        "Quel était l'ancien port ?",
        "¿Qué usábamos antes?",
        "Che cosa usavamo prima?",
        "O que usávamos antigamente?",
        "Что мы использовали раньше?",
        "我们以前用什么？",
    ],
)
def test_question_about_what_was_asks_for_history(prompt):
    assert asks_for_history(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "What do we use?",
        "how do I deploy?",
        "run the tests before you push",
        "Should the cache be cleared before the migration runs?",
        "which tool is used to build the docs?",
        "We previously used Kafka. Add a consumer for NATS.",
        "Was benutzen wir?",
        "Quel port utilisons-nous ?",
        "",
    ],
)
def test_question_about_what_is_does_not(prompt):
    assert not asks_for_history(prompt)


NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)


def looks_back(prompt: str, *, searched: bool = False) -> bool:
    return asks_for_history(prompt, now=NOW, when=stretch(prompt, NOW, UTC), searched=searched)


@pytest.mark.parametrize(
    "prompt",
    [
        "Which database did we use in 2025?",
        "what port was it in 2024 and who changed it?",
        "What did the deploy script used to print?",
        "what command did we used to deploy with",
        "Which port did the gateway use before we introduced the proxy?",
        "What was the limit before we adopted NATS?",
        "where did the logs go before the rewrite?",
        "What did we do until the migration?",
        "what did we say in January 2025 about retries?",
        "which queue did we use last year?",
        "Who used to own the importer?",
        "what was the retention two months ago?",
        "Welche Datenbank nutzten wir 2025?",
        "Welcher Port war es im Jahr 2024?",
        "Was haben wir benutzt, bevor wir auf NATS umgestiegen sind?",
        "Wie war es vor der Umstellung?",
        "Quelle base utilisions-nous en 2025 ?",
        "Qu'est-ce qu'on utilisait avant de passer à NATS ?",
        "¿Qué base de datos usábamos en 2025?",
        "Quale database usavamo nel 2025?",
        "Que banco usávamos em 2025?",
        "Welke database gebruikten we in 2025?",
        "Jakiej bazy używaliśmy w 2025 roku?",
        "Какую базу мы использовали в 2025 году?",
        "Что мы использовали до перехода на NATS?",
        "2025年我们用什么数据库？",
        "2025年には何を使っていましたか？",
        "移行前は何を使っていましたか？",
        "2025년에는 무엇을 사용했나요?",
        "before 2025, which queue did we have?",
    ],
)
def test_question_about_a_time_that_is_over_asks_for_history(prompt):
    assert looks_back(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Which database do we use?",
        "what is the command used to run the tests?",
        "which tool is used to build the docs?",
        "how many errors in 2000 lines?",
        "What breaks in the 2025 migration guide?",
        "Should the cache be cleared before the migration runs?",
        "what do we need to check before we deploy?",
        "Did you run the tests before you pushed the branch",
        "where did we leave off yesterday?",
        "what did we decide last week?",
        "does the API exist since 2025?",
        "what is planned in 2027?",
        "what happens in 2026?",
        "We previously used Kafka. Add a consumer for NATS.",
        "In 2025 we used Kafka. Add a consumer for NATS.",
        "Is port 2003 in use?",
        "is everyone used to it",
        "who is used to do the release?",
        "Remove what we said before committing",
    ],
)
def test_a_number_a_time_that_goes_on_or_the_work_in_hand_is_no_history(prompt):
    assert not looks_back(prompt)


def test_in_a_search_words_that_look_back_need_no_question():
    assert looks_back("port used previously", searched=True)
    assert not looks_back("port used previously")
    assert not looks_back("port of the gateway", searched=True)


@pytest.mark.parametrize(
    "prompt",
    [
        'where did I say "never force push"?',
        "what were her exact words on retries",
        "wie war der genaue Wortlaut der Regel?",
        "TypeError: cannot read properties of undefined",
        "who hit ECONNREFUSED",
        "error[E0382]: borrow of moved value",
        "which function is `load_user`",
    ],
)
def test_quotes_wishes_for_wording_and_errors_want_exact_words(prompt):
    assert wants_exact_words(prompt)


@pytest.mark.parametrize("prompt", ["how do we handle errors?", "what's the user's port", "why is it slow", ""])
def test_other_prompts_do_not(prompt):
    assert not wants_exact_words(prompt)


def test_where_wording_matters_the_record_stands_above_what_was_written_about_it():
    record = ("prompt", "final", "narration", "tool", "worker", "external")

    assert all(authority(s, verbatim=True) == AUTHORITY[s] for s in record)
    assert all(authority("summary", verbatim=True) < authority(s, verbatim=True) for s in record)
    assert all(
        authority("memory", verbatim=True) < authority(s, verbatim=True) for s in ("prompt", "final", "narration")
    )
    assert all(authority(s) == AUTHORITY[s] for s in PARAPHRASED)
