"""Sends an oversized text through every parser that refuses one, and looks for it in what they say; writes nothing.

An error that repeats what it refuses carries quarantined words into the window of whoever reads it. A value of at most
`MOST_QUOTED` characters may be repeated: it was typed, and who mistyped it must see it.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from consolidation import coord_schema, drafter, loader, packs, review_protocol
from consolidation.keys import KeyStore
from health.facts import RefusalFacts
from indexer import embedder
from recall import config, harness, hooks_install, show
from transcript import backup_files, curation, event, export
from transcript.adapters import registry
from transcript.errors import RecallError

_SIGN = "zq9x"
CANARY = "".join(f"{_SIGN}{number:04d}" for number in range(9_000))  # 72 KB: more than any of them takes
OVERSIZED = 2_000  # characters of it: more than a value has, and below a parser's own bound, behind which others refuse
_MADE_OF = re.compile(f"{_SIGN}[0-9]{{4}}")
_NOWHERE = Path("/nonexistent")  # settings and models are looked for here and not found
_BY, _AT = curation.Author("recall", "agent"), curation.Setting("2026-01-31T12:00:00.000Z", "session", "key")


@dataclass(frozen=True, slots=True)
class Parser:
    """A place where text from outside is taken in: `take` refuses the canary by an error, or returns the refusal.

    One that is bounded refuses what is too large before it looks at it, and is sent that as well.
    """

    name: str
    take: Callable[[str], object]
    bounded: bool = False


def refusal_facts(parsers: Iterable[Parser]) -> RefusalFacts:
    """Return how many parsers were asked, and how many characters of the canary the refusals of each hold."""
    found: dict[str, int] = {}
    asked = set()
    for parser in parsers:
        asked.add(parser.name)
        for text in (CANARY[:OVERSIZED], CANARY) if parser.bounded else (CANARY[:OVERSIZED],):
            try:
                said = str(parser.take(text))
            except (RecallError, ValueError) as error:
                said = str(error)
            echoed = sum(map(len, _MADE_OF.findall(said)))
            if echoed:
                found[parser.name] = found.get(parser.name, 0) + echoed
    return RefusalFacts(len(asked), found)


def _setting(key: str) -> Callable[[str], object]:
    return lambda text: config.load(_NOWHERE, None, {}, {key: text})


def _proposal(field: str, within: str = "") -> Callable[[str], object]:
    action: dict[str, object] = {"operation": "add", "target_ref": None, "summary": "x", "evidence_refs": []}
    sound = {
        "schema_version": coord_schema.SCHEMA_VERSION, "proposal_id": str(UUID(int=0)), "source_task": "x",
        "created_at": _AT.ts, "state": coord_schema.STATES[0], "decision": None, "action": action,
    }  # fmt: skip

    def take(text: str) -> object:
        changed = {"action": {**action, field or text: text}} if within else {field or text: text}
        return coord_schema.checked({**sound, **changed})

    return take


def _memory(field: str) -> Callable[[str], object]:
    head = "type: project_fact\n" if field != "type" else ""
    return lambda text: loader.document("x.md", f"---\n{head}{field}: {text}\n---\nIt holds.\n".encode())


def _pack(field: str) -> Callable[[str], object]:
    sound = {"schema_version": packs.VERSION, "name": "x", "version": "1.0.0", "sha256": "0" * 64, "files": []}
    return lambda text: packs.manifest_of(json.dumps({**sound, field: text}).encode())


def _packed(field: str) -> Callable[[str], object]:
    listed = {"path": "USER.md", "kind": "identity"}
    sound = {"schema_version": packs.VERSION, "name": "x", "version": "1.0.0", "sha256": "0" * 64}
    return lambda text: packs.manifest_of(json.dumps({**sound, "files": [{**listed, field: text}]}).encode())


def _answer(**fields: object) -> Callable[[str], object]:
    def take(text: str) -> object:
        said = {name: text if value is ... else value for name, value in fields.items()}
        return review_protocol.answer({"protocol": review_protocol.PROTOCOL, **said}, {"memories": []})

    return take


def _event(field: str) -> Callable[[str], object]:
    sound = {
        "ts": _AT.ts, "session": "s", "type": "mark", "agent": "a", "id": "a" * 26, "ts_source": "record",
        "actor": "system", "origin": "internal", "native": {}, "body": {"mark": "x"},
    }  # fmt: skip
    return lambda text: event.fault({**sound, field: text}) or ""


def _export(field: str) -> Callable[[str], object]:
    sound = {export.HEADER: export.FORMAT, "workspace": "w", "events": 1, "through": {}}
    return lambda text: export.header_of([json.dumps({**sound, field: text}).encode()]) and ""


def _hook(text: str) -> object:
    """Return the kinds of both refusals: of what is no JSON, and of JSON of another shape."""
    shaped = json.dumps({"hook_event_name": text, "session_id": text, "prompt": text})
    return [harness.recognise("claude-code", raw.encode()) for raw in (text, shaped)]


PARSERS = (
    *(
        Parser("settings", _setting(key))
        for key in ("gate.threshold", "hook.deadline_ms", "schedule.at", "budget.mode")
    ),
    Parser("settings", lambda text: config.load(_NOWHERE, None, {}, {f"gate.{text}": "1"})),
    Parser("settings", lambda text: config.load(_NOWHERE, None, {f"{config.PREFIX}GATE_{text}": "1"})),
    Parser("proposals", lambda text: coord_schema.parse(text.encode()), bounded=True),
    *(
        Parser("proposals", _proposal(name))
        for name in ("", "proposal_id", "source_task", "created_at", "state", "action")
    ),
    *(Parser("proposals", _proposal(name, "action")) for name in ("", "operation", "target_ref", "kind", "subject")),
    *(Parser("memory files", _memory(name)) for name in ("type", "kind", "privacy", "valid_from", "metadata")),
    Parser(
        "memory files", lambda text: loader.document("x.md", f"---\n{text}: [\n---\nIt holds.\n".encode()), bounded=True
    ),
    Parser("memory files", lambda text: loader.document("x.md", f"---\n- {text}\n---\nIt holds.\n".encode())),
    *(Parser("packs", _pack(name)) for name in ("schema_version", "name", "version", "sha256", "files")),
    *(Parser("packs", _packed(name)) for name in ("path", "kind")),
    Parser("packs", lambda text: packs.manifest_of(text.encode()), bounded=True),
    Parser("reviewers", _answer(verdict=...)),
    Parser("reviewers", _answer(protocol=...)),
    Parser("reviewers", lambda text: review_protocol.answer({text: text}, {"memories": []})),
    Parser("drafters", lambda text: drafter.answered(text.encode()), bounded=True),
    Parser("drafters", lambda text: drafter.answered(json.dumps({"protocol": text, "candidates": [text]}).encode())),
    *(
        Parser("events", _event(name))
        for name in ("ts", "type", "id", "ts_source", "actor", "origin", "native", "body")
    ),
    Parser("events", lambda text: event.from_line(text.encode(), segment=1, end=1)),
    Parser("exports", lambda text: export.header_of([text.encode()])),
    *(Parser("exports", _export(name)) for name in (export.HEADER, "events", "through")),
    Parser("backups", lambda text: backup_files.check_names([backup_files.Stored(text, "0001-x", 0, "")])),
    Parser("backups", lambda text: backup_files.check_names([backup_files.Stored("id.key", f"../{text}", 0, "")])),
    Parser("decisions", lambda text: curation.decision(_BY, _AT, "x", kind=text)),
    Parser("tasks", lambda text: curation.task(_BY, _AT, "T1", text)),
    Parser("questions", lambda text: curation.question(_BY, _AT, "Q1", text)),
    Parser("corrections", lambda text: curation.correction(_BY, _AT, "x", "x", kind=text)),
    Parser("outcomes", lambda text: curation.outcome(_BY, _AT, "x", text)),
    Parser("actors", lambda text: curation.Author("x", text)),
    Parser("pointers", lambda text: show.parse_pointer(f"#{text}") and ""),
    Parser("pointers", lambda text: show.parse_pointer(f"{text}#5-{text}") and ""),
    Parser("models", lambda text: embedder.check(text, data_home=str(_NOWHERE))),
    Parser("keys", lambda text: KeyStore(_NOWHERE).by_id(text)),
    Parser("hook installs", lambda text: hooks_install.plan_install(text, "user", _NOWHERE, _NOWHERE, {})),
    Parser("adapters", lambda text: registry.harness_of(text, ["claude-code"])),
    Parser("hook payloads", _hook),
)
