"""E folded from the record: each cause raises it by its weight, and nothing raises it that is no proof."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from support.memory_events import PLACE
from support.memory_events import written as a_memory

from consolidation.approval import authorised, mac_of
from consolidation.experience import Experience, fold_experience
from recall.memory_settings import ExperienceSettings
from scoring.experience import experience
from transcript import memory_drafts as drafts
from transcript.canonical import b32id, canonical, sha256_hex
from transcript.event import Draft, Event, Position, moment, stamp
from transcript.memories import Span, fold_events
from transcript.memory_told import Told
from transcript.projections.memory_files import emit

AT = Told("2026-03-01T12:00:00.000Z")
KEY, STORE = b"k" * 32, "a-store"
KEYS: dict[str, bytes] = {"0123456789abcdef": KEY}
WEIGHTS = ExperienceSettings()
M = a_memory().id


def events(*made: Draft) -> list[Event]:
    """The events as the record holds them, in this order."""
    at = Position(1, 0, 0, "")
    return [
        Event(**{n: getattr(draft, n) for n in Draft.__slots__}, v=1, seq=i, commit="", prev="", salt="", position=at)
        for i, draft in enumerate(made, 1)
    ]


def folded(*made: Draft, weights: ExperienceSettings = WEIGHTS) -> dict[str, Experience]:
    return fold_experience(events(*made), weights, authorised=lambda body: authorised(body, KEYS.get, STORE))


def of(*made: Draft, **given: Any) -> Experience:
    """What the memory has done in a record that begins with it."""
    return folded(a_memory(), *made, **given)[M]


def cite(session: str = "one", how: str = "named", *, at: Told = AT, memory: str = M, **more: Any) -> Draft:
    return drafts.cited(at, memory, session, how, **more)


def curated(event_type: str, name: str = "", /, *, origin: str = "internal", **body: Any) -> Draft:
    return Draft(
        type=event_type, id=b32id(event_type, name, str(body)), ts=AT.ts, ts_source="record", session="live",
        agent="claude-code", actor="human", origin=origin, body=body,
    )  # fmt: skip


def action_on(memory: str) -> dict[str, Any]:
    return {"operation": "add", "target_ref": f"memory:{memory}", "summary": "it is so", "evidence_refs": ["a.md"]}


def approval(memory: str = M, **changed: Any) -> Draft:
    body: dict[str, Any] = {
        "canon_version": "1", "store_id": STORE, "proposal_id": "p1", "proposal_hash": "h", "evidence_hashes": {},
        "affected_action_hash": sha256_hex(canonical(action_on(memory))), "decision": "approve", "actor": "ana",
        "rationale": "it is so", "timestamp": "2026-03-01T12:00:00Z", "nonce": "n1", "action": action_on(memory),
        "expires_at": "2026-03-08T12:00:00Z", "key_id": "0123456789abcdef",
    }  # fmt: skip
    body |= changed
    body.setdefault("mac", mac_of(body, KEY))
    return drafts.approved(AT, memory, body)


def prevention(session: str = "one", *, reply: str = "", call: str = "") -> Draft:
    place = Span(b32id("reply", reply or session), 0, 9), Span(b32id("call", call or session), 0, 12)
    return drafts.prevented(
        AT, M, session, turn="", cited=place[0], action=place[1], avoided="npm install", did="pnpm install"
    )


def refutation() -> Draft:
    return drafts.refuted(AT, M, because="abcdefghij", reason="it is not so", actor="ana")


CORRECTION = curated("correction", kind="correction", of="x" * 26, text="pnpm, not npm")
BY_WORKER = curated("correction", "w", kind="correction", of="x" * 26, text="pnpm, not npm", worker="a1")
BY_PEER = curated("correction", "p", kind="correction", of="x" * 26, text="no", channel="rex", origin="external")
VERIFIED = curated("outcome", status="verified", text="verified: it works", evidence=[f"{M}#0-4"])


def made_of(source: Draft) -> Draft:
    """A memory made of an event."""
    return a_memory(sources=(Span(source.id, 0, 4, "0" * 16),))


@pytest.mark.parametrize(
    ("proof", "raw"),
    [
        (cite(), 1.0),
        (cite(how="overlap"), 0.5),
        (drafts.promoted(AT, M, "two", because="abcdefghij"), 2.0),
        (curated("correction", kind="confirmation", of=M, text="so it is"), 2.0),
        (VERIFIED, 3.0),
        (approval(), 3.0),
        (prevention(), 5.0),
    ],
    ids=["named", "overlap", "promoted", "confirmed", "outcome", "approved", "prevented"],
)
def test_each_proof_adds_its_weight_and_none_lowers_what_is_there(proof: Draft, raw: float) -> None:
    assert of(proof).raw == raw
    assert of(cite("before"), proof).raw == raw + 1.0


def test_a_memory_made_of_a_correction_weighs_that() -> None:
    assert folded(CORRECTION, made_of(CORRECTION))[M].raw == 3.0
    assert folded(made_of(CORRECTION))[M].raw == 0.0


def test_a_prevented_mistake_outweighs_a_citation_five_to_one() -> None:
    assert of(prevention()).raw == 5 * of(cite()).raw


def test_what_was_wrong_loses_weight_but_never_falls_below_nothing() -> None:
    assert of(prevention(), prevention("two"), refutation()).raw == 5.0
    assert of(cite(), refutation()).raw == 0.0


def test_a_session_cites_once_and_the_stronger_sign_counts() -> None:
    weak, strong = cite(how="overlap"), cite()

    assert of(weak, strong).raw == of(strong, weak).raw == 1.0
    assert of(weak, strong, strong).hits == 1
    assert of(strong, cite("two")).hits == 2


def test_a_citation_in_the_same_project_and_role_counts_for_more() -> None:
    """1 + 1.5 against 1 + 1; a context that nobody named is none."""
    here, elsewhere = {"project": "shop", "role": "review"}, {"project": "bank", "role": "review"}

    assert of(cite(**here), cite("two", **here)).raw == 2.5
    assert of(cite(**here), cite("two", "overlap", **here)).raw == 1.75
    assert of(cite(**here), cite("two", **elsewhere)).raw == 2.0
    assert of(cite(), cite("two")).raw == 2.0


def test_being_shown_is_counted_and_weighs_nothing() -> None:
    turn = curated("recall", mode="warm", items=[{"event": M, "pointer": M[:10], "start": 0, "end": 4}])
    by_hand = curated("recall", "tool", mode="tool", items=[{"event": M, "pointer": M[:10], "start": 0, "end": 4}])

    found = of(turn, by_hand)

    assert (found.injected, found.hits, found.raw) == (1, 0, 0.0)


def test_age_adds_nothing() -> None:
    record = events(a_memory(), cite(), prevention(), VERIFIED)
    older = [replace(e, ts=stamp(moment(e.ts) - timedelta(days=365))) for e in record]

    def raw(these: Sequence[Event]) -> float:
        return fold_experience(these, WEIGHTS, authorised=lambda _body: True)[M].raw

    assert raw(older) == raw(record) == 9.0


def test_what_is_critical_for_a_role_weighs_more_for_that_role_alone() -> None:
    found = folded(a_memory(critical_for=("release",)), cite())[M]

    assert found.roles == {"release": 2.0}
    assert found.raw == 1.0


def test_a_role_that_it_is_no_longer_critical_for_weighs_nothing_more() -> None:
    off = drafts.amended(AT, M, {"critical_for": ["review"]}, because="abcdefghij", actor="ana")

    assert folded(a_memory(critical_for=("release",)), off)[M].roles == {"review": 2.0}


@pytest.mark.parametrize("said", [BY_WORKER, BY_PEER], ids=["worker", "peer"])
def test_the_correction_of_somebody_else_counts_once_it_is_adopted(said: Draft) -> None:
    sender = "worker:a1" if said is BY_WORKER else "peer:rex"
    adopted = drafts.adopted(AT, M, said.id, cause="correction", sender=sender)

    before = folded(said, made_of(said))[M]
    after = folded(said, made_of(said), adopted)[M]

    assert (before.raw, before.counters["waiting"]) == (0.0, 1)
    assert (after.raw, after.counters["waiting"]) == (3.0, 0)


@pytest.mark.parametrize("other", [{"worker": "a1"}, {"agent_id": "rex"}])
def test_the_citation_of_somebody_else_counts_once_it_is_adopted(other: dict[str, str]) -> None:
    citation = cite(**other)
    adopted = drafts.adopted(AT, M, citation.id, cause="citation", sender="worker:a1")

    assert (of(citation).raw, of(citation).hits) == (0.0, 0)
    assert of(citation, adopted).raw == of(adopted, citation).raw == 1.0


def test_an_outcome_that_was_taken_back_no_longer_counts() -> None:
    back = curated("outcome", "2", status="failed", text="failed: no", supersedes=VERIFIED.id)

    assert of(VERIFIED, back).raw == 0.0


@pytest.mark.parametrize(
    "forged",
    [
        {"mac": "0" * 64},
        {"decision": "reject"},
        {"store_id": "another"},
        {"expires_at": "2026-02-01T00:00:00Z"},
        {"affected_action_hash": sha256_hex(canonical(action_on(b32id("another memory"))))},
        {"action": action_on(b32id("another memory"))},
        {"expires_at": "soon"},
        {"mac": "é" * 64},
        {"mac": "0" * 65},
        {"key_id": "fedcba9876543210"},
    ],
    ids=[
        "no mac of ours",
        "a refusal",
        "of another store",
        "expired",
        "of another memory",
        "another action",
        "no date",
        "another alphabet",
        "too long",
        "no key of ours",
    ],
)
def test_an_approval_that_does_not_hold_adds_nothing_and_is_counted(forged: dict[str, str]) -> None:
    found = of(approval(**forged))

    assert (found.raw, found.approved, found.counters["unauthorised"]) == (0.0, False, 1)


def test_an_approval_is_worth_nothing_without_its_key_and_changes_with_any_field() -> None:
    body = approval().body

    assert authorised(body, KEYS.get, STORE)
    assert not authorised(body, lambda name: None, STORE)
    assert not any(
        authorised({**body, n: "else"}, KEYS.get, STORE) for n in ("rationale", "actor", "nonce", "proposal_id")
    )


def test_an_approval_of_one_action_is_none_of_another_on_the_same_memory() -> None:
    put_away = {**action_on(M), "operation": "archive"}
    body = approval(action=put_away, affected_action_hash=sha256_hex(canonical(put_away))).body

    assert not authorised(body, KEYS.get, STORE)


def test_the_same_approval_told_again_counts_once() -> None:
    again = replace(approval(), id=b32id("again"))

    assert of(approval(), again).raw == 3.0


def test_a_prevented_mistake_without_its_places_is_refused() -> None:
    whole = prevention()
    bare = replace(whole, id=b32id("bare"), body={**whole.body, "action": {}})

    found = of(bare)

    assert (found.raw, found.prevented, found.counters["refused"]) == (0.0, 0, 1)


@pytest.mark.parametrize(
    "again",
    [prevention("one", reply="r", call="c"), prevention("two", reply="one"), prevention("two", call="one")],
    ids=["in the same session", "by the same words", "with the same action"],
)
def test_a_prevented_mistake_is_counted_once_however_often_it_is_told(again: Draft) -> None:
    assert of(prevention(), again).raw == 5.0
    assert of(prevention(), prevention("two")).raw == 10.0


def test_a_new_wording_goes_on_with_the_weight_and_a_correction_begins_anew() -> None:
    wording = a_memory("reworded", supersedes=(M,), reason="edit")
    correction = a_memory("corrected", supersedes=(M,), reason="correction")

    found = folded(a_memory(), cite(), wording, cite("two", memory=wording.id), correction)

    assert (found[wording.id].raw, found[wording.id].hits) == (2.0, 2)
    assert found[correction.id].raw == 0.0


def test_a_cited_passage_of_the_transcript_has_a_weight_of_its_own() -> None:
    found = folded(a_memory(), cite(memory=PLACE.event))

    assert (found[PLACE.event].raw, found[M].raw) == (1.0, 0.0)


def test_every_proof_more_never_lowers_the_weight() -> None:
    """Records drawn at random: the fold of a longer record is at least that of a shorter one, and E rises with it."""
    for seed in range(40):
        rng = random.Random(seed)
        pool = [
            cite(f"s{n % 5}", rng.choice(["named", "overlap"]), project=rng.choice(["", "shop"])) for n in range(12)
        ]
        pool += [prevention("one"), VERIFIED, approval(), drafts.promoted(AT, M, "s9", because="abcdefghij")]
        rng.shuffle(pool)
        raws = [of(*pool[:n]).raw for n in range(len(pool) + 1)]

        assert raws == sorted(raws)
        assert raws[-1] > 0
        assert all(0 <= experience(raw, cap=50) <= 1 for raw in raws)


def test_the_weights_are_settings() -> None:
    assert of(cite(), weights=ExperienceSettings(cited=0.25)).raw == 0.25


def test_a_hundred_weights_later_the_file_of_a_memory_says_the_same() -> None:
    """LCA-5.2.2-14: what stands below the front matter; the day it was last used stands in it and may change."""
    later = Told("2026-03-04T12:00:00.000Z")
    proofs = [cite(f"s{n}", at=later) for n in range(98)] + [prevention(), approval()]

    def file(*made: Draft) -> tuple[str, str]:
        state = fold_events((event, event.body) for event in events(*made))
        _, front, body = emit(state.memories[M]).decode().split("---\n", 2)
        return front, body

    before, after = file(a_memory()), file(a_memory(), *proofs)

    assert of(*proofs).hits == 98
    assert after[0] != before[0]
    assert after[1] == before[1]
