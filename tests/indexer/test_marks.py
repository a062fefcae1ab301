"""What capture marks as left behind is flagged in the index, and no longer once it is restored."""

from support.capture import NOW, Project

from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.writer import index


def flags(project):
    with Store.open(project.workspace.index_path, "w") as store:
        index(project.workspace, store, IndexSettings(), now=NOW)
        g = store.generation
        rows = store.run(f"SELECT c.text, p.flags FROM pointer_{g} p JOIN chunk_{g} c ON c.id = p.chunk_id")
        return dict(rows)


def test_an_abandoned_branch_that_becomes_the_live_one_loses_its_flag(tmp_path):
    project = Project(tmp_path)
    session = project.session()
    top = session.user("start")
    old = session.user("the first way")
    session.user("the other way", parentUuid=top["uuid"])
    session.write(project.config)
    project.sync()
    before = flags(project)
    session.assistant("on with the first", parentUuid=old["uuid"])
    session.write(project.config)
    project.sync()

    after = flags(project)

    assert before == {"start": 0, "the first way": 1, "the other way": 0}
    assert after == {"start": 0, "the first way": 0, "the other way": 1, "on with the first": 0}
