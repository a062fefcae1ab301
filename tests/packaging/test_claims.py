"""What the pages may claim follows from what is built: no proof without signatures, no tokens where none are used."""

import re
from pathlib import Path

import pytest

from transcript.event import ENVELOPE_KEYS

FORENSIC = r"forensic|tamper[- ]?proof|tamper[- ]?evident|non[- ]repudiation|legally binding"
DENIED = r"\b(?:not|no|never|nor|isn't|without)\b[^.:]{0,40}$"
FREE = r"(?:no|zero|without)\b[^.|]{0,30}\btokens?\b"


@pytest.fixture(scope="module")
def pages(root: Path) -> dict[str, str]:
    """Name -> text of every page, its lines joined."""
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    return {str(path.relative_to(root)): re.sub(r"\s+", " ", path.read_text(encoding="utf-8")) for path in found}


def is_signed() -> bool:
    return bool(ENVELOPE_KEYS & {"signature", "sig", "mac"})


def claims(pages: dict[str, str], pattern: str) -> list[tuple[str, str, str]]:
    """Page, the text before a claim, and the claim with what follows."""
    return [
        (name, text[max(0, match.start() - 80) : match.start()], text[match.start() : match.end() + 160])
        for name, text in pages.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]


def test_no_page_claims_more_than_operational_auditability_while_nothing_is_signed(pages):
    """ESAA-52."""
    found = claims(pages, FORENSIC)

    assert "README.md" in {name for name, _, _ in found}
    if not is_signed():
        assert [claim for claim in found if not re.search(DENIED, claim[1], re.IGNORECASE)] == []


def test_readme_says_what_kind_of_auditability_it_is_and_what_the_chain_does_not_show(pages):
    """ESAA-52."""
    limits = pages["README.md"].split("## Limits")[1]

    assert "operational auditability" in limits
    assert ("no event is signed" in limits) is not is_signed()


def test_readme_limits_the_claim_of_no_tokens_to_capture_and_projection(pages):
    """ESAA-51."""
    limits = pages["README.md"].split("## Limits")[1]

    assert re.search(r"Capture, projection \(the views\) and index use no model's tokens", limits)
    assert re.search(r"That holds for them alone\.", limits)
    assert re.search(r"What a turn .{0,160} costs the tokens it has", limits)


def test_no_page_claims_that_recall_itself_costs_no_tokens(pages):
    """ESAA-51: a claim of no tokens names capture, projection or index in its own sentence."""
    loose = [
        (name, claim)
        for name, before, claim in claims(pages, FREE)
        if not re.search(r"captur|project|view|index|sync|adapter", before[-80:] + claim, re.IGNORECASE)
    ]

    assert loose == []


@pytest.mark.parametrize(
    ("text", "denied"),
    [("It is not ", True), ("this is no ", True), ("The log is ", False), ("It is not slow. The log is ", False)],
)
def test_a_denial_is_told_from_a_claim(text, denied):
    assert bool(re.search(DENIED, text)) is denied
