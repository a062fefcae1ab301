"""A harness's own window: our checkpoint comes before its compaction, and where it would not, hooks are refused."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.claude import ClaudeSession
from support.command import Result, runner
from support.dialogue import Dialogue

from recall import background, spawn, window_host
from recall.cli import checkpoint_job
from recall.cli.app import App
from recall.memory_settings import ConsolidationSettings
from recall.window_host import HostWindow, checkpoint_at, fault, given, observed, of
from transcript.log import Log
from transcript.paths import secure_dir
from transcript.workspace import init

DEFAULT = ConsolidationSettings()
MARGIN = 2_000
WINDOWS = (32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000)
PERCENTS = tuple(range(30, 96, 5))


def claude_env(tokens: int, percent: int) -> dict[str, str]:
    return {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(tokens), "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": str(percent)}


def hosts(tokens: int, percent: int, home: Path) -> dict[str, HostWindow]:
    """Every harness whose window can be set, set to this."""
    codex, gemini = home / "codex", home / ".gemini"
    for folder in (codex, gemini):
        folder.mkdir(exist_ok=True)
    limit = tokens * percent // 100
    (codex / "config.toml").write_text(
        f"model_context_window = {tokens}\nmodel_auto_compact_token_limit = {limit}\n", "utf-8"
    )
    (gemini / "settings.json").write_text(json.dumps({"model": {"compressionThreshold": percent / 100}}))
    env = {**claude_env(tokens, percent), "HOME": str(home), "CODEX_HOME": str(codex), "GEMINI_CLI_HOME": str(home)}
    made = {name: of(name, env, None) for name in ("claude-code", "codex")}
    return {**made, "gemini-cli": of("gemini-cli", env, None, window=tokens)}


@pytest.mark.parametrize("tokens", WINDOWS)
def test_the_checkpoint_comes_before_the_compaction_whatever_the_window_and_the_share(
    tokens: int, tmp_path: Path
) -> None:
    """LCA-D-05: 252 windows; a session that grows in steps meets our checkpoint first, or the hooks are refused."""
    for percent in PERCENTS:
        for name, host in hosts(tokens, percent, tmp_path).items():
            assert 0 < host.trigger_tokens <= host.tokens * max(percent, 50) // 100 + 1
            step = max(1, host.tokens // 500)
            grown = next(used for used in range(0, host.tokens + step, step) if used >= checkpoint_at(DEFAULT, host))
            assert grown < host.trigger_tokens, (name, tokens, percent)
            late = ConsolidationSettings(window_tokens=host.tokens, pressure=1.0)
            assert fault(name, host, late, margin_tokens=MARGIN)


@pytest.mark.parametrize(
    ("settings", "is_late"),
    [
        ({}, False),
        ({"window_tokens": 200_000}, False),  # 140,000 of 155,000
        ({"window_tokens": 1_000_000}, True),
        ({"pressure": 0.99}, True),  # less than the margin before it
        ({"pressure": 1.0, "enabled": False}, False),
        ({"pressure": 0.0}, False),
    ],
)
def test_a_checkpoint_that_comes_too_late_is_named_with_both_numbers_and_the_setting(
    settings: dict[str, Any], is_late: bool
) -> None:
    wanted = ConsolidationSettings(**settings)
    host = of("claude-code", {}, None)

    said = fault("claude-code", host, wanted, margin_tokens=MARGIN)

    assert bool(said) == is_late
    if said:
        assert f"{checkpoint_at(wanted, host):,}" in said
        assert "155,000" in said
        assert "consolidation.pressure to at most" in said
        share = float(said.rpartition(" ")[2])
        assert not fault("claude-code", host, ConsolidationSettings(pressure=share), margin_tokens=MARGIN)


def test_claudes_window_is_read_from_where_it_is_set(tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    (root / ".claude").mkdir(parents=True)
    (home / ".claude").mkdir(parents=True)
    env = {"HOME": str(home)}

    def limits(more: dict[str, str] | None = None) -> tuple[int, int]:
        found = of("claude-code", env | (more or {}), root)
        return found.tokens, found.trigger_tokens

    assert limits() == (200_000, 155_000)
    assert limits({"ANTHROPIC_MODEL": "claude-opus-4-8[1m]"}) == (1_000_000, 955_000)
    assert limits({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}) == (200_000, 84_000)
    assert limits({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99"}) == (200_000, 155_000)  # it only lowers
    assert limits({"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}) == (200_000, 179_000)
    assert limits({"DISABLE_AUTO_COMPACT": "1"}) == (200_000, 200_000)
    assert limits({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "9" * 400}) == (200_000, 155_000)  # no window is that large
    (home / ".claude" / "settings.json").write_text('{"model": "opus[1m]", "env": {"OTHER": 1}}')
    assert limits() == (1_000_000, 955_000)
    (root / ".claude" / "settings.local.json").write_text('{"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}}')
    assert limits() == (100_000, 62_500)
    (home / ".claude.json").write_text('{"autoCompactEnabled": false}')
    assert limits() == (100_000, 100_000)
    (home / ".claude.json").write_text("{not json")
    assert limits() == (100_000, 62_500)


def test_what_was_seen_counts_where_it_is_lower_and_what_nobody_says_is_a_guess() -> None:
    assert of("claude-code", {}, None, seen=[156_000, 90_000]).trigger_tokens == 90_000
    assert of("claude-code", {}, None, seen=[190_000]).trigger_tokens == 155_000
    assert of("codex", {"CODEX_HOME": "/nowhere"}, None, window=400_000) == HostWindow(
        400_000, 360_000, "the session's file"
    )
    unknown = of("pi", {}, None)
    assert (unknown.known, unknown.limit) == (False, 200_000)
    assert of("pi", {}, None, seen=[120_000]).limit == 120_000
    assert given(1000, percent=40).limit == 400


def test_the_compactions_that_were_seen_are_those_that_nobody_asked_for(tmp_path: Path) -> None:
    talk = Dialogue()
    for trigger, tokens in (("auto", 155_031), ("manual", 40_000), ("auto", 170_000)):
        said = {"subtype": "compact_boundary", "text": "", "compact": {"trigger": trigger, "preTokens": tokens}}
        talk.event("system", said, actor="system")

    log = talk.log(tmp_path)

    assert observed(log) == observed(log, "claude-code") == [155_031, 170_000]
    assert observed(log, "codex") == []


@pytest.mark.parametrize(("tokens", "percent"), [(64_000, 80), (200_000, 50), (1_000_000, 95)])
def test_in_a_growing_session_the_checkpoint_stands_before_the_hosts_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: int, percent: int
) -> None:
    """LCA-D-05: through the session's own file, the capture behind each turn and the checkpoint's own process."""
    root, data, home = tmp_path / "project", secure_dir(tmp_path / "data"), Path(os.environ["HOME"])
    root.mkdir()
    workspace = init(root, data)
    monkeypatch.setattr(spawn, "detach", lambda *words, **more: 0)
    env = {**os.environ, **claude_env(tokens, percent), "RECALL_INDEX_MODEL": "none:at-all"}
    app = App(env, root, data)
    trigger = of("claude-code", env, root).trigger_tokens
    session = ClaudeSession(cwd=str(root))
    session.user("Go on.")

    for used in range(0, tokens, tokens // 20):
        if used >= trigger:
            session.compact("All of it.")
        usage = {"input_tokens": used, "output_tokens": 1}
        session.record("assistant", message={"id": f"m{used}", "role": "assistant", "content": [], "usage": usage})
        session.write(home / ".claude")
        background.capture(data, root, env)
        background.start_checkpoints(workspace, data, root, env, [("Stop", session.session)])
        again = data / "run" / f"checkpoint-{workspace.id}.again"
        if again.exists():
            checkpoint_job.rounds(app, again)
        if used >= trigger:
            break

    log = Log(workspace)
    (boundary,) = (event for event in log.read() if event.body.get("subtype") == "compact_boundary")
    made = [event for event in log.read() if event.type == "checkpoint"]
    assert [event.body["trigger"] for event in made][:1] == ["pressure"]
    assert made[0].seq < boundary.seq
    assert made[0].body["state"] == "complete"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return runner(capsys)


def test_hooks_are_refused_where_the_harness_compacts_first_and_the_others_go_on(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LCA-D-05."""
    monkeypatch.setenv("RECALL_CONSOLIDATION_WINDOW_TOKENS", "250000")

    refused = call("enable-hooks", "claude-code", "codex", "--yes")
    accepted = call("enable-hooks", "claude-code", "--accept-window", "--yes")
    removed = call("enable-hooks", "claude-code", "--remove", "--yes")

    assert refused.code == 1
    assert "a checkpoint at 175,000 tokens comes too late: Claude Code compacts at 155,000" in refused.err
    assert "consolidation.window_tokens to 0" in refused.err
    assert "--accept-window" in refused.err
    assert Path(".codex/hooks.json").exists()
    assert (accepted.code, removed.code) == (0, 0)
    assert "hooks are in" in accepted.err


def test_a_harnesss_settings_that_nobody_can_read_end_nothing(call: Callable[..., Result]) -> None:
    config = Path(os.environ["HOME"]) / ".codex" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("a = " + "[" * 10_000)

    assert call("enable-hooks", "codex", "--dry-run").code == 0


def test_the_default_settings_are_never_refused(call: Callable[..., Result]) -> None:
    names = [name for name, place in window_host.PLACES.items() if place.form]

    assert call("enable-hooks", *names, "--dry-run").code == 0
