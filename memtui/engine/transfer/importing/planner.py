"""Making the plan: read the sources, look into the store, weigh copies, and say what it will cost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.providers.held_embedder import HeldEmbedder
from memtui.engine.recall.recipes.mem_engine.scope_rules import configured_rules
from memtui.engine.store import far_vectors
from memtui.engine.transfer.importing.bulk_read import read_in_bulk
from memtui.engine.transfer.importing.draft import (
    HAS_VECTOR,
    DraftBuilder,
    FileState,
    ImportDraft,
    detect_all,
)
from memtui.engine.transfer.importing.embedding_cost import Cost, VectorChoice, embedded, is_offline, measured
from memtui.engine.transfer.importing.existing import ExistingMemories
from memtui.engine.transfer.importing.import_plan import ImportPlan
from memtui.engine.transfer.importing.request import ImportRequest, ImportRules
from memtui.engine.transfer.importing.spool import Spool, SpoolWriter
from memtui.engine.transfer.importing.to_row import RowBuilder
from memtui.engine.transfer.scope_mapping import Scoping
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.store.table import Store
    from memtui.engine.transfer.detection import Detected


MOST_PAIRS = 4_000_000_000
"""Pairs of vectors that are compared unasked: about a minute on two cores."""

_PART = 1_024


@dataclass(frozen=True, slots=True)
class ImportPlanner:
    """What planning works with. `cache` is a folder for vectors that cost something; `timer` counts seconds."""

    store: Store
    catalog: Catalog
    embedder: Embedder | NoEmbedder
    now_ms: int
    cache: Path
    timer: Callable[[], float]
    model: str | None = None
    """The model of the store's vectors, where that is known."""
    scope_policy: object = None
    """`scopePolicy` as it stands in openclaw-mem-engine's configuration."""


def make_plan(
    request: ImportRequest,
    shop: ImportPlanner,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ImportPlan:
    """Read everything and decide everything; nothing is written but files in a temporary folder.

    Raises MemtuiError for sources that cannot be read, UsageError for a request that makes no sense.
    """
    store, dialect = shop.store, shop.store.dialect
    if store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="Import into a store with a vector column.")
    sources = detect_all(request)
    source = sources[0].format
    rules = ImportRules.of(
        source, request.rules_off, near=request.near, copies=dialect.can.row_form != "engine"
    )
    scoping = Scoping(request.scopes, request.default_scope, asked=request.scope is not None)
    origin = {"from": source.name, "file": sources[0].path.name}
    target = RowBuilder(
        dialect,
        store.columns,
        scoping,
        now_ms=shop.now_ms,
        origin=origin,
        agent=request.agent or "main",
        keep_bare=source.bare_scopes,
        typed=request.typed,
        policy=configured_rules(shop.scope_policy),
    )
    native = source.name == dialect.can.native_export
    choice = VectorChoice(store.dims, shop.model, request.vectors, own=source.own or native)
    folder = Path(tempfile.mkdtemp(prefix="memtui-import-"))
    try:
        spool_path = folder / "rows.arrow"

        def writer() -> SpoolWriter:
            return SpoolWriter(spool_path, store.schema, dialect.columns.vector)

        draft = None
        if len(sources) == 1:
            draft = read_in_bulk(sources[0], request, target, choice, writer, on_progress, cancel)
        if draft is None:
            drafter = DraftBuilder(request, target, choice, writer(), shop.now_ms)
            draft = drafter.read(sources, on_progress, cancel)
        spool = Spool(spool_path)
        from memtui.engine.transfer.importing.groups import gather

        present = ExistingMemories(store, shop.catalog)

        def texts_of(numbers: Sequence[int]) -> list[str]:
            return [row[dialect.columns.text] for row in spool.rows(numbers, [dialect.columns.text])]

        ids = _ids(spool, dialect.columns.id)
        evidence = gather(draft, ids, present, rules, texts_of, one_by_one=target.names_are_global)
        plan = ImportPlan(
            request=request,
            sources=tuple(sources),
            mapping=_mapping(sources[0], request, shop.now_ms),
            dialect=dialect,
            version=shop.catalog.version,
            rules=rules,
            draft=draft,
            evidence=evidence,
            present=present,
            spool=spool,
            folder=folder,
            scopes=() if target.dialect.can.row_form == "builtin" else scoping.table,
            states={source.path: FileState.of(source.path) for source in sources},
            cost=Cost(0, 0),
            near_looked_for=False,
            vectors=None,
        )
        if request.parts:
            from memtui.engine.transfer.importing.cluster_texts import take_embedding

            take_embedding(plan, shop.embedder, shop.cache, store.dims, on_progress, cancel)
        _look_for_near(plan, shop, on_progress, cancel)
        plan.cost = _cost(plan, shop)
        _warn(plan, shop)
        return plan
    except BaseException:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        raise


