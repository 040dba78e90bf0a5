"""Browses a large table as the app does, prints what it cost as JSON: `python browse_million.py FOLDER`."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.metadata_parse import NUMBERS, TEXTS
from memtui.engine.catalog.types import ListQuery
from memtui.engine.catalog.views import make_view, page_of
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.benchmarks.peak import peak_mb

NOW_MS = 1_788_264_000_000
PAGE = 50
THREE_FILTERS = "tier:core scope:agent:* imp>0.5"


def cpu_ms(work: Callable[[], object], times: int = 15) -> float:
    """The median processor time of a call, in milliseconds: neighbours on the machine do not count."""
    work()
    spent = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append((time.process_time() - start) * 1000)
    return statistics.median(spent)


def bare_parse(store: Store) -> None:
    """Reads the metadata and has Arrow parse the keys that are needed, a batch at once: no rule of ours."""
    import pyarrow as pa
    import pyarrow.json as pj

    column = str(store.dialect.columns.metadata)
    kinds = [(name, pa.string()) for name in TEXTS] + [(name, pa.float64()) for name in NUMBERS]
    options = pj.ParseOptions(explicit_schema=pa.schema(kinds), unexpected_field_behavior="ignore")
    rows = 0
    for batch in store.pin().scan([column], batch_size=4_096):
        lines = "\n".join(batch.column(column).to_pylist()).encode()
        whole = pj.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        rows += pj.read_json(pa.BufferReader(lines), whole, options).num_rows
    assert rows == store.count()


def main(folder: str) -> None:
    started = time.process_time()
    store = open_store(folder)
    import lancedb  # after the store, which imports it in its own way
    from lancedb.query import ColumnOrdering

    opened = time.process_time()
    bare = build_catalog(store)
    built = time.process_time()
    catalog = read_metadata(store, bare)
    read = time.process_time()
    bare_parse(store)
    parsed = time.process_time()

    def page(text: str, share: float, sort: str = "-timestamp") -> Callable[[], object]:
        view = make_view(store, catalog, ListQuery(text, sort=sort), now_ms=NOW_MS)
        offset = min(int(view.total * share), view.total - PAGE)
        return lambda: page_of(store, view, offset, PAGE, now_ms=NOW_MS)

    spread = catalog.row_ids[:: catalog.n // PAGE][:PAGE].tolist()
    columns = ["id", "text", "metadata"]
    table = store.pin().table
    found = {
        "rows": catalog.n,
        "raw_take": cpu_ms(lambda: table.take_row_ids(spread).select(columns).with_row_id().to_arrow()),
        "pages": {
            "top": cpu_ms(page("", 0.0)),
            "middle": cpu_ms(page("", 0.5)),
            "end": cpu_ms(page("", 1.0)),
            "sorted middle": cpu_ms(page("", 0.5, "-importance")),
            "three filters, top": cpu_ms(page(THREE_FILTERS, 0.0)),
            "three filters, end": cpu_ms(page(THREE_FILTERS, 1.0)),
        },
        "filter": cpu_ms(lambda: make_view(store, catalog, ListQuery(THREE_FILTERS), now_ms=NOW_MS), times=5),
        "open": (opened - started) * 1000,
        "catalog": (built - opened) * 1000,
        "metadata": (read - built) * 1000,
        "bare_parse": (parsed - read) * 1000,
        "peak_mb": peak_mb(),
    }
    by_time = [ColumnOrdering(column_name="timestamp", ascending=False)]
    sorted_by_engine = table.search().select(columns).with_row_id(True).order_by(by_time).limit(PAGE)
    found["engine_page"] = cpu_ms(sorted_by_engine.to_arrow, times=3)
    changed = catalog.ids.texts([0])[0]
    lancedb.connect(folder).open_table("memories").update(f"id = '{changed}'", values={"importance": 0.25})
    store.refresh()
    bare = build_catalog(store)
    before = time.process_time()
    read_metadata(store, bare, known=catalog)
    found["metadata_next"] = (time.process_time() - before) * 1000
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
