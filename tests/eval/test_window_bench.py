"""The benchmark of plans counts the window alone, of that file alone."""

from pathlib import Path

from support.claude import ClaudeSession

from eval.window_bench import run


def test_the_plan_of_one_file_is_timed_and_counted_from_its_last_compaction(tmp_path: Path) -> None:
    session = ClaudeSession(cwd="/home/dev/shop")
    session.user("before")
    session.compact("what was")
    for number in range(10):
        session.user(f"question {number}")
        session.assistant(f"answer {number}")
    file = session.write(tmp_path)
    ClaudeSession(cwd="/home/dev/shop", seed="another").write(tmp_path)

    report = run(file, "claude-code", runs=2, env={})

    assert (len(report.from_file_s), len(report.from_record_s)) == (2, 2)
    assert (report.events, report.whole_events) == (21, 22)
    assert report.leaving == 1  # two tokens are used by the count of the file: the oldest exchange is enough
    assert "21 of 22 events" in report.to_text()
