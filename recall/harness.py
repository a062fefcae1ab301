"""One event of a harness: taken from its hook's payload, and the answer to it in the form that this harness takes.

The same installed line may be run by other clients (Grok Build and Copilot CLI read Claude Code's settings), with
payloads of another shape: such a payload is recognised and answered with nothing.

On the hook path: standard library only.
"""

import json
from dataclasses import dataclass

from recall.contracts import CONTINUE, CONTRACTS, MARKS, PROMPT, START, TOP, Contract
from recall.session_state import NOTHING, Cue, cue

ANY = "any"  # whichever the payload is of
CLAUDE_CODE = "claude-code"
CAPTURE_EVENTS = frozenset({"Stop", "SessionEnd", "SubagentStop", "PreCompact"})
HOOK_TIMEOUT_S = 5  # registered with the harness, far above the client's own deadline
MOST_CONTEXTS = 8  # that stand in front of one prompt, one a hook; each costs a look at all that follows
SOURCES = {"new": "startup", "load": "resume"}  # other names of how a session starts


@dataclass(frozen=True, slots=True)
class Payload:
    """One event of a session, as far as recall uses it."""

    harness: str
    event: str
    session: str
    cwd: str
    prompt: str = ""
    agent: str = ""  # the sub-agent inside which the event happened
    source: str = ""  # of SessionStart: startup, resume, clear, compact, fork
    call: str = ""  # the harness's own id of the prompt
    transcript: str = ""  # the session's file
    cue: Cue = NOTHING  # what else the turn is about, where the harness says so

    @property
    def asks(self) -> bool:
        """Whether an answer may be injected: a prompt of the session itself, not of a sub-agent."""
        return self.event == PROMPT and self._is_heard

    @property
    def opens(self) -> bool:
        """Whether the start of a session may be answered."""
        return self.event == START and self._is_heard

    @property
    def opens_with_prompt(self) -> bool:
        """Whether what the session's start has to say comes with the first prompt after it."""
        contract = CONTRACTS.get(self.harness)
        return contract is not None and contract.opens_with_prompt and not self.agent

    @property
    def captures(self) -> bool:
        """Whether the session's file has something new to take in."""
        return self.event in CAPTURE_EVENTS

    @property
    def compacts(self) -> bool:
        """Whether what was injected so far leaves the model's window.

        A compaction that is announced may still not happen: where the harness tells of a real one, only that counts.
        """
        if self.event == "PreCompact":
            contract = CONTRACTS.get(self.harness)
            return contract is None or not contract.tells_compaction
        return self.event == START and self.source in ("compact", "clear")

    @property
    def _is_heard(self) -> bool:
        contract = CONTRACTS.get(self.harness)
        return contract is not None and self.event in contract.answers and not self.agent


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a payload is not taken: a kind of `recall.hook_counters`, or "" for an event that recall has no use for."""

    kind: str


def recognise(harness: str, raw: bytes) -> Payload | Refused:
    """Return the payload, or why it is none of this harness. Never raises."""
    if not raw.strip():
        return Refused("payload_empty")
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Refused("payload_not_utf8")
    except (ValueError, RecursionError):
        return Refused("payload_not_json")
    if not isinstance(found, dict):
        return Refused("payload_not_json")
    if harness == ANY:
        taken = (_recognised(contract, found) for contract in CONTRACTS.values())
        return next((one for one in taken if isinstance(one, Payload)), Refused("payload_unknown_shape"))
    contract = CONTRACTS.get(harness)
    return _recognised(contract, found) if contract is not None else Refused("payload_unknown_harness")


def _recognised(contract: Contract, found: dict[str, object]) -> Payload | Refused:
    name = _event_name(contract, found)
    if _is_foreign(contract, found):
        return Refused("payload_other_harness")
    key, wanted = contract.only.get(name, ("", None))
    if key and found.get(key) != wanted:
        return Refused("")
    return _taken(contract, contract.events.get(name, ""), found)


def _taken(contract: Contract, event: str, found: dict[str, object]) -> Payload | Refused:
    values = {field: _text(found, key) for field, key in contract.keys.items()}
    folders = found.get(contract.keys["cwd"])
    if isinstance(folders, list) and folders and isinstance(folders[0], str):  # a workspace of several: its first
        values["cwd"] = folders[0]
    if not event or not _is_id(values["session"]) or (event == PROMPT and not isinstance(found.get("prompt"), str)):
        return Refused("payload_unknown_shape")
    values["prompt"] = _typed(values["prompt"], contract.wraps) if event == PROMPT else ""
    if event == PROMPT and contract.repeats and not values["prompt"].strip():
        return Refused("")
    values["source"] = SOURCES.get(values["source"], values["source"])
    return Payload(contract.harness, event, **values, cue=cue(found) if contract.tells_facets else NOTHING)


def answer(payload: Payload, block: str) -> bytes:
    """Return what goes to standard output: one JSON object in ASCII, or nothing where no answer is taken."""
    if not block or not (payload.asks or payload.opens):
        return b""
    contract = CONTRACTS[payload.harness]
    found: dict[str, object]
    if contract.shape == TOP:
        found = {"additionalContext": block}
    elif contract.shape == CONTINUE:
        found = {"continue": True, "additional_context": block}
    else:
        name = contract.native(payload.event)
        found = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": block}}
    return json.dumps(found, separators=(",", ":")).encode("ascii")


def _event_name(contract: Contract, found: dict[str, object]) -> str:
    if contract.name:
        return _text(found, contract.name)
    return next((name for key, name in contract.told_by if key in found), "")


def _is_foreign(contract: Contract, found: dict[str, object]) -> bool:
    """Whether the payload holds a mark that this harness never sends, or lacks a key that it always does."""
    marks = MARKS & found.keys()
    if not marks:
        return False  # nobody's
    if not marks <= set(contract.sends) or found.get("harness", contract.harness) != contract.harness:
        return True
    if not found.keys() >= set(contract.always):
        return True
    file = _text(found, contract.keys["transcript"]).replace("\\", "/").rpartition("/")[2]
    return bool(file) and file.startswith("rollout-") is not contract.rollouts


def _typed(prompt: str, tag: str) -> str:
    """Return the prompt without the context that the harness put in front of it."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    for _ in range(MOST_CONTEXTS if tag else 0):
        if not prompt.lstrip().startswith(opening) or closing not in prompt:
            break
        prompt = prompt.partition(closing)[2].lstrip("\r\n")
    return prompt


def _is_id(text: str) -> bool:
    """Whether this can be an id: neither record nor index takes half of a surrogate pair."""
    return text.strip() != "" and not any("\ud800" <= char <= "\udfff" for char in text)


def _text(found: dict[str, object], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""
