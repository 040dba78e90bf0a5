"""One store opened: rows, dimensions, full-text index, scopes, and its health in a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtui.engine.discovery.found import PRO, FoundStore
from memtui.engine.errors import DamagedStoreError, MemtuiError

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """What opening a found store told; when it could not be opened, `error` says why and numbers are None."""

    found: FoundStore
    word: str
    """ok, empty, left over, orphans, index v2, dims differ, damaged, unreadable, remote: the gravest one."""
    notes: tuple[str, ...] = ()
    """What stands behind the word, a sentence each."""
    dialect: str = ""
    dialect_title: str = ""
    rows: int | None = None
    """Memories, the sentinel not counted."""
    dims: int | None = None
    dims_match: bool | None = None
    """Whether the configured model gives vectors of the table's length; None when either is unknown."""
    fts: str = ""
    """The full-text index in a phrase: "version 1, positions, ...", "none"."""
    columns: tuple[str, ...] = ()
    time_column: str | None = None
    scopes: Mapping[str | None, int] = field(default_factory=dict)
    """Rows by stored scope; empty where the table has no scope column."""
    agents: Mapping[str | None, int] = field(default_factory=dict)
    """Rows by `agentId`, where the table has that column."""
    orphan_rows: int = 0
    """Rows that no agent can see: their scope is null, blank or padded with spaces."""
    error: str = ""

    def visible_rows(self, scopes: Iterable[str] | None) -> int | None:
        """Rows that a reader of `scopes` sees (None reads everything); None when the rows are unknown."""
        if self.rows is None or scopes is None:
            return self.rows
        return sum(self.scopes.get(scope, 0) for scope in set(scopes))


def inspect(found: FoundStore) -> StoreHealth:
    """Open the store read-only and look at it; a store that cannot be opened is reported, not raised."""
    if found.is_remote:
        return StoreHealth(found, "remote", ("a remote store is not opened to list it",))
    from memtui.engine.store.open import open_store

    try:
        return _look(found, open_store(found.path, table=found.table))
    except MemtuiError as error:
        word = "damaged" if isinstance(error, DamagedStoreError) else "unreadable"
        return StoreHealth(found, word, (str(error),), error=error.message)


def _look(found: FoundStore, store: Store) -> StoreHealth:
    rows, dims, columns = store.count(), store.dims, store.columns
    fts = store.fts_status()
    is_pro = store.dialect.name == "pro"
    scopes = _counts(store, "scope")
    orphans = sum(n for scope, n in scopes.items() if is_orphan(scope)) if is_pro else 0
    match = None if dims is None or found.config_dims is None else dims == found.config_dims
    notes = {
        "dims differ": ""
        if match is not False
        else f"search by meaning unavailable: {found.model} gives {found.config_dims}, the store has {dims}",
        "index v2": "the agent cannot read a full-text index of version 2 and will drop it"
        if is_pro and found.plugin == PRO and fts.exists and fts.version not in (None, 1)
        else "",
        "orphans": f"{orphans} row(s) that no agent can see: scope null, blank or padded" if orphans else "",
        "left over": found.why if found.configured is False and found.why.startswith("left over") else "",
        "empty": "" if rows else "no memories yet",
    }
    said = {word: note for word, note in notes.items() if note}
    return StoreHealth(
        found,
        next(iter(said), "ok"),
        (*said.values(), *store.warnings),
        dialect=store.dialect.name,
        dialect_title=store.dialect.title,
        rows=rows,
        dims=dims,
        dims_match=match,
        fts=fts.phrase,
        columns=columns,
        time_column=store.dialect.columns.timestamp or store.dialect.columns.created,
        scopes=scopes,
        agents=_counts(store, "agentId"),
        orphan_rows=orphans,
    )


def is_orphan(scope: str | None) -> bool:
    """Whether a stored scope matches no agent's filter: null, blank, or padded with white space."""
    return scope is None or not scope or scope != scope.strip()


def _counts(store: Store, column: str) -> dict[str | None, int]:
    """Rows by value of a text column, largest first; {} when the table has no such column."""
    if column not in store.columns:
        return {}
    counts: Counter[str | None] = Counter()
    for batch in store.scan((column,)):
        for pair in batch.column(0).value_counts():
            counts[pair["values"].as_py()] += pair["counts"].as_py()
    return dict(counts.most_common())
