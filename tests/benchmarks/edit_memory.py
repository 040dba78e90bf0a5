"""Edits a third of a table and takes that back, prints the memory of each as JSON: `python edit_memory.py FOLDER`."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from memtui.engine.changes import apply, plan_edit, plan_undo
from memtui.engine.engine import Engine
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.store import sql
from memtui.engine.store.open import open_store
from tests.benchmarks.million import NOW_MS


def _resident_mb(field: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024 / 1e6


def main(folder: str) -> None:
    """Measure the peak over the start of the engine's own merge of a third, and of ours: plan, apply, undo."""
    store = open_store(folder)
    writer = store.writer()
    writer.newest()
    table = writer._table  # the bare handle: what a script would use
    every = table.search().select(["id"]).limit(None).to_arrow()["id"].to_pylist()
    ids = every[::3]
    engine = Engine(
        store,
        embedder=NoEmbedder("none", "none"),
        now=lambda: NOW_MS,
        state=Path(folder).parent / "state",
        writable=True,
    )
    gc.collect()
    start = _resident_mb("VmRSS")
    found: dict[str, float] = {"rows": len(ids)}

    def measured(name: str, work: Callable[[], Any]) -> Any:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the high-water mark begins anew
        result = work()
        found[name] = round(_resident_mb("VmHWM") - start)
        return result

    def bare() -> None:
        rows = table.search().where(sql.is_in("id", ids)).limit(None).to_arrow()
        at = rows.schema.get_field_index("importance")
        rows = rows.set_column(at, "importance", pa.array([0.25] * len(rows), rows.schema.field(at).type))
        table.merge_insert("id").when_matched_update_all().execute(rows)

    measured("bare", bare)
    store.refresh()
    planned = measured("plan", lambda: plan_edit(engine, ids, {"importance": 0.75}))
    entry = measured("apply", lambda: apply(engine, planned, confirmed=True)).entry
    back = measured("plan_undo", lambda: plan_undo(engine, entry))
    measured("undo", lambda: apply(engine, back, confirmed=True))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
