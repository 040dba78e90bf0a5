"""Tier maintenance as one change set: the plan's moves, written together and taken back together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.lifecycle.moves import TierMove

if TYPE_CHECKING:
    from memtui.engine.curate.changes import ChangeSet
    from memtui.engine.curate.facade import Curator


def swept(moves: Sequence[TierMove], *, everyone: bool = False) -> list[TierMove]:
    """The moves that a sweep makes: without the held ones, unless `everyone`."""
    return [move for move in moves if everyone or not move.held]


def sweep_set(curator: Curator, moves: Sequence[TierMove]) -> ChangeSet:
    """The moves as a change set, promotions first, each with the rule that it meets.

    Rows that can never be edited are left as they are and told of in `ChangeSet.left`.
    """
    by_id = {move.id: move for move in moves}
    edits = {each: {"tier": move.after} for each, move in by_id.items()}
    planned = curator.edit_each(edits, "tier sweep").leaving_refused()
    changes = [replace(each, why=by_id[each.id].rule) for each in planned.changes]
    changes.sort(key=lambda each: not by_id[each.id].rises)
    up = sum(1 for each in changes if by_id[each.id].rises)
    title = f"tier sweep, {up} up and {len(changes) - up} down"
    return replace(planned, title=title, changes=tuple(changes))
