"""Logs of what nobody watches: no word of a conversation, bounded, one line a write, silent on a full disk."""

import json
import stat
import subprocess
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from support.hooks import SITE

from recall import background, log_reader, logs
from recall.cli.group import run
from recall.operations_settings import LogSettings
from transcript.errors import CaptureError
from transcript.paths import secure_dir

CANARY = "the heron stole my password hunter2"
WORD = "hunter2"
ID = "8cc1f7fe-bd4f-47f4-880a-d45448fa9cf6"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return secure_dir(tmp_path / "data")


def lines(data: Path, name: str = "service") -> list[dict[str, object]]:
    return [json.loads(line) for file in log_reader.files(data, name) for line in file.read_bytes().splitlines()]


def raised(error: Exception) -> Exception:
    """The error as something of ours raises it."""
    try:
        log_reader.tell(Raiser(error))
    except Exception as found:
        return found
    raise AssertionError("nothing was raised")


class Raiser(str):
    """A text that cannot be read."""

    def __new__(cls, error: Exception) -> "Raiser":
        made = super().__new__(cls, "{}")
        made.error = error
        return made

    def startswith(self, *arguments: object) -> bool:
        raise self.error


def test_a_line_says_when_what_and_how_much(data):
    logs.logger(data, "night").info("night_done", workspace=ID, seconds=3.25, state="complete", date="2026-06-20")

    (line,) = lines(data, "night")
    assert str(line.pop("at")).endswith("Z")
    assert line == {
        "event": "night_done", "level": "info", "workspace": ID, "seconds": 3.25, "state": "complete",
        "date": "2026-06-20",
    }  # fmt: skip


@pytest.mark.parametrize("text", [CANARY, WORD, f"{WORD}_done x", f"x\n{WORD}", f"\ud800{WORD}"])
def test_no_word_of_a_conversation_reaches_a_log_through_any_argument(text, data):
    log = logs.logger(data, "service")
    for level in ("info", "warning", "error"):
        getattr(log, level)(text)
        getattr(log, level)("turn_done", **dict.fromkeys(logs.ALLOWED, text))
        getattr(log, level)("turn_done", prompt=text, error=text, where=text, at=text, level=text, exc_info=True)
        getattr(log, level)("turn_failed", error=raised(RuntimeError(text)))
        getattr(log, level)("turn_failed", seconds={text: text}, workspace=[text], **{f"{text}": 1})
        log.bind(state=text).info("turn_done", pid=text)

    for file in (data / "logs").iterdir():
        assert WORD.encode() not in file.read_bytes()
    assert len(lines(data)) == 18
    assert all(line.get("left_out") for line in lines(data) if "error" not in line)


def test_an_error_leaves_its_type_and_our_line(data):
    logs.logger(data, "service").error("turn_failed", error=raised(CaptureError(CANARY)))

    (line,) = lines(data)
    assert line["error"] == "CaptureError"
    assert str(line["where"]).startswith("tests/recall/test_logs.py:")


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), 1e300, 10**400, None, b"1"])
def test_a_value_that_is_no_plain_number_is_left_out(value, data):
    logs.logger(data, "service").info("turn_done", seconds=value)

    assert lines(data)[0]["left_out"] == 1


@pytest.mark.parametrize("keep", [0, 1, 3])
def test_a_log_turns_over_and_so_many_old_ones_stay(keep, data):
    log = logs.logger(data, "service", LogSettings(keep=keep, megabytes=0.001))
    for number in range(60):
        log.info("turn_done", rows=number)

    old = {path.name for path in (data / "logs").glob("service.jsonl.*")}
    assert old == {f"service.jsonl.{number}" for number in range(1, keep + 1)}
    kept = [line["rows"] for line in lines(data)]
    assert kept == list(range(60 - len(kept), 60))
    assert all(path.stat().st_size < 1200 for path in log_reader.files(data, "service"))


