"""Why a source is passed over, in words that follow its number; the reasons are those of the capture and its plan."""

SKIPPED = {
    "foreign": "of other projects",
    "empty": "with nothing in them yet",
    "other_format": "in another format than the harness's",
    "symlink": "behind a symbolic link, which is not followed",
    "adapter_failed": "folder whose search the adapter broke off",
    "unreadable": "in a folder that may not be read",
    "opted_out": "of sessions that opted out",
    "unknown_source": "that 'recall sync' has to find again first",
    "unknown_root": "of projects without a workspace",
    "root_gone": "of folders that are gone ('recall adopt' links a moved project)",
    "excluded": "of excluded projects",
    "refused": "whose folder is no place for a project",
    "child": "run by recall itself",
    "no_cwd": "that never say where they ran",
}


def worded(reason: str, number: int) -> str:
    """Return how many sources were passed over for one reason, in words; a reason without words is told by its name."""
    return f"{number:,} {SKIPPED.get(reason, reason.replace('_', ' '))}"
