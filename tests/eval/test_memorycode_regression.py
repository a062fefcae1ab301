"""MemoryCode's development histories by words alone: a change that lets an outdated rule stand first fails here."""

from dataclasses import replace

import pytest
from support.record import NOW

from eval import memorycode
from eval.dataset import DEV
from eval.dataset_run import OURS, run
from eval.metrics.newest_first import newest_first
from indexer.settings import IndexSettings
from recall.settings import SelectionSettings, Settings

HISTORIES = 4


def rates(replies):
    """(changed rules whose newest version is first, stable rules found at rank 1), in counts and of how many."""
    changed = [newest_first(r.sessions, r.question.sessions, r.question.stale) for r in replies if r.question.stale]
    stable = [bool(r.sessions) and r.sessions[0] in r.question.sessions for r in replies if not r.question.stale]
    return sum(map(bool, changed)), len(changed), sum(stable), len(stable)


@pytest.mark.real_data
@pytest.mark.slow
def test_newest_version_of_a_rule_stands_above_the_outdated_ones(shared, tmp_path):
    data = memorycode.load(shared / "bench" / "memorycode.tar.xz", split=DEV)
    data = replace(data, dialogues=data.dialogues[:HISTORIES])
    off = Settings(selection=SelectionSettings(newest_first=False))

    with_step, without = (
        rates(
            run(
                data,
                tmp_path,
                embedder=None,
                index_settings=IndexSettings(),
                settings=settings,
                now=NOW,
                baselines=False,
                words=False,
            ).replies[OURS]
        )
        for settings in (Settings(), off)
    )

    newest, changed, first, stable = with_step
    assert newest >= 0.90 * changed
    assert first >= 0.90 * stable
    assert newest > without[0]
    assert first >= without[2] - 1
