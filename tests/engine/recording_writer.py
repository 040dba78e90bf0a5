"""Another program at work on a table without a lock, which knows what it wrote: appends, rewords, counts uses.

Writes sound rows until it is told to end (SIGTERM), then prints one JSON line: the texts of its own rows, and how often
it counted a use in each other row.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

os.environ.setdefault("LANCEDB_LOG", "error")
FIRST = 200_000
"""The number of its first row."""


def main(folder: str) -> None:
    """Write until the signal."""
    import lancedb
    import numpy as np
    import pyarrow as pa

    from tests.engine.planted_faults import key_of, row, text_of

    over: list[int] = []
    signal.signal(signal.SIGTERM, lambda *given: over.append(1))
    table = lancedb.connect(folder).open_table("memories")
    dims, texts, counts, n = table.schema.field("vector").type.list_size, {}, {}, FIRST
    print("writing", flush=True)
    while not over:
        n += 1
        noise = np.random.default_rng(n).standard_normal(dims) + 0.5
        made = row(key_of(n), text_of(n), [float(x) for x in noise / np.linalg.norm(noise)],
                   timestamp=float(time.time_ns() // 1_000_000 - 1_000))  # fmt: skip
        table.checkout_latest()
        if _tried(lambda made=made: table.add(pa.Table.from_pylist([made], schema=table.schema))):
            texts[made["id"]] = made["text"]
        if n % 3 == 0 and made["id"] in texts:
            said = f"{made['text']} Corrected."
            if _tried(
                lambda made=made, said=said: table.update(where=f"id = '{made['id']}'", values={"text": said})
            ):
                texts[made["id"]] = said
        if n % 2 == 0:
            _count(table, n, counts)
        time.sleep(0.002)
    print(json.dumps({"texts": texts, "counts": counts}), flush=True)


def _tried(write: Any) -> bool:
    try:
        write()
    except (RuntimeError, ValueError, OSError) as error:
        if "onflict" not in str(error) and "concurrent" not in str(error):
            raise
        return False
    return True


def _count(table: Any, n: int, counts: dict[str, int]) -> None:
    rows = (
        table.search()
        .where(f"timestamp < {FIRST}e13")
        .select(["id", "metadata"])
        .limit(40)
        .to_arrow()
        .to_pylist()
    )
    row = rows[n % len(rows)]
    try:
        metadata = json.loads(row["metadata"])
    except (TypeError, ValueError):
        return
    if isinstance(metadata, dict):
        metadata["access_count"] = metadata.get("access_count", 0) + 1
        text, old = (each.replace("'", "''") for each in (json.dumps(metadata), row["metadata"]))
        where = f"id = '{row['id']}' AND metadata = '{old}'"
        done: list[Any] = []
        if _tried(lambda: done.append(table.update(where=where, values_sql={"metadata": f"'{text}'"}))):
            changed = int(getattr(done[0], "rows_updated", 0))
            counts[row["id"]] = counts.get(row["id"], 0) + changed


if __name__ == "__main__":
    main(sys.argv[1])
