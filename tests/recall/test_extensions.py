"""The extension files of pi, opencode and Cline: what they ask, what they give their agent, how they fail."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.hooks import wait_for

from recall.hook_forms import extension

HOST = Path(__file__).resolve().parents[1] / "support" / "extension_host.mjs"
NAMES = ("pi", "opencode", "cline")
START, FOUND = "what the start says", "what the past <says> & \u00e9"
LAUNCHERS = {
    # The answers differ by event, so that a test sees which one was given where.
    "answers": (
        'p=$(cat); printf "%s\\n" "$p" >> "$0.log"\n'
        f"case \"$p\" in *'\"SessionStart\"'*) printf '{json.dumps({'additionalContext': START})}' ;;\n"
        f"*'\"UserPromptSubmit\"'*) printf '%s' '{json.dumps({'additionalContext': FOUND})}' ;; esac"
    ),
    "silent": 'cat > "$0.log"',
    "garbage": "cat > /dev/null; echo 'Traceback (most recent call last)'; exit 3",
    "other": "cat > /dev/null; echo '{\"additionalContext\": 7}'",
    "deaf": "exec <&-; exit 0",  # it ends without reading
    "stuck": 'p=$(cat); case "$p" in *\'"SessionStart"\'* | *\'"UserPromptSubmit"\'*) exec sleep 600 ;; esac',
    "gone": "",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each launcher the three files as they would be installed for it."""
    made = {}
    for kind, script in LAUNCHERS.items():
        folder = tmp_path_factory.mktemp(kind)
        for name in NAMES:
            launcher = folder / f"hook {name}"
            if script:
                launcher.write_text(f"#!/bin/sh\n{script}\n")
                launcher.chmod(0o700)
            text = extension(name, str(launcher))
            assert "WAIT_MS = 5000;" in text
            # Short where nothing ever comes, long where a busy machine may be slow.
            text = text.replace("WAIT_MS = 5000", f"WAIT_MS = {100 if kind == 'stuck' else 60_000}")
            (folder / f"{name}.mjs").write_text(text, encoding="utf-8")
        made[kind] = folder
    return made


