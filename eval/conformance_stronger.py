"""The 14 items that a stronger implementation adds (LCA, Appendix C), each shown by running it on a made-up project.

What a piece of it would need that is not there (a model) leaves the item unknown. What an item does not cover stands
beside it, whether it holds or not.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval.conformance_item import ACTOR, Claim, Item, Project, Seen, json_of, rows, run
from eval.incidents import FRESHNESS, false_alarms, replay_all
from indexer import damage
from indexer.store import Store
from indexer.writer import watermark
from transcript.log import Log
from transcript.telling import counted

BOAT = "The dinghy was painted crimson before the regatta."
MEANT = "The small boat's colour"  # shares no word with it
CODED = "Part QX-7741 goes into the third drawer."
NAMED = "QX-7741"
WINCH = "which winch near the gauge is greased with lithium soap"  # a gauge is in neither: they do not tie
REVIEWER = """
import json, sys
asked = json.load(sys.stdin)
verdict = sys.argv[1]
finding = {
    "severity": "critical",
    "evidence_pointer": asked["sources"][0]["pointer"] if asked["sources"] else "",
    "text": "the source says otherwise",
    "kind": "support",
}
findings = [finding] if verdict == "refuted" else []
print(json.dumps({"protocol": "recall-review/1", "reviewer": "made-up", "verdict": verdict, "findings": findings}))
"""
COSTS = (
    "at", "machine", "transcript_bytes", "index_bytes", "index_share", "bytes_per_chunk", "bytes_per_session",
    "bytes_per_session_hour", "recalled", "standing", "latency_ms",
)  # fmt: skip
RIVALS = ("latest messages", "FTS5", "FTS5, all text")
NEWEST = (
    "of statements that each hold all of a prompt's words and risk the same the newest comes first, whatever its {}"
)
FOUND = "turn any@6"  # a source among the first six


def stronger(project: Project) -> Iterator[Item]:
    """Run the 14 items and yield each when it is known; what raises does not hold."""
    return run(STRONGER, project)


def hybrid(project: Project) -> Seen:
    """A passage that shares no word with the question is found by its vector, a code by its letters."""
    take_in(project, "boats", (("What was done before the regatta?", BOAT), ("Where do parts go?", CODED)))
    by_words = [row["text"] for row in rows(project, MEANT)]
    indexed = project("index", "--json")
    if not json_of(indexed)["vectors"]:
        return None, f"no vectors can be made here: {indexed.err.strip().splitlines()[-1]}"
    meant, named = (
        [json.loads(line) for line in project("query", question, "--json").out.splitlines()]
        for question in (MEANT, NAMED)
    )
    near = next((row for row in meant if row["text"] == BOAT and row["cosine"] and not row["matched"]), None)
    exact = next((row for row in named[:1] if row["text"] == CODED and row["matched"]), None)
    alone = BOAT not in by_words
    return near is not None and exact is not None and alone, (
        f"without a common word: {'found at cosine ' + format(near['cosine'], '.2f') if near else 'not found'}, "
        f"by words {'not found' if alone else 'found'}; {NAMED}: {'first, by its letters' if exact else 'not first'}"
    )


def experiential(project: Project) -> Seen:
    """Of two memories the one that proved itself comes first, though its words are not nearer."""
    for text in ("The winch is greased with lithium soap", "The spare winch drum is greased with lithium soap"):
        project("memory", "add", text, *ACTOR)
    first, second = _memories(project, WINCH)[:2]
    project("outcome", "it turned without a sound", "--status", "verified", "--evidence", second["event"], *ACTOR)
    after = _memories(project, WINCH)
    raised = after[0]
    well = raised["event"] == second["event"] and raised["terms"]["E"] > 0 == second["terms"]["E"]
    return well and after[1]["event"] == first["event"], (
        f"after a verified outcome the second of two is {'first' if well else 'not first'}, "
        f"E {second['terms']['E']:.2f} -> {raised['terms']['E']:.2f}"
    )


def role_and_task(project: Project) -> Seen:
    """The memory of the role or the task at work comes first, whichever of the two that is."""
    roles = project.root / ".recall" / "identity" / "roles"
    roles.mkdir(parents=True, exist_ok=True)
    (roles / "keeper.md").write_text("You keep the lock.\n", "utf-8")
    (roles / "diver.md").write_text("You dive.\n", "utf-8")
    for who, what in (("keeper", "rung by hand"), ("diver", "silent by order")):
        project("memory", "add", f"The harbour bell is {what}", "--for", who, *ACTOR)
    for task, what in (("T7", "hoisted at dawn"), ("T8", "mended by the sailmaker")):
        project("memory", "add", f"The pier flag is {what}", "--tag", f"task:{task}", *ACTOR)
    bell, flag = "the harbour bell beside the gauge", "the pier flag beside the gauge"
    seen: list[str] = []
    for words, question in (
        (("keeper",), bell),
        (("diver",), bell),
        (("keeper", "--task", "T7"), flag),
        (("keeper", "--task", "T8"), flag),
    ):
        project("role", "use", *words)
        seen.append(_memories(project, question)[0]["text"].split()[-1])
    project("role", "none", "--all")
    return seen == ["hand", "order", "dawn", "sailmaker"], (
        f"first as keeper: {seen[0]}, as diver: {seen[1]}; at task T7: {seen[2]}, at T8: {seen[3]}"
    )


def by_authority(project: Project) -> Seen:
    """Of three that say the same of a thing, a decision comes first and a stranger's word last."""
    file = take_in(project, "kite", (("What about the kite?", "The kite is stored upright in the loft"),))
    pointer = next(
        row["pointer"] for row in rows(project, "the kite is stored in the loft") if "upright" in row["text"]
    )
    project("decide", "The kite is stored folded in the loft", "--evidence", pointer, *ACTOR)
    channel = ("--channel", "harbour", "--category", "review", "--actor", "heron", "--as", "agent")
    project("observe", "The kite is stored rolled in the loft", *channel)
    project("index", "--words-only")
    found = [row for row in rows(project, "the kite is stored in the loft") if "The kite" in row["text"]]
    file.unlink()
    told = [(row["source"], row["terms"]["A"]) for row in found]
    return told == [("curated", 1.0), ("final", 0.5), ("external", 0.2)], (
        "; ".join(f"{source} (A {value:.2f})" for source, value in told) or "none of them found"
    )


