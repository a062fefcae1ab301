"""What an applied proposal does besides its item: to memories, candidates, procedures and identity files."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.coord_shop import Shop, make_shop
from support.person import sit_down

from consolidation import child
from recall.cli.person import _Console
from transcript.errors import NotConfirmed
from transcript.memories import Memory, fold_memories
from transcript.sieve import Sieve, type_field
from transcript.verify import verify

TEXT = "Look at the clock before you write a time.\n"
PATH = "instructions/clock.md"


@pytest.fixture
def shop(capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    return make_shop(capsys, tmp_path, monkeypatch)


def remember(shop: Shop, text: str, *more: str) -> str:
    done = shop("memory", "add", text, "--why", "it was measured", "--json", *more)
    assert done.code == 0, done.err
    return next(one["id"] for one in json.loads(done.out)["events"] if one["type"] == "memory.written")


def memory(shop: Shop, name: str) -> Memory:
    return fold_memories(shop.log).memories[name]


def events(shop: Shop, kind: str) -> list[dict[str, Any]]:
    return [event.body for event in shop.log.read(sieve=Sieve((type_field(kind),))) if event.type == kind]


def worked(shop: Shop, *texts: str) -> list[str]:
    """Outcomes of the record, as evidence."""
    made = [shop("outcome", text, "--status", "verified", "--json").rows()[0]["id"] for text in texts]
    return [f"recall:{name}" for name in made]


# -- memories ----------------------------------------------------------------------------------


def test_an_approved_memory_gains_the_weight_of_a_decision(shop: Shop) -> None:
    """The event in the same batch carries the signature, which is checked where the weight is made."""
    name = remember(shop, "The importer reads every file once.")
    assert "nothing yet" in shop("memory", "show", name[:10]).out

    item = shop.applied("Keep this", "--target", f"memory:{name}")

    held = json.loads(shop("memory", "show", name[:10], "--json").out)
    assert held["experience"] > 0
    assert "approved" in shop("memory", "show", name[:10]).out
    [approved] = events(shop, "memory.approved")
    [line] = json.loads("[" + shop.bytes().decode()[2:].strip() + "]")
    assert (line["event_id"], line["kind"], line["target_ref"]) == (item, "outcome", f"memory:{name}")
    assert approved["proposal_id"] == line["proposal_id"]


def test_an_approval_gives_no_weight_to_what_another_memory_took_the_place_of(shop: Shop) -> None:
    name = remember(shop, "The port is 5432.")
    proposal = shop.propose("Keep this", "--target", f"memory:{name}")
    shop.approve(proposal)
    assert shop("memory", "edit", name[:10], "--statement", "The port is 7777.", "--why", "it was moved").code == 0

    told = shop.told("apply", proposal, code=1)

    assert (told["code"], told["field"], told["state"]) == ("target_gone", "action.target_ref", "proposed")
    assert shop.applied("Put it away", "--target", f"memory:{name}", operation="archive")


def test_an_approval_under_another_key_weighs_nothing(shop: Shop) -> None:
    name = remember(shop, "The importer reads every file once.")
    shop.applied("Keep this", "--target", f"memory:{name}")
    key = Path(os.environ["RECALL_HOME"]) / "keys" / "approval.key"
    key.write_text("0" * 63 + "1\n")

    assert json.loads(shop("memory", "show", name[:10], "--json").out)["experience"] == 0


@pytest.mark.parametrize(("operation", "reason"), [("archive", "Not needed"), ("delete", "deleted")])
def test_a_memory_is_put_away_by_proposal_and_taken_back(shop: Shop, operation: str, reason: str) -> None:
    name = remember(shop, "The importer reads every file once.")

    shop.applied("Not needed", "--target", f"memory:{name}", operation=operation)
    assert memory(shop, name).archived
    assert events(shop, "memory.archived")[0]["reason"] == reason
    gone = ("propose", "archive", "--target", f"memory:{name}", "--summary", "x", "--evidence", "docs/time.md")
    assert shop.told(*gone, code=1)["code"] == "target_gone"

    shop.applied("Needed again", "--target", f"memory:{name}", "--subject", "restore")
    assert not memory(shop, name).archived
    back = ("propose", "add", "--target", f"memory:{name}", "--subject", "restore", "--summary", "x")
    assert shop.told(*back, "--evidence", "docs/time.md", code=1)["code"] == "target_gone"


def test_a_memory_is_always_loaded_once_a_person_says_so(shop: Shop) -> None:
    """Promotion: for everyone, or for one role besides those it has."""
    one, other = remember(shop, "Clocks run on UTC."), remember(shop, "Tests run in random order.")

    shop.applied("Always", "--target", f"memory:{one}", "--subject", "always-loaded")
    shop.applied("Always", "--target", f"memory:{other}", "--subject", "always-loaded:reviewer")

    assert memory(shop, one).critical_for == ("*",)
    assert memory(shop, other).critical_for == ("reviewer",)
    told = shop("session-start", "--json", "--role", "reviewer")
    assert "Clocks run on UTC." in told.out
    assert "Tests run in random order." in told.out


def test_beyond_the_budget_the_person_names_what_leaves(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """LCA-D-04b: refused, naming what would have to leave; with that as evidence, it leaves."""
    old = remember(shop, "An old rule that fills the room. " + "word " * 20)
    new = remember(shop, "A new rule that fills the room as well. " + "term " * 20)
    shop.applied("Always", "--target", f"memory:{old}", "--subject", "always-loaded")
    monkeypatch.setenv("RECALL_STANDING_CHARS", "200")
    words = ("propose", "add", "--target", f"memory:{new}", "--subject", "always-loaded", "--summary", "Always")

    refused = shop.told(*words, "--evidence", "docs/time.md", code=1)

    assert refused["code"] == "over_budget"
    assert f"memory:{old[:10]}" in refused["message"]
    assert memory(shop, new).critical_for == ()
    shop.applied("Always", "--target", f"memory:{new}", "--subject", "always-loaded", "--evidence", f"memory:{old}")
    assert memory(shop, new).critical_for == ("*",)
    assert memory(shop, old).critical_for == ()


# -- candidates --------------------------------------------------------------------------------


def waiting(shop: Shop, *more: str) -> str:
    """A runbook that a sub-agent brought: it waits for a person."""
    said = ("Restart the worker with make restart.", "--type", "runbook", "--worker", "w1", "--as", "agent", *more)
    assert shop("memory", "add", *said, "--actor", "codex", "--why", "it hung").code == 0
    assert shop("checkpoint", "--trigger", "elected").code in (0, 1)
    [row] = shop("memory", "list", "--proposals", "--json").rows()
    return str(row["id"])


def test_what_waits_is_taken_in_by_a_signed_proposal(shop: Shop) -> None:
    """C-08: a procedure of the agent's own becomes one by a person's word alone."""
    name = waiting(shop)

    shop.applied("Take it in", "--target", f"candidate:{name}")

    assert [one.statement for one in fold_memories(shop.log).memories.values()] == [
        "Restart the worker with make restart."
    ]
    assert shop("memory", "list", "--proposals", "--json").rows() == []
    gone = ("propose", "add", "--target", f"candidate:{name}", "--summary", "x", "--evidence", "docs/time.md")
    assert shop.told(*gone, code=1)["code"] == "target_gone"


def test_a_person_sees_all_that_they_take_in(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Besides its text: what kind of memory it becomes, and the mistake that it will be said to prevent."""
    name = waiting(shop, "--avoid", "kill -9", "--instead", "make restart", "--tag", "ops")
    typist = sit_down(monkeypatch)

    shop.applied("Take it in", "--target", f"candidate:{name}")

    told = "\n".join(typist.shown)
    for words in ("why: it hung", "memory_type: runbook", 'tags: ["ops"]', '{"avoid":"kill -9","instead":"make'):
        assert words in told


