"""`recall memory`, each command as a user runs it."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.command import runner
from support.memory_folder import make_memory_folder
from support.person import sit_down
from support.record import NOW, make_draft

from recall.cli.app import App
from recall.cli.caller import AGENTS
from recall.cli.memory_folder import take_folders
from transcript.log import Log
from transcript.memories import fold_memories
from transcript.memory_words import MEMORY_TYPES
from transcript.proposals import fold_proposals
from transcript.verify import verify

SAID = "The importer reads every file twice, because the first pass counts the lines. Ports come from config.toml."
RIGHT = "The importer reads every file once since the counter was removed."


@pytest.fixture
def recall(capsys, tmp_path, monkeypatch):
    """Run one command line in a project in which the agent and the user said something."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECALL_ACTOR", "human:ana")

    call = runner(capsys)

    assert call("init").code == 0
    sit_down(monkeypatch)
    log = Log(App.here().workspace())
    log.append(
        [
            make_draft("said", text=SAID, body={"kind": "reply"}, actor="assistant", ts="2026-01-06T10:00:00.000Z"),
            make_draft("right", text=RIGHT, ts="2026-02-06T10:00:00.000Z"),
        ],
        now=NOW,
    )
    call.log = log  # type: ignore[attr-defined]
    call.folder = folder / ".recall" / "memory"  # type: ignore[attr-defined]
    return call


def pointer(name: str, text: str, part: str) -> str:
    at = text.index(part)
    return f"{make_draft(name).id[:10]}#{at}-{at + len(part)}"


TWICE = "The importer reads every file twice, because the first pass counts the lines."


def added(recall, text: str = TWICE, *more: str) -> str:
    done = recall(
        "memory", "add", text, "--why", "measured", "--evidence", pointer("said", SAID, TWICE), "--json", *more
    )
    assert done.code == 0, done.err
    return next(one["id"] for one in json.loads(done.out)["events"] if one["type"] == "memory.written")


def memories(recall):
    return fold_memories(recall.log).memories


def test_what_its_evidence_says_is_added_as_a_claim_and_listed(recall):
    memory = added(recall, TWICE, "--tag", "io", "--type", "known_failure")

    [row] = recall("memory", "list", "--json").rows()
    assert (row["id"], row["label"], row["state"], row["tags"]) == (memory, "claim", "current", ["io"])
    assert recall("memory", "list").out.startswith(f"{memory[:10]} current    known_failure   0.00 {TWICE[:40]}")
    assert [path.name for path in recall.folder.glob("*.md") if path.name != "MEMORY.md"] == [
        f"the-importer-reads-every-file-twice-beca-{memory[:10]}.md"
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "it has no evidence"),
        (["--why", "measured"], "it has no evidence"),
        (["--evidence", "{said}"], "it has no reason"),
        (["--why", "measured", "--evidence", "{ports}"], "its evidence does not say it"),
    ],
)
def test_what_lacks_evidence_or_a_reason_is_an_inference_and_said_so(recall, options, reason):
    """LCA-4.2-10."""
    places = {"said": pointer("said", SAID, TWICE), "ports": pointer("said", SAID, "Ports come from config.toml.")}

    done = recall("memory", "add", TWICE, *(option.format(**places) for option in options))

    assert f"kept as an inference: {reason}" in done.out
    assert [memory.label for memory in memories(recall).values()] == ["inference"]


def test_said_again_it_is_not_remembered_twice(recall):
    memory = added(recall)

    done = recall("memory", "add", TWICE, "--why", "measured", "--evidence", pointer("said", SAID, TWICE))

    assert done.out == f"{memory[:10]} says that already\n"
    assert len(memories(recall)) == 1


def test_what_contradicts_a_memory_is_refused_with_both_pointers(recall):
    memory = added(recall)
    before = recall.log.head().seq

    done = recall(
        "memory", "add", "The importer never reads every file twice, because the first pass counts the lines."
    )

    assert done.code == 1
    assert f"it contradicts {memory[:10]}#0-" in done.err
    assert recall.log.head().seq == before


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\u200d\u200d", "\u202e", "\U000e0041"])
def test_an_unseen_character_hides_no_contradiction(recall, mark):
    memory = added(recall)

    done = recall(
        "memory", "add", f"The impo{mark}rter never reads every file twice, because the first pass counts the lines."
    )

    assert done.code == 1
    assert f"it contradicts {memory[:10]}#0-" in done.err


def test_what_nobody_sees_is_not_remembered(recall):
    recall("memory", "add", "The \x1b[1mpro\u200bxy\U000e0041 greets 👩\u200d🚀 twice")

    assert [memory.statement for memory in memories(recall).values()] == ["The [1mproxy greets 👩\u200d🚀 twice"]


