"""Memory of one step of an edit of a third of a table: `edit_memory.py bare|edit|plan_undo|undo FOLDER`, as JSON.

Each step is a process of its own, so that no peak is another step's. `bare` is the engine's own merge of the rows,
held as a table; it leaves the rows as they were for the others.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import pyarrow as pa

from memtui.engine.changes import apply, plan_edit, plan_undo, stored_changes
from memtui.engine.engine import Engine
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.store import sql
from memtui.engine.store.open import open_store
from tests.benchmarks.million import NOW_MS

MANY = 2_000
"""So that the smaller table is edited in the way of the larger."""


def _resident_mb(field: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024 / 1e6


def main(step: str, folder: str) -> None:
    """Do the step, and print its rows and the peak over the start of it."""
    stored_changes.MANY = MANY
    store = open_store(folder)
    table = store.writer().handle  # the bare handle: what a script would use
    table.checkout_latest()
    ids = table.search().select(["id"]).limit(None).to_arrow()["id"].to_pylist()
    ids = sorted(ids)[::3]
    engine = Engine(
        store,
        embedder=NoEmbedder("none", "none"),
        now=lambda: NOW_MS,
        state=Path(folder).parent / f"{Path(folder).name}-state",
        writable=True,
    )
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the high-water mark begins anew
    start = _resident_mb("VmRSS")
    if step == "bare":
        rows = table.search().where(sql.is_in("id", ids)).limit(None).to_arrow()
        at = rows.schema.get_field_index("importance")
        rows = rows.set_column(at, "importance", pa.array([0.25] * len(rows), rows.schema.field(at).type))
        table.merge_insert("id").when_matched_update_all().execute(rows)
    elif step == "edit":
        apply(engine, plan_edit(engine, ids, {"importance": 0.75}), confirmed=True)
    else:
        back = plan_undo(engine)
        if step == "undo":
            apply(engine, back, confirmed=True)
    print(json.dumps({"rows": len(ids), "mb": _resident_mb("VmHWM") - start}))


if __name__ == "__main__":
    main(*sys.argv[1:])
