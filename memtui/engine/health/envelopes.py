"""Envelopes of the host taken out of a store: rows that are nothing else are forgotten, of the others a text stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.changes.forgetting import plan_forget
from memtui.engine.changes.note_changes import plan_note_edit
from memtui.engine.changes.plan import plan_each
from memtui.engine.core.envelopes import find_envelopes, without_envelopes
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.engine import Engine

_PART = 4_096


def texts_without(engine: Engine, ids: Sequence[str]) -> dict[str, str]:
    """What each of these memories says without its envelopes, by id; empty for one that is nothing else.

    Memories that hold none, or are gone, are left out.
    """
    columns = engine.store.dialect.columns
    found: dict[str, str] = {}
    for start in range(0, len(ids), _PART):
        table = engine.store.rows_by_id(list(ids[start : start + _PART]), [columns.text])
        for row in table.to_pylist():
            text = str(row[columns.text] or "")
            if find_envelopes(text):
                found[str(row[columns.id])] = without_envelopes(text)
    return found


def plan_without_envelopes(engine: Engine, ids: Sequence[str]) -> ChangeSet:
    """Forget the memories that are envelopes and nothing else, and cut the envelopes out of the others.

    One change set, undone as one. Texts that change are embedded again. What cannot be changed, and texts where they
    cannot be embedded, are left as they are and named. Raises RefusedError where nothing can be done.
    """
    left = texts_without(engine, ids)
    whole = [each for each, rest in left.items() if not rest]
    cut = {each: {"text": rest} for each, rest in left.items() if rest}
    return _left_where_refused(_planned(engine, whole, cut))


def _planned(engine: Engine, whole: Sequence[str], cut: Mapping[str, Mapping[str, str]]) -> ChangeSet:
    title = f"{counted(len(cut), 'envelope', 'envelopes')} cut out"
    if engine.store.dialect.can.edits_files:
        removed = counted(len(whole), "entry", "entries")
        title = ", ".join(
            [*([f"{removed}: removed from the Markdown"] if whole else []), *([title] if cut else [])]
        )
        return plan_note_edit(engine, {**dict.fromkeys(whole), **cut}, title)
    if not cut:
        return plan_forget(engine, whole, hard=True)
    try:
        edits = plan_each(engine, cut, "envelope cut out", in_place=True)
    except MemtuiError as error:
        if not whole:
            raise
        planned = plan_forget(engine, whole, hard=True)
        keeps = counted(len(cut), "memory keeps its envelope", "memories keep their envelopes")
        return replace(planned, warnings=(*planned.warnings, f"{keeps}: {error.message}"))
    if not whole:
        return edits
    forgotten = plan_forget(engine, whole, hard=True)
    taken = set(forgotten.ids)
    return replace(
        forgotten,
        title=f"{forgotten.title}, {title}",
        changes=(*forgotten.changes, *(each for each in edits.changes if each.id not in taken)),
        conflicts=(*forgotten.conflicts, *edits.conflicts),
        warnings=tuple(dict.fromkeys((*forgotten.warnings, *edits.warnings))),
        notes=(*forgotten.notes, *edits.notes),
        mark=None,
        base=None,
    )


def _left_where_refused(planned: ChangeSet) -> ChangeSet:
    """The same without what cannot be changed: it stays, and is named with its reason."""
    if not planned.conflicts:
        return planned
    said = tuple(dict.fromkeys(f"{each.id[:8]}: {each.sentence}" for each in planned.conflicts))
    return replace(
        planned, conflicts=(), left=(*planned.left, *planned.conflicts), warnings=(*planned.warnings, *said)
    )


def must_clear(engine: Engine, ids: Sequence[str]) -> None:
    """Raises MemtuiError where nothing can be done: every envelope has a text beside it, and nothing embeds texts."""
    from memtui.engine.health.reembed import must_embed

    if engine.store.dialect.columns.vector is not None and all(texts_without(engine, ids).values()):
        must_embed(engine)
