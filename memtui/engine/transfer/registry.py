"""All formats: of our own `readers` and `writers`, and of extensions when their name is chosen."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from memtui.engine.core.errors import UsageError
from memtui.engine.core.extensions import ExtensionError, extension_named, guarded, installed, load
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
    found = next((known_format for known_format in FORMATS if known_format.name == name), None)
    if found is None and (extension := extension_named(READERS, name)) is not None:
        offered = load(extension, "FORMATS", Format)
        found = next((guarded(each, extension) for each in offered if each.name == name), None)
        if found is None:
            raise ExtensionError(f"The {extension} has no format named {name!r}.")
    if found is None:
        known = ", ".join(
            [known_format.name for known_format in FORMATS]
            + [extension.name for extension in installed(READERS)]
        )
        raise UsageError(f"There is no form {name!r}.", fix=f"The forms are auto, {known}.")
    return found


READERS, WRITERS = "memtui.readers", "memtui.writers"


EXPORT_FORMATS: tuple[ExportFormat, ...] = tuple(
    sorted(
        (
            import_module(f"{writers.__name__}.{module.name}").FORMAT
            for module in iter_modules(writers.__path__)
        ),
        key=lambda each: each.order,
    )
)
"""Every format to export to, in the order of lists."""


def export_format(name: str) -> ExportFormat:
    """The format to export to of this name; UsageError with the names for another."""
    found = next((each for each in EXPORT_FORMATS if each.name == name), None)
    if found is None and (extension := extension_named(WRITERS, name)) is not None:
        offered: ExportFormat = load(extension, "FORMAT", ExportFormat)
        if offered.name != name:
            raise ExtensionError(f"The {extension} has no format named {name!r}.")
        found = guarded(offered, extension)
    if found is None:
        known = ", ".join(
            [each.name for each in EXPORT_FORMATS] + [extension.name for extension in installed(WRITERS)]
        )
        raise UsageError(f"There is no form {name!r} to export to.", fix=f"Choose {known}.")
    return found
