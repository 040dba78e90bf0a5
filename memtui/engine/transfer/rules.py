"""The rules by which an incoming memory is taken or left: each has a name, a meaning, and can be switched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from memtui.engine.errors import UsageError
from memtui.engine.transfer.formats import Format

Group = Literal["new", "same_id", "exact", "near", "conflict", "short", "noise", "secret", "invalid"]
GROUPS: tuple[Group, ...] = (
    "new",
    "same_id",
    "exact",
    "near",
    "conflict",
    "short",
    "noise",
    "secret",
    "invalid",
)
"""What becomes of the records of a source; each record is in one group."""
MEANINGS: Mapping[Group, str] = {
    "new": "will be added",
    "same_id": "there already: same id, same text",
    "exact": "there already: same text in the same scope",
    "near": "nearly the same as one that is there",
    "conflict": "one that is there says otherwise",
    "short": "too short to mean anything",
    "noise": "talk about memory, greetings, envelopes",
    "secret": "holds a password or a key",
    "invalid": "no memory can be read from it",
}
Switchable = Literal["exact", "near", "short", "noise", "secret"]
SWITCHABLE: tuple[Switchable, ...] = ("exact", "near", "short", "noise", "secret")
"""Rules that a person may switch off; their rows are then new."""
NEAR = 0.98
"""Cosine from which two texts are nearly the same: what memory-lancedb-pro itself refuses to store twice."""
SHORTEST = 5
"""Characters of the shortest text worth a memory, as the plugin counts."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which rules hold back, and their numbers."""

    on: frozenset[Switchable]
    near: float = NEAR
    shortest: int = SHORTEST

    @classmethod
    def of(cls, source: Format, off: Iterable[str] = (), *, near: float = NEAR) -> Rules:
        """The rules for a format, without those in `off`; UsageError for a name that is no rule.

        Rows that stood in a store were judged there: nothing in them is too short or noise. A whole-row
        export is taken as it is.
        """
        switched = set(off)
        wrong = sorted(switched - set(SWITCHABLE))
        if wrong:
            raise UsageError(
                f"There is no rule {wrong[0]!r} to switch off.", fix=f"The rules are {', '.join(SWITCHABLE)}."
            )
        if not 0 < near <= 1:
            raise UsageError(f"A near copy cannot begin at {near}.", fix="Give a cosine above 0 and up to 1.")
        usual: frozenset[Switchable] = frozenset(SWITCHABLE)
        if source.own:
            usual = frozenset()
        elif source.stored:
            usual = frozenset(("exact", "near", "secret"))
        return cls(usual - switched, near)

    def has(self, rule: Switchable) -> bool:
        """Whether the rule holds back."""
        return rule in self.on
