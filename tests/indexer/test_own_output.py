"""What an agent read through recall itself is no experience: the calls stay, their results have no passages."""

import random

import pytest
from support.talk import Talk, indexed, passages, record, recorded

from indexer.own_output import reads_record

SAID = "The gateway listens on port 7443."
QUOTED = f"1  abc#0-33  codex session  {SAID}"


def asked(arguments):
    """One exchange that answers, and a later one in which a tool was called and printed the answer."""
    talk = Talk()
    talk.prompt("Which port is it?")
    talk.reply(SAID)
    talk.prompt("Look it up again.")
    talk.call("Bash", arguments)
    call = talk.drafts[-1].body["call_id"]
    talk.add("tool_result", "tool", {"call_id": call, "text": QUOTED, "is_error": False})
    return talk


def texts(store):
    return [passage.text for passage in passages(store)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "recall query 'which port'"},
        {"command": "cd /srv && recall --json show abc#0-33"},
        {"cmd": ["bash", "-lc", "recall handoff --task T1 | head"]},
        {"commands": ["ls", "RECALL_ACTOR=codex /home/dev/.local/bin/recall context --last 20"]},
        {"command": "uv run recall last"},
        {"file_path": "/home/dev/shop/.recall/views/handoff.md"},
        {"command": "cd .recall && cat views/handoff.md"},
        {"command": "grep -h port ~/.local/share/recall/workspaces/*/log/activity.jsonl"},
    ],
)
def test_what_a_reading_command_printed_has_no_passage(arguments, tmp_path):
    with indexed(recorded(tmp_path, asked(arguments))) as store:
        found = texts(store)

    assert SAID in found
    assert QUOTED not in found
    assert sum(text.startswith("Bash\n") for text in found) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "grep -rn port src"},
        {"command": "recall decide 'use 7443' --why metrics"},
        {"command": "grep 'recall query' notes.txt"},
        {"prompt": "Do you recall context about the gateway?"},
        {"command": "totalrecall show"},
        {"prompt": "Look with `recall query port`, then (recall show abc) and report."},
    ],
)
def test_other_results_are_found(arguments, tmp_path):
    with indexed(recorded(tmp_path, asked(arguments))) as store:
        assert QUOTED in texts(store)


@pytest.mark.parametrize(
    "found_in", ["./.recall/views/decisions.md:7:", ".recall/views/state.md-7-", "/srv/.recall\\views\\a:7:"]
)
def test_of_a_search_through_the_project_the_lines_of_views_are_left_out(found_in, tmp_path):
    talk = asked({"command": "grep -rn port ."})
    talk.drafts[-1].body["text"] = f"./a.py:1:port = 1\n{found_in}{SAID}\n./b.py:2:port = 2"

    with indexed(recorded(tmp_path, talk)) as store:
        found = "\n".join(texts(store))

    assert "port = 1" in found
    assert "port = 2" in found
    assert found.count(SAID) == 1


def test_a_result_that_comes_with_the_next_run_is_known_by_its_call(tmp_path):
    talk = asked({"command": "recall query port"})
    late = talk.drafts.pop()
    workspace = recorded(tmp_path, talk)
    with indexed(workspace):
        pass
    talk.drafts = [late]
    record(workspace, talk)

    with indexed(workspace) as store:
        assert SAID in texts(store)
        assert QUOTED not in texts(store)


@pytest.mark.parametrize(
    "line",
    [
        'bash -c "recall query port"',
        "sh -lc 'cd /srv; recall query port'",
        'for q in a b; do recall query "$q"; done',
        "if recall show abc; then echo yes; fi",
        "cut -d' ' -f1 found | xargs -n1 recall show",
        "! recall query x",
        "{ recall query x; }",
        'out=$(recall query port) && echo "$out"',
        "echo `recall query x`",
        "recall \\\n  query x",
        "FOO='a b' x=1 recall query y",
        "uv run --project /srv recall query x",
        "uvx --from lca-recall recall query x",
        "sudo -u dev nice -n 5 recall query x",
        "stdbuf -oL recall query x | tee out.txt",
        '"/home/my user/bin/recall" query x',
        r'& "C:\venv\Scripts\recall.exe" query x',
        "cmd /c recall query x",
        "recall task list --json",
        "recall question list",
    ],
)
def test_a_reading_command_is_known_however_a_shell_starts_it(line):
    assert reads_record(line)


@pytest.mark.parametrize(
    "line",
    [
        "echo 'run recall query x'",
        "git commit -m 'Let recall query print more'",
        "rg 'recall query' docs",
        "cat recall/query.py",
        "python -m pytest tests/recall -k query",
        "recall task add 'query the log'",
        "recall sync; recall index",
        "bash -c 'recall decide \"show less\"'",
    ],
)
def test_a_command_that_only_names_one_is_another(line):
    assert not reads_record(line)


def test_no_line_however_odd_is_an_error():
    rng = random.Random(7)
    signs = ["recall", " ", "query", '"', "'", "\\", "`", ";", "(", "bash -c ", "\n", "$", "x="]

    for _ in range(3000):
        reads_record("recall " + "".join(rng.choice(signs) for _ in range(rng.randrange(30))))
