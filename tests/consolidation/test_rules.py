"""MemoryCode's 51 rules in their 123 versions: two versions of one rule conflict, two rules do not."""

import itertools
import json
import tarfile
from pathlib import Path

import pytest

from consolidation.contradiction import difference


@pytest.mark.real_data
def test_versions_of_a_rule_conflict_and_rules_stand_beside_each_other(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(shared / "bench" / "memorycode.tar.xz") as archive:
        member = archive.extractfile("memorycode/topics.json")
        assert member is not None
        rules = json.load(member)["instructions"]
    stated = [(rule["id"], text) for rule in rules for text in rule["text"]]

    right = wrong = missed = 0
    for (a, one), (b, other) in itertools.combinations(stated, 2):
        apart = difference(one, other, rules=True)
        found = apart is not None and apart.sure
        right, wrong, missed = right + (found and a == b), wrong + (found and a != b), missed + (not found and a == b)

    precision, recall = right / (right + wrong), right / (right + missed)
    with capsys.disabled():
        print(f"\nrules: precision {precision:.3f}, recall {recall:.3f} of {right + missed}")
    assert precision >= 0.94
    assert recall >= 0.9
