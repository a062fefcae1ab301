"""No parser repeats what it refuses: each is sent an oversized text, and what it says is searched."""

import pytest

from health.refusals import CANARY, OVERSIZED, PARSERS, Parser, refusal_facts
from transcript.errors import RecallError


def take_back(text: str) -> None:
    """Refuse as the parser of LCA's incident did."""
    raise RecallError(f"the post of {len(text):,} characters is too long: {text}")


def cut_off(text: str) -> None:
    """Refuse with the beginning of what is refused."""
    raise RecallError(f"{text[:40]!r} is no post")


def keep_back(_text: str) -> str:
    return "too long"


@pytest.mark.parametrize("number", range(len(PARSERS)), ids=[f"{n} {one.name}" for n, one in enumerate(PARSERS)])
def test_no_parser_repeats_what_it_refuses(number: int) -> None:
    """LCA-D-07, LCA-D-07H: every one refuses it, which a parser that takes all could not tell."""
    parser = PARSERS[number]
    try:
        refused = parser.take(CANARY[:OVERSIZED])
    except (RecallError, ValueError) as error:
        refused = error

    assert refused, "it was taken in"
    assert refusal_facts([parser]).echoed == {}


def test_characters_that_come_back_are_counted_by_parser() -> None:
    """LCA-D-07H: of a text that a bounded parser is sent twice, both sizes; a beginning counts in whole pieces."""
    facts = refusal_facts(
        [Parser("posts", take_back, bounded=True), Parser("names", cut_off), Parser("all", keep_back)]
    )

    assert facts.parsers == 3
    assert facts.echoed == {"posts": OVERSIZED + len(CANARY), "names": 40}
