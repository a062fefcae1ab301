"""What was corrected or renamed is shown with what came since and stands behind it; nothing is hidden by a text."""

import json
from dataclasses import replace

import pytest
from support.capture import Project
from support.embedder import StubEmbedder
from support.record import NOW, make_draft, make_log
from support.story import ANA, CODEX, at

from indexer import writer
from indexer.rebuild import rebuild
from indexer.settings import IndexSettings
from indexer.store import Store
from indexer.tokens import TokenCounter
from recall.engine import recall
from recall.query import Query
from recall.replaced import listed, proposed
from recall.settings import GateSettings, SelectionSettings, Settings
from recall.since import annotated
from recall.turn import Candidate, Pointer
from transcript.curation import correction, decision
from transcript.log import Log

OPEN = Settings(gate=GateSettings(item=False, evidence=False, margin=False))


def copied(case, project, root):
    """Put a case's session files where the harness keeps them, its folder renamed to that of this test."""
    for path in sorted(case.rglob("*.jsonl")):
        text = path.read_text(encoding="utf-8").replace(f'"cwd":"{root[0]}"', f'"cwd":"{root[1]}"')
        target = project.config / "projects" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def turn(number, text, **fields):
    return make_draft(number, text=text, session=f"s{number}", ts=f"2026-02-{number:02}T10:00:00.000Z", **fields)


