"""Injections as the store's own history tells them: memory-lancedb-pro marks every row that it injects.

After each injection the plugin writes each injected row anew with `last_injected_at`, one and the same
millisecond for all rows of a turn. So the pairs (id, last_injected_at) over all versions, grouped by time,
are the sets that were injected: at least these, because a patch may have been lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.metadata.read import count, parse_object, positive
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


KEY = "last_injected_at"


@dataclass(frozen=True, slots=True)
class InjectionMark:
    """One row's mark: the memory was injected at this moment."""

    id: str
    time_ms: int
    version: int
    """The version that wrote the mark; where `old` is set, only the oldest that still can be read."""
    old: bool = False


@dataclass(frozen=True, slots=True)
class InjectionEvent:
    """All memories that carry one moment: what one turn injected, at least."""

    time_ms: int
    ids: tuple[str, ...]
    version: int
    """The first version that has one of the marks."""
    complete: bool = False
    """Whether nothing can be missing; the store alone never proves that."""
    others: tuple[str, ...] = ()
    """Sessions that asked within the same seconds and may have been injected instead."""

    def as_json(self) -> dict[str, object]:
        """The event of the command-line contract, with the version beside it."""
        return {
            "time_ms": self.time_ms,
            "ids": list(self.ids),
            "complete": self.complete,
            "version": self.version,
        }


@dataclass(slots=True)
class InjectionHistory:
    """What the readable versions of a store tell of injections."""

    marks: list[InjectionMark] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """The highest `injected_count` seen of each memory."""
    version: int = 0
    """The newest version that was read."""
    known: bool = True
    """False for a store whose program leaves no marks."""

    def events(self, since_ms: int = 0) -> list[InjectionEvent]:
        """The marks grouped by their moment, oldest first."""
        return events_of(self.marks, since_ms)

    @property
    def lost(self) -> int:
        """Injections that the counters of the rows tell of and no mark does: older than the history."""
        seen: dict[str, set[int]] = {}
        for mark in self.marks:
            seen.setdefault(mark.id, set()).add(mark.time_ms)
        return sum(max(0, total - len(seen.get(each, ()))) for each, total in self.counts.items())


def events_of(marks: Iterable[InjectionMark], since_ms: int = 0) -> list[InjectionEvent]:
    """Marks grouped by their moment, oldest first; ids in the order in which the versions wrote them."""
    groups: dict[int, dict[str, int]] = {}
    for mark in marks:
        if mark.time_ms >= since_ms:
            group = groups.setdefault(mark.time_ms, {})
            group[mark.id] = min(mark.version, group.get(mark.id, mark.version))
    return [
        InjectionEvent(
            time_ms, tuple(sorted(group, key=lambda each: (group[each], each))), min(group.values())
        )
        for time_ms, group in sorted(groups.items())
    ]


def read_injections(
    store: Store,
    *,
    after: int | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> InjectionHistory:
    """The marks in the rows that versions after `after` wrote; without it also those of the oldest version.

    Reads only what changed from version to version. A store without a metadata column has no marks.
    """
    from memtui.engine.store.changed_rows import changed_rows

    column = store.dialect.columns.metadata
    history = InjectionHistory(version=store.version, known=column is not None)
    if column is None:
        return history
    found: dict[tuple[str, int], InjectionMark] = {}
    ids = store.dialect.columns.id
    for written in changed_rows(
        store,
        [column],
        after=after,
        base_where=sql.contains(column, KEY),
        on_progress=on_progress,
        cancel=cancel,
    ):
        names, raws = (written.rows.column(each).to_pylist() for each in (ids, column))
        for row_id, raw in zip(names, raws, strict=True):
            if row_id is None or not isinstance(raw, str) or KEY not in raw:
                continue
            values, _ = parse_object(raw)
            _note(found, history.counts, str(row_id), values, written.version, written.base)
    history.marks = sorted(found.values(), key=lambda each: (each.time_ms, each.version, each.id))
    return history


def _note(
    found: dict[tuple[str, int], InjectionMark],
    counts: dict[str, int],
    row_id: str,
    values: Mapping[str, object],
    version: int,
    base: bool,
) -> None:
    time_ms = positive(values.get(KEY), None)
    if time_ms is None:
        return
    mark = InjectionMark(row_id, int(time_ms), version, base)
    earlier = found.get((row_id, mark.time_ms))
    if earlier is None or mark.version < earlier.version:
        found[row_id, mark.time_ms] = mark
    counts[row_id] = max(counts.get(row_id, 0), int(count(values.get("injected_count"), 0)))
