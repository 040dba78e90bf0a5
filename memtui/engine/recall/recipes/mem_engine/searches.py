"""The two searches of a tier: rows of one scope with one label, by vector and by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.dialects import importance_labels as labels
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.recall.candidates import Floats, Hit
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.recipes.mem_engine.scope_rules import GLOBAL, scope_where
from memtui.engine.recall.rows import CandidateRow, rows_of
from memtui.engine.recall.store_search import read_columns
from memtui.engine.store import sql

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


@dataclass(frozen=True, slots=True)
class TierRow:
    """A row with what this program keeps beside the text."""

    row: CandidateRow
    label: str
    trust: str | None


@dataclass(frozen=True)
class TierLanes:
    """What the two searches of one tier found; `failed` says why one of them could not be asked."""

    scope: str
    labels: tuple[str, ...]
    vector: tuple[Hit, ...]
    words: tuple[Hit, ...]
    stored: dict[str, TierRow]
    failed: tuple[str, ...] = ()
    by_words_only: bool = False
    """Whether there was no vector to search by."""


def tier_lanes(
    outside: IoCache,
    question: str,
    vector: Floats | None,
    *,
    scope: str,
    wanted: Sequence[str],
    limit: int,
    recorded: dict[str, list[tuple[str, float]]] | None = None,
) -> TierLanes:
    """Search one tier both ways, at most `limit` rows each; a search that fails finds nothing, and says so.

    `recorded` hits, (id, score) by lane name, replace the searches; those of other tiers are left out.
    """
    where = _where(outside.pin.dialect, scope, wanted)
    failed: list[str] = []
    stored: dict[str, TierRow] = {}
    lanes: dict[str, tuple[Hit, ...]] = {}
    for name in ("bm25", "vector"):
        try:
            if recorded is not None:
                hits = _recorded(outside, recorded.get(name, []), where, limit, name)
            elif name == "vector":
                hits = [] if vector is None else _by_vector(outside, vector, where, limit)
            else:
                hits = _by_words(outside, question, where, limit)
        except MemtuiError as error:
            failed.append(f"a search failed: {error}")
            hits = []
        stored |= {row.row.id: row for row, _ in hits}
        lanes[name] = tuple(hit._replace(rank=rank) for rank, (_, hit) in enumerate(hits, 1))
    by_words_only = vector is None and recorded is None
    return TierLanes(
        scope, tuple(wanted), lanes["vector"], lanes["bm25"], stored, tuple(failed), by_words_only
    )


def _where(dialect: Dialect, scope: str, wanted: Sequence[str]) -> str:
    """Scope and labels as a filter; where a table has no labels, the score that they are made from."""
    column = dialect.columns.scope
    conditions = []
    if column == "scope":
        conditions.append(scope_where(scope))
    elif column:
        conditions.append(sql.is_in(column, [scope, *((None, "") if scope == GLOBAL else ())]))
    if LABEL in dialect.labels:
        conditions.append(sql.is_in(LABEL, wanted))
    else:
        conditions.append(_by_score(dialect.columns.importance, wanted))
    return " AND ".join(f"({condition})" for condition in conditions)


def _by_score(column: str | None, wanted: Sequence[str]) -> str:
    if column is None:
        return "true" if labels.UNKNOWN in wanted else "false"
    name = sql.name(column)
    ranges = {
        labels.MUST: f"{name} >= {labels.MUST_FROM}",
        labels.NICE: f"({name} >= {labels.NICE_FROM} AND {name} < {labels.MUST_FROM})",
        labels.IGNORE: f"{name} < {labels.NICE_FROM}",
        labels.UNKNOWN: f"{name} IS NULL",
    }
    return " OR ".join(ranges[label] for label in wanted) or "false"


def _by_vector(outside: IoCache, vector: Floats, where: str, limit: int) -> list[tuple[TierRow, Hit]]:
    """Nearest by squared L2; score = 1 / (1 + distance)."""
    columns = _columns(outside)

    def ask() -> pa.Table:
        return outside.pin.vector_search(
            vector.astype("float32").tolist(), k=limit, metric="l2", where=where, columns=columns
        )

    key = ("tier vector", vector.tobytes(), where, limit)
    table = outside.asked(key, "the table has to be searched by vectors", ask)
    return [
        (row, Hit(row.row, 0, 1 / (1 + d), d, "inverse_squared_l2", {"distance": d}))
        for row, d in _read(outside, table, table.column("_distance").to_pylist())
    ]


def _by_words(outside: IoCache, question: str, where: str, limit: int) -> list[tuple[TierRow, Hit]]:
    """By the words of the question, without an index, as the program searches; score = raw BM25."""
    columns = _columns(outside)
    if outside.pin.counted is not None and outside.pin.fts.exists:  # an index counts all that it holds
        outside.count_others()

    def ask() -> pa.Table:
        return outside.pin.fts_search(question, k=limit, where=where, columns=columns, flat=True)

    table = outside.asked(
        ("tier words", question, where, limit), "a keyword search of the table is needed", ask
    )
    return [
        (row, Hit(row.row, 0, raw, raw, "bm25", {"raw_bm25": raw}))
        for row, raw in _read(outside, table, table.column("_score").to_pylist())
    ]


def _recorded(
    outside: IoCache, items: Sequence[tuple[str, float]], where: str, limit: int, lane: str
) -> list[tuple[TierRow, Hit]]:
    scores = dict(items)
    columns = _columns(outside)
    ids = sql.is_in(outside.pin.dialect.columns.id, list(scores))

    def ask() -> pa.Table:
        import pyarrow as pa

        found = list(outside.pin.scan(columns, where=f"({ids}) AND {where}"))
        return pa.Table.from_batches(found) if found else None

    table = outside.asked(("tier recorded", lane, tuple(items), where), "rows have to be read", ask)
    if table is None:
        return []
    rows = {row.row.id: row for row, _ in _read(outside, table, [0.0] * table.num_rows)}
    found = [rows[score] for score in scores if score in rows][:limit]
    return [
        (
            row,
            _recorded_hit(row.row, scores[row.row.id], lane),
        )
        for row in found
    ]


def _recorded_hit(row: CandidateRow, score: float, lane: str) -> Hit:
    distance = 1 / score - 1 if lane == "vector" and score > 0 else None
    return Hit(row, 0, score, distance, "recorded", {"recorded": score})


def _columns(outside: IoCache) -> list[str]:
    dialect = outside.pin.dialect
    return [*read_columns(dialect), *(name for name in (LABEL, TRUST) if name in dialect.labels)]


def _read(outside: IoCache, table: pa.Table, numbers: Sequence[float]) -> list[tuple[TierRow, Any]]:
    """The rows as this recall reads them, with their label and trust, in order; taken-away ones are left out."""
    names = table.column_names
    nothing = [None] * table.num_rows
    given = table.column(LABEL).to_pylist() if LABEL in names else nothing
    trust = table.column(TRUST).to_pylist() if TRUST in names else nothing
    importance = outside.pin.dialect.columns.importance
    scores = table.column(importance).to_pylist() if importance in names else nothing
    out = []
    for row, label, tier, score, number in zip(
        rows_of(table, outside.pin.dialect), given, trust, scores, numbers, strict=True
    ):
        read = outside.read(row)
        if read is not None:
            out.append((TierRow(read, labels.label_of(label, labels.importance(score)), tier), number))
    return out
