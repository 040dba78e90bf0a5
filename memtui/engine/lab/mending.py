"""A change of a memory that would bring it back, as a change set to look at and apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import UsageError

if TYPE_CHECKING:
    from memtui.engine.curate.changes import ChangeSet
    from memtui.engine.curate.facade import Curator
    from memtui.engine.lab.verdict import Counterfactual

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
_BY_HAND = {
    "memory.length": "How a memory is made shorter is for a person to say.",
    "memory.invalidated_at": "Another memory has taken its place; which of the two is right is for a person to say.",
}


def plan_change(curate: Curator, memory_id: str, change: Counterfactual) -> ChangeSet:
    """The change set of one proposed change on the memory's side.

    Raises UsageError for a change of the question, and where a person has to decide what is written.
    """
    if change.knob == "memory.twin":
        return curate.forget([str(change.before)])
    fields = _FIELDS.get(change.knob)
    if fields is not None:
        return curate.edit([memory_id], fields(change.after), reason="to come back")
    if change.knob in _BY_HAND:
        raise UsageError(_BY_HAND[change.knob], fix="Show it in Browse and edit it there.")
    raise UsageError(f"{change.knob} is no field of a memory.", fix="Try it as a setting of the question.")
