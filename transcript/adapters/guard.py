"""Keeps a fault in an adapter's code to the source it was met in: the other sources and harnesses go on.

Files of others hold what nobody foresaw, and adapters of other packages are code of others. What a guarded adapter
raises becomes an UnreadableSource that names the fault by its type, never by what was read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from transcript.adapters.base import Adapter, InProject, Options, Reader, SourceFile, Taken
from transcript.adapters.jsonl import Line
from transcript.adapters.views import UnreadableSource
from transcript.errors import RecallError

FAILED = "adapter_failed"
_T = TypeVar("_T")


class Guarded:
    """An adapter whose faults are those of single sources."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.harness, self.version, self.origin = adapter.harness, adapter.version, adapter.origin
        if isinstance(adapter, InProject):
            looks_in = adapter.in_project
            self.in_project = lambda root: self._or(list[Path](), looks_in, root)

    def roots(self, env: Mapping[str, str]) -> list[Path]:
        """Return the harness's folders, none where the adapter fails."""
        return self._or(list[Path](), self.adapter.roots, env)

    def discover(self, roots: Iterable[Path]) -> tuple[list[SourceFile], Counter[str]]:
        """Return what the adapter finds; where it fails nothing, and one refusal that says so."""
        return self._or((list[SourceFile](), Counter({FAILED: 1})), self.adapter.discover, roots)

    def open(self, source: SourceFile) -> BinaryIO:
        """Return a source's lines."""
        return self.checked(self.adapter.open, source)

    def is_record(self, value: dict[str, Any]) -> bool:
        """Say whether an object behind damage is a record; where the adapter fails it is none."""
        return self._or(False, self.adapter.is_record, value)

    def recognises(self, values: Sequence[dict[str, Any]]) -> bool:
        """Say whether a file is the harness's; where the adapter fails it is not."""
        return self._or(False, self.adapter.recognises, values)

    def restarted(self, memory: dict[str, Any]) -> dict[str, Any]:
        """Return the memory to read a rewritten file with."""
        return self.checked(self.adapter.restarted, memory)

    def recalled(self, abandoned: list[str], rewound: dict[str, list[str]], marks: int) -> dict[str, Any]:
        """Return a memory of marks alone."""
        return self.checked(self.adapter.recalled, abandoned, rewound, marks)

    def reader(self, source: SourceFile, memory: dict[str, Any], options: Options) -> Reader:
        """Return a reader whose faults are this source's."""
        return _GuardedReader(self, self.checked(self.adapter.reader, source, memory, options))

    def head(self, values: Sequence[dict[str, Any]]) -> tuple[str, str, str]:
        """Return (cwd, time, session)."""
        return self.checked(self.adapter.head, values)

    def checked(self, call: Callable[..., _T], *arguments: Any) -> _T:
        """Call code of the adapter; UnreadableSource for what it should not raise."""
        try:
            return call(*arguments)
        except (OSError, RecallError, MemoryError):
            raise
        except Exception as error:  # whatever the code of an adapter does, the others must go on
            raise UnreadableSource(f"the adapter {self.harness} fails on it: {type(error).__name__}") from error

    def _or(self, default: _T, call: Callable[..., _T], *arguments: Any) -> _T:
        try:
            return self.checked(call, *arguments)
        except OSError:
            return default


class _GuardedReader:
    def __init__(self, guard: Guarded, reader: Reader) -> None:
        self._guard, self._reader = guard, reader
        self.counts = reader.counts

    def feed(self, line: Line) -> None:
        self._guard.checked(self._reader.feed, line)

    def take(self) -> list[Taken]:
        return self._guard.checked(self._reader.take)

    def finish(self) -> list[Taken]:
        return self._guard.checked(self._reader.finish)
