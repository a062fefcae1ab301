"""Every code that a proposal, a decision or the canonical memory can be refused with, what it means and what is next.

A refusal says the code and the field, never the content: it is shown about material that nobody has approved.
"""

from dataclasses import dataclass

from transcript.errors import CoordError, KeyFault

_NEW = "write a new proposal"
_AGAIN = "it waits for a person again: recall coord review"
_KEYS = "recall coord key list"
SAYS: dict[str, str] = {
    # a document
    "not_json": "the file is not one JSON object in UTF-8",
    "too_large": "the file is larger than a proposal may be (64 KiB); shorten it",
    "too_deep": "the file is nested deeper than 8 levels",
    "duplicate_key": "a name stands there twice; keep one",
    "not_finite": "NaN and infinity are no values",
    "float": "numbers with a fraction or exponent are no values of the schema",
    "surrogate": "a text holds half a character (a lone surrogate)",
    "schema": "not as the schema says; see recall coord instructions",
    "unknown_key": "a name that the schema does not know; see recall coord instructions",
    "wrong_store": "research and paper claims belong into evidence stores, not here",
    "bad_ref": "not a reference; name a record pointer, an id, a task, an https address or a path inside the project",
    "bad_target": "this operation cannot be done to this target; see recall coord instructions",
    "no_target": "supersede, archive and delete name what they change, and it must exist",
    "target_gone": "the target no longer holds, or is no open question any more; read again and " + _NEW,
    "id_taken": "another document has this id; give the new one an id of its own",
    "ambiguous": "two files hold different documents of one id; remove the wrong one",
    "misnamed": "the file is not named after the id inside",
    "not_read": "not a regular .json file of at most 64 KiB, or one too many; it was not opened",
    "no_proposal": "no proposal has this id; see recall coord read",
    "no_file": "its file is gone; recall coord restore writes it again",
    "erased": "its words were erased from the record; remove the file, or " + _NEW,
    # a decision
    "no_evidence": "a proposal without evidence stays pending; revise it with evidence",
    "decided_already": "it was decided before; " + _NEW,
    "changed_since_shown": "the file or its evidence changed while it was shown; look at it again",
    "not_approved": "nobody has approved it; recall coord review",
    "state_edited": "the state in the file is none that the record knows; recall coord restore writes it again",
    "decision_fields": "the decision lacks a field or has one too many; " + _AGAIN,
    "decision_changed": "the decision is not the one that the record holds; " + _AGAIN,
    "action_changed": "the action is not the one that was approved; " + _AGAIN,
    "document_changed": "the document is not the one that was approved; " + _AGAIN,
    "other_store": "the decision was made for another project; " + _AGAIN,
    "bad_mac": "the decision was not signed with the key it names; " + _AGAIN,
    "expired": "the approval has run out; " + _AGAIN,
    "bad_time": "the decision was made later than this clock shows; set the clock right, then apply again",
    "evidence_changed": "this evidence is not what it was when it was approved; " + _AGAIN,
    "used": "this approval was used before; " + _AGAIN,
    # keys
    "key_missing": "there is no key to sign with; recall coord key new",
    "key_exists": "there is a key already; recall coord key rotate makes a new one",
    "key_short": "the key is not 64 hex digits (32 bytes); recall coord key rotate",
    "key_exposed": "others can read or replace the key; chmod 600 it, 700 its folder, then recall coord key rotate",
    "key_link": "the key, or the folder it lies in, is not the plain thing itself; put that there, or make a new key",
    "key_list": "this list beside the keys is no plain file; put back the real one, or remove what stands there",
    "key_owner": "the key belongs to another user; recall coord key rotate",
    "key_unknown": "no key here has this id; " + _KEYS,
    "key_rotated": "it was signed with a key after that was replaced; " + _AGAIN,
    "key_revoked": "the key was revoked; recall coord key rotate, then decide again",
    # the canonical memory
    "memory_edited": "memory.yml was changed by hand; recall coord restore --replace writes it from the record",
    "memory_link": "memory.yml or a folder above it is a link or no regular file; put the real one there",
    "coord_missing": "a file that the record knows is gone; recall coord restore writes it again",
    "coord_behind": "the file is a beginning of what the record says; recall coord restore completes it",
    "coord_edited": "the file was changed by hand; recall coord restore --replace writes it from the record",
    "coord_unmirrored": "the record does not know this proposal yet; recall coord review or apply takes it in",
    "revoked_key": "it was applied before the key of its decision was revoked; look at it again",
    "evidence_broken": "the evidence of this item is gone",
    "store_behind": "memory.yml holds more than the record: lines by hand, or an old record; coord restore --replace",
}
# What a field of a document must be.
FORMS: dict[str, str] = {
    "document": "one object with the fields of the schema",
    "schema_version": "the number 1",
    "proposal_id": "a uuid in lower case, with dashes",
    "source_task": "one line of 1 to 200 characters",
    "created_at": "a moment with its time zone, like 2026-03-01T12:00:00Z",
    "state": "`proposed` in a new document",
    "decision": "null until a person decides",
    "revises": "the id of another proposal",
    "action": "an object with operation, target_ref, summary and evidence_refs",
    "action.operation": "add, supersede, archive or delete",
    "action.target_ref": "null, or what is changed",
    "action.summary": "1 to 4,000 characters",
    "action.evidence_refs": "a list of at most 64 references, each once",
    "action.kind": "decision, question, artifact or outcome",
    "action.subject": "one line of 1 to 200 characters",
    "action.content": "the path and the text of the file that the target names",
    "action.content.path": "the path of the target, and that a procedure: or identity:",
    "action.content.text": "a text of at most 48 KiB",
}
_TARGETS = (
    "no target; name an item's id, memory:ID, candidate:ID, procedure:PATH.md, identity:PATH.md or pack:NAME@SHA256"
)
# What is told and fails nothing: somebody should look at it, and every item stands as it was approved.
WARNINGS = frozenset(
    {"misnamed", "revoked_key", "evidence_broken", "evidence_changed", "coord_unmirrored", "other_store"}
)


def says(code: str, field: str = "") -> str:
    """Return what a code means and what to do next; of `schema` also what the field must be."""
    if code == "schema" and field in FORMS:
        return f"must be {FORMS[field]}; see recall coord instructions"
    if code == "bad_ref" and field == "action.target_ref":
        return _TARGETS
    return SAYS.get(code, "refused")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is not done: a code of SAYS (or an effect's own), and the field or reference it is about."""

    code: str
    field: str = ""
    note: str = ""

    @property
    def message(self) -> str:
        """What it means and what to do next, in one line."""
        about = f"{self.field}: " if self.field else ""
        return f"{self.code}: {about}{self.note or says(self.code, self.field)}"

    def error(self) -> CoordError:
        """Return it as an error that the command line prints."""
        kind = KeyFault if self.code.startswith("key_") else CoordError
        return kind(self.code, self.field, self.message)


def refused(code: str, field: str = "") -> CoordError:
    """Return the error of a code."""
    return Refusal(code, field).error()


def key_fault(code: str, field: str = "") -> KeyFault:
    """Return the error of a key's code."""
    return KeyFault(code, field, Refusal(code, field).message)
