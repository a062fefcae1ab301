"""What the tests know of a real client: how it is configured, started and resumed, and what its user has to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from support.clients.install import Installed, install

if TYPE_CHECKING:
    from support.clients.world import World

ECHO = "echo quartz-lantern-91"


class Client:
    """One harness. A subclass says what differs; the defaults fit a client that needs nothing."""

    harness: ClassVar[str]  # the name that `recall enable-hooks` takes
    program: ClassVar[str]  # the name of the program in the npm package
    node: ClassVar[int] = 18  # the least Node.js
    shell: ClassVar[tuple[str, dict[str, Any]]]  # the tool call that runs ECHO in a shell
    line: ClassVar[str] = "command"  # the argument of that tool that holds the line
    keeps_injected: ClassVar[bool] = True  # whether what a hook injects stands in the client's own transcript
    scope: ClassVar[tuple[str, ...]] = ()  # more words for `recall enable-hooks HARNESS`

    def __init__(self, prefix: Path) -> None:
        self.installed: Installed = install(self.harness, self.program, node=self.node, prefix=prefix)

    def prepare(self, world: "World") -> None:
        """Write, once, what a user's home and project hold before recall is there: settings, foreign hooks."""

    def point_at(self, world: "World", port: int) -> None:
        """Before each turn: name the model's port in a file, for a client that cannot take it from elsewhere."""

    def environment(self, world: "World", port: int) -> dict[str, str]:
        """Return the variables of a turn besides HOME and PATH."""
        return {}

    def words(self, prompt: str, port: int, *, resume: bool) -> list[str]:
        """Return the arguments of a turn: a new session, or the last one gone on with."""
        raise NotImplementedError

    def review(self, world: "World") -> None:
        """Do what the user still has to do after `recall enable-hooks`: trust a folder, review a hook."""

    def transcripts(self, world: "World") -> list[Path]:
        """Return the files that hold the client's sessions, oldest first."""
        raise NotImplementedError
