"""Command lines run in this process, as a user types them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recall.cli.group import run


@dataclass
class Result:
    """Exit code and both streams."""

    code: int
    out: str
    err: str

    def rows(self) -> list[dict[str, Any]]:
        """Return the objects that were printed, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def runner(capsys: Any) -> Callable[..., Result]:
    """Return what runs one command line."""

    def call(*args: str) -> Result:
        code = run(list(args))
        streams = capsys.readouterr()
        return Result(code, streams.out, streams.err)

    return call
