"""The record, read once for all groups of facts: most lines are sessions' words, and few signals look at them."""

from collections.abc import Iterable, Iterator
from itertools import islice

from health import line_places
from health.line_places import Line
from transcript.event import Event, Position, from_line
from transcript.log import Log, follows
from transcript.segments import Head, lines, starts_line
from transcript.sieve import Sieve, type_field

# Almost every line is of one of these types; signals look at none of them but summaries and prompts of workers.
BULK = frozenset(map(type_field, ("conversation_turn", "tool_call", "tool_result", "reasoning", "recall")))
SUMMARIES = Sieve(types=(type_field("conversation_turn"),), groups=((b'"covers":[',),))
WORKERS = Sieve(types=(type_field("conversation_turn"),), groups=((b'"kind":"worker_prompt"',),))
_RULE = repr((sorted(BULK), SUMMARIES, WORKERS))
_TYPE = b'"type":"'
_TAIL = 64  # the envelope's last fields, from the type on


class OnePass(Log):
    """A record whose lines are looked at once, and few of them twice: the lines worth a look are kept.

    Within one object the lines themselves, from one report to the next where they stand.
    """

    _kept: list[Line] | None = None

    def read(self, start: Position | None = None, *, sieve: Sieve | None = None) -> Iterator[Event]:
        """Yield what Log.read yields; of the kept lines where the sieve asks for no others."""
        if start is not None or sieve is None or not _is_kept(sieve):
            yield from super().read(start, sieve=sieve)
            return
        for segment, end, line in self._lines():
            if sieve.line(line):
                yield from_line(line, segment=segment, end=end)

    def read_back(
        self, before: Position | None = None, *, only: str = "", sieve: Sieve | None = None
    ) -> Iterator[Event]:
        """Yield what Log.read_back yields; of the kept lines where no others are asked for."""
        wanted = Sieve(types=(type_field(only),)) if only else sieve
        if before is not None or wanted is None or not _is_kept(wanted):
            yield from super().read_back(before, only=only, sieve=sieve)
            return
        for segment, end, line in reversed(self._lines()):
            if wanted.line(line) and (sieve is None or sieve.line(line)):
                yield from_line(line, segment=segment, end=end)

    def _lines(self) -> list[Line]:
        if self._kept is None:
            head = self.head()
            self._kept = self._pass(head) if head.seq else []
        return self._kept

    def _pass(self, head: Head) -> list[Line]:
        """Return the lines worth a look up to the head, of what was kept last and what stands behind it."""
        before = line_places.kept(self.workspace, head, _RULE, _is_worth_a_look)
        found, at = before or ([], self.start)
        if at == head.position:
            return found
        if before and not self._goes_on(at, head):
            found, at = [], self.start
        found += _worth_a_look(lines(self.directory, head, segment=at.segment, offset=at.offset))
        line_places.keep(self.workspace, found, head, _RULE)
        return found

    def _goes_on(self, at: Position, head: Head) -> bool:
        """Say whether the line that was written behind a position still stands there."""
        if not starts_line(self.directory, at.segment, at.offset):
            return False
        behind = lines(self.directory, head, segment=at.segment, offset=at.offset)
        return any(follows(line, at) for _, _, line in islice(behind, 1))


def _is_worth_a_look(line: bytes) -> bool:
    at = line.rfind(_TYPE, -_TAIL)
    return line[at : line.find(b",", at) + 1] not in BULK or SUMMARIES.line(line) or WORKERS.line(line)


def _worth_a_look(found: Iterable[Line]) -> list[Line]:
    return [held for held in found if _is_worth_a_look(held[2])]


def _is_kept(sieve: Sieve) -> bool:
    """Say whether every line that this sieve lets through and that is worth a look was kept."""
    if sieve in (SUMMARIES, WORKERS):
        return True
    return bool(sieve.types) and not any(name.startswith(wanted) for wanted in sieve.types for name in BULK)
