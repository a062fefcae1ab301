"""Procedures are written from practice and through one gate: what an instruction, command, skill or role file needs.

A proposal to write one is refused unless it is prompt text in its place, no other procedure says it already, a record
pointer shows where it comes from, and two uses of it that went well are named. A person's approval, and the file read
back, follow (consolidation.coord_decide, consolidation.coord_apply).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consolidation.claims import claims
from consolidation.contradiction import RULES
from consolidation.coord_desk import CoordDesk
from consolidation.coord_ref_words import scheme_of
from consolidation.experience import Experience
from consolidation.standing_files import ProcedureText, identity_folder, procedures
from indexer.segment import query_terms
from recall.facts import stem
from recall.likeness import jaccard
from recall.standing_places import PROCEDURAL, ROLE, SEMANTIC, Place, head, layer_of
from transcript.canonical import sha256_hex
from transcript.coord_codes import Refusal
from transcript.curation import resolve
from transcript.errors import PointerError, RecordError
from transcript.event import Event
from transcript.log import Log
from transcript.memories import Memory
from transcript.paths import read_file
from transcript.sieve import Sieve, type_field

PROCEDURE, IDENTITY = "procedure", "identity"
LEAST_USES = 2
NEAR = 0.8  # shared words from which two sentences say the same
MOST_USES = 8  # that a proposal of ours names
_USES = ("memory.cited", "memory.prevented_mistake")
_WELL = "verified"  # the status of an outcome that shows a successful use
_SLUG = re.compile(r"[^a-z0-9]+")
TARGET, EVIDENCE, CONTENT = "action.target_ref", "action.evidence_refs", "action.content"


def gate(action: Mapping[str, Any], log: Log, where: Sequence[Place], root: Path) -> Refusal | None:
    """Return why a file of the standing context may not be written as an action says, None where it may.

    Codes: not_prompt_text, exists, no_target, no_source, not_practised. Actions on anything else pass. IDENTITY.md and
    USER.md say who somebody is: they need approval and evidence, no practice.
    """
    scheme, path = scheme_of(str(action.get("target_ref") or ""))
    if scheme not in (PROCEDURE, IDENTITY):
        return None
    layer, kind = layer_of(path)
    text = str((action.get("content") or {}).get("text", ""))
    fault = _not_prompt(action, scheme, path, layer, kind, text, root)
    if fault is not None:
        return fault
    present = (identity_folder(root) / path).is_file()
    adds = action.get("operation") == "add"
    if adds and present:
        return Refusal("exists", TARGET, f"{path} is there already; propose to supersede it")
    if not adds and not present:
        return Refusal("no_target", TARGET, f"there is no {path}; propose to add it")
    if kind != PROCEDURAL and layer != ROLE:
        return None
    other = says_it_already(text, procedures(where, root), besides=f"project:{path}")
    if other:
        return Refusal("exists", CONTENT, f"{other} says this already; propose to supersede it")
    return _unproven(action, log, practised=kind == PROCEDURAL)


def _not_prompt(
    action: Mapping[str, Any], scheme: str, path: str, layer: str, kind: str, text: str, root: Path
) -> Refusal | None:
    """Prompt text alone is written this way; programs change through the review of software."""
    code = "not_prompt_text"
    allowed = (kind == PROCEDURAL or layer == ROLE) if scheme == PROCEDURE else kind == SEMANTIC
    if not allowed:
        places = "instructions/*.md, commands/*.md, skills/NAME/SKILL.md or roles/NAME.md"
        places = places if scheme == PROCEDURE else "IDENTITY.md, USER.md or roles/NAME.md"
        return Refusal(code, TARGET, f"{path} is none of {places}; programs are changed by review, not here")
    if str((action.get("content") or {}).get("path", path)) != path:
        return Refusal(code, CONTENT, "content.path is another path than the target's")
    if not text.strip() or text.startswith("#!"):
        return Refusal(code, CONTENT, "it is no prompt text; programs are changed by review, not here")
    folder = identity_folder(root)
    file = folder / path
    real = file.resolve()
    if not real.is_relative_to(root.resolve() / ".recall"):
        return Refusal(code, TARGET, f"{path} leads out of the project's identity folder")
    if any((one / "__init__.py").exists() for one in real.parents if one.is_relative_to(root.resolve())):
        return Refusal(code, TARGET, f"{path} lies in a package; programs are changed by review, not here")
    if file.is_file() and file.stat().st_mode & 0o111:
        return Refusal(code, TARGET, f"{path} is executable; programs are changed by review, not here")
    return None


def _unproven(action: Mapping[str, Any], log: Log, *, practised: bool) -> Refusal | None:
    found = [event for ref in action.get("evidence_refs") or () if (event := _recorded(log, str(ref))) is not None]
    if not found:
        return Refusal("no_source", EVIDENCE, "no recall: pointer of the record shows where it comes from")
    uses = {_use(event) for event in found} - {""}
    if practised and len(uses) < LEAST_USES:
        return Refusal(
            "not_practised",
            EVIDENCE,
            f"{len(uses)} of {LEAST_USES} uses that went well are named: citations, prevented mistakes or verified "
            "outcomes of the record, each of another session",
        )
    return None


def _recorded(log: Log, ref: str) -> Event | None:
    scheme, rest = scheme_of(ref)
    if scheme != "recall":
        return None
    try:
        return resolve(log, rest)[1]
    except (PointerError, RecordError):
        return None


def _use(event: Event) -> str:
    """What one successful use is counted under: a session once for citations, each verified outcome."""
    body = event.body
    if event.type in _USES:
        return f"session {body.get('session')}"
    return event.id if event.type == "outcome" and body.get("status") == _WELL else ""


def says_it_already(text: str, known: Iterable[ProcedureText], *, besides: str = "") -> str:
    """Return the key of a procedure in which every sentence of a text stands in nearly the same words, "" for none."""
    with suppress(ValueError):
        text = head(text)[1]
    wanted = [words for claim in claims(text) if len(words := _words(claim.text)) > 1]
    for one in known:
        if one.key == besides or not wanted:
            continue
        said = [_words(claim.text) for claim in claims(one.text)]
        if all(any(jaccard(words, other) >= NEAR for other in said) for words in wanted):
            return one.key
    return ""


def _words(text: str) -> frozenset[str]:
    return frozenset(map(stem, query_terms(text)))


def landed(path: Path, sha256: str) -> bool:
    """Return whether a procedure that was written is there as it was approved."""
    try:
        return sha256_hex(read_file(path)) == sha256
    except OSError:
        return False


def promotable(
    memories: Iterable[Memory], worth: Mapping[str, Experience], known: Sequence[ProcedureText], *, least: int
) -> list[Memory]:
    """Return the rules that were cited in at least so many sessions and stand in no procedure, most cited first.

    least 0 is never. A private memory is nobody else's to read in a file.
    """
    found = [
        one
        for one in memories
        if least
        and one.kind == "statement"
        and one.memory_type in RULES
        and one.privacy != "private"
        and worth.get(one.id, _NO_USE).hits >= least
        and not says_it_already(one.statement, known)
    ]
    return sorted(found, key=lambda one: (-worth[one.id].hits, one.id))


_NO_USE = Experience()


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal that a run has made: its id, the memory and the file."""

    proposal: str
    memory: str
    target: str


