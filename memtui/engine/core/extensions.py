"""Extensions: other packages' dialects, formats, recipes and checks, offered as entry points.

An entry point names a module. Reading the list imports nothing of it; its code runs when `load` is called, which a
registry does only for the name or the table that was chosen. Nothing here is read at start.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from memtui.engine.core.errors import MemtuiError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROTOCOLS: Mapping[str, int] = {
    "memtui.dialects": 1,
    "memtui.readers": 1,
    "memtui.writers": 1,
    "memtui.recipes": 1,
    "memtui.capture_recipes": 1,
    "memtui.checks": 1,
}
"""Each group of entry points, and the version of its protocol that this memtui reads.

A version goes up when a module written for the one before would no longer work.
"""

Value = TypeVar("Value")


class ExtensionError(MemtuiError):
    """An extension is missing something, or its code failed; the message names it."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One entry point of an installed package. Nothing of the package was imported for it."""

    group: str
    name: str
    module: str
    package: str
    version: str
    marks: frozenset[str] = frozenset()
    """Columns that a table of this dialect always has; empty: the dialect is used only when it is named."""

    def __str__(self) -> str:
        return f"extension {self.name} ({self.package} {self.version})".replace(" )", ")")


def installed(group: str) -> tuple[Extension, ...]:
    """The extensions of a group, by name. Of two with the same name, the first on the path comes first."""
    from importlib.metadata import entry_points

    return tuple(
        sorted((_described(group, point) for point in entry_points(group=group)), key=lambda one: one.name)
    )


def _described(group: str, point: EntryPoint) -> Extension:
    package, version = "", ""
    if point.dist is not None:
        package, version = str(point.dist.name or ""), str(point.dist.version or "")
    target, _, marks = point.value.partition("[")
    columns = frozenset(mark.strip() for mark in marks.rstrip().removesuffix("]").split(",") if mark.strip())
    return Extension(group, point.name, target.strip(), package, version, columns)


def extension_named(group: str, name: str) -> Extension | None:
    """The extension of this name; None where no installed package offers it."""
    return next((extension for extension in installed(group) if extension.name == name), None)


def load(extension: Extension, member: str, kind: type | tuple[type, ...] | None = None) -> Any:
    """Import the extension's module and return what it offers as `member`, checked against the protocol.

    `kind`: the type of the value, or of every value where `member` is plural (`RECIPES`); None: a function.
    Raises ExtensionError where the module cannot be imported, was written for another protocol, or lacks `member`.
    """
    from importlib import import_module

    name, _, attribute = extension.module.partition(":")
    try:
        module: Any = import_module(name)
        for part in filter(None, attribute.split(".")):
            module = getattr(module, part)
    except (Exception, SystemExit) as error:
        raise ExtensionError(
            f"The {extension} cannot be loaded: {_reason(error)}.", fix=_FIX.format(package=extension.package)
        ) from error
    protocol, ours = getattr(module, "PROTOCOL", None), PROTOCOLS[extension.group]
    if protocol != ours:
        stated = "states no PROTOCOL" if protocol is None else f"was written for protocol {protocol}"
        raise ExtensionError(
            f"The {extension} {stated}; this memtui reads protocol {ours} of {extension.group}.",
            fix=f"Update {extension.package or 'its package'} or memtui.",
        )
    offered = getattr(module, member, None)
    values = offered if isinstance(offered, tuple | list) else (offered,)
    fits = callable(offered) if kind is None else bool(values) and all(isinstance(v, kind) for v in values)
    if not fits:
        raise ExtensionError(
            f"The {extension} lacks {member}, or it has another type.",
            fix="Read about the protocol in docs/extensions.md.",
        )
    return offered


_FIX = "Reinstall or update {package}; memtui works without it."


def _reason(error: BaseException) -> str:
    """The name and the first line of an exception, without a full stop at its end."""
    first = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


# An extension's code at work: what it raises becomes an error that names it, never a traceback.


def guarded(value: Value, extension: Extension) -> Value:
    """The same frozen dataclass, function or mapping of functions, whose errors name the extension."""
    if inspect.isfunction(value) or isinstance(value, functools.partial | staticmethod):
        return _guarded_call(value, extension)  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {key: guarded(one, extension) for key, one in value.items()}  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        inside = {
            field.name: guarded(getattr(value, field.name), extension)
            for field in fields(value)
            if field.init and _is_code(getattr(value, field.name))
        }
        return replace(value, **inside)
    return value


def _is_code(value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(map(_is_code, value.values()))
    return inspect.isfunction(value) or isinstance(value, functools.partial)


def _guarded_call(call: Callable[..., Any], extension: Extension) -> Callable[..., Any]:
    @functools.wraps(call)
    def guard(*args: Any, **options: Any) -> Any:
        try:
            found = call(*args, **options)
        except Exception as error:
            raise _named(error, extension) from error
        return _guarded_items(found, extension) if inspect.isgenerator(found) else found

    return guard


def _guarded_items(items: Iterator[Any], extension: Extension) -> Iterator[Any]:
    try:
        yield from items
    except Exception as error:
        raise _named(error, extension) from error


def _named(error: Exception, extension: Extension) -> Exception:
    """The error itself where it already speaks to people or stops on request, else one that names the extension."""
    from memtui.engine.core.errors import Cancelled

    if isinstance(error, MemtuiError | Cancelled):
        return error
    return ExtensionError(
        f"The {extension} failed: {_reason(error)}.", fix=_FIX.format(package=extension.package or "it")
    )


def guarded_methods(value: Value, base: type, extension: Extension) -> Value:
    """A copy of a frozen object whose own methods (those that `base` does not define so) are guarded alike."""
    kind = type(value)
    own = {
        name: _guarded_call(method, extension)
        for name in dir(base)
        if not name.startswith("_")
        and inspect.isfunction(method := inspect.getattr_static(kind, name))
        and method is not inspect.getattr_static(base, name)
    }
    if not own:
        return value
    guarded_kind = type(kind.__name__, (kind,), {"__slots__": (), "__module__": kind.__module__, **own})
    copy: Any = object.__new__(guarded_kind)
    for field in fields(value):  # type: ignore[arg-type]
        object.__setattr__(copy, field.name, getattr(value, field.name))
    guarded_copy: Value = copy
    return guarded_copy
