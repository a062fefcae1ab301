"""How far two raters agree beyond chance: worked by hand, and what health makes of it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.command import runner

from eval import agreement as module
from eval.agreement import PREVENTED, Agreement, agreement, calibrated, keep, read, used
from eval.planted_project import healthy
from health.gather_judged import judged_facts
from recall.cli.app import App
from transcript.errors import RecallError
from transcript.workspace import Workspace

NOW = datetime(2026, 6, 20, tzinfo=UTC)
COHEN = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
BELOW = [("yes", "yes")] * 16 + [("yes", "no")] * 3 + [("no", "yes")]  # raw agreement of 80 % looks acceptable


def sheet(folder: Path, pairs: list[tuple[str, str]], *, head: str = "item,author,blind") -> Path:
    """A pilot of these ratings."""
    file = folder / "pilot.csv"
    file.write_text("\n".join([head, *(f"{n},{a},{b}" for n, (a, b) in enumerate(pairs, 1))]) + "\n", "utf-8")
    return file


def of(folder: Path, pairs: list[tuple[str, str]]) -> Agreement:
    return agreement(read(sheet(folder, pairs)), "continuity", at=NOW)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return healthy(tmp_path / "planted").workspace


def test_kappa_is_what_is_worked_by_hand(tmp_path: Path) -> None:
    """LCA-D-10H: raw 35/50; by chance 25*30/2500 + 25*20/2500 = 0.5; of 100 ratings 55 are yes and 45 no."""
    found = of(tmp_path, COHEN)

    assert (found.n, found.raw, found.chance) == (50, 0.7, 0.5)
    assert found.kappa == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert found.alpha == pytest.approx(1 - 0.3 / (1 - (55 * 54 + 45 * 44) / (100 * 99)))
    assert found.high - found.kappa == pytest.approx(1.959964 * (0.7 * 0.3 / 50) ** 0.5 / 0.5)
    assert (found.disagreements, found.one_way, found.favours) == (15, 10, "blind")
    assert found.direction == (
        "blind is the more favourable in 10 of 15 disagreements, mostly 'yes' where author says 'no'"
    )


def test_agreement_below_chance_is_told_with_whom_it_favours(tmp_path: Path) -> None:
    """By chance 19/20 * 17/20 + 1/20 * 3/20 = 0.815."""
    found = of(tmp_path, BELOW)

    assert [found.raw, found.chance] == pytest.approx([0.8, 0.815])
    assert found.kappa == pytest.approx(-0.015 / 0.185)
    assert (found.favours, found.one_way, found.disagreements) == ("author", 3, 4)


@pytest.mark.parametrize(
    ("pairs", "favours", "said"),
    [
        ([("4", "10"), ("2", "3"), ("5", "5")], "blind", "blind is the more favourable in 2 of 2 disagreements"),
        ([("ask", "act"), ("ask", "act"), ("act", "ask"), ("act", "act")], "",
         "author says 'ask' where blind says 'act' in 2 of 3 disagreements, in 1 the other way"),
        ([("yes", "no"), ("no", "yes"), ("no", "no")], "", "in 1 of 2 disagreements, as is the other"),
        ([("yes", "yes"), ("no", "no")], "", "no disagreement"),
    ],
    ids=["numbers by size", "words without an order", "both ways", "none"],
)  # fmt: skip
def test_which_way_disagreements_run(pairs: list[tuple[str, str]], favours: str, said: str, tmp_path: Path) -> None:
    found = of(tmp_path, pairs)

    assert found.favours == favours
    assert said in found.direction


def test_an_item_that_one_left_out_counts_for_nothing_and_case_is_none(tmp_path: Path) -> None:
    found = of(tmp_path, [("Yes", "yes"), ("no", "NO"), ("yes", ""), ("", "no")])

    assert (found.n, found.unrated, found.kappa) == (2, 2, 1.0)
    assert found.to_text().endswith("left out: 2 items lack a rating")


@pytest.mark.parametrize("head", ["item;author;blind", "item\tauthor\tblind", "\ufeffitem,author,blind"])
def test_what_spreadsheets_write_is_read(head: str, tmp_path: Path) -> None:
    file = sheet(tmp_path, COHEN, head=head)
    mark = ";" if ";" in head else "\t" if "\t" in head else ","
    file.write_text(file.read_text("utf-8").replace(",", mark).replace("\n", "\r\n"), "utf-8")

    found = read(file)

    assert (found.first, found.second, len(found.pairs)) == ("author", "blind", 50)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1 has 0 columns, must have 3"),
        ("item,author\n", "line 1 has 2 columns"),
        ("item,author,author\n", "line 1: the second and third column are headed by the names of two raters"),
        ("item,a,b\n1,yes,no\n2,yes\n", "line 3 has 2 columns"),
        ("item,a,b\n1,yes,no\n\n1,yes,yes\n", "line 4: rates the item of line 2 again"),
        ("item,a,b\n,yes,no\n", "line 2: no item"),
        ("item,a,b\n1,yes,no\n", "1 item is rated by both"),
        ("item,a,b\n1,yes,yes\n2,yes,yes\n", "both raters say 'yes' of every item"),
        (f"item,a,b\n1,yes,{'x' * 5000}\n", "line 2: 5,000 characters are no rating"),
    ],
)
def test_a_file_that_is_no_pilot_is_refused_with_the_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "pilot.csv"
    file.write_text(text, "utf-8")

    with pytest.raises(RecallError) as fault:
        agreement(read(file), "continuity", at=NOW)

    assert said in str(fault.value)
    assert len(str(fault.value)) <= 200


def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pilot.csv"
    file.write_bytes(b"item,a,b\n1,\xff,no\n")
    with pytest.raises(RecallError, match="is not UTF-8 text"):
        read(file)
    monkeypatch.setattr(module, "MOST_BYTES", 8)
    with pytest.raises(RecallError, match="has more than"):
        read(file)


def test_health_knows_the_newest_agreement_of_each_measure_in_use(workspace: Workspace, tmp_path: Path) -> None:
    """A measure that was taken and never calibrated is told, and a torn line is passed over."""
    keep(workspace, agreement(read(sheet(tmp_path, BELOW)), "continuity", at=NOW))
    with (workspace.run_dir / "agreement.jsonl").open("a") as out:
        out.write('{"measure": "torn')
    keep(workspace, agreement(read(sheet(tmp_path, COHEN)), "continuity", at=NOW))
    used(workspace, "continuity", at=NOW)
    used(workspace, "style", at=NOW)

    first, second = judged_facts(workspace).measures

    assert (first.name, first.favours) == ("continuity", "blind")
    assert first.kappa == pytest.approx(0.4)
    assert (second.name, second.kappa) == ("style", None)


def test_the_command_says_it_and_keeps_it_for_health(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LCA-D-10H: it exits 1 below 0.6, and what it only looks at is not kept."""
    monkeypatch.chdir(tmp_path)
    recall, file = runner(capsys), str(sheet(tmp_path, BELOW))
    assert recall("init").code == 0
    looked = recall("eval", "agreement", file, "--measure", "style", "--no-keep")
    done = recall("eval", "agreement", file, "--measure", " rated  continuity ", "--json")
    unnamed = recall("eval", "agreement", file, "--measure", "x" * 41)

    assert (looked.code, done.code, unnamed.code) == (1, 1, 2)
    assert "kappa -0.08 [-1.00, 0.87]" in looked.out
    assert "author is the more favourable in 3 of 4 disagreements, mostly 'yes' where blind says 'no'" in looked.out
    assert json.loads(done.out)["favours"] == "author"
    (measure,) = judged_facts(App.here().workspace()).measures
    assert (measure.name, measure.n, measure.favours) == ("rated continuity", 20, "author")
    assert "1 to 40" in unnamed.err


def test_an_audit_by_one_reader_is_in_use_until_two_agree_and_refused_where_they_do_not(
    workspace: Workspace, tmp_path: Path
) -> None:
    """LCA-10-02."""
    used(workspace, PREVENTED, at=NOW)
    before = calibrated(workspace, PREVENTED)
    keep(workspace, agreement(read(sheet(tmp_path, BELOW)), PREVENTED, at=NOW))
    with pytest.raises(RecallError, match=r"agree too little \(kappa -0\.08"):
        calibrated(workspace, PREVENTED)
    keep(workspace, agreement(read(sheet(tmp_path, COHEN[:20] + COHEN[35:])), PREVENTED, at=NOW))

    assert before is False
    assert calibrated(workspace, PREVENTED) is True
