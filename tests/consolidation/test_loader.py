"""Reading folders of memories: both layouts, every file loaded or named, nothing chosen by its name."""

import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import yaml
from support.memory_events import AT, LATER, PLACE, candidate
from support.memory_folder import CRITICAL, FILES, NESTED, make_memory_folder
from support.record import make_log

from consolidation import front_matter, loader
from transcript import memory_drafts as drafts
from transcript.errors import ConfigError
from transcript.memory_words import MEMORY_TYPES
from transcript.projections import views

SCHEMA = json.loads((Path(loader.__file__).parent / "schema" / "memory.schema.json").read_text("utf-8"))


def file(*lines: str, body: str = "Ports come from config.toml.") -> bytes:
    return "\n".join(["---", *lines, "---", "", body, ""]).encode()


def test_292_files_of_two_layouts_are_all_loaded_or_named(tmp_path):
    """LCA-D-03: no silent loss."""
    folder = make_memory_folder(tmp_path / "memories")

    found = loader.load(folder)

    assert len(found.memories) + len(found.failed) == FILES
    assert found.failed == ()
    assert found.layouts == Counter(flat=FILES - NESTED, nested=NESTED)
    assert sum(one.critical for one in found.memories) == CRITICAL
    assert {one.memory_type for one in found.memories} == {
        "user_preference",
        "project_fact",
        "runbook",
        "design_decision",
        "known_failure",
    }


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.md", file("type: note"), "unknown type 'note'"),
        ("a.md", file("name: x"), "it has no type; known are project_fact"),
        ("a.md", file("type: user", "metadata:", "  type: fix"), "type stands twice, as 'user' and as 'fix'"),
        ("a.md", file("type: user", "type: fix"), "type stands twice"),
        ("a.md", file("type: &x user", "name: *x"), "anchors and aliases are not read"),
        ("a.md", file("type: user", "created: yesterday"), "created is 'yesterday', must be a date"),
        ("a.md", file("type: [user"), "its front matter is no YAML"),
        ("a.md", file("- user"), "its front matter is a list, must be a mapping"),
        ("a.md", file("type: user", body=" "), "it says nothing"),
        ("a.md", b"---\ntype: user\n", "its front matter has no end"),
        ("a.md", b"---\nx: " + b"[" * 5000 + b"\n---\nx\n", "its front matter is no YAML"),
        ("a.md", b"---\nx: " + b"y" * 70_000 + b"\n---\nx\n", "its front matter has more than 64 KB"),
        ("a.md", b"\xff\xfe\x00", "it is no UTF-8: byte 0"),
        ("a.txt", b"text", "it is no Markdown"),
        ("a.md", file("schema: recall/memory/9", "type: lesson"), "a newer recall wrote it"),
        ("a.md", file("type: user", "privacy: secret"), "privacy is 'secret', must be one of private"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, name, data, reason):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "good.md").write_bytes(file("type: lesson"))

    found = loader.load(tmp_path)

    assert [one.path for one in found.memories] == ["good.md"]
    assert [path for path, _ in found.failed] == [name]
    assert reason in found.failed[0][1]


def test_a_dangling_link_is_named_and_hidden_folders_are_passed_over(tmp_path):
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_bytes(file("type: lesson"))

    found = loader.load(tmp_path)

    assert found.memories == ()
    assert found.failed == (("gone.md", "cannot be read (No such file or directory)"),)


def test_a_link_out_of_the_folder_is_named_and_not_followed(tmp_path):
    """A folder that somebody else made must not bring in a file of its reader's."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (tmp_path / "mine.md").write_bytes(file("type: project"))
    (folder / "a.md").write_bytes(file("type: project"))
    (folder / "in.md").symlink_to("a.md")
    (folder / "out.md").symlink_to("../mine.md")

    loaded = loader.load(folder)

    assert [one.path for one in loaded.memories] == ["a.md", "in.md"]
    assert loaded.failed == (("out.md", "it links to a place outside of the folder"),)


def test_what_is_no_folder_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="is no folder; name one that holds memories"):
        loader.load(tmp_path / "nowhere")


def test_flat_and_nested_keys_give_the_same_memory():
    keys = ["type: fix", "tags: [net, ports]", "valid_from: 2026-01-31", "valid_to: null"]
    flat = loader.document("a.md", file("name: x", *keys))
    nested = loader.document("a.md", file("name: x", "metadata:", "  node_type: memory", *(f"  {key}" for key in keys)))

    same = ("memory_type", "tags", "valid_from", "valid_to", "statement", "name")
    assert [getattr(flat, name) for name in same] == [getattr(nested, name) for name in same]
    assert (flat.memory_type, flat.tags, flat.valid_from) == (
        "known_failure",
        ("net", "ports"),
        "2026-01-31T00:00:00.000Z",
    )
    assert (flat.layout, nested.layout) == ("flat", "nested")


def test_a_file_without_front_matter_is_plain_and_an_inference():
    plain = loader.document("notes.md", b"The port is 8080.\n")

    assert (plain.layout, plain.memory_type, plain.label) == ("plain", "project_fact", "inference")


def test_a_list_of_memories_is_a_summary():
    assert loader.document("MEMORY.md", b"# Memories\n\n- [x](x.md)\n").kind == "summary"


def test_words_stay_what_was_written():
    fields, _, _ = front_matter.parse("---\ntags: [no, on, 2026-01-31, 1_000, 0x10]\n---\nx")

    assert front_matter.list_of(fields, "tags") == ("no", "on", "2026-01-31", "1_000", "0x10")


@pytest.mark.parametrize("kind", MEMORY_TYPES)
def test_our_own_file_of_each_type_fits_the_schema_and_is_read_back(tmp_path, kind):
    """LCA-4.3-01."""
    memory = drafts.written(
        AT,
        candidate().id,
        kind,
        "Ports come from config.toml.",
        why="two servers clash",
        sources=[PLACE],
        said_at=LATER,
        tags=["net"],
        critical_for=["ops"],
    )
    log = make_log(tmp_path, [candidate(), memory])
    assert log.workspace.root is not None
    views.project(log.workspace)
    folder = log.workspace.root / ".recall" / "memory"
    [path] = folder.glob("ports-*.md")

    found = loader.load(folder)
    document = next(one for one in found.memories if one.path == path.name)

    jsonschema.validate(yaml.safe_load(path.read_text("utf-8").split("---\n")[1]), SCHEMA)
    assert (document.id, document.layout, document.memory_type) == (memory.id, "recall", kind)
    assert (document.statement, document.why) == ("Ports come from config.toml.", "two servers clash")
    assert (document.label, document.tags, document.critical_for) == ("claim", ("net",), ("ops",))
    assert document.valid_from == LATER
    assert found.failed == ()
