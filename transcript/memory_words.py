"""The closed words of the memory events: every value that a field with a fixed vocabulary may hold."""

MEMORY_TYPES = (
    "project_fact",
    "design_decision",
    "lesson",
    "user_preference",
    "role_standard",
    "checkpoint",
    "runbook",
    "known_failure",
)
KINDS = ("statement", "summary")
LABELS = ("claim", "inference")
VERIFIED = ("not_refuted", "unverified")
PRIVACY = ("private", "project", "shared")
FINDERS = (
    "decision",
    "correction",
    "outcome",
    "question",
    "wish",
    "preference",
    "choice",
    "cause",
    "report",
    "commit",
    "recovered",
    "repeated",
    "retired",
    "replaced",
    "value_link",
    "summary",
    "hand_edit",
    "import",
    "added",
    "drafter",
    "archive",
)
SUPPORT = ("quoted", "covered", "partial", "none")
CONFLICTS = ("value", "number", "negation", "opposite", "cycle", "procedure")
VERDICTS = ("not_refuted", "refuted", "downgrade", "supersede", "unverified")  # nothing is ever proven
OUTCOMES = ("memory", "procedure", "transcript_only")
DECIDED = (
    "accepted",
    "accepted_inference",
    "confirmed",
    "duplicate",
    "superseded_by",
    "unsupported",
    "refuted",
    "contradiction",
    "reviewer",
    "unverified",
    "awaits_person",
    "declined",
    "secret",
    "opted_out",
    "malformed",
    "no_subject",
    "too_long",
)
REASONS = (  # why a memory is written, or takes another's place
    "new",
    "edit",
    "correction",
    "contradiction",
    "update",
    "retired",
    "replacement",
    "import",
    "added",
    "hand_edit",
)
TRIGGERS = ("elected", "task", "mistake", "pre_compact", "session_end", "pressure", "bloat", "stale", "nightly")
STATES = ("refuted", "archived", "superseded", "expired", "future", "current")  # the first that applies
AMENDED = (
    "tags",
    "projects",
    "roles",
    "critical_for",
    "privacy",
    "valid_from",
    "valid_to",
    "type",
)
