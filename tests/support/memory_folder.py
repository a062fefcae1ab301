"""Builds a folder of another tool's memories: 292 files, 62 of them with their keys below `metadata`, 3 critical."""

from pathlib import Path

FILES, NESTED, CRITICAL = 292, 62, 3
KINDS = ("user", "feedback", "project", "reference", "decision", "fix", "incident", "procedure")


def make_memory_folder(folder: Path, *, files: int = FILES, nested: int = NESTED, critical: int = CRITICAL) -> Path:
    """Return the folder; the last `nested` files are nested, among them the critical ones."""
    folder.mkdir(parents=True)
    for number in range(files):
        deep = number >= files - nested
        pinned = number >= files - critical
        keys = [
            f"type: {KINDS[number % len(KINDS)]}",
            f"tags: [area-{number % 7}, notes]",
            "projects: [shop-api]",
            f"created: 2026-0{1 + number % 9}-1{number % 10}",
            f"last_applied: 2026-09-{1 + number % 28:02d}",
            f"hits: {number % 11}",
            *(["critical: true"] if pinned else []),
        ]
        if deep:
            keys = ["metadata:", "  node_type: memory", *(f"  {key}" for key in keys)]
        head = [f"name: memory-{number}", f"description: What is known of module {number}", *keys]
        text = f"Module {number} listens on port {8000 + number}.\n"
        (folder / f"memory-{number:03d}.md").write_text("\n".join(["---", *head, "---", "", text]), "utf-8")
    return folder
