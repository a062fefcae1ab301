"""What pages are put together from; every text is escaped by health.markup, so recorded words stay words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlencode

from health.markup import Html, join, tag
from recall.cli.console.asked import Asked, Page
from recall.cli.console.routes import ROUTES
from transcript.event import moment as moment_of
from transcript.telling import counted, minute, session_name

Child = Html | str | int | float | None
LEVELS = ("ok", "warn", "fail")
WORDS_SHOWN, WORDS_FOLDED = 1_200, 12_000  # characters that stand there, and that open on demand
_CODED = "="  # begins the part of an address that is a name in hex digits
_STEPS = ((365 * 86400, "year"), (30 * 86400, "month"), (86400, "day"), (3600, "hour"), (60, "minute"))


# -- addresses ------------------------------------------------------------------------------


def address(page: str, name: str | None = None, *, anchor: str = "", **query: str | None) -> str:
    """Return the address of a page: `address("/turn", id)`, of any name; what is empty in query is left out."""
    path = page if name is None else f"{page}/{_part(name)}"
    asked = urlencode({key.rstrip("_"): value for key, value in query.items() if value}, errors="replace")
    return path + (f"?{asked}" if asked else "") + (f"#{_quoted(anchor)}" if anchor else "")


def link(text: Child, to: str, **attributes: str) -> Html:
    """Return a link to an address."""
    return tag("a", text, href=to, **attributes)


def session(name: str, *, around: str = "") -> Html:
    """Return a link to a session, or to the place of an event in it."""
    return link(session_title(name), address("/session", name, around=around, anchor=around))


def session_title(name: str) -> str:
    """Return what a session is called; a name of nothing but blanks or hyphens gives a link no words."""
    return session_name(name).strip() or "without a name"


def pointer(text: str) -> Html:
    """Return a source pointer as a link to the place in its session where those words were said."""
    return link(tag("code", text), place(text))


def place(pointer: str) -> str:
    """Return the address that leads to the place in its session where a source pointer's words were said."""
    return address("/at", pointer.partition("#")[0])


def named(part: str) -> str:
    """Return the name that the last part of an address stands for, unquoted already; what nobody made is the name."""
    try:
        return bytes.fromhex(part[1:]).decode("utf-8", "surrogatepass") if part.startswith(_CODED) else part
    except ValueError:
        return part


def _part(name: str) -> str:
    """What does not survive being quoted goes as hex digits: a browser goes up at `..`, no route takes a line end."""
    if name in ("", ".", "..") or name.startswith(_CODED) or "%" in name or not name.isprintable():
        return _CODED + name.encode("utf-8", "surrogatepass").hex()
    return _quoted(name)


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="replace")


# -- small things ---------------------------------------------------------------------------


def when(moment: str | datetime | float, now: datetime) -> Html:
    """Return a moment as `3 hours ago` with the time of day beside it; a moment that cannot be read says so."""
    at = minute(moment)
    try:
        read = moment_of(moment) if isinstance(moment, str) else moment
        then = read.timestamp() if isinstance(read, datetime) else read
        return join(ago(now.timestamp() - then), " ", tag("span", at, class_="soft"))
    except (ValueError, OverflowError):
        return tag("span", at, class_="soft")


