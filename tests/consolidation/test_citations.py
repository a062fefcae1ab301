"""Citations, prevented mistakes and adoptions: found in a record, and what a run makes of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.dialogue import Dialogue
from support.memory_events import AT, PLACE
from support.memory_events import written as a_memory
from support.record import NOW
from support.running import Running, make_running

from consolidation.adopt import adopt
from consolidation.apply import apply
from consolidation.citations import cited
from consolidation.experience import experience_of
from consolidation.prevented import prevented
from consolidation.settings import Settings
from consolidation.span import words
from indexer import writer
from indexer.settings import IndexSettings
from indexer.store import Store
from recall.memory_settings import ExperienceSettings
from transcript import memory_drafts as drafts
from transcript.event import Draft
from transcript.injected import OPEN_PHRASE
from transcript.log import Log
from transcript.memories import Span, fold_memories, span_of_body

PORT = a_memory("The importer listens on 7431 behind gate_two.")
PNPM = a_memory("Use pnpm, never npm, in this repository.", mistake=("npm", "pnpm"))
BEGUN = "s0"


def asked(talk: Dialogue, prompt: str, *shown: Draft, mode: str = "warm", **row: Any) -> str:
    """Let recall show memories for a prompt, and the person send it; return the id of the turn's row."""
    items = [
        {"event": one.id, "pointer": one.id[:10], "start": 0, "end": len(one.body["text"]), "R": 0.5} for one in shown
    ]
    body = {"mode": mode, "prompt": prompt, "asked_in": talk.session, "items": items, **row}
    turn = talk.event("recall", body, actor="system")
    talk.prompt(prompt)
    return turn


def begun(*memories: Draft) -> Dialogue:
    """Return a talk whose record begins with a known event, and memories."""
    talk = Dialogue(BEGUN)
    talk.prompt("hello")
    for memory in memories:
        talk.curated(memory)
    return talk.begin("s1")


def found(log: Log, **since: Any) -> list[Draft]:
    return cited(log, since.get("since"), fold_memories(log, snapshot=False))


def told(found: Sequence[Draft]) -> list[tuple[str, str, str]]:
    return [(one.body["session"], one.body["of"][:10], one.body["how"]) for one in found]


def test_an_answer_that_names_a_pointer_cites_what_it_stands_for(tmp_path: Path) -> None:
    talk = begun(PORT)
    turn = asked(talk, "which port?", PORT, cwd=str(tmp_path / "project"), role="ops")
    talk.reply(f"It has the port of [{PORT.id[:10]}#0-45].")
    log = talk.log(tmp_path)

    (citation,) = found(log)

    assert told([citation]) == [("s1", PORT.id[:10], "named")]
    assert {n: citation.body[n] for n in ("turn", "project", "role")} == {
        "turn": turn, "project": "project", "role": "ops",
    }  # fmt: skip
    assert words(log, span_of_body(citation.body["answer"]), log.workspace.id_key()) == PORT.id[:10]
    assert citation.ts == talk.drafts[-1].ts


def test_an_answer_that_says_what_stands_in_it_alone_cites_it_more_weakly(tmp_path: Path) -> None:
    talk = begun(PORT)
    asked(talk, "which port?", PORT)
    talk.reply("Let me see. It is 7431, behind gate_two. Anything else?")
    log = talk.log(tmp_path)

    (citation,) = found(log)

    assert told([citation]) == [("s1", PORT.id[:10], "overlap")]
    said = words(log, span_of_body(citation.body["answer"]), log.workspace.id_key())
    assert said == "It is 7431, behind gate_two."


def test_what_was_shown_earlier_in_the_session_can_be_named_later(tmp_path: Path) -> None:
    talk = begun(PORT)
    asked(talk, "hello there", PORT)
    talk.reply("Hello.")
    asked(talk, "and the firewall?")
    talk.reply(f"As {PORT.id[:10]} says, it is open.")

    assert told(found(talk.log(tmp_path))) == [("s1", PORT.id[:10], "named")]


def never_shown(talk: Dialogue) -> None:
    asked(talk, "which port?")
    talk.reply(f"As {PORT.id[:10]} says.")


def shown_afterwards(talk: Dialogue) -> None:
    asked(talk, "which port?")
    talk.reply(f"As {PORT.id[:10]} says.")
    asked(talk, "so?", PORT)


def shown_elsewhere(talk: Dialogue) -> None:
    asked(talk, "which port?", PORT)
    talk.begin("s2").prompt("go on")
    talk.reply(f"As {PORT.id[:10]} says.")


