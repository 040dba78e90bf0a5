"""What each index of a store serves, what it gains and what it costs in answers, measured on the store itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.store.errors import explained
from memtui.engine.store.index_status import refining

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine
    from memtui.engine.explain.question_history import History
    from memtui.engine.health.maintenance import TableStep
    from memtui.engine.store.snapshot import Metric
    from memtui.engine.store.table import Store
    from memtui.engine.store.table_facts import IndexFacts, TableFacts


QUESTIONS = 50

NEAREST = 10

PAYS_FROM = 50_000
"""Rows below which a vector index saves milliseconds and costs answers (measured; see `advice`)."""

LOSES = 0.95

Verdict = Literal["needed", "useless", "harmful"]


@dataclass(frozen=True, slots=True)
class Honesty:
    """What the vector index keeps of the exact answers, and the time it saves."""

    questions: int
    own: bool
    """Whether these are the person's own questions; else stored vectors stood for them."""
    recall: float
    """Share of the exact ten nearest that the indexed search gives back, 0 to 1."""
    first_lost: int
    """Questions whose best memory is missed."""
    with_ms: float
    without_ms: float

    @property
    def lost_of_100(self) -> int:
        """Nearest memories lost of a hundred."""
        return round(100 * (1 - self.recall))

    def sentence(self) -> str:
        """What it means for a person's questions."""
        asked = "own questions" if self.own else "stored vectors asked as questions"
        return (
            f"{self.first_lost} of {self.questions} {asked} miss their best memory, {self.lost_of_100} of 100 nearest "
            "memories are lost; "
            f"without the index a search takes {self.without_ms:.1f} ms instead of {self.with_ms:.1f}"
        )


@dataclass(frozen=True, slots=True)
class IndexReport:
    """One index with its verdict."""

    index: IndexFacts
    serves: str
    verdict: Verdict
    sentence: str
    action: str
    honesty: Honesty | None = None

    @property
    def steps(self) -> tuple[TableStep, ...]:
        """The action as steps of maintenance; () where it is to be left."""
        from memtui.engine.health.maintenance import TableStep

        if self.verdict == "needed" or self.action == "keep it":
            return ()
        words = self.index.is_text or self.serves == "nothing"
        return (TableStep("index-text"),) if words else (TableStep("drop-index", self.index.name),)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        each = self.index
        return {
            "name": each.name,
            "kind": each.kind,
            "columns": list(each.columns),
            "serves": self.serves,
            "indexed": each.indexed,
            "unindexed": each.unindexed,
            "size": each.size,
            "version": each.version,
            "created_ms": each.created_ms,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "action": self.action,
            "recall": None if self.honesty is None else self.honesty.recall,
        }


