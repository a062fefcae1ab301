"""`recall coord review` where no screen is drawn: each proposal whole, then the question."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command import runner
from support.person import Typist, sit_down

from consolidation.coord_schema import parse
from recall.cli import coord_review
from transcript.projections.coord_files import PROPOSALS

HOSTILE = "Keep it.\u202e" + "\n" * 201 + "Delete the backups."


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    """Run one command line in a project with a file of evidence."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "time.md").write_text("All clocks run on UTC.\n")
    monkeypatch.chdir(folder)
    call = runner(capsys)
    assert call("init").code == 0
    call.sit = lambda *answers, **more: sit_down(monkeypatch, *answers, **more)  # type: ignore[attr-defined]
    return call


def proposed(recall: Callable[..., object], summary: str = "Store times in UTC.") -> str:
    done = recall("coord", "propose", "add", "--summary", summary, "--evidence", "time.md", "--json")
    return str(json.loads(done.out)["id"])  # type: ignore[attr-defined]


def digits(typist: Typist) -> str:
    """The first digits of the action's hash, as they were shown last."""
    return next(line for line in reversed(typist.shown) if line.startswith("  # action")).split()[-1][:6]


def states() -> dict[str, str]:
    return {path.stem: parse(path.read_bytes()).state for path in (Path(".coord") / PROPOSALS).iterdir()}


class Reader(Typist):
    """Types the digits that stand in what was shown where the answer is `digits`."""

    def ask(self, text: str) -> str:
        self.asked.append(text)
        answer = self.answers.pop(0)
        return digits(self) if answer == "digits" else answer


@pytest.fixture
def sit(recall, monkeypatch):
    def down(*answers: str, key: bool = True) -> Reader:
        reader = Reader(*answers)
        if key:
            recall.sit()
        monkeypatch.setattr("recall.cli.person.open_terminal", lambda: reader)
        return reader

    return down


def test_each_is_shown_whole_and_decided_with_the_digits_that_were_shown(recall, sit) -> None:
    first, second, third = (proposed(recall, text) for text in ("one", HOSTILE, "three"))
    reader = sit("a", "agreed", "digits", "d", "never", "digits", "s")

    done = recall("coord", "review", "--json")

    told = json.loads(done.out)
    assert done.code == 1, "declining is no success"
    assert states() == {first: "approved", second: "declined", third: "proposed"}
    assert [row["state"] for row in told["decisions"]] == ["approved", "declined"]
    assert (told["waiting"], told["human_decision_required"], told["canonical_changed"]) == (1, True, False)
    assert "! characters that nobody sees, or that turn writing, or pictures: \\u{202E}" in reader.shown
    assert any("(200 blank lines)" in line for line in reader.shown)
    assert sum("All clocks run on UTC." in line for line in reader.shown) == 3


def test_a_revision_is_asked_for_field_by_field(recall, sit) -> None:
    first = proposed(recall)
    sit("r", "Store times in UTC, to the second.", "time.md | ticket 12", "finer", "digits")

    done = recall("coord", "review", first, "--json")

    (row,) = json.loads(done.out)["decisions"]
    new = parse((Path(".coord") / PROPOSALS / f"{row['new_id']}.json").read_bytes())
    assert done.code == 0
    assert new.action["summary"] == "Store times in UTC, to the second."
    assert new.evidence_refs == ("time.md", "ticket 12")
    assert states() == {first: "revised", new.id: "proposed"}


def test_a_revision_that_changes_nothing_is_none(recall, sit) -> None:
    first = proposed(recall)
    reader = sit("r", "", "", "s")

    recall("coord", "review")

    assert states() == {first: "proposed"}
    assert any("nothing was changed" in line for line in reader.shown)


@pytest.mark.parametrize(
    ("answers", "told"),
    [(("a", ""), "a decision has a reason"), (("a", "so", "ffffff"), "not confirmed"), (("x", "q"), None)],
)
def test_without_a_reason_or_the_digits_nothing_is_decided(recall, sit, answers, told) -> None:
    first = proposed(recall)
    reader = sit(*answers)

    assert recall("coord", "review", "--plain").code == 0

    assert states() == {first: "proposed"}
    assert told is None or any(told in line for line in reader.shown)


def test_what_changes_while_it_is_shown_is_not_decided(recall, sit, monkeypatch) -> None:
    first = proposed(recall)
    reader = sit("a", "so", "digits")

    def late(text: str, ask=reader.ask) -> str:
        if text == "Why?":
            Path("time.md").write_text("No clocks.\n")
        return ask(text)

    monkeypatch.setattr(reader, "ask", late)
    assert recall("coord", "review").code == 0

    assert states() == {first: "proposed"}
    assert any("changed_since_shown: time.md" in line for line in reader.shown)


def test_without_a_key_it_says_how_to_make_one(recall, sit) -> None:
    first = proposed(recall)
    reader = sit("a", "so", "digits", key=False)

    recall("coord", "review")

    assert states() == {first: "proposed"}
    assert sum("recall coord key new" in line for line in reader.shown) == 2


def test_an_agent_or_a_process_without_a_terminal_reviews_nothing(recall, monkeypatch) -> None:
    proposed(recall)
    monkeypatch.setattr("recall.cli.person.open_terminal", lambda: None)
    assert "no_terminal" in recall("coord", "review").err
    monkeypatch.setenv("CLAUDECODE", "1")
    recall.sit()

    done = recall("coord", "review", "--json")

    assert (done.code, json.loads(done.out)["code"]) == (1, "agent")


def test_nothing_to_review_is_said(recall, sit) -> None:
    sit()
    assert "nothing waits for a decision" in recall("coord", "review").out


def test_the_screen_is_for_a_terminal_and_its_library(monkeypatch, capsys) -> None:
    assert not coord_review._can_draw({"TERM": "dumb"})
    assert not coord_review._can_draw({"TERM": "xterm"}), "standard input of a test is no terminal"
    assert coord_review._screen() is not None
    monkeypatch.setitem(sys.modules, "recall.cli.review_screen", None)
    assert coord_review._screen() is None
    assert "lca-recall[review]" in capsys.readouterr().err
