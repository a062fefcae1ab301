"""Configuration: every setting with its value and where it comes from. Only this module reads it.

On the hook path: standard library only. A flag wins over a variable, a variable over the project's
`.recall/config.toml`, that over the user's `<data>/config.toml`, that over what was fitted to the store
(recall.calibration), that over the default. Names are
`section.name`: `[gate] threshold = 0.4` in a file, `RECALL_GATE_THRESHOLD=0.4` as a variable. A name that
does not exist is an error that says which; of variables only those that begin with one of our sections count,
for other products begin theirs with RECALL_ too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from indexer.settings import IndexSettings
from recall import calibration
from recall.governance_settings import (
    NOTHING_CARRIED,
    ApprovalSettings,
    AudienceSettings,
    SigningSettings,
    StandingSettings,
    WindowSettings,
)
from recall.memory_settings import ConsolidationSettings, ExperienceSettings, MemorySettings, ReviewerSettings
from recall.operations_settings import FreshnessSettings, LogSettings, ScheduleSettings, UiSettings
from recall.settings import Settings, check_numbers
from transcript.errors import ConfigError
from transcript.paths import read_file
from transcript.settings import CaptureSettings

Part = TypeVar("Part")
FLAG, VARIABLE, PROJECT, USER, DEFAULT = "flag", "variable", "project file", "user file", "default"
FITTED = "fitted to this store"
PREFIX = "RECALL_"
# `.recall/config.toml` also says which workspace the project is; that is read by transcript.workspace.
FOREIGN = frozenset({"id", "workspace", "version"})


@dataclass(frozen=True, slots=True)
class HookSettings:
    """How long a hook may take before it prints nothing."""

    deadline_ms: int = 1000

    def __post_init__(self) -> None:
        check_numbers(self)


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The resident service."""

    idle_minutes: float = 15.0
    memory_mb: int = 1500

    def __post_init__(self) -> None:
        check_numbers(self, positive=("idle_minutes", "memory_mb"))


@dataclass(frozen=True, slots=True)
class HandoffSettings:
    """The short handoff that a session is told when it starts."""

    session_start: bool = True
    tokens: int = 400

    def __post_init__(self) -> None:
        check_numbers(self)

    @property
    def told_tokens(self) -> int:
        """How many tokens a session may be told, 0 where the telling is switched off."""
        return self.tokens if self.session_start else 0


