"""Cases of health.signals.schedule."""

from support.health_cases import HOUR, NOW, OK, WARN, Case, well

SCHEDULED = well("schedule", kind="cron", last=NOW - 5 * HOUR)
CASES = {
    "schedule": Case(
        well("schedule", kind="systemd", installed_text_ok=False),
        well("schedule", kind="systemd", enabled=False),
        ("not installed", "does not hold the call", "switched off"),
        (OK, WARN, WARN),
    ),
    "nightly_missed": Case(
        well("schedule", kind="cron", due=NOW - 7 * HOUR, missed=1),
        well("schedule", kind="cron", due=NOW - 50 * HOUR, missed=3),
        ("the last was 5.0 h ago", "1 night did not run; due 7.0 h ago", "3 nights did not run; due 2.1 days ago"),
        healthy=SCHEDULED,
    ),
    "nights_failed": Case(
        well("schedule", kind="cron", failed_projects={"/home/u/shop": 1}),
        well("schedule", kind="cron", failed_projects={"/home/u/shop": 3, "/home/u/api": 1}),
        ("0 projects", "1 project, 1 night in a row", "/home/u/shop: 3 nights in a row"),
    ),
}
