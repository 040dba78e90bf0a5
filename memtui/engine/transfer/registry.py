"""All formats: every module of `readers` is asked for its `FORMATS`, every one of `writers` for its `FORMAT`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from memtui.engine.core.errors import UsageError
from memtui.engine.transfer import readers, writers
from memtui.engine.transfer.exporting.request import ExportFormat
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


EXPORT_FORMATS: tuple[ExportFormat, ...] = tuple(
    sorted(
        (import_module(f"{writers.__name__}.{each.name}").FORMAT for each in iter_modules(writers.__path__)),
        key=lambda each: each.order,
    )
)
"""Every format to export to, in the order of lists."""


def export_format(name: str) -> ExportFormat:
    """The format to export to of this name; UsageError with the names for another."""
    found = next((each for each in EXPORT_FORMATS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in EXPORT_FORMATS)
        raise UsageError(f"There is no form {name!r} to export to.", fix=f"Choose {known}.")
    return found
