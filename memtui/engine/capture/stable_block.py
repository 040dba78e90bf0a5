"""A block whose memories keep place and bytes from one turn of a session to the next, so that a prompt cache stays.

The order of the last turn lies in one private file a session, ids only; it goes with the session, and after an hour.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.private_file import make_private_folder, write_private

if TYPE_CHECKING:
    from memtui.engine.recall.prompt_block import PromptBlock

KEPT = "block-orders"
"""The folder beside the journal of calls."""

KEPT_S = 3600.0
"""So long at most an order waits for the next turn of its session."""


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
    make_private_folder(state / KEPT)
    write_private(_place(state, session), json.dumps(list(ids), ensure_ascii=True))


def kept_order(state: Path, session: str) -> tuple[str, ...]:
    """The ids of a session's last block in their order; none where none is kept, or it is older than `KEPT_S`."""
    place = _place(state, session)
    try:
        if _is_old(place):
            return ()
        given = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(name for name in given if isinstance(name, str)) if isinstance(given, list) else ()


def drop_order(state: Path, session: str) -> None:
    """Remove what is kept of this session; what cannot be removed is left to `drop_old_orders`."""
    with suppress(OSError):
        _place(state, session).unlink()


def drop_old_orders(state: Path) -> None:
    """Remove the orders of all sessions that had no turn within `KEPT_S`."""
    with suppress(OSError), os.scandir(state / KEPT) as entries:
        for entry in entries:
            with suppress(OSError):
                if _is_old(Path(entry.path)):
                    os.unlink(entry.path)


def _is_old(place: Path) -> bool:
    return abs(time.time() - place.stat().st_mtime) > KEPT_S


def _place(state: Path, session: str) -> Path:
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return state / KEPT / f"{digest}.json"
