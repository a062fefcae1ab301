"""The report over facts made by hand: exact figures, thresholds from both sides, no false alarm, no false calm."""

import json
from dataclasses import replace

import pytest
from support.health_cases import DAY, HOUR, INDEX, NOW, WELL, well

from health.facts import CaptureFacts, Expiring, Facts, HookFacts, IndexFacts, RecordFacts, TurnFacts, Waiting
from health.facts_machine import BackendFacts
from health.report import assess
from health.signal import Level


def with_index(**changes):
    return replace(WELL, index=replace(INDEX, **changes))


def with_hook(**changes):
    return replace(WELL, hooks=(replace(WELL.hooks[0], **changes),))


def signal(facts, id):
    return next(s for s in assess(facts).signals if s.id == id)


def test_a_healthy_workspace_is_ok():
    report = assess(WELL)

    assert [s.id for s in report.signals if s.level] == []
    assert report.exit_code == 0


@pytest.mark.parametrize(
    "facts",
    [Facts("w", NOW), replace(WELL, record=RecordFacts()), replace(WELL, record=RecordFacts(), index=IndexFacts())],
    ids=["nothing at all", "empty record, full index", "neither"],
)
def test_nothing_stored_is_never_ok(facts):
    report = assess(facts)

    assert report.exit_code == 2
    assert report.to_text().startswith("fail")
    assert "nothing is stored" in report.to_text()


def test_a_record_without_an_index_fails_and_names_the_command():
    found = signal(replace(WELL, index=IndexFacts()), "index")

    assert (found.level, found.action) == (Level.FAIL, "run 'recall index'")


def test_duplicates_of_the_incident_scaled_down():
    """LCA App. D 11 divided by 100: 1,663 rows, 109 distinct; the ratio is 1554 / 1663 = 93.4 %."""
    facts = with_index(
        rows=1663,
        distinct=109,
        most_repeated=96,
        bytes=33_000_000,
        bytes_needed=530_000,
        duplicates_by_class={"conversation": 845, "tool": 709},
    )

    ratio = signal(facts, "duplicate_ratio")

    assert ratio.value == pytest.approx(1554 / 1663, abs=1e-6)
    assert ratio.level is Level.FAIL
    assert "93.4%" in ratio.text
    assert signal(facts, "duplicate_rows").value == 1554
    assert signal(facts, "duplicate_rows").details == ("conversation: 845", "tool: 709")
    assert signal(facts, "distinct_texts").value == 109
    assert signal(facts, "most_repeated_text").value == 96
    assert signal(facts, "duplicate_bytes").value == {"bytes": 33_000_000, "needed": 530_000}


@pytest.mark.parametrize(
    ("copies", "level"), [(0, Level.OK), (1, Level.OK), (2, Level.WARN), (10, Level.WARN), (11, Level.FAIL)]
)
def test_duplicate_ratio_is_healthy_up_to_a_thousandth(copies, level):
    assert signal(with_index(rows=1000, distinct=1000 - copies), "duplicate_ratio").level is level


def test_counters_of_a_batch_with_faults():
    """LCA-D-02H: a batch of 64 with 1 failure and 2 truncations."""
    facts = with_index(failed=1, truncated=2, stale=3, unindexed=4, vectors=63, failures=("chunk 7: refused",))

    assert signal(facts, "embeddings_failed").value == 1
    assert signal(facts, "embeddings_failed").details == ("chunk 7: refused",)
    assert signal(facts, "embeddings_truncated").value == 2
    assert signal(facts, "embeddings_stale").value == 3
    assert signal(facts, "unindexed").value == {"events": 4, "age_seconds": None}
    assert assess(facts).exit_code == 2


@pytest.mark.parametrize(
    ("change", "id"),
    [
        ({"zero": 1}, "embeddings_zero"),
        ({"models": {"a": 1, "b": 2}}, "embedding_models"),
        ({"orphan_vectors": 1}, "orphan_vectors"),
        ({"orphan_pointers": 1}, "orphan_pointers"),
        ({"words_missing": 1}, "word_index"),
        ({"words_extra": 1}, "word_index"),
        ({"error": "index.sqlite is newer than this version"}, "index"),
    ],
)
def test_a_broken_index_fails(change, id):
    assert signal(with_index(**change), id).level is Level.FAIL
    assert assess(with_index(**change)).exit_code == 2


