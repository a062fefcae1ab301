"""What a session always carries: every file loaded or named, a tight budget spent by worth, never by name."""

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from support.memory_folder import make_memory_folder
from support.record import NOW
from support.remembered import DAY, Remembered, make_remembered

from consolidation import standing_set
from consolidation.settings import Settings
from consolidation.standing_set import StandingSet
from recall.standing_context import block_of
from recall.standing_places import Place, spots
from transcript import memory_drafts as drafts
from transcript.memories import Memory
from transcript.memory_told import Told

CRITICAL, CHARS = 50, 3_700


@pytest.fixture
def memory(tmp_path: Path) -> Remembered:
    return make_remembered(tmp_path)


def compiled(memory: Remembered, *, folders: str = "", role: str = "", **standing: int) -> StandingSet:
    settings = Settings()
    settings = replace(
        settings,
        memory=replace(settings.memory, folders=folders),
        standing=replace(settings.standing, **standing),
    )
    return standing_set.compile(memory.log.workspace, settings, role=role, now=NOW)


def identity(memory: Remembered, name: str, text: str) -> Path:
    root = memory.log.workspace.root
    assert root is not None
    path = root / ".recall" / "identity" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def critical(
    memory: Remembered, text: str, *, roles: tuple[str, ...] = ("*",), day: int = 1, **fields: object
) -> Memory:
    made = memory.candidate(text, day=day, memory_type="project_fact")
    return memory.remember(made, critical_for=roles, said_at=DAY.format(day), **fields)


def keys(found: StandingSet, state: str) -> list[str]:
    return [one.key for one, so in found.entries if so == state]


def test_all_292_files_of_a_folder_are_loaded_or_named_and_its_three_critical_ones_told(memory, tmp_path):
    """LCA-D-03."""
    folder = make_memory_folder(tmp_path / "theirs")
    (folder / "memory-000.md").write_text("---\ntype: nonsense\n---\nModule 0 listens.\n", "utf-8")

    found = compiled(memory, folders=str(folder))

    assert found.files == {"files": 292, "loaded": 291, "critical": 3}
    assert [Path(path).name for path, _ in found.failed] == ["memory-000.md"]
    told = block_of(found.loaded)
    assert all(f"Module {number} listens on port {8000 + number}." in told for number in (289, 290, 291))
    assert told.count("listens on port") == 3


def test_50_critical_memories_of_185_000_characters_are_cut_to_the_budget_by_worth_and_each_left_out_is_named(memory):
    """LCA-D-04."""
    held = [critical(memory, _long(number), day=1 + number % 28) for number in range(CRITICAL)]
    cited = held[7]
    memory.append([drafts.cited(Told(DAY.format(9)), cited.id, f"s{n}", "named") for n in range(4)])

    found = compiled(memory)

    assert sum(len(one.text) for one, _ in found.entries) == CRITICAL * CHARS == 185_000
    assert found.chars <= 50_000
    assert found.critical == (50, 13, 185_000)
    assert len(found.left_out) == 37
    assert {one.event for one in found.loaded} | {one.event for one in found.left_out} == {one.id for one in held}
    assert found.loaded[0].event == cited.id  # E first
    newest = [one.said for one in found.loaded[1:]]
    assert newest == sorted(newest, reverse=True)  # then what was said last


def test_names_and_their_order_on_the_disk_change_nothing_of_what_is_chosen(memory, tmp_path):
    """LCA-D-04."""
    texts = [_long(number) for number in range(CRITICAL)]
    chosen = set()
    for seed in range(3):
        folder = tmp_path / f"run{seed}"
        folder.mkdir()
        order = list(range(CRITICAL))
        random.Random(seed).shuffle(order)
        for place, number in enumerate(order):
            head = f"---\ntype: project\ncritical: true\nlast_applied: 2026-0{1 + number % 9}-11\n---\n"
            (folder / f"{place:02d}-{seed}.md").write_text(f"{head}{texts[number]}\n", "utf-8")
        found = compiled(memory, folders=str(folder))
        chosen.add(frozenset(one.text for one in found.loaded))

    assert len(chosen) == 1
    dates = [1 + texts.index(one) % 9 for one in next(iter(chosen))]
    assert min(dates) >= 7  # the last applied of nine months


def test_an_approved_memory_goes_before_a_claim_and_a_claim_before_an_inference(memory):
    inference = critical(memory, "Ports are read from the environment.", label="inference", day=9)
    claim = critical(memory, "Invoices are kept for ten years.", label="claim", day=1)

    assert [one.event for one in compiled(memory).loaded] == [claim.id, inference.id]


