"""How large an export will be: a sample of its rows written for real, and scaled."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.transfer.export import ExportRequest, chosen, export

if TYPE_CHECKING:
    from memtui.engine.store.catalog import Catalog
    from memtui.engine.store.table import Store

SAMPLE = 256


def estimated_bytes(
    request: ExportRequest, store: Store, catalog: Catalog, *, now_ms: int, model: str | None = None
) -> int:
    """About how many bytes the export takes; exact where it has no more rows than the sample."""
    positions = chosen(request, store, catalog, now_ms)
    step = max(1, -(-len(positions) // SAMPLE))
    ids = tuple(each for each in catalog.ids.texts(positions[::step]) if each)
    if not ids:
        return 0
    with tempfile.TemporaryDirectory(prefix="memtui-size-") as folder:
        sample = replace(request, path=Path(folder) / "sample", ids=ids, filter="", scopes=None)
        written = export(sample, store, catalog, now_ms=now_ms, model=model)
    return round(written.size_bytes * len(positions) / max(1, written.rows))
