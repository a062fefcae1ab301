"""What a page gets and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from health.markup import Html
from recall.cli.console.signing import Signing


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, after every check: who asks holds the token, and what is posted comes from a page of ours."""

    now: datetime  # aware, UTC
    name: str = ""  # what stands in the address behind the page's own part, unquoted
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)  # what was posted; nothing for a page that is only looked at
    csrf: str = ""  # stands in every form; parts.form puts it there
    signing: Signing = field(default_factory=Signing)  # the server's one question at the terminal


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown: a title without markup, and the body below the navigation."""

    title: str
    body: Html
    status: int = 200


@dataclass(frozen=True, slots=True)
class Goto:
    """Another page of the console to go to; its address begins with one slash."""

    address: str