def words_of_a_worker(talk: Dialogue) -> None:
    asked(talk, "which port?", PORT)
    talk.reply("It is 7431, behind gate_two.", worker="a1")


def by_a_worker_in_what_is_kept_out(talk: Dialogue) -> None:
    asked(talk, "hello", PORT)
    talk.prompt("!norecall which port?")
    talk.prompt("find the port", worker="a1")
    talk.reply(f"As {PORT.id[:10]} says.", worker="a1")


def kept_out(talk: Dialogue) -> None:
    asked(talk, "hello", PORT)
    talk.prompt("!norecall which port?")
    talk.reply(f"As {PORT.id[:10]} says.")


def our_own_block(talk: Dialogue) -> None:
    asked(talk, "which port?", PORT)
    talk.reply(f"It said: [recall 1a2b3c4d]{OPEN_PHRASE}\n[{PORT.id[:10]}] x\n[/recall 1a2b3c4d]")


def unrelated(talk: Dialogue) -> None:
    asked(talk, "which port?", PORT)
    talk.reply("No idea.")


@pytest.mark.parametrize(
    "happen",
    [
        never_shown,
        shown_afterwards,
        shown_elsewhere,
        words_of_a_worker,
        by_a_worker_in_what_is_kept_out,
        kept_out,
        our_own_block,
        unrelated,
    ],
    ids=lambda one: one.__name__.replace("_", " "),
)
def test_what_is_no_citation(happen: Any, tmp_path: Path) -> None:
    talk = begun(PORT)
    happen(talk)

    assert found(talk.log(tmp_path)) == []


def test_a_session_cites_once_however_often_it_names_it(tmp_path: Path) -> None:
    talk = begun(PORT)
    for number in range(3):
        asked(talk, f"which port? {number}", PORT)
        talk.reply(f"As {PORT.id[:10]} says, 7431 behind gate_two.")
    asked(talk.begin("s2"), "which port?", PORT)
    talk.reply("It is 7431, behind gate_two.")

    assert told(found(talk.log(tmp_path))) == [("s1", PORT.id[:10], "named"), ("s2", PORT.id[:10], "overlap")]


def test_a_sub_agent_cites_for_its_session_and_both_together_once(tmp_path: Path) -> None:
    talk = begun(PORT)
    asked(talk, "which port?", PORT)
    talk.prompt("look for the port", worker="a1")
    talk.reply(f"As {PORT.id[:10]} says.", worker="a1")
    talk.reply(f"{PORT.id[:10]} has it too.", worker="a2")
    log = talk.log(tmp_path)

    (citation,) = found(log)

    assert told([citation]) == [("s1", PORT.id[:10], "named")]
    log.append([citation], now=NOW)
    assert experience_of(log, ExperienceSettings())[PORT.id].hits == 1
    assert experience_of(log, ExperienceSettings())[PORT.id].raw == ExperienceSettings().cited


def test_only_answers_since_a_position_are_read_and_an_answer_may_come_after_it(tmp_path: Path) -> None:
    talk = begun(PORT)
    asked(talk, "which port?", PORT)
    log = talk.log(tmp_path)
    before = log.head().position
    at = len(talk.drafts)
    talk.reply("It is 7431, behind gate_two.")
    log.append(talk.drafts[at:], now=NOW)

    assert told(found(log, since=before)) == [("s1", PORT.id[:10], "overlap")]
    assert found(log, since=log.head().position) == []


def test_an_answer_within_an_exchange_that_was_kept_out_before_is_not_read(tmp_path: Path) -> None:
    talk = begun(PORT)
    asked(talk, "hello", PORT)
    talk.prompt("!norecall which port?")
    log = talk.log(tmp_path)
    before, at = log.head().position, len(talk.drafts)
    talk.reply(f"As {PORT.id[:10]} says.")
    log.append(talk.drafts[at:], now=NOW)

    assert found(log, since=before) == []


# -- prevented mistakes ----------------------------------------------------------------------


def installs(did: str, *, before: str = "npm install --dry-run", tool: str = "Bash", cites: bool = True) -> Dialogue:
    """A talk in which something was done, a memory is shown that says not to, and something is done after it."""
    talk = begun(PNPM)
    talk.prompt("install it")
    if before:
        talk.bash(before)
    asked(talk.begin("s2"), "install the dependencies", PNPM)
    talk.reply(f"As {PNPM.id[:10]} says." if cites else "Right.")
    talk.call(tool, {"command": did}, "ok")
    return talk


def prevents(log: Log) -> list[Draft]:
    return prevented(log, found(log), fold_memories(log, snapshot=False))


