"""Reads one Codex rollout and turns its records into events.

Codex writes what is said in up to three forms: an event (`user_message`, `agent_message`), in newer versions an item
(`item_completed`), and what the model got (`response_item`), which also carries what the client put in. For each of the
two speakers the clean forms are read where the file has one, else the last. What is read is held back until that is
known. A message is identified by whose session it was said in, by whom, its words, and how often they were said before:
its forms are one event, whichever was met first.
"""

from typing import Any

from transcript.adapters.base import Counts, Options, SourceFile, Taken
from transcript.adapters.codex_content import (
    arguments_of,
    asked,
    content_of,
    envelope,
    image_of,
    output_of,
    working_folder,
)
from transcript.adapters.codex_replay import Lineage
from transcript.adapters.codex_types import (
    CALLS,
    COUNTED,
    EVENT_ENDS,
    EVENTS_COUNTED,
    ITEMS_COUNTED,
    NOTICES,
    RESPONSES,
    RESPONSES_COUNTED,
    RESULTS,
)
from transcript.adapters.jsonl import Line
from transcript.adapters.stream import Stream
from transcript.adapters.values import data_url, items_of, text_of
from transcript.canonical import b32id, sha256_hex, utf8
from transcript.injected import has_block, strip_blocks

HARNESS = "codex"
ADAPTER_VERSION = "1"


