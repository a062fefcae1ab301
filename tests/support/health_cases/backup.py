"""Cases of health.signals.backup."""

from support.health_cases import DAY, NOW, Case, well


def made(days: float, behind: int):
    """Facts with a backup of so many days ago, and so many events since."""
    at = NOW - days * DAY
    return well("backup", at=at, path="/media/disk/w", behind_events=behind)


CASES = {
    "backup_age": Case(
        made(9, 40),
        made(32, 1),
        ("24.0 h old, 0 events since", "9.0 days old, 40 events since", "32.0 days old, 1 event since"),
        healthy=made(1, 0),
    ),
}
