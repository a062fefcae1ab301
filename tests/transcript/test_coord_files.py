"""The canonical memory as a file: a YAML list, only appended to, chained by lines, made again from the record."""

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.record import NOW, STAMP, make_log, make_workspace

from transcript import proposal_drafts as drafts
from transcript import redaction
from transcript.errors import CoordError
from transcript.log import Log
from transcript.projections import coord_files, coord_lines
from transcript.projections.coord_files import append
from transcript.projections.coord_lines import line, line_hash, read_items, yaml_text
from transcript.proposals import caught_up, event_id_of, fold_proposals
from transcript.redaction_plan import plan_text
from transcript.strict_json import strict_json

# What YAML takes for structure, or for no character at all, and what JSON escapes.
ODD = [
    *map(chr, range(0x21)), *"ab\\\"'- #:{}[]&*!|>%@`,?~\x7f\x80\x85\xa0\xad\u2028\u2029\u202e\ufeff\ufffd\ufffe\uffff",
    "\U0001f600", "\U0010ffff", "\U0001fffe", "\U000e0041", "é", "\\ud83d\\ude00", "\\\\ud83d", "null", "0x1", "1e3",
]  # fmt: skip


def item(number: int = 1, prev: str = coord_lines.NO_LINE, **more: Any) -> dict[str, Any]:
    return {"event_id": f"id-{number}", "seq": number, "prev": prev, "summary": f"item {number}", **more}


def memory(*summaries: str) -> bytes:
    data, prev = b"", coord_lines.NO_LINE
    for number, summary in enumerate(summaries, 1):
        one = line(item(number, prev, summary=summary))
        data, prev = data + one, line_hash(one)
    return data


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_an_ordinary_yaml_library_reads_every_line_as_it_was_meant(loader: Any) -> None:
    source = random.Random(6)
    items = [
        {"seq": n, "".join(source.choices(ODD, k=3)): ["".join(source.choices(ODD, k=9)), None, True, n]}
        for n in range(300)
    ]

    data = b"".join(map(line, items))

    assert yaml.load(data.decode(), loader) == items
    assert [strict_json(raw[2:]) for raw in data.splitlines()] == items


def test_a_line_is_written_in_one_way_only() -> None:
    assert yaml_text({"b": "😀 \\ud83d\\ude00 \x7f é", "a": 1}) == (
        '{"a":1,"b":"😀 \\\\ud83d\\\\ude00 \\u007f \\u00e9"}'
    )


def test_lines_are_chained_and_read_back() -> None:
    found = read_items(memory("one", "two", "three"))

    assert [one["summary"] for one in found.items] == ["one", "two", "three"]
    assert found.fault is None
    assert read_items(b"") == coord_lines.Items([])


@pytest.mark.parametrize(
    ("change", "bad_line"),
    [
        (lambda data: data.replace(b"two", b"TWO"), 3),
        (lambda data: data.replace(b"one", b"ONE"), 2),
        (lambda data: data[:-1], 3),
        (lambda data: data[:-7], 3),
        (lambda data: data + b"- {}\n", 4),
        (lambda data: data + b"\n", 4),
        (lambda data: data + b"note: x\n", 4),
        (lambda data: data.replace(b"- {", b"-  {"), 1),
        (lambda data: data.replace(b'{"event_id"', b'{ "event_id"'), 1),
        (lambda data: b"".join(reversed(data.splitlines(keepends=True))), 1),
        (lambda data: b"".join(data.splitlines(keepends=True)[1:]), 1),
        (lambda data: data.replace(b"\n", b"\r\n"), 1),
        (lambda data: data.replace(b'"seq":1', b'"seq":1,"seq":1'), 1),
    ],
)
def test_the_first_line_that_is_not_ours_is_found(change: Any, bad_line: int) -> None:
    """ASM-38. An edit of the last line is seen against the record only: nothing is chained to it yet."""
    found = read_items(change(memory("one", "two", "three")))

    assert found.fault == (bad_line, "memory_edited")
    assert len(found.items) == bad_line - 1


def test_append_makes_private_files_and_follows_no_link(tmp_path: Path) -> None:
    append(tmp_path, memory("one"))
    path = tmp_path / ".coord" / "memory.yml"
    modes = (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CoordError, match="memory_link"):
        append(tmp_path, b"- {}\n")
    path.unlink()
    path.mkdir()
    with pytest.raises(CoordError, match="memory_link"):
        append(tmp_path, b"- {}\n")

    assert modes == (0o600, 0o700)
    assert (tmp_path / "elsewhere").read_bytes() == memory("one")


def test_a_folder_that_is_a_link_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / ".coord").symlink_to(tmp_path / "outside")

    with pytest.raises(CoordError, match="memory_link"):
        append(tmp_path, memory("one"))
    with pytest.raises(CoordError, match="memory_link"):
        coord_files.memory_bytes(tmp_path)
    assert list((tmp_path / "outside").iterdir()) == []


def document(number: int) -> dict[str, Any]:
    action = {"operation": "add", "target_ref": None, "summary": f"word-{number}", "evidence_refs": ["a.md"]}
    return {
        "schema_version": 1, "proposal_id": f"00000000-0000-4000-8000-{number:012d}", "source_task": "T1",
        "action": action, "state": "proposed", "created_at": "2026-03-01T12:00:00Z", "decision": None,
    }  # fmt: skip


