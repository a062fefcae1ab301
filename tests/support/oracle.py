"""Compares the messages that our adapters find in a file with those that claude-code-log, read apart, finds there.

Two readings of one file agree on a message when the same record (Codex: the same words) is said by the same side.
Every difference must fall under one of the rules below, each of which names why the readings differ.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from support.harness import read_source
from transcript.adapters.claude_code import ClaudeCode
from transcript.adapters.codex import Codex
from transcript.event import Draft

READER = Path(__file__).with_name("oracle_reader.py")
ADAPTERS = {"claude": ClaudeCode, "codex": Codex}
SIDES = ("user", "assistant")
_IDE = re.compile(r"# Context from my IDE setup:.*## My request for Codex:\s*", re.DOTALL)
_ENVIRONMENT = ("### Environment context", "<environment_context>")
TWICE = "the same record or words shown once more (Codex writes both channels)"


@dataclass(frozen=True, slots=True)
class Theirs:
    """A message as claude-code-log shows it."""

    side: str
    kind: str
    record: str
    words: str


@dataclass(frozen=True, slots=True)
class File:
    """What both readings found in one file."""

    path: Path
    theirs: list[Theirs]
    ours: list[Draft]

    def turns(self) -> list[tuple[str, Draft]]:
        """Return (side, draft) of what our adapter takes for messages; a compaction's summary is none."""
        said = [d for d in self.ours if d.type == "conversation_turn" and d.body["kind"] != "summary"]
        return [("assistant" if d.body["kind"] == "reply" else "user", d) for d in said]

    def drafts(self, record: str) -> list[Draft]:
        """Return what our adapter made of a record."""
        return [draft for draft in self.ours if record and draft.native["id"] == record]


@dataclass(slots=True)
class Tally:
    """Messages by side: of each reading, agreed on, explained by rule, and those that no rule explains."""

    files: int = 0
    theirs: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    explained: Counter[tuple[str, str]] = field(default_factory=Counter)
    unexplained: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of all messages of either reading that no rule explains."""
        return len(self.unexplained) / max(1, sum(self.agreed.values()) + sum(self.explained.values()))

    def table(self, title: str) -> str:
        """Return the figures as lines of text."""
        lines = [f"{title}: {self.files} files", "                    theirs   ours  agreed"]
        lines += [f"  {side:<16}{self.theirs[side]:>8}{self.ours[side]:>7}{self.agreed[side]:>8}" for side in SIDES]
        lines += [f"  {count:>6}  {side}: {why}" for (side, why), count in sorted(self.explained.items())]
        lines.append(f"  {len(self.unexplained):>6}  unexplained ({100 * self.share:.2f} %)")
        return "\n".join(lines + [f"          {case}" for case in self.unexplained[:20]])


def compare(python: Path, harness: str, folder: Path) -> Tally:
    """Return the tally over every `.jsonl` under a folder, read by us here and by the other package under python."""
    done = subprocess.run(
        [str(python), "-I", str(READER), harness, str(folder)], capture_output=True, timeout=600, check=True
    )
    tally = Tally()
    for line in done.stdout.splitlines():
        name, shown = json.loads(line)
        path = Path(name)
        ours, _ = read_source(ADAPTERS[harness](), path)
        _add(tally, File(path, [Theirs(*fields) for fields in shown], ours), by_words=harness == "codex")
    return tally


def _add(tally: Tally, file: File, *, by_words: bool) -> None:
    tally.files += 1
    left: dict[tuple[str, str], list[Draft]] = {}
    for side, draft in file.turns():
        left.setdefault((side, draft.body["text"].strip() if by_words else draft.native["id"]), []).append(draft)
    agreed: set[tuple[str, str]] = set()
    for message in file.theirs:
        tally.theirs[message.side] += 1
        key = (message.side, _IDE.sub("", message.words).strip() if by_words else message.record)
        if left.get(key):
            # Words are counted one by one; a record is one message, however many blocks of text it holds.
            left[key] = left[key][1:] if by_words else []
            agreed.add(key)
            tally.agreed[message.side] += 1
            tally.ours[message.side] += 1
        elif key in agreed:
            tally.explained[f"theirs, {message.side}", TWICE] += 1
        else:
            _explain(tally, file.path, f"theirs, {message.side}", message.words, (r(file, message) for r in THEIRS))
    for (side, _), drafts in left.items():
        for draft in drafts:
            tally.ours[side] += 1
            _explain(tally, file.path, f"ours, {side}", draft.body["text"], (rule(draft) for rule in OURS))


def _explain(tally: Tally, path: Path, side: str, words: str, reasons: Iterable[str]) -> None:
    why = next(filter(None, reasons), "")
    if why:
        tally.explained[side, why] += 1
    else:
        tally.unexplained.append((side, path.name, words[:60].strip()))


def _client_text(file: File, message: Theirs) -> str:
    kinds = sorted({d.body["subtype"] for d in file.drafts(message.record) if d.type == "system"})
    return f"the client's own words, a system event here ({kinds[0]})" if kinds else ""


def _summary(file: File, message: Theirs) -> str:
    found = any(d.body.get("kind") == "summary" for d in file.drafts(message.record))
    return "the summary of a compaction, a turn of its own kind here" if found else ""


def _environment(file: File, message: Theirs) -> str:
    known = any(d.type == "system" and d.body.get("subtype") == "environment" for d in file.ours)
    theirs = message.words.startswith(_ENVIRONMENT)
    return "the client's own words, a system event here (environment)" if known and theirs else ""


def _worker_file(file: File, message: Theirs) -> str:
    folder = file.path.with_suffix("") / "subagents"
    found = any(message.record in path.read_text(encoding="utf-8") for path in folder.glob("*.jsonl"))
    return "a sub-agent's, from a file that is a source of its own here" if found else ""


def _odd_record(file: File, message: Theirs) -> str:
    odd = any(draft.type == "unknown" for draft in file.drafts(message.record))
    return "a record without its content, kept as unknown here" if odd else ""


def _blank(draft: Draft) -> str:
    blank = not draft.body["text"].strip() and not draft.body.get("media")
    return "nothing but blanks, kept verbatim here" if blank else ""


def _picture(draft: Draft) -> str:
    return "a picture without words" if draft.body.get("media") and not draft.body["text"] else ""


def _progress(draft: Draft) -> str:
    return "a sub-agent's, inside a progress record" if draft.body.get("worker") else ""


THEIRS: tuple[Callable[[File, Theirs], str], ...] = (_client_text, _summary, _environment, _worker_file, _odd_record)
OURS: tuple[Callable[[Draft], str], ...] = (_blank, _picture, _progress)