@pytest.mark.parametrize("word", ["accept", "decline"])
def test_private_words_do_not_enter_the_shared_files(shop: Shop, word: str) -> None:
    """They stand in the record, whose pointer is the evidence that a person is shown."""
    name = waiting(shop, "--private")

    assert shop("memory", word, name[:10]).code == 0

    held = [path.read_text() for path in (shop.folder / ".coord").rglob("*") if path.is_file()]
    assert held
    assert not any("make restart" in text for text in held)
    assert any(f"recall:{name}" in text for text in held)


def test_a_declined_proposal_takes_the_candidate_with_it(shop: Shop) -> None:
    name = waiting(shop)
    proposal = shop.propose("Take it in", "--target", f"candidate:{name}")

    shop.told("decide", proposal, "decline", "--rationale", "no", code=1)

    assert shop("memory", "list", "--proposals", "--json").rows() == []
    assert fold_memories(shop.log).memories == {}


# -- procedures and identity -----------------------------------------------------------------------


def propose_procedure(shop: Shop, evidence: list[str], *, path: str = PATH, code: int = 0) -> dict[str, Any]:
    (shop.folder / "draft.md").write_text(TEXT)
    refs = [word for ref in evidence for word in ("--evidence", ref)]
    target = ("--target", f"procedure:{path}", "--content", f"{path}=draft.md")
    return shop.told("propose", "add", *target, "--summary", "Write the clock rule down", *refs, code=code)


