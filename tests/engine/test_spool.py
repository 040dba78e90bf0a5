"""The rows of an import between plan and run: a plan that is given up is closed beside threads that still read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.importing.spool import Spool


def test_a_spool_that_is_closed_stays_open_for_whoever_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    table = pa.table({"id": ["a", "b", "c", "d"]})
    with pa.ipc.new_file(str(path), table.schema) as file:
        for batch in table.to_batches(max_chunksize=2):
            file.write_batch(batch)
    spool = Spool(path)
    reading = spool.batches()
    assert next(reading).column("id").to_pylist() == ["a", "b"]
    spool.close()
    assert next(reading).column("id").to_pylist() == ["c", "d"], (
        "pyarrow says 'operation on closed file' else"
    )
    reading.close()
    spool.close()
    assert spool._map.closed, "the last reader lets go of the file"
    for again in (
        lambda: spool.rows([0], ["id"]),
        lambda: spool.table(np.array([1])),
        lambda: next(spool.batches()),
    ):
        with pytest.raises(MemtuiError, match="given up"):
            again()
