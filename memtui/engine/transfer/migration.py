"""Making a store of another form out of one: check, run, verify. The source is only read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.importing.request import ImportRequest
from memtui.engine.transfer.make_store import appearing, create_table
from memtui.engine.transfer.record import FieldLoss

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.table import Store
    from memtui.engine.transfer.importing.import_plan import ImportPlan


Form = Literal["pro", "memtui"]

FORMS: tuple[Form, ...] = ("pro", "memtui")

FORM_TITLES = {"pro": "memory-lancedb-pro", "memtui": "memtui"}

ZEROS = "none in the source: zeros are stored, `reembed --missing` makes it"


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration does, did or found. `problems` are rows that are not as they should be, in a verification."""

    source: Path
    destination: Path | None
    dialect: str
    form: Form
    rows: int
    """Memories of the source."""
    written: int
    """Memories of the new store, or those that it would have."""
    left_out: tuple[tuple[str, int], ...]
    """(why, rows)."""
    scopes: tuple[tuple[str | None, str | None, int], ...]
    loss: tuple[FieldLoss, ...]
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    verified: int = 0
    """Rows that were compared and are equal in every column, vectors bit for bit."""

    def as_json(self) -> dict[str, Any]:
        """The document of the command line."""
        return {
            "schema": "memtui.migration.v1",
            "source": str(self.source),
            "destination": str(self.destination) if self.destination else None,
            "dialect": self.dialect,
            "form": self.form,
            "rows": self.rows,
            "written": self.written,
            "left_out": [{"why": why, "rows": rows} for why, rows in self.left_out],
            "scopes": [{"from": theirs, "to": ours, "rows": rows} for theirs, ours, rows in self.scopes],
            "loss": [loss.as_json() for loss in self.loss],
            "warnings": list(self.warnings),
            "verified": self.verified,
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Migrator:
    """One migration: `request` names the source (see `request_for`), `form` what it becomes.

    Without a form it becomes a table of memory-lancedb-pro; a store that is verified has the form that it has.
    `now_ms` is stored where a row has no time; `work` is a folder for files in between, `timer` counts seconds.
    """

    request: ImportRequest
    form: Form | None
    now_ms: int
    work: Path
    timer: Callable[[], float]

    def check(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> Migration:
        """What it would do; nothing is written."""
        form = self.form or FORMS[0]
        with self._planned(form, on_progress, cancel) as (plan, source, _):
            return _migration(plan, source, form, None)

    def run(
        self, destination: Path, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
    ) -> Migration:
        """Make the store `destination`, and verify it row by row.

        The folder appears whole, after the verification, or not at all. Raises RefusedError when something is
        there, MemtuiError when there is no room.
        """
        form = self.form or FORMS[0]
        with appearing(destination) as making, self._planned(form, on_progress, cancel) as made:
            plan, source, schema = made
            rows = _told(_rows(plan, schema), len(plan.taken()), "writing the new store", on_progress, cancel)
            create_table(making, form, schema, rows)
            compared, problems = compare(plan, making, schema, on_progress, cancel)
            if problems:
                raise MemtuiError(
                    f"The new store is not what the source is: {problems[0]}.",
                    fix="Nothing was kept; report this.",
                )
            return _migration(plan, source, form, destination, verified=compared)

    def verify(
        self, destination: Path, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
    ) -> Migration:
        """Compare a store with what the source gives now: every row, every column, vectors bit for bit."""
        form = self.form or _form_of(destination)
        with self._planned(form, on_progress, cancel) as (plan, source, schema):
            compared, problems = compare(plan, destination, schema, on_progress, cancel)
            return _migration(plan, source, form, destination, verified=compared, problems=problems)

    @contextmanager
    def _planned(
        self, form: Form, on_progress: OnProgress | None, cancel: CancelToken | None
    ) -> Iterator[tuple[ImportPlan, Store, pa.Schema]]:
        """The plan of an import of the source into an empty store of the new form."""
        from memtui.engine.catalog.build import build_catalog
        from memtui.engine.providers.embedder import NoEmbedder
        from memtui.engine.store.open import open_store
        from memtui.engine.transfer.importing.planner import ImportPlanner, make_plan

        if form not in FORMS:
            raise UsageError(f"There is no form {form!r}.", fix=f"Choose {' or '.join(FORMS)}.")
        source = open_store(self.request.sources[0], columns=self.request.mapping or None)
        if source.dims is None:
            raise UsageError(f"{source.name} has no vectors.", fix="Export it, and import that.")
        schema = _schema(form, source.dims)
        self.work.mkdir(parents=True, exist_ok=True)
        empty = Path(tempfile.mkdtemp(prefix="migrate-", dir=self.work))
        try:
            create_table(empty, form, schema, iter(()))
            store = open_store(empty)
            none = NoEmbedder("A migration embeds nothing.", "")
            shop = ImportPlanner(store, build_catalog(store), none, self.now_ms, self.work, self.timer)
            plan = make_plan(self.request, shop, on_progress, cancel)
            try:
                yield plan, source, schema
            finally:
                plan.close()
        finally:
            shutil.rmtree(empty, ignore_errors=True)


def request_for(source: Path, scope: str | None = None, **more: Any) -> ImportRequest:
    """A migration as an import: vectors as they are, rows with one id kept apart, nothing held back."""
    return ImportRequest(
        sources=(source,),
        format="lancedb",
        scope=scope,
        vectors="keep",
        without_embedding=True,
        conflicts="both",
        **more,
    )


def _form_of(folder: Path) -> Form:
    """The form that the store in `folder` has, by its columns; the first where it has none of ours."""
    from memtui.engine.store.open import open_store

    store = open_store(folder)
    return next(
        (form for form in FORMS if _schema(form, store.dims or 1).names == store.schema.names), FORMS[0]
    )


def _schema(form: Form, dims: int) -> pa.Schema:
    from memtui.engine.dialects.memtui import own_schema
    from memtui.engine.store.create import pro_schema

    return pro_schema(dims) if form == "pro" else own_schema(dims)


def _rows(plan: ImportPlan, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from memtui.engine.transfer.importing.bulk_write import new_rows
    from memtui.engine.transfer.importing.run import split

    adds, ids, _ = split(plan)
    yield from new_rows(plan, adds, None, schema, ids)


def _told(
    rows: Iterator[pa.RecordBatch],
    total: int,
    what: str,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in rows:
        yield batch
        done += batch.num_rows
        if on_progress:
            on_progress(Progress(what, done, total))
        if cancel is not None:
            cancel.check()


# ---------------------------------------------------------------------- what came of it


def compare(
    plan: ImportPlan,
    folder: Path,
    schema: pa.Schema,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> tuple[int, tuple[str, ...]]:
    """(rows of the store in `folder` that are as the plan has them, what is wrong with others)."""
    import pyarrow as pa

    from memtui.engine.store.open import open_store
    from memtui.engine.store.row_values import ID, differing

    store = open_store(folder)
    if store.schema.remove_metadata() != schema.remove_metadata():
        return 0, ("its columns differ from those of the new form",)
    problems: list[str] = []
    equal = 0
    for batch in _told(
        _rows(plan, schema), len(plan.taken()), "comparing with the source", on_progress, cancel
    ):
        mine = pa.Table.from_batches([batch])
        found = store.rows_by_id(mine.column(ID).to_pylist(), schema.names).select(schema.names)
        wrong = differing(mine, found, schema.names)
        there = set(found.column(ID).to_pylist())
        problems += [f"{each} is {'not as in its source' if each in there else 'missing'}" for each in wrong]
        equal += mine.num_rows - len(wrong)
    return equal, tuple(problems)


def _migration(
    plan: ImportPlan,
    source: Store,
    form: Form,
    destination: Path | None,
    *,
    verified: int = 0,
    problems: tuple[str, ...] = (),
) -> Migration:
    from memtui.engine.transfer.importing.request import MEANINGS

    left_out = [(why, rows) for (why, _), rows in plan.draft.reasons.items()]
    left_out += [(MEANINGS[group], plan.counts[group]) for group in ("same_id",) if plan.counts[group]]
    loss = list(plan.losses())
    if bare := len(plan.to_embed()):
        loss.append(FieldLoss("vector", bare, ZEROS))
    return Migration(
        source=plan.sources[0].path,
        destination=destination,
        dialect=source.dialect.name,
        form=form,
        rows=source.count(),
        written=len(plan.taken()),
        left_out=tuple(left_out),
        scopes=plan.scopes,
        loss=tuple(loss),
        warnings=(*source.warnings, *plan.draft.remarks),
        verified=verified,
        problems=problems,
    )