def ask(log, prompt, settings=OPEN, **fields):
    with Store.open(log.workspace.index_path, "w") as store:
        writer.index(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
        query = Query(prompt, **fields)
        return recall(query, store, None, settings, now=NOW, count_tokens=TokenCounter())


def texts(made):
    return [item.candidate.text for item in made.items]


WRONG = "The wagtail service listens on port 8080, the wagtail port."


def test_a_corrected_passage_is_shown_only_with_its_correction_and_behind_it(tmp_path):
    """Use cannot lift it: it has far more words of the prompt than the correction."""
    wrong = turn(1, WRONG)
    right = correction(ANA, at(0), wrong.id, "The wagtail service is on 8443")
    made = ask(make_log(tmp_path, [wrong, right]), "Which port does the wagtail service listen on?")

    assert texts(made) == [right.body["text"], WRONG]
    item = made.items[1].candidate
    assert item.notes == (f"corrected on 2026-03-01: The wagtail service is on 8443 ({right.id[:10]}#0-30)",)
    assert item.notes[0] in made.block


def test_a_critique_and_a_peers_word_correct_nothing(tmp_path):
    wrong = turn(1, WRONG)
    weak = correction(ANA, at(0), wrong.id, "The wagtail service note is weak", kind="critique")
    peer = correction(CODEX, at(1), wrong.id, "The wagtail service has no port", channel="forum")

    made = ask(make_log(tmp_path, [wrong, weak, peer]), "Which port does the wagtail service listen on?")

    assert all(item.candidate.notes == () for item in made.ranked)


def test_a_correction_that_was_itself_replaced_speaks_no_more(tmp_path):
    wrong = turn(1, WRONG)
    first = correction(ANA, at(0), wrong.id, "The wagtail service is on 8443")
    second = correction(ANA, at(1), wrong.id, "The wagtail service is on 9443", supersedes=first.id)

    made = ask(make_log(tmp_path, [wrong, first, second]), "Which port does the wagtail service listen on?")

    notes = [note for item in made.ranked for note in item.candidate.notes]
    assert ["9443" in note for note in notes] == [True]
    assert "on 8443" not in made.block


@pytest.mark.parametrize("command", ["decide", "correct"])
@pytest.mark.parametrize("span", ["#0-40", ""])
def test_what_replaces_words_of_a_session_is_shown_before_them(tmp_path, command, span):
    """Of a long answer only the passage that a span names is behind; use and better words cannot lift it."""
    passages = [f"The wagtail service, part {n}: {'the wagtail service listens and answers, ' * 8}" for n in (1, 2)]
    said = turn(1, "\n\n".join(passages), actor="assistant", body={"kind": "reply"})
    words = "The wagtail service answers on 8443"
    new = (
        decision(ANA, at(0), words, supersedes=said.id + span)
        if command == "decide"
        else correction(ANA, at(0), said.id + span, words)
    )

    made = ask(make_log(tmp_path, [said, new]), "How does the wagtail service listen and answer?")

    verb = "replaced by a decision" if command == "decide" else "corrected"
    note = f"{verb} on 2026-03-01: {words} ({new.id[:10]}#0-{len(words)})"
    old = {i.candidate.pointer.start: i.candidate for i in made.ranked if i.candidate.text != words}
    assert len(old) > 1
    assert [item.notes for start, item in sorted(old.items())] == [
        (note,) if start == 0 or not span else () for start in sorted(old)
    ]
    listed = texts(made)
    first = next(i for i, text in enumerate(listed) if "part 1" in text)
    assert listed.index(words) < first
    assert not any(item.verdict == "superseded" for item in made.ranked)


def test_of_a_chain_of_decisions_over_a_sessions_words_the_last_one_speaks(tmp_path):
    said = turn(1, WRONG)
    first = decision(ANA, at(0), "The wagtail service is on 8443", supersedes=said.id)
    second = decision(ANA, at(1), "The wagtail service is on 9443", supersedes=first.id)

    made = ask(make_log(tmp_path, [said, first, second]), "Which port does the wagtail service listen on?")

    (item,) = (i.candidate for i in made.ranked if i.candidate.text == WRONG)
    assert item.notes == (f"replaced by a decision on 2026-03-01: {second.body['text']} ({second.id[:10]}#0-30)",)
    assert "on 8443" not in made.block


def test_the_switch_takes_notes_and_order_away(tmp_path):
    wrong = turn(1, WRONG)
    right = correction(ANA, at(0), wrong.id, "The wagtail service is on 8443")
    settings = replace(OPEN, selection=SelectionSettings(since=False))

    made = ask(make_log(tmp_path, [wrong, right]), "Which port does the wagtail service listen on?", settings)

    assert all(item.candidate.notes == () for item in made.ranked)
    assert "corrected on" not in made.block


OLD = "load_user reads the row of a user; load_user is called on login and load_user caches."
NEW = "We renamed load_user to fetch_user."


def test_a_renamed_thing_carries_its_new_name_and_stands_behind_the_renaming(tmp_path):
    log = make_log(tmp_path, [turn(1, OLD), turn(2, "load_user is slow"), turn(3, NEW), turn(4, "Nothing of it.")])

    made = ask(log, "when is load_user called and what caches load_user")

    listed = texts(made)
    assert listed.index(NEW) < listed.index(OLD)
    note = next(item.candidate.notes[0] for item in made.items if item.candidate.text == OLD)
    assert note.startswith("since 2026-02-03: load_user is now fetch_user (")
    assert note in made.block


def test_of_a_chain_the_head_decides_and_what_was_taken_back_is_no_replacement(tmp_path):
    chain = ["We renamed fetch_user to find_user.", "We renamed find_user to load_user."]
    turns = [turn(1, OLD), turn(2, "load_user is slow"), turn(3, NEW), turn(4, chain[0])]

    twice = ask(make_log(tmp_path / "a", turns), "what caches load_user")
    back = ask(make_log(tmp_path / "b", [*turns, turn(5, chain[1])]), "what caches load_user")

    assert "since 2026-02-04: load_user is now find_user" in twice.block
    assert not any(i.candidate.notes for i in back.ranked if i.candidate.text == OLD)


def test_a_name_that_lives_on_was_not_replaced(tmp_path):
    later = [turn(n, f"load_user again, case {n}") for n in range(4, 9)]
    log = make_log(tmp_path, [turn(1, OLD), turn(3, NEW), *later])

    made = ask(log, "what caches load_user")

    assert all(item.candidate.notes == () for item in made.ranked)


def test_a_sub_agents_sentence_and_a_later_statement_are_left_alone(tmp_path):
    worker = turn(3, NEW, body={"kind": "worker_prompt", "worker": "w1"})
    log = make_log(tmp_path / "a", [turn(1, OLD), worker])
    after = make_log(tmp_path / "b", [turn(1, "load_user reads"), turn(2, NEW), turn(5, OLD)])

    by_worker, later = ask(log, "what caches load_user"), ask(after, "what caches load_user")

    assert all(item.candidate.notes == () for item in by_worker.ranked)
    assert not any(i.candidate.notes for i in later.ranked if i.candidate.text == OLD)


def test_nothing_outside_a_false_link_moves(tmp_path):
    others = [turn(n, f"The login of module{n} caches rows of a user.") for n in (2, 4)]
    log = make_log(tmp_path, [turn(1, OLD), *others, turn(5, NEW)])
    settings = replace(OPEN, selection=SelectionSettings(since=False))

    with_link = [i.candidate.text for i in ask(log, "what caches rows on login of load_user").ranked]
    without = [i.candidate.text for i in ask(log, "what caches rows on login of load_user", settings).ranked]

    assert [t for t in with_link if t not in (OLD, NEW)] == [t for t in without if t not in (OLD, NEW)]
    assert set(with_link) == set(without)


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Which port did the wagtail service listen on before?", True),
        ("Auf welchem Port lief der wagtail service früher?", True),
        ("Which port does the wagtail service listen on?", False),
        ("What is the port of the wagtail service?", False),
    ],
)
def test_what_was_replaced_answers_only_a_question_about_history(tmp_path, prompt, shown):
    """LCA-6.3-05: marked as superseded, and below its successor (LCA-5.2.6-02)."""
    old = decision(ANA, at(0), "The wagtail service listens on port 8080")
    new = decision(ANA, at(1), "The wagtail service listens on port 8443", supersedes=old.id)
    made = ask(make_log(tmp_path, [old, new]), prompt)

    assert [old.body["text"] in text for text in texts(made)] == [False, *([True] if shown else [])]
    assert ("superseded!" in made.block) == shown


