"""When a prompt speaks of: "yesterday", "two weeks ago", "on Friday", "in January", a date, as a stretch of time.

On the hook path: standard library only. English, German, French and Spanish; the clock and its zone are given in. It
is a soft cue: what was said then is lifted, nothing is left out.
"""

import re
from datetime import date, datetime, time, timedelta, tzinfo

_DAY = timedelta(days=1)
_MONTHS = (
    "january jan januar janvier enero", "february feb februar février fevrier febrero",
    "march mar märz maerz mars marzo", "april apr avril abril", "may mai mayo", "june jun juni juin junio",
    "july jul juli juillet julio", "august aug août aout agosto", "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre", "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre",
)  # fmt: skip
_WEEKDAYS = (
    "monday montag lundi lunes", "tuesday dienstag mardi martes", "wednesday mittwoch mercredi miércoles miercoles",
    "thursday donnerstag jeudi jueves", "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sábado sabado", "sunday sonntag dimanche domingo",
)  # fmt: skip
_NUMBERS = (
    "a an one ein einem einer einen un une una uno", "two couple zwei deux dos", "three drei trois tres",
    "four vier quatre cuatro", "five fünf cinq cinco", "six sechs seis", "seven sieben sept siete",
    "eight acht huit ocho", "nine neun neuf nueve", "ten zehn dix diez",
)  # fmt: skip
_UNITS = {
    "hour": "hour hours stunde stunden heure heures hora horas",
    "day": "day days tag tage tagen jour jours día días dia dias",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "month": "month months monat monate monaten mois mes meses",
    "year": "year years jahr jahre jahren an ans année años año",
}
_MONTH = {word: n for n, words in enumerate(_MONTHS, 1) for word in words.split()}
_WEEKDAY = {word: n for n, words in enumerate(_WEEKDAYS) for word in words.split()}
_NUMBER = {word: n for n, words in enumerate(_NUMBERS, 1) for word in words.split()}
_UNIT = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_LENGTH = {"hour": timedelta(hours=1), "day": _DAY, "week": 7 * _DAY, "month": 30 * _DAY, "year": 365 * _DAY}


def _any(words: object) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"  # type: ignore[call-overload]


_M, _W, _U = _any(_MONTH), _any(_WEEKDAY), _any(_UNIT)
_N = rf"\d{{1,3}}|{_any(_NUMBER)}"
_FEW = r"few|several|some|paar|einigen|quelques|unos|unas|algunos|algunas"
_PATTERN = re.compile(
    r"\b(?:"
    r"(?P<iso>(?:19|20)\d\d-\d\d(?:-\d\d)?)(?![\d-])"
    rf"|(?P<dm>(?P<dm_d>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?(?P<dm_m>{_M})\b"
    r"(?:\.?,?\s+(?:de\s+)?(?P<dm_y>20\d\d))?)"
    rf"|(?P<md>(?P<md_m>{_M})\.?\s+(?P<md_d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<md_y>20\d\d))?)"
    rf"|(?P<my>(?P<my_m>{_M})\s+(?:de\s+)?(?P<my_y>20\d\d))"
    rf"|(?P<m>(?:in|since|during|last|this|from|im|seit|letzten|vergangenen|en|depuis|pasado)\s+(?P<m_m>{_M}))"
    r"|(?P<before_yesterday>the day before yesterday|vorgestern|avant-hier|anteayer|antier)"
    r"|(?P<last_night>last night|gestern abend|gestern nacht|hier soir|cette nuit|anoche)"
    r"|(?P<yesterday>yesterday|gestern|ayer|hier(?=\s+(?:matin|après))|d'hier)"
    r"|(?P<morning>this morning|earlier today|heute (?:morgen|früh|vormittag)|ce matin|esta mañana)"
    r"|(?P<today>today|heute|aujourd'hui|hoy)"
    r"|(?P<past>(?:in |over |within |during )?(?:the )?"
    r"(?:last|past|previous|letzten|vergangenen|derniers|dernières|últimos|últimas)\s+"
    rf"(?P<past_n>{_N}|{_FEW})\s+(?P<past_u>{_U}))"
    rf"|(?P<past_fr>(?:ces|les|los|las)\s+(?P<past_fr_n>{_N}|{_FEW})\s+"
    rf"(?:derniers|dernières|últimos|últimas)\s+(?P<past_fr_u>{_U}))"
    rf"|(?P<ago>(?:(?P<ago_n>{_N}|{_FEW})\s+(?:of\s+)?(?P<ago_u>{_U})\s+(?:ago|back)))"
    rf"|(?P<vor>(?:vor|il y a|hace)\s+(?:ein\s+)?(?P<vor_n>{_N}|{_FEW})\s+(?P<vor_u>{_U}))"
    r"|(?P<last>(?:last|previous|past|the other|letzte[nrs]?|vorige[nrs]?|vergangene[nrs]?)\s+"
    r"(?P<last_u>week|month|year|day|woche|monat|jahr))"
    r"|(?P<last_fr>(?:la|el|le|l')\s*(?P<last_fr_u>semaine|mois|année|semana|mes|año)\s+(?:dernière|dernier|passée?|pasad[oa]))"
    r"|(?P<this>(?:this|diese[nrs]?|cette|ce|esta|este)\s+(?P<this_u>week|month|year|woche|monat|jahr|semaine|mois|année|"
    r"semana|mes|año))"
    rf"|(?P<wd>(?:on|last|since|this past|am|letzten|vergangenen|seit|depuis|el|el pasado)\s+(?P<wd_w>{_W}))"
    rf"|(?P<wd_fr>(?P<wd_fr_w>lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)(?:\s+dernier)?)"
    r")(?!\w)",
    re.IGNORECASE,
)
_FRENCH_YESTERDAY = re.compile(r"\bhier\b", re.IGNORECASE)


