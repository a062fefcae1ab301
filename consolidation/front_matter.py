"""Reads the front matter of a memory's file: a YAML mapping between two lines of three dashes.

Every scalar is read as the text that stands there: a date stays a date as it was written, `no` stays a word. Anchors,
aliases and keys that stand twice are refused.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from transcript.errors import clip
from transcript.telling import quoted, unechoed

MOST_BYTES = 64 * 1024
OURS, FLAT, NESTED, PLAIN = "recall", "flat", "nested", "plain"
SCHEMA = "recall/memory/"
_NESTED_IN = "metadata"
_MARK = "---"
_NONE = ("", "null", "~", "none", "never")


def parse(text: str) -> tuple[dict[str, Any], str, str]:
    """Return (fields, body, layout) of a file; ValueError says what cannot be read.

    Layouts: `recall` (ours), `flat` (every key at the top), `nested` (below `metadata`, returned as if at the top),
    `plain` (no front matter: all of it is body).
    """
    head, body = _split(text.removeprefix("\ufeff"))
    if head is None:
        return {}, body, PLAIN
    if len(head.encode("utf-8", "replace")) > MOST_BYTES:
        raise ValueError(f"its front matter has more than {MOST_BYTES // 1024} KB")
    try:
        fields = yaml.load(head, _Loader)  # _Loader makes text, lists and mappings, nothing else
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"its front matter is no YAML: {clip(unechoed(_why(error), head.split()))}") from None
    if fields in _NONE:
        return {}, body, PLAIN
    if not isinstance(fields, dict):
        raise ValueError(f"its front matter is a {type(fields).__name__}, must be a mapping")
    inner = fields.pop(_NESTED_IN, None)
    if isinstance(inner, dict):
        inner.pop("node_type", None)
        return _joined(fields, inner), body, NESTED
    if inner is not None and inner not in _NONE:
        raise ValueError(f"{_NESTED_IN} is {quoted(inner)}, must be a mapping")
    return fields, body, OURS if text_of(fields, "schema").startswith(SCHEMA) else FLAT


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """Return a field that holds one text, "" for none; ValueError for a list or a mapping."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is a {type(value).__name__}, must be a text")
    return "" if value.strip().lower() in _NONE else value.strip()


def list_of(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a field that holds a list of texts; one text is a list of those between its commas."""
    value = fields.get(name, "")
    if isinstance(value, str):
        return tuple(one.strip() for one in text_of(fields, name).split(",") if one.strip())
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(value)


def _split(text: str) -> tuple[str | None, str]:
    """Return what stands between the dashes, None without them, and what stands behind."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _MARK:
        return None, text.strip("\r\n")
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() == _MARK:
            return "".join(lines[1:at]), "".join(lines[at + 1 :]).strip("\r\n")
    raise ValueError("its front matter has no end: a line of three dashes is missing")


def _joined(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any]:
    for name in outer.keys() & inner.keys():
        if outer[name] != inner[name]:
            twice = f"{name} stands twice, as {quoted(outer[name])} and as {quoted(inner[name])}"
            raise ValueError(unechoed(twice, (name,)))
    return {**outer, **inner}


def _why(error: Exception) -> str:
    """Return what a parser says and where, without the line that it quotes."""
    mark = getattr(error, "problem_mark", None)
    said = str(getattr(error, "problem", None) or error)
    return f"{said} (line {mark.line + 1})" if mark is not None else said


class _Loader(yaml.BaseLoader):
    """Makes texts, lists and mappings of what stands in a document, nothing that it would have to build or expand."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs lack it
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.YAMLError("anchors and aliases are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        if not all(isinstance(name, str) for name in names):
            raise yaml.YAMLError("a key must be a text")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise yaml.YAMLError(f"{', '.join(twice)} stands twice")
        return super().construct_mapping(node, deep=True)
