"""Editing a JSON text and leaving every other byte as it stands."""

import json
import random

import pytest

from recall import json_edit


def test_a_member_is_added_in_the_files_own_indentation():
    text = '{\n    "model": "x",\n    "n": 1.50\n}\n'

    after = json_edit.add(text, 0, {"a": [1]}, key="hooks")

    assert after == (
        '{\n    "model": "x",\n    "n": 1.50,\n    "hooks": {\n        "a": [\n            1\n        ]\n    }\n}\n'
    )


def test_a_one_line_file_stays_one_line():
    assert json_edit.add('{"a": 1}', 0, [2], key="b") == '{"a": 1, "b": [2]}'


def test_an_empty_object_is_opened_over_lines():
    assert json_edit.add("{}\n", 0, 1, key="b") == '{\n  "b": 1\n}\n'


def test_windows_line_ends_are_continued():
    assert json_edit.add('{\r\n\t"a": 1\r\n}', 0, {"c": 2}, key="b") == (
        '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}'
    )


def test_brackets_and_quotes_inside_strings_are_no_structure():
    text = '{"a": "}]\\"{", "hooks": {"x": ["[", "\\\\"]}}'

    at = json_edit.find(text, ("hooks", "x"))

    assert json.loads(json_edit.add(text, at, "new"))["hooks"]["x"] == ["[", "\\", "new"]


def test_the_last_of_two_equal_keys_is_found_as_json_readers_do():
    text = '{"hooks": {"old": 1}, "hooks": {"new": 1}}'

    assert text[json_edit.find(text, ("hooks",)) :].startswith('{"new"')


def _random_json(rng: random.Random, depth: int = 3) -> object:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([1, -2.5, True, None, "", 'q"\\}]{[,', "é\u2028", "x" * 20])
    if rng.random() < 0.5:
        return [_random_json(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {f"k{i}{rng.choice(['', '}', chr(34)])}": _random_json(rng, depth - 1) for i in range(rng.randrange(4))}


def test_what_was_added_can_be_cut_and_the_old_bytes_are_back():
    for seed in range(60):
        rng = random.Random(seed)
        value = {f"m{i}": _random_json(rng) for i in range(rng.randrange(1, 4))}
        text = json.dumps(value, indent=rng.choice([None, 1, 2, 4, "\t"]), ensure_ascii=rng.random() < 0.5)

        more = json_edit.add(text, 0, _random_json(rng), key="ours")
        (ours,) = (m for m in json_edit.members(more, 0)[0] if m.key == "ours")

        assert json.loads(more).keys() == {*value, "ours"}
        assert json_edit.cut(more, 0, ours) == text


@pytest.mark.parametrize("index", [0, 1, 2])
def test_cutting_takes_exactly_one_comma(index):
    text = '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}'

    after = json_edit.cut(text, 0, json_edit.members(text, 0)[0][index])

    assert list(json.loads(after)) == [key for i, key in enumerate("abc") if i != index]
