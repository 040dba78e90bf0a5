"""Memory that a transfer takes: `python transfer_peak.py export|import FOLDER ROWS DIMS`, one JSON object."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import psutil

from memtui.engine import transfer
from memtui.engine.store.create import create_pro, pro_schema
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.request import ImportRequest
from tests.benchmarks.million import write
from tests.engine.transfer_stores import opened


class Watch:
    """The most memory of its own (not of mapped files) that the program has had while it was watched."""

    def __init__(self) -> None:
        self._process, self._over = psutil.Process(), threading.Event()
        self.before = self.peak = self._own()
        threading.Thread(target=self._look, daemon=True).start()

    def _own(self) -> int:
        found = self._process.memory_info()
        return int(found.rss - getattr(found, "shared", 0))

    def _look(self) -> None:
        while not self._over.wait(0.01):
            self.peak = max(self.peak, self._own())

    def stop(self) -> int:
        """Bytes above those at the start."""
        self._over.set()
        return self.peak - self.before


def main(what: str, folder: Path, rows: int, dims: int) -> None:
    """Measure and print."""
    source, lines = folder / "source", folder / "all.jsonl"
    if what == "export":
        write(str(source), rows, dims)
        engine = opened(source, folder / "state", writable=False)
        watch = Watch()
        transfer.export_memories(engine, ExportRequest(lines, "jsonl", vectors=True, mask=False))
    else:
        create_pro(folder / "target", pro_schema(dims).empty_table())
        engine = opened(folder / "target", folder / "state")
        watch = Watch()
        plan = transfer.plan_import(engine, ImportRequest((lines,)))
        transfer.run_import(engine, plan)
        plan.close()
    print(json.dumps({"bytes": watch.stop(), "rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
