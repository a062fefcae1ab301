"""A project of `recall conformance` in which one command does not what it should."""

from collections.abc import Callable
from typing import Any

from recall.cli.scratch import Ran, Scratch


class Broken:
    """The project, in which one command does not what it should."""

    def __init__(self, project: Scratch, words: tuple[str, ...], broken: Callable[..., Ran]) -> None:
        self.project, self.words, self.broken = project, words, broken

    def __call__(self, *words: str) -> Ran:
        if words[: len(self.words)] == self.words:
            return self.broken(self.project, words)
        return self.project(*words)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.project, name)


def not_run(project: Scratch, words: tuple[str, ...]) -> Ran:
    return Ran(0, "", "")
