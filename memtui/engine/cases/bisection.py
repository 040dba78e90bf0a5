""" "It answered well on Tuesday": the version, the clock or the configuration that changed one memory's rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.catalog.text_search import in_index, words_by_token
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.recall.request import RecallRequest
from memtui.engine.store.errors import explained
from memtui.engine.store.index_status import vector_index_rows
from memtui.engine.store.snapshot import ROW_ID_ALONE

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot


# What the indexes of one version hold of one memory: a row is written first and folded into them later.

Holding = Literal["no index", "beside", "held"]
"""Whether an index holds a row; "beside": the row is read beside it, so that it is found with other numbers."""

FEW_WORDS = 12
"""So many words of a memory are enough to meet it in the index."""


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """A memory in one version of the table."""

    row: str
    """All its columns, to be compared."""
    rows: int
    """Memories of that version."""
    words: Holding
    vectors: Holding
    words_beside: int
    """Rows that the full-text index does not hold."""


def held(pin: Snapshot, memory_id: str) -> IndexCoverage | None:
    """What the indexes of the version `pin` hold of a memory; None where that version does not have it."""
    columns = pin.dialect.columns
    found = pin.rows_by_id([memory_id], [column for column in (*pin.row_columns, columns.vector) if column])
    if not found.num_rows:
        return None
    row = found.slice(0, 1).drop_columns(["_rowid"]).to_pylist()[0]
    row_id = int(found.column("_rowid")[0].as_py())
    words = list(words_by_token(pin, str(row[columns.text] or "")).values())[:FEW_WORDS]
    covered = in_index(pin, " ".join(words), row_id)
    return IndexCoverage(
        row=repr(row),
        rows=pin.rows,
        words="no index" if covered is None else "held" if covered or not words else "beside",
        vectors=_vector_held(pin, row.get(columns.vector or ""), row_id),
        words_beside=pin.fts.unindexed_rows,
    )


def _vector_held(pin: Snapshot, vector: list[float] | None, row_id: int) -> Holding:
    known = vector_index_rows(pin.table, pin.dialect.columns.vector, pin.where)
    if known is None:
        return "no index"
    if not known[1] or not vector:
        return "held"
    with explained(pin.where):
        query = pin.table.search(
            vector, query_type="vector", vector_column_name=pin.dialect.columns.vector
        ).where(f"_rowid = {row_id}", prefilter=True)
        found = query.select(ROW_ID_ALONE).with_row_id(True).limit(1).fast_search().to_arrow()
    return "held" if found.num_rows else "beside"


def gap(before: IndexCoverage | None, after: IndexCoverage | None) -> tuple[str, bool]:
    """What the indexes have to do with a change from one version to the next, in words; empty: nothing.

    True where nothing else is known to have changed: as many memories, and the memory's own row the same.
    """
    if before is None or after is None:
        return "", False
    alone = before.row == after.row and before.rows == after.rows
    for kind, was, now in (
        ("full-text", before.words, after.words),
        ("vector", before.vectors, after.vectors),
    ):
        if was != now:
            return _WORDS[was, now].format(kind=kind), alone
    folded = before.words_beside - after.words_beside
    if alone and folded > 0:
        return f"it took {counted(folded, 'row')} into the full-text index, so words weigh differently", True
    return "", False


_WORDS: dict[tuple[Holding, Holding], str] = {
    ("no index", "held"): "it made the {kind} index",
    ("no index", "beside"): "it made a {kind} index that does not hold the memory",
    ("beside", "held"): "it took the memory into the {kind} index, before the memory was read beside it",
    ("held", "beside"): "since then the {kind} index does not hold the memory, which is read beside it",
    ("held", "no index"): "since then there is no {kind} index",
    ("beside", "no index"): "since then there is no {kind} index",
}

SAMPLES = 9
"""Versions looked at before the search narrows: a rank may change and change back in between."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A version of the table that can still be read."""

    version: int
    time_ms: int


@dataclass(frozen=True, slots=True)
class BisectPoint:
    """The memory's rank at one version; None when it did not come back."""

    version: int
    time_ms: int
    rank: int | None
    disposition: str
    """"returned", the stage that dropped it, "no candidate", or "unreadable"."""
    reason: str = ""
    """The gate of that stage; empty where nothing dropped it."""
    level: int = 0
    """Other memories that came back with the same score: which of them comes first is not defined."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """What changed the rank. `cause` names it; `sentence` says it."""

    cause: Literal["version", "index", "clock", "configuration", "nothing"]
    """"index": a version that left the memories alone and changed what an index holds of them."""
    sentence: str
    now: BisectPoint
    then: BisectPoint
    changed_at: BisectPoint | None
    """The first version with today's rank, when a version or its index is the cause."""
    before: BisectPoint | None
    """The version before it."""
    points: tuple[BisectPoint, ...]
    """Every version looked at, oldest first."""


Ask = Callable[[RecallRequest], Any]

HeldAt = Callable[[int], IndexCoverage | None]
"""What the indexes of a version hold of the memory."""


