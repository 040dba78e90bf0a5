"""Mending rows of older forms: upgrade of what has no summaries and categories, repair of what agents misread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Edit
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted, one_line
from memtui.engine.dialects.base import unusable
from memtui.engine.metadata.categories import smart_of
from memtui.engine.metadata.json_patch import patch, raw_values
from memtui.engine.metadata.read import SECONDS_BELOW, coerce_timestamp, parse_object
from memtui.engine.providers.chat import Summary
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.transfer.importing.embedding_cost import embedded, is_offline
from memtui.engine.transfer.stored_metadata import abstract_of, dumps
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.engine.dialects.base import Columns
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.store.table import Store


Repair = Literal["scopes", "summaries", "times", "metadata"]

REPAIRS: Mapping[Repair, str] = {
    "scopes": "no scope, a blank or a padded one: no agent finds the memory",
    "summaries": "L0, L1 or L2 missing, or all three the same",
    "times": "stored in seconds, or left in createdAt by an older program",
    "metadata": "not a JSON object: the agent's next write would lose it",
}

_REFLECTION = "memory-reflection"

_CONFIDENCE = 0.7

_SUMMARIES = ("l0_abstract", "l1_overview", "l2_content")


Summarise = Callable[[str, str], Summary]
"""(text, stored category) to its summary; may ask a service and raise MemtuiError."""


def by_truncation(text: str, category: str) -> Summary:
    """A summary without a language model: the beginning of the text."""
    abstract = abstract_of(text)
    return Summary(abstract, f"- {abstract}", text)


def plan_upgrade(
    store: Store,
    *,
    now_ms: int,
    summarise: Summarise = by_truncation,
    limit: int | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Give every row that has none a six-word category, summaries and a tier, as the plugin's own upgrade does.

    What a row has already stays. Raises UsageError for a store without metadata.
    """
    columns = _with_metadata(store)
    rows: list[dict[str, Any]] = []
    unreadable: list[Conflict] = []
    for row in _rows(store, on_progress, cancel, "looking for rows of the old form"):
        values, valid = parse_object(row.get(str(columns.metadata)))
        if not valid:
            unreadable.append(_unreadable(row, columns))
        elif _is_old(values) and (limit is None or len(rows) < limit):
            rows.append(row)
    changes: list[Change | Conflict] = []
    for row in rows:
        if cancel is not None:
            cancel.check()
        changes.append(_upgraded(row, columns, summarise, now_ms))
        if on_progress:
            on_progress(Progress("summarising", len(changes), len(rows), "memories"))
    return _with_the_plugins_way(set_of(store, "upgrade", "upgrade", [*changes, *unreadable]), store)


def _with_the_plugins_way(planned: ChangeSet, store: Store) -> ChangeSet:
    """The plan with what the plugin's own upgrade would do to the same rows, and this one does not."""
    text = store.dialect.columns.text
    reworded = sum(_says_otherwise(change, text) for change in planned.changes)
    if not reworded:
        return planned
    note = (
        f"the plugin's own would put the summary in the place of {counted(reworded, 'text', 'texts')}, beside "
        "vectors of the old words; here every text stays"
    )
    return replace(planned, warnings=(*planned.warnings, note))


def _says_otherwise(change: Change, text: str) -> bool:
    """Whether the content that a row gets says something else than its text."""
    content, edit = change.after.get("l2_content"), change.edit
    return isinstance(content, str) and edit is not None and content != edit.expects.get(text)


def _is_old(values: Mapping[str, Any]) -> bool:
    """Rows of reflections have a form of their own, which stays."""
    kind = str(values.get("type") or "")
    return not (isinstance(values.get("memory_category"), str) or kind.startswith(_REFLECTION))


def _upgraded(row: Mapping[str, Any], columns: Columns, summarise: Summarise, now_ms: int) -> Change:
    values = parse_object(row.get(str(columns.metadata)))[0]
    text = row[columns.text] or ""
    category = str(row.get(str(columns.category)) or "other")
    summary = summarise(text, category)
    stamp = coerce_timestamp(row.get(str(columns.timestamp))) or now_ms
    wanted: dict[str, Any] = {
        "l0_abstract": summary.abstract,
        "l1_overview": summary.overview,
        "l2_content": summary.content,
        "memory_category": summary.category or smart_of(category, text, row_type=values.get("type")),
        "tier": "working",
        "access_count": 0,
        "confidence": _CONFIDENCE,
        "last_accessed_at": stamp,
        "valid_from": stamp,
    }
    keys = {name: value for name, value in wanted.items() if values.get(name) is None}
    keys |= {"upgraded_from": category, "upgraded_at": now_ms}
    return _change(row, columns, {}, keys, "old form")