def test_pending_rows_are_no_fault_while_somebody_works_on_them():
    assert signal(with_index(pending=50), "embeddings_pending").level is Level.OK
    assert "22% of 64" in signal(with_index(pending=50), "embeddings_pending").text


@pytest.mark.parametrize(
    ("age", "level"), [(10, Level.OK), (HOUR + 1, Level.WARN), (DAY + 1, Level.FAIL)], ids=["new", "hour", "day"]
)
def test_unindexed_events_grow_worse_with_age(age, level):
    found = signal(with_index(unindexed=3, unindexed_oldest=NOW - age), "unindexed")

    assert found.level is level
    assert found.value == {"events": 3, "age_seconds": round(age)}


def test_an_event_from_the_future_is_not_a_negative_lag():
    assert signal(with_index(unindexed=1, unindexed_oldest=NOW + DAY), "unindexed").value["age_seconds"] == 0


@pytest.mark.parametrize(
    ("grew", "level"),
    [(-DAY, Level.OK), (60, Level.OK), (HOUR, Level.WARN), (3 * HOUR, Level.FAIL)],
    ids=["harness idle", "just now", "an hour", "three hours"],
)
def test_silence_while_the_native_log_grows_fails(grew, level):
    fired = NOW - DAY
    facts = with_hook(last_fired=fired, native_last_write=fired + grew)

    assert signal(facts, "hook_last_fired.claude-code").level is level


def test_a_hook_that_never_fired_counts_from_its_installation():
    facts = with_hook(last_fired=None, installed_at=NOW - DAY, native_last_write=NOW)

    found = signal(facts, "hook_last_fired.claude-code")

    assert found.level is Level.FAIL
    assert "never fired" in found.text


@pytest.mark.parametrize(
    ("change", "level"),
    [
        ({"installed": False}, Level.WARN),
        ({"launcher_ok": False}, Level.FAIL),
        ({"drift": "timeout differs"}, Level.FAIL),
    ],
)
def test_hook_installation(change, level):
    assert signal(with_hook(**change), "hook_installed.claude-code").level is level


def test_hook_failures_are_counted_by_reason():
    found = signal(with_hook(failures={"not json": 2, "empty": 1}), "hook_failures.claude-code")

    assert (found.level, found.details) == (Level.WARN, ("empty: 1", "not json: 2"))


@pytest.mark.parametrize(("vectors", "level"), [("native", Level.OK), ("fallback", Level.WARN), ("off", Level.FAIL)])
def test_backend_says_why(vectors, level):
    """Case store-no-extension (asg017/sqlite-vec#83): the loader's own words and SQLite's version are shown."""
    backend = replace(WELL.backend, vectors=vectors, vectors_reason="vec0.so: cannot open shared object file")

    found = signal(replace(WELL, backend=backend), "vector_search")

    assert found.level is level
    assert "cannot open shared object file" in found.text
    assert "3.50.0" in found.text


def test_a_missing_index_is_not_blamed_on_the_extension():
    """Nothing was loaded yet: to install the extension again would not help."""
    backend = replace(WELL.backend, vectors="unknown", sqlite="", extension="")

    found = signal(replace(WELL, backend=backend), "vector_search")

    assert (found.level, found.action, found.text) == (Level.OK, "", "not known without an index")


def test_an_embedder_that_is_down_fails_with_its_reason():
    """Case emb-offline (openai/tiktoken#369): the report names the missing file."""
    backend = replace(WELL.backend, embedder="down", embedder_reason="model.onnx is missing")

    found = signal(replace(WELL, backend=backend), "embedder")

    assert found.level is Level.FAIL
    assert "model.onnx is missing" in found.text


def test_share_of_turns_per_mode():
    facts = replace(WELL, turns=TurnFacts(modes={"warm": 5, "words": 15}))

    found = signal(facts, "turn_modes")

    assert found.value == {"warm": 0.25, "words": 0.75}
    assert found.level is Level.WARN


def test_latency_and_tokens_show_median_and_p95():
    assert signal(WELL, "recall_latency").value == {"median": 30, "p95": 40}
    assert signal(WELL, "injected_tokens").value == {"median": 300, "p95": 900}


def test_deadline_misses_name_their_stage():
    found = signal(replace(WELL, turns=TurnFacts(modes={"warm": 10}, deadline_misses={"encode": 1})), "deadline_misses")

    assert (found.level, found.details) == (Level.WARN, ("encode: 1",))


