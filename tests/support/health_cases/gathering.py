"""The report's own state."""

from dataclasses import replace

from support.health_cases import FAIL, OK, WELL, Case

CASES = {
    "unreadable": Case(
        replace(WELL, broken=("turns: PermissionError",)),
        replace(WELL, broken=("turns: PermissionError", "window: StoreError")),
        ("0 sources", "turns: PermissionError", "2 sources"),
        (OK, FAIL, FAIL),
    ),
}
