"""`sync --watch`: an appended turn is in the record within two seconds, without the agent doing anything."""

import threading
import time

from support.capture import NOW, Project

from transcript.watch import INTERVAL_S, watch


def test_an_appended_turn_is_taken_in_within_two_seconds(tmp_path):
    """ESAA-04."""
    project = Project(tmp_path)
    session = project.session()
    session.user("before")
    session.write(project.config)
    stop = threading.Event()
    reports = []
    watching = threading.Thread(
        target=watch,
        args=(project.workspace, project.data, project.env),
        kwargs={"on_report": reports.append, "should_stop": stop.is_set},
    )
    watching.start()
    try:
        _wait(lambda: len(reports) == 1)
        session.user("while it watches")
        session.write(project.config)
        began = time.monotonic()
        _wait(lambda: len(reports) == 2)
        took = time.monotonic() - began
    finally:
        stop.set()
        watching.join(10)

    assert project.texts() == ["before", "while it watches"]
    assert took < 2.0
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


def _wait(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