def independent_review(project: Project) -> Seen:
    """What a reviewer of its own process refutes becomes no memory; what it does not refute does."""
    program = project.data / "reviewer.py"
    program.write_text(REVIEWER, "utf-8")
    config = project.root / ".recall" / "config.toml"
    before = config.read_text("utf-8")
    became = {}
    for verdict, bird in (("refuted", "heron"), ("not_refuted", "plover")):
        command = shlex.join((sys.executable, str(program), verdict))
        config.write_text(f'{before}\n[reviewer]\nkind = "command"\ncommand = {json.dumps(command)}\n', "utf-8")
        take_in(project, f"buoy-{bird}", ((f"please always paint the {bird} buoy green", "done"),))
        project("checkpoint")
        kept = [json.loads(line) for line in project("memory", "list", "--json").out.splitlines()]
        became[verdict] = any(f"{bird} buoy" in one["statement"] for one in kept)
    config.write_text(before, "utf-8")
    said = {verdict: "became a memory" if kept else "became none" for verdict, kept in became.items()}
    return became == {"refuted": False, "not_refuted": True}, (
        f"refuted by a reviewer: {said['refuted']}; not refuted: {said['not_refuted']}"
    )


def validity(project: Project) -> Seen:
    """What was replaced or has run out is told no more; it stays, with its interval and what took its place."""
    take_in(project, "ferry", (("Has the ferry moved?", "The ferry sails from quay 7 now."),))
    shown = next(row["pointer"] for row in rows(project, "ferry sails from quay 7") if "quay 7" in row["text"])
    held = ("--valid-from", "2026-01-01")
    made = json_of(project("memory", "add", "The ferry sails from quay 2", *held, *ACTOR, "--json"))["events"]
    old = next(event["id"] for event in made if event["type"] == "memory.written")
    past = ("The tug moors at quay 5", *held, "--valid-to", "2026-02-01")
    project("memory", "add", *past, *ACTOR)
    project("memory", "correct", old, "The ferry sails from quay 7", "--because", shown, *ACTOR)
    texts = [row["text"] for row in _memories(project, "from which quay does the ferry sail, where does the tug moor")]
    told = [text.splitlines()[0] for text in texts]
    gone = not any("quay 2" in text or "quay 5" in text for text in told)
    one = json_of(project("memory", "show", old, "--json"))
    closed = bool(one["valid_from"] and one["valid_to"] and one["superseded_by"])
    opens = closed and project("memory", "show", one["superseded_by"]).code == 0
    return gone and opens and any("quay 7" in text for text in told), (
        f"current: {', '.join(told) or 'nothing'}; the old one: valid [{one['valid_from'][:10]}, "
        f"{one['valid_to'][:10]}), replaced by {one['superseded_by'][:10] or 'nothing'}"
    )


