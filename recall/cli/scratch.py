"""A made-up project in a temporary home: nobody's data, no key, no model, no network."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.cli.app import App

if TYPE_CHECKING:
    from recall.turn import Turn
    from transcript.workspace import Workspace

KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP")  # of the environment; no key of any service


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str


class Scratch:
    """The project of the demo in a folder that goes afterwards; its commands run in this process."""

    def __init__(self, app: App) -> None:
        self.app = app

    def __call__(self, *words: str) -> Ran:
        """Run one command line in the project; KeyboardInterrupt where Ctrl-C ended it, which is no answer."""
        from recall.cli.group import INTERRUPTED, run

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(list(words), app=App(self.app.env, self.app.cwd, self.app.data, self.app.models))
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return Ran(code, out.getvalue(), err.getvalue())

    def ask(self, prompt: str) -> Turn:
        """What a hook would put in front of this prompt, found by words alone; leaves nothing in the record."""
        with contextlib.redirect_stderr(io.StringIO()):
            return self.app.ask(prompt, mode="turn", record=False, words_only=True)

    @property
    def workspace(self) -> Workspace:
        """The project's workspace."""
        return self.app.workspace()

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.app.cwd

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.app.data

    @property
    def budget(self) -> int:
        """The most tokens of a turn's block."""
        return int(self.app.config.settings().budget.tokens)

    def hook(self, session: str, prompt: str = "") -> str:
        """What the hook of a session's start, or with a prompt that of a turn, answers by words; both are recorded."""
        from recall.harness import Refused, recognise
        from recall.hook_start import HookStart
        from recall.hook_turn import HookTurn, Means
        from recall.turn import bytes_third

        event = {"hook_event_name": "UserPromptSubmit", "prompt": prompt} if prompt else {"source": "startup"}
        given = {"hook_event_name": "SessionStart", "session_id": session, "cwd": str(self.root), **event}
        payload = recognise("claude-code", json.dumps(given).encode())
        if isinstance(payload, Refused):
            raise ValueError(f"the hook does not take {given}: {payload.kind}")
        call, now, began = os.urandom(8).hex(), self.app.now(), time.monotonic()
        if not prompt:
            start = HookStart(payload, self.data, call=call, now=now, started=began)
            answer = start.answer(bytes_third, self.app.env)
            start.record()
            return answer.decode()
        turn = HookTurn(payload, self.data, mode="words", call=call, now=now, started=began)
        with self.app.store(self.workspace) as store:
            means = Means(store, bytes_third, meta=store.meta(), audience=self.app.config.audience())
            answer = turn.answer(means, self.app.config.settings())
        turn.record()
        return answer.decode()

    def say(self, session: str, exchanges: Sequence[tuple[str, str]], *, hour: int = 9, **header: str) -> Path:
        """Write a made-up session where a tool of the wire format keeps its own, and return its file.

        It begins at that hour; header holds what else its first line says, as docs/wire.md has it.
        """
        folder = self.data / "wire"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{session}.jsonl"
        lines: list[dict[str, object]] = [
            {"recall_wire": 1, "tool": "made-up", "session": session, "cwd": str(self.root), **header}
        ]
        for number, (asked, said) in enumerate(exchanges):
            at = f"2026-04-10T{hour:02}:{number // 60:02}:{number % 60:02}"
            lines.append({"type": "prompt", "ts": f"{at}.000Z", "id": f"{session}-p{number}", "text": asked})
            lines.append({"type": "reply", "ts": f"{at}.500Z", "id": f"{session}-r{number}", "text": said})
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        return file


@contextlib.contextmanager
def scratch() -> Iterator[Scratch]:
    """Yield a project with the demo's sessions where its harness keeps them, a workspace, and nothing taken in yet."""
    from recall.cli.demo import prepare

    with tempfile.TemporaryDirectory(prefix="recall-scratch-") as place:
        home = Path(place).resolve()
        env = {name: os.environ[name] for name in KEPT if name in os.environ}
        env |= {"HOME": str(home), "USERPROFILE": str(home), "RECALL_HOME": str(home / "data")}
        demo = App(env, home, home / "data").demo()
        demo.env = {**demo.env, "CLAUDE_CONFIG_DIR": str(demo.data / "claude")}
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            prepare(demo)
        yield Scratch(demo)


@contextlib.contextmanager
def offline() -> Iterator[list[str]]:
    """Refuse every socket meanwhile; yields the list of what was asked for."""
    asked: list[str] = []
    made = socket.socket.__init__

    def refuse(self: socket.socket, family: int = -1, *args: Any, **more: Any) -> None:
        asked.append(str(family))
        raise OSError("sockets are refused here")

    socket.socket.__init__ = refuse  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        socket.socket.__init__ = made  # type: ignore[method-assign]
