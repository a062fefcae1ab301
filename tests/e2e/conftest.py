"""Real clients, installed once a run, and worlds to run them in."""

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.clients import CLIENTS, Client, World


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Client]:
    """Give the client of a harness; the test is skipped where npm cannot install it."""
    run = tmp_path_factory.getbasetemp()
    own = run.parent / "clients" if "PYTEST_XDIST_WORKER" in os.environ else run / "clients"  # one for all workers
    prefix = Path(os.environ.get("RECALL_E2E_PREFIX") or own)
    return functools.cache(lambda harness: CLIENTS[harness](prefix))


@pytest.fixture(scope="session")
def stub_program(shared: Path) -> Path:
    """The stand-in for the models."""
    program = shared / "clients" / "stub_model.py"
    if not program.exists():
        pytest.skip("../shared/clients/stub_model.py is not at hand")
    return program


@pytest.fixture
def world(tmp_path: Path, stub_program: Path) -> Iterator[World]:
    """A machine of its own for one test."""
    made = World(tmp_path, stub_program)
    yield made
    made.end()
