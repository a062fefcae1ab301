"""priv-forget-everywhere, with proposals: what was said, proposed, approved, applied and signed, then forgotten."""

import zlib
from pathlib import Path

import zstandard
from support.capture import NOW, Project
from support.coord import Ana

from consolidation import coord_apply, coord_decide, coord_verify, signatures
from consolidation.coord_desk import CoordDesk
from consolidation.coord_effects_port import NO_EFFECTS
from recall import forgetting
from recall.governance_settings import ApprovalSettings, SigningSettings
from transcript.native import NativeStore
from transcript.projections import coord_files, coord_lines
from transcript.redaction_plan import plan_text
from transcript.verify import verify

SECRET, KEPT = "phoenix-3333", "finch-3434"


def holding(base: Path, project: Project, text: str) -> list[str]:
    """Every file below a folder that holds a text, packed ones opened; the harness's own files are not ours."""
    found = []
    for path in sorted(one for one in base.rglob("*") if one.is_file() and project.config not in one.parents):
        parts = [path.read_bytes()]
        if path.suffix == ".zst" and path.parent.parent.name == "native":
            native = NativeStore(project.workspace).read(path.parent.name, path.stem)
            parts += [data for _, _, data in native]
        elif path.suffix == ".zst":
            parts.append(zstandard.ZstdDecompressor().decompress(parts[0], max_output_size=1 << 28))
        elif path.parent.name == "capture":
            parts.append(zlib.decompress(parts[0]))
        if any(text.encode() in data for data in parts):
            found.append(str(path.relative_to(base)))
    return found


def test_what_is_forgotten_is_in_no_proposal_decision_item_or_key_folder_and_comes_back_by_nothing(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    session = project.session()
    session.user(f"The contact of the pilot is {SECRET}.")
    session.assistant("Noted.")
    session.user(f"The marker of the other is {KEPT}.")
    session.write(project.config)
    project.sync()
    workspace = project.workspace
    desk = CoordDesk(workspace, workspace.data, ApprovalSettings(), NOW)
    desk.keys.create()
    said = [event.pointer for event in project.events("conversation_turn")]

    def proposed(summary: str, evidence: str) -> str:
        action = {"operation": "add", "target_ref": None, "summary": summary, "evidence_refs": [evidence]}
        return desk.propose(action, source_task="T1", by="an agent").id

    def decided(name: str, why: str, word: str = "approve", **more: object) -> None:
        coord_decide.decide(desk, coord_decide.show(desk, name), word, person=Ana(), rationale=why, **more)  # type: ignore[arg-type]

    def applied(name: str) -> None:
        decided(name, "agreed")
        assert coord_apply.apply(desk, name, NO_EFFECTS).changed

    applied(proposed(f"Keep {KEPT}.", said[2]))
    applied(proposed(f"Call {SECRET}.", said[0]))
    applied(proposed("One more.", said[2]))
    waiting = proposed(f"Call {SECRET} again.", said[0])
    approved = proposed(f"Call {SECRET} at noon.", said[0])
    decided(approved, f"{SECRET} is right")
    only_why = proposed("Nothing odd in it.", said[2])
    decided(only_why, f"because of {SECRET}", "decline")
    signatures.add(workspace, SigningSettings(), NOW)
    before = holding(tmp_path, project, SECRET)
    assert {path.rpartition("/")[2] for path in before} >= {"memory.yml", f"{waiting}.json", f"{approved}.json"}

    report = forgetting.erase(workspace, lambda: plan_text(workspace, SECRET), now=NOW)

    assert report is not None
    assert report.counts["coord"] >= 4
    assert holding(tmp_path, project, SECRET) == []
    assert holding(tmp_path, project, KEPT) != []

    project.sync(full=True)
    desk = CoordDesk(workspace, workspace.data, ApprovalSettings(), NOW)
    desk.settle()
    coord_files.memory_path(desk.root).unlink()
    coord_files.restore(desk.root, desk.state())
    assert holding(tmp_path, project, SECRET) == []
    read = coord_lines.read_items(coord_files.memory_bytes(desk.root) or b"")
    assert (len(read.items), read.fault) == (3, None)
    assert [bool(item.get("erased")) for item in read.items] == [False, True, False]
    found: list[tuple[str, str]] = []
    coord_verify.verify(desk, lambda code, where: found.append((code, where)))
    assert found == []
    assert verify(workspace).codes == []
    assert signatures.check(desk.log, SigningSettings()).problems == ()