def test_too_long_and_secret_statements_are_refused(recall):
    long = recall("memory", "add", "word " * 200)
    secret = recall("memory", "add", "The key is AKIAQ3EGRZ7XWPLMNB5T for the store")

    assert (long.code, secret.code) == (1, 1)
    assert "at most 400 (consolidation.statement_chars)" in long.err
    assert "holds a credential" in secret.err
    assert memories(recall) == {}


@pytest.mark.parametrize("words", ["", " \n "])
@pytest.mark.parametrize(
    "command",
    [
        ("memory", "add", "{words}"),
        ("memory", "edit", "{memory}", "--statement", "{words}"),
        ("memory", "correct", "{memory}", "--because", "{said}", "{words}"),
        ("memory", "archive", "{memory}", "--reason", "{words}"),
    ],
)
def test_what_has_no_words_is_refused(recall, command, words):
    memory = added(recall)
    before = recall.log.head().seq

    done = recall(*(part.format(words=words, memory=memory[:10], said=make_draft("said").id[:10]) for part in command))

    assert done.code == 1
    assert "has no words" in done.err
    assert recall.log.head().seq == before


@pytest.mark.parametrize("begins", [("--valid-from", "2026-05-01"), ()])
def test_a_memory_that_would_never_hold_is_refused(recall, begins):
    done = recall("memory", "add", TWICE, *begins, "--valid-to", "2026-04-01")

    assert (done.code, memories(recall)) == (2, {})
    assert "it would never hold" in done.err


def test_a_day_that_ends_an_interval_belongs_to_it(recall):
    memory = added(recall, TWICE, "--valid-from", "2026-05-01", "--valid-to", "2026-05-01")
    ended = recall("memory", "edit", memory[:10], "--valid-to", "2026-04-30")

    held = memories(recall)[memory]
    assert (held.valid_from, held.valid_to) == ("2026-05-01T00:00:00.000Z", "2026-05-02T00:00:00.000Z")
    assert held.state_at(datetime(2026, 5, 1, 23, 59, 59, tzinfo=UTC)) == "current"
    assert (ended.code, "not after 2026-05-01" in ended.err) == (2, True)
    exact = recall("memory", "edit", memory[:10], "--valid-to", "2026-05-01T14:00+02:00")
    assert (exact.code, memories(recall)[memory].valid_to) == (0, "2026-05-01T12:00:00.000Z")


def test_what_its_evidence_does_not_say_is_left_out_and_said_so(recall):
    done = recall(
        "memory", "add", f"{TWICE} The moon is cheese.", "--why", "measured", "--evidence", pointer("said", SAID, TWICE)
    )

    [memory] = memories(recall).values()
    assert memory.text.startswith(TWICE)
    assert f": {TWICE}; the rest is left out" in done.out


def test_another_wording_takes_the_place_of_the_old_one(recall):
    old = added(recall)

    done = recall("memory", "edit", old[:10], "--statement", "The importer reads each file two times.")

    new = next(memory for memory in memories(recall).values() if memory.id != old)
    assert done.out == f"{old[:10]} is superseded by {new.id[:10]} (edit)\n"
    assert memories(recall)[old].superseded_by == new.id
    assert (new.reason, new.supersedes, new.why) == ("edit", (old,), "measured")
    assert [row["id"] for row in recall("memory", "list", "--json").rows()] == [new.id]


def test_another_wording_holds_when_the_old_one_held(recall):
    """Since when it holds and since when it is said are two things: the interval goes along whole."""
    since, until = "2026-05-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"
    old = added(recall, TWICE, "--valid-from", since, "--valid-to", until)

    done = recall("memory", "edit", old[:10], "--statement", "The importer reads each file two times.")

    held = memories(recall)
    new = next(memory for memory in held.values() if memory.id != old)
    assert (done.code, new.valid_from, new.valid_to) == (0, since, until)
    assert (held[old].valid_from, held[old].valid_to) == (since, since)


