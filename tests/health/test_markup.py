"""HTML made from recorded text: nothing of it is obeyed."""

import pytest

from health.markup import Html, join, page, tag, text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\"a\" & 'b'", "&quot;a&quot; &amp; &#x27;b&#x27;"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202eturned", "\\u202eturned"),
        ("with\u200bout w\ufeffidth", "with\\u200bout w\\ufeffidth"),
        ("half \ud800", "half \\ud800"),
        (12, "12"),
        (None, ""),
    ],
)
def test_recorded_text_is_shown_and_not_obeyed(said, shown):
    assert text(said) == shown
    assert tag("p", said) == f"<p>{shown}</p>"
    assert tag("p", title=str(said)) == f'<p title="{text(str(said))}"></p>'


def test_elements_stand_in_each_other_and_are_not_escaped_twice():
    inner = tag("em", "a < b")

    assert tag("p", "x ", inner, Html("<br>")) == "<p>x <em>a &lt; b</em><br></p>"
    assert join(inner, "<") == "<em>a &lt; b</em>&lt;"


def test_attributes_are_named_as_in_python():
    assert tag("label", for_="x", aria_label="y", class_="z", hidden=True, id=None, open=False) == (
        '<label for="x" aria-label="y" class="z" hidden></label>'
    )
    assert tag("br", class_="x") == '<br class="x">'


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", " java\nscript:x", "JAVASCRIPT:x", "data:text/html,x", "//foreign", "\\\\foreign"],
)
def test_an_address_that_runs_or_leaves_by_another_way_is_refused(address):
    with pytest.raises(ValueError, match="neither an address"):
        tag("a", "x", href=address)


@pytest.mark.parametrize("address", ["#signal-a", "/turn/1?x=2", "turn", "https://example.org/a"])
def test_addresses_of_the_web_and_relative_ones_pass(address):
    assert tag("a", "x", href=address) == f'<a href="{text(address)}">x</a>'


@pytest.mark.parametrize(
    "made", [lambda: tag("p", onclick="x"), lambda: tag("p><script"), lambda: tag("p", **{"a b": 1})]
)
def test_handlers_and_names_that_are_none_are_refused(made):
    with pytest.raises(ValueError, match="is no "):
        made()


def test_a_page_forbids_every_request_and_script():
    made = page("<title>", tag("p", "x"), style="p { color: red }")

    assert made.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>&lt;title&gt;</title>" in made
    assert "default-src &#x27;none&#x27;" in made
    assert "<style>p { color: red }</style>" in made
