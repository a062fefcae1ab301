"""One pass over the texts counts what a look at each of them would count."""

from pathlib import Path

import pytest
from support.record import make_draft, make_log
from support.talk import indexed

from eval.planted_project import Project
from indexer import noise, text_audit
from indexer.store import Store
from indexer.text_audit import TextCounts
from transcript.injected import OPEN_PHRASE

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\n1. The port is 5432.\n[/recall 1a2b3c4d]"
INSERT = (
    "INSERT INTO chunk_{g} (key, source_class, role, n_tokens, text)"
    " SELECT randomblob(12), {kind}, {role}, 1, '{text}' FROM (SELECT 1)"
)


def counts(path: Path, rows: list[tuple[int, int, str]]) -> TextCounts:
    """Return what is counted of an index of these rows alone: class, role, text."""
    with indexed(make_log(path, [make_draft("said")]).workspace) as store:
        store.run(f"DELETE FROM chunk_{store.generation}")
        for kind, role, text in rows:
            store.run(INSERT.format(g=store.generation, kind=kind, role=role, text=text.replace("'", "''")))
        return text_audit.count(store)


@pytest.mark.parametrize(
    ("rows", "distinct", "most", "near", "needed"),
    [
        ([(0, 0, "ä b"), (0, 0, "ä b"), (0, 0, "ä b")], 1, 3, 0, 4),
        ([(0, 0, "a"), (0, 1, "a"), (1, 0, "a")], 3, 1, 0, 3),
        ([(0, 0, "Port 'x'"), (0, 0, 'port "x"'), (0, 0, "p\tort\nx")], 3, 1, 2, 23),
        ([(0, 0, "Über"), (0, 0, "über"), (0, 1, "ÜBER"), (0, 0, "über")], 3, 2, 1, 15),
        ([], 0, 0, 0, 0),
    ],
    ids=["copies", "of other classes and roles", "near copies", "of letters outside ASCII", "none"],
)
def test_texts_are_told_apart(
    tmp_path: Path, rows: list[tuple[int, int, str]], distinct: int, most: int, near: int, needed: int
) -> None:
    found = counts(tmp_path / "made", rows)

    assert (found.rows, found.distinct, found.most_repeated) == (len(rows), distinct, most)
    assert (found.near_copies, found.bytes_needed) == (near, needed)
    assert found.bytes == sum(len(text.encode()) for _, _, text in rows)
    assert sum(found.copies_by_class.values()) == len(rows) - distinct


def test_marks_of_secrets_are_counted_and_not_the_rows_that_hold_them(tmp_path: Path) -> None:
    rows = [(0, 0, "[secret:token] and [secret:key]"), (0, 0, "[secret:token]"), (0, 0, "[secret]")]

    assert counts(tmp_path / "made", rows).secrets == 3


def test_own_text_is_counted_where_it_got_past_the_cutting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case recall-feedback-loop (thedotmack/claude-mem#98)."""
    project = Project(tmp_path / "planted")
    project.say("s", f"Which port?\n{BLOCK}", f"It said: {BLOCK}")
    project.index()
    with Store.open(project.workspace.index_path) as store:
        kept_out = text_audit.count(store).own_text, noise.envelopes(store)
    monkeypatch.setattr("indexer.passages.block_spans", lambda text: [])
    project.say("s", f"And which host?\n{BLOCK}", "None.")
    project.index()

    with Store.open(project.workspace.index_path) as store:
        assert (kept_out, text_audit.count(store).own_text) == ((0, (0, 1)), 1)
