"""Stand-ins for `dataclasses` and `re.compile` in the hook's client, where every millisecond is the user's.

Making fifty data classes and compiling a hundred patterns takes 60 ms of a process that lives for 100 (measured by
`recall eval latency`): the standard library writes and compiles source text for each class, and imports `inspect` for
it. Here a class gets plain methods that work over its list of fields, and a pattern is compiled when it is first used.
Values behave the same (construction, defaults, equality, hash, `replace`, `asdict`, `fields`), except that a frozen one
is not guarded. A test runs every module of the hook path both ways. Only the client's process ever calls `install`.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

MISSING = object()


class Field:
    """One field of a class: name and how its default is made."""

    __slots__ = ("compare", "default", "default_factory", "init", "metadata", "name", "repr", "type")

    def __init__(
        self, default: Any, default_factory: Any, init: bool, repr: bool, compare: bool, metadata: Mapping[Any, Any]
    ) -> None:
        self.name, self.type = "", None
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare, self.metadata = init, repr, compare, metadata


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    metadata: Mapping[Any, Any] | None = None,
    **other: Any,
) -> Any:
    """Describe one field."""
    return Field(default, default_factory, init, repr, compare, metadata or {})


def dataclass(cls: type | None = None, /, **options: Any) -> Any:
    """Make a class a data class; `eq`, `order`, `frozen` and `unsafe_hash` say which methods it gets."""
    return _made(cls, options) if cls is not None else lambda found: _made(found, options)


def fields(one: Any) -> tuple[Field, ...]:
    """Return the fields of a data class or of one of its instances."""
    return tuple(one.__dataclass_fields__.values())


def is_dataclass(one: Any) -> bool:
    """Say whether this is a data class or an instance of one."""
    return hasattr(one if isinstance(one, type) else type(one), "__dataclass_fields__")


def replace(one: Any, /, **changes: Any) -> Any:
    """Return a copy with other values in some fields."""
    given = {name: getattr(one, name) for name, known in one.__dataclass_fields__.items() if known.init}
    return type(one)(**given | changes)


def asdict(one: Any) -> Any:
    """Return an instance as nested dictionaries."""
    return {name: _plain(getattr(one, name)) for name in one.__dataclass_fields__}


def astuple(one: Any) -> tuple[Any, ...]:
    """Return an instance's values."""
    return tuple(getattr(one, name) for name in one.__dataclass_fields__)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, list | tuple):
        return type(value)(_plain(item) for item in value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value


def _made(cls: type, options: dict[str, Any]) -> type:
    found: dict[str, Field] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= getattr(base, "__dataclass_fields__", {})
    for name, kind in cls.__annotations__.items():
        if not str(kind).startswith(("typing.ClassVar", "ClassVar")):
            found[name] = _field(cls, name, kind)
    cls.__dataclass_fields__ = found  # type: ignore[attr-defined]
    cls.__slots__ = tuple(cls.__annotations__)  # type: ignore[attr-defined]
    cls.__init__ = _init(found, hasattr(cls, "__post_init__"))  # type: ignore[misc]
    compared = tuple(name for name, one in found.items() if one.compare)
    for name, method in _methods(found, compared, options):
        if name not in cls.__dict__:
            setattr(cls, name, method)
    if options.get("eq", True) and not (options.get("frozen") or options.get("unsafe_hash")):
        cls.__hash__ = None  # type: ignore[assignment]
    return cls


def _field(cls: type, name: str, kind: Any) -> Field:
    value = cls.__dict__.get(name, MISSING)
    one = value if isinstance(value, Field) else Field(value, MISSING, True, True, True, {})
    one.name, one.type = name, kind
    if isinstance(value, Field):
        if one.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, one.default)
    return one


def _init(found: dict[str, Field], has_post: bool) -> Callable[..., None]:
    names = tuple(name for name, one in found.items() if one.init)
    needed = frozenset(n for n in names if found[n].default is MISSING and found[n].default_factory is MISSING)
    factories = tuple((n, one.default_factory) for n, one in found.items() if one.default_factory is not MISSING)
    defaults = {name: one.default for name, one in found.items() if one.default is not MISSING}
    known = frozenset(names)

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        if len(values) > len(names):
            raise TypeError(f"{type(self).__name__} takes {len(names)} values, got {len(values)}")
        own = self.__dict__
        own.update(defaults)
        own.update(zip(names, values, strict=False))
        own.update(named)
        for name, make in factories:
            if name not in own:
                own[name] = make()
        if not (needed <= own.keys() and named.keys() <= known):
            raise TypeError(f"{type(self).__name__}: missing {needed - own.keys()}, unknown {named.keys() - known}")
        if has_post:
            self.__post_init__()

    return __init__


def _methods(
    found: dict[str, Field], compared: tuple[str, ...], options: dict[str, Any]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    shown = tuple(name for name, one in found.items() if one.repr)

    def key(self: Any) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in compared)

    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def __eq__(self: Any, other: object) -> Any:
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(key(self))

    def __lt__(self: Any, other: Any) -> bool:
        return key(self) < key(other)

    yield "__repr__", __repr__
    if options.get("eq", True):
        yield "__eq__", __eq__
        if options.get("frozen") or options.get("unsafe_hash"):
            yield "__hash__", __hash__
    if options.get("order"):
        yield "__lt__", __lt__


class LazyPattern:
    """A pattern that is compiled when it is first used."""

    __slots__ = ("_flags", "_pattern", "_text")

    def __init__(self, text: Any, flags: Any = 0) -> None:
        self._text, self._flags = text, flags
        self._pattern: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._pattern is None:
            self._pattern = _COMPILE(self._text, self._flags)
        return getattr(self._pattern, name)


_COMPILE = re.compile


def _compile(pattern: Any, flags: Any = 0) -> Any:
    return LazyPattern(pattern, flags) if isinstance(pattern, str | bytes) else _COMPILE(pattern, flags)


def install() -> None:
    """Put the stand-ins in place; does nothing in a process that has the real `dataclasses` already."""
    if "dataclasses" in sys.modules:
        return
    module = ModuleType("dataclasses")
    for name in ("MISSING", "Field", "asdict", "astuple", "dataclass", "field", "fields", "is_dataclass", "replace"):
        setattr(module, name, globals()[name])
    sys.modules["dataclasses"] = module
    re.compile = _compile
