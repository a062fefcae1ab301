"""What stays out because somebody said so: sessions that capture never takes, prompts that are never indexed.

A transcript does not say which environment it was made in. The hook of a shell with `RECALL_OFF=1`, and whoever starts
a process with `RECALL_CHILD=1`, therefore writes the session's id into a list, one `reason id` a line.

Also imported by the hook's client: nothing but `os`.
"""

import os

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe in its place is no reason to hang

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "RECALL_CHILD"
LIST = "sessions-kept-out"
CHILD = "child"  # recall itself started the process
OPTED_OUT = "opted_out"  # its shell has RECALL_OFF=1
MOST_BYTES = 1 << 20  # some 20,000 sessions; harnesses delete transcripts after weeks
LONGEST_ID = 200
SESSION_KEYS = (b'"session_id"', b'"sessionId"', b'"conversation_id"')  # of the harnesses that run our hook
OPT_OUT = "!norecall"


def is_child(env: "Mapping[str, str]") -> bool:
    """Return whether this process was started by recall itself."""
    return env.get(VARIABLE, "") not in ("", "0")


def opts_out(prompt: str) -> bool:
    """Return whether a prompt asks that its turn stays out."""
    return prompt.lstrip().startswith(OPT_OUT)


def session_in(payload: bytes) -> bytes:
    """Return the value of the first key in a hook's payload that names the session, b"" where there is none.

    Inside a JSON string the quotes around the key would be escaped: what a person wrote is not taken for it.
    """
    for key in SESSION_KEYS:
        for part in payload.split(key)[1:]:
            rest = part.lstrip()
            if rest.startswith(b":"):
                quoted = rest[1:].lstrip()
                return quoted[1:].partition(b'"')[0][: LONGEST_ID + 1] if quoted.startswith(b'"') else b""
    return b""


def keep_out(data: str, session: bytes, reason: str) -> bool:
    """Add a session to the list of the data folder unless it stands there; False for what is no session's id.

    One append, safe against others at the same time. The older half is dropped when the list is full; every hook of a
    running session adds it again.
    """
    if not session or len(session) > LONGEST_ID or len(session.split()) != 1 or session != session.strip():
        return False
    descriptor = os.open(f"{data}/{LIST}", os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_WAIT, 0o600)
    try:
        held = os.read(descriptor, 4 * MOST_BYTES)
        line = reason.encode() + b" " + session + b"\n"
        if b" " + session + b"\n" in held:
            return True
        os.write(descriptor, line if not held or held.endswith(b"\n") else b"\n" + line)
    finally:
        os.close(descriptor)
    if len(held) > MOST_BYTES:
        _shorten(data, held[len(held) // 2 :].partition(b"\n")[2] + line)
    return True


def _shorten(data: str, kept: bytes) -> None:
    part = f"{data}/{LIST}.{os.getpid()}"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, kept)
    finally:
        os.close(descriptor)
    os.replace(part, f"{data}/{LIST}")  # noqa: PTH105 pathlib would cost the hook 10 ms


def kept_out(data: "str | os.PathLike[str]") -> dict[str, str]:
    """Return the sessions that capture never takes, each with its reason."""
    try:
        descriptor = os.open(f"{os.fspath(data)}/{LIST}", os.O_RDONLY | _NO_WAIT)
    except FileNotFoundError:
        return {}
    try:
        held = os.read(descriptor, 8 * MOST_BYTES)
    finally:
        os.close(descriptor)
    words = (line.split(" ") for line in held.decode("utf-8", "replace").split("\n"))
    return {pair[1]: pair[0] for pair in words if len(pair) == 2}
