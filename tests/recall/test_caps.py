"""What fits into each harness, to the character.

Case recall-output-cap. Public reference: anthropics/claude-code#91614, #94358; openai/codex#22861.
"""

import json

import pytest

from recall.caps import CAPS, cap_of, fits, utf16_units
from recall.contracts import CONTRACTS

NO_LIMIT = 10**9
ANSWERED = [harness for harness, contract in CONTRACTS.items() if contract.answers]


def test_every_harness_that_takes_an_answer_has_its_cap():
    assert set(CAPS) == set(ANSWERED)


def longest(harness: str, sign: str) -> str:
    """As many of this sign as fit, found by halving."""
    least, most = 0, 100_000
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(sign * middle, harness, most_bytes=NO_LIMIT) else (least, middle - 1)
    return sign * least


@pytest.mark.parametrize("harness", ANSWERED)
@pytest.mark.parametrize(
    ("sign", "units", "size"),
    [("a", 1, 1), ("字", 1, 3), ("😀", 2, 4), ('"', 2, 2), ("\n", 2, 2), ("é", 1, 2)],
    ids=["letter", "han", "emoji", "quote", "line end", "accent"],
)
def test_the_cap_is_reached_and_never_passed(harness, sign, units, size):
    """Units are what JavaScript counts, bytes those of the text as UTF-8, both with JSON's own escapes."""
    cap = cap_of(harness)
    room = min((cap.units - cap.envelope - 2) // units, (cap.bytes - cap.envelope - 2) // size)

    block = longest(harness, sign)

    assert len(block) == room
    answer = json.dumps(block, ensure_ascii=False)
    assert utf16_units(answer) + cap.envelope <= cap.units
    assert len(answer.encode()) + cap.envelope <= cap.bytes


@pytest.mark.parametrize("sign", ["<", ">"])
def test_an_angle_bracket_costs_four_signs_where_the_harness_escapes_it(sign):
    assert len(longest("gemini-cli", sign)) == (40_000 - 160 - 2) // 4
    assert len(longest("qwen-code", sign)) == (40_000 - 160 - 2) // 4
    assert len(longest("claude-code", sign)) == 10_000 - 160 - 2


def test_our_own_limit_counts_the_escaped_text():
    code = "a <b> c " * 100

    assert fits(code, "claude-code", most_bytes=1000)
    assert not fits(code, "gemini-cli", most_bytes=1000)


def test_codex_gets_no_more_than_2500_of_its_tokens():
    """It counts a token for every four bytes of the context, and cuts the middle out above 2,500."""
    assert len(longest("codex", "字").encode()) / 4 <= 2500


def test_a_harness_nobody_knows_gets_the_least_of_all():
    assert min((cap.units, cap.bytes) for cap in CAPS.values()) == (cap_of("amp").units, cap_of("amp").bytes)