@pytest.mark.real_data
def test_case_recall_superseded(shared, tmp_path):
    """MemPalace/mempalace#224, jcode#1104: the replacement comes first, each with its date, and keeps doing so."""
    prompt = json.loads((shared / "cases/recall-superseded/input/prompt.json").read_text(encoding="utf-8"))["prompt"]
    project = Project(tmp_path)
    copied(shared / "cases" / "recall-superseded" / "input", project, ("/home/dev/shop-api", project.root))
    project.sync()
    log = Log(project.workspace)
    before = ask(log, prompt)
    old = next(e for e in log.read() if "oriole-1515" in str(e.body.get("text", "")))
    log.append([correction(ANA, at(0), old.id, "Deploys go through the release workflow oriole-1616")], now=NOW)

    corrected = ask(log, prompt)
    with Store.open(log.workspace.index_path, "w") as store:
        rebuild(log.workspace, store, IndexSettings(), now=NOW, embedder=StubEmbedder())
    again = ask(log, prompt)

    assert before.block.index("oriole-1616") < before.block.index("oriole-1515")
    assert "2026-06-10" in before.block
    assert "2026-03-01" in before.block
    for made in (corrected, again):
        stale = next(i for i in made.ranked if "oriole-1515" in i.candidate.text)
        assert "oriole-1616" in stale.candidate.notes[0]
        assert "oriole-1515" not in texts(made)[0]


