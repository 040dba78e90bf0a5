"""Adding more rows than fit into a change set: one stream, one commit, one entry that can be taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.applier import committed, lock_kept
from memtui.engine.changes.bulk_shift import bulk_whereabouts
from memtui.engine.changes.journal import RowImages
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.text import counted
from memtui.engine.store.row_values import hash64
from memtui.engine.transfer.importing.links import with_links

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.engine import Engine
    from memtui.engine.store.writer import Writer
    from memtui.engine.transfer.importing.import_plan import ImportPlan, ImportResult
    from memtui.engine.transfer.importing.planner import ImportPlanner


# The rows that a plan writes, with their vectors, in batches of the table's own schema.


def new_rows(
    plan: ImportPlan,
    numbers: NDArray[np.int64],
    vectors: NDArray[np.float32] | None,
    schema: pa.Schema,
    ids: Mapping[int, str],
) -> Iterator[pa.RecordBatch]:
    """The rows of these records (ascending) with the table's columns.

    A row that brought no vector takes it from `vectors`, float32 [records, dims]. `ids` are new ids for
    records whose own is taken; links to these memories are led along.
    """
    import numpy as np
    import pyarrow as pa

    columns = plan.dialect.columns
    at_metadata = schema.get_field_index(columns.metadata) if columns.metadata else -1
    names = new_names(plan, ids) if at_metadata >= 0 else {}
    first = 0
    for batch in plan.spool.batches():
        start, stop = np.searchsorted(numbers, (first, first + batch.num_rows)).tolist()
        here = numbers[start:stop] - first
        if len(here):
            part = batch if len(here) == batch.num_rows else batch.take(pa.array(here))
            arrays = [part.column(part.schema.get_field_index(name)) for name in schema.names]
            at_vector = schema.get_field_index(columns.vector) if columns.vector else -1
            if at_vector >= 0:
                arrays[at_vector] = _filled(
                    arrays[at_vector], vectors, here + first, schema.field(at_vector).type
                )
            if ids:
                renamed = {at: ids[n] for at, n in enumerate((here + first).tolist()) if n in ids}
                at_id = schema.get_field_index(columns.id)
                values = arrays[at_id].to_pylist()
                arrays[at_id] = pa.array(
                    [renamed.get(at, value) for at, value in enumerate(values)], arrays[at_id].type
                )
            if names:
                arrays[at_metadata] = with_links(arrays[at_metadata], names)
            yield pa.record_batch(arrays, schema=schema)
        first += batch.num_rows
    if len(numbers) and int(np.max(numbers)) >= first:
        raise MemtuiError("The rows of the plan are no longer there.", fix="Plan the import again.")


def new_names(plan: ImportPlan, ids: Mapping[int, str]) -> dict[str, str]:
    """Id in the source to the id of the row that its memory became, where they differ and something names it.

    `ids` are the new ids of records whose own is taken.
    """
    draft, columns = plan.draft, plan.dialect.columns
    wanted = {hash64(link): link for link in draft.links}
    numbers = [number for number, key in enumerate(draft.names) if key in wanted] if wanted else []
    found = {wanted[draft.names[number]]: number for number in reversed(numbers)}
    if ids:  # our own exports keep no names: what was renamed is known by the id of its row
        rows = plan.spool.rows(list(ids), [columns.id])
        found |= {str(row[columns.id]): number for number, row in zip(ids, rows, strict=True)}
    adds, replaced = plan.decisions()
    added = set(adds.tolist())
    made = {link: _row_of(plan, number, ids, replaced, added) for link, number in found.items()}
    return {link: row for link, row in made.items() if row and row != link}


def _row_of(
    plan: ImportPlan, number: int, ids: Mapping[int, str], replaced: Mapping[int, int], added: set[int]
) -> str:
    """The id of the row that a record became, or that says the same already; empty where there is none."""
    while True:
        if number in ids:
            return ids[number]
        if number in added:
            column = plan.dialect.columns.id
            return str(plan.spool.rows([number], [column])[0][column])
        place = replaced.get(number, -1)
        evidence = plan.evidence
        present = (place, *(int(at[number]) for at in (evidence.same_id, evidence.exact, evidence.near)))
        there = next((at for at in present if at >= 0), plan.rival(number))
        if there >= 0:
            return str(plan.present.texts([there])[0][0])
        earlier = [int(at[number]) for at in (evidence.twice, evidence.repeated, evidence.near_within)]
        number = next((at for at in earlier if 0 <= at < number), -1)
        if number < 0:
            return ""


def _filled(
    array: Any, vectors: NDArray[np.float32] | None, numbers: NDArray[np.int64], kind: pa.DataType
) -> Any:
    """An Arrow array of vectors without a NULL in it."""
    import numpy as np
    import pyarrow as pa

    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if valid.all():
        return array
    dims = kind.list_size
    flat = np.zeros((len(array), dims), dtype=np.float32)
    if valid.any():
        flat[valid] = array.flatten().to_numpy(zero_copy_only=False).reshape(-1, dims)
    if vectors is not None:
        flat[~valid] = vectors[numbers[~valid]]
    return pa.FixedSizeListArray.from_arrays(
        pa.array(flat.ravel(), pa.float32()).cast(kind.value_type), type=kind
    )


def add_all(
    engine: Engine,
    plan: ImportPlan,
    adds: NDArray[np.int64],
    vectors: NDArray[np.float32] | None,
    ids: Mapping[int, str],
    shop: ImportPlanner,
    *,
    confirmed: bool,
) -> ImportResult:
    """Write the records `adds` as new rows.

    The journal keeps id, text and scope of each, enough to find it again and to see whether somebody changed
    it since; the rows themselves go from the spool into the table without passing through memory.
    """
    import pyarrow as pa

    from memtui.engine.transfer.importing.import_plan import ACTION, ImportResult, title

    applier = engine.write_state.applier
    applier.access.require(confirmed=confirmed)
    writer, journal = applier.writer, applier.journal
    schema = shop.store.schema
    with applier.gatekeeper.hold() as hold:
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
            time_ms=applier.now(),
            action=ACTION,
            title=title(plan, len(adds), 0),
            changes=(),
            images=RowImages(None, None, None),
            version_before=before,
            count=len(adds),
            added=_image(plan, adds, ids, schema),
        )
        stream: Any = pa.RecordBatchReader.from_batches(schema, new_rows(plan, adds, vectors, schema, ids))
        after = committed(
            lambda: writer.commit(None, stream, ()),
            lambda: bulk_whereabouts(journal.entry(entry), journal, writer),
            writer,
            journal,
            entry,
        )
        if after == before + 1:
            _verify(writer, rows + len(adds))
        journal.applied(entry, after)
        lost = lock_kept(hold)
    journal.tidy()
    warnings = (*plan.warnings, *lost, *((applier.access.warning,) if applier.access.warning else ()))
    return ImportResult(entry, len(adds), 0, warnings)


def _image(
    plan: ImportPlan, adds: NDArray[np.int64], ids: Mapping[int, str], schema: pa.Schema
) -> pa.RecordBatchReader:
    """Id, text and scope of the rows, a batch at a time."""
    import pyarrow as pa

    columns = plan.dialect.columns
    names = [name for name in (columns.id, columns.text, columns.scope) if name]
    kept = pa.schema([schema.field(name) for name in names])
    return pa.RecordBatchReader.from_batches(kept, new_rows(plan, adds, None, kept, ids))


def _nothing_there(writer: Writer, ids: pa.ChunkedArray) -> None:
    """Raise when another program has added one of the rows since the plan was made."""

    if any_present(writer, ids):
        raise RefusedError(
            f"Some of these memories have come into {writer.where} meanwhile.",
            fix="Plan the import again; nothing was written.",
        )


def _verify(writer: Writer, rows: int) -> None:
    if writer.count() != rows:
        raise MemtuiError(
            f"{writer.where} has {counted(writer.count(), 'row')} after the import, not {rows:,}.",
            fix="Look at the journal: memtui journal; it can take the import back.",
        )


# Whether some of many ids are in a table now: one pass over its id column, whatever the table's size.


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