@dataclass(frozen=True, slots=True)
class Value:
    """One setting: its name, value and origin, and the file or variable that gives it ("" where there is none)."""

    key: str
    value: Any
    origin: str
    place: str = ""

    @property
    def where(self) -> str:
        """The origin in words, with the file or variable."""
        return f"{self.origin} {self.place}".rstrip()


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting, resolved."""

    values: tuple[Value, ...]

    def get(self, key: str) -> Value:
        """The setting of this name; ConfigError when there is none."""
        for value in self.values:
            if value.key == key:
                return value
        raise ConfigError(_unknown(key, "asked for"))

    def settings(self) -> Settings:
        """The engine's settings."""
        parts = {f.name: self._filled(f.name, getattr(Settings(), f.name)) for f in fields(Settings)}
        return Settings(**parts)

    def index(self) -> IndexSettings:
        """The index's settings."""
        return self._filled("index", IndexSettings())

    def capture(self) -> CaptureSettings:
        """What is captured."""
        return self._filled("capture", CaptureSettings())

    def hook(self) -> HookSettings:
        """The hook's limits."""
        return self._filled("hook", HookSettings())

    def service(self) -> ServiceSettings:
        """The service's limits."""
        return self._filled("service", ServiceSettings())

    def handoff(self) -> HandoffSettings:
        """What a session is told when it starts."""
        return self._filled("handoff", HandoffSettings())

    def consolidation(self) -> ConsolidationSettings:
        """When memories are made, and of what."""
        return self._filled("consolidation", ConsolidationSettings())

    def reviewer(self) -> ReviewerSettings:
        """Who reviews what is to become a memory."""
        return self._filled("reviewer", ReviewerSettings())

    def memory(self) -> MemorySettings:
        """Whose memories they are and which files count."""
        return self._filled("memory", MemorySettings())

    def experience(self) -> ExperienceSettings:
        """What each proof adds to a memory's weight."""
        return self._filled("experience", ExperienceSettings())

    def approval(self) -> ApprovalSettings:
        """How long a proposal and a decision may wait."""
        return self._filled("approval", ApprovalSettings())

    def standing(self) -> StandingSettings:
        """What a session always carries."""
        return self._filled("standing", StandingSettings())

    def audience(self) -> AudienceSettings:
        """Who is taken to read."""
        return self._filled("audience", AudienceSettings())

    def window(self) -> WindowSettings:
        """What may leave a live window."""
        return self._filled("window", WindowSettings())

    def signing(self) -> SigningSettings:
        """What the record's head is signed with."""
        return self._filled("signing", SigningSettings())

    def freshness(self) -> FreshnessSettings:
        """What the installed code is compared with."""
        return self._filled("freshness", FreshnessSettings())

    def schedule(self) -> ScheduleSettings:
        """When the nightly jobs run."""
        return self._filled("schedule", ScheduleSettings())

    def logs(self) -> LogSettings:
        """How large logs may grow."""
        return self._filled("logs", LogSettings())

    def ui(self) -> UiSettings:
        """The console in the browser."""
        return self._filled("ui", UiSettings())

    def _filled(self, section: str, part: Part) -> Part:
        given = {v.key.partition(".")[2]: v for v in self.values if v.key.startswith(section + ".")}
        changed = {name: v.value for name, v in given.items() if v.value != getattr(part, name)}
        if not changed:
            return part
        try:
            return replace(part, **changed)  # type: ignore[type-var]
        except ValueError as error:
            said = str(error).removeprefix("weight ")
            named = given.get(said.partition(" ")[0])
            wheres = [named.where] if named is not None else dict.fromkeys(given[name].where for name in changed)
            told = f"{section}.{said}" if named is not None else f"{section}: {said}"
            raise _refused(f"{told} ({', '.join(wheres)})", *changed.values()) from None


def sections() -> dict[str, Any]:
    """Name -> settings of every section, all at their defaults."""
    engine = Settings()
    return {
        **{f.name: getattr(engine, f.name) for f in fields(Settings)},
        "index": IndexSettings(),
        "capture": CaptureSettings(),
        "hook": HookSettings(),
        "service": ServiceSettings(),
        "handoff": HandoffSettings(),
        "consolidation": ConsolidationSettings(),
        "reviewer": ReviewerSettings(),
        "memory": MemorySettings(),
        "experience": ExperienceSettings(),
        "approval": ApprovalSettings(),
        "standing": StandingSettings(),
        "audience": AudienceSettings(),
        "window": WindowSettings(),
        "signing": SigningSettings(),
        "freshness": FreshnessSettings(),
        "schedule": ScheduleSettings(),
        "logs": LogSettings(),
        "ui": UiSettings(),
    }


def defaults() -> dict[str, Any]:
    """Name -> default of every setting there is, in the order of their sections."""
    return {
        f"{section}.{item.name}": getattr(part, item.name)
        for section, part in sections().items()
        for item in fields(part)
        if item.name != "extra"  # weights of registered terms have no name to set them by
    }


def project_file(project: Path) -> Path:
    """Where a project's settings stand."""
    return project / ".recall" / "config.toml"


def user_file(data: Path) -> Path:
    """Where the user's settings stand."""
    return data / "config.toml"


def told_tokens(data: Path, project: Path | None, env: Mapping[str, str]) -> int:
    """Return how many tokens a rules file may tell of the record: none where a setting cannot be read."""
    try:
        return load(data, project, env).handoff().told_tokens
    except ConfigError:
        return 0


def carried(data: Path, project: Path | None, env: Mapping[str, str]) -> StandingSettings:
    """Return what of the standing context a rules file may hold: nothing where a setting cannot be read."""
    try:
        return load(data, project, env).standing()
    except ConfigError:
        return NOTHING_CARRIED


