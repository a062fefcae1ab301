"""Reads the parts that Gemini-style messages are made of: texts, thoughts, calls, answers of tools, media."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from transcript.adapters.values import inline, text_of

Media = list[tuple[bytes, str]]
# Parts that say nothing by themselves, or repeat what a call and its answer say.
_SILENT = frozenset({"thoughtSignature", "videoMetadata", "fileData"})


@dataclass(frozen=True, slots=True)
class Part:
    """One part: `kind` is text, thought, call, result, media or unknown; `id` and `name` are those of a tool's call."""

    kind: str
    text: str = ""
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False
    media: Media = field(default_factory=list)
    raw: Any = None


def parts_of(content: object) -> Iterator[Part]:
    """Yield the parts of a message's content: a text, a part, or a list of both."""
    if content is None or content == "":
        return
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield Part("text", part)
        elif isinstance(part, dict):
            yield from _part(part)
        else:
            yield Part("unknown", name=type(part).__name__, raw=part)


def _part(part: dict[str, Any]) -> Iterator[Part]:
    if isinstance(part.get("text"), str):
        yield Part("thought" if part.get("thought") is True else "text", part["text"])
    elif isinstance(call := part.get("functionCall"), dict):
        yield Part("call", id=text_of(call.get("id")), name=text_of(call.get("name")), arguments=arguments_of(call))
    elif isinstance(answer := part.get("functionResponse"), dict):
        yield result_of(answer)
    elif isinstance(data := part.get("inlineData"), dict):
        medium = inline(data.get("data"), data.get("mimeType"))
        yield Part("media", media=[medium] if medium is not None else [])
    elif isinstance(code := part.get("executableCode"), dict):
        yield Part("text", text_of(code.get("code")))
    elif isinstance(done := part.get("codeExecutionResult"), dict):
        yield Part("text", text_of(done.get("output")))
    elif part.keys() - _SILENT:
        yield Part("unknown", name="+".join(sorted(part)), raw=part)


def arguments_of(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call's arguments as an object."""
    given = call.get("args")
    if isinstance(given, dict):
        return given
    return {} if given is None else {"": given}


def result_of(answer: dict[str, Any]) -> Part:
    """Return a tool's answer: what it gave out, what went wrong, and the media that came with it."""
    response = answer.get("response")
    failed = False
    if isinstance(response, dict) and isinstance(response.get("output"), str):
        text = response["output"]
    elif isinstance(response, dict) and isinstance(response.get("error"), str):
        text, failed = response["error"], True
    elif isinstance(response, str):
        text = response
    else:
        text = "" if response is None else json.dumps(response, ensure_ascii=False, sort_keys=True)
    inner = list(parts_of(answer.get("parts")))
    media = [medium for part in inner for medium in part.media]
    texts = [text, *(part.text for part in inner if part.kind == "text")]
    return Part(
        "result", "\n".join(filter(None, texts)), text_of(answer.get("id")), text_of(answer.get("name")),
        is_error=failed, media=media,
    )  # fmt: skip
