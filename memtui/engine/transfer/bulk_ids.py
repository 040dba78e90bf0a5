"""Whether some of many ids are in a table now: one pass over its id column, whatever the table's size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.store.writer import Writer


def any_present(writer: Writer, ids: Any) -> bool:
    """Whether the table, at the version the writer stands at, has a row with one of `ids` (an Arrow column)."""
    import pyarrow.compute as pc

    wanted = ids.combine_chunks()
    pin = writer.at(writer.newest())
    column = writer.dialect.columns.id
    return any(
        bool(pc.any(pc.is_in(batch.column(column), value_set=wanted)).as_py())
        for batch in pin.scan([column])
        if batch.num_rows
    )
