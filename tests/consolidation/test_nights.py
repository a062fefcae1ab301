"""Many nights: nothing is remembered twice, and what contradicts never stands beside what it contradicts."""

import itertools
from pathlib import Path

from support.record import NOW
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation.contradiction import difference

LOCK = "The root cause is that `rotateKeys()` waits 30 seconds for the lock of the folder `keys` before it gives up."
PLAIN = LOCK.replace("`", "")


def standing(project: Running) -> list[str]:
    """What is remembered as it is now."""
    return [memory.statement for memory in project.state().current(NOW)]


def test_ten_nights_over_sessions_that_say_the_same_keep_one_memory_of_it(tmp_path: Path) -> None:
    project = make_running(tmp_path, talk_of_causes(LOCK, session="s0"))
    for night in range(1, 11):
        project.run("nightly", later=night)
        project.goes_on(talk_of_causes(LOCK if night % 2 else PLAIN, CAUSE, session=f"s{night}"))

    project.run("nightly", later=11)

    assert sorted(standing(project)) == sorted([LOCK, CAUSE])
    assert len(project.events("memory.promoted")) == 10 + 9


def test_no_night_leaves_two_memories_that_contradict_each_other(tmp_path: Path) -> None:
    values = ("30", "45", "60", "10")
    project = make_running(tmp_path, talk_of_causes(CAUSE, session="s0"))
    for night, value in enumerate(values, 1):
        talk = talk_of_causes(LOCK.replace("30", value), session=f"s{night}")
        project.goes_on(talk)
        project.run("nightly", later=night)

        pairs = itertools.combinations(standing(project), 2)
        assert [pair for pair in pairs if difference(*pair) is not None] == []

    [kept] = [text for text in standing(project) if "rotateKeys" in text]
    assert kept in [LOCK.replace("30", value) for value in values]
    told = {m.id: m for m in project.state().memories.values() if "rotateKeys" in m.statement}
    [last] = [m for m in told.values() if not m.superseded_by]
    for memory in told.values():
        if memory is not last:
            assert told[memory.superseded_by].said_at == memory.valid_to > memory.said_at
    assert len(project.events("memory.written")) + len(
        [e for e in project.events("memory.decided") if e.body["pending"]]
    ) == 1 + len(values)
