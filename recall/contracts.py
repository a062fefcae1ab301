"""What each harness sends to a hook and takes from it: one entry a harness, as live runs of the real clients showed it.

On the hook path: standard library only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

PROMPT = "UserPromptSubmit"
START = "SessionStart"
EVENTS = (PROMPT, START, "Stop", "SessionEnd", "SubagentStop", "PreCompact")

# Keys that some harnesses send and others never do. A payload with one that its harness does not send is another's.
MARKS = frozenset(
    {
        "session_id",
        "sessionId",
        "conversation_id",
        "hook_event_name",
        "hookEventName",
        "turn_id",
        "submitted_prompt",
        "permission_mode",
        "timestamp",
        "harness",
    }
)
# Forms of an answer.
SPECIFIC = "hookSpecificOutput.additionalContext"  # with the event's own name beside it
TOP = "additionalContext"
CONTINUE = "continue, additional_context"

_SAME = {event: event for event in EVENTS}
_SNAKE = {
    "session": "session_id",
    "cwd": "cwd",
    "prompt": "prompt",
    "agent": "agent_id",
    "source": "source",
    "call": "prompt_id",
    "transcript": "transcript_path",
}
_CAMEL = {
    "session": "sessionId",
    "cwd": "cwd",
    "prompt": "prompt",
    "agent": "subagentType",
    "source": "source",
    "call": "promptId",
    "transcript": "transcriptPath",
}


@dataclass(frozen=True, slots=True)
class Contract:
    """One harness's payloads and answers.

    `events` maps its names of events to ours. Where the payload does not name its event (`name` is ""), the first key
    of `told_by` that it holds tells. `sends` are the marks that a payload may hold, `always` the keys that each one
    holds. An event in `only` comes far more often than what it stands for: it counts with this key and value alone.
    """

    harness: str
    events: Mapping[str, str]
    keys: Mapping[str, str]
    sends: tuple[str, ...]
    always: tuple[str, ...]
    name: str = "hook_event_name"
    told_by: tuple[tuple[str, str], ...] = ()
    only: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rollouts: bool = False  # its sessions are files named `rollout-...`, nobody else's are
    shape: str = ""  # of an answer; "" where the harness takes none
    answers: tuple[str, ...] = ()  # our events that may be answered
    opens_with_prompt: bool = False  # loses what its session's start is told: the first prompt's answer brings it
    repeats: bool = False  # asks again with an empty prompt after a tool call
    tells_compaction: bool = (
        True  # by the session's start with source "compact"; else only the event before it is known
    )
    tells_facets: bool = False  # its payloads may name role, channel, audience, command, skill and task
    wraps: str = ""  # the tag around the context of the session's start, which it puts in front of the prompt itself

    def native(self, event: str) -> str:
        """Return this harness's name of one of our events."""
        return next((theirs for theirs, ours in self.events.items() if ours == event), event)


def _extension(harness: str) -> Contract:
    """A harness that runs an extension file of ours, which sends our own neutral payload."""
    return Contract(
        harness,
        events=_SAME,
        keys=_SNAKE,
        sends=("session_id", "hook_event_name", "harness"),
        always=("session_id", "hook_event_name", "harness"),
        tells_compaction=harness != "cline",
        tells_facets=True,
        shape=TOP,
        answers=(PROMPT, START),
    )


CONTRACTS = {
    contract.harness: contract
    for contract in (
        Contract(
            "claude-code",
            events=_SAME,
            keys=_SNAKE,
            sends=("session_id", "hook_event_name", "permission_mode"),
            always=("session_id", "hook_event_name"),
            shape=SPECIFIC,
            answers=(PROMPT, START),
        ),
        Contract(
            "codex",
            events=_SAME,
            keys={**_SNAKE, "call": "turn_id"},
            sends=("session_id", "hook_event_name", "turn_id", "permission_mode"),
            always=("session_id", "hook_event_name", "transcript_path"),
            rollouts=True,
            shape=SPECIFIC,
            answers=(PROMPT, START),
        ),
        Contract(
            "gemini-cli",
            events={
                "BeforeAgent": PROMPT,
                START: START,
                "AfterAgent": "Stop",
                "SessionEnd": "SessionEnd",
                "PreCompress": "PreCompact",
            },
            keys=_SNAKE,
            sends=("session_id", "hook_event_name", "timestamp"),
            always=("session_id", "hook_event_name", "timestamp", "transcript_path"),
            only={"PreCompress": ("trigger", "manual")},  # with "auto" it comes before each request of the model
            tells_compaction=False,
            shape=SPECIFIC,
            # What a start is told stands in front of the first prompt, and a resume drops such a prompt altogether.
            answers=(PROMPT,),
            opens_with_prompt=True,
            repeats=True,
            wraps="hook_context",
        ),
        Contract(
            "qwen-code",
            events=_SAME,
            keys=_SNAKE,
            sends=("session_id", "hook_event_name", "timestamp", "permission_mode", "submitted_prompt"),
            always=("session_id", "hook_event_name", "timestamp", "permission_mode", "transcript_path"),
            shape=SPECIFIC,
            answers=(PROMPT,),  # what a start is told is gone from a resumed session
            opens_with_prompt=True,
            repeats=True,
        ),
        Contract(
            "copilot-cli",
            events={
                "userPromptSubmitted": PROMPT,
                "sessionStart": START,
                "agentStop": "Stop",
                "sessionEnd": "SessionEnd",
                "subagentStop": "SubagentStop",
                "preCompact": "PreCompact",
            },
            tells_compaction=False,
            keys={**_CAMEL, "agent": "agentId"},
            sends=("sessionId", "timestamp"),
            always=("sessionId", "timestamp"),
            name="",
            told_by=(
                ("prompt", "userPromptSubmitted"),
                ("agentName", "subagentStop"),
                ("stopReason", "agentStop"),
                ("trigger", "preCompact"),
                ("source", "sessionStart"),
                ("reason", "sessionEnd"),
            ),
            shape=TOP,
            answers=(PROMPT,),  # what a start is told is gone from a resumed session
            opens_with_prompt=True,
        ),
        Contract(
            "cursor",
            events={
                "beforeSubmitPrompt": PROMPT,
                "sessionStart": START,
                "stop": "Stop",
                "sessionEnd": "SessionEnd",
                "subagentStop": "SubagentStop",
                "preCompact": "PreCompact",
            },
            tells_compaction=False,
            keys={**_SNAKE, "session": "conversation_id", "cwd": "workspace_roots", "call": "generation_id"},
            sends=("conversation_id", "hook_event_name", "session_id"),
            always=("conversation_id", "hook_event_name"),
            shape=CONTINUE,
            answers=(PROMPT, START),
        ),
        Contract(
            "grok-build",
            events={
                "session_start": START,
                "stop": "Stop",
                "session_end": "SessionEnd",
                "subagent_stop": "SubagentStop",
                "pre_compact": "PreCompact",
            },
            tells_compaction=False,
            keys=_CAMEL,
            sends=("sessionId", "hookEventName", "timestamp"),
            always=("sessionId", "hookEventName"),
            name="hookEventName",
        ),
        _extension("pi"),
        _extension("opencode"),
        _extension("cline"),
    )
}
