from dataclasses import replace

from health.facts_machine import FreshnessFacts
from support.health_cases import FAIL, OK, WARN, WELL, Case

NEW, OLD = "/opt/new/site-packages", "/opt/old/site-packages"
ONE = FreshnessFacts(
    version="0.1.0",
    site=NEW,
    edited=(),
    launcher="0.1.0",
    launcher_site=NEW,
    service="0.1.0",
    service_site=NEW,
    hooks={"claude-code": "0.1.0"},
    schemas=(("record", 1, 1), ("index.sqlite", 4, 4)),
)
BEHIND = replace(ONE, launcher="0.0.9", launcher_site=OLD, canonical="0.1.0", behind=1)


def code(of: FreshnessFacts):
    return replace(WELL, freshness=of)


CASES = {
    "code_behind": Case(
        healthy=code(ONE),
        warn=code(BEHIND),
        fail=code(replace(ONE, canon="origin/main", canonical="origin/main 895b79e", behind=1_200)),
        says=("recall 0.1.0 answers; no newer one ran here", "recall 0.0.9 answers, behind 0.1.0", "1,200 commits"),
        levels=(OK, WARN, WARN),
    ),
    "code_edited": Case(
        healthy=code(ONE),
        warn=code(replace(ONE, edited=("recall/gate.py",))),
        fail=code(replace(ONE, edited=tuple(f"recall/m{n}.py" for n in range(40)))),
        says=("as committed or installed", "1 file of the program edited", "40 files"),
        levels=(OK, WARN, WARN),
    ),
    "code_mixed": Case(
        healthy=code(ONE),
        warn=code(BEHIND),
        fail=code(replace(BEHIND, launcher_gone=True)),
        says=("one copy of recall 0.1.0", f"hooks 0.0.9 in {OLD}", f"hooks: 0.0.9 {OLD}"),
    ),
    "hook_version.*": Case(
        healthy=code(ONE),
        warn=code(BEHIND),
        fail=code(replace(ONE, launcher_edited=True)),
        says=("claude-code: runs 0.1.0", "runs 0.0.9, this is 0.1.0", "the launcher is not what recall 0.1.0 writes"),
        levels=(OK, FAIL, FAIL),
    ),
    "schemas": Case(
        healthy=code(ONE),
        warn=code(replace(ONE, schemas=(("record", 1, 1), ("index.sqlite", 3, 4)))),
        fail=code(replace(ONE, schemas=(("record", None, 1), ("index.sqlite", 5, 4)))),
        says=("2 files of the versions", "older: index.sqlite", "no known version: record"),
    ),
}
