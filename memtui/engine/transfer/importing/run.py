"""Running a plan: vectors first, then one commit and one entry of the journal; or nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.changes.change_set import Change, ChangeSet
from memtui.engine.changes.commit import apply, fold_words
from memtui.engine.changes.plan import plan_texts
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.transfer.importing.bulk_write import new_rows
from memtui.engine.transfer.importing.embedding_cost import is_offline
from memtui.engine.transfer.importing.import_plan import ACTION, ImportPlan, ImportResult, title
from memtui.engine.transfer.importing.planner import ImportPlanner, embed_into

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.engine import Engine


SMALL = 2_000
"""Up to so many rows an import is an ordinary change set; more are written as one stream."""


def run_plan(
    engine: Engine,
    plan: ImportPlan,
    shop: ImportPlanner,
    *,
    confirmed: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ImportResult:
    """Write what the plan says. Vectors are made before any lock is taken, and kept when a service fails.

    Raises RefusedError when the store may not be written, the source changed since, or parts of it cannot be
    read and nobody agreed (`confirmed`) that they are left out; Cancelled before anything is written.
    """
    _check(plan, confirmed)
    if not engine.write_state.writable:
        engine.write_state.access.require(confirmed=confirmed)
        raise RefusedError(
            f"{shop.store.name} is open for reading only.", fix="Open it for writing; nothing was changed."
        )
    taken = plan.taken()
    if not len(taken):
        return ImportResult(None, 0, 0, tuple(plan.warnings))
    vectors = _vectors(plan, shop, on_progress, cancel)
    if cancel is not None:
        cancel.check()
    if on_progress:
        on_progress(Progress("writing", 0, len(taken)))
    adds, ids, replaced = split(plan)
    if len(adds) > SMALL and not replaced:
        from memtui.engine.transfer.importing.bulk_write import add_all

        done = add_all(engine, plan, adds, vectors, ids, shop, confirmed=confirmed)
    else:
        planned = _as_change_set(engine, plan, adds, vectors, ids, replaced, shop)
        outcome = apply(engine, planned, confirmed=confirmed)
        done = ImportResult(outcome.entry, len(adds), len(replaced), outcome.warnings)
    if on_progress:
        on_progress(Progress("writing", len(taken), len(taken)))
    said = _tidied(
        lambda: forget_vectors(shop, taken_in=bool(plan.request.parts)),
        lambda: fold_words(engine),
        shop.store.refresh,
    )
    return replace(done, warnings=(*done.warnings, *said))


def _tidied(*steps: Callable[[], object]) -> tuple[str, ...]:
    """Do what follows an import; what goes wrong there is told: the memories are in, so it is no failure."""
    said = []
    for step in steps:
        try:
            step()
        except (MemtuiError, OSError) as error:
            said.append(f"Everything was imported; afterwards: {error}")
    return tuple(said)


def split(plan: ImportPlan) -> tuple[NDArray[np.int64], dict[int, str], dict[int, str]]:
    """(records to add, new ids for those whose own is taken, record to the id of the present row it replaces)."""
    import numpy as np

    found = plan.evidence
    adds, replaced = plan.decisions()
    texts = plan.present.texts(list(replaced))
    names = {number: row[0] for number, row in zip(replaced.values(), texts, strict=True)}
    added = np.zeros(plan.total, dtype=np.bool_)
    added[adds] = True
    clashes = [n for n in plan.numbers("conflict").tolist() if added[n] and plan.choice(n) == "both"]
    other = {n for n in clashes if found.same_id[n] >= 0 or found.twice[n] >= 0}
    other |= set(np.flatnonzero(added & found.apart).tolist())
    if not plan.rules.has("exact"):
        other |= set(np.flatnonzero(added & (found.twice >= 0) & added[found.twice]).tolist())
    return adds, {n: _other_id(plan, n) for n in sorted(other)}, names


def _other_id(plan: ImportPlan, number: int) -> str:
    """A row id for a record whose own is taken: the same in every run of the same plan."""
    import hashlib
    import uuid

    key = f"{plan.sources[0].format.name}\0{number}\0{plan.texts([number])[0]}"
    return str(uuid.UUID(bytes=hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:16], version=4))


def _check(plan: ImportPlan, confirmed: bool) -> None:
    if plan.draft.broken and not confirmed:
        raise RefusedError(
            f"{counted(plan.draft.broken, 'part')} of {plan.sources[0].path.name} cannot be read.",
            fix="Check them, then repeat with --yes to exclude them; nothing was imported.",
        )
    for source in plan.sources:
        if not plan.states[source.path].still(source.path):
            raise RefusedError(
                f"{source.path.name} is no longer what was read for the plan.",
                fix="Plan it again; nothing was imported.",
            )


def _vectors(
    plan: ImportPlan, shop: ImportPlanner, on_progress: OnProgress | None, cancel: CancelToken | None
) -> NDArray[np.float32] | None:
    """Vectors for the rows that brought none, at their numbers, in a file; None when none is needed."""
    import numpy as np

    bare = plan.to_embed()
    vectors = plan.vectors
    if vectors is not None:  # the search for near copies made those of the new ones, not of the conflicts
        bare = bare[~vectors[bare].any(axis=1)]
    if not len(bare) or plan.request.without_embedding:
        return vectors
    if plan.cost.problem:
        raise MemtuiError(
            f"{counted(len(bare), 'memory has', 'memories have')} no vector that this store can use. "
            f"{plan.cost.problem}",
            fix="Configure the store's embedding model, or store them without a vector for now: "
            "“embed later” on the screen, --without-vectors in the shell.",
        )
    assert shop.store.dims is not None
    if vectors is None:
        vectors = np.memmap(
            plan.folder / "vectors.f32", dtype=np.float32, mode="w+", shape=(plan.total, shop.store.dims)
        )
    embed_into(plan, shop, bare, vectors, on_progress, cancel)
    return vectors


def forget_vectors(shop: ImportPlanner, *, taken_in: bool = False) -> None:
    """What a service made, or a cluster's parts `taken_in`, is in the store now: it need not be kept."""
    from memtui.engine.providers.embedder import NoEmbedder
    from memtui.engine.transfer.vector_cache import VectorCache

    if not shop.store.dims or isinstance(shop.embedder, NoEmbedder):
        return
    if taken_in or not is_offline(shop.embedder):
        VectorCache(shop.cache, shop.embedder, shop.store.dims).remove()