def expiring(days: float, *, taken_in: bool = True, harness: str = "claude-code") -> Expiring:
    return Expiring("a.jsonl", harness, NOW + days * DAY, 30 * DAY, taken_in)


def test_what_a_harness_will_delete_is_told_by_harness_and_day():
    """What the record holds is a note, what it lacks a problem."""
    files = (expiring(-1), expiring(2), expiring(3, taken_in=False), expiring(5, harness="gemini-cli"))
    facts = replace(WELL, capture=replace(WELL.capture, expiring=files))

    safe, lost = signal(facts, "harness_deletes"), signal(facts, "near_retention")
    assert safe.value == {"claude-code": 2, "gemini-cli": 1}
    assert safe.text == (
        "claude-code will delete 2 session files of over 30.0 days, the first when it starts next; the record holds "
        "them; gemini-cli will delete 1 session file of over 30.0 days, the first in 5.0 days; the record holds it"
    )
    assert safe.details == ("a.jsonl: at its next start", "a.jsonl: in 2.0 days", "a.jsonl: in 5.0 days")
    assert lost.text == "the harness will delete 1 transcript that is not taken in, the first in 3.0 days"
    assert (lost.value, lost.level, lost.details) == (1, Level.FAIL, ("a.jsonl: in 3.0 days",))


def test_lag_of_capture_names_each_harness():
    waiting = (Waiting("codex", 2, 3100, NOW - 240), Waiting("gemini-cli", 1, 40, NOW - 60))
    facts = replace(WELL, capture=replace(WELL.capture, behind=3, behind_bytes=3140, waiting=waiting))

    found = signal(facts, "capture_lag").details

    assert found == ("codex: 2 files (3.1 KB), for 4 min", "gemini-cli: 1 file (40 B), for 60 s")


@pytest.mark.parametrize(
    ("lag", "value", "level", "text"),
    [
        (None, None, Level.OK, "no views: the project was never initialised"),
        ({"state.md": 0, "tasks.json": 0}, 0, Level.OK, "every view is up to date"),
        ({"state.md": 3, "tasks.json": 1, "decisions.md": 0}, 3, Level.WARN, "3 events behind (state.md, tasks.json)"),
    ],
)
def test_lag_of_the_views(lag, value, level, text):
    """ESAA-33."""
    found = signal(replace(WELL, record=replace(WELL.record, view_lag=lag)), "projection_lag")

    assert (found.value, found.level, found.text) == (value, level, text)


@pytest.mark.parametrize(
    ("change", "id", "level"),
    [
        ({"behind": 1, "behind_oldest": NOW - 60}, "capture_lag", Level.OK),
        ({"behind": 1, "behind_oldest": NOW - 2 * HOUR}, "capture_lag", Level.WARN),
        ({"behind": 1, "behind_oldest": NOW - 2 * DAY}, "capture_lag", Level.FAIL),
        ({"expiring": (expiring(2.9, taken_in=False),)}, "near_retention", Level.FAIL),
        ({"expiring": (expiring(-1, taken_in=False),)}, "near_retention", Level.FAIL),
        ({"expiring": (expiring(6, taken_in=False),)}, "near_retention", Level.WARN),
        ({"expiring": (expiring(-1), expiring(2))}, "near_retention", Level.OK),
        ({"expiring": (expiring(-1), expiring(2))}, "harness_deletes", Level.OK),
        ({"missing": ("a.jsonl",)}, "sources_missing", Level.OK),
        ({"unknown_types": {"new-thing@2.1": 3}}, "unknown_types", Level.WARN),
        ({"damaged": 1, "damaged_where": ("a.jsonl at 120: not JSON",)}, "damaged_lines", Level.WARN),
        ({"incomplete_tails": ("a.jsonl",)}, "incomplete_tails", Level.OK),
        ({"skipped": {"other workspace": 4}}, "skipped", Level.OK),
    ],
)
def test_capture(change, id, level):
    assert signal(replace(WELL, capture=replace(WELL.capture, **change)), id).level is level


def test_unknown_types_are_listed_by_name():
    capture = replace(WELL.capture, unknown_types={"b@1": 1, "a@1": 2})

    assert signal(replace(WELL, capture=capture), "unknown_types").details == ("a@1: 2", "b@1: 1")


def test_a_damaged_line_is_shown_short():
    """LCA App. D 7: error output never repeats rejected material."""
    capture = replace(WELL.capture, damaged=1, damaged_where=("x" * 50_000,))

    assert len(signal(replace(WELL, capture=capture), "damaged_lines").details[0]) <= 200