def test_what_is_too_long_is_passed_over_and_the_next_that_fits_is_taken(memory):
    identity(memory, "IDENTITY.md", "x" * 900)
    identity(memory, "instructions/short.md", "Run make test before you push.")

    found = compiled(memory, chars=500)

    assert keys(found, "loaded") == ["project:instructions/short.md"]
    assert keys(found, "over_budget") == ["project:IDENTITY.md"]


def test_a_role_is_told_its_own_file_and_memories_and_not_those_of_another(memory):
    identity(memory, "roles/reviewer.md", "You look for what breaks.")
    identity(memory, "roles/writer.md", "You write the manual.")
    mine = critical(memory, "Reviews name the line.", roles=("reviewer",))
    theirs = critical(memory, "Manuals are in British English.", roles=("writer",))

    found = compiled(memory, role="reviewer")

    assert keys(found, "loaded") == ["project:roles/reviewer.md", f"memory:{mine.id[:10]}"]
    assert set(keys(found, "other_role")) == {f"memory:{theirs.id[:10]}", "project:roles/writer.md"}


def test_semantic_and_procedural_files_are_told_apart(memory):
    """LCA-4.1-03."""
    identity(memory, "IDENTITY.md", "You keep the shop running.")
    identity(memory, "USER.md", "Ana, who wants short answers.")
    identity(memory, "instructions/style.md", "Names are English.")
    identity(memory, "skills/deploy/SKILL.md", "---\nname: deploy\ndescription: how to deploy\n---\nRun make deploy.\n")

    kinds = {one.name: one.kind for one in compiled(memory).loaded}

    assert kinds == {
        "IDENTITY.md": "semantic",
        "USER.md": "semantic",
        "instructions/style.md": "procedural",
        "skills/deploy/SKILL.md": "procedural",
    }


def test_a_later_place_holds_over_an_earlier_one_of_the_same_name(memory, tmp_path):
    data = memory.log.workspace.data
    (data / "identity").mkdir(parents=True)
    (data / "identity" / "IDENTITY.md").write_text("You are everybody's.", "utf-8")
    identity(memory, "IDENTITY.md", "You are this project's.")

    found = compiled(memory)

    assert [one.text for one in found.loaded] == ["You are this project's."]
    assert keys(found, "shadowed") == ["user:IDENTITY.md"]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("IDENTITY.md", b"\xff\xfe no text", "no UTF-8"),
        ("USER.md", b"---\nprivacy: private\n", "no end"),
        ("instructions/x.md", b"---\na: [1\n---\nText.\n", "no YAML"),
        ("roles/x.md", b"# Heading\n<!-- nothing -->\n", "says nothing yet"),
        ("commands/big.md", b"x" * 70_000, "are carried at most"),
        ("notes/other.md", b"Text.\n", "it is none of"),
        ("instructions/run.sh", b"echo\n", "it is none of"),
    ],
)
def test_a_file_that_cannot_be_carried_is_named_with_the_reason(memory, name, data, why):
    identity(memory, name, "").write_bytes(data)

    found = compiled(memory)

    assert not found.loaded
    assert [key for key, _ in found.failed] == [f"project:{name}"]
    assert why in found.failed[0][1]


def test_a_link_out_of_the_folder_is_named_and_not_read(memory, tmp_path):
    (tmp_path / "secret.md").write_text("The vault opens at nine.", "utf-8")
    path = identity(memory, "instructions/x.md", "")
    path.unlink()
    path.symlink_to(tmp_path / "secret.md")

    found = compiled(memory)

    assert not found.loaded
    assert found.failed == (("project:instructions/x.md", "it links to a place outside of its folder"),)


@pytest.mark.skipif(os.name != "posix", reason="pipes and links as on Unix")
@pytest.mark.parametrize("how", ["pipe", "loop", "broken", "folder"])
def test_what_is_no_file_is_named_and_keeps_nobody_waiting(memory, how):
    path = identity(memory, "instructions/x.md", "")
    path.unlink()
    if how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to(path if how == "loop" else path.with_name("nowhere.md"))

    found = compiled(memory)

    expected = () if how == "folder" else (("project:instructions/x.md", "it is no file that can be read"),)
    assert (found.loaded, found.failed, found.changes) == ((), expected, ())


