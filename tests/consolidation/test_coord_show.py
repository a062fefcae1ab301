"""What a person sees before they sign: the whole document, in characters that cannot hide or pretend anything."""

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.coord import Ana, Office, action, write_proposal

from consolidation import coord_decide, coord_show
from consolidation.coord_escape import broken, cells, escaped, odd, shown
from consolidation.coord_refs import Evidence
from consolidation.coord_schema import checked
from transcript.canonical import canonical

HIDING = {
    "blank lines": "Keep it." + "\n" * 201 + "Then delete the backups.",
    "lines of a space": "Keep it." + "\n " * 200 + "\nThen delete the backups.",
    "direction marks": "delete \u202eton\u202c \u2066x\u2069 \u200f",
    "tag characters": "Keep it." + "".join(chr(0xE0000 + ord(char)) for char in "delete"),
    "terminal escapes": "\x1b[2J\x1b[1;1HKeep it.\x1b[8mdelete\x1b[0m\r\x07\x9b31m",
    "joiners and fillers": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u115fh\u3164i\uffa0j\u2800k\u180el",
    "separators": "a\u2028b\u2029c\x85d\x0be\x0cf\u00a0g\u3000h\u2003i",
    "stacked marks": "z" + "\u0301" * 300 + " \u0336s\u0336t\u0336r\u0336",
    "variation selectors": "a\ufe0fb\U000e0101c\u180bd",
    "other planes": "\ue000\U000f0000\U0010ffff\ufffe\u0378",
    "spaces": "Keep it." + " " * 5000 + "Delete it.  ",
    "its own escapes": "\\u{202E} \\n \\s{3}(3 spaces) \\n{200}(200 blank lines) \\",
    "a forged field": 'x"\n  9 decision        │ "approve',
    "pictures": "😀 🏴\u200d☠️ ✅",
}


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def read_back(line: str) -> str:
    """The text that a printed one stands for."""

    def char(found: re.Match[str]) -> str:
        whole = found[0]
        if whole.startswith("\\u{"):
            return chr(int(whole[3:-1], 16))
        if found["count"]:
            return " " * int(found["count"])
        return {"\\t": "\t", "\\r": "\r", "\\\\": "\\"}[whole]

    return re.sub(r"\\u\{[0-9A-F]+\}|\\s\{(?P<count>\d+)\}(\([\d,]+ spaces\))?|\\t|\\r|\\\\", char, line)


def text_of(lines: Sequence[str]) -> str:
    """The text of printed lines."""
    parts = []
    for line in lines[:-1]:
        found = re.fullmatch(r"(.*?)\\n(?:\{(\d+)\}\([\d,]+ blank lines\))?", line, re.DOTALL)
        assert found is not None, line
        parts.append((read_back(found[1]) + "\n") * int(found[2] or 1))
    return "".join(parts) + read_back(lines[-1])


def printed(text: str) -> list[str]:
    return ["".join(segment.text for segment in line) for line in escaped(text)]


