"""A prompt with a gloss is looked for by both; the better cosine counts."""

from collections.abc import Sequence

from recall.cues import read_cues
from recall.nearest import nearest

ENGLISH, OWN = 1, 2


def test_a_passage_has_the_better_of_its_two_cosines() -> None:
    cues = read_cues("warum ist die Sicherung fehlgeschlagen")
    held = {cues.meaning: [(ENGLISH, 0.8), (OWN, 0.2)], cues.text: [(OWN, 0.9), (ENGLISH, 0.1), (3, 0.05)]}

    assert nearest(cues, lambda text, _: held[text], None) == [(OWN, 0.9), (ENGLISH, 0.8), (3, 0.05)]


def test_a_prompt_without_a_gloss_is_encoded_once() -> None:
    asked: list[str] = []

    def vectors(text: str, _: object) -> Sequence[tuple[int, float]]:
        asked.append(text)
        return [(ENGLISH, 0.5)]

    assert nearest(read_cues("why did the backup fail"), vectors, None) == [(ENGLISH, 0.5)]
    assert asked == ["why did the backup fail"]


def test_where_there_is_no_time_for_the_second_the_first_stands() -> None:
    cues = read_cues("warum ist die Sicherung fehlgeschlagen")

    assert nearest(cues, lambda text, _: [(ENGLISH, 0.8)] if text == cues.meaning else None, None) == [(ENGLISH, 0.8)]
    assert nearest(cues, lambda text, _: None, None) is None
