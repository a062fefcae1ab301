"""A blind audit of prevented mistakes: a sheet that a reader fills in without the verdicts, and how far both agree.

Of each row the reader sees what a memory says, the words of an answer, an action of that session and one of before it.
Half the rows are mistakes that were counted as prevented; the others pair the same memories with actions that were not.
Which is which stands nowhere in the sheet: it is drawn again from the record with the same seed.
"""

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from consolidation.prevented import SHOWN_CHARS
from consolidation.sources import around
from consolidation.span import words
from indexer.passages import event_text
from transcript import secrets
from transcript.canonical import b32id
from transcript.errors import PointerError, RecallError
from transcript.event import Event
from transcript.log import Log
from transcript.memories import MemoryState, fold_memories, span_of_body
from transcript.sieve import Sieve, type_field
from transcript.telling import quoted

QUESTION = "changed"
COLUMNS = ("row", "memory", "cited", "action", QUESTION)
YES, NO = ("yes", "y", "1", "true"), ("no", "n", "0", "false")
TRIES = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a sheet; `counted` says what the record says, and is not in it."""

    row: str
    memory: str
    cited: str
    action: str
    counted: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """How a reader and the record agree: over counted increments, and over rows that were not counted."""

    agreed: int
    sample: int
    mistaken: int  # rows not counted that the reader took for prevented mistakes
    controls: int
    unread: int

    @property
    def share(self) -> float:
        """The share of the increments that the reader confirms."""
        return self.agreed / self.sample

    def to_text(self) -> str:
        """Return one or two lines."""
        low, high = wilson(self.agreed, self.sample)
        said = f"agreed {self.agreed} of {self.sample} = {_short(self.share)} [{_short(low)}, {_short(high)}] (Wilson)"
        said += f"; of {self.controls} rows that were not counted {self.mistaken} taken for one"
        return said + (f"\n{self.unread} rows have no answer and do not count" if self.unread else "")


def sheet(log: Log, *, sample: int, seed: int) -> list[Row]:
    """Return the rows of an audit, in an order that tells nothing; the same record and seed give the same rows.

    RecallError where nothing was ever prevented.
    """
    counted = [e for e in log.read(sieve=Sieve((type_field("memory.prevented_mistake"),))) if _is_increment(e)]
    if not counted:
        raise RecallError("no prevented mistake is in the record yet: there is nothing to audit")
    draw = random.Random(seed)
    drawn = draw.sample(counted, min(sample, len(counted)))
    state, calls = fold_memories(log), list(_calls(log))
    rows = [row for event in drawn for row in _pair(log, event, state, calls, draw, seed)]
    return sorted(rows, key=lambda row: row.row)


def _is_increment(event: Event) -> bool:
    return event.type == "memory.prevented_mistake" and bool(event.body)


def _calls(log: Log) -> list[Event]:
    return [e for e in log.read(sieve=Sieve((type_field("tool_call"),))) if e.type == "tool_call" and e.body]


def _pair(
    log: Log, event: Event, state: MemoryState, calls: Sequence[Event], draw: random.Random, seed: int
) -> list[Row]:
    """Return an increment and a row beside it: the same memory and words, with an action that was not counted."""
    memory, key = state.memories.get(str(event.body["memory"])), log.workspace.id_key()
    if memory is None:
        return []
    action = span_of_body(event.body["action"])
    try:
        cited, did = words(log, span_of_body(event.body["cited"]), key), words(log, action, key)
        cited = _sentence(log, event) or cited
        tool = str(log.get(action.event).body.get("tool", ""))
    except PointerError:
        return []  # erased: it cannot be read again
    rows = [Row(_name(seed, event.id, "counted"), memory.statement, cited, did, counted=True)]
    like = [call for call in calls if call.body.get("tool") == tool and call.id != action.event]
    for other in draw.sample(like, min(TRIES, len(like))):
        lines = event_text(other.type, log.body(other)).split("\n")[1:]
        line = secrets.mask("\n".join(lines[:1]), key)[0][:SHOWN_CHARS]
        if line and memory.mistake is not None and memory.mistake[1].lower() not in line.lower():
            rows.append(Row(_name(seed, event.id, "control"), memory.statement, cited, line, counted=False))
            break
    return rows


def _sentence(log: Log, event: Event) -> str:
    """Return the sentence of a citation: a bare pointer tells a reader nothing."""
    return around(log, span_of_body(event.body["cited"]), log.workspace.id_key())[:SHOWN_CHARS]


def _name(seed: int, event: str, which: str) -> str:
    """Return the name of a row, which does not tell what it holds."""
    return b32id("imprint", str(seed), event, which)[:10]


def to_csv(rows: Sequence[Row]) -> str:
    """Return the sheet; the last column is for the reader: did the memory change the action, yes or no."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((row.row, row.memory, row.cited, row.action, "") for row in rows)
    return out.getvalue()


def read_answers(text: str) -> dict[str, str]:
    """Return row -> answer of a filled sheet; RecallError says what is wrong with it."""
    read = csv.DictReader(io.StringIO(text))
    if read.fieldnames is None or not {"row", QUESTION} <= set(read.fieldnames):
        raise RecallError(
            f"the sheet lacks the columns row and {QUESTION}; make one with 'recall eval imprint --audit'"
        )
    found: dict[str, str] = {}
    for number, line in enumerate(read, 2):
        answer = (line[QUESTION] or "").strip().lower()
        if answer and answer not in (*YES, *NO):
            raise RecallError(f"line {number}: {QUESTION} is {quoted(answer)}, must be yes or no")
        found[str(line["row"])] = answer
    return found


def audit(rows: Sequence[Row], answers: Mapping[str, str]) -> Audit:
    """Return how far a reader's answers and the record agree; RecallError when the sheet is another one."""
    strange = answers.keys() - {row.row for row in rows}
    if strange:
        raise RecallError(
            f"row {min(strange)} is not of this sheet: give the --sample and --seed that it was made with"
        )
    read = [(row, answers.get(row.row, "") in YES) for row in rows if answers.get(row.row)]
    increments = [said for row, said in read if row.counted]
    controls = [said for row, said in read if not row.counted]
    if not increments:
        raise RecallError(f"no row is answered: fill in the column {QUESTION} with yes or no")
    return Audit(sum(increments), len(increments), sum(controls), len(controls), len(rows) - len(read))


def wilson(hits: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share.

    Formula: (p + z²/2n ± z · sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    """
    share, n = hits / of, float(of)
    middle = share + z * z / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    return (middle - reach) / whole, (middle + reach) / whole


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0") if share < 1 else f"{share:.2f}"