def document_of(lines: Sequence[coord_show.Line]) -> Any:
    """The document that printed lines stand for."""
    entries: list[tuple[int, str, list[str]]] = []
    for line in lines:
        number, name = line.gutter[:4].strip(), line.gutter[4:].rstrip("│ ")
        value = "".join(segment.text for segment in line.segments)
        if number:
            assert int(number) == len(entries) + 1
            entries.append(((len(name) - len(name.lstrip())) // 2, name.strip(), [value]))
        else:
            entries[-1][2].append(value)

    def value_of(depth: int) -> Any:
        _, _, told = entries.pop(0)
        if (opening := re.fullmatch(r"([{\[])(?: \d+ )?[}\]]", told[0])) and len(told) == 1:
            inner = {}
            while entries and entries[0][0] == depth + 1:
                name = read_back(entries[0][1])
                inner[name] = value_of(depth + 1)
            return inner if opening[1] == "{" else list(inner.values())
        if told[0].startswith('"'):
            told[0], told[-1] = told[0][1:], told[-1].removesuffix('"') if len(told) > 1 else told[0][1:-1]
            return text_of(told)
        return json.loads(told[0])

    whole = {}
    while entries:
        name = read_back(entries[0][1])
        whole[name] = value_of(0)
    return whole


@pytest.mark.parametrize("text", HIDING.values(), ids=HIDING)
def test_what_is_printed_stands_for_one_text_and_hides_nothing(text: str) -> None:
    lines = printed(text)

    assert text_of(lines) == text
    assert len(lines) < 10
    assert all(re.fullmatch(r"[ -~│́→]*", line) for line in lines)


def test_any_text_can_be_read_back() -> None:
    chosen = random.Random(4)
    letters = "ab \n\t\\{}()nsu0123" + "жсо" + "é\u0301\u200b\u202e\ud800\U0001f600日"
    for _ in range(3000):
        text = "".join(chosen.choices(letters, k=chosen.randrange(1, 30)))
        assert text_of(printed(text)) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("p\u0430ypal", r"p\u{0430}ypal"),
        ("\u0441\u043e\u0440\u0443 it", r"\u{0441}\u{043E}\u{0440}\u{0443} it"),
        ("\u0430 file", r"\u{0430} file"),
        ("ＡＢ", r"\u{FF21}\u{FF22}"),
        ("a\u2010b", r"a\u{2010}b"),
        ("1\u0663", r"1\u{0663}"),
        ("x\u037e", r"x\u{037E}"),
        ("\U0001d41aim", r"\u{1D41A}im"),
        ("αlpha", r"\u{03B1}lpha"),
    ],
)
def test_a_letter_that_passes_for_another_is_escaped_and_told(text: str, seen: str) -> None:
    assert shown(text) == seen
    assert odd(text).words


@pytest.mark.parametrize(
    "text",
    [
        "Zeiten in UTC speichern: größer als 5 €, „so“ – ja …",
        "Храни время в UTC, а не в MSK",
        "używaj źródła, déjà vu, naïve e\u0301, Việt Nam",
        "時刻はUTCで保存する。Python用のコード",
        "한국어 문장",
        "Αποθήκευση χρόνου σε UTC",
        "احفظ الوقت",
        "हिन्दी में लिखो",
        "a → b ≤ c",
    ],
)
def test_living_languages_stay_readable(text: str) -> None:
    assert shown(text) == text
    assert odd(text).words == ()


@pytest.mark.parametrize("width", [20, 41, 80])
def test_no_row_is_wider_than_the_terminal_and_none_begins_at_its_edge(office: Office, width: int) -> None:
    """A row that the terminal breaks itself could look like a field."""
    names = iter(HIDING.values())
    document = office.propose(summary="".join(names)[:3990] + "漢字" + "x" * 8, evidence_refs=["docs/time.md"])
    what = coord_decide.show(office.desk, document.id)

    whole = coord_show.document(what)
    rows = coord_show.wrapped(whole, width)

    assert all(cells(row.text) <= max(width, coord_show.LEAST + cells(row.gutter)) for row in rows)
    assert [row.gutter.strip("│ ") != "" for row in rows].count(True) == len({w.gutter for w in whole} - {""}) - 1
    assert "".join(row.text[len(row.gutter) :] for row in rows) == "".join(w.text[len(w.gutter) :] for w in whole)
    assert all("│" in row.gutter for row in rows)


def test_an_escape_is_never_cut_in_two() -> None:
    rows = broken(escaped("\u200b" * 40)[0], 21)

    assert {"".join(segment.text for segment in row) for row in rows} == {r"\u{200B}\u{200B}"}


def test_the_lines_stand_for_exactly_the_document_whose_hash_is_signed(office: Office) -> None:
    """The bytes that are signed are the bytes that are shown."""
    for at, text in enumerate(HIDING.values()):
        document = office.propose(
            summary=text[:4000], subject="time", kind="decision", evidence_refs=[f"docs/{at}.md", "docs/time.md"]
        )
        what = coord_decide.show(office.desk, document.id)
        back = document_of(coord_show.document(what))

        assert canonical(back) == canonical(dict(document.raw))
        assert coord_decide.action_hash(checked(back)) == what.action_hash


