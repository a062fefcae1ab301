"""Everything that is derived is removed and comes again from the record: memories, weights, files, views, index."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.dialogue import Dialogue
from support.record import NOW
from support.running import CAUSE, Running, make_running, talk_of_causes

from consolidation.experience import experience_of
from indexer import contents, standing
from indexer.store import Store
from recall.memory_settings import ExperienceSettings
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.projections.views import project


@pytest.fixture
def used(tmp_path: Path) -> Running:
    """A project with memories, of which later sessions named one."""
    project = make_running(tmp_path, talk_of_causes(CAUSE, session="s1"))
    project.run()
    (memory,) = project.state().current(NOW)
    talk = Dialogue("later")
    talk.drafts = []
    for number in range(3):
        talk.begin(f"later-{number}")
        item = {"event": memory.id, "pointer": memory.id[:10], "start": 0, "end": len(memory.text)}
        talk.event(
            "recall",
            {"mode": "warm", "prompt": "and the hook?", "asked_in": talk.session, "items": [item]},
            actor="system",
        )
        talk.prompt("and the hook?")
        talk.reply(f"As {memory.id[:10]} says, it looks in the folder that it runs in.")
    project.goes_on(talk)
    project.run(later=1)
    return project


def files(project: Running) -> dict[str, bytes]:
    """Every file below .recall, by its path."""
    assert project.workspace.root is not None
    folder = project.workspace.root / ".recall"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def index_of(project: Running) -> tuple[object, object]:
    with Store.open(project.workspace.index_path) as store:
        return contents.contents(store), standing.weights(store)


def test_what_is_derived_comes_again_from_the_record(used: Running) -> None:
    log = Log(used.workspace)
    before = fold_memories(log), experience_of(log, ExperienceSettings()), files(used), index_of(used)
    assert {path.partition("/")[0] for path in before[2]} >= {"memory", "views"}
    assert any(one.raw > 0 for one in before[1].values())

    assert used.workspace.root is not None
    for folder in ("memory", "views"):
        shutil.rmtree(used.workspace.root / ".recall" / folder)
    shutil.rmtree(used.workspace.run_dir)
    used.workspace.index_path.unlink()
    used.index()
    project(used.workspace)

    log = Log(used.workspace)
    assert fold_memories(log) == before[0]
    assert experience_of(log, ExperienceSettings()) == before[1]
    assert files(used) == before[2]
    assert index_of(used) == before[3]


def test_it_does_not_matter_what_the_files_of_memories_are_called_or_hold(used: Running) -> None:
    """They are a view: shuffled, emptied or gone, the weights are the same."""
    before = experience_of(Log(used.workspace), ExperienceSettings())
    assert used.workspace.root is not None
    pages = sorted((used.workspace.root / ".recall" / "memory").rglob("*.md"))
    held = [page.read_bytes() for page in pages]
    random.Random(3).shuffle(held)
    for page, data in zip(pages, held, strict=True):
        page.write_bytes(data[::-1])

    assert experience_of(Log(used.workspace), ExperienceSettings()) == before


def test_the_weight_follows_the_settings_and_not_what_was_stored(used: Running) -> None:
    (memory,) = [m.id for m in used.state().current(NOW) if m.kind == "statement"]
    used.settings = replace(used.settings, experience=ExperienceSettings(cited=2.0, again=1.0))

    used.index()

    with Store.open(used.workspace.index_path) as store:
        assert store.standing([memory])[memory].raw == 6.0