def test_the_file_is_its_owners_alone(data):
    logs.logger(data, "service").info("turn_done")

    assert stat.S_IMODE((data / "logs" / "service.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((data / "logs").stat().st_mode) == 0o700


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from recall import logs
from recall.operations_settings import LogSettings
log = logs.logger(Path(sys.argv[1]), "service", LogSettings(keep=50, megabytes=0.002))
for number in range(100):
    log.info("turn_done", pid=int(sys.argv[3]), rows=number)
"""


def test_two_writers_lose_no_line_and_mix_none_while_the_file_turns_over(data):
    command = [sys.executable, "-c", WRITER, str(data), str(SITE)]
    both = [subprocess.Popen([*command, str(number)]) for number in (1, 2)]
    assert [one.wait(180) for one in both] == [0, 0]

    found = sorted((line["pid"], line["rows"]) for line in lines(data))
    assert found == [(pid, number) for pid in (1, 2) for number in range(100)]


def test_a_disk_that_takes_no_line_is_silence(data):
    (data / "logs").write_text("in the way")

    logs.logger(data, "service").info("turn_done")

    assert (data / "logs").read_text() == "in the way"


def test_what_fails_in_the_background_is_logged_without_its_words(data, tmp_path, monkeypatch):
    def fail(*arguments: object, **more: object) -> None:
        raise CaptureError(CANARY)

    monkeypatch.setattr(background, "capture", fail)
    again = tmp_path / "x.again"
    again.write_text("")

    assert background.rounds(data, tmp_path, again, {}, settle_s=0) == 1

    (line,) = lines(data, "background")
    assert (line["event"], line["level"], line["error"]) == ("capture_failed", "warning", "CaptureError")
    assert WORD not in (data / "logs" / "background.jsonl").read_text()


# -- reading -------------------------------------------------------------------------------


def test_the_newest_lines_are_told_over_turned_files(data, monkeypatch, capsys):
    monkeypatch.setenv("RECALL_HOME", str(data))
    log = logs.logger(data, "night", LogSettings(keep=9, megabytes=0.0005))
    for number in range(12):
        log.info("night_done", rows=number)

    assert run(["service", "logs", "-n", "7", "--log", "night"]) == 0

    told = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in told] == ["5", "6", "7", "8", "9", "10", "11"]


def test_lines_are_given_to_programs_as_they_stand_in_the_file(data, monkeypatch, capsys):
    monkeypatch.setenv("RECALL_HOME", str(data))
    logs.logger(data, "night").info("night_done", rows=3, state="complete")
    with (data / "logs" / "night.jsonl").open("a") as file:
        file.write('{"half": ')

    assert run(["service", "logs", "--log", "night", "--json"]) == 0

    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["event"], line["rows"], line["state"]) == ("night_done", 3, "complete")


def test_a_log_without_lines_is_said_to_be_empty(data, monkeypatch, capsys):
    monkeypatch.setenv("RECALL_HOME", str(data))

    assert run(["service", "logs"]) == 0

    assert capsys.readouterr() == ("", f"nothing is logged yet in {data / 'logs'}\n")


@pytest.mark.parametrize("line", ["", "{", "[]", '{"at": 1}', "[" * 100_000, "caf\xe9"])
def test_a_damaged_line_is_passed_over(line, data):
    secure_dir(data / "logs")
    (data / "logs" / "service.jsonl").write_bytes(line.encode() + b"\n")
    logs.logger(data, "service").info("turn_done", rows=1)

    (told,) = log_reader.last(data, "service", 5, said=log_reader.tell)
    assert "turn_done" in told


def test_following_shows_what_comes_over_a_turn_of_the_file(data, monkeypatch):
    log = logs.logger(data, "service", LogSettings(keep=2, megabytes=0.0003))
    log.info("turn_done", rows=0)
    coming = iter(range(1, 6))
    monkeypatch.setattr(log_reader.time, "sleep", lambda seconds: log.info("turn_done", rows=next(coming)))

    with closing(log_reader.follow(data, "service", said=log_reader.tell)) as following:
        told = list(islice(following, 5))

    assert [line.split()[-1] for line in told] == ["1", "2", "3", "4", "5"]
