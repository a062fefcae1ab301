"""What can go wrong and what the user can do about it.

RecallError
├── ConfigError          a setting is unknown, out of range or unreadable
├── WorkspaceError       no workspace for this folder, or a place that cannot hold one
├── RecordError          the record cannot be read or written as it stands
│   └── RecordNewer      written by a newer version
├── PointerError         a source pointer names nothing, or more than one thing
│   └── SpanChanged      its words are others than when it was taken
├── CurationError        a decision, a task or the like cannot be recorded as it was said
├── CoordError           a proposal or the canonical memory is not as it must be; carries a code and a field
│   └── KeyFault         a signing key is missing, exposed, unknown or revoked
├── DraftFailed          a drafter did not answer, or not in the form that was asked for
├── ReviewFailed         a reviewer did not answer, or not in the form that was asked for
├── LockBusy             another process holds the lock
├── BackupError          a backup cannot be made, is not as its manifest says, or cannot be restored here
│   └── BackupNewer      made by a newer version
├── CaptureError         a source of transcripts cannot be taken in
├── HookInstallError     a harness's settings cannot be changed
├── ServiceError         the resident service does not start, or does not end
├── ScheduleError        the system's scheduler cannot be asked, or refuses a change
├── NotConfirmed         a question was answered with no, or nobody was there to answer
├── StoreError           the index
│   ├── IndexMissing     nothing indexed yet
│   ├── IndexNewer       written by a newer version
│   └── IndexUnreadable  damaged, or no permission
└── EmbedderUnavailable  the model is missing, altered or cannot be loaded

A message says what, with which value, and what to do next, in one line.
"""

MAX_MESSAGE = 200


class RecallError(Exception):
    """Base of every failure a user can act on; the command line prints it as one line."""


class ConfigError(RecallError):
    """A setting is unknown, out of range or unreadable."""


class WorkspaceError(RecallError):
    """No workspace for this folder, or a place that cannot hold one."""


class RecordError(RecallError):
    """The record cannot be read or written as it stands."""


class RecordNewer(RecordError):
    """The record was written by a newer version."""


class PointerError(RecallError):
    """A source pointer names nothing, or more than one thing."""


class SpanChanged(PointerError):
    """The words of a span are others than when it was taken."""


class CurationError(RecallError):
    """A decision, a task or the like cannot be recorded as it was said."""


class CoordError(RecallError):
    """A proposal or the canonical memory is not as it must be: `code` says what, `field` where, never the content."""

    def __init__(self, code: str, field: str, message: str) -> None:
        super().__init__(clip(message))
        self.code = code
        self.field = field


class KeyFault(CoordError):
    """A signing key is missing, too short, exposed, somebody else's, unknown or revoked."""


class DraftFailed(RecallError):
    """A drafter did not answer, or not in the form that was asked for."""


class ReviewFailed(RecallError):
    """A reviewer did not answer, or not in the form that was asked for."""


class LockBusy(RecallError):
    """Another process holds the lock."""


class BackupError(RecallError):
    """A backup cannot be made, is not as its manifest says, or cannot be restored here."""


class BackupNewer(BackupError):
    """The backup was made by a newer version."""


class CaptureError(RecallError):
    """A source of transcripts cannot be taken in."""


class HookInstallError(RecallError):
    """A harness's settings cannot be changed."""


class ServiceError(RecallError):
    """The resident service does not start, or does not end."""


class ScheduleError(RecallError):
    """The system's scheduler cannot be asked, or refuses a change."""


class PackError(RecallError):
    """A pack is not as its manifest says, or cannot be installed or removed."""


class NotConfirmed(RecallError):
    """A question was answered with no, or nobody was there to answer."""


class StoreError(RecallError):
    """The index cannot be used."""


class IndexMissing(StoreError):
    """Nothing is indexed yet."""


class IndexNewer(StoreError):
    """The index was written by a newer version."""


class IndexUnreadable(StoreError):
    """The index is damaged or may not be read."""


class EmbedderUnavailable(RecallError):
    """The embedding model is missing, altered or cannot be loaded."""


def clip(message: str, limit: int = MAX_MESSAGE) -> str:
    """Return message in at most limit characters, on one line."""
    line = " ".join(message.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
