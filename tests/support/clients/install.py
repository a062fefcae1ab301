"""Installs clients from the npm registry, one folder for each client and version.

RECALL_E2E_PREFIX names a folder that keeps them across runs; without it they live in the run's temporary folder.
RECALL_E2E_VERSIONS="codex=0.172.0 pi=0.74.0" tries other versions than the pinned ones.
"""

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from transcript.lock import FileLock

PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini-cli": "@google/gemini-cli",
    "pi": "@mariozechner/pi-coding-agent",
    "copilot-cli": "@github/copilot",
    "opencode": "opencode-ai",
    "qwen-code": "@qwen-code/qwen-code",
    "cline": "cline",
    "node": "node",
}
VERSIONS = {
    "claude-code": "2.1.197",
    "codex": "0.171.0",
    "gemini-cli": "0.61.0",
    "pi": "0.73.1",
    "copilot-cli": "1.0.102",
    "opencode": "1.18.33",
    "qwen-code": "0.24.4",
    "cline": "3.0.65",
    "node": "22.23.3",  # for machines whose own Node.js is older than a client wants
}


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed client: its program, and the folders to put in front of PATH."""

    program: Path
    path: str


def version_of(name: str) -> str:
    """Return the version to install: the pinned one, or what RECALL_E2E_VERSIONS says."""
    asked = dict(pair.split("=", 1) for pair in os.environ.get("RECALL_E2E_VERSIONS", "").split())
    return asked.get(name, VERSIONS[name])


def install(name: str, program: str, *, node: int, prefix: Path) -> Installed:
    """Return the client, installed below prefix unless it stands there; skip the test where npm cannot give it."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("no npm: the real client cannot be installed")
    bins = [_npm(name, program, prefix)]
    if own_node() < node:
        bins.append(_npm("node", "node", prefix))
    return Installed(bins[0] / program, os.pathsep.join(map(str, bins)))


@functools.cache
def own_node() -> int:
    """Return the major version of this machine's Node.js."""
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.strip().lstrip("v").split(".")[0])


def _npm(name: str, program: str, prefix: Path) -> Path:
    """Return the folder of the package's programs."""
    version = version_of(name)
    folder = prefix / f"{name}-{version}"
    bins = folder / "node_modules" / ".bin"
    prefix.mkdir(parents=True, exist_ok=True)
    with FileLock(prefix / f".{folder.name}.lock", timeout=900):  # others that install the same wait
        if (bins / program).exists():
            return bins
        package = f"{PACKAGES[name]}@{version}"
        new = prefix / f".{folder.name}-new"  # whole or not there, for a run that is broken off
        for partial in (new, folder):  # the latter stands there without its program
            shutil.rmtree(partial, ignore_errors=True)
        done = subprocess.run(
            ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(new), package],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        if not done.returncode:
            new.rename(folder)
            return bins
        shutil.rmtree(new, ignore_errors=True)
        pytest.skip(f"the npm registry did not give {package}: {done.stderr.strip().splitlines()[-1:]}")