@pytest.fixture(scope="module")
def given(folders: dict[str, Path]) -> dict[str, dict[str, dict[str, Any]]]:
    """What each file gave its agent, by launcher, file and prompt."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js: extension files cannot be run")
    done = subprocess.run(
        ["node", str(HOST), *map(str, folders.values())], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    seen = json.loads(done.stdout)
    return {kind: seen[str(folder)] for kind, folder in folders.items()}


def payloads(folder: Path, name: str, count: int) -> list[dict[str, Any]]:
    """What the launcher was sent; what is told is not waited for, so it may come a moment later."""
    log = folder / f"hook {name}.log"

    def read() -> list[str]:
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    wait_for(lambda: len(read()) >= count)
    return [json.loads(line) for line in read()]


def events(found: list[dict[str, Any]]) -> list[str]:
    return sorted(payload["hook_event_name"] for payload in found)


def test_pi_gets_a_message_of_a_type_of_its_own(given: dict[str, Any]) -> None:
    seen = given["answers"]["pi"]

    def message(content: str) -> dict[str, Any]:
        return {"message": {"customType": "recall", "content": content, "display": False}}

    assert seen["first"] == message(f"{START}\n\n{FOUND}")
    assert seen["second"] == message(FOUND)
    assert seen["third"] == message(f"{START}\n\n{FOUND}")  # after a compaction
    assert seen["unkept"] is None  # --no-session
    assert seen["odd"] is None


def test_pi_says_what_happens(given: dict[str, Any], folders: dict[str, Path]) -> None:
    assert given
    found = payloads(folders["answers"], "pi", 9)

    assert all(
        payload["harness"] == "pi"
        and payload["session_id"] == "s1"
        and payload["cwd"] == "/project"
        and payload["transcript_path"] == "/sessions/s1.jsonl"
        for payload in found
    )
    assert events(found) == ["PreCompact", "SessionEnd", *["SessionStart"] * 3, "Stop", *["UserPromptSubmit"] * 3]
    assert sorted(p["source"] for p in found if p["hook_event_name"] == "SessionStart") == [
        "compact",
        "resume",
        "startup",
    ]
    assert [p["prompt"] for p in found if "prompt" in p] == ["first", "second", "third"]


def test_opencode_gets_a_synthetic_part_behind_the_last(given: dict[str, Any]) -> None:
    seen = given["answers"]["opencode"]
    prompt, part = seen["first"]

    assert prompt["text"] == "first"
    assert {key: part[key] for key in ("sessionID", "messageID", "type", "text", "synthetic")} == {
        "sessionID": "main",
        "messageID": "msg_main",
        "type": "text",
        "text": f"{START}\n\n{FOUND}",
        "synthetic": True,
    }
    assert part["id"] > prompt["id"]
    assert re.fullmatch(r"prt_[0-9a-f]{12}[0-9A-Za-z]{14}", part["id"])
    assert seen["second"][1]["text"] == FOUND
    assert [part["type"] for part in seen["third"]] == ["file", "text", "text"]
    assert seen["third"][2]["text"] == f"{START}\n\n{FOUND}"  # after a compaction
    assert len(seen["worker"]) == 1
    assert len(seen["synthetic"]) == 1
    assert seen["odd"] is None


def test_opencode_says_what_happens(given: dict[str, Any], folders: dict[str, Path]) -> None:
    assert given
    found = payloads(folders["answers"], "opencode", 11)

    assert all(payload["harness"] == "opencode" and payload["cwd"] == "/project" for payload in found)
    of_main = [payload for payload in found if payload["session_id"] == "main"]
    assert events(of_main) == [
        "PreCompact", "SessionEnd", "SessionStart", "SessionStart", "Stop", "SubagentStop", *["UserPromptSubmit"] * 3
    ]  # fmt: skip
    # One that began before this process, with a message that could not be read: its end is the last known of it.
    resumed = [payload for payload in found if payload["session_id"] == "old"]
    assert events(resumed) == ["SessionEnd", "SessionStart"]
    assert [payload["source"] for payload in resumed if "source" in payload] == ["resume"]
    assert len(of_main) + len(resumed) == len(found)
    assert [payload["agent_id"] for payload in found if "agent_id" in payload] == ["worker"]
    # `opencode run "two words"` hands over the shell's quotation marks.
    assert [p["prompt"] for p in found if "prompt" in p] == ["first", 'second "turn"', "third"]


def test_cline_gets_hook_context(given: dict[str, Any]) -> None:
    seen = given["answers"]["cline"]

    assert seen["first"] == {"appendContext": f"{START}\n\n{FOUND}"}
    assert seen["second"] == {"appendContext": FOUND}
    assert [seen[name] for name in ("early", "worker", "odd")] == [None, None, None]


def test_cline_says_what_happens(given: dict[str, Any], folders: dict[str, Path]) -> None:
    assert given
    found = payloads(folders["answers"], "cline", 5)

    assert all(
        payload["harness"] == "cline" and payload["session_id"] == "s1" and payload["cwd"] == "/project"
        for payload in found
    )
    assert events(found) == ["SessionStart", "Stop", "SubagentStop", "UserPromptSubmit", "UserPromptSubmit"]
    assert [payload["agent_id"] for payload in found if "agent_id" in payload] == ["w1"]
    assert [p["prompt"] for p in found if "prompt" in p] == ["first", "second"]


@pytest.mark.parametrize("kind", [kind for kind in LAUNCHERS if kind != "answers"])
def test_whatever_the_launcher_does_the_agent_goes_on_as_if_nothing_were_there(
    given: dict[str, Any], kind: str
) -> None:
    """recall-stdout-purity: an agent is given one whole text or nothing."""
    seen = given[kind]

    assert set(map(str, seen["pi"].values())) == {"None"}
    assert set(map(str, seen["cline"].values())) == {"None"}
    assert [len(seen["opencode"][name]) for name in ("first", "worker", "second", "third")] == [1, 1, 1, 2]


@pytest.mark.parametrize("name", NAMES)
def test_each_file_says_what_it_is_and_names_its_launcher_once(name: str) -> None:
    text = extension(name, "/data/bin/recall-hook")

    assert f"`recall enable-hooks {name} --remove`" in text
    assert f'HARNESS = "{name}"' in text
    assert text.count('"/data/bin/recall-hook"') == 1
    assert re.findall(r'from "(.*)"', text) == ["node:child_process"]