@pytest.mark.parametrize(
    ("change", "id", "level"),
    [
        ({"chain_problems": ("prev does not match at 7",)}, "chain", Level.FAIL),
        ({"head_ok": False}, "head", Level.FAIL),
        ({"spooled": 2, "spool_oldest": NOW - 60}, "spool", Level.OK),
        ({"spooled": 2, "spool_oldest": NOW - 2 * DAY}, "spool", Level.WARN),
        ({"open_to_others": ("log/activity.jsonl 0644",)}, "file_modes", Level.FAIL),
        ({"reasoning_withheld": 5}, "reasoning_withheld", Level.OK),
    ],
)
def test_record(change, id, level):
    assert signal(replace(WELL, record=replace(WELL.record, **change)), id).level is level


def test_first_screen_has_what_an_operator_looks_for():
    """CARD-11: duplicate ratio and failed embeddings stand on the first screen, in both forms."""
    screen = assess(WELL).to_text().splitlines()[:24]

    for id in ("duplicate_ratio", "embeddings_failed", "capture_lag", "vector_search", "hook_last_fired"):
        assert any(id in line for line in screen), id
    ids = {s["id"] for s in json.loads(assess(WELL).to_json())["signals"]}
    assert {"duplicate_ratio", "embeddings_failed"} <= ids


def test_problems_stand_first_worst_above():
    text = assess(with_index(zero=1, truncated=1)).to_text()

    assert text.index("embeddings_zero") < text.index("embeddings_truncated") < text.index("duplicate_ratio")


def test_every_signal_with_a_problem_says_what_to_do():
    bad = replace(
        WELL,
        record=RecordFacts(chain_problems=("x",), head_ok=False, open_to_others=("y",)),
        index=replace(INDEX, failed=9, zero=1, truncated=1, stale=1, set_aside=1, orphan_vectors=1, rows=1, distinct=0),
        capture=CaptureFacts(behind=1, expiring=(expiring(1, taken_in=False),), unknown_types={"t": 1}, damaged=1),
        hooks=(HookFacts("claude-code"),),
        backend=BackendFacts(embedder="down", fts5=False),
    )

    assert [s.id for s in assess(bad).signals if s.level and not s.action] == []


def test_every_signal_appears_once():
    ids = [s.id for s in assess(WELL).signals]

    assert len(ids) == len(set(ids))


def test_json_is_one_object_with_every_signal():
    data = json.loads(assess(WELL).to_json())

    assert data["level"] == "ok"
    assert len(data["signals"]) == len(assess(WELL).signals)
    assert all({"id", "value", "unit", "level", "meaning", "action"} <= set(s) for s in data["signals"])


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({}, Level.OK, "not fitted to this store: the default thresholds hold"),
        ({"gate_passages": 33}, Level.OK, "fitted 60 min ago to 33 passages"),
        ({"gate_passages": 33, "gate_safe": False}, Level.OK, "no threshold was safe, so a default holds"),
        ({"gate_passages": 32}, Level.WARN, "now 64, same model"),
        ({"gate_passages": 33, "gate_model": "n"}, Level.WARN, "another model"),
    ],
    ids=["never", "fitted", "unsafe", "outgrown", "other model"],
)
def test_the_gate_is_out_of_date_when_the_store_has_doubled_or_the_model_changed(changes, level, words):
    fit = {"gate_fitted": NOW - HOUR, "gate_safe": True, "gate_model": "m", **changes} if changes else {}

    found = signal(with_index(**fit), "gate")

    assert (found.level, bool(found.action)) == (level, level is Level.WARN)
    assert words in found.text


@pytest.mark.parametrize(("days", "behind", "level"), [(40, 0, Level.OK), (40, 1, Level.FAIL), (9, 1, Level.WARN)])
def test_an_old_backup_that_holds_every_event_is_well(days, behind, level):
    facts = well("backup", at=NOW - days * DAY, path="/media/disk/w", behind_events=behind)

    age = signal(facts, "backup_age")

    assert age.level is level
    assert age.action == ("run 'recall backup /media/disk'" if level else "")


def test_a_moment_that_a_clock_put_into_the_future_is_no_negative_time_ago():
    ahead = well("schedule", kind="cron", last=NOW + DAY)

    assert signal(ahead, "nightly_missed").text == "none; the last was 0 s ago"