def _ids(spool: Spool, column: str) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array([batch.column(column) for batch in spool.batches()], pa.string())


def _mapping(source: Detected, request: ImportRequest, now_ms: int) -> dict[str, str]:
    """Role to column as it was used; empty where a format needs none."""
    if not source.format.maps:
        return {}
    if request.mapping:
        return dict(request.mapping)
    from memtui.engine.transfer.sources.column_mapping import guess
    from memtui.engine.transfer.sources.options import ReadOptions
    from memtui.engine.transfer.sources.preview import sample_of

    columns, rows = sample_of(source, ReadOptions(now_ms=now_ms, encoding=request.encoding))
    return guess(columns, rows, now_ms)


# ---------------------------------------------------------------------- near copies


def _look_for_near(
    plan: ImportPlan, shop: ImportPlanner, on_progress: OnProgress | None, cancel: CancelToken | None
) -> None:
    """Compare with what is there and among themselves, where that is wanted and can be had."""
    import numpy as np

    if not plan.rules.has("near") or shop.store.dims is None or not plan.total:
        return
    candidates = plan.numbers("new")
    bare = candidates[(plan.evidence.flags[candidates] & HAS_VECTOR) == 0]
    pairs = len(candidates) * (plan.present.rows + len(candidates))
    if why := _why_not_near(plan.request, shop, len(bare), pairs):
        plan.warnings.append(why)
        return
    vectors = _all_vectors(plan, shop, candidates, bare, on_progress, cancel)
    scopes, kinds, words = (
        np.frombuffer(column, dtype=np.int64)[candidates]
        for column in (plan.draft.scopes, plan.draft.kinds, plan.draft.words)
    )
    from memtui.engine.transfer.importing.near_copies import Nearest, within

    nearest = Nearest(vectors[candidates], scopes, kinds, plan.rules.near)
    done, rows, pin = 0, plan.present.rows, shop.store.pin()
    fetched = pin.on_object_storage and rows > far_vectors.FAR_VECTORS
    what = f"fetching {far_vectors.vectors_words(rows, pin.dims or 0)}, " if fetched else ""
    told = Progress(f"{what}looking for near copies", done, rows)
    if on_progress:
        on_progress(told)
    for block in plan.present.blocks():
        nearest.compare(block, cancel)
        done += len(block.places)
        if on_progress:
            on_progress(replace(told, done=done))
    found = plan.evidence
    found.make_room()
    found.near[candidates], found.near_cosine[candidates] = nearest.place, nearest.cosine
    found.rival[candidates], found.rival_cosine[candidates] = nearest.rival, nearest.rival_cosine
    alone = nearest.place < 0
    place, cosine = within(vectors[candidates[alone]], words[alone], plan.rules.near, cancel)
    numbers = candidates[alone]
    found.near_within[numbers] = (
        np.where(place >= 0, numbers[np.maximum(place, 0)], -1) if len(numbers) else place
    )
    found.near_within_cosine[numbers] = cosine
    plan.vectors, plan.near_looked_for = vectors, True
    plan._group = None


def _why_not_near(request: ImportRequest, shop: ImportPlanner, bare: int, pairs: int) -> str:
    if request.find_near is False:
        return "Near copies were not looked for, as asked."
    if bare and isinstance(shop.embedder, NoEmbedder):
        without = counted(bare, "text has", "texts have")
        return f"Near copies were not looked for: {without} no vector. {shop.embedder.reason}"
    if request.find_near and not (bare and isinstance(shop.embedder, HeldEmbedder)):
        return ""
    if bare and not is_offline(shop.embedder) and not request.parts:
        name = shop.model or "a service"
        return f"Near copies were not looked for: {counted(bare, 'text')} would have to be embedded by {name} first."
    if pairs > MOST_PAIRS:
        return f"Near copies were not looked for: {pairs:,} comparisons would take minutes."
    return ""


