"""Which file systems can hold an index and a record: local ones; networks and synced folders break locks."""

import os
import sys
from pathlib import Path

from transcript.errors import WorkspaceError

NETWORK_TYPES = frozenset(
    {
        "9p",
        "afpfs",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "drvfs",
        "fuse.davfs2",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb2",
        "smb3",
        "smbfs",
        "webdav",
    }
)
# Sandboxes serve their whole root over 9p: there it is the local disk.
LOCAL_AS_ROOT = frozenset({"9p"})
SYNCED_FOLDERS = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "CloudStorage", "Mobile Documents", "Nextcloud")


def mounts_text() -> str:
    """Return the system's mount table, empty where it has none to read."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def filesystem(path: Path, mounts: str | None = None) -> tuple[str, str]:
    """Return (type, mount point) of the file system that path lies on, empty where that is unknown."""
    real = os.path.realpath(path)
    best = ("", "")
    for line in (mounts_text() if mounts is None else mounts).split("\n"):
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        inside = real == point or real.startswith(point if point.endswith("/") else point + "/")
        if inside and len(point) >= len(best[1]):
            best = (fields[2], point)
    return best


def unsafe_reason(path: Path, mounts: str | None = None) -> str | None:
    """Return why locks and memory maps cannot be trusted at path, None when they can."""
    kind, point = filesystem(path, mounts)
    if kind in NETWORK_TYPES and not (point == "/" and kind in LOCAL_AS_ROOT):
        return f"a network file system ({kind})"
    for part in Path(os.path.realpath(path)).parts:
        if any(part == name or part.startswith(f"{name} - ") for name in SYNCED_FOLDERS):
            return f"a synced folder ({part})"
    return None


def require_local(path: Path, mounts: str | None = None) -> None:
    """Refuse a place that cannot hold the index, with a WorkspaceError."""
    reason = unsafe_reason(path, mounts)
    if reason is not None:
        raise WorkspaceError(f"{path} is on {reason}, which cannot hold an index; set RECALL_HOME to a local folder")
