"""Memories as the record has them: builders that refuse, ids that follow from content, and the fold."""

import json
from datetime import UTC, datetime
from importlib.resources import files
from io import BytesIO

import jsonschema
import pytest
from support.memory_events import AT, EVENT, HUMAN, LATER, PLACE, SAID, candidate, place_of, written
from support.record import NOW, make_log, make_turns, make_workspace

from transcript import memories, memory_drafts
from transcript.event import BODY_KEYS, MEMORY_TYPES
from transcript.export import export, import_record
from transcript.log import Log
from transcript.memories import MemoryState, Span, fold_memories
from transcript.memory_told import Told

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def one_of_each():
    """An event of every kind, each about the first memory where it is about one."""
    old, new, found = written("Ports come from the environment."), written(), candidate()
    digest, proposal = "0" * 64, "11111111-2222-4333-8444-555555555555"
    approval = {"canon_version": "1", "store_id": proposal, "proposal_id": proposal, "proposal_hash": digest}
    approval |= {"affected_action_hash": digest, "evidence_hashes": {}, "actor": "ana", "timestamp": SAID}
    approval |= {"rationale": "right", "nonce": "0" * 32, "expires_at": LATER, "decision": "approve", "mac": digest}
    approval |= {"key_id": "0" * 16, "action": {"operation": "add"}}
    through = {"segment": 1, "offset": 9, "seq": 7, "hash": "0" * 64}
    name = old.id
    return [
        candidate("Ports come from the environment."),
        found,
        memory_drafts.verdict(
            AT,
            found.id,
            round=0,
            reviewer=("computed", "recall-checks/1"),
            writer="find/decision",
            verdict="not_refuted",
            label="claim",
            claims=[{"text": "x", "start": 0, "end": 1, "source": 0, "support": "quoted", "missing": []}],
        ),
        memory_drafts.decided(AT, found.id, "memory", "accepted", memory=new.id),
        old,
        new,
        memory_drafts.amended(HUMAN, name, {"tags": ["ports"], "type": "lesson"}, because="x", actor="ana"),
        memory_drafts.superseded(AT, place_of(old), place_of(new), reason="contradiction", since=LATER),
        memory_drafts.refuted(HUMAN, name, because="abcdefghij", reason="wrong", actor="ana"),
        memory_drafts.archived(HUMAN, name, reason="old", actor="ana"),
        memory_drafts.restored(HUMAN, name, reason="needed", actor="ana"),
        memory_drafts.checked(AT, name, "src/a.py", "ab", stale=True),
        memory_drafts.source(AT, "docs/setup.md", "cd", "# Setup"),
        memory_drafts.cited(AT, name, "s2", "named", answer=PLACE, words=["abcdefghij"]),
        memory_drafts.promoted(AT, name, "s3", because=found.id),
        memory_drafts.prevented(AT, name, "s2", turn="", cited=PLACE, action=PLACE, avoided="npm i", did="pnpm i"),
        memory_drafts.adopted(AT, name, EVENT, cause="correction", sender="worker:a1"),
        memory_drafts.approved(AT, name, approval),
        memory_drafts.checkpoint(AT, "nightly", through, "complete", steps=[], counts={}, artifacts={}),
    ]


def test_there_is_a_builder_for_every_kind_and_the_schema_takes_what_it_builds(tmp_path):
    drafts = one_of_each()
    schema = json.loads(files("transcript.schema").joinpath("event.schema.json").read_bytes())

    log = make_log(tmp_path, drafts)

    assert {draft.type for draft in drafts} == MEMORY_TYPES | {"checkpoint"}
    lines = [json.loads(line) for line in log.workspace.activity.read_bytes().splitlines()]
    assert len(lines) == len(drafts)
    bodies = [
        (rule["if"]["properties"]["type"]["const"], rule["then"]["properties"]["body"]) for rule in schema["allOf"]
    ]
    fields = {name: set(held["anyOf"][1]["properties"]) for name, held in bodies}
    for line in lines:
        jsonschema.Draft202012Validator(schema).validate(line)
        if line["type"] in MEMORY_TYPES:
            assert set(BODY_KEYS[line["type"]]) <= set(line["body"])
            assert set(line["body"]) - {"salt"} <= fields[line["type"]]


def test_built_twice_every_event_is_the_same_one(tmp_path):
    log = make_log(tmp_path, one_of_each())

    assert log.append(one_of_each(), now=NOW) == []


