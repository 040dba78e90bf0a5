"""A block whose memories keep place and bytes from one turn of a session to the next, so that a prompt cache stays.

The order of the last turn lies in one private file a session, ids only; it goes with the session, and after an hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.capture.kept_files import SessionFiles

if TYPE_CHECKING:
    from memtui.engine.recall.prompt_block import PromptBlock

KEPT = "block-orders"
"""The folder beside the journal of calls."""

_FILES = SessionFiles(KEPT)

drop_order = _FILES.drop


@dataclass(frozen=True, slots=True)
class StableBlock:
    """A block in the order of the turn before, and the ids of its memories in that order."""

    text: str
    ids: tuple[str, ...]


def order_block(text: str, named: Sequence[tuple[str, str]], before: Sequence[str]) -> StableBlock:
    """The block with its memories in the order `before`: those that were there keep it, new ones are appended.

    `named` are (id, line) of its memories in their order. The set is the same, and so is each line but for its number
    in a numbered list. A block whose lines do not stand below each other is left as it is.
    """
    from memtui.engine.cost import split_block, stable_order

    ids = [name for name, _ in named]
    block = split_block(text) if text else None
    if block is None or [line for _, line in named] != block.lines or len(set(ids)) != len(ids):
        return StableBlock(text, tuple(ids))
    order = stable_order(before, ids)
    lines = dict(named)
    return StableBlock(block.joined(lines[name] for name in order), tuple(order))


def order_parts(block: PromptBlock, before: Sequence[str]) -> StableBlock:
    """`order_block` for a block that knows its parts."""
    return order_block(block.block, [(part.id, part.line) for part in block.parts if part.line], before)


def keep_order(state: Path, session: str, ids: Sequence[str]) -> None:
    """Keep the order of a session's last block below `state`, for this user alone. Raises OSError."""
    _FILES.keep(state, session, list(ids))


def kept_order(state: Path, session: str) -> tuple[str, ...]:
    """The ids of a session's last block in their order; none where none is kept, or not within the hour."""
    given = _FILES.kept(state, session)
    return tuple(name for name in given if isinstance(name, str)) if isinstance(given, list) else ()


def drop_old_orders(state: Path) -> None:
    """Remove the orders of all sessions that had no turn within the hour."""
    _FILES.drop_old(state)
