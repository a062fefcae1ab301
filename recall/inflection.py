"""Inflection by suffix, enough to find a dictionary's headword: folding, stems, and the parts of compounds.

On the hook path: standard library only. A stem is no word: it only has to be the same for the forms of one word.
"""

from collections.abc import Iterator

_ACCENTS = str.maketrans("àâäáãåāèéêëēìíîïīòóôöõøùúûüçñýÿłąęśźżćńё’", "aaaaaaaeeeeeiiiiioooooouuuucnyylaeszzcnе'")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PLAIN = (("ae", "a"), ("oe", "o"), ("ue", "u"))

_SUFFIXES = {
    "de": """
        enden endes ender endem ende ierten ierter iertes ierte iert ieren iere ten tem ter tes tet te est
        en em ern er es et st e n s t
    """,
    "nl": """
        enden ende eerde eerden eert eren den de ten te end en er es e n s t d
    """,
    "fr": """
        issements issement issaient issait issant issent erions erais erait eraient erez erons eront erai eras
        era ements ement aient ais ait antes ante ants ant iez ees ee ent ez er es ir is it ies ie ite
        e s x i a
    """,
    "es": """
        ariamos eriamos ieramos aremos eremos iremos aciones abamos iamos ieron iendo andolo andola arnos arlos
        arlas arlo arla arse erlo erla aron aban aria arian eria ando amos emos imos adas ados idas idos aba ada
        ado ida ido ara are aran era ere eran ira iran aste iste ar er ir an en as es os is a e o s
    """,
    "it": """
        eremmo eranno eremo ianno avamo evamo ivamo avano evano ivano arono erono irono assero endo ando arlo
        arla erlo iamo iate ante anti ente enti ava eva iva ata ate ati ato uta ute uti uto ita ite iti ito are
        ere ire era ano ono i a e o
    """,
    "pt": """
        ariamos eriamos aremos eremos iremos avamos iamos aram eram iram ariam aria eria ando endo indo amos
        emos imos adas ados idas idos ava avam ada ado ida ido ara era ira arei erei ar er ir am em as es os ou
        eu iu ei a e o s m
    """,
    "pl": """
        owalismy owaliscie owalem owalam owanie owania owaniu owany owana owane owano owali owala owalo owal
        owac owej ujemy ujesz uje uja uj alismy elismy ilismy alem ilem alam ilam enie enia eniu eniem anie ania
        aniu aniem iony iona ione iono ony ona one ono ano any ana ane ali ili yli ala ila yla alo ilo ylo iec
        ac ic yc ec al il yl ami ach owie owi ow om em iem emu ego ej ych ich ymi imi ym im ie iu ia a e i o u y
    """,
    "ru": """
        ировали ировать ировала ировал ируется ируют ирует ования ование ованию овали овать ается яется ются
        уется ились алась ались ался ился илась иями ями ами ениями ениях ения ение ению ением аний ания ание
        анию анием ешь ете ите или ила ило али ала ало яли яла яло ены ена ено ан ен ют ят ут ает яет ует ить
        ать ять еть уть ишь ого его ому ему ыми ими ых их ую юю ая яя ое ее ой ей ый ий ые ие ым им ом ем ам ям
        ах ях ов ев ию ия ии ил ал ял ет ит ть а я о е ы и у ю ь й
    """,
}
_ORDERED = {
    code: tuple(sorted(frozenset(listed.split()), key=lambda suffix: (-len(suffix), suffix)))
    for code, listed in _SUFFIXES.items()
}
_LEAST_STEM = 3
_MOST_ENDINGS = 3
_LEAST_SHARED, _LEAST_SHARED_COMPOUNDING = 0.5, 0.6  # of two words with the same stem
_LEAST_PART = 3
_LEAST_COMPOUND = 7
_LINKS = {"de": ("s", "es", "n", "en", "e", ""), "nl": ("s", "en", "e", "")}
_PREFIXES = """
    zurueck zusammen herunter heraus hinzu nach fest frei ein aus auf ab an bei durch her hin los mit um unter ueber vor
    weg weiter wieder zu
"""
_PLURALS = {"pt": (("oes", "ao"), ("ais", "al"), ("eis", "el")), "fr": (("aux", "al"),)}
_SEPARABLE = tuple(_PREFIXES.split())


def fold(text: str, language: str) -> str:
    """Return text in lower case without accents; German "ä" becomes "ae", as it is typed where there is none."""
    folded = text.casefold()
    if language in ("ja", "ko", "zh"):
        return folded
    if language == "de":
        folded = folded.translate(_UMLAUTS)
    return folded.translate(_ACCENTS)


def stem(word: str, language: str) -> str:
    """Return a folded word without its endings."""
    suffixes = _ORDERED.get(language, ())
    for _ in range(_MOST_ENDINGS):
        if not word.endswith(suffixes):
            break
        most = len(word) - _LEAST_STEM
        ending = next((suffix for suffix in suffixes if len(suffix) <= most and word.endswith(suffix)), "")
        word = word.removesuffix(ending)
    return word


def forms(word: str, language: str) -> Iterator[str]:
    """Yield a folded word and the forms its headword may have.

    German and Dutch participles without "ge" and "zu", of a German plural the vowel without its umlaut, and plurals
    that change the end of their word.
    """
    yield word
    for plural, singular in _PLURALS.get(language, ()):
        if word.endswith(plural):
            yield word.removesuffix(plural) + singular
    if language not in _LINKS:
        return
    if word.startswith("ge") and len(word) > 5:
        yield word[2:]
    if language == "de":
        for prefix in _SEPARABLE:
            if word.startswith((prefix + "ge", prefix + "zu")) and len(word) > len(prefix) + 5:
                yield prefix + word[len(prefix) + 2 :]
        plain = word
        for pair, letter in _PLAIN:
            plain = plain.replace(pair, letter)
        if plain != word:
            yield plain


def akin(word: str, head: str, language: str) -> int:
    """Return how many letters two words of one stem share from the beginning; 0 where those are too few of them."""
    shared = next((at for at, (a, b) in enumerate(zip(word, head, strict=False)) if a != b), min(len(word), len(head)))
    least = _LEAST_SHARED_COMPOUNDING if language in _LINKS else _LEAST_SHARED
    return shared if shared >= least * max(len(word), len(head)) else 0


def splits(word: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the two parts a compound may have, the longest first part first, without the letters that link them."""
    links = _LINKS.get(language)
    if links is None or len(word) < _LEAST_COMPOUND:
        return
    for at in range(len(word) - _LEAST_PART, _LEAST_PART - 1, -1):
        left, right = word[:at], word[at:]
        for link in links:
            if not link:
                yield left, right
            elif left.endswith(link) and len(left) - len(link) >= _LEAST_PART:
                yield left[: -len(link)], right