def test_a_procedure_lands_with_its_four_records(shop: Shop) -> None:
    """LCA-4.1-05: proposal, decision, the event that it is governed, and the file read back."""
    evidence = worked(shop, "looked before the first release", "looked before the second release")
    made = propose_procedure(shop, evidence)
    file = shop.folder / ".recall" / "identity" / PATH
    assert not file.exists()
    shop.approve(made["id"])
    assert not file.exists()

    told = shop.told("apply", made["id"])

    assert file.read_text() == TEXT
    [standing] = events(shop, "standing")
    assert (standing["path"], standing["how"], standing["kind"]) == (f"project:{PATH}", "approved", "procedural")
    assert (standing["proposal_id"], standing["sources"]) == (made["id"], evidence)
    assert told["canonical_changed"] is True
    assert len(events(shop, "proposal.proposed")) == len(events(shop, "proposal.decided")) == 1
    assert "clock" in shop("session-start").out
    assert verify(shop.log.workspace).problems == []


@pytest.mark.parametrize(
    ("uses", "path", "code"),
    [
        (0, PATH, "no_source"),
        (1, PATH, "not_practised"),
        (2, "instructions/clock.py", "not_prompt_text"),
        (2, "src/clock.md", "not_prompt_text"),
    ],
)
def test_what_is_no_procedure_is_not_even_proposed(shop: Shop, uses: int, path: str, code: str) -> None:
    """LCA-4.1-05, -06, -07."""
    evidence = worked(shop, *[f"looked before release {number}" for number in range(uses)]) or ["docs/time.md"]

    assert propose_procedure(shop, evidence, path=path, code=1)["code"] == code
    assert not (shop.folder / ".coord").exists()


def test_a_text_that_changed_after_it_was_approved_is_not_written(shop: Shop) -> None:
    made = propose_procedure(shop, worked(shop, "looked once", "looked again"))
    shop.approve(made["id"])
    path = Path(made["path"])
    path.write_text(path.read_text().replace("before you write", "after you write"))

    told = shop.told("apply", made["id"], code=1)

    assert (told["code"], told["field"]) == ("action_changed", "action.content.text")
    assert not (shop.folder / ".recall" / "identity" / PATH).exists()
    assert shop.told("read")["pending"][0]["state"] == "proposed"


def identity(shop: Shop, text: str, operation: str) -> tuple[Path, bytes]:
    """Say who the agent is by an approved proposal; return its file, and what stood there before it was applied."""
    (shop.folder / "draft.md").write_text(text)
    content = ("--target", "identity:IDENTITY.md", "--content", "IDENTITY.md=draft.md")
    name = shop.propose(text.strip(), *content, operation=operation)
    shop.approve(name)
    path = shop.folder / ".coord" / "memory-proposals" / f"{name}.json"
    before = path.read_bytes()
    shop.told("apply", name)
    return path, before


@pytest.mark.parametrize("noted", [True, False], ids=["with the note that it was written", "without"])
def test_a_proposal_that_is_set_back_writes_its_file_no_second_time(shop: Shop, noted: bool) -> None:
    """gov-replay (c)."""
    file = shop.folder / ".recall" / "identity" / "IDENTITY.md"
    old = identity(shop, "A clerk.\n", "add")
    new = identity(shop, "A courier.\n", "supersede")
    file.write_text("A clerk.\n" if noted else "A baker.\n")  # by hand: as it was before the last one, or otherwise
    if not noted:
        (shop.log.workspace.run_dir / "coord-landed").unlink()
    said = file.read_text()

    for path, before in (old, new):
        path.write_bytes(before)
        shop.told("apply", "--all")
        assert file.read_text() == said
        assert json.loads(path.read_bytes())["state"] == "applied"