def honesty(
    store: Store,
    cancel: CancelToken | None = None,
    *,
    questions: Any = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Honesty | None:
    """Ask the index and the exact search the same: `questions` (float32 [n, dims]) if any, else stored vectors.

    None without usable vectors.
    """
    pin = store.pin()
    column, dims = pin.dialect.columns.vector, pin.dims
    metric: Metric = "l2" if pin.dialect.can.compares_l2 else "cosine"
    if column is None or dims is None:
        return None
    own = questions is not None and len(questions) > 0
    asked = np.asarray(questions, np.float32) if own else _stored(store)
    if not len(asked):
        return None
    kept = wanted = first = 0
    times: dict[bool, list[float]] = {True: [], False: []}
    for vector in asked:
        if cancel is not None:
            cancel.check()
        answers: dict[bool, list[tuple[int, float]]] = {}
        for indexed in (True, False):
            begun = clock()
            with explained(pin.where):
                query = pin.table.search(vector, query_type="vector", vector_column_name=column)
                query = query.distance_type(metric)
                if not indexed:
                    query = query.bypass_vector_index()
                elif pin.dialect.can.own_store:  # as memtui asks; the agents' programs ask without refining
                    query = refining(query, NEAREST)
                found = query.select(["_distance"]).with_row_id(True).limit(NEAREST).to_arrow()
            times[indexed].append((clock() - begun) * 1000)
            answers[indexed] = list(
                zip(found.column("_rowid").to_pylist(), found.column("_distance").to_pylist(), strict=True)
            )
        exact, got = [row for row, _ in answers[False]], {row for row, _ in answers[True]}
        wanted += len(exact)
        kept += len(got & set(exact))
        first += bool(exact) and exact[0] not in got
    return Honesty(
        len(asked),
        own,
        kept / wanted if wanted else 1.0,
        first,
        float(np.median(times[True])),
        float(np.median(times[False])),
    )


def own_vectors(engine: Engine, cases: Sequence[Case], history: History) -> Any:
    """The vectors of a person's own questions, saved cases and those asked last: float32 [n, dims].

    Only vectors that were kept when the question was asked, and those that a model in this process makes: no
    service is asked. Questions without one are left out.
    """
    from memtui.engine.providers.static_embedder import StaticEmbedder

    local = engine.embedder if isinstance(engine.embedder, StaticEmbedder) else None
    last = {
        question.query: history.vector(question.number)
        for question in reversed(history.search(store=engine.store.uri, limit=QUESTIONS))
    }
    kept = {case.query: case.query_vector for case in cases}
    found = []
    for query in dict.fromkeys([*kept, *last]):
        vector: Sequence[float] | None = kept.get(query) or last.get(query)
        if vector is None and local is not None:
            with suppress(MemtuiError):
                vector = local.embed_query(query).tolist()
        if (
            vector is not None
            and len(vector) == engine.store.dims
            and np.isfinite(vector).all()
            and any(vector)
        ):
            found.append(vector)
    return np.asarray(found, np.float32).reshape(-1, engine.store.dims or 1)


def _stored(store: Store) -> Any:
    """Vectors of rows spread over the table, none of them useless: float32 [n, dims]."""
    pin = store.pin()
    column, dims = str(pin.dialect.columns.vector), pin.dims
    rows = pin.count()
    batch_rows = max(1, rows // QUESTIONS)
    found = []
    for offset in range(0, rows, batch_rows):
        with explained(pin.where):
            part = pin.table.search().select([column]).limit(1).offset(offset).to_arrow()
        for vector in part.column(column).to_pylist():
            if vector is not None and all(each is not None for each in vector):
                numbers = np.asarray(vector, np.float32)
                if np.isfinite(numbers).all() and float(np.linalg.norm(numbers)) > 1e-6:
                    found.append(numbers)
        if len(found) >= QUESTIONS:
            break
    return np.asarray(found, np.float32).reshape(-1, dims or 1)


def advice(rows: int, *, own: bool) -> str:
    """Which vector index a table of so many rows should have; `own` for tables that memtui alone opens.

    Measured over real lines of text: below 50,000 rows an exact search answers within 30 ms; from there IVF_RQ with
    refining gives .96 to .99 of the answers for a hundredth of HNSW's work, IVF_SQ is the one that the plugins read.
    """
    if rows < PAYS_FROM:
        return (
            f"none: {counted(rows, 'row')} are searched exactly in milliseconds, an index would miss results"
        )
    if not own:
        return "IVF_SQ or IVF_FLAT: the plugin reads these, and asks without refining"
    return "IVF_RQ: memtui asks it for more than is wanted, and refines"


def report_indexes(
    store: Store, facts: TableFacts, cancel: CancelToken | None = None, *, questions: Any = None
) -> tuple[IndexReport, ...]:
    """Every index with what it serves, whether it is needed, and what to do about it; `questions` as in `honesty`."""
    return tuple(_report(store, facts, index, questions, cancel) for index in facts.indexes)


def _report(
    store: Store, facts: TableFacts, index: IndexFacts, questions: Any, cancel: CancelToken | None
) -> IndexReport:
    columns = store.dialect.columns
    if index.is_text:
        return _words(store, index)
    if index.is_vector:
        measured = honesty(store, cancel, questions=questions)
        return _vectors(store, facts, index, measured)
    if index.columns == (columns.text,):
        return IndexReport(
            index, "nothing", "harmful", "it keeps a full-text index from being made", "drop it (D9)"
        )
    if index.columns == (columns.id,):
        pays = facts.rows > PAYS_FROM
        said = (
            "writes by id find their row at once" if pays else "few rows: they are found as fast without it"
        )
        return IndexReport(index, "writes by id", "needed" if pays else "useless", said, "keep it")
    return IndexReport(
        index, f"filters on {', '.join(index.columns)}", "useless",
        "no recall asks for it; lists are made without it", "keep it, or drop it",
    )  # fmt: skip


def _words(store: Store, index: IndexFacts) -> IndexReport:
    if index.details is None:
        return IndexReport(index, "keyword search", "harmful", "its files are missing", "rebuild it (D5)")
    newest = store.dialect.can.newest_fts
    if newest is not None and (index.version or 0) > newest:
        return IndexReport(
            index,
            "keyword search",
            "harmful",
            f"format {index.version}: the plugin ignores it",
            "rebuild it (D6)",
        )
    covered = f"{index.indexed:,} of {counted(index.indexed + index.unindexed, 'row')}"
    return IndexReport(
        index, "keyword search", "needed", f"keyword search uses it; it holds {covered}", "keep it"
    )


def _vectors(store: Store, facts: TableFacts, index: IndexFacts, measured: Honesty | None) -> IndexReport:
    own = store.dialect.can.own_store
    if measured is None:
        return IndexReport(index, "meaning", "useless", "there is no vector to search", "drop it")
    if measured.recall < LOSES:
        return IndexReport(
            index,
            "meaning",
            "harmful",
            measured.sentence(),
            f"drop it (D11); better: {advice(facts.rows, own=own)}",
            measured,
        )
    if facts.rows < PAYS_FROM:
        return IndexReport(
            index,
            "meaning",
            "useless",
            measured.sentence(),
            f"drop it; better: {advice(facts.rows, own=own)}",
            measured,
        )
    return IndexReport(index, "meaning", "needed", measured.sentence(), "keep it", measured)
