"""Finding the stores that an agent really uses: `openclaw.json`, both memory plugins, the default places.

`discover` is cheap (no lancedb, nothing is created); `inspect` opens one store for its numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.discovery.core_index import is_index_file
    from memtui.engine.discovery.json5_file import read_config
    from memtui.engine.discovery.search import StoreHealth, discover, inspect
    from memtui.engine.discovery.target import (
        NOTHING_FOUND,
        Target,
        configured_remotes,
        new_place,
        resolve_target,
        table_columns,
    )
    from memtui.engine.discovery.types import Discovery, FoundStore
    from memtui.engine.discovery.write_guard import running_gateways
    from memtui.engine.store.create import create_empty
    from memtui.engine.store.kept_vectors import drop_kept_vectors, kept_folder, kept_vector_bytes


__all__ = [
    "NOTHING_FOUND",
    "Discovery",
    "FoundStore",
    "StoreHealth",
    "Target",
    "configured_remotes",
    "create_empty",
    "discover",
    "drop_kept_vectors",
    "inspect",
    "is_index_file",
    "kept_folder",
    "kept_vector_bytes",
    "new_place",
    "read_config",
    "resolve_target",
    "running_gateways",
    "table_columns",
]


__getattr__ = lazy_names(
    __name__,
    {
        "Discovery": "memtui.engine.discovery.types",
        "FoundStore": "memtui.engine.discovery.types",
        "NOTHING_FOUND": "memtui.engine.discovery.target",
        "StoreHealth": "memtui.engine.discovery.search",
        "Target": "memtui.engine.discovery.target",
        "configured_remotes": "memtui.engine.discovery.target",
        "create_empty": "memtui.engine.store.create",
        "discover": "memtui.engine.discovery.search",
        "drop_kept_vectors": "memtui.engine.store.kept_vectors",
        "inspect": "memtui.engine.discovery.search",
        "is_index_file": "memtui.engine.discovery.core_index",
        "kept_folder": "memtui.engine.store.kept_vectors",
        "kept_vector_bytes": "memtui.engine.store.kept_vectors",
        "new_place": "memtui.engine.discovery.target",
        "read_config": "memtui.engine.discovery.json5_file",
        "table_columns": "memtui.engine.discovery.target",
        "resolve_target": "memtui.engine.discovery.target",
        "running_gateways": "memtui.engine.discovery.write_guard",
    },
)
