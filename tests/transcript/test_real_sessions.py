"""All 273 real sessions: counts that an independent reading of the same files gives, and a second sync of nothing."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from support.capture import Project

from transcript.log import Log
from transcript.verify import verify

pytestmark = [pytest.mark.real_data, pytest.mark.slow]
RECORDS = 103_281
ENVELOPES = (
    "<task-notification>",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-",
    "<ide_",
    "[Request interrupted by user",
    "Caveat: The messages below",
    "Base directory for this skill",
    "This session is being continued",
)


@pytest.fixture(scope="session")
def sessions(real_sessions):
    return real_sessions


@pytest.fixture(scope="session")
def read(sessions):
    """What the files hold, read the plain way: every line as one or more objects one after the other."""
    decoder = json.JSONDecoder()
    counts: Counter[str] = Counter()
    prompts: set[str] = set()
    calls: set[str] = set()
    for path in sorted(sessions.rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            text = line.decode()
            at = 0
            while at < len(text):
                record, at = decoder.raw_decode(text, at)
                counts[record["type"]] += 1
                message = record.get("message") or {}
                content = message.get("content") if isinstance(message, dict) else None
                if record["type"] == "user" and not record.get("isMeta") and not record.get("isCompactSummary"):
                    if isinstance(content, str):
                        content = [{"type": "text", "text": content}]
                    typed = [block["text"] for block in content if block["type"] == "text"]
                    typed = [words for words in typed if words and not words.lstrip().startswith(ENVELOPES)]
                    if typed or any(block["type"] == "image" for block in content):
                        prompts.add(record["uuid"])
                if record["type"] == "assistant":
                    calls |= {block["id"] for block in content if block["type"] == "tool_use"}
                inner = (record.get("data") or {}).get("message") if record["type"] == "progress" else None
                if inner and inner["type"] == "assistant":
                    calls |= {block["id"] for block in inner["message"]["content"] if block["type"] == "tool_use"}
    return counts, prompts, calls


@pytest.fixture(scope="session")
def captured(sessions, tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("project"))
    return project, project.sync(sources=sessions, all_roots=True)


def test_every_session_is_taken_in_and_every_record_counted(captured, read):
    _, report = captured
    counts, _, _ = read

    assert (report.files, report.sessions, report.skipped, report.failed) == (273, 273, {}, [])
    assert sum(counts.values()) == RECORDS
    assert {name: report.records[name] for name in counts} == dict(counts)
    assert report.unknown == {}
    assert (len(report.damaged), {reason for *_, reason in report.damaged}) == (7, {"more than one record"})


def test_the_prompts_are_those_that_somebody_typed(captured, read):
    project, _ = captured
    _, prompts, _ = read

    taken = [event for event in project.events("conversation_turn") if event.body["kind"] == "prompt"]

    assert {event.native["id"] for event in taken} == prompts
    assert len(prompts) > 1800


def test_every_tool_call_is_there_once(captured, read):
    project, _ = captured
    _, _, calls = read

    taken = Counter(event.body["call_id"] for event in project.events("tool_call"))

    assert set(taken) == calls
    assert sum(taken.values()) - len(taken) < 20


def test_compactions_leave_summaries_and_take_nothing(captured):
    project, _ = captured
    ids = {event.id for event in project.events()}

    summaries = [event for event in project.events("conversation_turn") if event.body["kind"] == "summary"]

    assert len(summaries) == 86
    assert all(set(event.body["covers"]) <= ids for event in summaries)


def test_a_second_sync_reads_nothing_and_a_full_one_adds_nothing(captured, sessions):
    project, _ = captured

    second = project.sync(sources=sessions, all_roots=True)
    full = project.sync(sources=sessions, all_roots=True, full=True)

    assert (second.added, second.sightings, second.marks, second.changed) == (0, 0, 0, 0)
    assert (second.files, second.bytes, second.records) == (273, 0, {})
    assert (full.added, full.rewound) == (0, [])


def test_the_record_is_whole_and_every_text_opens(captured):
    project, _ = captured
    log = Log(project.workspace)

    assert verify(project.workspace).problems == []
    ids = [event.id for event in log.read()]
    assert len(ids) == len(set(ids))
    assert sum(len(log.text(event)) for event in project.events("tool_result")) > 30_000_000


def test_copies_under_another_folder_are_sightings(captured, sessions, tmp_path):
    project, _ = captured
    path = min(sessions.rglob("*.jsonl"), key=os.path.getsize)
    other = tmp_path / "other-folder"
    other.mkdir()
    (other / path.name).write_bytes(Path(path).read_bytes())

    report = project.sync(sources=other, all_roots=True)

    assert report.added == 0
