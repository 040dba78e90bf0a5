"""Finding the stores that an agent really uses: `openclaw.json`, both memory plugins, the default places.

`discover` is cheap (no lancedb, nothing is created); `inspect` opens one store for its numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Discovery": "found",
    "FoundStore": "found",
    "StoreHealth": "health",
    "Target": "target",
    "discover": "search",
    "inspect": "health",
    "resolve_target": "target",
}

__all__ = [
    "Discovery",
    "FoundStore",
    "StoreHealth",
    "Target",
    "discover",
    "inspect",
    "resolve_target",
]

if TYPE_CHECKING:
    from memtui.engine.discovery.found import Discovery, FoundStore
    from memtui.engine.discovery.health import StoreHealth, inspect
    from memtui.engine.discovery.search import discover
    from memtui.engine.discovery.target import Target, resolve_target


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