def _all_vectors(
    plan: ImportPlan,
    shop: ImportPlanner,
    candidates: NDArray[np.int64],
    bare: NDArray[np.int64],
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> NDArray[np.float32]:
    """Vectors of the candidates, at their numbers, in a file: those of the source, and made ones."""
    import numpy as np

    assert shop.store.dims is not None
    path = plan.folder / "vectors.f32"
    vectors = np.memmap(path, dtype=np.float32, mode="w+", shape=(plan.total, shop.store.dims))
    copy_vectors(plan, vectors)
    embed_into(plan, shop, bare, vectors, on_progress, cancel)
    return vectors


def copy_vectors(plan: ImportPlan, into: NDArray[np.float32]) -> None:
    """The vectors that the source brought, at their numbers."""
    import numpy as np

    column = plan.dialect.columns.vector
    at = 0
    for batch in plan.spool.batches():
        array = batch.column(batch.schema.get_field_index(column))
        there = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
        if there.size:
            flat = array.values.to_numpy(zero_copy_only=False).reshape(len(array), -1)
            into[at + there] = flat[there]
        at += batch.num_rows


def embed_into(
    plan: ImportPlan,
    shop: ImportPlanner,
    numbers: NDArray[np.int64],
    into: NDArray[np.float32],
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> None:
    """Make the vectors of these records and put them at their numbers.

    What a service made is kept in the cache at once: after a failure or a kill nothing is asked for twice.
    """
    if not len(numbers):
        return
    if isinstance(shop.embedder, NoEmbedder):
        raise MemtuiError(shop.embedder.reason, fix=shop.embedder.fix)
    embedder = shop.embedder
    offline = is_offline(embedder) and not plan.request.parts
    cache = None if offline else VectorCache(shop.cache, embedder, into.shape[1])
    done = 0

    def heard(texts: int) -> None:
        nonlocal done
        done += texts
        if on_progress:
            on_progress(Progress(f"embedding with {embedder.name}", done, len(numbers), "texts"))
        if cancel is not None:
            cancel.check()

    for start in range(0, len(numbers), _PART):
        part = numbers[start : start + _PART]
        texts = plan.texts(part.tolist())
        if cache is None:
            into[part] = embedded(embedder, texts, into.shape[1])
            heard(len(texts))
        else:
            heard(len(texts) - len(cache.missing(texts)))
            cache.fill(texts, heard)
            into[part] = cache.get(texts)


# ---------------------------------------------------------------------- cost and warnings


def _cost(plan: ImportPlan, shop: ImportPlanner) -> Cost:
    import numpy as np

    numbers = plan.to_embed()
    chars = int(np.frombuffer(plan.draft.chars, dtype=np.uintc)[numbers].sum()) if len(numbers) else 0
    name = shop.model or ""
    if not len(numbers) or plan.vectors is not None:
        return Cost(len(numbers), chars, 0.0, name)
    if isinstance(shop.embedder, NoEmbedder):
        return Cost(len(numbers), chars, None, name, f"{shop.embedder.reason} {shop.embedder.fix}".strip())
    if not is_offline(shop.embedder) or plan.request.parts:
        return Cost(len(numbers), chars, None, name)
    return measured(shop.embedder, plan.texts(numbers[:32].tolist()), len(numbers), chars, shop.timer)


def measure(plan: ImportPlan, shop: ImportPlanner) -> Cost:
    """The cost with its time measured, by asking the service for a few texts; the vectors are kept."""
    numbers = plan.to_embed()
    if not len(numbers) or isinstance(shop.embedder, NoEmbedder):
        return plan.cost
    sample = plan.texts(numbers[:32].tolist())
    plan.cost = measured(shop.embedder, sample, plan.cost.rows, plan.cost.chars, shop.timer)
    return plan.cost


def _warn(plan: ImportPlan, shop: ImportPlanner) -> None:
    draft: ImportDraft = plan.draft
    if draft.broken:
        plan.warnings.append(
            f"{counted(draft.broken, 'part')} of the source cannot be read: agree that they are left out."
        )
    if not plan.total and not draft.rejected:
        plan.warnings.append("There is no memory in it.")
    if plan.cost.problem and not plan.request.without_embedding:
        without = counted(plan.cost.rows, "memory has", "memories have")
        plan.warnings.append(f"{without} no vector that this store can use: {plan.cost.problem}")
    orders = plan.flags["orders"]
    if orders:
        texts = "text reads" if orders == 1 else "texts read"
        plan.warnings.append(f"{orders:,} {texts} like prompt injection: read them before you agree.")