def test_replacements_are_listed_with_the_place_that_states_them(tmp_path):
    log = make_log(tmp_path, [turn(1, OLD), turn(3, NEW), turn(4, "We renamed cacheKey to cacheToken.")])
    ask(log, "load_user")

    with Store.open(log.workspace.index_path) as store:
        every, one = listed(store), listed(store, "fetch_user")

    assert [(r.old, r.new) for r in every] == [("load_user", "fetch_user"), ("cacheKey", "cacheToken")]
    assert [(r.old, r.text, r.pointer.session) for r in one] == [("load_user", NEW, "s3")]


RULES = ["Always use a timeout of 30s for the importer.", "From now on use a timeout of 60s for the importer."]


def test_values_of_rules_are_proposed_with_both_places_and_touch_no_ranking(tmp_path):
    log = make_log(tmp_path, [turn(1, RULES[0]), turn(2, "The importer timed out."), turn(3, RULES[1])])
    prompt = "What timeout has the importer?"
    made = ask(log, prompt)

    with Store.open(log.workspace.index_path) as store:
        (found,) = proposed(store)
        assert listed(store) == []
        assert proposed(store, "30s") == [found]
        assert proposed(store, "5s") == []

    assert (found.old, found.new, found.state) == ("30s", "60s", "proposed")
    assert (found.older.text, found.older.pointer.session) == (RULES[0], "s1")
    assert (found.newer.text, found.newer.pointer.session) == (RULES[1], "s3")
    assert all(item.candidate.notes == () for item in made.ranked)
    with Store.open(log.workspace.index_path, "w") as store:
        store.run(f"DELETE FROM proposed_{store.generation}")
    assert [(i.candidate.chunk, i.score) for i in ask(log, prompt).ranked] == [
        (i.candidate.chunk, i.score) for i in made.ranked
    ]


def test_a_rule_that_is_said_again_is_the_newer_one_and_of_a_chain_the_newest_stands(tmp_path):
    again = turn(4, RULES[0])
    third = turn(5, "From now on use a timeout of 90s for the importer.")
    log = make_log(tmp_path / "a", [turn(1, RULES[0]), turn(3, RULES[1]), again])
    chain = make_log(tmp_path / "b", [turn(1, RULES[0]), turn(3, RULES[1]), third])
    both = make_log(
        tmp_path / "c", [turn(1, "Always use a timeout of 30s or 60s for the importer."), turn(3, RULES[1])]
    )
    found = []
    for record in (log, chain, both):
        ask(record, "timeout")
        with Store.open(record.workspace.index_path) as store:
            found.append([(one.old, one.new) for one in proposed(store)])

    assert found == [[("60s", "30s")], [("30s", "90s"), ("60s", "90s")], []]


def test_only_what_a_person_laid_down_is_a_rule(tmp_path):
    """A decision and a wish are; an answer, a question, an agent's decision and a sub-agent's prompt are none."""
    rule = "Use a timeout of 60s for the importer."
    others = [
        turn(2, rule, actor="assistant", body={"kind": "reply"}),
        turn(3, "Should we always use a timeout of 45s for the importer?"),
        turn(4, RULES[1], body={"kind": "worker_prompt", "worker": "w1"}),
        decision(CODEX, at(0), "Use a timeout of 50s for the importer"),
    ]
    none = make_log(tmp_path / "a", [turn(1, RULES[0]), *others])
    one = make_log(tmp_path / "b", [turn(1, RULES[0]), decision(ANA, at(0), rule)])
    found = []
    for record in (none, one):
        ask(record, "timeout")
        with Store.open(record.workspace.index_path) as store:
            found.append([(one.old, one.new) for one in proposed(store)])

    assert found == [[], [("30s", "60s")]]


def test_no_candidate_needs_no_link(tmp_path):
    log = make_log(tmp_path, [turn(1, OLD)])
    ask(log, "load_user")
    with Store.open(log.workspace.index_path) as store:
        assert annotated([], store) == []
        lone = Candidate(1, "load_user", (Pointer("none", 0, 9, "s", 1, "prompt"),))
        assert annotated([lone], store) == [lone]
