"""What errors repeat of a text that they refuse."""

from support.health_cases import FAIL, OK, Case, well

CASES = {
    "rejected_echo": Case(
        well("refusals", parsers=19, echoed={"packs": 64}),
        well("refusals", parsers=19, echoed={"packs": 64, "settings": 8000}),
        (
            "0 characters of a refused text in the errors of 19 parsers",
            "64 characters of a refused text in the errors of 19 parsers | packs: 64 characters",
            "8,064 characters of a refused text in the errors of 19 parsers | packs: 64 characters | settings: 8,000",
        ),
        (OK, FAIL, FAIL),
        healthy=well("refusals", parsers=19),
    ),
}
