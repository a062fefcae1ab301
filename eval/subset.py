"""Cuts a copy of an index down to its newest chunks, and fills in made-up vectors, to time turns at a stated size."""

import shutil
from pathlib import Path

from indexer.sample import add_random_vectors, keep_newest, without_vector
from indexer.store import Store
from transcript.workspace import Workspace


def newest(workspace: Workspace, chunks: int) -> tuple[int, int]:
    """Drop all but the newest chunks from the index of a workspace; return how many stay, and how many have a vector.

    Only ever call it on a copy: what is dropped comes back by building the index anew.
    """
    with Store.open(workspace.index_path, "w") as store:
        return keep_newest(store, chunks)


def fill_vectors(workspace: Workspace, *, seed: int = 0) -> int:
    """Give every chunk without a vector a random one; return how many vectors there are then."""
    with Store.open(workspace.index_path, "w") as store:
        if not store.meta().dimension:
            raise ValueError("the index has no model yet; make at least one vector first")
        total = add_random_vectors(store, without_vector(store), seed=seed)
        store.checkpoint()
        return total


def copy_index(workspace: Workspace, data: Path) -> Workspace:
    """Copy a workspace's index and key under another data folder; the record stays behind."""
    target = Workspace(workspace.id, data / "workspaces" / workspace.id, workspace.root)
    target.home.mkdir(parents=True, mode=0o700, exist_ok=True)
    with Store.open(workspace.index_path, "w") as store:
        store.checkpoint()
    shutil.copy2(workspace.index_path, target.index_path)
    target.key_path.write_bytes(workspace.id_key())
    return target
