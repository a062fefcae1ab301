"""The pure parts of the Claude Code adapter: envelopes, the tree, and where files belong."""

import random
from pathlib import Path

import pytest

from transcript.adapters.claude_code import ClaudeCode
from transcript.adapters.claude_envelopes import envelope, expand_command
from transcript.adapters.tree import NO_PARENT, abandoned_events, place_of_parent


def node(name, parent, kind="u", message="", tools=()):
    return [name, parent, kind, message, list(tools), [name]]


@pytest.mark.parametrize(
    ("nodes", "lost"),
    [
        ([], []),
        ([node("a", NO_PARENT), node("b", 0, "a"), node("c", 1)], []),
        ([node("a", NO_PARENT), node("b", 0, "a"), node("c", 0, "a")], ["b"]),
        ([node("a", NO_PARENT), node("b", 0, "a", "m"), node("c", 0, "a", "m")], []),
        (
            [
                node("a", NO_PARENT),
                node("call1", 0, "a", "m", ["t1"]),
                node("call2", 1, "a", "m", ["t2"]),
                node("out1", 1, "u", "", ["t1"]),
                node("out2", 2, "u", "", ["t2"]),
                node("next", 4, "a", "n"),
            ],
            [],
        ),
        ([node("a", NO_PARENT), node("hook", 0, "t"), node("b", 0, "a"), node("late", 1, "s")], []),
        ([node("a", NO_PARENT), node("b", 0, "a"), node("hook", 1, "t"), node("c", 0)], ["b", "hook"]),
        ([node("a", NO_PARENT), node("side", NO_PARENT, "x"), node("b", 0, "a")], []),
        ([node("only", NO_PARENT, "s")], []),
    ],
    ids=[
        "none",
        "line",
        "retry",
        "split message",
        "parallel tools",
        "attachments",
        "lost attachment",
        "sidechain",
        "system",
    ],
)
def test_what_the_newest_leaf_does_not_descend_from_is_abandoned(nodes, lost):
    assert abandoned_events(nodes) == lost


@pytest.mark.parametrize("seed", range(30))
def test_the_path_of_the_newest_leaf_is_never_abandoned(seed):
    rng = random.Random(seed)
    nodes = [node("0", NO_PARENT)]
    for n in range(1, 200):
        nodes.append(
            node(str(n), rng.randrange(max(0, n - 5), n), rng.choice("uaatsp"), rng.choice(["", "m1", "m2"]), [])
        )

    lost = set(abandoned_events(nodes))

    at = next(i for i in reversed(range(200)) if nodes[i][2] in "ua")
    while at != NO_PARENT:
        assert nodes[at][0] not in lost
        at = nodes[at][1]


def test_a_parent_that_is_missing_is_the_record_before():
    nodes = [node("a", NO_PARENT), node("b", 0)]
    places = {"a": 0, "b": 1}

    assert place_of_parent(nodes, places, "a", new_tree=True) == 0
    assert place_of_parent(nodes, places, "gone", new_tree=True) == 1
    assert place_of_parent(nodes, places, "", new_tree=False) == 1
    assert place_of_parent(nodes, places, "", new_tree=True) == NO_PARENT


@pytest.mark.parametrize(
    ("text", "subtype", "head"),
    [
        ("<system-reminder>a</system-reminder>b", "reminder", "<system-reminder>a</system-reminder>"),
        ("<system-reminder>a</system-reminder> \n ", "reminder", "<system-reminder>a</system-reminder> \n "),
        ("\n <ide_selection>a</ide_selection><system-reminder>b</system-reminder>c", "ide",
         "\n <ide_selection>a</ide_selection><system-reminder>b</system-reminder>"),
        ("<local-command-stdout></local-command-stdout>", "local_command_output",
         "<local-command-stdout></local-command-stdout>"),
        ('<teammate-message id="a">x</teammate-message>', "teammate_message",
         '<teammate-message id="a">x</teammate-message>'),
    ],
)  # fmt: skip
def test_an_envelope_ends_where_its_tags_close(text, subtype, head):
    found = envelope(text)

    assert (found.subtype, found.text, text[: found.end]) == (subtype, head, head)


@pytest.mark.parametrize(
    "text", ["", "a", "<system-reminder>a", "say <system-reminder>a</system-reminder>", "<div>a</div>"]
)
def test_anything_else_is_content(text):
    assert envelope(text) is None


def test_a_command_without_a_name_stays_as_it_is():
    assert expand_command("<command-args>x</command-args>") == "<command-args>x</command-args>"


def test_files_are_found_by_layout_and_links_are_refused(tmp_path):
    session = "11111111-2222-3333-4444-555555555555"
    slug = tmp_path / "projects" / "-home-dev-shop"
    made = {
        f"{session}.jsonl": (session, ""),
        "agent-1234abcd.jsonl": ("", "1234abcd"),
        f"{session}/subagents/agent-a1.jsonl": (session, "a1"),
        f"{session}/subagents/workflows/run/agent-a2.jsonl": (session, "a2"),
        "loose.jsonl": ("", ""),
    }
    ignored = [
        f"{session}/tool-results/x.jsonl",
        f"{session}/subagents/workflows/run/journal.jsonl",
        "memory/m.jsonl",
        "a.txt",
    ]
    for name in (*made, *ignored):
        (slug / name).parent.mkdir(parents=True, exist_ok=True)
        (slug / name).write_text("{}\n")
    (tmp_path / "outside.jsonl").write_text("{}\n")
    (slug / "link.jsonl").symlink_to(tmp_path / "outside.jsonl")
    (slug / "linked").symlink_to(tmp_path)

    found, refused = ClaudeCode().discover([tmp_path / "projects"])

    assert {str(item.path.relative_to(slug)): (item.session, item.worker) for item in found} == made
    assert refused == {"symlink": 2}
    assert len({item.source for item in found}) == len(found)
    by_worker = {item.worker: item for item in found}
    assert Path(by_worker["a2"].companion) == slug / session
    assert by_worker["a1"].identity == f"-home-dev-shop/{session}/subagents/agent-a1.jsonl"


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"CLAUDE_CONFIG_DIR": "/c"}, "/c/projects"),
        ({"HOME": "/h"}, "/h/.claude/projects"),
        ({"USERPROFILE": "/u"}, "/u/.claude/projects"),
    ],
)
def test_sessions_lie_under_the_config_folder(env, folder):
    assert ClaudeCode().roots(env) == [Path(folder)]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert ClaudeCode().discover([tmp_path / "none"]) == ([], {})