def load(
    data: Path,
    project: Path | None,
    env: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    *,
    home: Path | None = None,
) -> Config:
    """Resolve every setting. ConfigError on a name that does not exist or a value of the wrong kind.

    home is the workspace's folder in the data: what was fitted to its store then counts too.
    """
    known = defaults()
    layers: Sequence[tuple[str, str, Mapping[str, Any]]] = (
        (FLAG, "", flags or {}),
        (VARIABLE, "", _from_env(env, known)),
        (PROJECT, str(project_file(project)), _from_file(project_file(project))) if project else (PROJECT, "", {}),
        (USER, str(user_file(data)), _from_file(user_file(data))),
    )
    for origin, place, layer in layers:
        for key in layer:
            if key not in known:
                raise _refused(_unknown(key, f"{origin} {place}".rstrip()), key)
    values = []
    for key, default in known.items():
        origin, place, layer = next((one for one in layers if key in one[2]), (DEFAULT, "", known))
        place = _variable(key) if origin == VARIABLE else place
        values.append(_typed(Value(key, layer[key], origin, place), default))
    config = Config(tuple(values))
    for section, part in sections().items():
        config._filled(section, part)  # each checks its ranges
    return config if home is None else _fitted(config, home)


def _fitted(config: Config, home: Path) -> Config:
    """The settings with the gate's thresholds as fitted to the store, where nobody has set them."""
    made = calibration.read(home)
    if made is None or made.fit_for != calibration.fit_for(config.settings()):
        return config
    held = made.layer()
    values = (Value(v.key, held[v.key], FITTED) if v.origin == DEFAULT and v.key in held else v for v in config.values)
    return Config(tuple(values))


def _from_env(env: Mapping[str, str], known: Mapping[str, Any]) -> dict[str, Any]:
    names = {_variable(key): key for key in known}
    sections = {PREFIX + key.partition(".")[0].upper() + "_" for key in known}
    found = {}
    for name, value in env.items():
        if name in names:
            found[names[name]] = value
        elif any(name.startswith(section) for section in sections):
            raise _refused(f"variable {name} names no setting; {_hint(name, names)}", name)
    return found


def _variable(key: str) -> str:
    """The variable that sets a setting."""
    return PREFIX + key.upper().replace(".", "_").rstrip("_")


def _from_file(path: Path) -> dict[str, Any]:
    """Settings of a file, flattened; {} where there is none."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error.__class__.__name__}; mend or remove it") from None
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refused(f"{path} is no valid TOML: {error}; mend that line", *text.splitlines()) from None
    except RecursionError:
        raise ConfigError(f"{path} is no valid TOML: it nests too deep; mend it") from None
    found: dict[str, Any] = {}
    for section, value in tables.items():
        if section in FOREIGN:
            continue
        if isinstance(value, dict):
            found.update({f"{section}.{name}": inner for name, inner in value.items()})
        else:
            found[section] = value
    return found


def _typed(given: Value, default: Any) -> Value:
    """The setting in the type of its default; text from variables and flags is read, files must have the right type."""
    value = given.value
    if isinstance(value, str) and not isinstance(default, str) and given.origin in (VARIABLE, FLAG):
        value = _read(value, default)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = _as_float(value)
    if type(value) is not type(default):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "text")
        raise _refused(f"{given.key} is {given.value!r} ({given.where}), must be {wanted}", repr(given.value))
    return replace(given, value=value)


def _as_float(number: int) -> float:
    """A whole number as a float, infinite where it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _read(text: str, default: Any) -> Any:
    plain = text.strip().lower()
    if isinstance(default, bool):
        return _SWITCH.get(plain, text)
    try:
        return int(plain) if isinstance(default, int) else float(plain)
    except ValueError:
        return text


def _unknown(key: str, origin: str) -> str:
    return f"{key} ({origin}) is no setting; {_hint(key, defaults())}"


def _refused(message: str, *said: object) -> ConfigError:
    """Return the error without what is too long to be a setting: that was pasted, and may be a record's words."""
    from transcript.telling import unechoed

    return ConfigError(unechoed(message, map(str, said)))


def _hint(name: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:100], list(known), n=1)  # comparing takes the longer the longer a name is
    return f"did you mean {near[0]}?" if near else "'recall config' lists them"