def tried_out(
    engine: Engine,
    plan: ImportPlan,
    shop: ImportPlanner,
    cancel: CancelToken | None = None,
    *,
    send: bool = False,
) -> ChangeSet:
    """What a plan would write as a change set, to be asked about; nothing is written.

    Vectors that are still to be made are made on this machine; by a service only with `send`. Raises RefusedError
    where that cannot be: for more than `SMALL` memories, and where their texts would have to be sent.
    """
    import numpy as np

    from memtui.engine.providers.embedder import NoEmbedder
    from memtui.engine.providers.prices import price_in_words, price_of

    taken, bare = plan.taken(), plan.to_embed()
    if len(taken) > SMALL:
        raise RefusedError(
            f"{counted(len(taken), 'memory', 'memories')} would come in; up to {SMALL:,} are tried out.",
            fix="After the import, run your cases: they show how the answers changed.",
        )
    vectors = plan.vectors
    if vectors is not None:
        bare = bare[~vectors[bare].any(axis=1)]
    if len(bare) and not plan.request.without_embedding:
        if plan.cost.problem or isinstance(shop.embedder, NoEmbedder):
            raise RefusedError(
                plan.cost.problem or "No embedding model is known.",
                fix="Without vectors the answers cannot be compared.",
            )
        if plan.request.parts or not (send or is_offline(shop.embedder)):
            price = price_in_words(
                price_of(shop.embedder.name, getattr(shop.embedder, "host", None), plan.cost.chars)
            )
            raise RefusedError(
                f"{counted(len(bare), 'text')} with {plan.cost.chars:,} characters would be sent to "
                f"{shop.embedder.describe()} for that ({price}).",
                fix="Nothing was sent.",
            )
        assert shop.store.dims is not None
        made = np.zeros((plan.total, shop.store.dims), dtype=np.float32)
        if vectors is not None:
            made[:] = vectors
        embed_into(plan, shop, bare, made, None, cancel)
        vectors = made
    adds, ids, replaced = split(plan)
    return _as_change_set(engine, plan, adds, vectors, ids, replaced, shop)


def made_change_set(
    engine: Engine, plan: ImportPlan, shop: ImportPlanner, cancel: CancelToken | None = None
) -> ChangeSet:
    """What a plan of up to `SMALL` memories writes, to be applied as any change; vectors are made now, of a service
    too. Raises MemtuiError where they cannot be made."""
    vectors = _vectors(plan, shop, None, cancel)
    adds, ids, replaced = split(plan)
    return _as_change_set(engine, plan, adds, vectors, ids, replaced, shop)


def _as_change_set(
    engine: Engine,
    plan: ImportPlan,
    adds: NDArray[np.int64],
    vectors: NDArray[np.float32] | None,
    ids: Mapping[int, str],
    replaced: Mapping[int, str],
    shop: ImportPlanner,
) -> ChangeSet:
    """An import as an ordinary change set: every row with its image, to be undone and redone."""
    import pyarrow as pa

    schema = shop.store.schema
    batches = list(new_rows(plan, adds, vectors, schema, ids))
    table = pa.Table.from_batches(batches, schema=schema)
    changes = list(_additions(plan, table))
    warnings = list(plan.warnings)
    if replaced:
        texts = dict(zip(replaced.values(), plan.texts(list(replaced)), strict=True))
        edits = plan_texts(engine, texts)
        changes += edits.changes
        warnings += edits.warnings
        if edits.conflicts:
            raise RefusedError(
                f"{edits.conflicts[0].id}: {edits.conflicts[0].sentence}",
                fix="Decide that conflict another way; nothing was imported.",
            )
    words = title(plan, len(adds), len(replaced))
    return ChangeSet(ACTION, words, tuple(changes), plan.version, warnings=tuple(warnings))


def _additions(plan: ImportPlan, table: pa.Table) -> Iterator[Change]:
    columns = plan.dialect.columns
    shown = [name for name in table.schema.names if name not in (columns.id, columns.vector)]
    values = table.select([columns.id, *shown]).to_pylist()
    for at, row in enumerate(values):
        memory = str(row.pop(columns.id))
        text = " ".join(str(row.get(columns.text) or "").split())
        scope = row.get(columns.scope) if columns.scope else None
        yield Change(memory, "add", {}, row, title=text, scope=scope, row=table.slice(at, 1))