@pytest.mark.parametrize("begins", [(), ("--valid-from", "2026-05-01")])
def test_a_correction_by_older_words_leaves_an_interval_in_which_it_never_held(recall, begins):
    """The words that show it were said before the memory: it was wrong from the beginning."""
    made = recall("memory", "add", RIGHT, "--evidence", pointer("right", RIGHT, RIGHT), *begins, "--json").out
    old = next(one["id"] for one in json.loads(made)["events"] if one["type"] == "memory.written")

    done = recall("memory", "correct", old[:10], "--because", pointer("said", SAID, TWICE), TWICE)

    held = memories(recall)
    new = next(memory for memory in held.values() if memory.id != old)
    assert (done.code, held[old].superseded_by, held[old].valid_to) == (0, new.id, held[old].valid_from)
    assert (new.valid_from, new.valid_to) == ("2026-01-06T10:00:00.000Z", "")
    shown = json.loads(recall("memory", "show", old[:10], "--json").out)
    assert shown["valid_from"] <= shown["valid_to"]


def test_what_stands_around_a_statement_is_amended(recall):
    memory = added(recall, TWICE, "--tag", "io")

    done = recall(
        "memory", "edit", memory[:10], "--tag", "git", "--untag", "io", "--valid-to", "2030-01-01", "--private"
    )

    assert done.code == 0, done.err
    held = memories(recall)[memory]
    assert (held.tags, held.valid_to, held.privacy) == (("git",), "2030-01-02T00:00:00.000Z", "private")
    assert recall("memory", "edit", memory[:10]).code == 2


def test_another_reason_is_indexed_and_stands_where_pointers_of_the_old_one_do_not(recall):
    old = added(recall)
    recall("index", "--words-only")

    done = recall("memory", "edit", old[:10], "--why", "the zanzibar benchmark measured it")

    assert done.code == 0, done.err
    new = next(memory for memory in memories(recall).values() if memory.id != old)
    assert (new.statement, new.why, new.label) == (TWICE, "the zanzibar benchmark measured it", "claim")
    assert memories(recall)[old].superseded_by == new.id
    assert recall.log.text(recall.log.get(new.id)) == new.text
    assert recall("query", "zanzibar benchmark", "--json").rows()[0]["pointer"].startswith(new.id[:10])
    again = recall("memory", "edit", new.id[:10], "--why", "the zanzibar benchmark measured it")
    assert (again.code, "says that already" in again.err) == (1, True)


def test_a_correction_replaces_at_once_and_names_what_shows_it(recall):
    """LCA-12.3-01."""
    old = added(recall)

    done = recall("memory", "correct", old[:10], "--because", pointer("right", RIGHT, RIGHT), RIGHT)

    assert done.code == 0, done.err
    new = next(memory for memory in memories(recall).values() if memory.id != old)
    assert (new.reason, new.label, new.statement) == ("correction", "claim", RIGHT)
    assert new.valid_from == "2026-02-06T10:00:00.000Z"
    held = memories(recall)[old]
    assert held.valid_to == held.valid_from > new.valid_from  # it was remembered after that had been said
    assert (recall.folder / "past").is_dir()


def test_without_a_statement_a_correction_refutes(recall):
    old = added(recall)

    done = recall("memory", "correct", old[:10], "--because", make_draft("right").id[:10])

    assert done.code == 0, done.err
    assert recall("memory", "list", "--state", "refuted", "--json").rows()[0]["id"] == old
    assert recall("memory", "list", "--json").rows() == []


@pytest.mark.parametrize("said", ["", "valid_from: 2020-01-01\n"], ids=["newer", "older"])
def test_words_whose_replacement_was_wrong_hold_again(recall, tmp_path, said):
    folder = make_memory_folder(tmp_path / "notes", files=1, nested=0, critical=0)
    recall("memory", "import", str(folder))
    (folder / "memory-000.md").write_text(f"---\ntype: project\n{said}---\n\nModule 0 listens on port 9999.\n")
    other = folder.rename(tmp_path / "other")
    recall("memory", "import", str(other))
    [row] = recall("memory", "list", "--proposals", "--json").rows()
    assert recall("memory", "accept", row["id"][:10]).code == 0
    [new] = recall("memory", "list", "--json").rows()
    recall("index", "--words-only")

    done = recall("memory", "correct", new["id"][:10], "--because", make_draft("right").id[:10])

    [held] = recall("memory", "list", "--json").rows()
    assert held["statement"] == "Module 0 listens on port 8000."
    assert f"{held['id'][:10]} says again what it had replaced" in done.out
    old = next(m for m in memories(recall).values() if m.statement == held["statement"] and m.id != held["id"])
    assert (old.superseded_by, held["valid_from"], held["valid_to"]) == (held["id"], old.valid_from, "")
    assert recall("query", "which port for module 0", "--json").rows()[0]["pointer"].startswith(held["id"][:10])
    assert verify(recall.log.workspace).ok


