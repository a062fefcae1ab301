"""The client's stand-ins for `dataclasses` and `re.compile` behave as the standard library's do.

Every data class of the hook path is built both ways in processes of their own, and the same script runs over them.
"""

import json
import re
import subprocess
import sys

import pytest
from support.hooks import SITE

from recall import light

SCRIPT = """
import sys; sys.path.append(sys.argv[1])
if sys.argv[2] == "light":
    from recall import light; light.install()
import dataclasses, json
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
import recall.hook_words, recall.ledger, recall.config
from recall.settings import Settings, settings_hash, BudgetSettings
from recall.turn import Candidate, Pointer, Turn
from recall.query import Query

out = []
found = sorted(
    ((m.__name__, n, c) for m in list(sys.modules.values()) if m.__name__.split(".")[0] in
     ("recall", "indexer", "scoring", "transcript") and m.__name__ != "recall.light"
     for n, c in vars(m).items() if isinstance(c, type) and is_dataclass(c) and c.__module__ == m.__name__),
    key=lambda row: row[:2],
)
out.append([(m, n, [f.name for f in fields(c)], [f.compare for f in fields(c)]) for m, n, c in found])
out.append(settings_hash(Settings()))
out.append(asdict(Settings()))
out.append(settings_hash(replace(Settings(), budget=BudgetSettings(items=2))))
one, two = (Pointer("e", 0, 5, "s", 1, "prompt") for _ in range(2))
out.append([one == two, hash(one) == hash(two), one == replace(one, start=1), one != "x", repr(one), len({one, two})])
out.append([repr(Turn("", ())), Turn("", (), stages={"a": 1.0}) == Turn("", ())])
out.append(Turn("[recall 12345678] x", ()).block_hash)
out.append(repr(Query("p")))
from scoring.score import Part, Score
whole = Score((Part("S", 0.5, 0.5, 1), Part("K", 1.0, 0.5, -1)))
out.append([whole.total, repr(whole), replace(whole, parts=whole.parts[:1]).total])
bad = (lambda: Query(), lambda: Query("p", nothing=1), lambda: Query("p", mode="?"), lambda: Pointer(*range(20)))
for wrong in bad:
    try: wrong(); out.append("no error")
    except (TypeError, ValueError) as error: out.append(type(error).__name__)

@dataclass(order=True)
class Base:
    a: int
    b: list = field(default_factory=list, compare=False)

@dataclass(frozen=True, slots=True)
class Child(Base if False else object):
    c: int = 3
    f: object = max

@dataclass(frozen=True)
class Summed:
    parts: tuple
    total: int = field(init=False)
    def __post_init__(self): object.__setattr__(self, "total", sum(self.parts))

@dataclass
class Grown(Base):
    d: str = "x"
    def __post_init__(self): self.d += "!"

x, y = Grown(1), Grown(2)
x.b.append(1)
out.append([x.b, y.b, x.d, repr(x), Base(1) < Base(2), Base(1, [1]) == Base(1, [2])])
out.append([Child().f(1, 2), Child() == Child(3), Summed((1, 2)).total, replace(Summed((1, 2)), parts=(5,)).total])
out.append([asdict(Grown(1)), is_dataclass(x), is_dataclass(Grown), is_dataclass(3), replace(y, a=9).a])
try: hash(x); out.append("hashable")
except TypeError: out.append("unhashable")
print(json.dumps(out, default=repr))
"""


def run(kind: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SCRIPT, str(SITE), kind], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def test_every_data_class_of_the_hook_path_is_the_same_both_ways():
    real, stand_in = run("real"), run("light")

    assert len(real[0]) > 30
    for ours, theirs in zip(stand_in, real, strict=True):
        assert ours == theirs


def test_a_pattern_is_compiled_when_it_is_first_used_and_then_behaves_as_one():
    pattern = light.LazyPattern(r"(\w+) (\w+)", re.IGNORECASE)

    assert pattern._pattern is None
    assert pattern.sub(r"\2 \1", "one two") == "two one"
    assert pattern.fullmatch("One Two").groups() == ("One", "Two")
    assert pattern.flags & re.IGNORECASE
    assert pattern._pattern is not None


def test_a_wrong_pattern_fails_at_its_first_use():
    with pytest.raises(re.error):
        light.LazyPattern("(").match("x")


def test_nothing_is_replaced_in_a_process_that_has_the_real_ones():
    compiled = re.compile

    light.install()

    assert re.compile is compiled
    assert "recall.light" not in str(sys.modules["dataclasses"])