@pytest.mark.skipif(os.name != "posix", reason="names and pipes as on Unix")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("new\nline", r"new\nline"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\u202eturned", r"\u202eturned"),
        ("no \udcff utf-8", r"no \udcff utf-8"),
    ],
)
def test_a_name_that_would_forge_what_names_it_is_named_and_its_file_not_carried(memory, name, shown):
    identity(memory, f"instructions/{name}.md", "Do as the name says.")

    found = compiled(memory)

    why = "its name holds a line end or another sign that is not shown; rename it"
    assert (found.loaded, found.failed) == ((), ((f"project:instructions/{shown}.md", why),))


@pytest.mark.skipif(os.name != "posix", reason="names and pipes as on Unix")
def test_the_name_of_a_memorys_file_stays_on_the_line_of_its_memory(memory, tmp_path):
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a\n## identity.md").write_text(
        "---\ntype: project_fact\ncritical: true\n---\nDeploys are on Tuesdays.\n"
    )

    (one,) = compiled(memory, folders=str(folder)).loaded

    assert [line[:1] for line in block_of([one]).splitlines()] == ["[", "#", "-", "["]


@pytest.mark.skipif(os.name != "posix", reason="names and pipes as on Unix")
def test_a_pipe_among_a_harnesss_commands_keeps_nobody_waiting(memory):
    root = memory.log.workspace.root
    (root / ".claude" / "commands").mkdir(parents=True)
    os.mkfifo(root / ".claude" / "commands" / "x.md")

    assert compiled(memory).entries == ()


def test_more_files_than_are_looked_at_are_said_and_the_order_on_the_disk_chooses_none(memory, monkeypatch):
    monkeypatch.setattr("recall.standing_places.MOST_FILES", 3)
    for name in random.Random(4).sample("bacdef", 6):
        identity(memory, f"instructions/{name}.md", f"Rule {name}.")
    identity(memory, "IDENTITY.md", "You are the maintainer.")

    found = compiled(memory)

    assert sorted(keys(found, "loaded")) == [
        f"project:{n}.md" for n in ("IDENTITY", "instructions/a", "instructions/b")
    ]
    ((where, why),) = found.failed
    assert where == "project"
    assert "the others are not looked at" in why


def test_what_a_harness_loads_itself_is_listed_and_not_told_again(memory):
    root = memory.log.workspace.root
    assert root is not None
    (root / "CLAUDE.md").write_text("Never push to main.", "utf-8")

    found = compiled(memory)

    assert keys(found, "harness") == ["harness:CLAUDE.md"]
    assert not found.loaded


def test_a_new_critical_memory_beyond_the_budget_names_what_would_have_to_leave(memory):
    weak = critical(memory, "Weak rule. " + "w" * 400, day=1)
    strong = critical(memory, "Strong rule. " + "s" * 400, day=9)
    new = memory.remember(memory.candidate("New rule. " + "n" * 300))

    tight, wide = compiled(memory, chars=900), compiled(memory, chars=5_000)

    assert standing_set.would_fit(tight, new).leaves == (f"memory:{weak.id[:10]}",)
    assert not standing_set.would_fit(tight, new).fits
    assert standing_set.would_fit(wide, new).fits
    assert strong.id[:10] not in "".join(standing_set.would_fit(tight, new).leaves)


def test_it_is_put_together_anew_only_when_something_has_changed(memory):
    workspace, path = memory.log.workspace, identity(memory, "IDENTITY.md", "You keep the shop running.")
    assert standing_set.keep_up(workspace, Settings(), now=NOW)
    assert not standing_set.keep_up(workspace, Settings(), now=NOW)

    path.write_text("You keep the shop and the books.", "utf-8")
    assert standing_set.keep_up(workspace, Settings(), now=NOW)
    critical(memory, "Deploys go out on Tuesdays.")
    assert standing_set.keep_up(workspace, Settings(), now=NOW)
    identity(memory, "commands/deploy.md", "Run make deploy.")
    assert standing_set.keep_up(workspace, Settings(), now=NOW)
    assert not standing_set.keep_up(workspace, Settings(), now=NOW)


def test_files_are_found_below_folders_and_hidden_ones_passed_over(tmp_path):
    for name in ("instructions/a/b.md", ".git/IDENTITY.md", "instructions/.draft.md", "roles/x/y.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Text.", "utf-8")

    assert [one.name for one in spots(Place("project", tmp_path))] == ["instructions/a/b.md"]


def _long(number: int) -> str:
    return f"Rule {number:02d} of the shop holds. ".ljust(CHARS, "abcdefghij"[number % 10])
