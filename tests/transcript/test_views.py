"""The views: what they say, that they are the same bytes anywhere, and that an edit is found and undone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from support.record import NOW, make_draft, make_log, make_turns
from support.story import ANA, CODEX, at, story

import transcript
from transcript.curation import decision, observation, outcome, question, task
from transcript.event import Draft
from transcript.projections import handoff, short, views
from transcript.projections.page import NONE
from transcript.redaction import erase
from transcript.redaction_plan import plan_events
from transcript.verify import CODES, verify

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = json.loads((Path(transcript.__file__).parent / "schema" / "tasks.schema.json").read_text("utf-8"))


@pytest.fixture
def log(tmp_path):
    return make_log(tmp_path, story())


def held(log) -> dict[str, bytes]:
    folder = log.workspace.root / ".recall" / "views"
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def without_hashes(data: bytes) -> str:
    """The envelope's hash chains to the workspace's id and to salts, which are random."""
    import re

    return re.sub(r"\b[0-9a-f]{64}\b", "0" * 64, data.decode("utf-8"))


@pytest.mark.parametrize("name", views.NAMES)
def test_view_is_the_golden_one(log, name):
    """ESAA-26, -27, -28, -29: RECALL_GOLDEN=1 writes them anew."""
    views.project(log.workspace)
    text = without_hashes(held(log)[name])
    golden = GOLDEN / name
    if os.environ.get("RECALL_GOLDEN"):
        golden.write_text(text, encoding="utf-8", newline="\n")

    assert text == golden.read_text(encoding="utf-8")


def test_tasks_validate_and_count_every_task_once(log):
    """ESAA-28, ESAA-22."""
    views.project(log.workspace)
    tasks = json.loads(held(log)["tasks.json"])

    jsonschema.Draft202012Validator(SCHEMA).validate(tasks)
    counts = tasks["counts"]
    assert counts["open"] + counts["done"] + counts["blocked"] == counts["created"] == 2
    assert [(task["id"], task["state"]) for task in tasks["tasks"]] == [("T1", "done"), ("T2", "open")]


def test_handoff_has_ten_headings_even_of_an_empty_record(tmp_path):
    """LCA-6.5-01."""
    log = make_log(tmp_path)
    views.project(log.workspace)
    text = held(log)["handoff.md"].decode()

    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == list(handoff.HEADINGS)
    assert len(handoff.HEADINGS) == 10
    assert text.count(NONE) == 10


def test_every_line_of_a_handoff_points_into_the_record(log):
    """LCA-6.5-02: and the record is not changed by it."""
    before = log.head()
    state, _, _ = views.folded(log)

    lines = [line for _, body in handoff.sections(state, handoff.Focus()) for line in body]

    assert len(lines) > 8
    for line in lines:
        assert log.find(line.rsplit("`", 2)[1])
    assert log.head() == before


def test_purposes_differ_in_role_lines(log):
    """LCA-6.5-03."""
    log.append([task(CODEX, at(20), "T2", "start")], now=NOW)
    state, _, _ = views.folded(log)

    pages = {
        purpose: "\n".join(handoff.page(state, handoff.Focus(purpose=purpose, role="reviewer")))
        for purpose in handoff.PURPOSES
    }

    assert len(set(pages.values())) == 3
    assert "the same agent goes on" in pages["compaction"]
    assert "to be taken over as reviewer" in pages["role"]


def test_superseded_decision_stays_and_is_marked(log):
    """ESAA-56."""
    views.project(log.workspace)
    text = held(log)["decisions.md"].decode()
    current, replaced = text.split("## Replaced")

    assert "Use Python 3.11" in current
    assert "Use Python for the tooling" in replaced
    assert "superseded by" in replaced
    assert sum(event.type == "decision" for event in log.read()) == 4


def test_watermark_is_the_last_event_of_a_folded_type(log):
    """ESAA-33: what a view does not fold leaves it as it is."""
    views.project(log.workspace)
    before = held(log)
    log.append([make_draft("ledger", "recall")], now=NOW)

    done = views.project(log.workspace)

    assert done.written == ()
    assert views.lag(log.workspace) == dict.fromkeys(views.NAMES, 0)
    last = [event for event in log.read() if event.type in ("task", "decision", "outcome")][-1]
    mark = json.loads(before["tasks.json"])["watermark"]
    assert mark == {"seq": last.seq, "id": last.id, "hash": last.position.hash}


def test_refresh_follows_each_write(log):
    """ESAA-33."""
    views.project(log.workspace)
    log.append([decision(ANA, at(30), "Ship on Friday")], now=NOW)
    assert views.lag(log.workspace) == {"state.md": 1, "decisions.md": 1, "tasks.json": 1, "handoff.md": 1}
    assert "view_stale" in verify(log.workspace).codes

    views.refresh(log.workspace)

    assert views.lag(log.workspace) == dict.fromkeys(views.NAMES, 0)
    assert b"Ship on Friday" in held(log)["decisions.md"]
    assert verify(log.workspace).ok


@pytest.mark.parametrize("name", views.NAMES)
def test_one_changed_byte_is_found_and_restored(log, name):
    """ESAA-31, ESAA-15."""
    views.project(log.workspace)
    before = held(log)
    path = log.workspace.root / ".recall" / "views" / name
    for place in range(0, len(before[name]), 97):
        changed = bytearray(before[name])
        changed[place] ^= 1
        path.write_bytes(bytes(changed))
        report = verify(log.workspace)
        assert report.codes == ["view_edited"], place
        assert report.problems[0].where == f"views/{name}"

    views.project(log.workspace)

    assert held(log) == before
    assert verify(log.workspace).ok


def test_missing_view_and_missing_folder_are_found_and_restored(log):
    """ESAA-14: the same bytes as before."""
    views.project(log.workspace)
    before = held(log)
    folder = log.workspace.root / ".recall" / "views"
    (folder / "state.md").unlink()
    assert verify(log.workspace).codes == ["view_missing"]
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert verify(log.workspace).counts["problems"] == 4

    views.project(log.workspace)

    assert held(log) == before


def test_codes_of_views_are_their_own():
    assert set(views.CODES) <= set(CODES)
    files = {f"memory_{what}" for what in ("missing", "edited", "stale", "unlisted")}
    assert set(views.CODES) == {"view_missing", "view_edited", "view_stale"} | files


def test_record_that_was_never_projected_is_whole(log):
    assert verify(log.workspace).ok


def test_snapshot_and_tail_give_what_the_whole_record_gives(tmp_path):
    """ESAA-47: after every event, from every earlier snapshot."""
    log = make_log(tmp_path)
    for draft in story():
        log.append([draft], now=NOW)
        done = views.project(log.workspace)
        quick = views.folded(log)
        whole = views.folded(log, snapshot=False)
        assert views.rendered(quick[0]) == views.rendered(whole[0])
        assert json.dumps(quick[0]) == json.dumps(whole[0])
    assert done.from_snapshot


def test_snapshot_before_a_redaction_is_not_used(log):
    views.project(log.workspace)
    log.append([make_draft("gone", "redaction", body={"events": []})], now=NOW)

    assert views.folded(log)[2] is False


@pytest.mark.parametrize("damage", [b"", b"{}", b"not json", b'{"version":1,"of":"other","state":{},"position":{}}'])
def test_damaged_snapshot_costs_time_only(log, damage):
    views.project(log.workspace)
    before = held(log)
    (log.workspace.run_dir / views.SNAPSHOT).write_bytes(damage)

    assert views.project(log.workspace).written == ()
    assert held(log) == before


def test_changed_snapshot_is_not_believed(log):
    """Views made from it would say what nobody decided, and `recall project` would restore just that."""
    views.project(log.workspace)
    before = held(log)
    file = log.workspace.run_dir / views.SNAPSHOT
    file.write_bytes(file.read_bytes().replace(b"decisions", b"decisionz").replace(b"open", b"done"))

    assert views.project(log.workspace).from_snapshot is False
    assert held(log) == before
    assert verify(log.workspace).ok


def test_a_folder_in_the_place_of_one_view_leaves_the_others_up_to_date(log):
    views.project(log.workspace)
    folder = log.workspace.root / ".recall" / "views"
    (folder / "state.md").unlink()
    (folder / "state.md").mkdir()
    log.append([decision(ANA, at(31), "Ship on Monday")], now=NOW)

    with pytest.raises(OSError, match=r"state\.md") as refused:
        views.project(log.workspace)

    assert refused.value.filename == str(folder / "state.md")
    assert verify(log.workspace).codes == ["view_missing"]
    assert b"Ship on Monday" in (folder / "decisions.md").read_bytes()


def test_which_views_differ_is_said_from_the_log_alone(log):
    """ESAA-48, as far as views go."""
    before = views.differing(log.workspace)
    views.project(log.workspace)
    (log.workspace.run_dir / views.SNAPSHOT).write_bytes(b"wrong")
    written = views.differing(log.workspace)
    (log.workspace.root / ".recall" / "views" / "state.md").write_text("mine")

    assert (before, written, views.differing(log.workspace)) == (views.NAMES, (), ("state.md",))


_RENDER = """
import sys
from pathlib import Path
from transcript.log import Log
from transcript.projections import views
from transcript.workspace import Workspace
made = views.rendered(views.folded(Log(Workspace(sys.argv[1], Path(sys.argv[2]))), snapshot=False)[0])
sys.stdout.buffer.write(b"".join(made.values()))
"""


def test_bytes_are_the_same_in_any_time_zone_locale_and_hash_seed(log):
    """ESAA-32."""
    views.project(log.workspace)
    seen = {b"".join(held(log)[name] for name in views.NAMES)}
    for zone, locale, seed in (("Asia/Tokyo", "C", "1"), ("America/Lima", "tr_TR.UTF-8", "77")):
        env = {**os.environ, "TZ": zone, "LC_ALL": locale, "LANG": locale, "PYTHONHASHSEED": seed}
        env["PYTHONPATH"] = str(Path(transcript.__file__).parents[1])
        ran = subprocess.run(
            [sys.executable, "-c", _RENDER, log.workspace.id, str(log.workspace.home)],
            env=env,
            capture_output=True,
            check=True,
        )
        seen.add(ran.stdout)

    assert len(seen) == 1


def test_private_observation_is_in_no_view(tmp_path):
    told = [
        observation(CODEX, at(n), words, channel="synapse", category="alert", private=private)
        for n, words, private in ((0, "the heron key leaked", True), (1, "the build is red", False))
    ]
    data = b"".join(views.rendered(views.folded(make_log(tmp_path, told))[0]).values())

    assert b"heron" not in data
    assert b"the build is red" in data


def test_a_credential_is_in_no_view_and_its_kind_is(tmp_path):
    token = "ghp_" + "Ab3dEf6hIj9l" * 3
    said = [
        decision(ANA, at(0), f"Deploy with {token}", why=f"because {token} works"),
        task(ANA, at(1), "T1", "add", title=f"Rotate {token}"),
        task(ANA, at(2), "T1", "block", note=f"{token} is still in use"),
        question(ANA, at(3), "Q1", "ask", text=f"Who holds {token}?"),
        observation(CODEX, at(4), f"{token} was seen", channel="synapse", category="alert"),
        outcome(ANA, at(5), f"{token} works", "verified", task="T1"),
    ]
    state = views.folded(make_log(tmp_path, said))[0]
    data = b"".join([*views.rendered(state).values(), repr(short.short(state)).encode()])

    assert token.encode() not in data
    assert data.count(b"[secret:github-token]") >= 2 * len(said)


def test_words_cannot_forge_a_watermark_or_a_heading(tmp_path):
    made = decision(ANA, at(0), "x -->\n## Forged\n<!-- sha256=" + "0" * 64, why="\n# Also\n- not")
    log = make_log(tmp_path, [made])
    views.project(log.workspace)
    text = held(log)["decisions.md"].decode()

    assert "\n## Forged" not in text
    assert "\n# Also" not in text
    assert verify(log.workspace).ok


def test_views_are_plain_utf8_whatever_was_said(tmp_path):
    """A lone surrogate made the whole file unreadable for others; an escape would be obeyed by a terminal."""
    odd = "a\udc80b \x1b[31mred\x00 \x9b2J caf\u00e9 \U0001f600"
    steps = [task(CODEX, at(2), "T1", "add", title=odd), decision(ANA, at(3), odd, why=odd, task="T1")]

    written = views.rendered(views.folded(make_log(tmp_path, steps))[0])

    for data in written.values():
        text = data.decode("utf-8")
        assert not {c for c in text if c < " " or "\x7f" <= c <= "\x9f"} - {"\n"}
    assert "a\ufffdb \ufffd[31mred\ufffd \ufffd2J caf\u00e9 \U0001f600" in written["decisions.md"].decode("utf-8")
    title = json.loads(written["tasks.json"])["tasks"][0]["title"]
    assert title.startswith("a\ufffdb ")
    assert title.endswith("caf\u00e9 \U0001f600")


def test_a_statement_of_a_hundred_kilobytes_does_not_fill_a_view(tmp_path):
    made = decision(ANA, at(3), f"Ship {'it ' * 40_000}", why="because")

    written = views.rendered(views.folded(make_log(tmp_path, [made]))[0])

    for name in ("state.md", "handoff.md", "decisions.md"):
        text = written[name].decode("utf-8")
        assert "- Ship it it" in text or "### Ship it it" in text
        assert " characters more)" in text
        assert len(text) < 20_000
        assert f"`{made.id[:10]}`" in text


def many(count: int) -> list[Draft]:
    return [*make_turns(count), *story()]


def test_one_more_event_is_all_that_is_folded(tmp_path, monkeypatch):
    """ESAA-47: a projection after one more event does not read the record again."""
    folded = []
    fold = views.fold
    monkeypatch.setattr(views, "fold", lambda made, event, body: (folded.append(event.seq), fold(made, event, body)))
    log = make_log(tmp_path, many(500))
    views.project(log.workspace)
    whole = len(folded)
    log.append([decision(ANA, at(30), "Ship on Friday")], now=NOW)

    done = views.project(log.workspace)

    assert done.from_snapshot
    assert whole == 500 + len(story())
    assert folded[whole:] == [whole + 1]


def test_the_sessions_alone_are_what_the_whole_fold_has_and_go_on_from_what_was_held(tmp_path, monkeypatch):
    folded = []
    fold = views.fold
    monkeypatch.setattr(views, "fold", lambda made, event, body: (folded.append(event.type), fold(made, event, body)))
    log = make_log(tmp_path, many(40))

    def whole() -> dict[str, object]:
        return views.folded(log, snapshot=False)[0]["sessions"]

    assert views.sessions(log)[0]["sessions"] == whole()
    made = views.sessions(log)
    log.append([make_draft("new", session="another", text="x"), decision(ANA, at(30), "Ship on Friday")], now=NOW)
    folded.clear()
    made = views.sessions(log, made)
    assert folded == ["conversation_turn"], "what was held is not read again, nor what is no turn"
    assert made[0]["sessions"] == whole()
    views.project(log.workspace)
    log.append([make_draft("newer", session="a third", text="x")], now=NOW)
    folded.clear()
    made = views.sessions(log, views.read_snapshot(log))
    assert folded == ["conversation_turn"], "it goes on from the views' snapshot as well"
    assert made[0]["sessions"] == whole()
    assert sorted(made[0]["sessions"]) == sorted(whole())


def test_the_sessions_are_read_anew_behind_a_redaction(tmp_path):
    log = make_log(tmp_path, [*many(6), make_draft("secret", session="gone", body={"branch": "told"}, text="words")])
    held = views.sessions(log)
    assert held[0]["sessions"]["gone"]["branch"] == "told"

    workspace = log.workspace
    erase(workspace, lambda: plan_events(workspace, [make_draft("secret").id], reason="asked"), now=NOW, by="ana")

    assert "told" not in str(views.sessions(log, held)[0])
    assert views.sessions(log)[0]["sessions"] == views.folded(log, snapshot=False)[0]["sessions"]
