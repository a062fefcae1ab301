"""`sync --watch`: an appended turn is in the record at the next look, without the agent doing anything."""

from support.capture import NOW, Project

from transcript.watch import INTERVAL_S, watch


def test_an_appended_turn_is_taken_in_at_the_next_look(tmp_path):
    """ESAA-04: two looks are at most a second apart, and nothing else stands between a turn and the record."""
    project = Project(tmp_path)
    session = project.session()
    session.user("before")
    session.write(project.config)
    reports = []
    taken_in = []

    def sleep(seconds):
        taken_in.append(project.texts())
        if len(taken_in) == 1:
            session.user("while it watches")
            session.write(project.config)

    watch(
        project.workspace, project.data, project.env,
        on_report=reports.append, should_stop=lambda: len(taken_in) == 2, sleep=sleep,
    )  # fmt: skip

    assert taken_in == [["before"], ["before", "while it watches"]]
    assert [report.added for report in reports] == [1, 1]
    assert INTERVAL_S <= 1.0


def test_nothing_is_read_while_no_file_changes(tmp_path):
    project = Project(tmp_path)
    session = project.session()
    session.user("x")
    path = session.write(project.config)
    reports = []
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 3:
            path.unlink()

    watch(
        project.workspace, project.data, project.env,
        on_report=reports.append, should_stop=lambda: len(looks) == 5, interval_s=0.25, sleep=sleep, clock=lambda: NOW,
    )  # fmt: skip

    assert looks == [0.25] * 5
    assert [report.missing for report in reports] == [[], [str(path)]]
