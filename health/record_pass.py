"""The record, read once for all groups of facts: most lines are sessions' words, and few signals look at them."""

from collections.abc import Iterator

from transcript.event import Event, Position, from_line
from transcript.log import Log
from transcript.segments import lines
from transcript.sieve import Sieve, type_field

# Almost every line is of one of these types; signals look at none of them but summaries and prompts of workers.
BULK = frozenset(map(type_field, ("conversation_turn", "tool_call", "tool_result", "reasoning", "recall")))
SUMMARIES = Sieve(types=(type_field("conversation_turn"),), groups=((b'"covers":[',),))
WORKERS = Sieve(types=(type_field("conversation_turn"),), groups=((b'"kind":"worker_prompt"',),))
_TYPE = b'"type":"'
_TAIL = 64  # the envelope's last fields, from the type on


class OnePass(Log):
    """A record that is read from its beginning once; asked again, it answers from the few lines that were kept."""

    _kept: list[tuple[int, int, bytes]] | None = None

    def read(self, start: Position | None = None, *, sieve: Sieve | None = None) -> Iterator[Event]:
        """Yield what Log.read yields; of lines kept by the first pass where the sieve asks for no others."""
        if start is not None or sieve is None or not _is_kept(sieve):
            yield from super().read(start, sieve=sieve)
            return
        if self._kept is None:
            self._kept = list(self._pass())
        for segment, end, line in self._kept:
            if sieve.line(line):
                yield from_line(line, segment=segment, end=end)

    def _pass(self) -> Iterator[tuple[int, int, bytes]]:
        head = self.head()
        if head.seq == 0:
            return
        for segment, end, line in lines(self.directory, head, segment=1, offset=0):
            at = line.rfind(_TYPE, -_TAIL)
            if line[at : line.find(b",", at) + 1] not in BULK or SUMMARIES.line(line) or WORKERS.line(line):
                yield segment, end, line


def _is_kept(sieve: Sieve) -> bool:
    """Say whether every line that this sieve lets through and that is worth a look was kept."""
    if sieve in (SUMMARIES, WORKERS):
        return True
    return bool(sieve.types) and not any(name.startswith(wanted) for wanted in sieve.types for name in BULK)
