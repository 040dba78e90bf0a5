"""A change of a memory that would bring it back, as a change set to look at and apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.forgetting import plan_forget
from memtui.engine.changes.plan import plan_each, plan_edit, plan_reinstate, plan_texts, staged_memory
from memtui.engine.core.errors import UsageError
from memtui.engine.core.javascript import utf16_slice
from memtui.engine.lifecycle.tier_plan import TierMove

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.engine import Engine
    from memtui.engine.explain.verdict import SmallestChange


MEMORY = "memory."
"""What the knobs on the memory's side begin with."""

_FIELDS: Mapping[str, Callable[[Any], Mapping[str, Any]]] = {
    "memory.importance": lambda value: {"importance": value},
    "memory.tier": lambda value: {"tier": value},
    "memory.touch": lambda value: {"touched": "yes"},
    "memory.state": lambda value: {"state": "confirmed", "layer": "working"},
    "memory.suppressed_until": lambda value: {"suppressed": "no"},
    "memory.valid_until": lambda value: {"valid_until": "never"},
}

WORD = 24
"""A text is cut between words where one ends within so many characters before the limit."""


def plan_change(engine: Engine, memory_id: str, change: SmallestChange) -> ChangeSet:
    """The change set of one proposed change on the memory's side.

    A text is shortened by its end, in place: look at it in the preview. Raises UsageError for a change of the
    question, RefusedError where a shorter text cannot be embedded.
    """
    if change.knob == "memory.twin":
        return plan_forget(engine, [str(change.before)])
    if change.knob == "memory.invalidated_at":
        return plan_reinstate(engine, [memory_id])
    if change.knob == "memory.length":
        text = staged_memory(engine, memory_id).raw_text
        return plan_texts(engine, {memory_id: shortened(text, int(change.after))}, in_place=True)
    fields = _FIELDS.get(change.knob)
    if fields is not None:
        return plan_edit(engine, [memory_id], fields(change.after), reason="to come back")
    raise UsageError(f"{change.knob} is no field of a memory.", fix="Try it as a setting of the question.")


def shortened(text: str, length: int) -> str:
    """The beginning of a text, at the most `length` UTF-16 units, up to the end of a word where one is near."""
    cut = utf16_slice(text, length)
    if len(cut) == len(text):
        return text
    words, _, rest = cut.rpartition(" ")
    return (words if words and len(rest) <= WORD else cut).rstrip()


# Tier maintenance as one change set: the plan's moves, written together and taken back together.


def swept(moves: Sequence[TierMove], *, everyone: bool = False) -> list[TierMove]:
    """The moves that a sweep makes: without the held ones, unless `everyone`."""
    return [move for move in moves if everyone or not move.held]


def sweep_set(engine: Engine, moves: Sequence[TierMove]) -> ChangeSet:
    """The moves as a change set, promotions first, each with the rule that it meets.

    Rows that can never be edited are left as they are and told of in `ChangeSet.left`.
    """
    by_id = {move.id: move for move in moves}
    edits = {each: {"tier": move.after} for each, move in by_id.items()}
    planned = plan_each(engine, edits, "tier sweep").leaving_refused()
    changes = [replace(change, why=by_id[change.id].rule) for change in planned.changes]
    changes.sort(key=lambda each: not by_id[each.id].rises)
    up = sum(1 for change in changes if by_id[change.id].rises)
    title = f"tier sweep, {up} up and {len(changes) - up} down"
    return replace(planned, title=title, changes=tuple(changes))