def plan_repair(
    store: Store,
    kinds: Iterable[str],
    *,
    now_ms: int,
    target_scope: str = "global",
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Mend what `kinds` (of `REPAIRS`) name, all in one change set. Raises UsageError for a kind that is none."""
    wanted = set(kinds)
    if wrong := sorted(wanted - set(REPAIRS)):
        raise UsageError(f"There is no repair of {wrong[0]!r}.", fix=f"Choose among {', '.join(REPAIRS)}.")
    if not trim(target_scope):
        raise UsageError("A blank scope is none.", fix="Name the scope that the memories go to.")
    columns = store.dialect.columns
    found: list[Change | Conflict] = []
    for row in _rows(store, on_progress, cancel, "looking for what to repair"):
        values: dict[str, Any] = {}
        keys: dict[str, Any] = {}
        why = []
        raw = row.get(columns.metadata) if columns.metadata else None
        if "scopes" in wanted and columns.scope:
            scope = row.get(columns.scope)
            mended = mended_scope(scope, store.dialect.name, target_scope)
            if mended != scope:
                values[columns.scope] = mended
                why.append("scope")
        if "times" in wanted and (stamp := _mended_time(row, columns)) is not None:
            values[str(columns.timestamp)] = stamp
            why.append("time")
        valid = columns.metadata is None or parse_object(raw)[1]
        if not valid and "metadata" in wanted:
            values[str(columns.metadata)] = dumps({"metadata_as_given": raw})
            why.append("metadata")
        elif valid and "summaries" in wanted and columns.metadata:
            keys = _missing_summaries(row[columns.text] or "", raw)
            why += ["summaries"] if keys else []
        if values or keys:
            found.append(_change(row, columns, values, keys, ", ".join(why)))
    return set_of(store, "repair", "repair", found)


def mended_scope(scope: str | None, dialect: str, target_scope: str) -> str | None:
    """The scope in which the store's own program finds the row.

    memory-lancedb-pro finds a row only in a scope that is named. In the built-in store of the third generation an
    empty scope is the agent's own memory, which every recall searches, and only a NULL is found by none;
    openclaw-mem-engine takes an empty scope and a NULL for `global`.
    """
    if dialect.startswith("builtin"):
        return "" if scope is None else scope
    if dialect == "engine":
        return scope
    return trim(scope or "") or target_scope


MICROSECONDS_ABOVE, NANOSECONDS_ABOVE = 1e14, 1e17


def _mended_time(row: Mapping[str, Any], columns: Columns) -> float | None:
    stored = row.get(columns.timestamp) if columns.timestamp else None
    created = row.get(columns.created) if columns.created else None
    if stored is not None and 0 < stored < SECONDS_BELOW:
        return float(coerce_timestamp(stored))
    if stored is not None and MICROSECONDS_ABOVE < stored < math.inf:
        return float(int(stored) // (1_000 if stored < NANOSECONDS_ABOVE else 1_000_000))
    if not stored and created:
        return float(coerce_timestamp(created))
    return None


def _missing_summaries(text: str, raw: str | None) -> dict[str, Any]:
    """What is missing of L0 to L2; all three where they say the same, which no summary does."""
    values = parse_object(raw)[0]
    if not isinstance(values.get("memory_category"), str) and not any(values.get(key) for key in _SUMMARIES):
        return {}  # a row of the old form: the upgrade's business
    held = [trim(str(values.get(key) or "")) for key in _SUMMARIES]
    same = len(set(held)) == 1 and bool(held[0])
    summary = by_truncation(values.get("l2_content") or text, "")
    made = (summary.abstract, summary.overview, summary.content)
    return {
        key: new
        for key, old, new in zip(_SUMMARIES, held, made, strict=True)
        if (not old or same) and new != old
    }


# ---------------------------------------------------------------------- change sets


def _rows(
    store: Store, on_progress: OnProgress | None, cancel: CancelToken | None, what: str
) -> Iterator[dict[str, Any]]:
    total, done = store.count(), 0
    for batch in store.pin().read_through(list(store.row_columns)):
        if cancel is not None:
            cancel.check()
        for row in batch.to_pylist():
            row.pop("_rowid", None)
            yield row
        done += batch.num_rows
        if on_progress:
            on_progress(Progress(what, done, total))


def _change(
    row: Mapping[str, Any], columns: Columns, values: Mapping[str, Any], keys: Mapping[str, Any], why: str
) -> Change:
    written = dict(values)
    before: dict[str, Any] = {name: row.get(name) for name in values}
    texts: dict[str, str] = {}
    if keys:
        stored = row.get(str(columns.metadata)) or "{}"
        texts = raw_values(stored)
        before |= {key: parse_object(stored)[0].get(key) for key in keys}
        written[str(columns.metadata)] = patch(stored, keys)
        if columns.tier and "tier" in keys:
            written.setdefault(columns.tier, keys["tier"])
    expects = {name: row.get(name) for name in (columns.text, columns.scope, *written) if name}
    edit = Edit(written, dict(keys), expects, {key: texts.get(key) for key in keys})
    return Change(
        id=str(row[columns.id]),
        op="edit",
        before=before,
        after={**values, **keys},
        title=one_line(str(row.get(columns.text) or "")),
        why=why,
        scope=row.get(columns.scope) if columns.scope else None,
        edit=edit,
    )


def set_of(store: Store, action: str, title: str, found: Sequence[Change | Conflict]) -> ChangeSet:
    """The change set of what was found in a store; memories that share an id are left alone, with a warning."""
    changes = [change for change in found if isinstance(change, Change) and change.id]
    seen: dict[str, int] = {}
    for change in changes:
        seen[change.id] = seen.get(change.id, 0) + 1
    shared = [Conflict(each, "duplicate id", f"{n} rows share this id.") for each, n in seen.items() if n > 1]
    alone = tuple(change for change in changes if seen[change.id] == 1)
    refused = [change for change in found if isinstance(change, Conflict)]
    count = counted(len(alone), "memory", "memories")
    version = store.version
    made = ChangeSet(action, f"{count}: {title}", alone, version, mark=store.mark(version))
    left = tuple(f"{conflict.id}: {conflict.sentence} It is left alone." for conflict in (*shared, *refused))
    return replace(made, warnings=left)


def _unreadable(row: Mapping[str, Any], columns: Columns) -> Conflict:
    sentence = "Its metadata is not a JSON object: repair that first."
    return Conflict(str(row[columns.id]), "refused", sentence)


def _with_metadata(store: Store) -> Columns:
    if store.dialect.columns.metadata is None:
        raise UsageError(
            f"Rows of {store.dialect.title} have no metadata to upgrade.",
            fix="Make a store of the newer form with: memtui migrate.",
        )
    return store.dialect.columns


# Vectors for rows that have none: stored while a service was down, or imported without.

_PART = 256


def plan_missing(
    store: Store,
    embedder: Embedder | NoEmbedder,
    *,
    work: Path,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Give every row whose vector is NULL or all zero one made of its text, by the store's own model.

    `dry_run` embeds nothing. Rows without a text are left alone. Raises MemtuiError without an embedder.
    """
    columns = store.dialect.columns
    if columns.vector is None or store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="There is nothing to embed.")
    names = [name for name in (columns.id, columns.text, columns.scope, columns.vector) if name]
    rows: list[tuple[str, str, str | None]] = []
    for batch in store.pin().read_through(names):
        bad = unusable(batch.column(batch.schema.get_field_index(columns.vector)))
        rows += [
            (str(row[columns.id]), row[columns.text], row.get(columns.scope or ""))
            for row in batch.take(bad.nonzero()[0]).drop_columns([columns.vector]).to_pylist()
            if (row[columns.text] or "").strip() and row[columns.id]
        ]
    vectors = None if dry_run else _made(rows, embedder, store.dims, work, on_progress, cancel)
    changes = [
        Change(
            id=each,
            op="edit",
            before={"vector": "none"},
            after={"vector": "re-embedded"},
            title=one_line(text),
            why="no vector",
            scope=scope,
            edit=Edit(expects={columns.text: text}, vector=None if vectors is None else vectors[at]),
        )
        for at, (each, text, scope) in enumerate(rows)
    ]
    return set_of(store, "reembed", "vectors that were missing", changes)


def _made(
    rows: list[tuple[str, str, str | None]],
    embedder: Embedder | NoEmbedder,
    dims: int,
    work: Path,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> list[object]:
    if not rows:
        return []
    if isinstance(embedder, NoEmbedder):
        raise MemtuiError(embedder.reason, fix=embedder.fix)
    cache = None if is_offline(embedder) else VectorCache(work, embedder, dims)
    found: list[object] = []
    for start in range(0, len(rows), _PART):
        if cancel is not None:
            cancel.check()
        texts = [text for _, text, _ in rows[start : start + _PART]]
        if cache is None:
            made = embedded(embedder, texts, dims)
        else:
            cache.fill(texts, lambda _: None)
            made = cache.get(texts)
        found.extend(made)
        if on_progress:
            on_progress(Progress(f"embedding with {embedder.name}", len(found), len(rows), "texts"))
    return found
