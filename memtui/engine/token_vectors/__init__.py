"""Vectors of word pieces for the recipe `memtui`: made for a whole store, looked at, removed, their model fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.token_vectors.building import Built, Status, build, keep_up, remove, status
    from memtui.engine.token_vectors.fetching import MODEL_URL, RemoteFile, fetch, look

__all__ = [
    "MODEL_URL",
    "Built",
    "RemoteFile",
    "Status",
    "build",
    "fetch",
    "keep_up",
    "look",
    "remove",
    "status",
]

__getattr__ = lazy_names(
    __name__,
    {
        "MODEL_URL": "memtui.engine.token_vectors.fetching",
        "Built": "memtui.engine.token_vectors.building",
        "RemoteFile": "memtui.engine.token_vectors.fetching",
        "Status": "memtui.engine.token_vectors.building",
        "build": "memtui.engine.token_vectors.building",
        "fetch": "memtui.engine.token_vectors.fetching",
        "keep_up": "memtui.engine.token_vectors.building",
        "look": "memtui.engine.token_vectors.fetching",
        "remove": "memtui.engine.token_vectors.building",
        "status": "memtui.engine.token_vectors.building",
    },
)
