"""Stores for the tests of import and export: real tables of each dialect, opened through the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from memtui.engine import transfer
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.engine import Engine, open_engine
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.static_embedder import BUNDLED, BUNDLED_DIMS, bundled
from memtui.engine.store.create import create_own, create_pro, pro_schema
from memtui.engine.transfer.importing.import_plan import ImportPlan
from memtui.engine.transfer.importing.request import ImportRequest
from tests.engine.transfer_world import NOW_MS

STATIC = EmbeddingSettings(model=BUNDLED)
"""The bundled model, as if it were configured for a store."""


def own_store(folder: Path, rows: Sequence[Mapping[str, Any]] = ()) -> Path:
    """A table of memtui's own with vectors of the bundled model."""
    schema = own_schema(BUNDLED_DIMS)
    create_own(folder, _table(rows, schema))
    return folder


def pro_store(folder: Path, rows: Sequence[Mapping[str, Any]] = (), dims: int = BUNDLED_DIMS) -> Path:
    """A table of memory-lancedb-pro's."""
    create_pro(folder, _table(rows, pro_schema(dims)))
    return folder


def memory(number: int, text: str, **more: Any) -> dict[str, Any]:
    """A row with an id that ends in `number`; `metadata` may be a mapping."""
    metadata = more.pop("metadata", {})
    row: dict[str, Any] = {
        "id": f"00000000-0000-4000-8000-{number:012x}",
        "text": text,
        "category": "fact",
        "scope": "global",
        "importance": 0.5,
        "timestamp": 1_772_000_000_000.0 + number,
        "metadata": json.dumps(metadata) if isinstance(metadata, Mapping) else metadata,
        "tier": "working",
        "access_count": 0,
        "last_accessed_at": 1_772_000_000_000.0 + number,
        "state": "confirmed",
    }
    return {**row, **more}


def opened(folder: Path, state: Path, *, writable: bool = True, **options: Any) -> Engine:
    """The engine on a store; its embedder is the bundled model unless `embedding` says otherwise."""
    options.setdefault("embedding", STATIC)
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder.parent, writable=writable, state=state, **options
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


def planned(engine: Engine, *sources: Path, **options: Any) -> ImportPlan:
    """The plan of an import; the catalog is read anew."""
    engine.refresh()
    return transfer.plan_import(engine, ImportRequest(tuple(sources), **options))


def imported(engine: Engine, *sources: Path, confirmed: bool = False, **options: Any) -> Any:
    """Plan and run an import."""
    plan = planned(engine, *sources, **options)
    try:
        return transfer.run_import(engine, plan, confirmed=confirmed)
    finally:
        plan.close()


def rows_of(engine: Engine) -> dict[str, dict[str, Any]]:
    """Every row by id, vectors as bytes."""
    engine.refresh()
    found: dict[str, dict[str, Any]] = {}
    store = engine.store
    for batch in store.pin().read_through(list(store.columns)):
        for row in batch.to_pylist():
            row.pop("_rowid")
            vector = row.get("vector")
            row["vector"] = None if vector is None else np.asarray(vector, dtype=np.float32).tobytes()
            found[str(row["id"])] = row
    return found


def jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    made = bundled().embed_passages([row["text"] or "" for row in rows]) if rows else []
    dims = schema.field("vector").type.list_size
    full = []
    for row, vector in zip(rows, made, strict=True):
        vector = vector.tolist() if dims == BUNDLED_DIMS else None
        full.append({name: row.get(name, vector if name == "vector" else None) for name in schema.names})
    return pa.Table.from_pylist(full, schema=schema)
