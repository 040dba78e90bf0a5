"""Finding the stores that an agent really uses: `openclaw.json`, both memory plugins, the default places.

`discover` is cheap (no lancedb, nothing is created); `inspect` opens one store for its numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.discovery.json5_file import read_config
    from memtui.engine.discovery.search import StoreHealth, discover, inspect
    from memtui.engine.discovery.target import NOTHING_FOUND, Target, resolve_target
    from memtui.engine.discovery.types import Discovery, FoundStore
    from memtui.engine.discovery.variables import MASK, mask_text
    from memtui.engine.store.create import create_empty


_HOME = {
    "MASK": "variables",
    "NOTHING_FOUND": "target",
    "create_empty": "memtui.engine.store.create",
    "mask_text": "variables",
    "read_config": "json5_file",
    "Discovery": "types",
    "FoundStore": "types",
    "StoreHealth": "search",
    "Target": "target",
    "discover": "search",
    "inspect": "search",
    "resolve_target": "target",
}

__all__ = [
    "MASK",
    "NOTHING_FOUND",
    "Discovery",
    "FoundStore",
    "StoreHealth",
    "Target",
    "create_empty",
    "discover",
    "inspect",
    "mask_text",
    "read_config",
    "resolve_target",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
