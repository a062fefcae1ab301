"""What every session is told first, and whether it is what somebody answers for."""

from dataclasses import replace

from health.facts_memories import StandingFacts
from support.health_cases import DAY, FAIL, NOW, OK, WARN, WELL, Case

GOOD = StandingFacts(
    expected=True, identity=1, entries=9, critical=8, critical_loaded=8, critical_chars=9_000, budget=50_000,
    chars=50_000, files=292, loaded=292,
)  # fmt: skip
WARNS = (OK, WARN, WARN)


def held(**changes):
    return replace(WELL, standing=replace(GOOD, **changes))


def case(warn, fail, says, levels=WARNS):
    return Case(held(**warn), held(**fail), says, levels, held())


def conflicts(*days):
    return {"conflicts": {f"m{n} / db.md:1": NOW - since * DAY for n, since in enumerate(days)}}


CASES = {
    "standing_identity": case(
        {"identity": 0}, {"identity": 0, "entries": 0},
        ("9 entries told", "no IDENTITY.md or USER.md", "no IDENTITY.md"),
    ),
    "standing_critical": case(
        {"critical_chars": 50_000}, {"critical": 50, "critical_chars": 185_000, "left_out": ("m42",)},
        ("8 of 8 critical memories, 9,000 of 50,000", "50,000 of 50,000",
         "8 of 50 critical memories, 185,000 of 50,000"),
        (OK, OK, FAIL),
    ),
    "standing_budget": case(
        {"chars": 50_001, "no_room": ("project:WORK.md",)},
        {"chars": 185_000, "no_room": tuple(f"project:{n}.md" for n in range(40))},
        ("50,000 of 50,000 characters", "50,001 of 50,000 characters; 1 file has no room",
         "185,000 of 50,000 characters; 40 files have no room"),
    ),
    "standing_files": case(
        {"failed": ("a.md: no UTF-8",)}, {"loaded": 230, "failed": tuple(f"{n}.md: nested keys" for n in range(62))},
        ("0 files are not told", "1 file is not told", "62 files are not told"),
    ),
    "standing_ungoverned": case(
        {"ungoverned": ("project:IDENTITY.md",)}, {"ungoverned": tuple(f"project:{n}.md" for n in range(40))},
        ("0 files were changed outside", "1 file was changed outside of the flow", "40 files"),
    ),
    "procedure_conflicts": case(
        conflicts(7), conflicts(7.1, 1),
        ("0 memories say", "1 memory says otherwise than a procedure, the oldest for 7.0 days", "for 7.1 days"),
        (OK, WARN, FAIL),
    ),
    "rules_in_memory_only": case(
        {"rules": 1}, {"rules": 1_001},
        ("0 much-cited rules", "1 much-cited rule stands in a memory only", "1,001 much-cited rules"),
    ),
}  # fmt: skip