def test_what_a_person_had_corrected_does_not_come_back(recall):
    old = added(recall)
    recall("memory", "correct", old[:10], "--because", pointer("right", RIGHT, RIGHT), RIGHT)
    [new] = recall("memory", "list", "--json").rows()

    assert recall("memory", "correct", new["id"][:10], "--because", make_draft("said").id[:10]).code == 0

    assert recall("memory", "list", "--json").rows() == []


def test_a_correction_names_what_opens(recall):
    old = added(recall)

    done = recall("memory", "correct", old[:10], "--because", "zzzzzzzzzz")

    assert done.code == 1
    assert "zzzzzzzzzz" in done.err


def test_an_agent_does_not_replace_a_persons_word(recall):
    old = added(recall)
    agent = ("--actor", "codex", "--as", "agent")

    done = recall("memory", "correct", old[:10], "--because", pointer("said", SAID, TWICE), "It reads nothing.", *agent)
    by_a_persons_message = recall(
        "memory", "correct", old[:10], "--because", make_draft("right").id[:10], RIGHT, *agent
    )

    assert done.code == 1
    assert "is a person's word" in done.err
    assert by_a_persons_message.code == 0, by_a_persons_message.err


AGENT = ("--actor", "codex", "--as", "agent")


def edited(recall) -> str:
    """What waits after a file of a memory was changed by hand."""
    [path] = recall.folder.glob("the-*.md")
    path.write_text(path.read_text("utf-8").replace("twice", "thrice"), "utf-8")
    return str(recall("memory", "list", "--proposals", "--json").rows()[0]["id"])


def command_about(recall, command: str) -> tuple[str, ...]:
    memory = added(recall)
    if command == "restore":
        recall("memory", "archive", memory[:10], "--reason", "gone")
    if command in ("accept", "decline"):
        return "memory", command, edited(recall)[:10]
    return "memory", command, memory[:10], "--reason", "x"


@pytest.mark.parametrize("command", ["archive", "restore", "accept"])
def test_what_an_agent_asks_for_waits_for_a_person_who_signs_it(recall, command):
    """ASM-17, C-08: an agent's command is a proposal; approved and applied it has the command's effect."""
    words = command_about(recall, command)
    before = memories(recall)

    asked = recall(*words, *AGENT)
    again = recall(*words, *AGENT, "--json")

    assert (asked.code, again.code) == (1, 1)
    assert "waits for a person: 'recall coord review" in asked.out
    name = again.rows()[0]["proposal_id"]
    assert asked.out.startswith(name[:8])  # the same proposal, not a second one
    assert memories(recall) == before
    assert recall("coord", "apply", name).code == 1
    assert recall("coord", "decide", name, "approve", "--rationale", "yes").code == 0
    assert memories(recall) == before
    assert recall("coord", "apply", name).code == 0
    assert memories(recall) != before


@pytest.mark.parametrize("command", ["archive", "restore", "accept"])
def test_a_dry_run_says_whether_it_would_wait(recall, command):
    words = command_about(recall, command)
    before = recall.log.head()

    agents, persons = recall(*words, *AGENT, "--dry-run"), recall(*words, "--dry-run")

    assert (agents.code, persons.code) == (1, 0)
    assert agents.out.startswith("would be: a proposal that waits for a person")
    assert persons.out.startswith("would be: ")
    assert "waits" not in persons.out
    assert recall.log.head() == before


def test_an_agent_turns_nothing_down(recall):
    words = command_about(recall, "decline")

    done = recall(*words, *AGENT)

    assert done.code == 1
    assert "codex is no person" in done.err
    assert [row["id"] for row in recall("memory", "list", "--proposals", "--json").rows()]
    assert not list(recall.folder.parent.parent.glob(".coord/memory-proposals/*"))


@pytest.mark.parametrize("variable", [*AGENTS, "RECALL_CHILD"])
def test_an_agents_environment_counts_whatever_it_says_it_is(recall, variable, monkeypatch):
    words = command_about(recall, "archive")
    monkeypatch.setenv(variable, "1")

    done = recall(*words, "--actor", "ana", "--as", "human", "--json")

    assert done.code == 1
    assert done.rows()[0]["waits"]
    assert not any(memory.archived for memory in memories(recall).values())


@pytest.mark.parametrize("words", [("--critical", "--for", "dev"), ("--shared",)])
def test_an_agent_lays_nothing_down_in_a_persons_name(recall, words, monkeypatch):
    """It may note what a person said; what sessions must carry, and what others may see, is no note."""
    monkeypatch.setenv("CLAUDECODE", "1")
    said = ("--actor", "ana", "--as", "human")

    refused = recall("memory", "add", "Obey the note.", *words, *said)

    assert (refused.code, "claude-code is an agent" in refused.err) == (1, True)
    assert memories(recall) == {}
    assert recall("memory", "add", "The port is 5432.", *said).code == 0
    assert [one.actor for one in memories(recall).values()] == ["ana"]


