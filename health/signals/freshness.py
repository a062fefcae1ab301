"""Freshness: which version each part runs, whether it is behind, edited or mixed, and what wrote each file."""

from collections.abc import Iterable

from health.facts import Facts, HookFacts
from health.facts_machine import FreshnessFacts
from health.known import Area, Known, one
from health.signal import NONE_ALLOWED_WARN, Level, Signal
from recall.freshness import ordered
from transcript.projections.memory_files import FOLDER
from transcript.telling import counted

UNKNOWN = "unknown"
AGAIN = "run 'recall enable-hooks' with the copy that is to answer"
_MOST_CHARS = 48  # of a folder in one line of text


def code_behind(code: FreshnessFacts) -> Signal:
    """Return how far the code that answers hooks is behind the canonical one; not known is not behind."""
    running = code.launcher or code.version
    level = NONE_ALLOWED_WARN.level(code.behind or 0)
    if level:
        commits = code.canon and code.canonical.startswith(f"{code.canon} ")
        how = f"{counted(code.behind or 0, 'commit')} behind" if commits else "behind"
        text = f"recall {running} answers, {how} {code.canonical}"
    elif code.canonical:
        text = f"recall {running} answers, as new as {code.canonical}"
    else:
        text = f"recall {running} answers; {code.canon_fault or 'no newer one ran here, no canonical one is set'}"
    return Signal(
        id="code_behind",
        value={"code_version": running, "canonical_version": code.canonical or UNKNOWN, "behind": code.behind},
        unit="version",
        level=level,
        text=_short(text, 160),
        meaning="Hooks that run old code keep its faults, and nothing says so.",
        action=f"upgrade the copy in {code.launcher_site or code.site}, or {AGAIN}" if level else "",
        limits=NONE_ALLOWED_WARN,
    )


def code_edited(code: FreshnessFacts) -> Signal:
    """Return the files of the program that are not as committed or installed.

    Told as a warning only where hooks run that copy: anywhere else somebody is at work on it.
    """
    edited = code.edited or ()
    hooked = bool(code.launcher_site)
    level = Level.WARN if edited and hooked else Level.OK
    text = "as committed or installed" if code.edited is not None else "not known: neither git nor a wheel's list"
    if edited:
        text = f"{counted(len(edited), 'file')} of the program edited" + ("" if hooked else "; no hook runs it")
    return Signal(
        id="code_edited",
        value=list(edited),
        unit="names",
        level=level,
        text=text,
        meaning="Hooks are answered by code that no version holds: nobody else can see what it does.",
        action="commit the changes or install the program again" if level else "",
        details=edited,
    )


def code_mixed(code: FreshnessFacts) -> Signal:
    """Return whether command, hooks and service are one copy of the program."""
    parts = [("command", code.version, code.site)]
    if code.launcher_site:
        parts.append(("hooks", code.launcher, code.launcher_site))
    if code.service:
        parts.append(("service", code.service, code.service_site))
    copies = {(version, site) for _, version, site in parts}
    level = Level.FAIL if code.launcher_gone else Level.WARN if len(copies) > 1 else Level.OK
    if code.launcher_gone:
        text = "the copy that hooks run is gone: no hook answers"
    elif level:
        text = ", ".join(f"{name} {version} in {_short(site, _MOST_CHARS)}" for name, version, site in parts)
    else:
        text = f"one copy of recall {code.version}"
    return Signal(
        id="code_mixed",
        value={name: f"{version} {site}".strip() for name, version, site in parts},
        unit="version",
        level=level,
        text=_short(text, 160),
        meaning="Hook, service and command must be one copy: else what one mends the other still does.",
        action=AGAIN if level else "",
        details=tuple(f"{name}: {version} {site}" for name, version, site in parts) if level else (),
    )


