"""All formats that can be imported: every module of `readers` is asked for its `FORMATS`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from memtui.engine.core.errors import UsageError
from memtui.engine.transfer import readers
from memtui.engine.transfer.format import Format


def _found() -> tuple[Format, ...]:
    found: list[Format] = []
    for module in iter_modules(readers.__path__):
        found += import_module(f"{readers.__name__}.{module.name}").FORMATS
    return tuple(sorted(found, key=lambda each: each.order))


FORMATS: tuple[Format, ...] = _found()
"""Every format, in the order of lists."""


def format_named(name: str) -> Format:
    """The format of this name; UsageError with the names for another."""
    found = next((each for each in FORMATS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in FORMATS)
        raise UsageError(f"There is no form {name!r}.", fix=f"The forms are auto, {known}.")
    return found