@pytest.mark.parametrize(
    "did", ["pnpm install", "cd web && pnpm install", "pnpm ci", "CI=1 pnpm install"], ids=lambda did: did
)
def test_doing_the_one_where_the_other_was_done_before_is_a_prevented_mistake(did: str, tmp_path: Path) -> None:
    log = installs(did).log(tmp_path)
    key = log.workspace.id_key()

    (event,) = prevents(log)

    assert (event.body["memory"], event.body["session"]) == (PNPM.id, "s2")
    assert words(log, span_of_body(event.body["cited"]), key) == PNPM.id[:10]
    assert words(log, span_of_body(event.body["action"]), key) == event.body["did"] == f"command: {did}"
    assert event.body["avoided"] == "command: npm install --dry-run"


@pytest.mark.parametrize(
    "talk",
    [
        installs("npm install"),
        installs("pnpm install || npm install"),
        installs("grep -c pnpm README.md"),
        installs("cat pnpm-lock.yaml"),
        installs("pnpm install", before=""),
        installs("pnpm install", before="cat docs/npm.md"),
        installs("pnpm install", tool="Read"),
        installs("pnpm install", cites=False),
    ],
    ids=[
        "the mistake itself", "both", "another place", "a longer word", "never made before", "not the word alone",
        "another tool", "not cited",
    ],
)  # fmt: skip
def test_what_is_no_prevented_mistake(talk: Dialogue, tmp_path: Path) -> None:
    assert prevents(talk.log(tmp_path)) == []


def test_the_action_of_another_exchange_or_of_a_sub_agent_is_none(tmp_path: Path) -> None:
    talk = begun(PNPM)
    talk.bash("npm install")
    asked(talk.begin("s2"), "install the dependencies", PNPM)
    talk.bash("pnpm install", worker="a1")
    talk.reply(f"As {PNPM.id[:10]} says.")
    talk.prompt("go on")
    talk.bash("pnpm install")

    assert prevents(talk.log(tmp_path)) == []


def test_an_action_before_the_words_that_cite_counts_and_a_session_counts_once(tmp_path: Path) -> None:
    talk = begun(PNPM)
    talk.bash("npm install")
    asked(talk.begin("s2"), "install the dependencies", PNPM)
    talk.bash("pnpm install")
    talk.bash("pnpm install web")
    talk.reply(f"Done with pnpm, as {PNPM.id[:10]} says.")

    (event,) = prevents(talk.log(tmp_path))

    assert event.body["did"] == "command: pnpm install"


def test_what_goes_on_as_it_was_mended_prevents_nothing_more_until_the_mistake_is_made_again(tmp_path: Path) -> None:
    talk = installs("pnpm install")
    for session, command in (("s3", "pnpm install web"), ("s4", "pnpm install --prod")):
        asked(talk.begin(session), "install what is new", PNPM)
        talk.reply(f"As {PNPM.id[:10]} says.")
        talk.bash(command)
    once = prevents(talk.log(tmp_path / "once"))
    talk.begin("s5").prompt("install it")
    talk.bash("npm install")
    asked(talk.begin("s6"), "install all of it", PNPM)
    talk.reply(f"As {PNPM.id[:10]} says.")
    talk.bash("pnpm install")

    assert [event.body["session"] for event in once] == ["s2"]
    assert [event.body["session"] for event in prevents(talk.log(tmp_path / "twice"))] == ["s2", "s6"]


# -- others' words ---------------------------------------------------------------------------


def said_by(who: str) -> tuple[Draft, Draft]:
    """A correction of a sub-agent or a peer, and the memory made of it."""
    talk = Dialogue("w")
    body = {"kind": "correction", "of": PLACE.event, "text": "the port is 8443", "actor": "a1", "actor_kind": "agent"}
    more = {"worker": "a1"} if who == "worker" else {"channel": "rex"}
    talk.event("correction", {**body, **more}, origin="external" if who == "peer" else "internal")
    source = Span(talk.drafts[0].id, 0, 16, "")
    return talk.drafts[0], a_memory("the port is 8443", sources=[source])


@pytest.mark.parametrize(("who", "sender"), [("worker", "worker:a1"), ("peer", "peer:rex")])
def test_a_correction_of_others_is_adopted_with_the_memory_made_of_it(who: str, sender: str, tmp_path: Path) -> None:
    said, memory = said_by(who)
    talk = begun(memory)
    talk.curated(said)
    log = talk.log(tmp_path)

    (event,) = adopt(log, fold_memories(log, snapshot=False), AT)

    assert {n: event.body[n] for n in ("memory", "event", "from", "via")} == {
        "memory": memory.id, "event": said.id, "from": sender, "via": "consolidation",
    }  # fmt: skip