def applied(log: Log, number: int) -> None:
    """Record a proposal that was approved and applied."""
    state, held = fold_proposals(log), document(number)
    name = held["proposal_id"]
    decision = {"decision": "approve", "nonce": f"{number:032x}"}
    prev = state.applied[-1].line_hash if state.applied else coord_lines.NO_LINE
    made = item(len(state.applied) + 1, prev, summary=held["action"]["summary"])
    made["event_id"] = event_id_of(log.workspace.id, name)
    hashed = line_hash(line(made))
    log.append(
        [
            drafts.proposed(STAMP, held, "0" * 64, by="ana"),
            drafts.decided(STAMP, held, decision),
            drafts.applied(STAMP, name, decision["nonce"], made, hashed),
        ],
        now=NOW,
    )


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = make_log(tmp_path)
    for number in (1, 2, 3):
        applied(made, number)
    made.append([drafts.proposed(STAMP, document(4), "0" * 64, by="ana")], now=NOW)
    return made


def root_of(log: Log) -> Path:
    return coord_files.coord_root(log.workspace)


def problems(log: Log) -> list[str]:
    found: list[str] = []
    coord_files.check(root_of(log), fold_proposals(log), lambda code, where: found.append(f"{code} {where}"))
    return found


def test_everything_is_made_again_from_the_record(log: Log) -> None:
    root, state = root_of(log), fold_proposals(log)

    done = coord_files.restore(root, state)

    assert len(done.written) == 5
    assert [one["summary"] for one in read_items((root / ".coord/memory.yml").read_bytes()).items] == [
        "word-1", "word-2", "word-3",
    ]  # fmt: skip
    assert problems(log) == []
    assert coord_files.restore(root, state) == coord_files.Restored((), ())


def test_restoring_completes_a_beginning_and_leaves_what_somebody_wrote(log: Log) -> None:
    root, state = root_of(log), fold_proposals(log)
    coord_files.restore(root, state)
    memory_file, waiting = root / ".coord/memory.yml", coord_files.proposal_path(root, document(4)["proposal_id"])
    whole = memory_file.read_bytes()
    memory_file.write_bytes(whole[:-30])
    waiting.write_text("{}")
    behind = problems(log)

    done = coord_files.restore(root, state)

    assert [text.split(" ")[0] for text in behind] == ["coord_behind"]
    assert "memory.yml:3 (event " in behind[0]
    assert (memory_file.read_bytes(), waiting.read_text()) == (whole, "{}")
    assert done == coord_files.Restored(("memory.yml",), (f"memory-proposals/{waiting.name}",))


def test_replacing_keeps_a_copy_of_what_stood_there(log: Log, tmp_path: Path) -> None:
    root, state = root_of(log), fold_proposals(log)
    coord_files.restore(root, state)
    path = root / ".coord/memory.yml"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"word-2", b"WORD-2"))

    edited = problems(log)
    left = coord_files.restore(root, state)
    done = coord_files.restore(root, state, replace=True, keep=tmp_path / "kept")

    assert edited == [f"coord_edited memory.yml:2 (event {state.applied[1].event_id})"]
    assert (left.written, done.written) == ((), ("memory.yml",))
    assert path.read_bytes() == whole
    assert [copy.read_bytes() for copy in (tmp_path / "kept").iterdir()] == [whole.replace(b"word-2", b"WORD-2")]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda path: path.unlink(), "coord_missing memory.yml"),
        (lambda path: path.write_bytes(b""), "coord_behind memory.yml:1"),
        (lambda path: path.write_bytes(path.read_bytes() + b"- x\n"), "coord_edited memory.yml:4"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"word-3", b"WORD-3")), "coord_edited memory.yml:3"),
    ],
)
def test_each_way_a_memory_can_differ_has_its_code_and_place(log: Log, change: Any, code: str) -> None:
    root = root_of(log)
    coord_files.restore(root, fold_proposals(log))

    change(root / ".coord/memory.yml")

    assert len(problems(log)) == 1
    assert problems(log)[0].startswith(code)


def test_more_items_than_the_record_knows_are_an_old_record(log: Log, tmp_path: Path) -> None:
    root = root_of(log)
    coord_files.restore(root, fold_proposals(log))
    one = fold_proposals(log).applied[-1].line_hash
    append(root, line(item(4, one)))

    assert problems(log) == ["store_behind memory.yml:4"]


def test_a_state_folds_to_the_same_however_often_its_events_were_told(log: Log) -> None:
    before = fold_proposals(log)

    for number in (1, 2):
        applied(log, number)

    after = fold_proposals(log)
    assert (after.documents, after.applied) == (before.documents, before.applied)


def test_a_workspace_without_proposals_has_no_files(tmp_path: Path) -> None:
    log = Log(make_workspace(tmp_path))

    assert coord_files.rendered(fold_proposals(log)) == {}
    assert problems(log) == []
    assert coord_files.read_folder(root_of(log)) == coord_files.Folder({}, ())


def test_git_ignores_the_folder_as_soon_as_the_project_is_initialised(tmp_path: Path) -> None:
    """ASM-33."""
    (tmp_path / "project").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)
    asked = ["git", "-C", str(tmp_path / "project"), "check-ignore", "-q", ".coord/memory.yml"]
    before = subprocess.run(asked, check=False).returncode

    root = coord_files.coord_root(make_workspace(tmp_path))
    append(root, memory("one"))

    assert (before, subprocess.run(asked, check=False).returncode) == (1, 0)


def test_a_state_is_carried_on_and_folded_anew_where_words_went(log: Log) -> None:
    """What a run folded once it does not read again; an erasure behind it is no reason to trust it."""
    state = fold_proposals(log)
    applied(log, 5)
    on = caught_up(log, state)
    anew = fold_proposals(log)
    redaction.erase(log.workspace, lambda: plan_text(log.workspace, "word-2"), now=NOW)

    after = caught_up(Log(log.workspace), on)

    assert on is state
    assert on == anew
    assert len(on.applied) == 4
    assert after is not on
    assert after == fold_proposals(Log(log.workspace))
    assert [one.item is None for one in after.applied] == [False, True, False, False]