def ago(seconds: float) -> str:
    """Return how long ago that is, in its largest unit."""
    for size, name in _STEPS:
        if abs(seconds) >= size:
            told = counted(int(abs(seconds) // size), name)
            return f"{told} ago" if seconds > 0 else f"in {told}"
    return "just now"


def badge(text: str, level: str = "") -> Html:
    """Return a word in a frame, in the colour of a level (ok, warn, fail) where one is given."""
    return tag("span", text, class_=f"badge {level if level in LEVELS else 'soft'}")


def facts(rows: Mapping[str, Child]) -> Html:
    """Return names with their values; a value that is None or empty is left out."""
    shown = [(name, value) for name, value in rows.items() if value not in (None, "")]
    return tag("dl", *(join(tag("dt", name), tag("dd", value)) for name, value in shown), class_="facts")


def section(title: str, *children: Child, id_: str | None = None) -> Html:
    """Return a part of a page under a heading."""
    return tag("section", tag("h2", title), *children, id_=id_)


def listing(items: Iterable[Html], *, empty: str) -> Html:
    """Return a list of entries, the sentence `empty` where there are none. An entry is made by `entry`."""
    found = list(items)
    return tag("ol", *found, class_="list") if found else tag("p", empty, class_="soft")


def entry(*head: Child, below: Html | None = None, id_: str | None = None) -> Html:
    """Return an entry of a list: what stands in its first line, and what below it."""
    return tag("li", tag("div", *(tag("span", one) for one in head if one), class_="head"), below, id_=id_)


def words(text: str) -> Html:
    """Return recorded words with their lines as they are."""
    return tag("div", text, class_="words")


def long_words(text: str, whole: str) -> Html:
    """Return recorded words of any length: their beginning, more of them on demand, and how the rest is had.

    whole is the command that prints all of them.
    """
    first, shown = text[:WORDS_SHOWN], text[:WORDS_FOLDED]
    if text == first:
        return words(text)
    left = len(text) - len(shown)
    rest = tag("p", f"and {counted(left, 'character')} more: ", tag("code", whole)) if left else None
    return join(words(first + " …"), folded(f"all {counted(len(text), 'character')}", words(shown), rest))


def block(text: str) -> Html:
    """Return text of a program: lines and blanks as they are."""
    return tag("pre", text, tabindex="0")


def folded(summary: Child, *children: Child, open_: bool = False) -> Html:
    """Return what opens on demand."""
    return tag("details", tag("summary", summary), *children, open_=open_)


NEWEST_FIRST = ("← newer", "older →")
BEST_FIRST = ("← before", "further →")
OLDEST_FIRST = ("↑ before this", "after this ↓")  # what is read from old to new


def paging(
    before: str | None, after: str | None, *, words: tuple[str, str] = NEWEST_FIRST, label: str = "Pages"
) -> Html:
    """Return links to the pages before and after this one, by their addresses; nothing where there are none."""
    if before is None and after is None:
        return Html("")
    ways = zip(words, (before, after), strict=True)
    shown = (link(text, to) if to is not None else tag("span") for text, to in ways)
    return tag("nav", *shown, class_="paging", aria_label=label)


def number(text: str) -> int:
    """Return a place in a list as an address gives it, 0 for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


# -- bars -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bar:
    """One term of a sum: its value in [0, 1], its weight, and whether it is subtracted."""

    name: str
    value: float
    weight: float
    minus: bool = False


def bars(rows: Iterable[Bar], *, label: str) -> Html:
    """Return a bar a term, on one scale: the track is the most that a term could add, the bar what it does."""
    found = list(rows)
    most = max((row.weight for row in found), default=0) or 1
    return tag("table", tag("tbody", *(_bar(row, most) for row in found)), class_="bars", aria_label=label)


def _bar(row: Bar, most: float) -> Html:
    share = max(0.0, min(1.0, row.value)) * row.weight
    drawn = tag(
        "svg",
        tag("rect", class_="track", width=round(100 * row.weight / most, 1), height=10),
        tag("rect", class_="minus" if row.minus else "plus", width=round(100 * share / most, 1), height=10),
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    sum_ = f"{'−' if row.minus else '+'}{share:.3f}"
    return tag(
        "tr",
        tag("th", row.name, scope="row"),
        tag("td", drawn),
        tag("td", sum_),
        tag("td", f"{row.weight:.2f} × {row.value:.3f}"),
    )


def gauge(value: float, most: float, *, mark: float | None = None) -> Html:
    """Return how much of the most there may be is there, as a bar; with a line at `mark`. The figures stand beside."""
    top = max(most, value) or 1
    line = Html("")
    if mark is not None:
        line = tag("rect", class_="mark", x=round(98 * mark / top, 1), width=2, height=10)
    return tag(
        "svg",
        tag("rect", class_="track", width=100, height=10),
        tag("rect", class_="plus", width=round(100 * value / top, 1), height=10),
        line,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="gauge",
    )


# -- forms ----------------------------------------------------------------------------------


def form(asked: Asked, action: str, *children: Child, submit: str, disabled: bool = False) -> Html:
    """Return a form that posts to an address of ours, with what shows that it comes from here."""
    hidden = tag("input", type_="hidden", name_="csrf", value=asked.csrf)
    button = tag("button", submit, disabled=disabled)
    return tag("form", hidden, *children, button, method="post", action=action, class_="inline")


def finder(action: str, name: str, value: str, *, label: str, submit: str = "Search") -> Html:
    """Return a field that asks a page anew with what is typed, without changing anything."""
    field = tag("input", type_="search", name_=name, value=value, aria_label=label, placeholder=label)
    return tag("form", field, tag("button", submit), action=action, class_="inline", role="search")


# -- whole pages ----------------------------------------------------------------------------


def failure(status: int, why: str) -> Page:
    """Return the page that says what cannot be shown and why."""
    titles = {403: "Not from here", 404: "Nothing there", 405: "Not that way", 413: "Too much", 500: "It broke"}
    return Page(titles.get(status, "That cannot be shown"), tag("p", why), status)


def document(page: Page, here: str) -> str:
    """Return a whole page; here is the address that is marked in the navigation."""
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", f"{page.title} · recall"),
        tag("link", rel="stylesheet", href="/style.css"),
    )
    menu = tag("ul", *(tag("li", _menu_link(one.address, one.label, here)) for one in ROUTES if one.label))
    body = join(
        tag("a", "Skip to the page", href="#main", class_="skip"),
        tag("header", tag("nav", menu, aria_label="Console"), class_="bar"),
        tag("main", tag("h1", page.title), page.body, id_="main", tabindex="-1"),
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def _menu_link(to: str, label: str, here: str) -> Html:
    return link(label, to, **({"aria_current": "page"} if to == here else {}))
