"""Tier maintenance as one change set: the plan's moves, written together and taken back together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine.lifecycle.moves import TierMove

if TYPE_CHECKING:
    from memtui.engine.curate.changes import ChangeSet
    from memtui.engine.curate.facade import Curator


def swept(moves: Sequence[TierMove], *, everyone: bool = False) -> list[TierMove]:
    """The moves that a sweep makes: without the held ones, unless `everyone`."""
    return [move for move in moves if everyone or not move.held]


def sweep_set(curator: Curator, moves: Sequence[TierMove]) -> ChangeSet:
    """The moves as a change set; rows that cannot be edited are conflicts in it."""
    up = sum(1 for move in moves if move.rises)
    return curator.edit_each(
        {move.id: {"tier": move.after} for move in moves},
        f"tier sweep, {up} up and {len(moves) - up} down",
    )
