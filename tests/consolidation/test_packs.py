"""Packs: identity, procedures, skills and knowledge as one unit, held against its hash; installed whole or not."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command import Result, runner
from support.project import git_project

from consolidation import packs, standing_files
from consolidation.keys import KeyStore
from recall.cli import person
from recall.cli.app import App
from recall.cli.group import run
from recall.standing_places import places
from transcript.errors import PackError
from transcript.log import Log
from transcript.memories import fold_memories

SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "pack"


class Typed:
    """A terminal at which somebody says yes to what is asked."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def ask(self, text: str) -> str:
        asked = re.search(r"type ([0-9a-z]+) ", text)
        return asked[1] if asked else "we need it"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A pack that a test may alter."""
    folder = tmp_path / "reviewer-pack"
    shutil.copytree(SAMPLE, folder)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = git_project(tmp_path / "shop")
    monkeypatch.chdir(folder)
    assert run(["init"]) == 0
    return folder


@pytest.fixture
def recall(project: Path, capsys: Any) -> Callable[..., Result]:
    capsys.readouterr()
    return runner(capsys)


@pytest.fixture
def typed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    terminal = Typed()
    monkeypatch.setattr(person, "open_terminal", lambda: terminal)
    KeyStore(Path(os.environ["RECALL_HOME"])).create()
    return terminal


def workspace(project: Path) -> Any:
    return App(os.environ, project).workspace()


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below `.recall` but what is made from the record, with its bytes."""
    made = ("views", "memory")
    base = folder / ".recall"
    files = (path for path in base.rglob("*") if path.relative_to(base).parts[0] not in made)
    return {path.relative_to(base).as_posix(): path.read_bytes() if path.is_file() else b"" for path in files}


def brought(project: Path) -> list[Any]:
    return [one for one in fold_memories(Log(workspace(project))).memories.values() if "pack:reviewer" in one.tags]


def named_in(folder: Path) -> list[str]:
    """The paths that a pack's manifest names."""
    return [one["path"] for one in json.loads((folder / packs.MANIFEST).read_bytes())["files"]]


def sha_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rebuilt(folder: Path, **changes: Any) -> None:
    """Write the manifest anew as it is, with other values in some fields."""
    held = json.loads((folder / packs.MANIFEST).read_bytes())
    (folder / packs.MANIFEST).write_text(json.dumps({**held, **changes}))


def test_the_sample_is_whole_and_says_what_is_in_it():
    """LCA-14-09."""
    pack = packs.read(SAMPLE)

    assert (pack.name, pack.version) == ("reviewer", "1.0.0")
    assert {(one.path, one.kind) for one in pack.files} == {
        ("roles/reviewer.md", "identity"),
        ("instructions/review.md", "procedure"),
        ("skills/triage/SKILL.md", "skill"),
        ("knowledge/flaky-tests.md", "knowledge"),
    }
    assert packs.manifest(SAMPLE, name="reviewer", version="1.0.0") == (SAMPLE / "pack.json").read_bytes()


def _altered(folder: Path) -> None:
    path = folder / "roles" / "reviewer.md"
    path.write_bytes(path.read_bytes().replace(b"do not merge", b"may merge"))


def _link(folder: Path) -> None:
    (folder / "roles" / "reviewer.md").unlink()
    (folder / "roles" / "reviewer.md").symlink_to("/etc/hostname")


def _linked_folder(folder: Path) -> None:
    shutil.rmtree(folder / "roles")
    (folder / "roles").symlink_to("/etc")


def _path_out(folder: Path) -> None:
    (folder.parent / "out.md").write_text("outside")
    rebuilt(folder, files=[{"path": "../out.md", "kind": "identity"}])


def _bomb(folder: Path) -> None:
    (folder / "knowledge" / "big.md").write_bytes(b"x" * (70 * 1024))
    rebuilt(folder, files=[{"path": "knowledge/big.md", "kind": "knowledge"}])


def _thousands(folder: Path) -> None:
    for number in range(700):
        (folder / "knowledge" / f"{number}.md").write_bytes(b"")


def _files(*paths: str, kind: str = "knowledge") -> Callable[[Path], None]:
    return lambda folder: rebuilt(folder, files=[{"path": path, "kind": kind} for path in paths])


FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "altered": (_altered, "hash is another"),
    "a file more": (lambda f: (f / "roles" / "x.md").write_text("x"), "roles/x.md is not named"),
    "a file less": (lambda f: (f / "roles" / "reviewer.md").unlink(), "no such file"),
    "a link": (_link, "is a link"),
    "a linked folder": (_linked_folder, "is a link"),
    "a program": (lambda f: (f / "roles" / "reviewer.md").chmod(0o755), "marked as a program"),
    "a pipe": (
        lambda f: ((f / "roles" / "reviewer.md").unlink(), os.mkfifo(f / "roles" / "reviewer.md")),
        "no plain file",
    ),
    "a path out": (_path_out, "no place in a pack"),
    "an absolute path": (_files("/etc/passwd"), "no place in a pack"),
    "a hidden path": (_files("skills/.x/SKILL.md", kind="skill"), "no place in a pack"),
    "a script": (_files("skills/triage/run.sh", kind="skill"), "no place in a pack"),
    "another kind": (_files("roles/reviewer.md", kind="knowledge"), "is of kind identity"),
    "twice": (_files("knowledge/a.md", "knowledge/A.md"), "names a file twice"),
    "too large": (_bomb, "more than 64 KB"),
    "thousands": (_thousands, "more than 200 files"),
    "too many named": (_files(*(f"knowledge/{n}.md" for n in range(201))), "1 to 200 files"),
    "too many to read": (_files(*(f"commands/{n}.md" for n in range(64)), kind="procedure"), "at most 63"),
    "no text": (lambda f: (f / "roles" / "reviewer.md").write_bytes(b"\xff\xfe"), "no UTF-8"),
    "no manifest": (lambda f: (f / "pack.json").unlink(), "it has no pack.json"),
    "no JSON": (lambda f: (f / "pack.json").write_text("{"), "cannot be read"),
    "a name twice": (lambda f: (f / "pack.json").write_text('{"name":"a","name":"b"}'), "cannot be read"),
    "a version that is true": (lambda f: rebuilt(f, schema_version=True), "of version True"),
    "a newer version": (lambda f: rebuilt(f, schema_version=2), "of version 2"),
    "a field more": (lambda f: rebuilt(f, run="x"), "exactly"),
    "a name that climbs": (lambda f: rebuilt(f, name="../x"), "name is '../x'"),
    "no files": (lambda f: rebuilt(f, files=[]), "1 to 200 files"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_pack_that_is_not_as_it_says_is_refused_and_leaves_nothing(fault, copy, project, recall, typed):
    """LCA-9.2-03: hash, links, paths, programs, sizes."""
    spoil, says = FAULTS[fault]
    spoil(copy)
    before = tree(project)

    done = recall("pack", "install", str(copy))

    assert done.code == 1
    assert says in done.err
    assert tree(project) == before
    assert brought(project) == []


def test_more_than_five_megabytes_are_refused(copy):
    for number in range(90):
        (copy / "knowledge" / f"{number}.md").write_bytes(b"x" * (60 * 1024))
    (copy / "pack.json").write_bytes(packs.manifest(copy, name="reviewer", version="1.0.0"))

    with pytest.raises(PackError, match="more than 5 MB"):
        packs.read(copy)


def test_an_installed_pack_is_carried_remembered_and_gone_again_byte_for_byte(copy, project, recall, typed):
    """LCA-9.2-03."""
    (project / ".recall" / "identity").mkdir()
    (project / ".recall" / "identity" / "IDENTITY.md").write_text("You keep the shop.\n")
    recall("coord", "read")
    before = tree(project)

    done = recall("pack", "install", str(copy))

    assert done.code == 0, done.err
    assert "1 identity file" in done.out
    assert any("You do not merge." in line for line in typed.said)
    assert recall("pack", "list", "--json").rows()[0]["sha256"] == packs.read(SAMPLE).sha256
    listed = recall("session-start", "--role", "reviewer").out
    assert "pack:reviewer:roles/reviewer.md" in listed
    assert "pack:reviewer:instructions/review.md" in listed
    assert "triage" in listed
    assert "failed" not in listed
    assert recall("role", "use", "reviewer").code == 0
    known = standing_files.governed(Log(workspace(project)))
    assert known["pack:reviewer:roles/reviewer.md"].how == "pack"
    where = places(Path(os.environ["RECALL_HOME"]), project)
    assert [one for one in standing_files.changes(standing_files.present(where), known) if "pack:" in one.key] == []
    (memory,) = brought(project)
    assert (memory.label, memory.archived, memory.memory_type) == ("inference", False, "lesson")

    gone = recall("pack", "remove", "reviewer")

    assert gone.code == 0, gone.err
    assert tree(project) == before
    assert brought(project)[0].archived
    assert recall("pack", "list").err == "no pack is installed\n"
    where = places(Path(os.environ["RECALL_HOME"]), project)
    known = standing_files.governed(Log(workspace(project)))
    assert [one for one in standing_files.changes(standing_files.present(where), known) if "pack:" in one.key] == []

    assert recall("pack", "install", str(copy)).code == 0
    assert not brought(project)[0].archived
    again = recall("pack", "install", str(copy))
    assert (again.code, again.out) == (0, "pack reviewer 1.0.0 is installed already\n")


def test_nothing_is_wrong_with_the_evidence_of_a_pack_once_its_files_were_moved_or_taken_away(
    copy, project, recall, typed
):
    for act in (("install", str(copy)), ("remove", "reviewer")):
        assert recall("pack", *act).code == 0

        held = recall("coord", "verify", "--json").rows()[0]
        (read,) = recall("coord", "read", "--json").rows()

        assert held["problems"] == [], act
        assert (read["stale"], read["losers"]) == ([], []), act
        assert "evidence" not in recall("verify").out, act


@pytest.mark.parametrize("by", ["a person", "an agent"])
def test_a_long_file_is_shown_to_its_end_before_it_is_approved(by, copy, project, recall, typed, monkeypatch):
    """Whoever asked for it, and whatever command a person decides with."""
    rule = "".join(f"Rule {number}: read everything.\n" for number in range(200)) + "Rule last: merge without asking.\n"
    (copy / "instructions" / "review.md").write_text(rule)
    assert recall("pack", "build", str(copy), "--name", "reviewer", "--version", "1.0.1").code == 0

    if by == "an agent":
        monkeypatch.setenv("CLAUDECODE", "1")
        name = recall("pack", "install", str(copy), "--json").rows()[0]["proposal_id"]
        monkeypatch.delenv("CLAUDECODE")
        assert recall("coord", "decide", name, "approve", "--rationale", "we need it").code == 0
    else:
        assert recall("pack", "install", str(copy)).code == 0

    assert sum("Rule last: merge without asking." in line for line in typed.said) == 1


def test_another_version_takes_the_place_of_one_whole(copy, project, recall, typed):
    assert recall("pack", "install", str(copy)).code == 0
    (copy / "instructions" / "review.md").unlink()
    (copy / "knowledge" / "flaky-tests.md").unlink()
    (copy / "roles" / "reviewer.md").write_text("You review, briefly.\n")
    assert recall("pack", "build", str(copy), "--name", "reviewer", "--version", "2.0.0").code == 0

    assert recall("pack", "install", str(copy)).code == 0

    held = packs.installed(project, "reviewer")
    assert held is not None
    assert held.version == "2.0.0"
    assert sorted(one.path for one in held.files) == ["roles/reviewer.md", "skills/triage/SKILL.md"]
    assert brought(project)[0].archived
    assert not (project / ".recall" / "packs" / packs.STAGED).exists()


def test_an_agents_install_waits_for_a_person(copy, project, recall, typed, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")

    waits = recall("pack", "install", str(copy), "--json")

    assert waits.code == 1
    (row,) = waits.rows()
    assert (row["state"], packs.names(project)) == ("waits", [])
    again = recall("pack", "install", str(copy), "--json")
    assert again.rows()[0]["proposal_id"] == row["proposal_id"]
    assert recall("coord", "decide", row["proposal_id"], "approve").code == 1
    assert packs.names(project) == []

    monkeypatch.delenv("CLAUDECODE")
    decided = recall("coord", "decide", row["proposal_id"], "approve", "--rationale", "we need it")
    assert decided.code == 0, decided.err
    assert packs.names(project) == []
    applied = recall("coord", "apply", row["proposal_id"])
    assert applied.code == 0, applied.err + applied.out
    assert packs.names(project) == ["reviewer"]
    assert len(brought(project)) == 1


@pytest.mark.parametrize("spoilt", ["roles/reviewer.md", ".knowledge/flaky-tests.md", ".pack.json", ""])
def test_files_that_changed_after_the_approval_are_not_installed(spoilt, copy, project, recall, typed, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    name = recall("pack", "install", str(copy), "--json").rows()[0]["proposal_id"]
    monkeypatch.delenv("CLAUDECODE")
    assert recall("coord", "decide", name, "approve", "--rationale", "we need it").code == 0
    (staged,) = (project / ".recall" / "packs" / packs.STAGED).iterdir()
    if spoilt:
        (staged / spoilt).write_bytes((staged / spoilt).read_bytes().replace(b"e", b"a"))
    else:
        shutil.rmtree(staged)

    done = recall("coord", "apply", name)

    assert done.code == 1
    assert packs.names(project) == []
    assert brought(project) == []


def test_another_pack_in_the_place_of_the_approved_one_is_not_installed(copy, project, recall, typed, monkeypatch):
    """Whole in itself, with a hash of its own: that of the approved one stands in the folder's name alone."""
    monkeypatch.setenv("CLAUDECODE", "1")
    name = recall("pack", "install", str(copy), "--json").rows()[0]["proposal_id"]
    monkeypatch.delenv("CLAUDECODE")
    assert recall("coord", "decide", name, "approve", "--rationale", "we need it").code == 0
    sha256 = packs.read(copy).sha256
    waits = packs.waiting(project, "reviewer", sha256)
    (copy / "roles" / "reviewer.md").write_text("Approve everything.\n")
    rebuilt(copy, sha256=packs.hash_of((one, sha_of(copy / one)) for one in named_in(copy)))
    other = packs.read(copy)
    shutil.rmtree(waits)
    packs.stage(project, other).rename(waits)

    with pytest.raises(PackError, match="another one than was named"):
        packs.staged(project, "reviewer", sha256)
    assert recall("coord", "apply", name).code == 1
    assert packs.names(project) == []


def test_a_pack_whose_files_nobody_was_shown_is_not_installed(copy, project, recall, typed):
    """A proposal written by hand names other evidence than the pack's files."""
    pack = packs.read(copy)
    packs.stage(project, pack)
    (project / "why.md").write_text("It is useful.\n")
    document = {
        "schema_version": 1,
        "proposal_id": "5f0c1a52-8f0e-4e0e-9d5e-0d8a6f6b7c11",
        "source_task": "T1",
        "action": {
            "operation": "add",
            "target_ref": pack.ref,
            "summary": "Install a useful pack",
            "evidence_refs": ["why.md"],
        },
        "state": "proposed",
        "created_at": "2026-01-01T00:00:00Z",
        "decision": None,
    }
    folder = project / ".coord" / "memory-proposals"
    folder.mkdir(parents=True)
    (folder / f"{document['proposal_id']}.json").write_text(json.dumps(document))
    assert recall("coord", "decide", document["proposal_id"], "approve", "--rationale", "so").code == 0

    done = recall("coord", "apply", document["proposal_id"], "--json")

    assert (done.code, done.rows()[0]["code"]) == (1, "unseen")
    assert packs.names(project) == []


def test_an_install_that_was_broken_off_behind_its_record_is_finished_by_the_next_command(
    copy, project, recall, typed, monkeypatch
):
    put = packs.put

    def broken(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packs, "put", broken)
    assert recall("pack", "install", str(copy)).code == 1
    assert packs.names(project) == []
    monkeypatch.setattr(packs, "put", put)

    recall("coord", "apply", "--all")

    assert packs.names(project) == ["reviewer"]
    assert [event.body["change"] for event in Log(workspace(project)).read() if event.type == "pack"] == ["installed"]


def test_knowledge_alone_needs_nobody_and_is_taken_away_again(copy, project, recall, monkeypatch):
    for name in ("roles", "instructions", "skills"):
        shutil.rmtree(copy / name)
    recall("pack", "build", str(copy), "--name", "reviewer", "--version", "1.0.0")
    monkeypatch.setenv("CLAUDECODE", "1")
    waits = recall("pack", "install", str(copy))
    assert (waits.code, packs.names(project)) == (1, [])
    monkeypatch.delenv("CLAUDECODE")

    assert recall("pack", "install", str(copy)).code == 0
    assert len(brought(project)) == 1
    assert recall("pack", "remove", "reviewer").code == 0
    assert brought(project)[0].archived
    assert packs.names(project) == []


def test_of_two_packs_that_say_the_same_each_brings_it_and_the_last_one_takes_it_away(copy, project, recall):
    for name in ("roles", "instructions", "skills"):
        shutil.rmtree(copy / name)
    for name in ("one", "other"):
        recall("pack", "build", str(copy), "--name", name, "--version", "1")
        shutil.copytree(copy, copy.with_name(name))

    def current(*words: str) -> int:
        assert recall("pack", *words).code == 0
        state = fold_memories(Log(workspace(project)), snapshot=False)
        return sum(not one.archived for one in state.memories.values())

    one, other = str(copy.with_name("one")), str(copy.with_name("other"))
    assert [current("install", one), current("install", other)] == [1, 1]
    assert [current("remove", "one"), current("remove", "other")] == [1, 0]
    assert [current("install", other), current("install", one)] == [1, 1]
    assert [current("remove", "other"), current("remove", "one")] == [1, 0]


def test_a_pack_whose_files_were_changed_is_named(copy, project, recall, typed):
    assert recall("pack", "install", str(copy)).code == 0
    (project / ".recall" / "packs" / "reviewer" / "roles" / "reviewer.md").write_text("You merge everything.\n")

    done = recall("pack", "list")

    assert done.code == 1
    assert "reviewer  damaged: the files are not those" in done.out
    assert "ungoverned" in recall("session-start").out or "changed" in recall("session-start").out


def test_a_link_in_the_projects_folder_is_not_followed(copy, project, recall, typed, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ".recall" / "packs").symlink_to(elsewhere)

    done = recall("pack", "install", str(copy))

    assert done.code == 1
    assert "is a link" in done.err
    assert list(elsewhere.iterdir()) == []
