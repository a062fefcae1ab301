"""Case recall-superseded: what a person accepts retires the old words, and nothing but that does."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.capture import NOW, Project
from support.person import sit_down
from support.remembered import AT, make_remembered

from consolidation.commands import freed
from indexer.store import Store
from recall.cli.app import App
from recall.cli.group import cli
from recall.engine import recall
from recall.query import Query
from recall.settings import Settings
from recall.turn import Ranked, Turn, bytes_third
from scoring.pool import score_pool
from transcript import memory_drafts as drafts
from transcript.log import Log
from transcript.memories import Span, fold_memories

OLD, NEW = "oriole-1515", "oriole-1616"


class Shop:
    """The case's project and the commands that a person types in it."""

    def __init__(self, base: Path, case: Path) -> None:
        self.project = Project(base)
        folder = self.project.config / "projects" / "shop"
        folder.mkdir(parents=True)
        for source in sorted(case.rglob("*.jsonl")):
            text = source.read_text(encoding="utf-8").replace("/home/dev/shop-api", str(self.project.root))
            (folder / source.name).write_text(text, encoding="utf-8")
        self.prompt = json.loads((case / "prompt.json").read_text(encoding="utf-8"))["prompt"]

    def type(self, *words: str) -> str:
        """Type a command and return what it printed."""
        env = {**self.project.env, "RECALL_INDEX_MODEL": "none:at-all", "RECALL_ACTOR": "human:ana"}
        done = CliRunner().invoke(cli, [*words], obj=App(env, self.project.root, self.project.data))
        assert done.exit_code == 0, (words, done.output, done.exception)
        return done.output

    def ask(self) -> Turn:
        """What a turn finds for the case's prompt."""
        query, settings = Query(self.prompt), Settings()
        with Store.open(self.project.workspace.index_path) as store, store.snapshot():
            return recall(query, store, None, settings, now=NOW, count_tokens=bytes_third, scorer=score_pool)

    def proposal(self) -> str:
        """The candidate that waits for a person."""
        state = fold_memories(Log(self.project.workspace))
        (found,) = [one.id for one in state.candidates.values() if one.pending]
        return found


def where(turn: Turn, text: str) -> list[Ranked]:
    """The items of an answer that say something, their own words alone."""
    return [ranked for ranked in turn.ranked if text in ranked.candidate.text]


@pytest.fixture
def shop(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    made = Shop(tmp_path, shared / "cases" / "recall-superseded" / "input")
    sit_down(monkeypatch, data=made.project.data)
    return made


def test_a_statement_is_retired_by_its_own_replacement_once_a_person_accepts_it(shop: Shop) -> None:
    shop.type("checkpoint")
    before = shop.ask()
    shop.type("decide", "Deploy the docs site on Fridays only", "--why", "quiet days")
    shop.type("consolidate", "--nightly")
    beside = shop.ask()

    shop.type("memory", "accept", shop.proposal())
    shop.type("consolidate")
    after = shop.ask()
    shop.type("index", "rebuild", "--words-only")
    rebuilt = shop.ask()

    (old,), (new, *_) = where(before, OLD), where(before, NEW)
    assert before.ranked.index(new) < before.ranked.index(old)  # 2: the newer first, each with its date
    assert {old.verdict, where(beside, OLD)[0].verdict}.isdisjoint({"superseded"})  # 5: an unrelated newer statement
    assert where(beside, "Fridays")
    for turn in (after, rebuilt):  # 1 and 4
        assert [one.verdict for one in where(turn, OLD)] in ([], ["superseded"])
        assert any(one.verdict not in ("superseded", "expired") for one in where(turn, NEW))
        assert OLD not in turn.block
        assert where(turn, "Fridays")
    log = Log(shop.project.workspace)
    assert any(OLD in log.text(event) for event in log.read())  # 1: it stays in the log


def test_once_the_replacement_is_wrong_the_old_statement_holds_again(shop: Shop) -> None:
    shop.type("checkpoint")
    shop.type("memory", "accept", shop.proposal())
    shop.type("consolidate")
    log = Log(shop.project.workspace)
    new = next(one for one in fold_memories(log).memories.values() if NEW in one.statement)
    (place,) = (link.of.pointer for link in fold_memories(log).links)
    said = next(event for event in log.read() if event.id == new.sources[0].event)

    told = shop.type("memory", "correct", new.id[:10], "--because", said.id[:10])
    shop.type("consolidate")

    assert f"{place} holds again" in told
    assert fold_memories(log).links == []
    assert {one.verdict for one in where(shop.ask(), OLD)}.isdisjoint({"superseded", "expired"})
    assert where(shop.ask(), OLD)


def test_words_hold_again_only_where_nothing_else_has_taken_their_place(tmp_path: Path) -> None:
    held = make_remembered(tmp_path)
    words, others = held.say("Deploys go through the job ship-it."), held.say("The cache is filled by hand.")
    wrong = held.remember(held.candidate("Deploys go through the release workflow.", day=9))
    stays = held.remember(held.candidate("Nobody deploys by hand.", day=9))
    for of, by in ((words, wrong), (words, stays), (others, wrong)):
        place = Span(by.id, 0, len(by.text))
        held.append([drafts.superseded(AT, of, place, reason="retired", since="2026-03-09T00:00:00.000Z")])

    assert [span.pointer for span in freed(held.state, wrong)] == [others.pointer]
    assert freed(held.state, stays) == []


def test_use_of_the_old_statement_does_not_lift_it_above_what_replaced_it(shop: Shop) -> None:
    """3: whatever its weight."""
    from indexer import standing

    shop.type("checkpoint")
    shop.type("memory", "accept", shop.proposal())
    shop.type("consolidate")
    log = Log(shop.project.workspace)
    old = next(event for event in log.read() if OLD in log.text(event))
    with Store.open(shop.project.workspace.index_path, "w") as store:
        standing.write(store, {old.id: standing.Weighed(raw=1e6, hits=1000)})

    turn = shop.ask()

    assert [one.verdict for one in where(turn, OLD)] in ([], ["superseded"])
    assert OLD not in turn.block


def test_the_old_statement_is_still_found_by_a_question_about_the_past(shop: Shop) -> None:
    """1: reachable by an explicit history query."""
    shop.type("checkpoint")
    shop.type("memory", "accept", shop.proposal())
    shop.type("consolidate")

    assert OLD in shop.type("query", "How were deploys done in the past?", "-n", "10")
