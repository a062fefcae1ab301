"""Our block in a rules file of a harness that takes nothing from a hook: who it is, where the work stands, how to ask.

The block stands between two marker comments at the end of the file. Everything around it is the user's and keeps every
byte, whatever the line ends; taking the block out gives the bytes from before. It is written anew after each capture,
in the project's files that the registry of hooks lists with the kind "rules".
"""

import errno
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from recall import hook_counters, session_start, session_state, standing_context
from recall.audiences import PROJECT
from recall.governance_settings import NOTHING_CARRIED, StandingSettings
from recall.hook_registry import Installed, registered
from recall.standing_places import places
from recall.turn import bytes_third
from transcript.errors import HookInstallError, RecallError
from transcript.lock import FileLock
from transcript.paths import read_file, secure_dir, write_atomic
from transcript.workspace import Workspace, owner_root

KIND = "rules"
LOCK_SECONDS = 5.0
MOST_BYTES = 9000
_BEGIN = "<!-- recall: begin; written anew after each turn, what is changed in here is lost"
_JOINED = "; the line above had no end"  # then the line end in front of the block is ours
_END = "<!-- recall: end -->"
_BLOCK = re.compile(
    rf"(?:\r?\n(?={re.escape(_BEGIN + _JOINED)}))?"
    rf"(?P<body>{re.escape(_BEGIN)}(?P<joined>{re.escape(_JOINED)})? -->"
    rf"(?:(?!{re.escape(_BEGIN)}).)*?{re.escape(_END)})(?:\r?\n)?",
    re.DOTALL,
)
HOW = """\
# Earlier work in this project

What was said and decided in earlier sessions, of this agent and of others, is on record: `recall query "words"`
searches it, `recall show POINTER` opens a pointer, `recall handoff` says where the work stands."""


def content(
    workspace: Workspace,
    *,
    harness: str,
    most_tokens: int = session_start.TOKENS,
    carried: StandingSettings = NOTHING_CARRIED,
) -> str:
    """Return what stands between the markers: how to ask, what a session always carries, and the short handoff.

    A rules file is the project's: of the standing context it holds what the project may read.
    """
    told = session_start.tell(
        workspace, harness=harness, source="rules", most_bytes=MOST_BYTES, most_tokens=most_tokens
    ).block

    def joined(block: str) -> str:
        return "\n\n".join(filter(None, (HOW, block, told)))

    standing = standing_context.tell(
        standing_context.held(workspace.run_dir),
        places(workspace.data, workspace.root, carried.folders) if carried.told_tokens else (),
        role=session_state.of(workspace.run_dir).role,
        audience=PROJECT,
        now=datetime.now(UTC),
        chars=carried.chars,
        most_tokens=carried.told_tokens,
        fits=lambda block: len(joined(block).encode("utf-8", "surrogatepass")) <= MOST_BYTES,
        count_tokens=bytes_third,
    )
    return joined(standing.block)


def with_block(text: str, block: str) -> str:
    """Return text with this block: in the place of the one it has, else at its end, in the text's own line ends."""
    newline = "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"
    found = _BLOCK.search(text)
    joined = bool(found["joined"]) if found else text.removeprefix("\ufeff") != "" and not text.endswith(("\n", "\r"))
    body = f"{_BEGIN}{_JOINED if joined else ''} -->\n{block}\n{_END}".replace("\n", newline)
    if found:
        return text[: found.start("body")] + body + text[found.end("body") :]
    return f"{text}{newline if joined else ''}{body}{newline}"


def without_block(text: str) -> str:
    """Return text as it was before our block came; what the user wrote around it stays."""
    return _BLOCK.sub("", text)


def has_block(text: str) -> bool:
    """Say whether text holds a block of ours."""
    return _BLOCK.search(text) is not None


def refresh(
    data: Path,
    workspace: Workspace,
    *,
    most_tokens: int = session_start.TOKENS,
    carried: StandingSettings = NOTHING_CARRIED,
) -> list[Path]:
    """Write the block anew in every rules file of this project and return those that changed.

    A file whose block was taken out by hand is left alone, and so is one that is gone, unless it was ours as a whole.
    HookInstallError names a file that cannot be read or written, once the others are done.
    """
    entries = [entry for entry in registered(data) if _is_of(entry, workspace, data)]
    if not entries:
        return []
    changed, wrong = [], ""
    with FileLock(secure_dir(data / "run") / "hooks.lock", timeout=LOCK_SECONDS):
        for entry in entries:
            try:
                block = content(workspace, harness=entry.harness, most_tokens=most_tokens, carried=carried)
                if _renew(entry, block):
                    changed.append(Path(entry.file))
            except (OSError, UnicodeDecodeError) as error:
                wrong = f"{entry.file} keeps its old block: {error}; mend the file or 'recall enable-hooks --remove'"
    if wrong:
        raise HookInstallError(wrong)
    return changed


def keep_up(
    data: Path,
    workspace: Workspace,
    *,
    most_tokens: int = session_start.TOKENS,
    carried: StandingSettings = NOTHING_CARRIED,
) -> int:
    """Refresh behind something else and return how many files changed; one that cannot be written is counted."""
    try:
        return len(refresh(data, workspace, most_tokens=most_tokens, carried=carried))
    except RecallError as error:
        hook_counters.add(data, KIND, f"not_written:{type(error).__name__}")
        return 0


def _is_of(entry: Installed, workspace: Workspace, data: Path) -> bool:
    """Whether this is a rules file of the workspace's project: what a project recorded is told in no other."""
    if entry.kind != KIND or entry.scope != "project":
        return False
    owner, _ = owner_root(Path(entry.file).parent, data)
    return owner is not None and owner.id == workspace.id


def _renew(entry: Installed, block: str) -> bool:
    """Write the file behind a link, not the link, with its mode; say whether a byte changed."""
    file = Path(os.path.realpath(entry.file))
    try:
        before, mode = read_file(file).decode("utf-8"), file.stat().st_mode & 0o7777
        if not has_block(before):
            return False
    except FileNotFoundError:
        if entry.before or not file.parent.is_dir():  # it was the user's, or they took its folder away
            return False
        before, mode = "", 0o600
    after = with_block(before, block)
    if after == before:
        return False
    if not mode & 0o222:
        raise PermissionError(errno.EACCES, "it is read-only", entry.file)
    write_atomic(file, after.encode("utf-8"))
    file.chmod(mode)
    return True