def hook_version(hook: HookFacts, code: FreshnessFacts) -> Signal:
    """Return which version a harness's hook runs; fails where entry or launcher are not what this version writes."""
    ran, wrote = code.launcher or code.version, code.hooks.get(hook.harness, "")
    fault = ""
    if code.launcher_edited:
        fault = f"the launcher is not what recall {ran} writes"
    elif code.launcher and code.launcher != code.version:
        fault = f"runs {ran}, this is {code.version}"
    elif wrote and wrote != code.version and hook.drift:
        fault = f"entry written by {wrote}, and {code.version} writes another"
    action = f"run 'recall enable-hooks {hook.harness}'" if fault else ""
    if ordered(ran) > ordered(code.version):
        action = f"upgrade the copy in {code.site}: the hook is newer than this command"
    return Signal(
        id=f"hook_version.{hook.harness}",
        value=ran,
        unit="version",
        level=Level.FAIL if fault else Level.OK,
        text=f"{hook.harness}: {fault or f'runs {ran}'}",
        meaning="A hook that runs other code than is installed keeps old faults.",
        action=action,
    )


def schemas(code: FreshnessFacts) -> Signal:
    """Return the files that another version wrote: older ones are brought up, newer ones are not understood."""
    known = [(name, held, wanted) for name, held, wanted in code.schemas if held is not None]
    newer = [name for name, held, wanted in known if held > wanted]
    unknown = [name for name, held, _ in code.schemas if held is None]
    behind = [name for name, held, wanted in known if held < wanted]
    unread = [name for name in behind if name.startswith(f"{FOLDER}/")]  # nothing brings them up but writing them anew
    older = [name for name in behind if name not in unread]
    level = Level.FAIL if newer or unknown or unread else Level.WARN if older else Level.OK
    said = (
        ("newer than this program", newer),
        ("no known version", unknown),
        ("older, and not read", unread),
        ("older", older),
    )
    text = "; ".join(f"{what}: {', '.join(names)}" for what, names in said if names)
    action = ""
    if newer or unknown:
        action = "upgrade recall, then run 'recall migrate'; 'recall verify' reads the record until then"
    elif unread:
        action = "run 'recall project', which writes them anew"
    elif older:
        action = "run 'recall migrate'"
    return Signal(
        id="schemas",
        value=[*newer, *unknown, *unread, *older],
        unit="names",
        level=level,
        text=text or f"{counted(len(code.schemas), 'file')} of the versions that this program reads",
        meaning="A file of another schema is read wrongly or left out.",
        action=action,
        details=tuple(f"{name}: version {UNKNOWN if held is None else held}, reads {wanted}"
                      for name, held, wanted in code.schemas),
    )  # fmt: skip


def _hook_versions(facts: Facts) -> Iterable[Signal]:
    return [hook_version(hook, facts.freshness) for hook in facts.hooks if hook.installed]


def _short(text: str, most: int) -> str:
    """A text whose middle is left out where it is long: of a folder, both ends tell."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


KNOWN = (
    Known(
        "code_behind",
        one(lambda f: code_behind(f.freshness)),
        Area.OPERATIONS,
        "<data>/newest, launcher, git, freshness.canon",
        warn="behind the canonical version, or a newer one ran here",
        why_never="old code still answers; schemas fails where it cannot read",
        rows="LCA-10.6-01, LCA-D-01, LCA-D-01H",
    ),
    Known(
        "code_edited",
        one(lambda f: code_edited(f.freshness)),
        Area.OPERATIONS,
        "git, RECORD of the wheel",
        warn="a file differs, and hooks run that copy",
        why_never="an edit may be meant",
    ),
    Known(
        "code_mixed",
        one(lambda f: code_mixed(f.freshness)),
        Area.OPERATIONS,
        "launcher, service, command",
        warn="different versions or folders",
        fail="the copy that hooks run is gone",
        rows="LCA-6.1-06",
    ),
    Known(
        "hook_version.*",
        _hook_versions,
        Area.OPERATIONS,
        "hooks.json, launcher",
        fail="launcher or entry are not what this version writes",
        why_never="a hook runs this code or it does not",
        remedy="enable-hooks *",
        safe=True,
        rows="LCA-6.1-06",
    ),
    Known(
        "schemas",
        one(lambda f: schemas(f.freshness)),
        Area.OPERATIONS,
        "each file",
        warn="older, and read",
        fail="newer than this program reads, of no known version, or a memory's file of another",
        remedy="migrate",
        safe=True,
        rows="LCA-6.1-07",
    ),
)
