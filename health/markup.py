"""HTML that cannot be broken out of: what is not made here is escaped."""

import re
from html import escape

from transcript.telling import visible

VOID = frozenset({"br", "hr", "input", "link", "meta", "wbr"})
LINKS = frozenset({"action", "href", "src"})
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_SCHEME = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//|\\)", re.IGNORECASE)


class Html(str):
    """Text that is HTML already and is passed on as it is."""

    __slots__ = ()


def text(value: "Html | str | int | float | None") -> Html:
    """Return a value as HTML: Html as it is, anything else escaped; None is nothing.

    Control characters, turned writing and lone surrogates of recorded text stand there as escapes.
    """
    if isinstance(value, Html):
        return value
    if value is None:
        return Html("")
    shown = visible(str(value)).encode("utf-8", "backslashreplace").decode("utf-8")
    return Html(escape(shown, quote=True))


def join(*children: "Html | str | int | float | None") -> Html:
    """Return the children one behind the other."""
    return Html("".join(map(text, children)))


def tag(
    name: str, /, *children: "Html | str | int | float | None", **attributes: "str | int | float | bool | None"
) -> Html:
    """Return an element. Children and values of attributes are escaped; True gives a bare attribute, None, False none.

    An underscore in an attribute's name is a hyphen (`aria_label`), one at its end is dropped (`class_`, `for_`).
    ValueError for a name that is none, for an address that is neither of the web nor relative, and for a handler.
    """
    if not _NAME.fullmatch(name.lower()):
        raise ValueError(f"{name!r} is no name of an element")
    opened = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in VOID:
        return Html(opened)
    return Html(f"{opened}{join(*children)}</{name}>")


def _attribute(key: str, value: "str | int | float | bool | None") -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if name.lower().startswith("on") or not _NAME.fullmatch(name.lower()):
        raise ValueError(f"{name!r} is no attribute that a page here may have")
    if value is True:
        return f" {name}"
    if name in LINKS and _is_foreign(str(value)):
        raise ValueError(f"{name}={str(value)!r} is neither an address of the web nor a relative one")
    return f' {name}="{text(str(value))}"'


def _is_foreign(address: str) -> bool:
    if address.startswith(("http://", "https://")):
        return False
    # A browser drops these characters from an address before it looks for the scheme.
    return bool(_SCHEME.match(re.sub(r"[\x00-\x20]", "", address)))


def page(title: str, body: Html, *, style: str) -> str:
    """Return a whole page of its own: nothing is asked of any server, nothing in it runs."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(style)),
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"
