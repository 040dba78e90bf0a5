"""A change of a memory that would bring it back, as a change set to look at and apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import UsageError
from memtui.engine.js import utf16_slice

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
WORD = 24
"""A text is cut between words where one ends within so many characters before the limit."""


def plan_change(curate: Curator, memory_id: str, change: Counterfactual) -> ChangeSet:
    """The change set of one proposed change on the memory's side.

    A text is shortened by its end, in place: look at it in the preview. Raises UsageError for a change of the
    question, RefusedError where a shorter text cannot be embedded.
    """
    if change.knob == "memory.twin":
        return curate.forget([str(change.before)])
    if change.knob == "memory.invalidated_at":
        return curate.reinstate([memory_id])
    if change.knob == "memory.length":
        text = curate.as_staged(memory_id).raw_text
        return curate.texts({memory_id: shortened(text, int(change.after))}, in_place=True)
    fields = _FIELDS.get(change.knob)
    if fields is not None:
        return curate.edit([memory_id], fields(change.after), reason="to come back")
    raise UsageError(f"{change.knob} is no field of a memory.", fix="Try it as a setting of the question.")


def shortened(text: str, length: int) -> str:
    """The beginning of a text, at the most `length` UTF-16 units, up to the end of a word where one is near."""
    cut = utf16_slice(text, length)
    if len(cut) == len(text):
        return text
    words, _, rest = cut.rpartition(" ")
    return (words if words and len(rest) <= WORD else cut).rstrip()
