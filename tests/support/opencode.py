"""Builders of opencode sessions: as exports, as its database, as its older tree of files.

session = OpenCodeSession(cwd="/home/dev/shop")
session.user("Which port?")
session.assistant("8080.")
session.export(folder)     # or session.tree(folder), or database(folder, session, other)
"""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import apsw

from support.claude import START
from support.contract import BLOCK, ENVELOPE, PROMPT, REPLY, RESULT, TOOL, Contract
from transcript.canonical import sha256_hex

BEGAN = int(START.timestamp() * 1000)
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
  revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
  data text);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_session_idx ON part (session_id);
"""


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def tool(call_id: str, name: str, given: dict[str, Any], output: str = "", **state: Any) -> dict[str, Any]:
    """A call that is done; status="running" and the like make it another."""
    done = {"status": "completed", "input": given, "output": output, "time": {"start": BEGAN, "end": BEGAN + 500}}
    return {"type": "tool", "tool": name, "callID": call_id, "state": {**done, **state}}


class OpenCodeSession:
    """One session in the making; ids come from the seed, times from the number of messages."""

    def __init__(
        self, cwd: str = "/home/dev/shop", *, seed: str = "one", parent: str = "", version: str = "1.18.33"
    ) -> None:
        self.cwd, self.seed = cwd, seed
        self.id = f"ses_{sha256_hex(seed.encode())[:12]}"
        self.info: dict[str, Any] = {
            "id": self.id, "directory": cwd, "version": version, "title": "Understood.", "time": {"created": BEGAN},
        }  # fmt: skip
        if parent:
            self.info["parentID"] = parent
        self.messages: list[dict[str, Any]] = []

    def message(self, role: str, *parts: Any, **info: Any) -> dict[str, Any]:
        """Add a message; bare strings become text parts."""
        number = len(self.messages)
        name = f"msg_{number:04}{self.id[4:10]}"
        made = BEGAN + 60_000 * number
        given = [text(part) if isinstance(part, str) else part for part in parts]
        placed = [
            {"id": f"prt_{number:04}{place:02}{self.id[4:10]}", "sessionID": self.id, "messageID": name, **part}
            for place, part in enumerate(given)
        ]
        about = {"id": name, "sessionID": self.id, "role": role, "time": {"created": made}, **info}
        self.messages.append({"info": about, "parts": placed})
        return self.messages[-1]

    def user(self, *parts: Any, **info: Any) -> dict[str, Any]:
        return self.message("user", *parts, agent="build", model={"providerID": "stub", "modelID": "stub"}, **info)

    def assistant(self, *parts: Any, done: bool = True, **info: Any) -> dict[str, Any]:
        """Add an answer that is done; a text part says when it ended."""
        made = BEGAN + 60_000 * len(self.messages)
        time = {"created": made, **({"completed": made + 2000} if done else {})}
        parent = next((m["info"]["id"] for m in reversed(self.messages) if m["info"]["role"] == "user"), "")
        fields = {"time": time, "parentID": parent, "modelID": "stub", "path": {"cwd": self.cwd, "root": "/"}, **info}
        return self.message("assistant", *parts, **fields)

    def fork(self, seed: str) -> "OpenCodeSession":
        """Return a copy as the client makes one: new ids, the same times, no parent."""
        copy = OpenCodeSession(self.cwd, seed=seed)
        copy.info["title"] += " (fork #1)"
        copy.info["time"] = {"created": BEGAN + 3_600_000}
        renamed: dict[str, str] = {}
        for number, message in enumerate(deepcopy(self.messages)):
            info = message["info"]
            renamed[info["id"]] = name = f"msg_{number:04}{copy.id[4:10]}"
            info.update(id=name, sessionID=copy.id)
            if "parentID" in info:
                info["parentID"] = renamed.get(info["parentID"], "")
            for place, part in enumerate(message["parts"]):
                part.update(id=f"prt_{number:04}{place:02}{copy.id[4:10]}", sessionID=copy.id, messageID=name)
            copy.messages.append(message)
        return copy

    def document(self) -> dict[str, Any]:
        return {"info": self.info, "messages": self.messages}

    def export(self, folder: Path, name: str = "") -> Path:
        """Write what `opencode export` prints and return its path."""
        path = folder / (name or f"{self.id}.json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.document(), indent=2), encoding="utf-8")
        return path

    def tree(self, data: Path) -> Path:
        """Write the session as versions up to 1.1 kept it and return the session's file."""
        storage = data / "storage"
        path = storage / "session" / "global" / f"{self.id}.json"
        _write(path, self.info)
        for message in self.messages:
            _write(storage / "message" / self.id / f"{message['info']['id']}.json", message["info"])
            for part in message["parts"]:
                _write(storage / "part" / message["info"]["id"] / f"{part['id']}.json", part)
        return path


def database(folder: Path, *sessions: OpenCodeSession, name: str = "opencode.db", journal: bool = False) -> Path:
    """Write sessions as newer versions keep them and return the database; journal leaves it in WAL mode, closed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    db = apsw.Connection(str(path))
    if journal:
        db.execute("PRAGMA journal_mode = wal").fetchall()
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'session'").fetchall():
        db.execute(TABLES)
    fill(db, *sessions)
    db.close()
    return path


def fill(db: apsw.Connection, *sessions: OpenCodeSession) -> None:
    """Bring a database up to date with sessions: what they no longer hold goes."""
    with db:
        for session in sessions:
            info = session.info
            db.execute("DELETE FROM part WHERE session_id = ?", (session.id,))
            db.execute("DELETE FROM message WHERE session_id = ?", (session.id,))
            made = info["time"]["created"]
            db.execute(
                "INSERT OR REPLACE INTO session VALUES (?, 'global', ?, ?, ?, ?, NULL, ?, ?)",
                (session.id, info.get("parentID"), session.cwd, info["title"], info["version"], made, made),
            )
            for message in session.messages:
                about, made = message["info"], message["info"]["time"]["created"]
                kept = {key: value for key, value in about.items() if key not in ("id", "sessionID")}
                row = (about["id"], session.id, made, made, json.dumps(kept))
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
                for part in message["parts"]:
                    kept = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
                    values = (part["id"], about["id"], session.id, made, made, json.dumps(kept))
                    db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)


def contract_sessions(root: Path, cwd: str) -> Contract:
    """Write the session of the contract, as a database: the one place that today's versions use."""
    session = OpenCodeSession(cwd, seed=cwd)
    asked = session.user(f'"{PROMPT}"', text(BLOCK, synthetic=True), text(ENVELOPE, ignored=True))
    answered = session.assistant(tool("t1", TOOL, {"path": "gate.toml"}, RESULT), {"type": "hologram"}, REPLY)
    native = frozenset(part["id"] for part in (*asked["parts"], *answered["parts"]))
    name = f"opencode-{sha256_hex(cwd.encode())[:6]}.db"
    return Contract(database(root / "opencode", session, name=name), native, "part/hologram@1.18.33")


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
