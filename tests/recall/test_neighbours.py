"""In a talk between people the turns beside a turn speak for it; in an agent's session they do not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.embedder import StubEmbedder

from indexer.queue import embed
from indexer.rows import TALK, ExchangeRow, PointerRow
from indexer.store import Store
from indexer.talk import heading, speaker_of
from recall.candidates import candidates
from recall.cli.group import run
from recall.cues import read_cues
from recall.neighbours import beside, is_named, names, passed_on
from recall.query import Query
from recall.settings import RetrievalSettings


def exchange(number: int, session: str, ordinal: int, head: str = "") -> ExchangeRow:
    return ExchangeRow(number, session, ordinal, head, (), (), 0)


def pointer(number: int, flags: int = TALK) -> PointerRow:
    return PointerRow("e", 0, 1, "s", number, 0, 0, 0.0, 0, flags, "Ines")


def test_the_turns_before_and_after_a_turn_of_a_talk_are_looked_at() -> None:
    assert beside([pointer(5), pointer(1), pointer(9, flags=0), pointer(0)]) == {4, 6, 2}


def test_both_neighbours_of_the_same_session_pass_their_match_on() -> None:
    """5 stands between 4 (0.6) and 6 (0.2)."""
    held = {n: exchange(n, "a", n) for n in (4, 5, 6)}

    assert passed_on(5, held, {4: 0.6, 5: 9.0, 6: 0.2}, neighbour=0.5, asked=1.0) == pytest.approx(0.4)


def test_a_question_passes_more_on_to_the_turn_after_it_and_not_to_the_one_before() -> None:
    """0.5 * (0.6 + 0.2), and 1.0 * 0.6 besides for the turn that follows the question."""
    asks = {n: exchange(n, "a", n, head) for n, head in ((4, "Where was it? Tell me."), (5, "Here."), (6, "Why?"))}

    assert passed_on(5, asks, {4: 0.6, 6: 0.2}, neighbour=0.5, asked=1.0) == pytest.approx(1.0)
    assert passed_on(4, asks, {5: 0.6}, neighbour=0.5, asked=1.0) == pytest.approx(0.3)


def test_a_part_of_a_name_names_the_speaker() -> None:
    assert is_named("Ines Duarte", ("pottery", "ines"))
    assert not is_named("Ines Duarte", ("pottery", "rui"))
    assert not is_named("", ("pottery",))


def test_only_who_speaks_in_a_talk_has_a_name_there() -> None:
    assert names([pointer(1), pointer(2, flags=0)._replace(worker="Rui")]) == {"ines"}


def test_a_turn_of_another_session_or_further_away_passes_nothing_on() -> None:
    other = {4: exchange(4, "b", 4), 5: exchange(5, "a", 5), 6: exchange(6, "a", 8)}

    assert passed_on(5, other, {4: 0.6, 6: 0.2}, neighbour=0.5, asked=1.0) == 0.0
    assert passed_on(7, other, {6: 0.2}, neighbour=0.5, asked=1.0) == 0.0


def test_a_heading_names_day_and_speaker_as_people_ask_for_them() -> None:
    assert heading("Ines", 1_683_554_160) == "[8 May 2023] Ines: "
    assert heading("", 1_683_554_160) == ""
    assert speaker_of({"speaker": " Ines\n Duarte "}) == "Ines Duarte"
    assert speaker_of({"speaker": 7}) == speaker_of({}) == ""


@pytest.fixture
def talk(indexed: Callable[..., Path]) -> Path:
    """Ines and Rui, two sessions; both say the same short thing in the first one."""
    first = (
        ("Ines", "Bye!"),
        ("Rui", "Bye!"),
        ("Ines", "Did the heron nest survive the storm?"),
        ("Rui", "All three."),
    )
    second = (("Rui", "The pottery class was moved."), ("Ines", "Nothing else."))
    sessions = [[("prompt", {"text": text, "speaker": speaker}) for speaker, text in said] for said in (first, second)]
    return indexed(*sessions, words_only=True)


def query(capsys: Any, text: str) -> str:
    capsys.readouterr()
    assert run(["query", text, "--words-only"]) == 0
    return str(capsys.readouterr().out)


def test_who_and_when_find_a_turn_and_the_shown_words_are_its_own(talk: Path, capsys: Any) -> None:
    found = query(capsys, "what did Rui say about pottery").splitlines()

    assert "Rui, " in found[0]
    assert found[1].strip() == "The pottery class was moved."


def test_an_answer_without_a_word_of_the_question_is_found_beside_it(talk: Path, capsys: Any) -> None:
    assert "All three." in query(capsys, "heron nest storm")


def test_the_same_words_of_two_people_are_two_passages(talk: Path) -> None:
    (path,) = Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite")
    with Store.open(path) as store:
        sql = f"SELECT count(*) FROM chunk_{store.generation} WHERE text = 'Bye!'"
        assert next(iter(store.run(sql)))[0] == 2


def test_the_model_reads_the_heading_too(talk: Path) -> None:
    seen: list[str] = []

    class Watching(StubEmbedder):
        def encode(self, texts: Any) -> Any:
            seen.extend(texts)
            return super().encode(texts)

    (path,) = Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite")
    with Store.open(path, "w") as store:
        assert embed(store, Watching()).embedded == 6

    assert sorted(text.partition("] ")[2] for text in seen if text.endswith("Bye!")) == ["Ines: Bye!", "Rui: Bye!"]


def test_a_session_covers_no_more_of_a_prompt_because_the_named_person_spoke_in_it(
    indexed: Callable[..., Path],
) -> None:
    """Rui says as much about the nest in both; Ines only joins in the first, three turns later."""
    said = (
        (("Rui", "The heron nest survived."), ("Rui", "So far."), ("Rui", "Well."), ("Ines", "Sunny weather.")),
        (("Rui", "The heron nest collapsed."), ("Rui", "Too bad."), ("Rui", "Hm."), ("Rui", "Rainy weather.")),
    )
    indexed(*[[("prompt", {"text": t, "speaker": who}) for who, t in turns] for turns in said], words_only=True)
    (path,) = Path(os.environ["RECALL_HOME"]).glob("workspaces/*/index.sqlite")
    text = "did Ines mend the heron nest"

    with Store.open(path) as store:
        held = candidates(Query(text), read_cues(text), store, None, RetrievalSettings()).candidates
    relevance = {c.text: c.relevance for c in held if "heron" in c.text}

    assert relevance["The heron nest survived."] == pytest.approx(relevance["The heron nest collapsed."])
