"""Faults that make no noise of their own: nothing fails, less is found. Each with the signal that must name it.

`rows` name the public cases (tests find them in the folder of cases) whose expectation a fault stands for.
"""

from datetime import timedelta

from eval import silent_index as index
from eval import silent_planting as silent
from eval.incidents import Expected, Incident
from eval.planted_project import HARNESS, Words
from eval.planting import LONGER
from eval.silent_planting import QUIET
from health.signal import Level

OK, WARN, FAIL = Level.OK, Level.WARN, Level.FAIL

HOOKS = (
    Incident(
        "excluded-project",
        "the project is excluded, and nobody remembers",
        silent.excluded_project,
        (Expected("project_excluded", WARN, ("excluded",)),),
    ),
    Incident(
        "edited-hook",
        "the hook's line was edited",
        silent.edited_hook,
        (Expected(f"hook_installed.{HARNESS}", FAIL, ("changed",)),),
    ),
    Incident(
        "removed-environment",
        "the environment that hooks run in is gone",
        silent.removed_environment,
        (Expected("code_mixed", FAIL, ("gone: no hook answers",)), Expected(f"hook_installed.{HARNESS}", FAIL)),
    ),
    Incident(
        "quiet-hook",
        "no hook fires while the harness writes",
        silent.quiet_hook,
        (Expected(f"hook_last_fired.{HARNESS}", FAIL, ("wrote for 3.0 h after it was installed",)),),
        later=QUIET,
    ),
    Incident(
        "untrusted-hook",
        "a hook is installed and was never reviewed in its harness",
        silent.untrusted_hook,
        (
            Expected("hook_trusted.codex", WARN, ("names no review of", "review the hook in Codex")),
            Expected("hook_last_fired.codex", FAIL, ("has never fired here", "review the hook in Codex")),
        ),
        later=QUIET,
    ),
    Incident(
        "refused-payload",
        "a hook is given what it cannot read",
        index.refused_payload,
        (Expected(f"hook_failures.{HARNESS}", WARN, ("payload_not_json",)),),
    ),
)
CAPTURE = (
    Incident(
        "unheard-of-record",
        "an upgraded harness writes records that nobody knows",
        silent.unheard_of_record,
        (Expected("unknown_types", WARN, ("hologram",)),),
        rows="case log-shape-drift 5",
    ),
    Incident(
        "damaged-line",
        "a line of a session file is torn",
        silent.damaged_line,
        (Expected("damaged_lines", WARN, ("1", ".jsonl line 2 byte ")),),
        rows="case log-corrupt-lines 4",
    ),
    Incident(
        "cut-tail",
        "the last line of a session file was never finished",
        silent.cut_tail,
        (Expected("incomplete_tails", OK, ("1",)),),
        rows="case log-torn-tail 4",
    ),
    Incident(
        "deleted-source",
        "the harness deleted a session that was taken in: told, and no fault",
        silent.deleted_source,
        (Expected("sources_missing", OK, ("1 of 1 transcript is gone",)),),
        rows="case log-source-deleted 2",
    ),
    Incident(
        "doomed-source",
        "the harness is about to delete a session that was not taken in",
        silent.doomed_source,
        (Expected("near_retention", FAIL, ("1 transcript that is not taken in", "2.0 days")),),
        rows="case log-source-deleted 4",
    ),
)
MACHINE = (
    Incident(
        "missing-model",
        "the model's file is not there",
        silent.missing_model,
        (Expected("embedder", FAIL, (".onnx", "recall model add FILE")),),
        rows="case emb-offline 2",
    ),
    Incident(
        "no-extension",
        "this Python's SQLite cannot load the vector extension",
        silent.no_extension,
        (
            Expected("vector_search", WARN, ("fallback: ImportError: the package sqlite-vec", "(SQLite 3.")),
            Expected("versions", OK, ("Python 3.", "SQLite 3.")),
        ),
        rows="case store-no-extension 4",
    ),
    Incident(
        "no-full-text",
        "SQLite was built without FTS5",
        silent.no_full_text,
        (Expected("full_text", WARN, ("no FTS5",)),),
        rows="case store-no-extension 4",
    ),
    Incident(
        "open-files",
        "others on the machine may read the record",
        silent.open_files,
        (Expected("file_modes", FAIL, ("activity.jsonl 0644",)),),
    ),
)
INDEX = (
    Incident(
        "words-short",
        "five passages have no words in the index",
        index.words_short,
        (Expected("word_index", FAIL, ("5",)),),
    ),
    Incident(
        "other-model",
        "another model than the one that made the vectors",
        index.other_model,
        (Expected("embeddings_stale", WARN, ("64 stale vectors", "recall index rebuild")),),
        rows="case store-model-change 2",
    ),
    Incident(
        "other-dimension",
        "a model whose vectors are of another length",
        index.other_dimension,
        (
            Expected("embeddings_stale", WARN, ("64 stale vectors",)),
            Expected("index_settings", WARN, ("smaller", "recall index rebuild")),
        ),
        rows="case store-model-change 2",
    ),
    Incident(
        "no-direction", "vectors without a direction", index.no_direction, (Expected("embeddings_zero", FAIL, ("2",)),)
    ),
    Incident(
        "future-stamp",
        "a harness whose clock is years ahead",
        index.future_stamp,
        (Expected("implausible_times", WARN, ("1",)),),
        rows="case time-future 3",
    ),
    Incident(
        "locked-store",
        "the index was locked when an exchange came in",
        index.locked_store,
        (Expected("unindexed", WARN, ("2 events not indexed",)),),
        rows="case store-locked 5",
    ),
    Incident(
        "words-only",
        "passages have waited two hours for their vectors",
        index.words_only,
        (Expected("embeddings_pending", WARN, ("2",)),),
        later=timedelta(hours=2),
        rows="case store-crash-mid-batch 4",
    ),
    Incident(
        "killed-twice",
        "a passage killed the process twice",
        index.killed_twice,
        (Expected("embeddings_set_aside", WARN, ("1",)),),
        rows="case store-crash-mid-batch 4",
    ),
    Incident(
        "lost-passage",
        "a vector whose passage is gone",
        index.lost_passage,
        (Expected("orphan_vectors", FAIL, ("1 vector without a chunk",)),),
        rows="case store-crash-mid-batch 4",
    ),
    Incident(
        "unfinished-rebuild",
        "a rebuild was begun and never finished",
        index.unfinished_rebuild,
        (Expected("rebuild_unfinished", WARN, ("was begun 7.0 h ago: 64 of 64 passages, 0 vectors",)),),
        later=timedelta(hours=7),
    ),
    Incident(
        "failed-event",
        "an event could not be indexed, and the index went on",
        index.failed_event,
        (Expected("backfill_failed", WARN, ("1 event could not be indexed", "is missing from the record")),),
        rows="LCA-10.6-04",
    ),
    Incident(
        "own-text",
        "what recall had shown came back as something that was said",
        index.own_text,
        (Expected("own_injections", FAIL, ("1 passage of 66",)),),
        rows="case recall-feedback-loop 1",
    ),
    Incident(
        "client-text",
        "a client's notices are taken for prompts",
        index.client_text,
        (Expected("envelope_noise", WARN, ("20 of 52 passages of prompts",)),),
        rows="case log-shape-drift 3",
    ),
    Incident(
        "cut-text",
        "the model cut two passages without a word",
        index.nothing,
        (Expected("embeddings_truncated", WARN, ("2 truncated embeddings",)),),
        embedder=Words(longer=LONGER),
        rows="case emb-silent-truncation 3",
    ),
    Incident(
        "masked-secret",
        "a credential was said: the index holds a mark in its place",
        index.said_secret,
        (Expected("secrets_masked", OK, ("2 secrets masked",)),),
        rows="case recall-secret 1",
    ),
    Incident(
        "failing-counter",
        "the token counter fails, and estimates stand in",
        index.failing_counter,
        (Expected("token_estimates", WARN, ("2 token counts",)),),
        rows="case count-special-tokens 3",
    ),
)
TURNS = (
    Incident(
        "replaced-statement",
        "a turn was shown what had been replaced",
        index.replaced_statement,
        (Expected("superseded_injected", FAIL, ("1 replaced item shown in 1 turn",)),),
        rows="case recall-superseded 1",
    ),
    Incident(
        "useless-query",
        "the model makes a vector without a direction of a prompt",
        index.useless_query,
        (Expected("bad_query_vectors", WARN, ("1 prompt had no usable vector",)),),
        rows="case store-zero-nan-vector 4",
    ),
    Incident(
        "cut-search",
        "a turn found more than is weighed: told, and no fault",
        index.cut_search,
        (Expected("searches_cut", OK, ("1 of 1 turn found more",)),),
        rows="case store-knn-limit 4",
    ),
    Incident(
        "missed-deadline",
        "a turn ran out of time",
        index.missed_deadline,
        (Expected("deadline_misses", WARN, ("1 turn missed the deadline", "words:search: 1")),),
        rows="case recall-hook-timeout 4",
    ),
    Incident(
        "failed-search",
        "a turn could not search the index at all",
        index.failed_search,
        (Expected("lexical_failures", WARN, ("1 search by words failed", "unreadable for the hook: 1")),),
        rows="case store-fts-syntax 5",
    ),
)
RECORD = (
    Incident(
        "stuck-spool", "nobody takes the spool into the record", silent.stuck_spool, (Expected("spool", WARN, ("1",)),)
    ),
    Incident(
        "edited-record",
        "a word of the record was changed",
        silent.edited_record,
        (Expected("chain", FAIL, ("event ",)),),
    ),
    Incident(
        "stale-views",
        "the views were written before the last decision",
        silent.stale_views,
        (Expected("projection_lag", WARN, ("1",)),),
    ),
    Incident(
        "refused-application",
        "an approved proposal was refused, for what it rests on was changed",
        silent.refused_application,
        (Expected("proposals", WARN, ("1 attempt refused", "refused, evidence")),),
        rows="case gov-edited-after-approval 5",
    ),
    Incident(
        "missed-nights",
        "the nights are scheduled, and none was run for days",
        silent.missed_nights,
        (Expected("nightly_missed", FAIL, ("nights did not run",)),),
    ),
    Incident(
        "failing-nights",
        "the night of a project failed thrice in a row",
        silent.failing_nights,
        (Expected("nights_failed", FAIL, ("3 nights in a row",)),),
        rows="case conc-nightly-overlap 4",
    ),
)
SILENT = (*HOOKS, *CAPTURE, *MACHINE, *INDEX, *TURNS, *RECORD)  # fmt: skip