def backfill(project: Project) -> Seen:
    """Sessions that an index passed over come in afterwards, once; built anew from the record it holds the same."""
    project.say("late", (("Which sluice leaks?", "The ninth sluice leaks at spring tide."),))
    project("sync")
    end = next(Log(project.workspace).read_back()).position
    with Store.open(project.workspace.index_path, "w") as store:
        damage.pretend_read(store, watermark(end))
    project("index", "--words-only")
    missed = not _says(project, "which sluice leaks", "ninth sluice")
    since = ("index", "backfill", "--since", "2026-01-01", "--words-only", "--json")
    first, again = json_of(project(*since)), json_of(project(*since))
    came = _says(project, "which sluice leaks", "ninth sluice")
    before = rows(project, "which sluice leaks")
    for file in project.workspace.index_path.parent.glob("index.sqlite*"):
        file.unlink()
    project("index", "--words-only")
    same = [row["pointer"] for row in rows(project, "which sluice leaks")] == [row["pointer"] for row in before]
    return missed and came and first["inserted"] > 0 == again["inserted"] and same, (
        f"backfill: {counted(first['inserted'], 'passage')} that had been passed over, again: {again['inserted']}; "
        f"built anew it answers with {'the same' if same else 'other'} pointers"
    )


def surfaces(project: Project) -> Seen:
    """Sessions on several surfaces that name one key are one talk, in the order of time, and are recalled together."""
    key = "made-up-boat"
    said = {
        "web": (11, "The tug Heron tows buoy 12."),
        "cli": (10, "Buoy 12 is adrift."),
        "tui": (12, "Buoy 12 is back."),
    }
    for surface, (hour, text) in said.items():
        asked = f"What about the buoy, on {surface}?"
        project.say(f"boat-{surface}", ((asked, text),), hour=hour, surface=surface, session_key=key)
        project("sync")
    project("index", "--words-only")
    lines = project("context", "--session-key", key, "--json").out.splitlines()
    talk = [turn["text"] for turn in map(json.loads, lines) if turn.get("actor") == "assistant"]
    recalled = [row["session"] for row in rows(project, "buoy 12 tug adrift back")]
    together = {f"boat-{surface}" for surface in said} <= set(recalled)
    own = sum("session_key" in event.body for event in Log(project.workspace).read() if event.agent == "claude-code")
    return talk == [said[name][1] for name in ("cli", "web", "tui")] and together, (
        f"one talk of {counted(len(talk), 'answer')} from {counted(len(said), 'surface')}, recalled "
        f"{'together' if together else 'apart'}; events of a client's own sessions with a key: {own}"
    )


def workers(project: Project) -> Seen:
    """What a sub-agent said is found, as its own and of the session it worked for, below what the session said."""
    project.say("sill", (("measure the sill", "The sill of lock 3 is 412 cm deep."),), parent_session="kite")
    project("sync")
    project("index", "--words-only")
    found = next((row for row in rows(project, "how deep is the sill of lock 3") if "412 cm" in row["text"]), None)
    if found is None:
        return False, "what the sub-agent said is not found"
    whose = json_of(project("show", found["pointer"], "--json"))["event"]
    plainly = project("context", "--session", "kite").out
    apart = "412 cm" not in plainly and "412 cm" in project("context", "--session", "kite", "--include-workers").out
    well = found["source"] == "worker" and whose["worker_id"] == "sill" and whose["session"] == "kite" and apart
    return well and found["terms"]["A"] < 0.5, (
        f"found as {found['label']} of session {whose['session']} (A {found['terms']['A']:.2f}); "
        f"{'no turn of' if apart else 'mixed into'} that session's own talk"
    )


