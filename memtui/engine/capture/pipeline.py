"""From a conversation to a trace, and from a trace to the store: one guarded commit a decision."""

from __future__ import annotations

import gc
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.chat import StoppedModel
from memtui.engine.capture.draft import StoredRow, Write, table_of
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.registry import capture_recipe
from memtui.engine.capture.trace import CaptureCandidate, CaptureTrace
from memtui.engine.changes.change_set import Change, ChangeSet, Edit

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


_COLUMNS = ("text", "category", "scope", "importance", "timestamp", "metadata")


def capture(request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """Run a recipe over a conversation. Nothing is written: the trace holds what would be."""
    recipe = capture_recipe(request.recipe)
    if len(request.messages) < LONG:
        return recipe.run(request, context)
    with _uncollected():
        return recipe.run(request, context)


def stopped(
    request: CaptureRequest, context: CaptureContext, memories: Sequence[Mapping[str, Any]]
) -> CaptureTrace:
    """A run whose model was stopped while it answered: what it had named whole is decided, every other text waits."""
    trace = capture(request, replace(context, chat=StoppedModel(memories, json.dumps)))
    why = "the model was stopped before it got this far"
    texts = tuple(
        replace(text, fate="deferred", gate="model failed", reason=why)
        if text.fate == "used" and text.gate == "model"
        else text
        for text in trace.texts
    )
    return replace(trace, texts=texts)


LONG = 2_000
"""Messages from which a conversation is long."""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leaves Python's search for circles alone: a run makes many small values and no circle, and going through them
    again and again takes an eighth of its time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def change_sets(trace: CaptureTrace, store: Store) -> Iterator[ChangeSet]:
    """One change set for each decision that writes, in order; apply each before the next is asked for.

    A row that a decision changes is expected to be as the run read it, so another writer's change is a conflict.
    """
    for candidate in trace.candidates:
        changes = folded(candidate.writes, store)
        if changes:
            yield ChangeSet("capture", _title(candidate), changes, store.version)


def _title(candidate: CaptureCandidate) -> str:
    line = " ".join(candidate.abstract.split())
    return f"captured ({candidate.decision}): {line}"


def last_writes(writes: Sequence[Write]) -> list[Write]:
    """What each row becomes in the end, in the order in which the rows were first written."""
    last: dict[str, Write] = {}
    for write in writes:
        earlier = last.get(write.row.id)
        if earlier is None:
            last[write.row.id] = write
        elif write.op == "delete" and earlier.op == "add":
            del last[write.row.id]
        else:
            last[write.row.id] = replace(
                write, op="add" if earlier.op == "add" else write.op, before=earlier.before
            )
    return list(last.values())


def folded(
    writes: Sequence[Write], store: Store, decisions: Iterable[Collection[str]] = ()
) -> tuple[Change, ...]:
    """The writes as changes, one a row: a row that is written twice is written as it ends.

    `decisions` are the ids of the rows that each decision writes: a person leaves them out of a preview together, so
    that no memory is replaced by one that is not written.
    """
    groups = _groups(decisions)
    return tuple(
        change
        for write in last_writes(writes)
        if (change := _change(write, store, groups.get(write.row.id, ""))) is not None
    )


def _groups(decisions: Iterable[Collection[str]]) -> dict[str, str]:
    """The group of each row that does not stand alone: decisions that write one row are one group."""
    groups: dict[str, set[str]] = {}
    for ids in decisions:
        if len(ids) > 1:
            joined = set(ids).union(*(groups[row] for row in ids if row in groups))
            groups.update(dict.fromkeys(joined, joined))
    return {row: min(group) for row, group in groups.items()}


def _change(write: Write, store: Store, group: str = "") -> Change | None:
    row = write.row
    shown: dict[str, Any] = {
        "group": group,
        "id": row.id,
        "title": " ".join(row.text.split()),
        "why": write.why,
        "scope": row.scope,
    }
    if write.op == "add":
        after = {name: getattr(row, name) for name in ("text", "category", "scope", "importance")}
        return Change(op="add", before={}, after=after, row=table_of([row], store.schema), **shown)
    before = write.before or row
    if write.op == "delete":
        return Change(op="delete", before={"text": row.text}, after={}, **shown)
    old, new = _values(before), _values(row)
    changed = {name: new[name] for name in _COLUMNS if new[name] != old[name]}
    moved = row.vector is not None and before.vector is not None and not (row.vector == before.vector).all()
    if not changed and not moved:
        return None
    edit = Edit(
        columns=changed,
        expects={name: old[name] for name in changed},
        vector=row.vector if moved else None,
    )
    return Change(op="edit", before={n: old[n] for n in changed}, after=changed, edit=edit, **shown)


def _values(row: StoredRow) -> Mapping[str, Any]:
    return {name: getattr(row, name) for name in _COLUMNS}