class CodexReader:
    """Reads one source on. `counts` is about the lines fed to this reader alone."""

    def __init__(self, source: SourceFile, memory: dict[str, Any], options: Options) -> None:
        self.counts = Counts()
        self._options = options
        self._out = Stream(HARNESS, ADAPTER_VERSION, source, memory, options, self.counts)
        self._kept = memory
        own = source.worker or source.session or memory["session"]
        self._lineage = Lineage(memory, own)
        memory.setdefault("clean", {})  # speakers for whom the file has a clean form
        memory.setdefault("turns", [])
        memory.setdefault("rollbacks", 0)
        self._held: list[dict[str, Any]] | None = None if len(memory["clean"]) == 2 else []

    def feed(self, line: Line) -> None:
        """Take in the records of the next line."""
        for at, fields in enumerate(line.objects):
            if at in line.odd:
                self._release()
                self._out.odd(line.raw, _kind(fields))
                continue
            self._notice_form(fields)
            if self._held is None:
                self._record(fields)
            else:
                self._held.append(fields)
                if len(self._kept["clean"]) == 2:
                    self._release()
                    self._held = None

    def take(self) -> list[Taken]:
        """Return the events since the last call, in the order of the file."""
        return self._out.take()

    def finish(self) -> list[Taken]:
        """Return the rest and the marks that follow from the whole file so far."""
        self._release()
        self._out.finish()
        return self._out.take()

    def _release(self) -> None:
        held, self._held = self._held, [] if self._held is not None else None
        for fields in held or ():
            self._record(fields)

    def _notice_form(self, fields: dict[str, Any]) -> None:
        payload = fields.get("payload")
        if fields.get("type") != "event_msg" or not isinstance(payload, dict):
            return
        kind = payload.get("type")
        item = payload.get("item") if kind == "item_completed" else None
        inner = item.get("type") if isinstance(item, dict) else None
        if inner == "UserMessage" or (kind == "user_message" and payload.get("kind") in (None, "plain")):
            self._kept["clean"]["user"] = 1
        elif inner == "AgentMessage" or kind == "agent_message":
            self._kept["clean"]["assistant"] = 1

    # -- records -----------------------------------------------------------------------------

    def _record(self, fields: dict[str, Any]) -> None:
        kind, payload = _kind(fields), fields.get("payload")
        bare = not isinstance(payload, dict)
        body: dict[str, Any] = fields if bare or not isinstance(payload, dict) else payload
        self.counts.records[kind] += 1
        self._out.at(fields.get("timestamp") or (body.get("timestamp") if kind == "session_meta" else None))
        turn = text_of(body.get("turn_id"))
        starts = kind == "event_msg" and body.get("type") in ("task_started", "turn_started")
        if kind != "session_meta":
            self._lineage.meet(self._out.ts if fields.get("timestamp") else "", turn, starts_turn=starts)
        if self._lineage.replaying:
            self._out.flags.append("copied")
        if kind == "session_meta":
            self._meta(body)
        elif kind == "event_msg":
            self._event(fields, body)
        elif kind == "response_item" or (bare and kind in RESPONSES):
            self._response(fields, body)
        elif kind == "compacted":
            self._compacted(body)
        elif kind == "inter_agent_communication":
            self._notice("inter_agent", _said(body))
        elif kind == "turn_context":
            self._out.note(cwd=body.get("cwd"), model=body.get("model"))
        elif kind not in COUNTED:
            self._unknown(kind, fields)

    def _meta(self, meta: dict[str, Any]) -> None:
        session = text_of(meta.get("id")) or text_of(meta.get("session_id"))
        if not self._lineage.meta(session):
            return
        if not self._out.worker:
            self._out.belongs(session)
        git = meta.get("git")
        self._out.note(version=meta.get("cli_version"), cwd=meta.get("cwd"))
        if isinstance(git, dict):
            self._out.note(branch=git.get("branch"))

    def _event(self, fields: dict[str, Any], event: dict[str, Any]) -> None:
        kind = text_of(event.get("type"))
        self.counts.records[f"event_msg/{kind}"] += 1
        if kind == "user_message":
            media = [medium for url in items_of(event.get("images")) if (medium := data_url(url)) is not None]
            self._user(text_of(event.get("message")), "event", media=media)
        elif kind == "agent_message":
            self._flag_phase(event)
            self._assistant(text_of(event.get("message")), "event")
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            self._reasoning(text_of(event.get("text")), "event")
        elif kind == "item_completed":
            self._item(fields, event.get("item"))
        elif kind == "thread_rolled_back":
            self._rolled_back(event.get("num_turns"))
        elif kind in NOTICES:
            self._notice("interrupted" if kind == "turn_aborted" else kind, _said(event))
        elif kind not in EVENTS_COUNTED and not kind.endswith(EVENT_ENDS):
            self._unknown(f"event_msg/{kind}", fields)

    def _item(self, fields: dict[str, Any], item: Any) -> None:
        kind = text_of(item.get("type")) if isinstance(item, dict) else type(item).__name__
        self.counts.records[f"item/{kind}"] += 1
        if kind == "UserMessage":
            content = content_of(item.get("content"))
            self._count_parts(content.unknown, "UserMessage")
            self._user("".join(content.texts), "item", native=text_of(item.get("id")), media=content.media)
        elif kind in ("AgentMessage", "Plan"):
            self._flag_phase(item)
            texts = content_of(item.get("content")).texts or [text_of(item.get("text"))]
            for part, text in enumerate(texts):
                self._assistant(text, "item", native=text_of(item.get("id")), part=part)
        elif kind == "Reasoning":
            texts = item.get("summary_text") or content_of(item.get("raw_content")).texts
            for part, text in enumerate(texts if isinstance(texts, list) else []):
                self._reasoning(text_of(text), "item", native=text_of(item.get("id")), part=part)
        elif kind in ("EnteredReviewMode", "ExitedReviewMode"):
            self._notice(kind, _said(item))
        elif kind not in ITEMS_COUNTED:
            self._unknown(f"item/{kind}", fields)

    def _response(self, fields: dict[str, Any], item: dict[str, Any]) -> None:
        kind = text_of(item.get("type")) or ("message" if "role" in item else "")
        self.counts.records[f"response_item/{kind}"] += 1
        native = text_of(item.get("id"))
        if kind == "message":
            self._message(fields, item, native)
        elif kind == "reasoning":
            texts = content_of(item.get("summary")).texts or content_of(item.get("content")).texts
            for part, text in enumerate(texts or [""]):
                self._reasoning(text, "response", native=native, part=part)
        elif kind in CALLS:
            self._call(kind, item, native)
        elif kind in RESULTS:
            output = item.get("output") if "output" in item else item.get("tools", item.get("result"))
            content, failed = output_of(output)
            self._count_parts(content.unknown, kind)
            body: dict[str, Any] = {"call_id": text_of(item.get("call_id")), "text": "\n".join(content.texts)}
            if failed:
                body["is_error"] = True
            event = self._event_id("result", body["call_id"])
            self._emit("tool_result", event, body, "tool", native=native, media=content.media)
        elif kind == "image_generation_call":
            given = {"prompt": item.get("revised_prompt"), "status": item.get("status")}
            body = {"tool": "image_generation", "call_id": native, "input": given}
            media = image_of(item.get("result"))
            self._emit("tool_call", self._event_id("call", native), body, "assistant", native=native, media=media)
        elif kind == "agent_message":
            self._notice("inter_agent", _said(item), native)
        elif kind not in RESPONSES_COUNTED:
            self._unknown(f"response_item/{kind}", fields)

    def _message(self, fields: dict[str, Any], item: dict[str, Any], native: str) -> None:
        role = text_of(item.get("role"))
        content = content_of(item.get("content"))
        self._count_parts(content.unknown, f"message/{role}")
        if role == "assistant":
            self._flag_phase(item)
        for part, text in enumerate(content.texts):
            if role in ("developer", "system"):
                kinds = _mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
                hook = isinstance(kinds, list) and part < len(kinds) and str(kinds[part]).startswith("hooks.")
                self._notice("hook_additional_context" if hook else "developer", text, native, part)
            elif role == "user" and envelope(text):
                self._envelope(text, native, part)
            elif role in self._kept["clean"]:
                self.counts.notes["second form of a message"] += 1
            elif role == "user":
                self._user(text, "response", native=native, part=part, media=content.media if not part else [])
            elif role == "assistant":
                self._assistant(text, "response", native=native, part=part)
            else:
                self._unknown(f"message/{role}", fields)

    def _call(self, kind: str, item: dict[str, Any], native: str) -> None:
        call_id = text_of(item.get("call_id")) or native
        given = item.get("arguments", item.get("input", item.get("action")))
        tool = text_of(item.get("name")) or kind.removesuffix("_call")
        if text_of(item.get("namespace")):
            tool = f"{item['namespace']}.{tool}"
        body = {"tool": tool, "call_id": call_id, "input": arguments_of(given)}
        self._emit("tool_call", self._event_id("call", call_id), body, "assistant", native=native or call_id)

    def _compacted(self, record: dict[str, Any]) -> None:
        """Take in a compaction. Its `replacement_history` repeats what was said and is never read."""
        text = text_of(record.get("message"))
        event = self._identify("compacted", text)
        self._out.system(b32id(event, "boundary"), "compact_boundary", "")
        if text:
            self._out.flags.append("compact_summary")
            self._emit("conversation_turn", event, {"kind": "summary", "text": text}, "assistant")

    def _rolled_back(self, number: Any) -> None:
        turns: list[list[str]] = self._kept["turns"]
        count = number if isinstance(number, int) and number > 0 else 0
        gone = [event for turn in turns[-count:] for event in turn] if count else []
        if count:
            del turns[-count:]
        self._kept["rollbacks"] += 1
        event = b32id("mark", "rewound", HARNESS, self._lineage.origin, str(self._kept["rollbacks"]), *gone)
        self._out.mark("rewound", gone, f"rolled back: {count} turns", event)

    # -- what is said ------------------------------------------------------------------------

    def _user(
        self, text: str, form: str, *, native: str = "", part: int = 0, media: list[tuple[bytes, str]] | None = None
    ) -> None:
        if envelope(text):
            self._envelope(text, native, part)
            return
        head, text = asked(text)
        if has_block(text) and not strip_blocks(text).strip():
            self._notice("injected", text, native, part)
            return
        if not text and not media:
            return
        event = self._identify("user", text, form)
        if self._out.holds(event):
            self.counts.notes["second form of a message"] += 1
            return
        self._kept["turns"].append([])
        if head:
            self._emit("system", b32id(event, "ide"), {"subtype": "ide", "text": head}, "system", native=native)
        worker = bool(self._out.worker) and not self._lineage.replaying
        self.counts.notes["prompt"] += not worker
        body = {"kind": "worker_prompt" if worker else "prompt", "text": text}
        actor = "assistant" if worker else "user"
        self._emit("conversation_turn", event, body, actor, native=native, part=part, media=media)

    def _assistant(self, text: str, form: str, *, native: str = "", part: int = 0) -> None:
        if not text:
            return
        event = self._identify("assistant", text, form)
        if self._out.holds(event):
            self.counts.notes["second form of a message"] += 1
            return
        self._out.message = native
        self._emit(
            "conversation_turn", event, {"kind": "reply", "text": text}, "assistant", native=native, part=part
        )  # fmt: skip

    def _reasoning(self, text: str, form: str, *, native: str = "", part: int = 0) -> None:
        self._out.reasoning(self._identify("reasoning", text, form), text, native=native, part=part)

    def _envelope(self, text: str, native: str, part: int) -> None:
        subtype = envelope(text)
        self.counts.notes[f"client text: {subtype}"] += 1
        if subtype == "environment" and not self._kept["cwd"]:
            self._out.note(cwd=working_folder(text))
        self._notice(subtype, text, native, part)

    def _notice(self, subtype: str, text: str, native: str = "", part: int = 0) -> None:
        if text:
            self._out.system(self._identify(subtype, text), subtype, text, native=native, part=part)

    def _unknown(self, name: str, raw: dict[str, Any]) -> None:
        self._out.unknown(name, raw, self._identify(name, raw))

    def _count_parts(self, names: list[str], where: str) -> None:
        for name in names:
            self.counts.unknown[f"{where}/{name}@{self._kept['version']}"] += 1

    def _flag_phase(self, said: dict[str, Any]) -> None:
        if text_of(said.get("phase")):
            self._out.flags.append(said["phase"])

    def _emit(self, kind: str, event: str, body: dict[str, Any], actor: str, **more: Any) -> None:
        if self._out.emit(kind, event, body, actor, **more) and self._kept["turns"]:
            self._kept["turns"][-1].append(event)

    def _identify(self, role: str, body: object, form: str = "") -> str:
        """Return the id of what was said: its n-th time in one form is its n-th time in every other."""
        origin = self._lineage.origin
        said = sha256_hex(utf8(body)) if isinstance(body, str) else body
        return self._options.identify(origin, role, body, self._out.count(form, origin, role, said))

    def _event_id(self, kind: str, call_id: str) -> str:
        """Return the id of a call or a result; some models count their calls from 1 in every turn."""
        origin = self._lineage.origin
        return b32id(HARNESS, origin, kind, call_id, str(self._out.count(origin, kind, call_id)))


def _kind(fields: dict[str, Any]) -> str:
    """Return a record's type; before September 2025 the first line and the items had no envelope."""
    kind = fields.get("type")
    if isinstance(kind, str):
        return kind
    if isinstance(fields.get("record_type"), str):
        return str(fields["record_type"])
    return "session_meta" if "id" in fields and "timestamp" in fields else type(kind).__name__


def _said(fields: dict[str, Any]) -> str:
    for name in ("message", "text", "content", "review", "review_output", "user_facing_hint", "reason"):
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and (texts := content_of(value).texts):
            return "\n".join(texts)
        if isinstance(value, dict) and isinstance(value.get("overall_explanation"), str):
            return str(value["overall_explanation"])
    return ""


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
