"""A rehearsal of another embedding model: saved and last questions over a sample, old model against new."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.cases.runner import DEFAULT_K, CaseReport, CaseSetup, compare, run_cases
from memtui.engine.changes.recall_effect import effect_of, of_cases, once_each
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.providers.multilingual_embedder import MULTILINGUAL
from memtui.engine.providers.static_embedder import BUNDLED
from memtui.engine.transfer.make_store import create_table, open_like
from memtui.engine.transfer.reembed.build import Estimate, estimate, reembed

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.recall_effect import EffectQuestion, RecallEffect
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.store.table import Store


SAMPLE = 1_000

SEED = 20261121


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What the saved questions say of the two models over a sample of the store."""

    sample: int
    rows: int
    old: str
    new: str
    report: CaseReport
    """The old model's answers, with the new model's as `other`, the paired test and the cases that flip."""
    estimate: Estimate
    effect: RecallEffect
    """What the agent would read otherwise, of the saved questions and those asked last, place by place."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        cost = self.estimate.cost
        return {
            "schema": "memtui.rehearsal.v1",
            "sample": self.sample,
            "rows": self.rows,
            "old": self.old,
            "new": self.new,
            "cases": self.report.as_json(),
            "effect": self.effect.as_json(),
            "estimate": {
                "rows": self.estimate.rows,
                "empty": self.estimate.empty,
                "dims_before": self.estimate.dims_before,
                "dims": self.estimate.dims,
                "bytes": self.estimate.bytes,
                "chars": cost.chars,
                "tokens": cost.tokens,
                "seconds": cost.seconds,
            },
        }


def rehearse(
    store: Store,
    context: RecallContext,
    old: Embedder,
    new: Embedder,
    cases: Sequence[Case],
    *,
    work: Path,
    timer: Callable[[], float],
    recipe: str,
    last: Sequence[EffectQuestion] = (),
    sample: int = SAMPLE,
    k: int = DEFAULT_K,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Rehearsal:
    """Answer the cases and the `last` questions over a sample with each model, and compare in pairs.

    The sample holds every memory that a case expects or rejects, and others at random (the same each time).
    Raises UsageError without any question, EmbeddingError when a model cannot be asked.
    """
    if not cases and not last:
        raise UsageError(
            "There are no cases to rehearse with, and nothing was asked yet.",
            fix='Add some with: memtui cases add "..." --expect ID.',
        )
    make_private_folder(work)
    folder = Path(tempfile.mkdtemp(prefix="rehearsal-", dir=work))
    try:
        rows = _sampled(store, cases, sample, folder / "old")
        before = open_like(folder / "old", store)
        reembed(before, new, folder / "new", work=work, keep=True, on_progress=on_progress, cancel=cancel)
        after = open_like(folder / "new", store)
        plain = [replace(case, query_vector=None) for case in cases]
        kept = {case.query for case in plain}
        rest = [_plain(text, recipe) for text in once_each(last, recipe) if text.query not in kept]
        sides = [
            _answers(
                store,
                replace(
                    context,
                    store=store,
                    embed=model.embed_query,
                    bundled=model.name == BUNDLED,
                    multilingual=model.name == MULTILINGUAL,
                ),
                plain,
                rest,
                name,
                recipe,
                k,
                on_progress,
                cancel,
            )
            for store, model, name in ((before, old, "old"), (after, new, "new"))
        ]
        answered = [
            (asking, None if first is None or second is None else (first, second))
            for asking, first, second in zip(
                [*of_cases(plain), *rest], sides[0].traces, sides[1].traces, strict=True
            )
        ]
        return Rehearsal(
            rows,
            store.count(),
            old.name,
            new.name,
            compare(sides[0].report, sides[1].report),
            estimate(store, new, timer),
            effect_of(answered),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _plain(asking: EffectQuestion, recipe: str) -> EffectQuestion:
    """A question without what the old model or an older version made of it, and without a costly reranker."""
    request = replace(
        asking.request,
        recipe=asking.request.recipe or recipe,
        query_vector=None,
        table_version=None,
        rerank_timeout_ms=0,
    )
    return replace(asking, request=request)


@dataclass(frozen=True, slots=True)
class _Side:
    """What one model answers: the measures of the cases, and each recall; None where one failed."""

    report: CaseReport
    traces: tuple[Trace | None, ...]


def _answers(
    store: Store,
    context: RecallContext,
    cases: Sequence[Case],
    last: Sequence[EffectQuestion],
    name: str,
    recipe: str,
    k: int,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> _Side:
    from memtui.engine.recall.answer import recall

    traces: list[Trace | None] = []

    def ask(request: RecallRequest) -> Trace:
        traces.append(None)  # a recall that fails keeps its place
        found = recall(request, context)
        traces[-1] = found
        return found

    def known(ids: Sequence[str]) -> dict[str, Any]:
        table = store.rows_by_id(list(ids), store.row_columns)
        return {memory.id: memory for memory in store.dialect.to_memories(table, context.now_ms)}

    report = run_cases(
        cases,
        CaseSetup(name, recipe),
        ask,
        known,
        k=k,
        now_ms=context.now_ms,
        on_progress=on_progress,
        cancel=cancel,
    )
    for question in last:
        if cancel is not None:
            cancel.check()
        with suppress(MemtuiError):
            ask(replace(question.request, now_ms=context.now_ms))
    return _Side(report, tuple(traces))


def _sampled(store: Store, cases: Sequence[Case], sample: int, folder: Path) -> int:
    """A copy of some rows as a store of the same form; how many."""
    column = store.dialect.columns.id
    ids = [
        str(value)
        for batch in store.pin().scan([column])
        for value in batch.column(column).to_pylist()
        if value is not None
    ]
    wanted = {each for case in cases for each in (*case.expected, *case.rejected)} & set(ids)
    others = sorted(set(ids) - wanted)
    random.Random(SEED).shuffle(others)
    chosen = [*sorted(wanted), *others[: max(0, sample - len(wanted))]]
    table = store.rows_by_id(chosen, list(store.columns)).select(list(store.columns)).cast(store.schema)
    vector = str(store.dialect.columns.vector)
    at = table.schema.get_field_index(vector)
    table = table.set_column(at, table.schema.field(at), _writable(table.column(at).combine_chunks()))
    create_table(folder, store.dialect.name, table.schema, iter(table.to_batches()))
    return int(table.num_rows)


def _writable(vectors: Any) -> Any:
    """Vectors as the engine takes them: zeros, which find nothing either, for a NULL and for one with a NaN."""
    import numpy as np
    import pyarrow as pa

    kind = vectors.type
    flat = vectors.fill_null([0.0] * kind.list_size).flatten().to_numpy(zero_copy_only=False)
    rows = np.array(flat.reshape(len(vectors), kind.list_size), dtype=np.float32)
    rows[~np.isfinite(rows).all(axis=1)] = 0
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()).cast(kind.value_type), type=kind)