def test_what_verification_did_not_pass_or_what_was_refuted_adopts_nothing(tmp_path: Path) -> None:
    said, memory = said_by("worker")
    unverified = replace(memory, body={**memory.body, "verified": "unverified"})
    refuted = drafts.refuted(AT, memory.id, because="abcdefghij", reason="no", actor="ana")

    for number, record in enumerate(([said, unverified], [said, memory, refuted])):
        talk = begun(*record)
        log = talk.log(tmp_path / str(number))

        assert adopt(log, fold_memories(log, snapshot=False), AT) == []


def test_a_peer_cannot_raise_a_memory_by_confirming_it_and_a_sub_agent_can(tmp_path: Path) -> None:
    talk = begun(PORT)
    says = {"kind": "confirmation", "of": PORT.id, "text": "so it is"}
    talk.event("correction", {**says, "channel": "rex"}, origin="external")
    worker = talk.event("correction", {**says, "worker": "a1"})
    log = talk.log(tmp_path)

    assert [e.body["event"] for e in adopt(log, fold_memories(log, snapshot=False), AT)] == [worker]


# -- a run -----------------------------------------------------------------------------------


def worth(project: Running, memory: str) -> float:
    log = Log(project.workspace)
    return experience_of(log, ExperienceSettings())[memory].raw


def test_a_run_writes_what_was_used_and_brings_the_index_up_to_it(tmp_path: Path) -> None:
    project = make_running(tmp_path, installs("pnpm install"))

    project.run()

    assert [e.type for e in project.events() if e.type in ("memory.cited", "memory.prevented_mistake")] == [
        "memory.cited", "memory.prevented_mistake",
    ]  # fmt: skip
    assert worth(project, PNPM.id) == 6.0
    with Store.open(project.workspace.index_path) as store:
        (row,) = store.standing([PNPM.id]).values()
    assert (row.raw, row.hits) == (6.0, 1)


def test_a_second_run_counts_nothing_twice(tmp_path: Path) -> None:
    project = make_running(tmp_path, installs("pnpm install"))
    project.run()
    before = len(project.events())

    project.run(later=1)
    again = project.run(later=2, full=True)

    assert worth(project, PNPM.id) == 6.0
    assert [e.type for e in project.events()[before:]] in ([], ["checkpoint"])
    assert again.state in ("complete", "unchanged")


def test_the_correction_of_a_sub_agent_weighs_after_the_run_that_made_a_memory_of_it(tmp_path: Path) -> None:
    """LCA-4.7-06: in the sub-agent's session alone it changes nothing of the agent's weights."""
    talk = Dialogue("s1")
    reply = talk.reply("The importer listens on port 8080.")
    said = talk.event(
        "correction",
        {
            "kind": "correction", "of": reply, "text": "The importer listens on port 8443, see config/importer.toml.",
            "actor": "a1", "actor_kind": "agent", "worker": "a1",
        },
        actor="assistant",
    )  # fmt: skip
    project = make_running(tmp_path, talk)
    assert said not in {e.body.get("event") for e in project.events("memory.adopted")}

    project.run()

    (memory,) = [m for m in project.state().memories.values() if m.sources[0].event == said]
    (adopted,) = project.events("memory.adopted")
    assert adopted.body["event"] == said
    assert worth(project, memory.id) == 3.0


def test_weights_that_were_lost_are_the_same_again(tmp_path: Path) -> None:
    project = make_running(tmp_path, installs("pnpm install"))
    project.run()
    with Store.open(project.workspace.index_path) as store:
        held = store.standing([PNPM.id])
    project.workspace.index_path.unlink()

    with Store.open(project.workspace.index_path, "w") as store:
        writer.index(project.workspace, store, IndexSettings(), now=NOW)
        first, second = (apply(project.workspace, store, Settings()) for _ in range(2))
        assert store.standing([PNPM.id]) == held
    assert first > 0
    assert second == 0


def test_what_a_memory_waits_for_and_what_became_of_its_files_stand_beside_its_weight(tmp_path: Path) -> None:
    stale = drafts.checked(AT, PORT.id, "importer.toml", "0" * 64, stale=True)
    project = make_running(tmp_path, begun(PORT, stale))

    with Store.open(project.workspace.index_path, "w") as store:
        apply(project.workspace, store, Settings())
        assert store.standing([PORT.id])[PORT.id].risks == '["stale"]'