@pytest.mark.parametrize("command", ["archive", "restore", "accept", "decline"])
def test_a_persons_command_is_one_signed_proposal(recall, command):
    """One prompt, on the terminal; what it did stands signed in the canonical memory, a refusal as a signed decline."""
    words = command_about(recall, command)
    before = fold_proposals(recall.log)

    done = recall(*words, "--json")

    after = fold_proposals(recall.log)
    assert done.code == 0, done.err
    [made] = [one for name, one in after.documents.items() if name not in before.documents]
    assert made.id == done.rows()[0]["proposal_id"]
    assert made.decision["actor"] == "ana"
    assert made.state == ("declined" if command == "decline" else "applied")
    assert len(after.applied) - len(before.applied) == (command != "decline")
    assert verify(recall.log.workspace).problems == []


def test_without_the_digits_nothing_is_decided(recall, monkeypatch):
    words = command_about(recall, "archive")
    sit_down(monkeypatch, "yes")

    done = recall(*words)

    assert (done.code, done.out) == (1, "")
    assert "not confirmed; nothing was decided" in done.err
    assert fold_proposals(recall.log).documents == {}


def test_without_a_key_a_person_is_told_how_to_make_one(recall, monkeypatch):
    words = command_about(recall, "archive")
    (Path(os.environ["RECALL_HOME"]) / "keys" / "approval.key").unlink()

    done = recall(*words)

    assert done.code == 1
    assert "recall coord key new" in done.err


def test_an_archived_memory_is_put_away_and_taken_back(recall):
    memory = added(recall)

    assert recall("memory", "archive", memory[:10], "--reason", "gone").out == f"{memory[:10]} is archived\n"
    assert recall("memory", "list", "--json").rows() == []
    again = recall("memory", "archive", memory[:10], "--reason", "gone")
    assert again.code == 1
    assert recall("memory", "restore", memory[:10], "--reason", "back").code == 0
    assert [row["id"] for row in recall("memory", "list", "--json").rows()] == [memory]


def test_an_edited_file_is_proposed_and_accepted(recall):
    old = added(recall)
    [path] = recall.folder.glob("the-*.md")
    path.write_text(path.read_text("utf-8").replace("twice", "exactly twice"), "utf-8")

    [row] = recall("memory", "list", "--proposals", "--json").rows()
    done = recall("memory", "accept", row["id"][:10])

    assert (row["found_by"], row["reason"]) == ("hand_edit", "awaits_person")
    assert done.code == 0, done.err
    new = next(memory for memory in memories(recall).values() if memory.id != old)
    assert done.out == f"{new.id[:10]} takes the place of {old[:10]} (hand_edit)\n"
    assert new.statement == TWICE.replace("twice", "exactly twice")
    assert recall("memory", "list", "--proposals", "--json").rows() == []
    assert recall("memory", "accept", row["id"][:10]).code == 1


def test_what_was_declined_is_not_proposed_again(recall):
    added(recall)
    [path] = recall.folder.glob("the-*.md")
    changed = path.read_text("utf-8").replace("twice", "exactly twice")
    path.write_text(changed, "utf-8")
    [row] = recall("memory", "list", "--proposals", "--json").rows()

    assert recall("memory", "decline", row["id"][:10]).code == 0
    path.write_text(changed, "utf-8")

    assert recall("memory", "list", "--proposals", "--json").rows() == []
    assert len(memories(recall)) == 1


def test_show_names_each_claim_with_the_place_that_says_it(recall):
    memory = added(recall, TWICE, "--avoid", "cat", "--instead", "wc")

    shown = recall("memory", "show", memory[:10])
    held = json.loads(recall("memory", "show", memory[:10], "--json").out)

    assert f"  quoted   {pointer('said', SAID, TWICE)}  {TWICE}" in shown.out.splitlines()
    assert "  avoid cat, do wc instead" in shown.out.splitlines()
    assert "  E 0.00 (raw 0): nothing yet; shown 0" in shown.out.splitlines()
    assert (held["hits"], held["injected"], held["experience"]) == (0, 0, 0.0)


def test_history_tells_from_the_proposal_to_the_end(recall):
    """LCA-4.3-08."""
    memory = added(recall)
    recall("memory", "archive", memory[:10], "--reason", "gone")

    rows = recall("memory", "history", memory[:10], "--json").rows()

    kinds = ["candidate", "verdict", "decided", "written", "archived"]
    assert [row["type"] for row in rows] == [f"memory.{kind}" for kind in kinds]
    assert (rows[-1]["actor"], rows[-1]["text"]) == ("human:ana", "gone")
    assert recall("memory", "history", rows[0]["id"][:10], "--json").rows() == rows


