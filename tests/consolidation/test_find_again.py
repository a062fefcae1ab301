"""What a person says again, and the extract of a session."""

import json

import pytest
from support.dialogue import Dialogue
from support.record import NOW

from consolidation import find_repeated, find_summary
from consolidation.places import word_for_word
from consolidation.sessions import views
from consolidation.span import words
from consolidation.verify import verify
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import index
from transcript.log import Log
from transcript.memories import MemoryState

FACT = "timestamps are stored in UTC, decision avocet-3232."


END = (
    "The importer keeps the last line now. `flush()` is called at the end of each file, which the old code left out "
    "when the file had no newline at its end."
)


def repeated(log: Log):
    """Return what is found to be repeated, with the index of the record at hand."""
    key = log.workspace.id_key()
    with Store.open(log.workspace.index_path, "w") as store:
        index(log.workspace, store, IndexSettings(), now=NOW)
        places = word_for_word(log, store, key)
        return [one for view in views(log) for one in find_repeated.find(view, MemoryState(), key, places)]


def said(tmp_path, *sessions: list[str]) -> Log:
    talk = Dialogue()
    for number, prompts in enumerate(sessions):
        talk.begin(f"s{number}")
        for prompt in prompts:
            talk.prompt(prompt)
            talk.reply("Noted.")
    return talk.log(tmp_path)


def test_ten_reminders_are_one_candidate_at_their_first_place(shared, tmp_path):
    """Case conc-nightly-overlap, its own file."""
    path = shared / "cases" / "conc-nightly-overlap" / "input" / "session.jsonl"
    prompts = [json.loads(line)["message"]["content"] for line in path.read_text().splitlines()]
    log = said(tmp_path, prompts)

    [one] = repeated(log)

    assert (one.text, one.memory_type) == (FACT, "project_fact")
    assert words(log, one.sources[0], log.workspace.id_key()) == FACT
    assert one.sources[0].event == next(log.read()).id
    assert verify(one, log, (), key=log.workspace.id_key()).verdict == "not_refuted"


def test_the_eleventh_reminder_is_no_new_candidate(tmp_path):
    reminders = [f"Reminder number {n}: {FACT}" for n in range(11)]

    [ten] = repeated(said(tmp_path / "ten", reminders[:10]))
    [eleven] = repeated(said(tmp_path / "eleven", reminders))

    assert ten.id == eleven.id


def test_a_sentence_of_an_earlier_session_is_said_again_in_the_later_one(tmp_path):
    log = said(tmp_path, [f"Hello. {FACT}"], ["Something else entirely about ports."], [FACT.upper()])

    [one] = repeated(log)

    assert log.get(one.sources[0].event).session == "s2"
    assert [log.get(span.event).session for span in one.closed_by] == ["s0"]


@pytest.mark.parametrize(
    "sessions",
    [
        ([FACT],),
        ([FACT, FACT],),
        ([FACT], [f"One thing. Another thing. A third thing. {FACT}"]),
        (["can you review the changes in this branch?"], ["can you review the changes in this branch?"]),
        (["let's adjust the test-secrets.txt file"], ["let's adjust the test-secrets.txt file"]),
        (["never store timestamps in local time"], ["never store timestamps in local time"]),
        (["push and create a pr"], ["push and create a pr"]),
    ],
    ids=["once", "twice in a session", "in a paste", "question", "of the moment", "a wish, found as one", "too short"],
)
def test_what_is_not_repeated_knowledge(tmp_path, sessions):
    assert repeated(said(tmp_path, *sessions)) == []


def talk_of_three() -> Dialogue:
    talk = Dialogue()
    talk.prompt("Hi! The importer loses the last line of a file.")
    talk.reply("Let me look.")
    talk.edit("src/importer.py")
    talk.prompt("and the tests?")
    talk.reply("They pass.")
    talk.prompt("ok")
    talk.reply(f"{END} Shall I commit it?")
    talk.prompt("yes")
    talk.reply("Committed.")
    talk.prompt("and the docs?")
    talk.reply(
        "Let me look at the docs first, all of them, from the first page to the last, and then at the changelog."
    )
    return talk


def extract(talk: Dialogue, folder):
    log = talk.log(folder)
    key = log.workspace.id_key()
    return log, [one for view in views(log) for one in find_summary.find(view, MemoryState(), key, lambda text: ())]


def test_the_extract_quotes_the_end_and_says_what_was_asked_for(tmp_path):
    log, [one] = extract(talk_of_three(), tmp_path)

    assert one.text == END
    assert one.why == (
        'asked first: "The importer loses the last line of a file."; '
        "extract of a session of 5 exchanges; wrote importer.py"
    )
    assert (one.kind, one.covers) == ("summary", ("s1", 1, log.head().seq))
    key = log.workspace.id_key()
    assert [words(log, span, key) for span in one.sources] == [one.text, "The importer loses the last line of a file."]
    assert verify(one, log, (), key=key).verdict == "not_refuted"


def test_a_session_that_goes_on_has_another_extract(tmp_path):
    longer = talk_of_three()
    longer.prompt("thanks")
    longer.reply(END.replace("importer", "exporter"))

    _, [first] = extract(talk_of_three(), tmp_path / "first")
    _, [then] = extract(longer, tmp_path / "then")

    assert first.id != then.id
    assert first.covers[0] == then.covers[0]


def test_two_exchanges_leave_no_extract_nor_does_a_talk_in_which_nothing_was_written(tmp_path):
    short = Dialogue()
    short.prompt("The importer loses the last line of a file.")
    short.edit("src/importer.py")
    short.reply("It keeps it now.")
    idle = Dialogue()
    for number in range(5):
        idle.prompt(f"what is {number} plus {number}, please")
        idle.reply(f"It is {number + number}.")

    assert extract(short, tmp_path / "short")[1] == []
    assert extract(idle, tmp_path / "idle")[1] == []
