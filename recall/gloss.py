"""An English gloss of a prompt in another language: word by word from a dictionary, names and code left as they are.

On the hook path: standard library only. A dictionary is read when the first prompt in its language comes. One line of
`languages/CODE.txt` is English words, a tab, and the words and phrases that mean them, with commas between.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from os.path import dirname, join

from indexer.function_words import FUNCTION_WORDS
from recall.inflection import akin, fold, forms, splits, stem
from recall.language import GLOSSED

MAX_CHARS = 4000  # of a longer prompt the beginning: an encoder reads no further either
MAX_WORD = 48  # a longer word is none
_UNSPACED = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = re.compile(rf"[{_UNSPACED}]+")
_TOKEN = re.compile(rf"`[^`\n]*`|[{_UNSPACED}]+|[^\s{_UNSPACED}]+")
_EDGES = re.compile(r"^([^\w`./~$@#-]*)(.*?)([^\w`/\])}}]*)$", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_PROSE = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?$")
_CAMEL = re.compile(r"[a-z][A-Z]")
_MARKS = re.compile(r"[?!.:;,]")


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of a prompt and the English for it; "" where the dictionary has none."""

    source: str
    english: str = ""
    kept: str = ""  # what stands in the gloss for it: the English, the source itself, or nothing


@dataclass(frozen=True, slots=True)
class Gloss:
    """A prompt word by word."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The prompt in English words, in its own order."""
        return " ".join(word.kept for word in self.words if word.kept)

    @property
    def known(self) -> tuple[Word, ...]:
        """The words the dictionary has."""
        return tuple(word for word in self.words if word.english)


def gloss(text: str, language: str) -> Gloss:
    """Return the gloss of a prompt in one of GLOSSED; of any other language a gloss of no words."""
    if language not in GLOSSED:
        return Gloss(())
    dictionary = load(language)
    out: list[Word] = []
    pending: list[str] = []  # a run of plain words, in which phrases are looked for

    def flush() -> None:
        out.extend(dictionary.read(pending))
        pending.clear()

    for token in _TOKEN.findall(text[:MAX_CHARS]):
        if _RUN.match(token):
            flush()
            out.extend(dictionary.cut(token))
            continue
        before, body, after = _EDGES.match(token).groups()  # type: ignore[union-attr]
        if before.strip("\"'„“”«»¿¡(["):
            flush()
        if _PROSE.match(body) and not _CAMEL.search(body):
            pending.append(body)
        elif body:
            flush()
            out.append(Word(body, kept=body))
        if _MARKS.search(after):
            flush()
            if out and out[-1].kept:
                out[-1] = Word(out[-1].source, out[-1].english, out[-1].kept + after[0])
    flush()
    return Gloss(tuple(out))


@lru_cache(maxsize=len(GLOSSED))
def load(language: str) -> "Dictionary":
    """Return the dictionary of one of GLOSSED."""
    with open(join(dirname(__file__), "languages", f"{language}.txt"), encoding="utf-8") as file:  # noqa: PTH118, PTH120 - light
        return Dictionary(language, file.read())