def review_channels(project: Project) -> Seen:
    """What another agent says on a channel is recorded as its word and changes nothing; nor can it approve."""
    take_in(project, "gate", (("How wide is the gate?", "The gate is 9 m wide."),))
    channel = ("--channel", "harbour", "--category", "challenge", "--ref", "m-17")
    project("observe", "The gate is 8 m wide", *channel, "--actor", "heron", "--as", "agent")
    project("index", "--words-only")
    found = next((row for row in rows(project, "how wide is the gate") if "8 m" in row["text"]), None)
    who = json_of(project("show", found["pointer"], "--json"))["event"] if found else {}
    facts = [line for line in project("memory", "list").out.splitlines() if "gate" in line]
    summary = ("--summary", "The gate is 8 m wide", "--evidence", found["pointer"] if found else "none")
    proposed = json_of(project("coord", "propose", "add", *summary, "--json"))["id"]
    waits = [one["proposal_id"] for one in json_of(project("coord", "read", "--json"))["pending"]]
    by_agent = ("approve", "--rationale", "it is so", "--as", "agent", "--actor", "heron")
    refused = project("coord", "decide", proposed, *by_agent).code != 0
    shared = (project.root / ".coord" / "memory.yml").exists()
    named = found is not None and found["source"] == "external" and who.get("author", who.get("actor")) == "heron"
    said = "with its author" if named else "without its author"
    kept = "waits for a person" if proposed in waits else "is lost"
    return named and not facts and proposed in waits and refused and not shared, (
        f"an objection is recorded {said}, {'as a fact' if facts else 'not as a fact'}; a proposal {kept}, "
        f"an agent's approval {'is refused' if refused else 'counts'}"
    )


def drift(project: Project) -> Seen:
    """Old hooks, failed embeddings, an unknown schema, an overfull context and copies are named; nothing else is."""
    replayed, alarms = replay_all(FRESHNESS), false_alarms()
    missed = [one.id for one in replayed if one.faults]
    return bool(replayed) and not missed and not alarms, (
        f"{len(replayed) - len(missed)} of {len(replayed)} planted faults named"
        f"{' (not: ' + ', '.join(missed) + ')' if missed else ''}, {counted(len(alarms), 'false alarm')}"
    )


def no_copies(project: Project) -> Seen:
    """Indexing again, all of it again, and a session that stands in two files add no row."""
    file = take_in(project, "fork", (("Which mast is cracked?", "The mizzen mast is cracked."),))
    before = _stored(project)
    shutil.copyfile(file, file.with_name("fork-copied.jsonl"))
    project("sync")
    project("index", "--words-only")
    project("index", "backfill", "--since", "2026-01-01", "--words-only")
    after = _stored(project)
    copied = next(one for one in json_of(project("health", "--json"))["signals"] if one["id"] == "duplicate_rows")
    return after == before > 0 == copied["value"], (
        f"{before} passages, {after} after indexing everything again and a forked session; {copied['text']}"
    )


def published_cost(project: Project) -> Seen:
    """Sizes, growth, tokens told and carried, and latency are published, with date and machine."""
    identity = project.root / ".recall" / "identity" / "IDENTITY.md"
    if not identity.exists():
        identity.parent.mkdir(parents=True, exist_ok=True)
        identity.write_text("# Identity\n\nA keeper of tides.\n", "utf-8")
    project.hook("costs")
    project.hook("costs", "why sqlite and not postgres, and which commit fixed the one-hour bug on the pi?")
    cost = json_of(project("health", "--cost", "--json"))
    spreads = {name: cost[name] for name in ("recalled", "standing", "latency_ms")}
    missing = [name for name in COSTS if cost[name] is None or (name in spreads and spreads[name]["median"] is None)]
    if missing:
        return False, f"missing: {', '.join(missing)}"
    recalled, standing, latency = (spreads[name] for name in ("recalled", "standing", "latency_ms"))
    return cost["turns"] > 0 < recalled["sum"], (
        f"{recalled['median']:,.0f} tokens recalled of at most {project.budget}, beside {standing['median']:,.0f} "
        f"standing a turn; p95 {latency['p95']:,.0f} ms; {cost['at'][:10]}, {cost['machine']['system']}"
    )


