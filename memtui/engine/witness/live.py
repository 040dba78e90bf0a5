"""What happens in a store as it happens: rows stored, changed, injected, removed, version by version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.secrets import mask
from memtui.engine.metadata.read import parse_object, positive

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


LiveKind = Literal["stored", "changed", "injected"]

_SHOWN = 120

_SAME_MOMENT_MS = 60_000


@dataclass(frozen=True, slots=True)
class LiveEvent:
    """One row that a version wrote."""

    version: int
    time_ms: int
    kind: LiveKind
    id: str
    scope: str | None
    preview: str
    """The text on one line, masked and cut."""


def read_live(store: Store, after: int, cancel: CancelToken | None = None) -> list[LiveEvent]:
    """What the versions after `after` wrote, oldest first, up to the pinned one.

    A row counts as injected when its mark is younger than a minute before the commit, as stored when no older
    version has its id, else as changed. When `after` was cleaned away there is nothing to compare with: nothing.
    """
    from memtui.engine.store.changed_rows import changed_rows

    columns = store.dialect.columns
    names = [name for name in (columns.text, columns.scope, columns.metadata) if name]
    found: list[tuple[int, int, str, str | None, str, int | None]] = []
    for written in changed_rows(store, names, after=after, cancel=cancel):
        if written.base:
            return []
        rows = written.rows
        ids, texts = rows.column(columns.id).to_pylist(), rows.column(columns.text).to_pylist()
        count = rows.num_rows
        scopes = rows.column(columns.scope).to_pylist() if columns.scope else [None] * count
        raws = rows.column(columns.metadata).to_pylist() if columns.metadata else [None] * count
        for row_id, text, scope, raw in zip(ids, texts, scopes, raws, strict=True):
            injected = positive(parse_object(raw)[0].get("last_injected_at"), None)
            found.append((written.version, written.time_ms, str(row_id), scope, str(text or ""), injected))
    known = set(_ids(store, after, [each[2] for each in found]))
    events = []
    for version, time_ms, row_id, scope, text, injected in sorted(found, key=lambda each: each[:3]):
        is_injected = injected is not None and 0 <= time_ms - injected < _SAME_MOMENT_MS
        kind: LiveKind = "injected" if is_injected else "changed" if row_id in known else "stored"
        known.add(row_id)
        line = " ".join(mask(text)[0].split())
        events.append(LiveEvent(version, time_ms, kind, row_id, scope, line[:_SHOWN]))
    return events


def _ids(store: Store, version: int, ids: list[str]) -> list[str]:
    if not ids:
        return []
    column = store.dialect.columns.id
    rows = store.pin(version).rows_by_id(list(dict.fromkeys(ids)), [column])
    return [str(value) for value in rows.column(column).to_pylist()]
