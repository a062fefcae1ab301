"""What may be claimed: the minimal list of a lifelong memory (LCA, Appendix C), each item shown by running it.

Every item works on a made-up project by the same commands that a user has, by words alone, and says what it saw.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from eval.conformance_item import ACTOR, SHOWN, TURN, Claim, Item, Project, Seen, json_of, log_file, plain, rows, run
from health.facts import Facts, IndexFacts
from health.facts_machine import BackendFacts
from health.facts_memories import StandingFacts
from health.known import Area
from health.report import assess
from health.signal import Level
from indexer.audit import agreement
from indexer.store import Store
from transcript.log import Log

UNRELATED = "who fed the zebra in the cathedral"
QUESTIONS = (  # and a word that stands in the answer, none of it in the last messages of the record
    ("tide times one hour off since the clock change", "Europe/Paris"),
    ("why sqlite and not postgres", "WAL"),
    ("how is the database backed up", "VACUUM INTO"),
    ("which commit fixed the one-hour bug on the pi", "4f1c2ab"),
)
CANARY = "pelican-4711-canary"
LONG = 14  # exchanges of a session whose window is pruned


def minimal(project: Project) -> Iterator[Item]:
    """Run the eleven items of the minimal list and yield each when it is known; what raises does not hold."""
    return run(MINIMAL, project)


def standing_context(project: Project) -> Seen:
    """A session is told who it is, for whom it works and in which project; what is missing is named."""
    missing = json_of(project("session-start", "--json"))["missing"]
    project("init", "--scaffold")
    told = {
        project.root / ".recall" / "identity" / "IDENTITY.md": "# Identity\n\nA keeper of tides.\n",
        project.data / "identity" / "USER.md": "# User\n\nAna, who reads gauges.\n",
        project.root / ".recall" / "identity" / "instructions" / "project.md": "# Project\n\nTimes are UTC.\n",
    }
    for path, text in told.items():
        path.write_text(text, "utf-8")
    after = json_of(project("session-start", "--json"))
    loaded = [one["name"] for one in after["entries"] if one["state"] == "loaded" and one["chars"]]
    wanted = {"IDENTITY.md", "USER.md"}
    well = set(missing) == wanted and wanted <= set(loaded) and len(loaded) >= len(told) and not after["missing"]
    return well, f"loaded {', '.join(loaded)}; before: {', '.join(missing)} named as missing"


def append_only(project: Project) -> Seen:
    """What is written stays byte for byte, and an edit is found."""
    before = log_file(project).read_bytes()
    project("task", "add", "Read the gauges", *ACTOR)
    after = log_file(project).read_bytes()
    grown = after.startswith(before) and len(after) > len(before)
    log_file(project).write_bytes(after.replace(b"tide", b"tidE", 1))
    edited = project("verify").code
    log_file(project).write_bytes(after)
    whole = project("verify").code
    told = f"{len(before):,} bytes stand before what was appended" if grown else "what was written has changed"
    return grown and edited != 0 and whole == 0, f"{told}; verify after an edit: exit {edited}, without: {whole}"


def governed(project: Project) -> Seen:
    """A memory comes from a candidate and a verdict; what nobody approved changes no shared fact."""
    made = json_of(project("memory", "add", "The gauge at pier 3 drifts", *ACTOR, "--json"))["events"]
    types = [event["type"] for event in made]
    path = ["memory.candidate", "memory.verdict", "memory.decided", "memory.written"]
    shared = project.root / ".coord" / "memory.yml"
    proposed = json_of(project("coord", "propose", "add", "--summary", "Times are UTC", "--evidence", "T1", "--json"))
    file = Path(proposed["path"])
    held = file.read_bytes()
    file.write_text(json.dumps({**json.loads(held), "state": "approved"}), "utf-8")
    applied = project("coord", "apply", proposed["id"]).code
    file.write_bytes(held)
    refused = applied != 0 and not shared.exists()
    told = "a forged approval is refused" if refused else "a forged approval was applied"
    return types[: len(path)] == path and refused, f"{', '.join(types[:4])}; {told} (exit {applied})"


def pointers(project: Project) -> Seen:
    """Every passage of the index has a pointer, and a pointer opens the words that it names."""
    with Store.open(project.workspace.index_path, "r") as store:
        agree, chunks = agreement(store), store.meta().n_chunks
    opened = 0
    results = [row for question, _ in QUESTIONS for row in rows(project, question)]
    for row in results:
        shown = json_of(project("show", row["pointer"], "--json"))
        opened += plain(row["text"])[:60] in plain(shown["words"])
    well = not agree.orphan_pointers and bool(results) and opened == len(results)
    return well, f"{chunks} passages, {agree.orphan_pointers} without a row; {opened} of {len(results)} results open"


def beyond_latest(project: Project) -> Seen:
    """The ranking finds answers that the latest messages do not hold."""
    latest = [plain(str(event.body.get("text", ""))) for event in Log(project.workspace).read() if event.type == TURN][
        -SHOWN:
    ]
    found = sum(any(word in row["text"] for row in rows(project, question)) for question, word in QUESTIONS)
    newest = sum(any(word in text for text in latest) for _, word in QUESTIONS)
    of = len(QUESTIONS)
    return (
        found > newest,
        f"answers among {SHOWN}: {found} of {of} by the ranking, {newest} of {of} by the latest messages",
    )


def floor_and_budget(project: Project) -> Seen:
    """An unrelated prompt is met with silence; no block is larger than its budget."""
    silent = project.ask(UNRELATED)
    turns = [project.ask(question) for question, _ in QUESTIONS]
    largest = max(turn.tokens for turn in turns)
    spoke = sum(bool(turn.block) for turn in turns)
    well = not silent.block and spoke > 0 and all(turn.tokens <= project.budget for turn in turns)
    what = "silence" if not silent.block else "a block"
    return well, f"an unrelated prompt: {what}; {spoke} related: at most {largest} of {project.budget} tokens"


def pruning(project: Project) -> Seen:
    """What leaves a live window stays in the record, and its pointer opens word for word what it held."""
    said = [(f"reading {n} of the gauge?", f"reading {n}: " + "the level is falling, " * 60) for n in range(LONG)]
    project.say("long", said)
    project("sync")
    project("index", "--words-only")
    before = log_file(project).read_bytes()
    limits = ("--session", "long", "--window", "8000", "--trigger", "7000", "--policy", "sliding")
    plan = json_of(project("window", "plan", *limits, "--json"))
    left = [event for one in (*plan["remove"], *plan["stub"]) for event in one["events"]]
    done = json_of(project("window", "apply", *limits, "--json"))
    kept = log_file(project).read_bytes().startswith(before)
    log = Log(project.workspace)
    opened = sum(json_of(project("show", name, "--json"))["words"] == log.text(log.get(name)) for name in left)
    gone = done["removed"] + done["stubbed"]
    return kept and gone > 0 and opened == len(
        left
    ) > 0, f"{gone} left the window; {opened} of {len(left)} events open word for word"


def checkpoint(project: Project) -> Seen:
    """A checkpoint is complete only when every step is, and names the one that failed."""
    path = project.workspace.index_path
    for file in path.parent.glob("index.sqlite*"):
        file.unlink()
    path.mkdir()
    try:
        ran = project("checkpoint", "--json")
    finally:
        path.rmdir()
        project("index", "--words-only")
    broken, whole = json_of(ran), json_of(project("checkpoint", "--json"))
    failed = [step["name"] for step in broken["steps"] if step["state"] == "failed"]
    well = whole["state"] == "complete" and broken["state"] == "failed" and failed == ["index"] and ran.code != 0
    return well, f"{whole['state']} with {len(whole['steps'])} steps; without an index: {broken['state']} at {failed}"


def health(project: Project) -> Seen:
    """Health tells a fault of indexing, of recall and of loading apart."""
    well = Facts(
        "made-up",
        0.0,
        index=IndexFacts(present=True),
        backend=BackendFacts(vectors="native", embedder="up", fts5=True),
    )
    faults = {
        Area.INDEXING: replace(well, index=IndexFacts(present=True, words_missing=5)),
        Area.RECALL: replace(well, backend=BackendFacts(vectors="off", embedder="down")),
        Area.LOADING: replace(well, standing=StandingFacts(critical=50, critical_loaded=8, budget=50_000)),
    }
    red = [area for area, facts in faults.items() if _fails(facts, area) and not _fails(well, area)]
    index = project.workspace.index_path
    aside = index.rename(index.with_name("aside"))
    try:
        seen = json_of(project("health", "--json"))
    finally:
        aside.rename(index)
    told = seen["areas"]["indexing"] == "fail" and seen["exit_code"] == int(Level.FAIL)
    what = "fails" if told else "passes"
    return len(red) == len(
        faults
    ) and told, f"red when broken: {', '.join(red)}; without an index 'recall health' {what}"


def _fails(facts: Facts, area: Area) -> bool:
    return assess(facts).area(area) is Level.FAIL


def privacy(project: Project) -> Seen:
    """What is private reaches no other agent, what is forgotten is in no byte, what is excluded is never taken in."""
    file = project.say("secret", [(f"the key is {CANARY}", "noted")])
    project("sync")
    project("index", "--words-only")
    project("memory", "add", "Ana's private number is 555-0199", "--private", *ACTOR)
    project("index", "--words-only")
    mine = "555-0199" in project("memory", "list", "--json").out
    theirs = "555-0199" in project("query", "Ana's private number", "--audience", "peer", "--json").out
    held = CANARY.encode() in log_file(project).read_bytes()
    file.unlink()
    project("forget", CANARY, "--authorised")
    home = project.workspace.home
    left = sum(CANARY.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    told = any(event.type == "redaction" for event in Log(project.workspace).read())
    whole = told and project("verify").code == 0
    project("exclude", str(project.root))
    project.say("excluded", [("the boat is called wigeon-77", "noted")])
    project("sync")
    taken = b"wigeon-77" in log_file(project).read_bytes()
    project("exclude", str(project.root), "--remove")
    well = mine and not theirs and held and not left and whole and not taken
    kept = f"a private memory is {'kept from' if not theirs else 'told to'} a peer"
    forgotten = f"forgotten words in {left} files, the chain {'whole' if whole else 'broken'}"
    return well, f"{kept}; {forgotten}; excluded: {'taken in' if taken else 'not taken in'}"


def handoff(project: Project) -> Seen:
    """A handoff is made from the record alone, and says what is next and what was not tested."""
    project("task", "add", "Calibrate pier 3", *ACTOR)
    project("question", "ask", "Who reads pier 4?", *ACTOR)
    project("outcome", "the new parser", "--status", "untested", *ACTOR)
    views = project.root / ".recall" / "views"
    for path in views.iterdir():
        path.unlink()
    sections = json_of(project("handoff", "--json"))["sections"]
    project("project")
    wanted = {
        "Immediate next actions": "Calibrate pier 3",
        "Open threads": "Who reads pier 4?",
        "Not claimed and not tested": "the new parser",
    }
    there = [name for name, words in wanted.items() if any(words in line for line in sections[name])]
    return len(there) == len(wanted), f"without its views: {', '.join(there) or 'nothing'}"


MINIMAL: tuple[Claim, ...] = (
    Claim("identity, user and project are told to every session", "LCA-C-01, LCA-4.1-01", standing_context),
    Claim("the history is appended to and is the authority", "LCA-C-02, ESAA-02", append_only),
    Claim("memory is structured and changed by a governed way", "LCA-C-03, LCA-4.3-08", governed),
    Claim("the index points to its sources", "LCA-C-04, LCA-4.2-08", pointers),
    Claim("recall ranks beyond the latest message", "LCA-C-05b, LCA-C-05", beyond_latest),
    Claim("a floor of likeness and a budget of tokens", "LCA-C-06, LCA-5.4-01, LCA-5.3-04", floor_and_budget),
    Claim("pruning deletes no history", "LCA-C-07, LCA-4.2-03", pruning),
    Claim("checkpoints are verified as a whole", "LCA-C-08, LCA-4.3-12", checkpoint),
    Claim("health of indexing, recall and loading", "LCA-C-09, LCA-4.6-09", health),
    Claim("privacy can be controlled", "LCA-C-10, LCA-12.6-01, LCA-12.2-02", privacy),
    Claim("another agent goes on from a handoff", "LCA-C-11, LCA-6.5-04", handoff),
)
