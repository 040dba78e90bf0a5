"""Another program at work on the same table: adds, edits, merges and deletes rows, without any lock.

own-rows: rows of its own only, with ids that begin with "writer-". counters: also counts uses in the
metadata of every other row, as an agent does that takes no lock.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

os.environ.setdefault("LANCEDB_LOG", "error")
PREFIX = "writer-"


def main(folder: str, kind: str, seconds: float) -> None:
    """Write until the time is over or the process is ended."""
    import lancedb
    import pyarrow as pa

    table = lancedb.connect(folder).open_table("memories")
    print("writing", flush=True)
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        n += 1
        table.checkout_latest()
        try:
            sample = table.search().limit(1).to_arrow().to_pylist()[0]
            row = {**sample, "id": f"{PREFIX}{n}", "text": f"note {n} of the other program"}
            table.add(pa.Table.from_pylist([row], schema=table.schema))
            if n % 3 == 0:
                merged = {**row, "text": f"note {n}, corrected"}
                again = pa.Table.from_pylist([merged], schema=table.schema)
                table.merge_insert("id").when_matched_update_all().execute(again)
            if n % 4 == 0:
                table.delete(f"id = '{PREFIX}{n - 1}'")
            if kind == "counters":
                _count(table, n)
        except (RuntimeError, ValueError):  # the other side was faster: try the next one
            continue
        time.sleep(0.01)


def _count(table: Any, n: int) -> None:
    rows = table.search().where(f"NOT starts_with(id, '{PREFIX}')").select(["id", "metadata"]).limit(None)
    found = rows.to_arrow().to_pylist()
    row = found[n % len(found)]
    try:
        metadata = json.loads(row["metadata"])
    except (TypeError, ValueError):
        return
    if isinstance(metadata, dict):
        metadata["access_count"] = metadata.get("access_count", 0) + 1
        text = json.dumps(metadata).replace("'", "''")
        old = row["metadata"].replace("'", "''")
        identity = row["id"].replace("'", "''")
        table.update(where=f"id = '{identity}' AND metadata = '{old}'", values_sql={"metadata": f"'{text}'"})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
