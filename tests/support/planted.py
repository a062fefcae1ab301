"""Planted candidates: true and false writes about real messages, drawn by a seed and kept as places, not as words.

A row of `tests/data/planted/set.json` says where its source stands and of which pieces its text is made: spans of real
messages and the few characters that were put between them. The words are read from the real sessions at test time.
`python tests/support/planted.py ../shared` draws the set anew; it was drawn before the checks were written.
"""

import hashlib
import json
import random
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from support.capture import adapt
from transcript import secrets
from transcript.event import Draft

FOLDER = Path(__file__).parents[1] / "data" / "planted"
CLASSES = ("supported", "unsupported", "wrong_number", "wrong_name", "negated", "superseded")
EACH = 40
WORLD = 60  # memories that stand beside each candidate
SEED = 20260301
MOST_BYTES = 900_000

Part = list[Any]  # [event, start, end] of a message, or [text] that was put there
_SENTENCE = re.compile(r"(?<=[.!?])[*_`\"')\]]*\s+(?=[A-Z*`\"'(])|\n+")
_PLAN = re.compile(
    r"(?:let (?:me|us)|let's|now,? (?:let|i)|i'(?:ll|d)|i (?:need|want|can|see)|operation stopped)\b", re.I
)
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)
_LEAD = re.compile(r"^(?:[-*+>#]+\s+|\d+[.)]\s+)+")
_CUT = re.compile(r", (?:and|so|but|which|because) |; | — | - ")
_QUALIFIER = re.compile(r"\b(?:if|unless|only|except|until|when|whenever|without|may|might|could|should|would)\b", re.I)
_TURNS = re.compile(r"\b(?:not|never|don't|doesn't|isn't|no|without|think|might|may|if|unless|only)\b", re.I)
_CODE = re.compile(r"`([^`\n]{2,60})`")
_NUMBER = re.compile(r"(?<![\w.`/#-])\d{1,6}(?:\.\d+)?(?![\w./-])")
_AUX = re.compile(r"\b(?:is|are|was|does|can|will|has|should|must)\b(?! not)", re.I)
_NOT = re.compile(r"\b(?:won't|can't)|(?<=[a-z])n't\b| not\b(?! only)", re.I)
_OPPOSITE = (
    ("always", "never"), ("enabled", "disabled"), ("before", "after"), ("added", "removed"), ("first", "last"),
    ("true", "false"), ("with", "without"), ("all", "none"), ("local", "remote"), ("now", "no longer"),
    ("more", "less"), ("old", "new"), ("create", "delete"), ("creates", "deletes"), ("pass", "fail"),
    ("works", "fails"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a real message."""

    session: str
    event: str
    start: int
    end: int
    text: str
    message: str

    def part(self, start: int = 0, end: int | None = None) -> Part:
        """Return a piece of it by offsets within."""
        return [self.event, self.start + start, self.start + (len(self.text) if end is None else end)]


# Reading ---------------------------------------------------------------------------------------------------------


def rows() -> list[dict[str, Any]]:
    """Return the rows of the set, those of class `world` (memories beside the candidates) included."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "set.json").read_text(encoding="utf-8"))
    return found


def paraphrases() -> list[dict[str, Any]]:
    """Return the contradictions in words of our own, each with the place that it contradicts."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "paraphrases.json").read_text(encoding="utf-8"))
    return found


def later() -> dict[str, list[dict[str, Any]]]:
    """Return statements about the memories that `paraphrases` leaves out, written before they were measured.

    `contradictions` deny one in other words; `additions` say something else about the same thing.
    """
    found: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "later.json").read_text(encoding="utf-8"))
    return found


def messages(real_sessions: Path, wanted: list[dict[str, Any]]) -> dict[str, Draft]:
    """Return the messages that rows name, by event id, as the adapter reads them."""
    names = {row[key] for row in wanted for key in ("session", "session2") if key in row}
    return {draft.id: draft for name in sorted(names) for draft in _said(real_sessions / name)}


def text_of(parts: list[Part], said: dict[str, Draft]) -> str:
    """Return the words that pieces stand for."""
    return "".join(part[0] if len(part) == 1 else said[part[0]].body["text"][part[1] : part[2]] for part in parts)


def digest(text: str) -> str:
    """Return the hash that rows keep of words."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# Drawing ---------------------------------------------------------------------------------------------------------


def _said(path: Path) -> list[Draft]:
    return [d for d in adapt(path) if d.type == "conversation_turn" and d.body["kind"] in ("prompt", "reply")]


def _sentences(session: str, draft: Draft) -> Iterator[Sentence]:
    text = draft.body["text"]
    if secrets.find(text) or "[recall" in text or draft.body.get("worker"):
        return
    plain = _FENCE.sub(lambda match: "\n" * len(match[0]), text)
    at = 0
    for stop in [*(m.span() for m in _SENTENCE.finditer(plain)), (len(plain), len(plain))]:
        piece = plain[at : stop[0]]
        lead = _LEAD.match(piece.lstrip())
        start = at + len(piece) - len(piece.lstrip()) + (lead.end() if lead else 0)
        said = plain[start : stop[0]].rstrip()
        at = stop[1]
        states = said[:1].isupper() and said.endswith(".") and not re.search(r"[|\n<>\[\]]", said)
        if 60 <= len(said) <= 260 and states and not _PLAN.match(said):
            yield Sentence(session, draft.id, start, start + len(said), said, text)


def draw(real_sessions: Path) -> list[dict[str, Any]]:
    """Return the whole set: EACH rows of each class and WORLD others, every sentence used once."""
    rng = random.Random(SEED)
    files = sorted(p for p in real_sessions.rglob("*.jsonl") if p.stat().st_size < MOST_BYTES)
    pool: list[Sentence] = []
    for path in files:
        seen: set[str] = set()
        for draft in _said(path):
            for sentence in _sentences(str(path.relative_to(real_sessions)), draft):
                if sentence.text not in seen:
                    seen.add(sentence.text)
                    pool.append(sentence)
    rng.shuffle(pool)
    out: list[dict[str, Any]] = []
    used: set[str] = set()
    plan = {
        "supported": (("whole", 16), ("cut", 8), ("two", 6), ("plain", 6), ("tight", 4)),
        "unsupported": (("elsewhere", 10), ("neighbour", 8), ("joined", 10), ("unqualified", 6), ("clipped", 6)),
        "wrong_number": (("shifted", 14), ("borrowed", 14), ("digit", 12)),
        "wrong_name": (("other_name", 14), ("names_swapped", 10), ("near_twin", 16)),
        "negated": (("denied", 16), ("affirmed", 10), ("opposite", 14)),
        "superseded": (("newer_value", 16), ("newer_name", 8), ("newer_denied", 6), ("retired", 10)),
        "world": (("whole", WORLD),),
        "named": (("whole", 40),),  # what the contradictions in our own words are about
    }
    for kind, operations in plan.items():
        for name, count in operations:
            have = 0
            for sentence in pool:
                if have == count:
                    break
                row = None if sentence.text in used else _OPERATIONS[name](sentence, pool, rng)
                if row is None:
                    continue
                used.add(sentence.text)
                have += 1
                out.append({"class": kind, "op": name, "session": sentence.session} | row)
            if have < count:
                raise ValueError(f"{kind}/{name}: {have} of {count} found")
    return out


def _row(sentence: Sentence, parts: list[Part], source: Part | None = None, **more: Any) -> dict[str, Any]:
    return {"source": source or sentence.part(), "parts": parts} | more


def _replaced(sentence: Sentence, start: int, end: int, piece: Part) -> list[Part]:
    return [p for p in (sentence.part(0, start), piece, sentence.part(end)) if len(p) == 1 or p[1] < p[2]]


def _whole(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    return _row(s, [s.part()])


def _cut(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    cut = _CUT.search(s.text)
    if cut is None or cut.start() < 45 or _QUALIFIER.search(s.text[cut.start() :]):
        return None  # what the rest restricts would be another claim
    if s.text[: cut.start()].count("(") != s.text[: cut.start()].count(")"):
        return None
    return _row(s, [s.part(0, cut.start()), ["."]])


def _two(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    follows = next((o for o in pool if o.event == s.event and 0 < o.start - s.end <= 2), None)
    if follows is None or len(s.text) + len(follows.text) > 330:
        return None
    whole = [s.event, s.start, follows.end]
    return _row(s, [s.part(), [" "], follows.part()], whole)


def _plain(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    marks = [m.span() for m in re.finditer(r"\*\*|`", s.text)]
    if len(marks) < 2:
        return None
    ends = [0, *(e for _, e in marks)]
    starts = [*(b for b, _ in marks), len(s.text)]
    return _row(s, [s.part(a, b) for a, b in zip(ends, starts, strict=True) if a < b])


def _tight(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    filler = re.search(r" (?:also|just|then|really|simply|very|already)(?= )", s.text)
    return _row(s, _replaced(s, filler.start(), filler.end(), [""])) if filler else None


def _elsewhere(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    other = rng.choice(pool)
    return None if other.session == s.session else _row(s, [other.part()], session2=other.session)


def _neighbour(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    other = next((o for o in pool if o.event == s.event and o.text != s.text and abs(o.start - s.start) > 200), None)
    return _row(s, [other.part()]) if other else None


def _joined(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    other = next((o for o in pool if o.session == s.session and o.event != s.event and len(o.text) < 140), None)
    if other is None or len(s.text) > 160:
        return None
    return _row(s, [s.part(0, len(s.text) - 1), [" because "], other.part()])


def _unqualified(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = re.search(
        r",? (?:only|if [^,.]{8,60}|unless [^,.]{8,60}|may|might|could|sometimes|usually)(?=[ ,.])", s.text
    )
    if found is None or found.start() < 8 or len(s.text) - len(found[0]) < 45:
        return None
    return _row(s, _replaced(s, found.start(), found.end(), [""]))


def _clipped(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    turned = _TURNS.search(s.text)
    if turned is None or turned.start() > 40 or len(s.text) - turned.end() < 40:
        return None
    return _row(s, [s.part(turned.end() + 1)], s.part(turned.end() + 1))


def _shifted(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = _NUMBER.search(s.text)
    return _number(s, str(int(float(found[0])) + rng.choice((1, 2, 7, 10))), found) if found else None


def _borrowed(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = _NUMBER.search(s.text)
    others = sorted({n for o in pool if o.event == s.event for n in _NUMBER.findall(o.text)}) if found else []
    others = [n for n in others if n not in s.text]
    return _number(s, rng.choice(others), found) if found and others else None


def _digit(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = re.search(r"\d{2,}(?:\.\d+)*", s.text)
    if found is None:
        return None
    digits = found[0]
    other = digits[:-1] + str((int(digits[-1]) + rng.randint(1, 9)) % 10)
    return _number(s, other, found)


def _number(s: Sentence, value: str, found: re.Match[str]) -> dict[str, Any]:
    return _row(s, _replaced(s, found.start(), found.end(), [value]))


def _other_name(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = _CODE.search(s.text)
    if found is None:
        return None
    names = [m for m in _CODE.finditer(s.message) if f"`{m[1]}`" not in s.text and found[1] not in m[1]]
    names = [m for m in names if m[1].casefold() not in s.text.casefold()]
    if not names:
        return None
    chosen = rng.choice(names)
    return _row(s, _replaced(s, found.start(1), found.end(1), [s.event, chosen.start(1), chosen.end(1)]))


def _names_swapped(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = list(_CODE.finditer(s.text))
    if len(found) != 2 or found[0][1] in found[1][1] or found[1][1] in found[0][1]:
        return None
    if re.search(r"^`[^`]+`\s*(?:,|/|and|or|\+)\s*`[^`]+`", s.text[found[0].start() :]):
        return None  # a list says the same in any order
    one, two = found
    parts = [s.part(0, one.start(1)), s.part(*two.span(1)), s.part(one.end(1), two.start(1)), s.part(*one.span(1))]
    return _row(s, [*parts, s.part(two.end(1))])


def _near_twin(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = _CODE.search(s.text)
    if found is None or not re.fullmatch(r"[\w./-]{4,}(?:\(\))?", found[1]):
        return None
    at = found.end(1) - (2 if found[1].endswith("()") else 0)
    if found[1][0].isalpha() and rng.random() < 0.3:
        return _row(s, _replaced(s, found.start(1), found.start(1) + 1, [found[1][0].swapcase()]))
    return _row(s, _replaced(s, at, at, [rng.choice(("s", "2", "_v2", "All", "Id"))]))


def _denied(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = _AUX.search(s.text)
    return _row(s, _replaced(s, found.end(), found.end(), [" not"])) if found else None


def _affirmed(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    found = _NOT.search(s.text)
    if found is None:
        return None
    instead = {"won't": "will", "can't": "can"}.get(found[0].lower(), "")
    return _row(s, _replaced(s, found.start(), found.end(), [instead]))


def _opposite(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    for one, other in _OPPOSITE:
        for word, instead in ((one, other), (other, one)):
            found = re.search(rf"(?<![\w`/-]){word}(?![\w`/-])", s.text)
            if found:
                return _row(s, _replaced(s, found.start(), found.end(), [instead]))
    return None


def _newer(change: Any) -> Any:
    """The sentence itself as candidate, beside a memory of a later day that says what change makes of it."""

    def operation(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
        changed = change(s, pool, rng)
        return _row(s, [s.part()], newer=changed["parts"]) if changed else None

    return operation


def _retired(s: Sentence, pool: list[Sentence], rng: random.Random) -> dict[str, Any] | None:
    return _row(s, [s.part()], retired=True)


_OPERATIONS = {
    "whole": _whole, "cut": _cut, "two": _two, "plain": _plain, "tight": _tight, "elsewhere": _elsewhere,
    "neighbour": _neighbour, "joined": _joined, "unqualified": _unqualified, "clipped": _clipped, "shifted": _shifted,
    "borrowed": _borrowed, "digit": _digit, "other_name": _other_name, "names_swapped": _names_swapped,
    "near_twin": _near_twin, "denied": _denied, "affirmed": _affirmed, "opposite": _opposite,
    "newer_value": _newer(_shifted), "newer_name": _newer(_other_name), "newer_denied": _newer(_denied),
    "retired": _retired,
}  # fmt: skip


def main(shared: Path) -> None:
    """Draw the set and write it."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(shared / "transcripts" / "claude-code.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        drawn = draw(Path(folder))
        said = messages(Path(folder), drawn)
    for row in drawn:
        row["sha256"] = digest(text_of(row["parts"], said))
        row["source"].append(digest(text_of([row["source"]], said)))
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in drawn)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "set.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    for row in drawn:
        if row["class"] != "world":
            print(row["source"][0][:6] if row["class"] == "named" else "", end="")
            print(row["class"], row["op"], "|", text_of(row["parts"], said), "||", text_of([row["source"][:3]], said))
            if "newer" in row:
                print("        newer:", text_of(row["newer"], said))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