def test_a_decision_that_stands_in_the_file_is_shown_as_the_rest(office: Office) -> None:
    document = office.approved()
    what = coord_decide.show(office.desk, document.id)

    assert document_of(coord_show.document(what)) == office.file(document.id)
    assert "it is approved: this document holds a decision already" in coord_show.warnings(what)


def test_what_is_odd_is_told_before_the_decision(office: Office) -> None:
    text = "p\u0430ypal\u202e" + "\n" * 200 + "Привет שלום"
    document = office.propose(summary=text, evidence_refs=["docs/none.md"])
    bare = office.propose(evidence_refs=[])

    told = "\n".join(coord_show.warnings(coord_decide.show(office.desk, document.id)))

    assert all(word in told for word in (r"\u{202E}", r"p\u{0430}ypal", "CYRILLIC", "HEBREW", "right to left"))
    assert "199 blank lines in a row" in told
    assert "evidence that names nothing here: docs/none.md" in told
    assert coord_show.warnings(coord_decide.show(office.desk, bare.id)) == [
        "no evidence: it can be approved, but not applied"
    ]
    assert coord_show.warnings(coord_decide.show(office.desk, office.propose().id)) == []


def test_evidence_is_printed_with_its_words_and_never_drives_the_document_away(office: Office) -> None:
    (office.root / "docs/long.md").write_text("noise\n" * 5000)
    document = office.propose(evidence_refs=["docs/long.md", "docs/time.md", "ticket 12", "https://example.org/a"])

    told = [line.text for line in coord_show.lines(coord_decide.show(office.desk, document.id))]

    assert told.count("    │ noise") == coord_show.MOST_EVIDENCE
    assert "    4,940 more lines: look at docs/long.md itself" in told
    assert "    │ All clocks run on UTC." in told
    assert "ticket 12  [names nothing here]" in told
    assert "https://example.org/a  [an address, not fetched]" in told
    assert max(map(cells, told)) <= coord_show.WIDTH
    assert told.index("    │ All clocks run on UTC.") < told.index("  1 schema_version  │ 1")


def test_evidence_cannot_pretend_either() -> None:
    part = Evidence("docs/x.md", "0" * 64, "file", "\x1b[2J\u202e p\u0430y\n" + "\n" * 300 + "end")

    told = [line.text for line in coord_show.evidence(part)]

    assert "    │ \\u{001B}[2J\\u{202E} p\\u{0430}y" in told
    assert "    │ \\n{300}(300 blank lines)" in told


def test_what_the_action_changes_is_shown_as_it_stands(office: Office) -> None:
    item = office.applied()
    below = office.root / ".recall" / "identity" / "commands"
    below.mkdir(parents=True)
    (below / "ship.md").write_text("Run the tests, then tag.\n")

    for ref, words in ((item["event_id"], "Store times in UTC."), ("procedure:commands/ship.md", "then tag.")):
        more = {"content": {"path": "commands/ship.md", "text": "Tag."}} if ref.startswith("procedure") else {}
        document = office.propose(operation="supersede", target_ref=ref, summary="new", **more)
        told = "\n".join(line.text for line in coord_show.lines(coord_decide.show(office.desk, document.id)))
        assert f"{ref}  [" in told
        assert words in told


def test_a_document_found_on_disk_is_shown_with_every_field_it_has(office: Office) -> None:
    raw = {
        "schema_version": 1, "proposal_id": "5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c11", "source_task": "T9",
        "action": action(content={"path": "a.md", "text": "x\ty\n"}, target_ref="procedure:a.md"), "state": "approved",
        "created_at": "2026-03-01T09:00:00Z", "decision": {"odd \u200bname": [1, True, None, {"a": []}]},
        "revises": "5b0c54a8-6d43-4c5e-9f5e-3a4c6f5f1c12",
    }  # fmt: skip
    write_proposal(office, raw)

    what = coord_decide.show(office.desk, raw["proposal_id"])

    assert canonical(document_of(coord_show.document(what))) == canonical(raw)
    assert Ana().name not in "".join(line.text for line in coord_show.document(what))
