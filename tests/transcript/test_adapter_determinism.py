"""Same native log, same events: in every time zone, with every hash seed, without network, model or clock."""

import subprocess
import sys

from support.capture import Project
from support.claude import ClaudeSession, image, text, thinking, tool_result, tool_use
from support.harness import same_everywhere


def mixed_session() -> ClaudeSession:
    session = ClaudeSession()
    top = session.user([text("What is this? ü \u2028"), image()])
    session.assistant(thinking("a plan"), text("I look."), tool_use("t1", b=1, a=2), message_id="m")
    session.user([tool_result("t1", [text("x"), image()])], timestamp="2026-06-15T12:00:00+02:00")
    session.user("<system-reminder>a</system-reminder>and this", isMeta=False)
    session.bare({"type": "unheard-of", "z": 1, "a": {"c": 1, "b": 2}, "sessionId": session.session})
    session.compact("They talked.")
    session.user("another way", parentUuid=top["uuid"])
    return session


def test_two_time_zones_and_hash_seeds_give_the_same_bytes(tmp_path):
    """ESAA-07."""
    path = mixed_session().write(tmp_path)

    assert same_everywhere("transcript.adapters.claude_code:ClaudeCode", path).count(b"\n") == 12


def test_capture_spends_no_tokens_and_needs_no_model(tmp_path, monkeypatch):
    """ESAA-03: nothing of the index, of a model or of the network is even loaded."""
    project = Project(tmp_path)
    session = project.session()
    session.user("x")
    session.write(project.config)
    code = (
        "import sys; from pathlib import Path;"
        "from transcript.capture import sync; from transcript.workspace import locate;"
        "data, root = Path(sys.argv[1]), Path(sys.argv[2]);"
        "report = sync(locate(root, data), data, {'CLAUDE_CONFIG_DIR': sys.argv[3]});"
        "print(report.added, report.llm_tokens, sorted(set(sys.modules) & {'numpy', 'onnxruntime', 'tokenizers',"
        " 'apsw', 'http.client', 'urllib.request', 'asyncio', 'indexer', 'recall', 'torch'}))"
    )
    command = [sys.executable, "-c", code, str(project.data), str(project.root), str(project.config)]

    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)

    assert done.stdout == "1 0 []\n"
