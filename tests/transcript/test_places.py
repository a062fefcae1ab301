import pytest

from transcript.errors import WorkspaceError
from transcript.places import filesystem, require_local, unsafe_reason

MOUNTS = """\
/dev/vda / ext4 rw 0 0
srv:/home /home/net nfs4 rw 0 0
//srv/share /mnt/my\\040share cifs rw 0 0
me@host: /home/net/ssh fuse.sshfs rw 0 0
C: /mnt/c 9p rw 0 0
/dev/vdb /home/net/local xfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada", "ext4"),
        ("/home/net/x", "nfs4"),
        ("/home/network", "ext4"),
        ("/mnt/my share/x", "cifs"),
        ("/home/net/ssh/x", "fuse.sshfs"),
        ("/mnt/c/Users", "9p"),
        ("/home/net/local/x", "xfs"),
    ],
)
def test_longest_mount_point_decides(path, kind):
    assert filesystem(path, MOUNTS)[0] == kind
    assert (unsafe_reason(path, MOUNTS) is None) == (kind in ("ext4", "xfs"))


def test_sandbox_that_serves_its_whole_root_over_9p_is_local():
    assert unsafe_reason("/home/ada", "none / 9p rw 0 0\n") is None


@pytest.mark.parametrize("path", ["/u/Dropbox/x", "/u/OneDrive - Corp/x", "/u/Library/Mobile Documents/x"])
def test_synced_folders_are_named(path):
    assert unsafe_reason(path, MOUNTS).startswith("a synced folder (")


def test_index_is_refused_where_locks_fail():
    with pytest.raises(
        WorkspaceError, match=r"network file system \(nfs4\), which cannot hold an index; set RECALL_HOME"
    ):
        require_local("/home/net/x", MOUNTS)
    require_local("/home/ada", MOUNTS)


def test_unknown_mount_table_refuses_nothing():
    assert unsafe_reason("/home/ada", "") is None
