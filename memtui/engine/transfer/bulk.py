"""Adding more rows than fit into a change set: one stream, one commit, one entry that can be taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.curate.journal import Images
from memtui.engine.curate.whereabouts import Whereabouts, whereabouts
from memtui.engine.errors import MemtuiError, RefusedError
from memtui.engine.transfer.rows import new_rows

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.curate.facade import Curator
    from memtui.engine.store.writer import Writer
    from memtui.engine.transfer.plan import Plan
    from memtui.engine.transfer.planning import Workshop
    from memtui.engine.transfer.run import Done


def add_all(
    plan: Plan,
    adds: NDArray[np.int64],
    vectors: NDArray[np.float32] | None,
    ids: Mapping[int, str],
    shop: Workshop,
    curator: Curator,
    *,
    confirmed: bool,
) -> Done:
    """Write the records `adds` as new rows.

    The journal keeps id, text and scope of each, enough to find it again and to see whether somebody changed
    it since; the rows themselves go from the spool into the table without passing through memory.
    """
    from memtui.engine.transfer.run import ACTION, Done, title

    bench = curator.bench
    bench.access.require(confirmed=confirmed)
    writer, journal = bench.writer, bench.journal
    schema = shop.store.schema
    with bench.gatekeeper.hold() as hold:
        before = writer.newest()
        if writer.schema != schema:
            raise RefusedError(
                f"{writer.where} has other columns than when this was planned.", fix="Plan the import again."
            )
        if before != plan.version:
            _nothing_there(writer, _image(plan, adds, ids, schema).read_all().column("id"))
        rows = writer.count()
        hold.check()
        entry = journal.intend(
            time_ms=bench.now(),
            action=ACTION,
            title=title(plan, len(adds), 0),
            changes=(),
            images=Images(None, None, None),
            version_before=before,
            count=len(adds),
            added=_image(plan, adds, ids, schema),
        )
        after = _committed(writer, plan, adds, vectors, ids, schema, curator, entry)
        if after == before + 1:
            _verify(writer, rows + len(adds))
        journal.applied(entry, after)
        hold.check()
    journal.tidy()
    shop.store.refresh()
    warnings = (*plan.warnings, *((bench.access.warning,) if bench.access.warning else ()))
    return Done(entry, len(adds), 0, warnings)


def _image(
    plan: Plan, adds: NDArray[np.int64], ids: Mapping[int, str], schema: pa.Schema
) -> pa.RecordBatchReader:
    """Id, text and scope of the rows, a batch at a time."""
    import pyarrow as pa

    columns = plan.dialect.columns
    names = [name for name in (columns.id, columns.text, columns.scope) if name]
    kept = pa.schema([schema.field(name) for name in names])
    return pa.RecordBatchReader.from_batches(kept, new_rows(plan, adds, None, kept, ids))


def _nothing_there(writer: Writer, ids: pa.ChunkedArray) -> None:
    """Raise when another program has added one of the rows since the plan was made."""
    from memtui.engine.transfer.bulk_ids import any_present

    if any_present(writer, ids):
        raise RefusedError(
            f"Some of these memories have come into {writer.where} meanwhile.",
            fix="Plan the import again; nothing was written.",
        )


def _committed(
    writer: Writer,
    plan: Plan,
    adds: NDArray[np.int64],
    vectors: NDArray[np.float32] | None,
    ids: Mapping[int, str],
    schema: pa.Schema,
    curator: Curator,
    entry: int,
) -> int:
    import pyarrow as pa

    journal = curator.bench.journal
    batches: Iterator[pa.RecordBatch] = new_rows(plan, adds, vectors, schema, ids)
    stream: Any = pa.RecordBatchReader.from_batches(schema, batches)
    try:
        return writer.commit(None, stream, ())
    except MemtuiError:
        try:
            version = writer.newest()
            found = whereabouts(journal.images(entry), writer)
        except MemtuiError:
            journal.mark(entry, "interrupted")
            raise
        if found is Whereabouts.WHOLE:
            return version
        if found is Whereabouts.NOTHING:
            journal.drop(entry)
        else:
            journal.mark(entry, "interrupted")
        raise


def _verify(writer: Writer, rows: int) -> None:
    if writer.count() != rows:
        raise MemtuiError(
            f"{writer.where} has {writer.count():,} rows after the import, not {rows:,}.",
            fix="Look at the journal: memtui journal; it can take the import back.",
        )
