"""Our own exports read a column at a time, where every row goes into a table of its own form as it is.

Whatever is out of the ordinary in such a file (a broken line, a row of another form, a vector that cannot be used)
sends the whole of it the slow way, which knows what to say about it. Both ways give the same plan.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine import instructions, secrets
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.bulk_lines import OddError, Read, places, read_lines
from memtui.engine.transfer.draft import HAS_VECTOR, ORDERS, OWN_ID, SECRET, Draft, unchanged
from memtui.engine.transfer.near import hash64
from memtui.engine.transfer.own_form import DIALECT, MASKED, MODEL
from memtui.engine.transfer.screening import suspects
from memtui.engine.transfer.spool import WHERE, SpoolWriter

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.transfer.detect import Detected
    from memtui.engine.transfer.embedding import Choice
    from memtui.engine.transfer.request import ImportRequest
    from memtui.engine.transfer.target import Target


def read_in_bulk(
    source: Detected,
    request: ImportRequest,
    target: Target,
    choice: Choice,
    spool: Callable[[], SpoolWriter],
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Draft | None:
    """The draft of a source, its rows in a spool; None when it has to be read row by row.

    Raises MemtuiError when the source changes meanwhile, Cancelled.
    """
    import pyarrow as pa

    readers = {"lines": read_lines, "parquet": _parquet}
    read = readers.get(source.kind)
    if not source.format.own or read is None or target.whole is None or request.mask_secrets:
        return None
    writer = spool()
    reading = _Reading(target, choice, writer)
    try:
        with unchanged(source.path):
            for table, done, total in read(source.path, writer.schema, target.dialect.name):
                reading.take(table)
                if on_progress:
                    on_progress(Progress(f"reading {source.path.name}", done, total, "bytes"))
                if cancel is not None:
                    cancel.check()
    except (OddError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError):
        writer.close()
        return None
    writer.close()
    reading.finish()
    pa.default_memory_pool().release_unused()  # the engine is about to need as much again for writing
    return reading.draft


class _Reading:
    """Takes tables with the spool's columns, and MODEL and MASKED of each row."""

    def __init__(self, target: Target, choice: Choice, writer: SpoolWriter) -> None:
        self._target, self._choice, self._writer = target, choice, writer
        self._columns = target.dialect.columns
        self._scopes: dict[str | None, int] = {}
        self.draft = Draft(note_sets=[()], note_examples=[""])

    def take(self, table: pa.Table) -> None:
        """Some rows; OddError, or an error of Arrow's, for any that do not go in as they are."""
        import pyarrow.compute as pc

        table.validate(full=True)  # texts that are no UTF-8
        columns, n = self._columns, table.num_rows
        text, ids = table.column(columns.text), table.column(columns.id)
        for column in (text, ids):
            if column.null_count or pc.any(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py():
                raise OddError
        if pc.any(pc.fill_null(table.column(MASKED), False)).as_py():
            raise OddError
        vectors = table.column(str(columns.vector))
        dims = vectors.type.list_size
        for model in pc.unique(table.column(MODEL)).to_pylist():
            if vectors.null_count < n and not self._choice.takes(model, dims):
                raise OddError
        flags = np.full(n, OWN_ID, dtype=np.uint16)
        flags[vectors.is_valid().to_numpy()] |= HAS_VECTOR
        self._screen(text, flags)
        self._count_scopes(table, n)
        draft = self.draft
        draft.ids.frombytes(_id_hashes(ids.combine_chunks()).tobytes())
        draft.flags.frombytes(flags.tobytes())
        draft.chars.frombytes(pc.utf8_length(text).to_numpy().astype(np.uintc).tobytes())
        draft.notes.frombytes(bytes(draft.notes.itemsize * n))
        self._writer.add_table(table.select(self._writer.schema.names))

    def finish(self) -> None:
        """Count the scopes, once it is sure that this way was the right one."""
        for scope, rows in self._scopes.items():
            self._target.scoping.keep(scope, rows)
        if not len(self.draft):
            self.draft.note_sets.clear()
            self.draft.note_examples.clear()

    def _screen(self, text: Any, flags: NDArray[np.uint16]) -> None:
        for at in suspects(text, instructions.HINT):
            if instructions.instruction_like(text[at].as_py()) is not None:
                flags[at] |= ORDERS
        for at in suspects(text, secrets.HINT):
            kinds = {secret.kind for secret in secrets.find_secrets(text[at].as_py())}
            for kind in kinds:
                self.draft.secrets[kind] = self.draft.secrets.get(kind, 0) + 1
            if kinds:
                flags[at] |= SECRET

    def _count_scopes(self, table: pa.Table, n: int) -> None:
        column = self._columns.scope
        found: list[tuple[str | None, int]] = [(None, n)]
        if column is not None:
            coded = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
            values = coded.dictionary.to_pylist()
            found = list(zip(values, np.bincount(coded.indices, minlength=len(values)).tolist(), strict=True))
        for scope, rows in found:
            self._scopes[scope] = self._scopes.get(scope, 0) + rows


def _id_hashes(ids: Any) -> NDArray[np.int64]:
    """Equal for equal ids, and hardly ever for others."""
    from memtui.engine.store.ids import pack

    high, low, odd = pack(ids)
    mixed = (high * np.uint64(0x9E3779B97F4A7C15)) ^ (low + np.uint64(0x632BE59BD9B4E019))
    found: NDArray[np.int64] = np.array(mixed.view(np.int64))
    for at in np.flatnonzero(odd).tolist():
        found[at] = hash64(ids[at].as_py())
    return found


def _parquet(path: Path, schema: pa.Schema, dialect: str) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from memtui.engine.transfer.own_form import MAP
    from memtui.engine.transfer.readers.own import BATCH, parquet_frame

    size = path.stat().st_size
    with pq.ParquetFile(path) as file:
        frame = parquet_frame(file.schema_arrow.metadata or {})
        names = set(file.schema_arrow.names)
        if frame.get(DIALECT) != dialect or frame.get(MAP) is not None or names - {*schema.names, MASKED}:
            raise OddError
        number, rows = 0, max(1, file.metadata.num_rows)
        for batch in file.iter_batches(batch_size=BATCH):
            n = batch.num_rows
            arrays = [
                batch.column(field.name).cast(field.type) if field.name in names else pa.nulls(n, field.type)
                for field in schema
                if field.name != WHERE
            ]
            masked = batch.column(MASKED) if MASKED in names else pa.nulls(n, pa.bool_())
            arrays += [places("row ", number, n), pa.array([frame.get(MODEL)] * n, pa.string()), masked]
            number += n
            table = pa.table(arrays, names=[*schema.names, MODEL, MASKED])
            _check_finite(table, schema)
            yield table, size * number // rows, size


def _check_finite(table: pa.Table, schema: pa.Schema) -> None:
    import pyarrow as pa

    for field in schema:
        if pa.types.is_fixed_size_list(field.type):
            flat = table.column(field.name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
            if not np.isfinite(flat).all():
                raise OddError