def propose(desk: CoordDesk, memories: Sequence[Memory]) -> list[Proposed]:
    """Propose each rule as an instruction, once, whatever came of it. Nobody is asked: the review shows it."""
    if not memories:
        return []
    known = {ref for one in desk.state().documents.values() for ref in _evidence(one.document)}
    new = [one for one in memories if f"memory:{one.id}" not in known]
    uses = _uses(desk.log, {one.id for one in new})
    made = []
    for one in new:
        shown = dict.fromkeys([*(span.event for span in one.sources[:1]), *uses[one.id][-MOST_USES:]])
        path = f"instructions/{slug(one.statement)}-{one.id[:6]}.md"
        action = {
            "operation": "add",
            "target_ref": f"{PROCEDURE}:{path}",
            "summary": f"Write down as an instruction what was cited again and again: {one.statement}"[:4000],
            "evidence_refs": [f"memory:{one.id}", *(f"recall:{event}" for event in shown)],
            "content": {"path": path, "text": f"{one.statement}\n"},
        }
        document = desk.propose(action, source_task="consolidation", by="consolidation")
        made.append(Proposed(document.id, one.id, path))
    return made


def slug(text: str) -> str:
    """Return the first words of a text as a file's name, at most 40 characters."""
    return _SLUG.sub("-", text.lower())[:40].strip("-") or "rule"


def _evidence(document: Mapping[str, Any] | None) -> list[str]:
    action = (document or {}).get("action") or {}
    return [str(ref) for ref in action.get("evidence_refs") or ()] if _writes(action) else []


def _writes(action: Mapping[str, Any]) -> bool:
    return scheme_of(str(action.get("target_ref") or ""))[0] == PROCEDURE


def _uses(log: Log, wanted: set[str]) -> dict[str, list[str]]:
    """The events that show a use of each memory, oldest first."""
    found: dict[str, list[str]] = defaultdict(list)
    for event in log.read(sieve=Sieve(tuple(map(type_field, _USES)))) if wanted else ():
        if event.type in _USES and event.body:
            for name in {str(event.body.get("of")), str(event.body.get("memory")), str(event.body.get("cited"))}:
                if name in wanted:
                    found[name].append(event.id)
    return found