class Dictionary:
    """Headwords of one language with their English; an inflected word is found by its stem, a compound by its parts."""

    def __init__(self, language: str, text: str) -> None:
        self._language = language
        self._function = FUNCTION_WORDS.get(language, frozenset())
        self._exact: dict[str, str] = {}
        self._said: dict[str, list[tuple[str, str]]] = {}  # phrases by their first two letters
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}  # the same in stems, once asked for
        self._telling: dict[str, str] = {}  # function words with an English of their own: "warum"
        self._cache: dict[str, str] = {}
        english, _, heads = zip(*(line.partition("\t") for line in text.splitlines()), strict=True)
        for means, line in zip(english, fold("\n".join(heads), language).split("\n"), strict=True):
            for head in line.split(", "):
                if " " in head:
                    self._said.setdefault(head[:2], []).append((head, means))
                else:
                    self._exact.setdefault(head, means)
        if self._function:
            for means, line in zip(english, heads, strict=True):
                for head in self._function.intersection(line.casefold().split(", ")):
                    self._telling.setdefault(head, means)
        self._sorted = sorted(self._exact)
        self._longest = max(map(len, self._exact), default=0)

    def __len__(self) -> int:
        return len(self._exact) + sum(len(held) for by in (self._said, self._phrases) for held in by.values())

    def read(self, words: list[str]) -> list[Word]:
        """Return plain words with their English; phrases first, function words that have no English left out."""
        out: list[Word] = []
        flat = [part for word in words for part in _parts(word)]
        stems = [stem(fold(part, self._language), self._language) for part in flat]
        at = 0
        while at < len(flat):
            phrase = self._phrase(stems, at)
            if phrase is not None:
                length, english = phrase
                out.append(Word(" ".join(flat[at : at + length]), english, english))
                at += length
                continue
            word = flat[at]
            english = self.word(word)
            lower = word.lower()
            out.append(Word(word, english, english or ("" if self._drops(lower) else word)))
            at += 1
        return out

    def _drops(self, word: str) -> bool:
        """Whether a word without English has no place in the gloss: a function word, or one no encoder can read."""
        return word in self._function or len(word) < 2 or (self._language == "ru" and not word.isascii())

    def _phrase(self, stems: list[str], at: int) -> tuple[int, str] | None:
        """How many words from here on are a phrase, and its English; the longest phrase."""
        beginning = stems[at][:2]
        if beginning in self._said:
            found = [
                (tuple(stem(word, self._language) for word in _WORD.findall(head)), english)
                for head, english in self._said.pop(beginning)
            ]
            self._phrases[beginning] = sorted(found, key=lambda entry: -len(entry[0]))
        for words, english in self._phrases.get(beginning, ()):
            if tuple(stems[at : at + len(words)]) == words:
                return len(words), english
        return None

    def word(self, word: str) -> str:
        """Return the English of one word: as it stands, by its stem, or by the parts of a compound; "" for none."""
        if word.casefold() in self._function:
            return self._telling.get(word.casefold(), "")
        if len(word) > MAX_WORD:
            return ""
        folded = fold(word, self._language)
        known = self._cache.get(folded)
        if known is None:
            if len(self._cache) > 20_000:
                self._cache.clear()
            known = self._cache[folded] = self._find(folded)
        return known

    def _find(self, folded: str) -> str:
        english = self._simple(folded)
        if english:
            return english
        for parts in splits(folded, self._language):
            left = self._simple(parts[0])
            right = self._find(parts[1]) if left else ""
            if right:
                return f"{left} {right}"
        return ""

    def _simple(self, folded: str) -> str:
        for form in forms(folded, self._language):
            english = self._exact.get(form) or self._by_stem(form)
            if english:
                return english
        return ""

    def _by_stem(self, folded: str) -> str:
        """The English of the nearest headword with the same stem; headwords are stemmed when they are asked for."""
        own = stem(folded, self._language)
        beginning = own[:3]
        if len(beginning) < 3:
            return ""
        best, shared = "", 0
        for at in range(bisect_left(self._sorted, beginning), len(self._sorted)):
            head = self._sorted[at]
            if not head.startswith(beginning):
                break
            common = akin(folded, head, self._language)
            if common > shared and stem(head, self._language) == own:
                best, shared = head, common
        return self._exact[best] if best else ""

    def cut(self, run: str) -> list[Word]:
        """Return the known words of a run written without spaces, the longest first at each place."""
        out: list[Word] = []
        at = 0
        while at < len(run):
            for length in range(min(self._longest, len(run) - at), 0, -1):
                english = self._exact.get(run[at : at + length])
                if english:
                    out.append(Word(run[at : at + length], english, english.replace("-", "")))
                    at += length
                    break
            else:
                at += 1
        return out


def _parts(word: str) -> list[str]:
    """A word at its hyphens and apostrophes: "l'erreur" is two, and so is "Test-Abdeckung"."""
    return _WORD.findall(word)