def continuity_evals(project: Project) -> Seen:
    """The project's own past is asked and scored beside plain ways, with intervals, date and machine."""
    made = json_of(project("eval", "self", "--words-only", "--json"))
    found = {name: one["figures"]["all"][FOUND] for name, one in made["engines"].items()}
    ours = found["recall"]
    beaten = [name for name in RIVALS if ours["value"] > found[name]["value"]]
    dated = bool(made["machine"]["processor"] and made["settings_hash"] and made["questions"])
    return dated and ours["low"] <= ours["value"] <= ours["high"] and beaten == list(RIVALS), (
        f"{made['questions']} questions to its own past: {ours['value']:.0%} [{ours['low']:.0%}, {ours['high']:.0%}], "
        f"by words alone {found['FTS5']['value']:.0%}, by the latest messages {found['latest messages']['value']:.0%}"
    )


STRONGER: tuple[Claim, ...] = (
    Claim("words and vectors search together", "LCA-C-12, LCA-5.1-01", hybrid),
    Claim(
        "what proved itself weighs more",
        "LCA-C-12, LCA-5.2.2-01",
        experiential,
        NEWEST.format("E"),
    ),
    Claim("recall goes by role and task", "LCA-C-12, LCA-5.2.5-01", role_and_task, NEWEST.format("task")),
    Claim("sources rank by their authority", "LCA-C-12, LCA-5.2.4-01", by_authority),
    Claim(
        "memories are verified independently",
        "LCA-C-12, LCA-4.3-08",
        independent_review,
        "no reviewer is set by default: until one is, computed checks verify alone",
    ),
    Claim("validity intervals and supersession", "LCA-C-12, LCA-4.3-03, LCA-4.3-04", validity),
    Claim("transcripts can be indexed afterwards", "LCA-C-12, LCA-10.6-04", backfill),
    Claim(
        "one session on several surfaces",
        "LCA-C-12, LCA-4.7-01",
        surfaces,
        "only where a tool names the key: agents' clients name none, so their sessions stay apart and share the record",
    ),
    Claim("sub-agents are indexed as their own", "LCA-C-12, LCA-4.7-05", workers),
    Claim(
        "other agents review over channels",
        "LCA-C-12, LCA-4.7-03",
        review_channels,
        "messages are recorded and proposals handed over; nothing carries messages between agents",
    ),
    Claim("drift is detected", "LCA-C-12, LCA-10.6-01", drift),
    Claim("writers of the index store nothing twice", "LCA-C-12, LCA-D-11J", no_copies),
    Claim("cost and latency are published", "LCA-C-12, LCA-12.1-01", published_cost),
    Claim(
        "continuity is evaluated",
        "LCA-C-12",
        continuity_evals,
        "computed measures on the record; no person has judged whether agents behave more continuously",
    ),
)


def take_in(project: Project, session: str, exchanges: tuple[tuple[str, str], ...]) -> Path:
    """Let a session be held, take it in and index its words; return its file."""
    file = project.say(session, exchanges)
    project("sync")
    project("index", "--words-only")
    return file


def _memories(project: Project, question: str) -> list[dict[str, Any]]:
    project("index", "--words-only")
    return [row for row in rows(project, question) if row["source"] in ("memory", "inference", "curated")]


def _says(project: Project, question: str, words: str) -> bool:
    return any(words in row["text"] for row in rows(project, question))


def _stored(project: Project) -> int:
    with Store.open(project.workspace.index_path, "r") as store:
        return store.meta().n_chunks
