"""Edits a large table as a person does, prints what it cost as JSON: `python curate_million.py FOLDER`."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from memtui.engine.changes import apply, plan_edit
from memtui.engine.engine import Engine
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.store import sql
from memtui.engine.store.open import open_store

NOW_MS = 1_788_264_000_000
MANY = 10_000


def main(folder: str) -> None:
    """Measure one edit and ten thousand, each beside the engine's own merge of as many whole rows."""
    from lancedb.index import BTree

    store = open_store(folder)
    writer = store.writer()
    writer.newest()
    table = writer._table  # the bare handle: what a script would use
    table.create_index("id", config=BTree())
    wanted = table.search().select(["id"]).limit(8 * MANY).to_arrow()["id"].to_pylist()
    engine = Engine(
        store,
        embedder=NoEmbedder("none", "none"),
        now=lambda: NOW_MS,
        state=Path(folder).parent / "state",
        writable=True,
    )
    found: dict[str, Any] = {}
    taken = 0
    for name, size, times in (("one", 1, 25), ("many", MANY, 3)):
        raw, ours, plans, versions = [], [], [], []
        for n in range(times):
            mine, other = wanted[taken : taken + size], wanted[taken + size : taken + 2 * size]
            taken += 2 * size
            table.checkout_latest()
            rows = table.search().where(sql.is_in("id", other)).limit(None).to_arrow()
            raw.append(
                _cpu_ms(lambda rows=rows: table.merge_insert("id").when_matched_update_all().execute(rows))
            )
            store.refresh()
            started = time.process_time()
            planned = plan_edit(engine, mine, {"scope": f"agent:new{n}", "importance": 0.25})
            plans.append((time.process_time() - started) * 1000)
            time.sleep(0.06)  # the gap that is left for other writers is waiting, not work
            outcome: list[Any] = []
            ours.append(_cpu_ms(lambda planned=planned, to=outcome: to.append(apply(engine, planned))))
            versions.append(outcome[0].version_after - outcome[0].version_before)
            assert outcome[0].changed == size
        found[name] = {
            "raw_merge": statistics.median(raw),
            "apply": statistics.median(ours),
            "plan": statistics.median(plans),
            "versions": versions,
        }
    print(json.dumps(found))


def _cpu_ms(work: Any) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


if __name__ == "__main__":
    main(sys.argv[1])