def test_memory_without_a_why_or_without_a_source_is_an_inference():
    """LCA-4.2-10."""
    assert written().body["label"] == "claim"
    assert written(why=" ").body["label"] == "inference"
    assert written(sources=[]).body["label"] == "inference"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: candidate(found_by="dream"), "found_by is 'dream', must be one of decision"),
        (lambda: candidate(memory_type="note"), "memory_type is 'note'"),
        (lambda: candidate(text=" "), "a candidate has no words"),
        (lambda: candidate(said_at="yesterday"), "said_at is 'yesterday', must be a moment"),
        (lambda: written(kind="summary"), "a summary names what it covers"),
        (lambda: written(valid_to="2026-01-05T00:00:00Z"), "does not lie behind valid_from"),
        (lambda: written(reason="because"), "reason is 'because'"),
        (lambda: memory_drafts.decided(AT, EVENT, "memory", "accepted"), "an accepted candidate names its memory"),
        (
            lambda: memory_drafts.decided(AT, EVENT, "memory", "unverified", memory=EVENT, pending=True),
            "what waits is no memory yet",
        ),
        (
            lambda: memory_drafts.verdict(
                AT, EVENT, round=1, reviewer=("command", "me"), writer="me", verdict="refuted", label="claim"
            ),
            "me wrote the candidate and cannot review it",
        ),
        (
            lambda: memory_drafts.verdict(
                AT, EVENT, round=1, reviewer=("command", "me"), writer="x", verdict="proven", label="claim"
            ),
            "verdict is 'proven'",
        ),
        (
            lambda: memory_drafts.prevented(
                AT, EVENT, "s", turn="", cited=PLACE, action=Span("", 0, 0), avoided="a", did="b"
            ),
            "a prevented mistake needs the span of `action`",
        ),
        (
            lambda: memory_drafts.prevented(
                AT, EVENT, "s", turn="", cited=Span(EVENT, 4, 4), action=PLACE, avoided="a", did="b"
            ),
            "a prevented mistake needs the span of `cited`",
        ),
        (
            lambda: memory_drafts.amended(HUMAN, EVENT, {"statement": "x"}, because="p", actor="ana"),
            "a memory is amended in tags, .*, not statement",
        ),
        (lambda: memory_drafts.superseded(AT, PLACE, PLACE, reason="update", since=SAID), "cannot take its own place"),
        (lambda: memory_drafts.adopted(AT, EVENT, EVENT, cause="correction", sender="me"), "adopted from a worker or"),
        (lambda: memory_drafts.refuted(HUMAN, "abcdefghij", because="p", reason="", actor="ana"), "the whole id"),
        (lambda: memory_drafts.approved(AT, EVENT, {"mac": "0"}), "an approval lacks canon_version"),
        (lambda: Told("today"), "ts is 'today'"),
    ],
)  # fmt: skip
def test_builders_refuse_what_no_word_and_no_row_allows(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_summary_carries_its_mark_and_the_range_that_it_covers(tmp_path):
    """LCA-6.3-02."""
    told = written("They fixed the ports.", kind="summary", covers=("s1", 3, 40))

    (memory,) = fold_memories(make_log(tmp_path, [told])).memories.values()

    assert (memory.kind, memory.covers) == ("summary", ("s1", 3, 40))


def test_fold_says_what_all_events_add_up_to(tmp_path):
    """LCA-4.3-02: what stands beside a statement is a projection of the events."""
    drafts = one_of_each()
    old, new = drafts[4], drafts[5]
    log = make_log(tmp_path, drafts)

    state = fold_memories(log)

    first, second = state.memories[old.id], state.memories[new.id]
    assert (first.memory_type, first.tags, first.superseded_by) == ("lesson", ("ports",), new.id)
    assert (first.valid_to, first.supersession_note) == (LATER, "contradiction")
    assert (first.stale_paths, first.archived, first.last_applied) == (("src/a.py",), False, "2026-03-01")
    assert first.refuted_because == "abcdefghij"
    assert first.approved == (drafts[17].id,)
    assert second.supersedes == (old.id,)
    assert second.text == "Ports come from config.toml.\nWhy: two servers clash"
    assert second.sources == (PLACE,)
    assert (second.valid_from, second.valid_to) == (SAID, "")
    assert state.cited == {old.id: {"s2"}}
    assert state.project_files == {"docs/setup.md": (drafts[12].id, "cd")}
    assert [(link.of.event, link.by.event, link.reason) for link in state.links] == [(old.id, new.id, "contradiction")]
    decided = state.candidates[drafts[1].id]
    assert (len(decided.verdicts), decided.pending, decided.decided["memory"]) == (1, False, new.id)
    assert state.through is not None
    assert state.through.seq == 7
    assert [memory.id for memory in state.current(NOON)] == [new.id]


def test_state_is_the_first_that_applies(tmp_path):
    """LCA-4.3-03: the interval is half-open; what refutes or replaces goes before it."""
    drafts = {
        "current": written("a"),
        "expired": written("b", valid_to="2026-03-01T12:00:00Z"),
        "future": written("c", valid_from="2026-03-01T12:00:01Z"),
        "superseded": written("d"),
        "archived": written("e"),
        "refuted": written("f"),
    }
    gone = drafts["archived"].id, drafts["refuted"].id
    later = [
        memory_drafts.superseded(
            AT, place_of(drafts["superseded"]), place_of(drafts["current"]), reason="update", since=LATER
        ),
        *[memory_drafts.archived(HUMAN, name, reason="", actor="ana") for name in gone],
        memory_drafts.refuted(HUMAN, gone[1], because="x", reason="", actor="ana"),
    ]
    state = fold_memories(make_log(tmp_path, [*drafts.values(), *later]))

    assert {name: state.memories[draft.id].state_at(NOON) for name, draft in drafts.items()} == {
        name: name for name in drafts
    }


@pytest.mark.parametrize(
    ("since", "ends"),
    [
        ("2025-12-31T10:00:00.000Z", SAID),
        ("2026-01-06T11:59:00.000+02:00", SAID),
        (SAID, SAID),
        (LATER, LATER),
    ],
)
def test_an_interval_never_ends_before_it_begins(tmp_path, since, ends):
    """LCA-4.3-03: what older words replace never held; the moment that they were said stays in the link."""
    old, new = written("old"), written("new", said_at=since)
    link = memory_drafts.superseded(AT, place_of(old), place_of(new), reason="correction", since=since)
    state = fold_memories(make_log(tmp_path, [old, new, link]))

    held = state.memories[old.id]
    assert (held.valid_from, held.valid_to, held.state_at(NOON)) == (SAID, ends, "superseded")
    assert [one.at for one in state.links] == [since]


def test_an_end_that_was_amended_to_before_the_beginning_is_the_beginning(tmp_path):
    memory = written("old")
    told = memory_drafts.amended(HUMAN, memory.id, {"valid_to": "2025-12-31T10:00:00.000Z"}, because="x", actor="ana")
    held = fold_memories(make_log(tmp_path, [memory, told])).memories[memory.id]

    assert (held.valid_to, held.state_at(NOON)) == (SAID, "expired")


def test_memory_is_in_conflict_while_a_candidate_that_says_otherwise_waits(tmp_path):
    memory, other = written(), candidate("Ports come from the environment.")
    verdict = memory_drafts.verdict(
        AT,
        other.id,
        round=0,
        reviewer=("computed", "recall-checks/1"),
        writer="find/decision",
        verdict="unverified",
        label="claim",
        conflicts=[{"memory": memory.id, "how": "value", "detail": "config.toml | environment"}],
    )
    waits = memory_drafts.decided(AT, other.id, "transcript_only", "contradiction", pending=True)
    log = make_log(tmp_path, [memory, other, verdict, waits])

    assert fold_memories(log).memories[memory.id].conflicts == (other.id,)

    log.append(
        [memory_drafts.decided(AT, other.id, "transcript_only", "declined", by="ana", actor_kind="human")], now=NOW
    )
    assert fold_memories(log).memories[memory.id].conflicts == ()


def test_circle_of_supersessions_does_not_hang_the_fold(tmp_path):
    a, b = written("a"), written("b")
    links = [
        memory_drafts.superseded(AT, place_of(one), place_of(two), reason="update", since=LATER)
        for one, two in ((a, b), (b, a))
    ]

    state = fold_memories(make_log(tmp_path, [a, b, *links]))

    assert [state.memories[one.id].superseded_by for one in (a, b)] == [b.id, a.id]
    assert state.current(NOON) == []


def test_sieve_snapshot_and_whole_reading_give_the_same(tmp_path):
    drafts = one_of_each()
    log = make_log(tmp_path, make_turns(30))
    told = []
    for draft in drafts:
        log.append([draft, *make_turns(2, session=f"between-{draft.id}")], now=NOW)
        told.append(fold_memories(log, keep=True))  # goes on from the snapshot of the one before

    whole = memories.fold_events((event, log.body(event)) for event in log.read())

    assert told[-1] == whole == fold_memories(Log(log.workspace), snapshot=False)
    assert told[-1] != told[-8]


def test_snapshot_that_was_changed_or_is_of_another_record_is_not_used(tmp_path):
    log = make_log(tmp_path, one_of_each())
    wanted = fold_memories(log, keep=True)
    path = log.workspace.run_dir / memories.SNAPSHOT
    held = path.read_bytes()

    for changed in (held.replace(b"config.toml", b"config.yaml"), b"", b"{}\n{}"):
        path.write_bytes(changed)
        assert fold_memories(log) == wanted
        assert path.read_bytes() == changed  # looking writes nothing
        fold_memories(log, keep=True)
    assert path.read_bytes() == held


def test_record_without_memories_folds_to_nothing(tmp_path):
    assert fold_memories(make_log(tmp_path, make_turns(3))) == MemoryState()


def test_memories_travel_with_the_record(tmp_path):
    log = make_log(tmp_path / "here", one_of_each())
    there = make_workspace(tmp_path / "there")

    import_record(there, BytesIO(b"".join(export(log.workspace))))

    assert fold_memories(Log(there)).memories == fold_memories(log).memories
    assert [(e.id, e.type, e.body) for e in Log(there).read()] == [(e.id, e.type, e.body) for e in log.read()]
