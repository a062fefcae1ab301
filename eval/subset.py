"""Cuts a copy of an index down to its newest chunks, and fills in made-up vectors, to time turns at a stated size."""

import shutil
from pathlib import Path

import numpy as np

from indexer.schema import Execute
from indexer.store import Store
from indexer.vectors import KINDS, unit
from transcript.workspace import Workspace

BATCH = 2000


def newest(workspace: Workspace, chunks: int) -> tuple[int, int]:
    """Drop all but the newest chunks from the index of a workspace; return how many stay, and how many have a vector.

    Only ever call it on a copy: what is dropped comes back by building the index anew.
    """
    with Store.open(workspace.index_path, "w") as store:
        g = store.generation
        keep = {
            row[0]
            for row in store.run(
                f"SELECT chunk_id FROM pointer_{g} GROUP BY chunk_id ORDER BY max(ts) DESC, chunk_id DESC LIMIT ?",
                (chunks,),
            )
        }
        gone = [row[0] for row in store.run(f"SELECT id FROM chunk_{g}") if row[0] not in keep]
        with store.transaction():
            held = {number // KINDS for number in store.vectors.ids()}
            store.remove_vectors(g, [chunk_id for chunk_id in gone if chunk_id in held])
            _delete(store.run, g, gone)
            left = len(store.vectors.ids())
            store.run("UPDATE generation SET n_chunks = ?, n_vectors = ? WHERE id = ?", (len(keep), left, g))
        store.vacuum()
        return len(keep), left


def fill_vectors(workspace: Workspace, *, seed: int = 0) -> int:
    """Give every chunk without a vector a random one; return how many vectors there are then."""
    rng = np.random.default_rng(seed)
    with Store.open(workspace.index_path, "w") as store:
        g, meta = store.generation, store.meta()
        if not meta.dimension:
            raise ValueError("the index has no model yet; make at least one vector first")
        held = {number // KINDS for number in store.vectors.ids()}
        missing = [row[0] for row in store.run(f"SELECT id FROM chunk_{g} ORDER BY id") if row[0] not in held]
        for first in range(0, len(missing), BATCH):
            part = missing[first : first + BATCH]
            made = np.stack([unit(row) for row in rng.standard_normal((len(part), meta.dimension))])
            with store.transaction():
                store.vectors.add([chunk_id * KINDS for chunk_id in part], made)
        with store.transaction():
            store.run("UPDATE generation SET n_vectors = ? WHERE id = ?", (len(held) + len(missing), g))
        store.checkpoint()
        return len(held) + len(missing)


def copy_index(workspace: Workspace, data: Path) -> Workspace:
    """Copy a workspace's index and key under another data folder; the record stays behind."""
    target = Workspace(workspace.id, data / "workspaces" / workspace.id, workspace.root)
    target.home.mkdir(parents=True, mode=0o700, exist_ok=True)
    with Store.open(workspace.index_path, "w") as store:
        store.checkpoint()
    shutil.copy2(workspace.index_path, target.index_path)
    target.key_path.write_bytes(workspace.id_key())
    return target


def _delete(run: Execute, g: int, gone: list[int]) -> None:
    """Delete chunks with everything that hangs on them; the words are built anew from what is left."""
    for first in range(0, len(gone), 500):
        part = tuple(gone[first : first + 500])
        marks = ",".join("?" * len(part))
        for table, column in (("pointer", "chunk_id"), ("embed_state", "id"), ("chunk", "id")):
            run(f"DELETE FROM {table}_{g} WHERE {column} IN ({marks})", part)
    run(f"INSERT INTO chunk_fts_{g} (chunk_fts_{g}) VALUES ('rebuild')")
