"""Every setting is explained, and what is said of its range is what its class takes."""

import pytest

from recall.config import defaults, load
from recall.setting_docs import MEANINGS, TITLES, allowed, shown, variable
from transcript.errors import ConfigError


def test_every_setting_has_one_line_of_meaning_and_every_section_a_title():
    assert list(MEANINGS) == list(defaults())
    assert list(TITLES) == list(dict.fromkeys(key.partition(".")[0] for key in defaults()))
    assert all(text and "\n" not in text for text in MEANINGS.values())


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("retrieval.k", "a whole number from 1"),
        ("index.chunk_chars", "a whole number from 80 to 4000"),
        ("index.chunk_overlap_chars", "0 only"),
        ("weights.alpha", "above 0"),
        ("weights.beta", "0 or more"),
        ("capture.native", "true or false"),
        ("index.model", "text"),
    ],
)
def test_the_range_is_what_the_settings_check(key, expected):
    assert allowed(key) == expected


@pytest.mark.parametrize("key", [key for key in defaults() if allowed(key).startswith("a whole number from")])
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(tmp_path, key):
    least, _, most = allowed(key).removeprefix("a whole number from ").partition(" to ")
    inside = [int(least), *([int(most)] if most else [])]
    beyond = [int(least) - 1, *([int(most) + 1] if most else [])]

    for value in inside:
        assert load(tmp_path, None, {variable(key): str(value)}).get(key).value == value
    for value in beyond:
        with pytest.raises(ConfigError):
            load(tmp_path, None, {variable(key): str(value)})


@pytest.mark.parametrize("key", list(defaults()))
def test_the_variable_named_sets_the_setting(tmp_path, key):
    value = load(tmp_path, None, {variable(key): shown(defaults()[key]).strip('"')}).get(key)

    assert (value.value, value.origin) == (defaults()[key], "variable")
