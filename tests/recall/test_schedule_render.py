"""What each scheduler is given: exact text, and words that arrive as they were."""

import plistlib
import re
import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from recall import schedule_render as render
from transcript.errors import ScheduleError

GOLDEN = Path(__file__).parents[1] / "data" / "schedule"
NAMES = ["plain", "with space", "per%cent", "dol$lar", 'quo"te', "apo's", "back\\slash", "ümlaut 文", "a=b", "<&>"]


def example(name: str = "plain") -> render.Job:
    return render.job([f"/opt/{name}/bin/recall"], Path(f"/home/u/{name}"), 7)


@pytest.mark.parametrize("kind", ["systemd", "launchd", "windows", "cron"])
def test_the_text_is_the_golden_one(kind):
    job = render.job(["/opt/my tools/bin/recall"], Path("/home/u/50% of data"), 7)
    made = {f"{job.name}.crontab": render.cron(job)} if kind == "cron" else getattr(render, kind)(job)

    for name, text in made.items():
        assert text == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_systemd_starts_the_words_as_they_are(name):
    """Read as systemd reads it: quotes and escapes, then specifiers, then (not in the first word) variables."""
    job = example(name)
    line = re.search(r"^ExecStart=(.*)$", render.systemd(job)[f"{job.name}.service"].decode(), re.MULTILINE)[1]
    first, *rest = [
        re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in re.findall(r'"((?:\\.|[^"\\])*)"', line)
    ]
    words = [first, *(word.replace("$$", "$") for word in rest)]

    assert words[-5:] == list(job.words)
    assert not set(words[0]) & set("\"'\\")  # systemd refuses a program of such a name
    assert words[:-5] in ([], ["/bin/sh", "-c", 'exec "$@"', "sh"])


@pytest.mark.parametrize("name", NAMES)
def test_cron_hands_the_shell_the_words_as_they_are(name):
    job = example(name)
    line = render.cron(job).decode().splitlines()[1]
    fields, command = line.split(" ", 5)[:5], line.split(" ", 5)[5]

    assert fields == ["7", "*", "*", "*", "*"]
    assert not re.search(r"(?<!\\)%", command)
    assert shlex.split(command.replace("\\%", "%").removesuffix(" >/dev/null 2>&1")) == list(job.words)


@pytest.mark.parametrize("name", NAMES)
def test_launchd_is_given_the_words_as_they_are(name):
    job = example(name)

    held = plistlib.loads(render.launchd(job)[f"{job.name}.plist"])

    assert held["ProgramArguments"] == list(job.words)
    assert held["StartCalendarInterval"] == {"Minute": 7}


@pytest.mark.parametrize("name", NAMES)
def test_windows_is_given_the_words_as_they_are(name):
    job = example(name)
    tree = ElementTree.fromstring(render.windows(job)[f"{job.name}.xml"].decode("utf-16").split("\n", 1)[1])
    space = {"t": "http://schemas.microsoft.com/windows/2004/02/mit/task"}

    assert tree.find(".//t:Command", space).text == job.words[0]
    assert tree.find(".//t:Arguments", space).text == subprocess.list2cmdline(job.words[1:])


def test_a_windows_trigger_has_its_parts_in_the_order_of_the_schema():
    job = example()
    text = render.windows(job)[f"{job.name}.xml"].decode("utf-16")
    order = ["Enabled", "StartBoundary", "Repetition"]  # triggerBaseType of the Task Scheduler schema is a sequence

    trigger = text[text.index("<TimeTrigger>") : text.index("</TimeTrigger>")]

    assert re.findall(r"<(\w+)>", trigger)[1:] == [*order, "Interval"]
    assert "<StartBoundary>2026-01-01T00:07:00</StartBoundary>" in trigger


def test_each_data_folder_has_a_name_of_its_own_that_never_changes():
    one, other = example("one"), example("other")

    assert one.name != other.name
    assert one.name == render.job(["/elsewhere/recall"], Path("/home/u/one"), 40).name


@pytest.mark.parametrize("bad", ["two\nlines", "nul\0", "half\udce4"])
def test_a_path_that_no_scheduler_can_carry_is_refused(bad):
    with pytest.raises(ScheduleError, match="no scheduler can carry"):
        render.job(["/bin/recall"], Path(f"/home/{bad}"), 7)