def stretch(text: str, now: datetime, zone: tzinfo | None = None, *, language: str = "") -> tuple[int, int] | None:
    """Return the first stretch of time that a text names, as seconds since 1970 (from, before); None for none.

    Days begin at midnight of `zone`, None for the machine's. A weekday or a month is the last one that has begun. Only
    in French is "hier" a day.
    """
    local = now.astimezone(zone)
    plain = text.replace("’", "'")
    found = _PATTERN.search(plain)
    if found is not None:
        named = _read(found, local)
    elif language == "fr" and _FRENCH_YESTERDAY.search(plain):
        named = _days(local.date() - _DAY)
    else:
        return None
    if named is None:
        return None
    begin, end = (_seconds(edge, local, zone) for edge in named)
    return (begin, end) if begin < min(end, int(now.timestamp()) + 1) else None


Edges = tuple[datetime | date, datetime | date]


def _read(found: re.Match[str], local: datetime) -> Edges | None:
    kind, today = found.lastgroup or "", local.date()
    given = {name: value.lower() for name, value in found.groupdict().items() if value}
    kind = next((name for name in _KINDS if name in given), kind)
    if kind == "iso":
        return _iso(given["iso"])
    if kind in ("dm", "md"):
        return _on(given[f"{kind}_d"], given[f"{kind}_m"], given.get(f"{kind}_y", ""), today)
    if kind == "my":
        return _month(int(given["my_y"]), _MONTH[given["my_m"]])
    if kind == "m":
        number = _MONTH[given["m_m"]]
        return _month(today.year - (number > today.month), number)
    if kind in ("past", "past_fr"):
        return local - _some(given[f"{kind}_n"], 7) * _LENGTH[_UNIT[given[f"{kind}_u"]]], local
    if kind in ("ago", "vor"):
        return _ago(given[f"{kind}_n"], _UNIT[given[f"{kind}_u"]], local)
    if kind in ("last", "last_fr"):
        return _whole(_UNIT[given[f"{kind}_u"]], today, back=1)
    if kind == "this":
        return _whole(_UNIT[given["this_u"]], today, back=0)
    if kind in ("wd", "wd_fr"):
        back = (today.weekday() - _WEEKDAY[given[f"{kind}_w"]]) % 7 or 7
        return _days(today - back * _DAY)
    if kind == "last_night":
        return datetime.combine(today - _DAY, time(18)), datetime.combine(today, time(6))
    back = {"before_yesterday": 2, "yesterday": 1}.get(kind, 0)
    return _days(today - back * _DAY)


_KINDS = ("iso", "dm", "md", "my", "m", "before_yesterday", "last_night", "yesterday", "morning", "today", "past",
          "past_fr", "ago", "vor", "last", "last_fr", "this", "wd", "wd_fr")  # fmt: skip


def _iso(text: str) -> Edges | None:
    parts = [int(part) for part in text.split("-")]
    try:
        return _days(date(*parts)) if len(parts) == 3 else _month(parts[0], parts[1])
    except ValueError:
        return None


def _on(day: str, month: str, year: str, today: date) -> Edges | None:
    try:
        named = date(int(year) if year else today.year, _MONTH[month], int(day))
        if not year and named > today:
            named = named.replace(year=today.year - 1)
    except ValueError:
        return None
    return _days(named)


def _ago(number: str, unit: str, local: datetime) -> Edges:
    """So long ago, give or take half of the unit; "a few" reaches from two to seven of them."""
    length = _LENGTH[unit]
    if number not in _NUMBER and not number.isdecimal():
        return local - 7 * length, local - 2 * length + length / 2
    count = _some(number, 1)
    if unit == "day":
        return _days(local.date() - count * _DAY)
    return local - (count + 0.5) * length, local - (count - 0.5) * length


def _some(number: str, few: int) -> int:
    return int(number) if number.isdecimal() else _NUMBER.get(number, few)


def _whole(unit: str, today: date, *, back: int) -> Edges:
    """The calendar week, month or year so many before this one."""
    if unit == "day":
        return today - 7 * _DAY, today
    if unit == "week":
        monday = today - today.weekday() * _DAY - back * 7 * _DAY
        return monday, monday + 7 * _DAY
    if unit == "month":
        number = today.year * 12 + today.month - 1 - back
        return _month(number // 12, number % 12 + 1)
    return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)


def _month(year: int, number: int) -> Edges:
    return date(year, number, 1), date(year + number // 12, number % 12 + 1, 1)


def _days(day: date) -> Edges:
    return day, day + _DAY


def _seconds(edge: datetime | date, local: datetime, zone: tzinfo | None) -> int:
    if not isinstance(edge, datetime):
        edge = datetime.combine(edge, time())
    if edge.tzinfo is None:
        edge = edge.replace(tzinfo=zone) if zone is not None else edge.astimezone()
    return int(edge.timestamp())
