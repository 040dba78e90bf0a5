"""All checks, in the order of their kinds: our own, and an extension's for tables of the dialect of its name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from memtui.engine.core.errors import UsageError
from memtui.engine.core.extensions import ExtensionError, extension_named, guarded, load
from memtui.engine.health import checks
from memtui.engine.health.check import FIRST_OF_EXTENSIONS, Check


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check of our own."""
    found: list[Check] = []
    for module in iter_modules(checks.__path__):
        found += import_module(f"{checks.__name__}.{module.name}").CHECKS
    return tuple(sorted(found, key=lambda check: int(check.kind[1:])))


GROUP = "memtui.checks"


def checks_of_extension(dialect: str) -> tuple[Check, ...]:
    """The checks that an extension brings for tables of this dialect; none where no extension has its name.

    Raises ExtensionError where it is broken.
    """
    extension = extension_named(GROUP, dialect)
    if extension is None:
        return ()
    found: tuple[Check, ...] = load(extension, "CHECKS", Check)
    for check in found:
        number = check.kind[1:]
        if not (check.kind[:1] == "D" and number.isdecimal() and int(number) >= FIRST_OF_EXTENSIONS):
            raise ExtensionError(
                f"The {extension} has a check of the kind {check.kind!r}.",
                fix=f"Kinds of extensions are D{FIRST_OF_EXTENSIONS} and above.",
            )
    return tuple(guarded(check, extension) for check in found)


def check_named(kind: str) -> Check:
    """The check of a kind, "D14"; UsageError for one that does not exist."""
    wanted = kind.strip().upper()
    found = next((check for check in all_checks() if check.kind == wanted), None)
    if found is None:
        known = ", ".join(check.kind for check in all_checks())
        raise UsageError(f"There is no check {kind!r}.", fix=f"The checks are {known}.")
    return found
