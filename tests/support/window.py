"""A labelled session whose live window holds one of each kind, and what plans are made with."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from recall.governance_settings import WindowSettings
from recall.pressure import RECORD, Pressure
from recall.window import Piece, pieces
from recall.window_host import given
from recall.window_items import of_record
from support.dialogue import Dialogue
from transcript.log import Log

SLIDING = WindowSettings(policy="sliding", thresholds="0.6 0.75 0.9", keep_exchanges=6, margin_tokens=0)


def words(text: str) -> int:
    """Count a token for every word: figures that a reader can check."""
    return len(text.split())


def full(tokens: int, window: int = 1000) -> Pressure:
    """A window of which so many tokens are filled."""
    return Pressure(tokens, RECORD, given(window))


@dataclass
class Labelled:
    """A session with the events of each label; what stands under no label are the last six exchanges."""

    log: Log
    events: dict[str, list[str]] = field(default_factory=dict)

    def pieces(self, session: str = "s1", **more: object) -> list[Piece]:
        """The pieces of the window, everything of it indexed unless said otherwise."""
        items = of_record(self.log, session, words).items
        given_more = {"indexed": {item.id for item in items}, "watermark": 1_000_000} | more
        return pieces(items, **given_more)  # type: ignore[arg-type]


def labelled(folder: Path) -> Labelled:
    """Build it: of each kind of exchange one, then six that are recent, the last one unanswered."""
    talk, found = Dialogue(), {}

    def label(name: str) -> None:
        held = {event for events in found.values() for event in events}
        found[name] = [draft.id for draft in talk.drafts if draft.id not in held]

    talk.prompt("From now on, never force-push to main.")
    label("instruction")
    talk.reply("I will not.")
    label("answer to it")
    talk.prompt("Why is the table called crane?")
    talk.reply("After the bird; it has no meaning.")
    label("old conversation")
    talk.prompt("And the other one, heron?")
    talk.reply("The same.")
    label("later conversation")
    talk.call("Read", {"file_path": "big.txt"}, "line " * 900)
    result = talk.drafts[-1].id
    label("read")
    found["read"].remove(result)
    found["large result"] = [result]
    talk.call("Grep", {"pattern": "crane"}, "three hits")
    label("search")
    talk.bash("pytest", "2 failed", fails=True)
    label("failed command")
    talk.edit("src/a.py")
    label("older change")
    talk.edit("src/a.py")
    label("last change")
    talk.bash("git push origin main", "done")
    label("push")
    talk.call("TodoWrite", {"todos": ["one", "two"]}, "ok")
    label("list of work")
    for number in range(5):
        talk.prompt(f"Recent question {number}?")
        talk.reply(f"Recent answer {number}.")
    label("recent")
    talk.prompt("Now look at the last thing.")
    talk.event("tool_call", {"tool": "Read", "call_id": "open", "input": {"file_path": "c.txt"}}, actor="assistant")
    label("in flight")
    return Labelled(talk.log(folder), found)


def with_policy(policy: str) -> WindowSettings:
    """The settings of the tests under another policy."""
    return replace(SLIDING, policy=policy)
