"""Hooks: installed as we wrote them, firing, and failing how often."""

from health.facts import HookFacts
from health.known import Area, Known
from health.signal import NONE_ALLOWED_WARN, Level, Signal, span
from transcript.telling import counted

# What keeps a harness from running a hook without a word, and how a user lifts it.
TRUST = {
    "codex": "review the hook in Codex with /hooks and trust the project",
    "gemini-cli": "trust the folder when Gemini CLI asks",
    "copilot-cli": "trust the folder when Copilot CLI asks",
    "grok-build": "trust the folder (grok --trust)",
}


def installed(hook: HookFacts) -> Signal:
    """Return whether the harness calls us, and calls us as we asked."""
    if not hook.installed:
        level, text = Level.WARN, "not installed"
        action = f"run 'recall enable-hooks {hook.harness}'"
    elif hook.launcher_ok is False:
        level, text = Level.FAIL, "installed, but the launcher is missing or its interpreter is gone"
        action = f"run 'recall enable-hooks {hook.harness}'"
    elif hook.drift:
        level, text = Level.FAIL, f"installed, but changed: {hook.drift}"
        action = f"run 'recall enable-hooks {hook.harness} --dry-run' to see the difference"
    else:
        level, text, action = Level.OK, "installed", ""
    return Signal(
        id=f"hook_installed.{hook.harness}",
        value=hook.installed,
        unit="flag",
        level=level,
        text=f"{hook.harness}: {text}",
        meaning="The harness must call the launcher at each of its events.",
        action=action,
    )


def trusted(hook: HookFacts) -> Signal:
    """Return whether the harness runs the hook; warns where its own files say no and none has fired since it is in."""
    fired = hook.last_fired is not None and hook.last_fired >= (hook.installed_at or 0.0)
    skips = hook.installed and bool(hook.untrusted) and not fired
    return Signal(
        id=f"hook_trusted.{hook.harness}",
        value=not skips,
        unit="flag",
        level=Level.WARN if skips else Level.OK,
        text=f"{hook.harness}: " + (f"skips the hook: {hook.untrusted}" if skips else "nothing says that it skips it"),
        meaning="Some harnesses run a hook only once a person has let them, and say nothing until then.",
        action=TRUST.get(hook.harness, f"start {hook.harness} anew") if skips else "",
    )


def heartbeat(hook: HookFacts, now: float, *, warn_seconds: float = 1800, fail_seconds: float = 7200) -> Signal:
    """Return when the hook fired last; silence while the harness's own log grows fails.

    The measure is the log's last growth after the last firing, so a harness nobody uses is well.
    """
    since = hook.last_fired if hook.last_fired is not None else hook.installed_at
    silent = 0.0
    if hook.native_last_write is not None and since is not None:
        silent = max(0.0, hook.native_last_write - since)
    level = Level.OK
    if hook.installed:
        level = Level.FAIL if silent > fail_seconds else Level.WARN if silent > warn_seconds else Level.OK
    text = (
        "has never fired here" if hook.last_fired is None else f"fired here {span(max(0.0, now - hook.last_fired))} ago"
    )
    action = ""
    if level:
        text += (
            f"; the harness wrote for {span(silent)} after {'it was installed' if hook.last_fired is None else 'that'}"
        )
        ask = TRUST.get(hook.harness, f"start {hook.harness} anew")
        action = f"{ask}; if it stays silent, then run 'recall enable-hooks {hook.harness}'"
    return Signal(
        id=f"hook_last_fired.{hook.harness}",
        value=hook.last_fired,
        unit="time",
        level=level,
        text=f"{hook.harness}: {text}",
        meaning="A hook that is silent while the harness works gives nothing and captures nothing.",
        action=action,
    )


def failures(hook: HookFacts) -> Signal:
    """Return payloads the hook could not serve, by reason."""
    total = sum(hook.failures.values())
    level = NONE_ALLOWED_WARN.level(total)
    return Signal(
        id=f"hook_failures.{hook.harness}",
        value=dict(hook.failures),
        unit="count",
        level=level,
        text=f"{hook.harness}: {counted(total, 'call')} answered with silence because of an error",
        meaning="The hook never fails its host; it answers nothing and counts.",
        action="look at the reasons; report those that return" if level else "",
        limits=NONE_ALLOWED_WARN,
        details=tuple(f"{reason}: {n:,}" for reason, n in sorted(hook.failures.items())),
    )


KNOWN = (
    Known(
        "hook_installed.*",
        lambda f: [installed(hook) for hook in f.hooks],
        Area.OPERATIONS,
        "settings of the harness",
        warn="not installed",
        fail="changed, launcher missing, or its interpreter gone",
        remedy="enable-hooks *",
        safe=True,
        rows="LCA-6.1-06",
    ),
    Known(
        "hook_trusted.*",
        lambda f: [trusted(hook) for hook in f.hooks],
        Area.OPERATIONS,
        "files of the harness",
        warn="they trust neither hook nor folder, and none fired",
        why_never="hook_last_fired fails where the harness works meanwhile",
    ),
    Known(
        "hook_last_fired.*",
        lambda f: [heartbeat(hook, f.now) for hook in f.hooks],
        Area.OPERATIONS,
        "record, session files of the harness",
        warn="silent > 30 min while the harness writes",
        fail="silent > 2 h while the harness writes",
        remedy="enable-hooks *",
        safe=True,
    ),
    Known(
        "hook_failures.*",
        lambda f: [failures(hook) for hook in f.hooks],
        Area.OPERATIONS,
        "hook counters",
        warn="> 0",
        why_never="the hook is silent rather than wrong",
    ),
)
