"""The sentinel: what recall injected is cut, what it injects cannot break out."""

import html
import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcript.injected import OPEN_PHRASE, block_spans, has_block, neutralise, strip_blocks

BLOCK = f"[recall 1a2b3c4d]{OPEN_PHRASE}\nEarlier: the ceiling is nine.\n[/recall 1a2b3c4d]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing here", "nothing here"),
        (f"before {BLOCK} after", "before  after"),
        (f"{BLOCK}{BLOCK}", ""),
        (json.dumps({"context": BLOCK}), '{"context": ""}'),
        (json.dumps({"context": BLOCK}).replace("/", "\\/"), '{"context": ""}'),
        (json.dumps(json.dumps({"c": BLOCK}).replace("/", "\\/")), json.dumps('{"c": ""}')),
        ("a [recall 1a2b3c4d] b", "a  b"),
        ("a [/recall 1a2b3c4d] b", "a  b"),
        ("a [recall 1a2b3c4d] b [/recall 99999999] c", "a  b  c"),
        ("[/recall 1a2b3c4d] a [recall 1a2b3c4d]", " a "),
        ("the [recall] rate, [RECALL 1a2b3c4d]", "the [recall] rate, [RECALL 1a2b3c4d]"),
    ],
    ids=["none", "one", "two", "json", "json-slash", "json-twice", "open", "close", "other", "wrong-order", "prose"],
)
def test_strip_cuts_whole_blocks_and_half_a_mark_cuts_only_itself(text, expected):
    assert strip_blocks(text) == expected


@pytest.mark.parametrize(
    "escaped",
    [
        BLOCK.replace("[", "\\u005b").replace("]", "\\u005d"),
        BLOCK.replace("[", "\\u005B").replace("]", "\\u005D").replace("/", "\\u002F"),
        BLOCK.replace("[", "&#91;").replace("]", "&#93;").replace("/", "&#x2f;"),
        BLOCK.replace("[", "&lsqb;").replace("]", "&rsqb;").replace("/", "&sol;"),
        BLOCK.replace(" ", "\u00a0"),
        BLOCK.replace(" ", "&nbsp;"),
        BLOCK.replace("[", "\\[").replace("]", "\\]").replace("\\[", "[", 1),
        "\n".join(f"> {line}" for line in BLOCK.split("\n")).removeprefix("> "),
    ],
    ids=["json", "json-capitals", "numbers", "names", "nbsp", "nbsp-name", "markdown", "quote"],
)
def test_a_block_is_cut_however_it_was_escaped_on_the_way(escaped):
    assert strip_blocks(f"before {escaped} after") == "before  after"


def test_a_block_quoted_between_two_lines_leaves_both():
    text = f"For the record:\n{BLOCK}\nMy own statement: twelve."

    assert strip_blocks(text) == "For the record:\n\nMy own statement: twelve."
    assert has_block(text)
    assert not has_block("For the record [/recall 1a2b3c4d]")


def test_many_half_marks_cost_linear_time():
    text = "[recall 1a2b3c4d] x " * 20_000 + "[/recall 99999999] " * 20_000

    assert len(block_spans(text)) == 40_000


def test_a_long_run_of_backslashes_is_looked_through_once():
    """Quadratic time would be half a minute here."""
    assert block_spans("[recall 1a2b3c4d" + "\\" * 200_000) == []


@given(
    st.lists(
        st.sampled_from(
            ["[recall 1a2b3c4d]", "[/recall 1a2b3c4d]", "[recall 00000000]", "[/recall 00000000]", "a ", "ä"]
        )
    )
)
def test_spans_are_ordered_disjoint_and_strip_is_what_they_leave(pieces):
    text = "".join(pieces)

    spans = block_spans(text)

    assert all(a < b for a, b in spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert "".join(text[i] for i in range(len(text)) if not any(a <= i < b for a, b in spans)) == strip_blocks(text)


@pytest.mark.parametrize(
    "text",
    [
        "[recall 1a2b3c4d]",
        "[/recall 1a2b3c4d]",
        "[ / ReCall 1a2b3c4d]",
        "[\n/recall",
        "[\u200b/recall",
        "&#91;/recall",
        "&#x5B;&#47;rec&#97;ll",
        "&amp;amp;lbrack;/recall",
        "[[/recall 1a2b3c4d]/recall 1a2b3c4d]",
        "</system-reminder>",
        "<SYSTEM-Reminder>",
        "< / system-reminder >",
        "&lt;/system-reminder&gt;",
        "&amp;lt;system-reminder&amp;gt;",
        "</</recalled>recalled>",
        "<hook_context>",
        "<qwen:user-prompt-submit-context>",
        "<local-command-stdout>",
        "<task-notification>",
        "\uff1c/system-reminder>",
        "&lt/system-reminder>",
    ],
)
def test_no_spelling_of_a_mark_survives(text):
    """recall-tag-breakout (deja-vu#656, agent-os#3361, vellum-assistant#1685, hermes-agent#10694)."""
    safe = neutralise(text)

    plain = html.unescape(html.unescape(html.unescape(safe)))
    folded = re.sub("[\\s\u200b]", "", plain).lower().replace("\uff1c", "<")
    assert not re.search(r"\[/?recall|</?(system-reminder|recalled|hook_context|qwen:|local-command|task-not)", folded)
    assert neutralise(safe) == safe


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "List<String>",
        "x[0]",
        "[link](recall.md)",
        "&lt;T&gt;",
        "if (a<systems) {",
        "&bogus; &#99999999;",
        "AT&T",
    ],
)
def test_ordinary_brackets_stay_readable(text):
    assert neutralise(text) == text


@given(
    st.lists(
        st.sampled_from(
            [
                "[",
                "/",
                "recall",
                " ",
                "&",
                "&amp;",
                "lt;",
                "&lt;",
                "#91;",
                "&#91;",
                "<",
                "system-reminder",
                ">",
                "(",
                "x",
                "&lsqb;",
            ]
        )
    )
)
def test_neutralising_is_idempotent_and_never_creates_a_mark(pieces):
    once = neutralise("".join(pieces))

    assert neutralise(once) == once
    assert not re.search(r"\[\s*/?\s*recall|<\s*/?\s*system-reminder", html.unescape(once))


@pytest.mark.parametrize("sign", ["[", "<"])
def test_a_long_run_of_blanks_behind_a_bracket_is_looked_through_once(sign):
    """A run that was divided anew at each of its places took more than a minute."""
    blanks = " " * 80_000

    assert neutralise(f"{sign}{blanks}recalls") == f"({blanks}recalls" if sign == "[" else f"<{blanks}recalls"
    assert neutralise(f"{sign}{blanks}x") == f"{sign}{blanks}x"
    assert neutralise(f"{sign}{blanks}/{blanks}recall") == f"({blanks}/{blanks}recall"
