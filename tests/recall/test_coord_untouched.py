"""Without a person's approval no change of the canonical memory is made, whatever is attempted."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.coord_shop import Shop, make_shop


@pytest.fixture
def shop(capsys, tmp_path: Path, monkeypatch) -> Shop:
    return make_shop(capsys, tmp_path, monkeypatch)


def _unapproved(operation: str) -> Callable[[Shop, str], str]:
    def attempt(shop: Shop, item: str) -> str:
        target = () if operation == "add" else ("--target", item)
        name = shop.propose(f"{operation} it", *target, operation=operation)
        return str(shop.told("apply", name, code=1)["code"])

    return attempt


def _overwritten(shop: Shop, item: str) -> str:
    return str(shop.told("restore", "--replace", code=1)["code"])


def _compacted(shop: Shop, item: str) -> str:
    name = shop.propose("Nothing is kept.", "--subject", "retention")
    return str(shop.told("purge", item, "--retention", name, code=1)["code"])


ATTEMPTS = {
    **{word: (_unapproved(word), "not_approved") for word in ("add", "supersede", "archive", "delete")},
    "overwrite": (_overwritten, "agent"),
    "compact": (_compacted, "no_retention_decision"),
}


@pytest.mark.parametrize("what", ATTEMPTS)
def test_an_agent_alone_changes_nothing(shop: Shop, what: str, monkeypatch) -> None:
    """ASM-03: six attempts, none of which changes a byte."""
    attempt, code = ATTEMPTS[what]
    item = shop.applied()
    before = shop.bytes()
    monkeypatch.setenv("CLAUDECODE", "1")

    found = attempt(shop, item)

    assert (found, shop.bytes()) == (code, before)
