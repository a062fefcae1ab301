"""Reads what Codex puts into messages and tool items: texts that nobody typed, images, arguments, outputs."""

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

from transcript.adapters.values import data_url, inline

REQUEST = "## My request for Codex:"
_CWD = re.compile(r"<cwd>([^<\n]+)</cwd>|^Current working directory: (.+)$", re.MULTILINE)
# What the client puts into the user role. Only a text that starts so is one: a tag in a sentence is content.
_ENVELOPES = (
    ("<environment_context>", "environment"),
    ("<user_instructions>", "instructions"),
    ("<INSTRUCTIONS>", "instructions"),
    ("# AGENTS.md", "instructions"),
    ("<permissions instructions>", "instructions"),
    ("<collaboration_mode>", "instructions"),
    ("<multi_agent_mode>", "instructions"),
    ("<apps_instructions>", "instructions"),
    ("<skills_instructions>", "instructions"),
    ("<plugins_instructions>", "instructions"),
    ("<turn_aborted>", "interrupted"),
    ("<skill>", "skill"),
    ("<user_shell_command>", "shell_command"),
    ("<subagent_notification>", "worker_notification"),
    ("<hook_prompt", "hook_output"),
    ("<user_action>", "user_action"),
    ("<model_switch>", "instructions"),
    ("<recommended_plugins>", "instructions"),
    ("<realtime_conversation>", "instructions"),
    ("<startup_context>", "instructions"),
    ("<context_window_reminder>", "notice"),
    ("<rollout_budget>", "notice"),
    ("<user_verification_notice>", "notice"),
)


@dataclass(slots=True)
class Content:
    """The texts of a message's parts, its media, and the names of parts nobody knows."""

    texts: list[str] = field(default_factory=list)
    media: list[tuple[bytes, str]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def envelope(text: str) -> str:
    """Return the kind of what the client wrote in the user's name, "" for a person's words."""
    head = text.lstrip()
    return next((kind for prefix, kind in _ENVELOPES if head.startswith(prefix)), "")


def asked(text: str) -> tuple[str, str]:
    """Return (what the editor put in front of a prompt, the prompt)."""
    at = text.find(f"\n{REQUEST}")
    if at < 0 or not text.lstrip().startswith("# "):
        return "", text
    end = at + 1 + len(REQUEST)
    return text[:end], text[end:].strip("\n")


def working_folder(text: str) -> str:
    """Return the folder that an environment note names, "" when it names none."""
    found = _CWD.search(text)
    return (found.group(1) or found.group(2)).strip() if found else ""


def content_of(content: object) -> Content:
    """Return what the parts of a message hold."""
    found = Content()
    if isinstance(content, str):
        found.texts.append(content)
        return found
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            found.texts.append(part)
            continue
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            found.texts.append(part["text"])
        elif kind in ("input_image", "image"):
            medium = data_url(part.get("image_url") or part.get("url"))
            if medium is not None:
                found.media.append(medium)
        elif kind not in ("local_image", "localImage", "skill", "mention", "encrypted_content"):
            found.unknown.append(kind if isinstance(kind, str) else type(part).__name__)
    return found


def arguments_of(given: object) -> dict[str, Any]:
    """Return a call's arguments: an object, or the text that should have been one."""
    if isinstance(given, str):
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(given, parse_constant=str)
    if isinstance(given, dict):
        return given
    return {} if given is None else {"": given}


def output_of(given: object) -> tuple[Content, bool]:
    """Return (what a tool gave back, whether it failed), whatever shape the client gave it."""
    failed = False
    if isinstance(given, str) and given.startswith('{"'):
        try:
            inner = json.loads(given)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict) and isinstance(inner.get("output"), str) and inner.keys() <= {"output", "metadata"}:
            given = inner
    if isinstance(given, dict):
        metadata = given.get("metadata")
        failed = given.get("success") is False or (isinstance(metadata, dict) and bool(metadata.get("exit_code")))
        text = given.get("output", given.get("content"))
        given = text if isinstance(text, str | list) else json.dumps(given, ensure_ascii=False)
    if given is None or isinstance(given, str | list):
        return content_of(given), failed
    return Content([json.dumps(given, ensure_ascii=False)]), failed


def image_of(result: object) -> list[tuple[bytes, str]]:
    """Return a generated image as media."""
    medium = inline(result, "image/png")
    return [medium] if medium is not None else []
