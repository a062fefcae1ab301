"""A proposal as a person sees it before they sign: the whole document, what it changes, and what it rests on.

Every field stands on a numbered line of its own, nothing is left out, and texts are printed as `coord_escape` says, so
that the lines stand for exactly the document whose hash is signed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consolidation.coord_decide import Shown
from consolidation.coord_escape import Segment, broken, cells, escaped, odd, shown
from consolidation.coord_ref_words import scheme_of
from consolidation.coord_refs import MOST_SHOWN, UNRESOLVED, Evidence
from transcript.projections.coord_files import document_bytes
from transcript.telling import counted

WIDTH = 80
LEAST = 10  # columns for words, which the longest escape needs
TAKEN_IN = ("memory", "candidate")  # kinds of targets whose own words are what is approved
MOST_EVIDENCE = 60  # lines of one piece of evidence where all is printed in a row


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line: what stands before it (number and name), its pieces, and its style.

    Styles: title, warning, field, hash, evidence, note.
    """

    gutter: str
    segments: tuple[Segment, ...]
    style: str

    @property
    def text(self) -> str:
        """The line as it is printed."""
        return self.gutter + "".join(segment.text for segment in self.segments)


def lines(what: Shown, *, width: int = WIDTH) -> list[Line]:
    """Return all of it for a terminal that scrolls, in rows of at most `width` columns.

    The document and the warnings come last, where the question is asked: no evidence is so long that it drives them
    out of sight. Of long evidence the beginning is printed, but all of what approving takes in: a memory, a candidate,
    the files of a pack.
    """
    found = [_line("title", f"proposal {what.document.id}")]
    whole = taken_in(what)
    for part in (*changed(what), *what.evidence):
        found += evidence(part, most=None if part in whole else MOST_EVIDENCE)
    found += [_line("title", "the document, whole: every field of the file"), *document(what), *hashes(what)]
    found += [_line("warning", f"! {text}") for text in warnings(what)]
    return wrapped(found, width)


def document(what: Shown) -> list[Line]:
    """Return every field of the document, numbered."""
    return _numbered(json.loads(document_bytes(what.document.raw)))


def instead(action: Mapping[str, Any]) -> list[Line]:
    """Return an action that is to be proposed in place of another, every field of it."""
    return [_line("title", "to be proposed instead; nothing of it is approved by this"), *_numbered(dict(action))]


def _numbered(held: dict[str, Any]) -> list[Line]:
    rows = list(_fields(held))
    widest = min(24, max(cells(name) for name, _ in rows))
    found: list[Line] = []
    for number, (name, value) in enumerate(rows, 1):
        for at, segments in enumerate(value):
            before = f"{number:>3} {name:<{widest}} │ " if at == 0 else f"{'':>3} {'':<{widest}} │ "
            found.append(Line(before, segments, "field"))
    return found


def hashes(what: Shown) -> list[Line]:
    """Return what is signed beside the decision: the hash of the action, of the proposal, and of each evidence."""
    signed = {"action": what.action_hash, "proposal": what.proposal_hash}
    return [Line(f"  # {name:<8} ", (Segment(value),), "hash") for name, value in signed.items()]


def changed(what: Shown) -> list[Evidence]:
    """Return what the action changes, as it stands now; nothing where it names nothing that has words."""
    return [what.target] if what.target is not None and what.target.text else []


def taken_in(what: Shown) -> list[Evidence]:
    """Return the words that approving makes a memory or an instruction and that the document only names."""
    found = [part for part in changed(what) if part.kind in TAKEN_IN]
    return found + (list(what.evidence) if scheme_of(what.document.target)[0] == "pack" else [])


def evidence(part: Evidence, *, most: int | None = None) -> list[Line]:
    """Return one piece of evidence with its words, as far as they were read; of at most `most` lines."""
    names = {"record": "the record", "https": "an address, not fetched", UNRESOLVED: "names nothing here"}
    kind = names.get(part.kind, part.kind)
    style = "warning" if part.kind == UNRESOLVED else "evidence"
    found = [_line("title" if style == "evidence" else style, f"{shown(part.ref)}  [{kind}]")]
    if part.hash != UNRESOLVED:
        found.append(Line("  # ", (Segment(part.hash),), "hash"))
    if part.kind in (UNRESOLVED, "https"):
        return found
    whole = part.text.removesuffix("\n").split("\n")
    told = "\n".join(whole[:most])
    found += [Line("    │ ", segments, "evidence") for segments in escaped(told, ends=False)]
    left = len(whole) - len(whole[:most])
    if left:
        found.append(_line("note", f"    {counted(left, 'more line')}: look at {shown(part.ref)} itself"))
    if len(part.text) >= MOST_SHOWN:
        found.append(_line("note", f"    the first {MOST_SHOWN:,} characters; the hash is of all of it"))
    return found


def warnings(what: Shown) -> list[str]:
    """Return what a person should know before they decide, each in one printable line."""
    found = []
    seen = odd("\n".join(_texts(what.document.raw)))
    if seen.unseen:
        found.append(f"characters that nobody sees, or that turn writing, or pictures: {_few(seen.unseen)}")
    if seen.words:
        found.append(f"letters that pass for others: {_few(seen.words)}")
    if seen.scripts:
        found.append(f"letters of other scripts than Latin: {', '.join(seen.scripts)}")
    if seen.turned:
        found.append("letters that are written right to left: a terminal may print what stands beside them elsewhere")
    if seen.blank_lines > 2:
        found.append(f"{seen.blank_lines:,} blank lines in a row")
    if not what.evidence:
        found.append("no evidence: it can be approved, but not applied")
    lost = [shown(part.ref) for part in what.evidence if part.hash == UNRESOLVED]
    if lost:
        found.append(f"evidence that names nothing here: {_few(lost)}")
    if what.document.decision is not None:
        found.append(f"it is {what.document.state}: this document holds a decision already")
    return found


def wrapped(found: Iterable[Line], width: int) -> list[Line]:
    """Return lines in rows of at most `width` columns; a row that goes on never begins at the edge."""
    rows = []
    for line in found:
        before = cells(line.gutter)
        blank = "".join(char if char == "│" else " " for char in line.gutter) if before else "    "
        for at, segments in enumerate(broken(line.segments, max(LEAST, width - max(before, 4)))):
            rows.append(Line(line.gutter if at == 0 else blank, segments, line.style))
    return rows


def _line(style: str, text: str) -> Line:
    return Line("", (Segment(text),), style)


def _few(words: Sequence[str]) -> str:
    return ", ".join(words[:8]) + (f" and {len(words) - 8:,} more" if len(words) > 8 else "")


def _fields(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, list[tuple[Segment, ...]]]]:
    """Yield the name and the printed lines of every field, in the order of the file."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if name:
        yield name, [(Segment(_opening(value)),)] if isinstance(value, (dict, list)) else _value(value)
    for key, one in inner:
        yield from _fields(one, "  " * depth + shown(str(key)), depth + 1)


def _opening(value: dict[str, Any] | list[Any]) -> str:
    kind = "{}" if isinstance(value, dict) else "[]"
    return kind if not value else f"{kind[0]} {len(value)} {kind[1]}"


def _value(value: Any) -> list[tuple[Segment, ...]]:
    """Return a value's lines: a text between quotes, else as JSON writes it."""
    if not isinstance(value, str):
        return [(Segment(json.dumps(value)),)]
    found = escaped(value)
    found[0] = (Segment('"'), *found[0])
    found[-1] = (*found[-1], Segment('"'))
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
        if isinstance(value, dict):
            yield from map(str, value)
