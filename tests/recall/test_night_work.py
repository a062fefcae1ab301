"""What a night does for index and quality: bounded, told, and nothing written but the series."""

import json
import os
from pathlib import Path

import pytest
from support.embedder import StubEmbedder
from support.project import exchanges, git_project, take_in

from eval.self_series import path, read
from health.gather_quality import quality_facts
from indexer import reclaim as index_reclaim
from indexer.reclaim import DONE, IN_USE, NO_ROOM, NO_TIME, UNUSED, Reclaimed
from recall.cli import night_work
from recall.cli.app import App

TALKS = [
    exchanges(
        [
            (
                "why does the staging gateway reject handshakes after the certificate renewal last thursday?",
                "It was the certificate: the proxy had cached the old chain, so it restarts after each renewal now.",
            ),
            (
                "how long do we keep sessions of visitors in the warehouse?",
                "The limit is set by sessionRetentionDays, thirty by default, and nothing else removes them ever.",
            ),
        ]
    )
]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    folder = git_project(tmp_path / "shop")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("indexer.embedder.load", lambda *_, **__: StubEmbedder())
    take_in(folder, TALKS, words_only=False)
    return App(dict(os.environ), folder)


def ask(
    app: App, *, idle: bool = False, seconds: float = 60.0, embedder: StubEmbedder | None = None
) -> tuple[str, int, str]:
    return night_work.quality(app, app.workspace(), lambda: embedder or StubEmbedder(), idle, seconds)


def files(app: App) -> dict[str, bytes]:
    """Every file of the data folder but the index's shared memory, which reading it touches."""
    found = (one for one in app.data.rglob("*") if one.is_file() and not one.name.endswith(("-shm", "-wal")))
    return {one.name: one.read_bytes() for one in found}


def test_a_night_adds_one_run_to_the_series_that_health_shows_and_writes_nothing_else(app: App) -> None:
    before = files(app)

    state, asked, note = ask(app)

    [entry] = read(path(app.workspace()))
    assert (state, asked) == ("done", len(entry.ranks))
    assert asked > 0
    assert note.endswith("of the best rank, 3 questions")
    assert quality_facts(app.workspace()).questions == asked
    after = files(app)
    assert after.keys() - before.keys() == {"eval-self.jsonl", "eval-self.lock"}
    assert {name: after[name] for name in before} == before
    assert "gateway" not in json.dumps(entry.ranks)


def test_where_nothing_was_new_it_asks_only_once_settings_differ(app: App) -> None:
    assert ask(app, idle=True)[0] == "done"
    assert ask(app, idle=True)[0] == "unchanged"
    (app.cwd / ".recall").mkdir(exist_ok=True)
    (app.cwd / ".recall" / "config.toml").write_text("[gate]\nthreshold = 0.9\n", encoding="utf-8")

    assert ask(App(app.env, app.cwd, app.data), idle=True)[0] == "done"

    assert len(read(path(app.workspace()))) == 2


@pytest.mark.parametrize(
    ("options", "setting", "why"),
    [
        ({}, "0", "switched off by schedule.quality_seconds"),
        ({"seconds": 1e-9}, "60", "not over within 0 s"),
        ({"embedder": StubEmbedder(id="another", dimension=8)}, "60", "the model is not at hand"),
    ],
    ids=["switched off", "too short", "vectors of another model"],
)
def test_what_is_not_asked_leaves_no_run(app: App, options, setting: str, why: str) -> None:
    chosen = App({**app.env, "RECALL_SCHEDULE_QUALITY_SECONDS": setting}, app.cwd, app.data)

    state, asked, note = ask(chosen, **options)

    assert (state, asked) == ("skipped", 0)
    assert note.startswith(why)
    assert read(path(app.workspace())) == []


def test_a_record_of_nothing_to_ask_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = git_project(tmp_path / "empty")
    monkeypatch.chdir(folder)
    take_in(folder, [exchanges([("hello", "Hello.")])], words_only=True)

    state, asked, note = ask(App(dict(os.environ), folder))

    assert (state, asked, note) == ("skipped", 0, "the record is too small to make a question of")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (Reclaimed(DONE, 81_000_000, 76_000_000, 6_000_000), ("done", 5_000_000, "81.0 MB -> 76.0 MB")),
        (Reclaimed(UNUSED, 76_000_000, 76_000_000, 600_000), ("unchanged", 0, "0.8% of 76.0 MB hold nothing")),
        (Reclaimed(UNUSED), ("unchanged", 0, "0.0% of 0 B hold nothing")),
        (
            Reclaimed(IN_USE, 80_000_000, 80_000_000, 8_000_000),
            ("skipped", 0, "10.0% of 80.0 MB hold nothing; the index is in use"),
        ),
        (
            Reclaimed(NO_ROOM, 80_000_000, 80_000_000, 8_000_000),
            ("skipped", 0, "10.0% of 80.0 MB hold nothing; the disk lacks room for a copy of the index"),
        ),
        (
            Reclaimed(NO_TIME, 80_000_000, 80_000_000, 8_000_000),
            ("skipped", 0, "10.0% of 80.0 MB hold nothing; no time left in this night"),
        ),
    ],
)
def test_what_became_of_the_index_is_told(app: App, monkeypatch, made: Reclaimed, told: tuple[str, int, str]) -> None:
    monkeypatch.setattr(index_reclaim, "reclaim", lambda *_, **__: made)

    assert night_work.reclaim(app, app.workspace(), 60.0) == told


def test_a_small_index_is_left_as_it_is(app: App) -> None:
    assert night_work.reclaim(app, app.workspace(), 60.0)[0] == "unchanged"
