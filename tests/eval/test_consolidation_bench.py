"""What the speed of consolidation is measured on: the work is really done. How long it takes no test says."""

from datetime import timedelta
from pathlib import Path

from support.record import NOW
from support.running import CAUSE, make_running, talk_of_causes

from consolidation.experience import experience_of
from eval.consolidation_bench import MEMORIES, cited, run
from recall.memory_settings import ExperienceSettings


def test_the_work_that_is_timed_is_done(tmp_path: Path) -> None:
    """The made-up session gives memories besides the one of the record, and the second nights find nothing."""
    project = make_running(tmp_path / "p", talk_of_causes(CAUSE))

    made = run(
        project.deps(), project.settings, now=NOW + timedelta(hours=1), scratch=tmp_path / "w", weight_events=20,
        progress=lambda _: None,
    )  # fmt: skip

    assert (made.session_state, made.night_state) == ("complete", "idle")
    assert (made.due, made.due_state) == (("bloat",), "idle")
    assert made.memories > 1
    assert list(made.took) == [
        "the whole record, once", "one session", "a night with nothing new",
        "a night with nothing new, too much remembered", "the weights of the citations",
    ]  # fmt: skip
    assert "one session" in made.to_text()


def test_the_made_up_citations_are_all_counted(tmp_path: Path) -> None:
    worth = experience_of(cited(tmp_path, 2 * MEMORIES, NOW), ExperienceSettings())

    assert len(worth) == MEMORIES
    assert {one.hits for one in worth.values()} == {2}
    assert {one.raw for one in worth.values()} == {1.0, 2.0}  # two overlaps, two named; in other projects each time
