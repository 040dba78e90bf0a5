"""All checks, in the order of their kinds: every module of `checks` is asked for its `CHECKS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from memtui.engine.core.errors import UsageError
from memtui.engine.health import checks
from memtui.engine.health.check import Check


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check that there is."""
    found: list[Check] = []
    for module in iter_modules(checks.__path__):
        found += import_module(f"{checks.__name__}.{module.name}").CHECKS
    return tuple(sorted(found, key=lambda check: int(check.kind[1:])))


def check_named(kind: str) -> Check:
    """The check of a kind, "D14"; UsageError for one that does not exist."""
    wanted = kind.strip().upper()
    found = next((each for each in all_checks() if each.kind == wanted), None)
    if found is None:
        known = ", ".join(each.kind for each in all_checks())
        raise UsageError(f"There is no check {kind!r}.", fix=f"The checks are {known}.")
    return found