def test_an_unknown_name_says_where_to_look(recall):
    done = recall("memory", "show", "zzzz")

    assert (done.code, done.err) == (
        1,
        "recall: no memory is called 'zzzz'; 'recall memory list --state all' shows them\n",
    )


def test_asked_for_the_past_a_memory_that_ended_says_until_when_it_held(recall):
    recall("memory", "add", TWICE, "--valid-from", "2025-01-01", "--valid-to", "2026-01-01")
    recall("index", "--words-only")

    past = recall("query", "how often did the importer originally read every file?", "--words-only").out

    assert ", until 2026-01-01" in next(line for line in past.splitlines() if "memory, inference" in line)


def test_an_empty_name_is_no_memory_where_something_waits(recall):
    recall("memory", "add", TWICE, "--worker", "w1", "--as", "agent", "--actor", "codex")

    assert "no memory is called ''" in recall("memory", "show", "").err


def test_dry_runs_write_nothing(recall, tmp_path):
    memory = added(recall)
    make_memory_folder(tmp_path / "notes", files=3, nested=1, critical=0)
    before = recall.log.head().seq

    for command in (
        ("add", "Something else holds."),
        ("edit", memory[:10], "--statement", "Otherwise."),
        ("correct", memory[:10], "--because", make_draft("right").id[:10]),
        ("archive", memory[:10], "--reason", "x"),
        ("import", str(tmp_path / "notes")),
        ("backfill-validity",),
    ):
        assert recall("memory", *command, "--dry-run").code == 0

    assert recall.log.head().seq == before


def test_a_folder_is_taken_in_once_and_its_faults_are_named(recall, tmp_path):
    folder = make_memory_folder(tmp_path / "notes", files=12, nested=4, critical=1)
    (folder / "x.md").write_text("---\ntype: note\n---\n\ntext\n")

    done = recall("memory", "import", str(folder))
    again = recall("memory", "import", str(folder))

    assert done.code == 1
    assert done.out.splitlines()[0].startswith(
        "12 loaded (8 flat, 4 nested), 1 not: x.md (unknown type 'note'; known are"
    )
    assert done.out.splitlines()[1] == "12 memories new, 0 known, 0 waiting"
    assert again.out.splitlines()[1] == "0 memories new, 12 known, 0 waiting"
    held = list(memories(recall).values())
    assert {memory.label for memory in held} == {"inference"}
    assert [memory.critical_for for memory in held if memory.critical_for] == [("any",)]


def test_a_file_that_changed_takes_the_place_of_what_it_said(recall, tmp_path):
    folder = make_memory_folder(tmp_path / "notes", files=2, nested=0, critical=0)
    recall("memory", "import", str(folder))
    path = folder / "memory-001.md"
    path.write_text(path.read_text().replace("listens on port 8001", "is gone"))

    done = recall("memory", "import", str(folder))

    assert done.out.splitlines()[1] == "1 memory new, 1 known, 0 waiting"
    old, new = (
        next(m for m in memories(recall).values() if m.statement == text)
        for text in ("Module 1 listens on port 8001.", "Module 1 is gone.")
    )
    assert (old.superseded_by, new.supersedes) == (new.id, (old.id,))


def test_an_import_that_contradicts_waits(recall, tmp_path):
    first = make_memory_folder(tmp_path / "one", files=2, nested=0, critical=0)
    recall("memory", "import", str(first))
    other = make_memory_folder(tmp_path / "two", files=1, nested=0, critical=0)
    (other / "memory-000.md").write_text("---\ntype: project\n---\n\nModule 0 listens on port 9999.\n")

    done = recall("memory", "import", str(other))

    assert done.out.splitlines()[1] == "0 memories new, 0 known, 1 waiting"
    [row] = recall("memory", "list", "--proposals", "--json").rows()
    assert (row["reason"], row["text"]) == ("contradiction", "Module 0 listens on port 9999.")
    accepted = recall("memory", "accept", row["id"][:10])
    assert accepted.code == 0, accepted.err
    assert "Module 0 listens on port 8000." not in [
        one["statement"] for one in recall("memory", "list", "--json").rows()
    ]


