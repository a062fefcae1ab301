"""Sentences that say that one name replaced another, and the links that the index keeps of them."""

import pytest
from support.embedder import StubEmbedder
from support.old_index import as_schema_4
from support.record import NOW, make_draft, make_log
from support.story import ANA, at

from indexer import writer
from indexer.forget import forget
from indexer.rebuild import rebuild
from indexer.replacements import replacements
from indexer.rows import WISH
from indexer.schema import MARKS
from indexer.settings import IndexSettings
from indexer.store import Store
from transcript.curation import correction, decision

RENAMED = "We renamed `load_user` to `fetch_user`."
SETTINGS = IndexSettings()


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (RENAMED, ("load_user", "fetch_user")),
        ("statusUnchanged → unchangedStatus, the rename is done.", ("statusUnchanged", "unchangedStatus")),
        ("Moved the loader from src/loader.py to lib/loader.py.", ("src/loader.py", "lib/loader.py")),
        ("I switched the client from http_client_v1 to http_client_v2.", ("http_client_v1", "http_client_v2")),
        ("Replaced user_cache with user_store everywhere.", ("user_cache", "user_store")),
        ("cacheKey is now called cacheToken.", ("cacheKey", "cacheToken")),
        ("The function parse_date was renamed to parse_datetime.", ("parse_date", "parse_datetime")),
        ("parse_date wurde in parse_datetime umbenannt.", ("parse_date", "parse_datetime")),
        ("J'ai renommé parse_date en parse_datetime.", ("parse_date", "parse_datetime")),
    ],
)
def test_an_explicit_sentence_is_a_replacement(text, pair):
    assert replacements(text) == [pair]


@pytest.mark.parametrize(
    "text",
    [
        "Use fetch_user instead of load_user; we changed nothing else.",
        "Update user_name to user_id in the row.",
        "main_loop -> run_loop -> exit_loop is the call chain.",
        "Should we rename load_user to fetch_user?",
        "We could rename load_user to fetch_user.",
        "Do not rename load_user to fetch_user.",
        "We switched from Kafka to NATS.",
        "The build moved from slow_path to fastLane.",
        "Converting from user_row to user_record is slow, so we changed the cache.",
        "render_page is now slow.",
        "",
    ],
)
def test_a_contrast_an_assignment_a_question_and_unlike_values_are_none(text):
    assert replacements(text) == []


def said(tmp_path, *texts):
    return make_log(tmp_path, [make_draft(i, text=text) for i, text in enumerate(texts)])


def held(log):
    """The old and new names in the index, brought up to date."""
    with Store.open(log.workspace.index_path, "w") as store:
        writer.index(log.workspace, store, SETTINGS, now=NOW, embedder=StubEmbedder())
        return [(old, new) for old, new, _ in store.replacements()]


def test_links_survive_a_rebuild_from_the_record(tmp_path):
    log = said(tmp_path, "load_user reads the row.", RENAMED)
    before = held(log)

    with Store.open(log.workspace.index_path, "w") as store:
        rebuild(log.workspace, store, SETTINGS, now=NOW, embedder=StubEmbedder())
        after = [(old, new) for old, new, _ in store.replacements()]

    assert before == after == [("load_user", "fetch_user")]


def test_a_link_is_forgotten_with_the_words_that_state_it(tmp_path):
    log = said(tmp_path, "load_user reads the row.", RENAMED)
    held(log)
    stated = next(event.id for event in log.read() if event.body.get("text") == RENAMED)

    forget(log.workspace, [stated])

    with Store.open(log.workspace.index_path) as store:
        assert store.replacements() == []


def test_an_index_of_the_first_schema_gets_its_links_when_it_is_opened_for_writing(tmp_path):
    log = said(tmp_path, "load_user reads the row.", RENAMED)
    held(log)
    with Store.open(log.workspace.index_path, "w") as store, store.transaction():
        g = store.generation
        as_schema_4(store)
        for table in ("replaced", "corrected", "proposed", "standing"):
            store.run(f"DROP TABLE {table}_{g}")
        store.run("ALTER TABLE generation DROP COLUMN marks")
        store.run("DELETE FROM migration WHERE id > 1")
        store.run("UPDATE meta SET value = '1' WHERE key = 'schema'")
    with Store.open(log.workspace.index_path) as store:
        assert (store.replacements(), store.corrections(["x"]), store.has_replacements()) == ([], {}, False)

    with Store.open(log.workspace.index_path, "w") as store:
        assert [(old, new) for old, new, _ in store.replacements()] == [("load_user", "fetch_user")]
        assert store.meta().schema == 7


