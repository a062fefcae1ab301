"""The steps behind the writing: archive, index, check, handoff. Only when all of them pass is a checkpoint complete."""

from typing import Any

from consolidation.archive import manifest, sources
from consolidation.model import StepResult
from consolidation.run import DONE, FAILED, SAME, SKIPPED, Run
from transcript.canonical import sha256_hex
from transcript.paths import read_file
from transcript.projections import handoff as handoff_page
from transcript.projections.views import folder_of, lag, refresh
from transcript.telling import counted

BROKEN = frozenset({"stored", "chain", "head", "index"})  # signals of health without which nothing is recalled
PROBED = 5  # of the memories written, asked for again


def archive(run: Run) -> StepResult:
    """Read back what is kept of the sources in which anything is new."""
    if run.dry_run:
        return StepResult("archive", SKIPPED, note="dry run")
    named = sources(run.log, run.since)
    found = run.artifacts["archive"] = manifest(run.workspace, named)
    if not found:
        note = "no source is new" if not named else "no source bytes are kept (capture.native)"
        return StepResult("archive", SAME if not named else SKIPPED, note=note)
    return StepResult("archive", DONE, len(found), counted(len(found), "source read back", "sources read back"))


def index(run: Run) -> StepResult:
    """Bring the index up to what was written, and to what the record proves memories to be worth."""
    if run.dry_run:
        return StepResult("index", SKIPPED, note="dry run")
    before = _watermark(run)
    made = run.artifacts["index"] = dict(run.deps.index())
    behind = _last_seq(run) - int(made["watermark"])
    if behind > 0:
        return StepResult("index", FAILED, note=f"the index ends {counted(behind, 'event')} before the record")
    weighed = int(made.get("weighed", 0))
    new = int(made["watermark"]) - before
    note = f"{counted(new, 'event')} read, {counted(weighed, 'weight')} changed"
    return StepResult("index", DONE if new or weighed else SAME, int(made["chunks"]), note)


def _watermark(run: Run) -> int:
    from indexer.audit import watermark_seq
    from transcript.errors import StoreError

    try:
        with run.deps.open_store() as store:
            return watermark_seq(store)
    except StoreError:
        return 0


def _last_seq(run: Run) -> int:
    """The newest event that the run wrote, 0 for none."""
    return max((run.log.get(event.id).seq for event in run.wrote[-1:]), default=0)


def check(run: Run) -> StepResult:
    """See that what was written can be recalled, that record, files and index are well, and what went stale."""
    if run.dry_run:
        run.write(run.checks)
        return StepResult("check", SKIPPED, len(run.checks), "dry run")
    faults = _faults(run)
    stale = run.write(run.checks)
    if faults:
        return StepResult("check", FAILED, len(faults), "; ".join(faults[:3]))
    note = f"{counted(stale, 'file')} changed" if stale else ""
    return StepResult("check", DONE, stale, note)


def _faults(run: Run) -> list[str]:
    """What is wrong, one line each."""
    found: list[str] = []
    new = [event.id for event in run.wrote if event.type == "memory.written"]
    with run.deps.open_store() as store:
        lost = [name[:10] for name in new if not store.chunks_of(name)]
    if lost:
        found.append(f"not in the index: {', '.join(lost)}")
    asked = [event.id for event in run.wrote if event.type == "memory.written" and event.body["kind"] == "statement"]
    asked = asked[:PROBED]
    recalled = run.deps.probe(asked) if asked and not lost else len(asked)
    if recalled < len(asked) and not lost:
        found.append(f"only {recalled} of {counted(len(asked), 'memory', 'memories')} can be recalled")
    health = run.artifacts["health"] = dict(run.deps.health(True, False))
    broken = sorted(BROKEN.intersection(map(str, health.get("failing", ()))))
    if broken:
        found.append(f"health: {', '.join(broken)}; run 'recall health'")
    behind = [name for name, events in (lag(run.workspace) or {}).items() if events]
    if behind:
        found.append(f"behind the record: {', '.join(behind)}; run 'recall project'")
    return found


def handoff(run: Run) -> StepResult:
    """Leave a handoff, and the hashes of what the run leaves behind."""
    if run.dry_run:
        return StepResult("handoff", SKIPPED, note="dry run")
    refresh(run.workspace)
    head = run.log.head()
    run.artifacts["log"] = {"seq": head.seq, "hash": head.hash}
    written = [event for event in run.wrote if event.type == "memory.written"]
    run.artifacts["summaries"] = [event.id for event in written if event.body["kind"] == "summary"]
    run.artifacts["memories"] = [file for event in written if (file := _memory_file(run, event.id))]
    folder = folder_of(run.workspace.root)
    page = folder / handoff_page.NAME if folder is not None else None
    if page is None or not page.is_file():
        return StepResult("handoff", SKIPPED, note="this project has no folder .recall; 'recall init' makes one")
    run.artifacts["handoff"] = {"path": f"views/{page.name}", "sha256": sha256_hex(read_file(page))}
    return StepResult("handoff", DONE, 1, f"views/{page.name}")


def _memory_file(run: Run, name: str) -> dict[str, Any] | None:
    """Return a memory and the hash of its file, None where the project has no place for it.

    Its path is left out: a file is named by what it says, which may have to be erased.
    """
    folder = folder_of(run.workspace.root)
    if folder is None:
        return None
    for path in sorted((folder.parent / "memory").glob(f"**/*-{name[:10]}.md")):
        return {"memory": name, "sha256": sha256_hex(read_file(path))}
    return None
