"""Files of memories that no session is told."""

from support.health_cases import FAIL, OK, Case, well

DISK = {"project_fact": 230, "runbook": 62}
WHOLE = well("loader", disk=DISK, loaded=DISK)
SOME = well("loader", disk=DISK, loaded={"project_fact": 230, "runbook": 61}, lost=("a.md",))
MANY = well("loader", disk=DISK, loaded={"project_fact": 230}, lost=("c.md",) * 62, critical_missing=3)

CASES = {
    "loader_lost": Case(
        SOME,
        MANY,
        ("292 of 292 memories on disk loaded", "291 of 292 memories on disk loaded, 1 lost", "62 lost, 3 of them crit"),
        healthy=WHOLE,
    ),
    "memory_types_loaded": Case(
        SOME,
        MANY,
        ("2 types on disk, all loaded", "runbook: 61 of 62", "none loaded of runbook (62 on disk)"),
        (OK, OK, FAIL),
        healthy=WHOLE,
    ),
}
