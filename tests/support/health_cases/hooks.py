"""The hook of one harness: installed as we wrote it, firing, failing how often."""

from support.health_cases import HOUR, NOW, OK, WARN, Case, hooked

CASES = {
    "hook_installed.*": Case(
        hooked(installed=False), hooked(drift="/home/dev/.claude/settings.json no longer holds all that we wrote"),
        ("claude-code: installed", "not installed", "installed, but changed: /home/dev/.claude/settings.json"),
    ),
    "hook_trusted.*": Case(
        hooked(untrusted="config.toml names no review of hooks.json", installed_at=NOW - HOUR, last_fired=None),
        hooked(untrusted="config.toml does not trust shop", installed_at=NOW - HOUR, last_fired=NOW - HOUR - 1),
        ("nothing says that it skips it", "claude-code: skips the hook: config.toml names no review",
         "skips the hook: config.toml does not trust shop"),
        (OK, WARN, WARN),
        healthy=hooked(untrusted="config.toml names no review", installed_at=NOW - HOUR, last_fired=NOW - HOUR),
    ),
    "hook_last_fired.*": Case(
        hooked(last_fired=NOW - 3 * HOUR, native_last_write=NOW - 3 * HOUR + 1801),
        hooked(last_fired=NOW - 3 * HOUR, native_last_write=NOW - HOUR + 1),
        ("fired here 3.0 h ago", "the harness wrote for 30 min after that", "the harness wrote for 2.0 h after that"),
        healthy=hooked(last_fired=NOW - 3 * HOUR, native_last_write=NOW - 3 * HOUR + 1800),
    ),
    "hook_failures.*": Case(
        hooked(failures={"deadline:receive": 1}), hooked(failures={"error:words:KeyError": 1_200, "payload_empty": 3}),
        ("0 calls answered with silence", "1 call answered with silence", "error:words:KeyError: 1,200"),
        (OK, WARN, WARN),
    ),
}  # fmt: skip