def test_what_was_broken_off_before_its_file_was_written_is_finished_once(shop: Shop) -> None:
    file = shop.folder / ".recall" / "identity" / "IDENTITY.md"
    path, before = identity(shop, "A clerk.\n", "add")
    file.unlink()
    (shop.log.workspace.run_dir / "coord-landed").unlink()
    path.write_bytes(before)

    shop.told("apply", "--all")

    assert file.read_text() == "A clerk.\n"
    assert json.loads(path.read_bytes())["state"] == "applied"


def test_in_another_worktree_the_file_is_written_beside_the_evidence(shop: Shop, monkeypatch, tmp_path: Path) -> None:
    """What was looked at, and what is written over, is one file: that of the folder that holds `.coord`."""
    git = ["git", "-C", str(shop.folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "start"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "tree")], check=True, capture_output=True)
    (tmp_path / "tree" / "draft.md").write_text("A clerk.\n")
    monkeypatch.chdir(tmp_path / "tree")

    shop.applied("Say who", "--target", "identity:IDENTITY.md", "--content", "IDENTITY.md=draft.md")

    assert (shop.folder / ".recall" / "identity" / "IDENTITY.md").read_text() == "A clerk.\n"
    assert not (tmp_path / "tree" / ".recall" / "identity").exists()


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_nothing_is_written_through_a_link(shop: Shop, tmp_path: Path) -> None:
    made = propose_procedure(shop, worked(shop, "looked once", "looked again"))
    shop.approve(made["id"])
    (tmp_path / "elsewhere").mkdir()
    folder = shop.folder / ".recall" / "identity"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "instructions").symlink_to(tmp_path / "elsewhere")

    told = shop.told("apply", made["id"], code=1)

    assert told["code"] == "not_prompt_text"
    assert list((tmp_path / "elsewhere").iterdir()) == []


# -- the key, and the person ------------------------------------------------------------------------


def test_no_program_is_given_the_key(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """ASM-24: neither bytes nor path of it stand in the environment or the arguments of what is started."""
    started: list[str] = []
    real = subprocess.Popen.__init__

    def recorded(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        started.append(f"{args} {options.get('env') if options.get('env') is not None else dict(os.environ)}")
        real(self, args, *rest, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", recorded)
    item = shop.applied()
    shop.told("promote", item, "--to", "docs/evidence")  # git
    print_all = "import json, os, sys; print(json.dumps([dict(os.environ), sys.argv]))"
    seen = child.run([sys.executable, "-c", print_all], b"", timeout_s=60)  # as a reviewer or a drafter is run

    secret = (Path(os.environ["RECALL_HOME"]) / "keys" / "approval.key").read_text().strip()
    assert any("check-ignore" in one for one in started)
    for text in [*started, seen.decode()]:
        assert secret not in text
        assert "approval.key" not in text
    assert os.environ["RECALL_HOME"] not in seen.decode()
    said = shop("coord", "read").out + shop("health").out + shop("log").out
    assert secret not in said


@pytest.mark.skipif(os.name != "posix", reason="a terminal in pairs")
def test_the_terminal_is_asked_and_what_was_typed_before_is_dropped() -> None:
    master, slave = os.openpty()
    console = _Console((slave, slave))
    os.write(master, b"typed before\n")

    class Late(_Console):
        def _write(self, text: str) -> None:
            super()._write(text)
            os.write(master, b"abcdef\n")

    assert Late((slave, slave)).ask("type abcdef") == "abcdef"
    console.say("a bell \x07 and \u202e turned")
    shown = ""
    while "turned" not in shown:
        shown += os.read(master, 4096).decode()
    assert "a bell \\x07 and \\u202e turned" in shown
    os.close(master)
    with pytest.raises(NotConfirmed):
        console.ask("anybody?")
    os.close(slave)
