"""The blind audit: what its sheet shows and hides, and what a filled sheet comes to."""

from pathlib import Path

import pytest
from support.command import runner
from support.dialogue import Dialogue
from support.memory_events import written
from support.record import NOW

from consolidation.citations import cited
from consolidation.prevented import prevented
from eval.agreement import PREVENTED, Ratings, agreement, keep
from eval.imprint import Row, audit, read_answers, sheet, to_csv, wilson
from health.gather_judged import judged_facts
from recall.cli.app import App
from transcript.errors import RecallError
from transcript.log import Log
from transcript.memories import fold_memories

PNPM = written("Use pnpm, never npm, in this repository.", mistake=("npm", "pnpm"))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """A record in which a memory kept four sessions from a mistake that others had just made."""
    talk = Dialogue("s0")
    talk.prompt("hello")
    talk.curated(PNPM)
    talk.bash("git status")
    for number in range(1, 5):
        talk.begin(f"m{number}")
        talk.prompt("hello")
        talk.bash("npm install")
        talk.begin(f"s{number}")
        item = {"event": PNPM.id, "pointer": PNPM.id[:10], "start": 0, "end": 9}
        row = {"mode": "warm", "prompt": "install it", "asked_in": talk.session, "items": [item]}
        talk.event("recall", row, actor="system")
        talk.prompt("install it")
        talk.reply(f"With pnpm, as {PNPM.id[:10]} says. Nothing else.")
        talk.bash(f"pnpm install part{number}")
    made = talk.log(tmp_path_factory.mktemp("imprint"))
    state = fold_memories(made)
    found = cited(made, None, state)
    made.append([*found, *prevented(made, found, state)], now=NOW)
    return made


def test_a_sheet_pairs_each_increment_with_an_action_that_was_not_counted(log: Log) -> None:
    rows = sheet(log, sample=30, seed=1)

    assert [row.counted for row in rows].count(True) == [row.counted for row in rows].count(False) == 4
    assert {row.action for row in rows if row.counted} == {f"command: pnpm install part{n}" for n in range(1, 5)}
    assert {row.action for row in rows if not row.counted} <= {"command: npm install", "command: git status"}
    assert {row.cited for row in rows} == {f"With pnpm, as {PNPM.id[:10]} says."}


def test_the_same_seed_draws_the_same_rows_and_another_one_others(log: Log) -> None:
    assert sheet(log, sample=2, seed=1) == sheet(log, sample=2, seed=1)
    assert {row.row for row in sheet(log, sample=4, seed=1)}.isdisjoint(row.row for row in sheet(log, sample=4, seed=2))


def test_the_sheet_does_not_say_what_was_counted(log: Log) -> None:
    """What is written is the same whether a row was counted or not."""
    rows = sheet(log, sample=30, seed=1)
    turned = [Row(r.row, r.memory, r.cited, r.action, not r.counted) for r in rows]

    assert to_csv(rows) == to_csv(turned)
    assert [row.row for row in rows] == sorted(row.row for row in rows)


def test_a_filled_sheet_is_held_against_the_record(log: Log) -> None:
    """Three of four increments confirmed, one of four others taken for one; one row more was left out."""
    rows = sheet(log, sample=30, seed=1)
    counted, others = [r.row for r in rows if r.counted], [r.row for r in rows if not r.counted]
    told = dict.fromkeys(counted[:3], "yes") | {counted[3]: "no"} | {others[0]: "yes", others[1]: "n", others[2]: "No"}
    filled = to_csv(rows).splitlines()
    text = "\n".join([filled[0], *(line[:-1] + "," + told.get(line.split(",")[0], "") for line in filled[1:])])

    found = audit(rows, read_answers(text))

    assert (found.agreed, found.sample, found.mistaken, found.controls, found.unread) == (3, 4, 1, 3, 1)
    assert found.to_text().startswith("agreed 3 of 4 = .75 [.30, .95] (Wilson); of 3 rows")


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"), [(26, 30, 0.7032, 0.9469), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0)]
)
def test_the_interval_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n1,2\n", "lacks the columns"), ("row,changed\nx,perhaps\n", "must be yes or no")],
)
def test_a_sheet_that_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(RecallError, match=message):
        read_answers(text)


def test_another_sheet_or_an_empty_one_is_refused(log: Log) -> None:
    rows = sheet(log, sample=30, seed=1)

    with pytest.raises(RecallError, match="not of this sheet"):
        audit(rows, {"aaaaaaaaaa": "yes"})
    with pytest.raises(RecallError, match="no row is answered"):
        audit(rows, read_answers(to_csv(rows)))


def test_without_any_increment_there_is_nothing_to_audit(tmp_path: Path) -> None:
    talk = Dialogue("s0")
    talk.prompt("hello")

    with pytest.raises(RecallError, match="nothing to audit"):
        sheet(talk.log(tmp_path), sample=30, seed=1)


def test_the_command_keeps_that_a_reader_judged_and_refuses_where_two_readers_disagreed(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """LCA-D-10H, LCA-10-02: health tells the measure that is in use before anybody calibrated it."""
    for name in ("workspace", "writable_workspace"):
        monkeypatch.setattr(App, name, lambda _self: log.workspace)
    recall, file = runner(capsys), tmp_path / "sheet.csv"
    made = recall("eval", "imprint", "--audit", "--out", str(file))
    file.write_text(file.read_text("utf-8").replace(",\n", ",yes\n"), "utf-8")
    first = recall("eval", "imprint", "--audit", "--answers", str(file))
    (known,) = judged_facts(log.workspace).measures
    apart = Ratings("ana", "ben", (("yes", "no"), ("no", "yes"), ("yes", "yes")))
    keep(log.workspace, agreement(apart, PREVENTED, at=NOW))
    second = recall("eval", "imprint", "--audit", "--answers", str(file))

    assert made.out.startswith("4 prevented mistakes and 4 other rows in ")
    assert (first.code, second.code) == (0, 1)
    assert first.out.startswith("agreed 4 of 4 = 1.00")
    assert f"'recall eval agreement FILE --measure \"{PREVENTED}\"'" in first.err
    assert (known.name, known.kappa) == (PREVENTED, None)
    assert second.out == ""
    assert "agree too little (kappa -0.50" in second.err
