"""Builders of files in our own wire format (docs/wire.md)."""

import json
from pathlib import Path
from typing import Any

from support.claude import made_uuid, stamp
from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract


class WireFile:
    """One file in the making."""

    def __init__(self, cwd: str = "/home/dev/shop", *, seed: str = "one", ids: bool = True, **header: Any) -> None:
        self.seed, self.ids = seed, ids
        self.session = made_uuid("wire", seed)
        self.lines: list[bytes] = []
        self.put({"recall_wire": 1, "tool": "loom", "version": "7", "session": self.session, "cwd": cwd, **header})

    def put(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Add a line exactly as given."""
        self.lines.append(json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return fields

    def add(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Add a record with a time, and an id when this file gives ids."""
        number = len(self.lines)
        made: dict[str, Any] = {"type": kind, "ts": stamp(number)}
        if self.ids:
            made["id"] = made_uuid("wire", self.seed, number)
        return self.put({**made, **fields})

    def to_bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, folder: Path) -> Path:
        """Write the file and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.session}.jsonl"
        path.write_bytes(self.to_bytes())
        return path


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write the session of the contract."""
    file = WireFile(cwd, seed=cwd)
    native = [file.add("prompt", text=PROMPT), file.add("system", subtype="injected", text=BLOCK)]
    native.append(file.add("system", subtype="notice", text=ENVELOPE))
    native.append(file.add("tool_call", tool=TOOL, call_id="t1", input={"path": "gate.toml"}))
    native.append(file.add("tool_result", call_id="t1", text=RESULT))
    native.append(file.add("hologram", text="x"))
    native.append(file.add("reply", text=REPLY))
    ids = frozenset(item["id"] for item in native)
    return Contract(file.write(root / "wire"), ids, "hologram@7")
