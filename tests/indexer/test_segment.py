"""Words of the index: identifiers whole and in parts, scripts without spaces in pairs, stop words by language."""

import random
import sqlite3
import string

import pytest

from indexer.segment import MAX_QUERY_TERMS, STOP, query_terms, segment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("statusUnchanged", ["statusunchanged", "status", "unchanged"]),
        ("status_unchanged", ["statusunchanged", "status", "unchanged"]),
        ("HTTPServer2", ["httpserver2", "http", "server"]),
        ("os.path.join", ["ospathjoin", "os", "path", "join"]),
        ("src/app/barBaz.py", ["srcappbarbazpy", "barbazpy", "src", "app", "barbaz", "bar", "baz", "py"]),
        ("crate::module", ["cratemodule", "crate", "module"]),
        ("pre-commit", ["precommit", "pre", "commit"]),
        ("lynx-8080", ["lynx8080", "lynx", "8080"]),
        ("9f86d081884c7d65", ["9f86d081884c7d65"]),
        ("東京都へ", ["東京", "京都", "都へ"]),
        ("don't l'idée", ["don", "t", "l", "idée"]),
        ("", []),
        (" \n…—!? ", []),
    ],
)
def test_a_text_gives_its_words_whole_and_in_parts(text, expected):
    assert segment(text) == expected


def test_spellings_of_one_identifier_share_its_joined_form():
    assert {segment(t)[0] for t in ("statusUnchanged", "StatusUnchanged", "status_unchanged", "status-unchanged")} == {
        "statusunchanged"
    }


def test_composed_and_decomposed_accents_are_one_word():
    assert segment("re\u0301sume\u0301") == segment("résumé") == ["résumé"]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("why did we choose sqlite over postgres", ["choose", "sqlite", "postgres"]),
        ("warum haben wir uns für SQLite entschieden", ["sqlite", "lite", "entschieden"]),
        ("pourquoi avons-nous choisi SQLite", ["avonsnous", "choisi", "sqlite", "lite"]),
        ("the and of", []),
        ("a b c", []),
        ("retry retry RETRY", ["retry"]),
    ],
)
def test_query_terms_drop_what_every_text_holds(prompt, expected):
    assert query_terms(prompt) == expected


def test_query_terms_of_a_very_long_prompt_are_few_and_keep_what_is_repeated():
    rng = random.Random(1)
    words = ["".join(rng.choices(string.ascii_lowercase, k=5)) for _ in range(3000)]

    terms = query_terms("checkpointing " * 3 + " ".join(words))

    assert len(terms) == MAX_QUERY_TERMS
    assert "checkpointing" in terms


def test_stop_words_hold_no_names_of_things():
    assert not STOP & {"bin", "test", "file", "error", "main", "git", "note"}


def test_every_token_is_one_word_to_the_index_tokenizer():
    """A token that FTS5 cut again would count as a phrase and make frequencies wrong."""
    texts = ["statusUnchanged src/a_b/c.py:12 E0502", "東京都 l'idée naïve", "x" * 200, "v2.1.197 __init__ foo@bar.com"]
    tokens = {token for text in texts for token in segment(text)}
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE f USING fts5(t, tokenize='porter unicode61')")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, 'instance')")
    for token in sorted(tokens):
        db.execute("DELETE FROM f")
        db.execute("INSERT INTO f VALUES (?)", (token,))
        assert db.execute("SELECT count(*) FROM v").fetchone()[0] == 1, token
    db.close()
