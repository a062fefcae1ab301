"""An adapter as another package would bring it, for a harness of one small file."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transcript.adapters.base import Counts, SourceFile
from transcript.adapters.stream import Stream, StreamAdapter
from transcript.adapters.values import text_of
from transcript.canonical import b32id


class ToyReader:
    def __init__(self, source, memory, options):
        self.counts = Counts()
        self.out = Stream("toy", "1", source, memory, options, self.counts)

    def feed(self, line):
        for fields in line.objects:
            self.out.at(fields.get("when"))
            self.out.note(cwd=fields.get("where"), version="1")
            name, text = text_of(fields.get("toy")), text_of(fields.get("text"))
            event = b32id("toy", name)
            if fields.get("who") in ("you", "me"):
                kind, actor = ("prompt", "user") if fields["who"] == "you" else ("reply", "assistant")
                self.out.emit("conversation_turn", event, {"kind": kind, "text": text}, actor, native=name)
            else:
                self.out.unknown(text_of(fields.get("who")), fields, event, native=name)

    def take(self):
        return self.out.take()

    def finish(self):
        self.out.finish()
        return self.out.take()


class Toy(StreamAdapter):
    """A harness of one file, `toy.jsonl`: {"toy": id, "who": "you" | "me", "text", "when", "where"}."""

    harness, version, origin = "toy", "1", "internal"

    def roots(self, env):
        return []

    def discover(self, roots):
        paths = sorted(path for root in roots for path in ([root] if root.is_file() else root.rglob("toy.jsonl")))
        return [SourceFile("toy", path, f"{path.parent.name}/toy", path.parent.name) for path in paths], Counter()

    def open(self, source):
        return source.path.open("rb")

    def is_record(self, value):
        return "toy" in value

    def recognises(self, values):
        return any("toy" in value for value in values)

    def reader(self, source, memory, options):
        return ToyReader(source, memory, options)

    def head(self, values):
        first = values[0] if values else {}
        return text_of(first.get("where")), text_of(first.get("when")), ""


@dataclass(frozen=True)
class Point:
    """An entry point of a package that is not installed."""

    name: str
    made: Any

    def load(self):
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


def toy_file(folder: Path, cwd: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [("a", "you", "Which port?"), ("b", "me", "8713."), ("c", "nobody", "x")]
    lines = [
        json.dumps({"toy": name, "who": who, "text": text, "when": "2026-06-15T10:00:00Z", "where": str(cwd)})
        for name, who, text in rows
    ]
    path = folder / "toy.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path