def bisect(
    request: RecallRequest,
    memory_id: str,
    versions: Sequence[TableVersion],
    ask: Ask,
    *,
    now_ms: int,
    then_ms: int | None = None,
    then_config: RecallRequest | None = None,
    held_at: HeldAt | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Bisection:
    """Find what changed the rank of `memory_id` for `request`; nothing is restored or written.

    `versions` oldest first. `then_ms` (default: the oldest version's time) is when it was still right: the table
    of that time is asked with today's clock, then today's table with that time's clock, then with `then_config`
    (the request as it was configured). With `held_at` a version is told from an index that held the memory later.
    Raises UsageError without a version to compare with.
    """
    readable = [version for version in versions if then_ms is None or version.time_ms >= then_ms] or list(
        versions[-1:]
    )
    older = [version for version in versions if then_ms is not None and version.time_ms <= then_ms][-1:]
    line = [*older, *(version for version in readable if version not in older)]
    if len(line) < 1:
        raise UsageError("The table has no version that can be read.", fix="Its history was cleaned up.")
    seen: dict[int, BisectPoint] = {}

    def look(at: TableVersion) -> BisectPoint:
        if cancel is not None:
            cancel.check()
        if at.version not in seen:
            seen[at.version] = _point(
                ask, replace(request, table_version=at.version, now_ms=now_ms), memory_id, at
            )
            if on_progress is not None:
                on_progress(Progress("asking older versions", len(seen), 0, "versions"))
        return seen[at.version]

    now = look(line[-1])
    step = max(1, (len(line) - 1) // (SAMPLES - 1))
    sampled = sorted({*range(0, len(line), step), len(line) - 1})
    ranks = [look(line[index]) for index in sampled]
    then = next((point for point in ranks if point.disposition != "unreadable"), now)
    different = [index for index, point in zip(sampled, ranks, strict=True) if not _same(point, now)]
    points = tuple(seen[version.version] for version in line if version.version in seen)
    if different:
        low, high = different[-1], next(index for index in sampled if index > different[-1])
        while high - low > 1:
            middle = (low + high) // 2
            if _same(look(line[middle]), now):
                high = middle
            else:
                low = middle
        changed, before = look(line[high]), look(line[low])
        points = tuple(seen[version.version] for version in line if version.version in seen)
        sentence = f"version {changed.version} changed it: {_said(before)} before, {_said(changed)} since"
        told, alone = _by_index(held_at, before, changed)
        told = told or _by_tie(before, changed)
        cause: Literal["index", "version"] = "index" if alone else "version"
        return Bisection(
            cause, f"{sentence}; {told}" if told else sentence, now, before, changed, before, points
        )
    moment = then_ms if then_ms is not None else line[0].time_ms
    newest = line[-1]
    aged = _point(ask, replace(request, table_version=newest.version, now_ms=moment), memory_id, newest)
    if not _same(aged, now):
        sentence = f"the clock changed it: {_said(aged)} at that time, {_said(now)} now, on the same rows"
        return Bisection("clock", sentence, now, replace(aged, time_ms=moment), None, None, points)
    if then_config is not None:
        was = _point(
            ask, replace(then_config, table_version=newest.version, now_ms=now_ms), memory_id, newest
        )
        if not _same(was, now):
            sentence = (
                f"the configuration changed it: {_said(was)} with the former settings, "
                f"{_said(now)} with the current ones"
            )
            return Bisection("configuration", sentence, now, was, None, None, points)
    sentence = f"no change found: {_said(now)} in every readable version, then and now"
    return Bisection("nothing", sentence, now, then, None, None, points)


def _point(ask: Ask, request: RecallRequest, memory_id: str, at: TableVersion) -> BisectPoint:
    try:
        trace = ask(request)
    except MemtuiError:
        return BisectPoint(at.version, at.time_ms, None, "unreadable")
    found = next((candidate for candidate in trace.candidates if candidate.id == memory_id), None)
    if found is None:
        return BisectPoint(at.version, at.time_ms, None, "no candidate")
    if found.rank is None:
        return BisectPoint(at.version, at.time_ms, None, found.disposition, found.reason)
    level = sum(result.score == found.score for result in trace.results) - 1
    return BisectPoint(at.version, at.time_ms, found.rank, found.disposition, level=level)


def _by_tie(before: BisectPoint, changed: BisectPoint) -> str:
    """Where the memory only changed its place among those of the same score, in words."""
    if not before.level or not changed.level or before.rank is None or changed.rank is None:
        return ""
    if abs(before.rank - changed.rank) > min(before.level, changed.level):
        return ""
    others = "another has" if changed.level == 1 else f"{changed.level} others have"
    return f"{others} the same score, and which of them comes first is not defined"


def _by_index(held_at: HeldAt | None, before: BisectPoint, changed: BisectPoint) -> tuple[str, bool]:
    """`gap` between the versions of two points; nothing where one of them cannot be read."""
    if held_at is None:
        return "", False
    try:
        return gap(held_at(before.version), held_at(changed.version))
    except MemtuiError:
        return "", False


def _same(a: BisectPoint, b: BisectPoint) -> bool:
    return a.rank == b.rank and (a.rank is not None or a.disposition == b.disposition)


def _said(point: BisectPoint) -> str:
    if point.rank is not None:
        return f"rank {point.rank}"
    known = {"no candidate": "not a candidate", "unreadable": "unreadable"}
    return known.get(point.disposition) or dropped_by(point)


def dropped_by(point: BisectPoint) -> str:
    """The stage that dropped the memory, and its gate where that has another name."""
    stage, gate = point.disposition.replace("_", " "), point.reason.replace("_", " ")
    return f"dropped by {stage}" + (f" ({gate})" if gate not in ("", stage) else "")