RULES = ("Always use a timeout of 30s for the importer.", "From now on use a timeout of 60s for the importer.")


def proposed_in(log):
    with Store.open(log.workspace.index_path) as store:
        return [(one, other) for one, _, other, _ in store.proposed()]


def test_proposals_survive_a_rebuild_and_go_with_either_rule(tmp_path):
    log = said(tmp_path, *RULES)
    held(log)
    before = proposed_in(log)
    with Store.open(log.workspace.index_path, "w") as store:
        rebuild(log.workspace, store, SETTINGS, now=NOW, embedder=StubEmbedder())
    rebuilt = proposed_in(log)

    forget(log.workspace, [next(event.id for event in log.read() if event.body.get("text") == RULES[1])])

    assert before == rebuilt == [("30s", "60s")]
    assert proposed_in(log) == []


def test_a_rule_of_a_later_run_is_compared_with_those_of_earlier_ones(tmp_path):
    log = said(tmp_path, RULES[0])
    held(log)
    log.append([make_draft("later", text=RULES[1])], now=NOW)
    held(log)

    assert proposed_in(log) == [("30s", "60s")]


def test_an_older_index_is_caught_up_with_by_the_next_run_and_tells_until_then(tmp_path):
    """Wishes and proposals come with the schema; what corrects or replaces what, from the record."""
    wrong = make_draft("wrong", text="load_user reads the row.")
    right = correction(ANA, at(0), wrong.id, "it reads two rows")
    new = decision(ANA, at(1), "load_user reads three rows", supersedes=wrong.id)
    log = make_log(tmp_path, [wrong, *(make_draft(n, text=text) for n, text in enumerate(RULES)), right, new])
    held(log)
    with Store.open(log.workspace.index_path) as store:
        made = (store.corrections([wrong.id]), store.wishes(), store.proposed())
    with Store.open(log.workspace.index_path, "w") as store, store.transaction():
        g = store.generation
        as_schema_4(store)
        store.run(f"DELETE FROM corrected_{g}")
        store.run(f"UPDATE pointer_{g} SET flags = flags & ~{WISH}")
        store.run(f"DROP TABLE proposed_{g}")
        store.run(f"DROP TABLE standing_{g}")
        store.run("ALTER TABLE generation DROP COLUMN marks")
        store.run("DELETE FROM migration WHERE id > 2")
        store.run("UPDATE meta SET value = '2' WHERE key = 'schema'")

    with Store.open(log.workspace.index_path) as store:
        assert store.marks(store.generation) < MARKS
        assert (store.corrections([wrong.id]), store.wishes(), store.proposed()) == ({}, frozenset(), [])
    with Store.open(log.workspace.index_path, "w") as store:
        assert store.marks(store.generation) < MARKS
        assert (store.wishes(), store.proposed()) == made[1:]
    held(log)
    with Store.open(log.workspace.index_path) as store:
        assert store.marks(store.generation) == MARKS
        assert (store.corrections([wrong.id]), store.wishes(), store.proposed()) == made
    assert {one.by for one in made[0][wrong.id]} == {right.id, new.id}
    assert made[1]
    assert made[2]


def test_a_correction_of_a_span_is_forgotten_with_what_it_corrects(tmp_path):
    wrong = make_draft("wrong", text="load_user reads the row.")
    log = make_log(tmp_path, [wrong, correction(ANA, at(0), f"{wrong.id}#0-9", "it is fetch_user")])
    held(log)
    with Store.open(log.workspace.index_path) as store:
        assert [(one.start, one.end) for one in store.corrections([wrong.id])[wrong.id]] == [(0, 9)]

    forget(log.workspace, [wrong.id])

    with Store.open(log.workspace.index_path) as store:
        assert store.corrections([wrong.id]) == {}