def test_what_was_replaced_since_a_file_said_it_stays_replaced(recall, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("---\ntype: fix\ncreated: 2026-01-01\n---\n\nThe drawer has no lock.\n")
    assert recall("memory", "import", str(tmp_path / "notes")).code == 0
    [old] = recall("memory", "list", "--json").rows()
    because = make_draft("right").id[:10]
    assert recall("memory", "correct", old["id"][:10], "--because", because, "The drawer takes a brass key.").code == 0
    [new] = recall("memory", "list", "--json").rows()
    (tmp_path / "notes").rename(tmp_path / "copies")
    path = tmp_path / "copies" / "one.md"
    path.write_text(path.read_text().replace("fix", "project"))

    done = recall("memory", "import", str(tmp_path / "copies"))

    assert done.out.splitlines()[1:] == [
        "0 memories new, 0 known, 0 waiting, 1 replaced since",
        f"  one.md: {new['id'][:10]} took the place of what it says",
    ]
    assert [row["id"] for row in recall("memory", "list", "--json").rows()] == [new["id"]]


def test_validity_is_filled_in_and_told(recall):
    """LCA-14-04."""
    old = added(recall)
    recall("memory", "correct", old[:10], "--because", make_draft("right").id[:10], RIGHT)
    recall("memory", "add", "A third thing holds.")

    done = json.loads(recall("memory", "backfill-validity", "--json").out)

    assert (done["memories"], done["begun"], done["replaced"], done["ended"], done["share"]) == (3, 3, 1, 1, 1.0)


def test_status_counts_the_passages_of_every_memory_of_any_size(recall, tmp_path):
    """LCA-D-02d: the list of a folder and a very large memory are indexed like any other."""
    folder = make_memory_folder(tmp_path / "notes", files=2, nested=0, critical=0)
    large = "\n\n".join(f"Chapter {n} tells how machine {n} is drained before it is updated." for n in range(900))
    (folder / "large.md").write_text(f"---\ntype: runbook\n---\n\n{large}\n")
    (folder / "MEMORY.md").write_text("# Memories\n\n- [one](memory-000.md) about module 0\n")
    assert recall("memory", "import", str(folder)).code == 0
    assert recall("index", "--words-only").code == 0

    held = recall("index", "status", "--json").rows()[0]["memories"]

    assert set(held["imported"]) == {
        f"notes/{name}" for name in ("MEMORY.md", "large.md", "memory-000.md", "memory-001.md")
    }
    assert held["imported"]["notes/MEMORY.md"] == 1
    assert held["imported"]["notes/large.md"] > 15
    assert all(held["files"].values())
    assert "4 imported files in" in recall("index", "status").out


@pytest.mark.parametrize("kind", MEMORY_TYPES)
def test_a_file_of_each_type_is_loaded_and_recalled(recall, tmp_path, kind):
    """LCA-4.3-01."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text(f"---\ntype: {kind}\n---\n\nThe wagtail drawer opens with the brass key.\n")
    assert recall("memory", "import", str(folder)).code == 0
    assert recall("index", "--words-only").code == 0

    [memory] = memories(recall).values()
    rows = recall("query", "wagtail drawer brass key", "--json").rows()

    assert memory.memory_type == kind
    assert rows[0]["pointer"].startswith(memory.id[:10])


def test_what_a_folder_says_was_superseded_is_not_current(recall, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "old.md").write_text(
        "---\ntype: project\nsuperseded_by: new.md\ncreated: 2026-01-01\n---\n\nCI runs on Jenkins.\n"
    )
    (folder / "new.md").write_text("---\ntype: project\ncreated: 2026-02-01\n---\n\nCI runs on Woodpecker.\n")
    (folder / "gone.md").write_text(
        "---\ntype: project\nsuperseded_by: nowhere\ncreated: 2026-01-01\n---\n\nBackups go to tape.\n"
    )

    assert recall("memory", "import", str(folder)).code == 0

    states = {row["statement"]: row["state"] for row in recall("memory", "list", "--state", "all", "--json").rows()}
    assert states == {
        "CI runs on Jenkins.": "superseded",
        "CI runs on Woodpecker.": "current",
        "Backups go to tape.": "expired",
    }


@pytest.mark.parametrize(
    ("keys", "interval"),
    [
        ("valid_to: 2026-01-31", ("", "2026-02-01T00:00:00.000Z")),
        ("created: 2026-03-01\nvalid_to: 2026-01-31", ("", "2026-02-01T00:00:00.000Z")),
        ("created: 2026-01-01\nvalid_to: 2026-01-31", ("2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z")),
        ("valid_from: 2026-01-31\nvalid_to: 2026-01-31", ("2026-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z")),
    ],
)
def test_a_file_that_held_in_the_past_alone_is_taken_in_as_expired(recall, tmp_path, keys, interval):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text(f"---\ntype: project\n{keys}\n---\n\nThe pilot ran on the old host.\n")

    done = recall("memory", "import", str(folder))

    assert done.code == 0, done.out
    [row] = recall("memory", "list", "--state", "expired", "--json").rows()
    assert (row["valid_from"], row["valid_to"]) == interval
    assert recall("memory", "backfill-validity").code == 0
    assert memories(recall)[row["id"]].valid_from == interval[0]


def test_a_file_that_would_never_hold_is_named_with_both_dates(recall, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("---\ntype: project\nvalid_from: 2026-02-01\nvalid_to: 2026-01-30\n---\n\nNo.\n")

    done = recall("memory", "import", str(folder))

    assert done.code == 1
    assert "one.md (valid_to '2026-01-30' is not after valid_from '2026-02-01': it would never hold)" in done.out


def test_the_folders_of_the_setting_are_taken_in_with_every_run_and_once(recall, tmp_path, monkeypatch):
    folder = make_memory_folder(tmp_path / "notes", files=8, nested=2, critical=0)
    monkeypatch.setenv("RECALL_MEMORY_FOLDERS", os.pathsep.join([str(folder), str(tmp_path / "nowhere")]))
    app = App.here()

    added = [take_folders(app, app.workspace()) for _ in range(2)]

    held = memories(recall).values()
    assert {memory.memory_type for memory in held} == {
        "user_preference",
        "project_fact",
        "design_decision",
        "known_failure",
    }
    assert added[0] > len(held)
    assert added[1] == 0
    waiting = recall("memory", "list", "--proposals", "--json").rows()
    assert {row["type"] for row in waiting} == {"runbook"}


def test_what_is_said_again_after_it_was_replaced_holds_again(recall, tmp_path):
    """An id follows from what is said: said again, it must not lead back into its own past."""
    first = added(recall)
    recall("memory", "edit", first[:10], "--statement", "The importer reads each file two times.")
    [row] = recall("memory", "list", "--json").rows()
    assert recall("memory", "edit", row["id"][:10], "--statement", TWICE).code == 0
    folder = make_memory_folder(tmp_path / "notes", files=1, nested=0, critical=0)
    path = folder / "memory-000.md"
    text = path.read_text()
    for now in (text, text.replace("listens on port 8000", "is gone"), text, text):
        path.write_text(now)
        assert recall("memory", "import", str(folder)).code == 0

    held = sorted(row["statement"] for row in recall("memory", "list", "--json").rows())

    assert held == ["Module 0 listens on port 8000.", TWICE]
    assert [problem for problem in verify(recall.log.workspace).problems if problem.code.startswith("memory_")] == []


def test_a_sub_agent_proposes_and_changes_nothing(recall):
    memory = added(recall)
    worker = ("--worker", "w1", "--actor", "codex", "--as", "agent")

    corrected = recall("memory", "correct", memory[:10], "--because", make_draft("right").id[:10], *worker)
    proposed = recall(
        "memory", "add", "Ports come from config.toml.", "--evidence", pointer("said", SAID, TWICE), *worker
    )

    assert (corrected.code, proposed.code) == (1, 0)
    assert "counts through consolidation" in corrected.err
    assert list(memories(recall)) == [memory]
    held = [one for one in fold_memories(recall.log).candidates.values() if one.body["worker"] == "w1"]
    assert [one.decided for one in held] == [None]


def test_what_waits_is_shown_whole_with_what_verification_found(recall):
    memory = added(recall)
    text = f"{TWICE.replace('twice', 'exactly twice')} {'It does so on every run of the nightly job. ' * 3}".strip()
    [path] = recall.folder.glob("the-*.md")
    path.write_text(path.read_text("utf-8").replace(TWICE, text), "utf-8")
    [row] = recall("memory", "list", "--proposals", "--json").rows()

    shown = recall("memory", "show", row["id"][:10])
    held = json.loads(recall("memory", "show", row["id"][:10], "--json").out)

    assert shown.out.splitlines()[:2] == [f"{row['id'][:10]} waits: awaits_person project_fact", text]
    assert f"  in the place of {memory[:10]}#0-" in shown.out
    assert f"'recall memory accept {row['id'][:10]}' takes it in" in shown.out
    assert (held["text"], held["waits"], held["replaces"]) == (text, True, row["replaces"])
    assert recall("memory", "decline", row["id"][:10]).code == 0
    assert recall("memory", "show", row["id"][:10]).out.startswith(f"{row['id'][:10]} decided: declined")
