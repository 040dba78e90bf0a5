"""The block for a question in a session: what went before its last prompts is held back, use is counted when asked to.

Source: spec/capture 8: the same turns, barriers and counters as the plugin's own hook, and kept with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.hooks import KEPT, read_kept, write_kept
from memtui.engine.capture.live import Live
from memtui.engine.capture.recipes.pro.injection import Pending
from memtui.engine.core.errors import RefusedError
from memtui.engine.explain.prompt_block import injected
from memtui.engine.recall.prompt_block import PromptBlock

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.recall import Trace


@dataclass(frozen=True, slots=True)
class SessionBlock:
    """A block, and what was noted of it."""

    block: PromptBlock
    ids: tuple[str, ...]
    """The memories in it."""
    turn: int
    """Which turn of the session it is, from 1."""
    counted: int = 0
    """Memories whose use was counted in the store."""


def session_block(engine: Engine, trace: Trace, session: str) -> SessionBlock:
    """The block of a recall as the next turn of a session would get it; nothing is kept yet."""
    live, _ = _live(engine)
    turn = live.injected.turns.get(session, 0) + (not trace.gate)  # a prompt that the gate skips is no turn
    last = live.injected.last.get(session, {})
    made = injected(trace, turns_since={id: turn - at for id, at in last.items()})
    return SessionBlock(made, tuple(part.id for part in made.parts if part.line), turn)


def note_block(
    engine: Engine, made: SessionBlock, agent: str, session: str, *, ids: tuple[str, ...], count: bool = False
) -> SessionBlock:
    """Keep that a turn got these memories; with `count` each one's use is counted, as one change that can be undone.

    Raises RefusedError for counting in a store that is open for reading.
    """
    if count and not engine.write_state.writable:
        raise RefusedError(
            "Use is counted in the store, which is open for reading.", fix="Open it with --rw."
        )
    (live, before), counted = _live(engine), 0
    if count and ids:
        counted = live.count_injected(ids, agent)
        live.injected.pending[session] = Pending(list(ids), engine.now_ms)
    live.injected.turns[session] = made.turn
    live.injected.last.setdefault(session, {}).update(dict.fromkeys(ids, made.turn))
    if engine.state_place is not None:
        write_kept(engine.state_place / KEPT, live, before)
    return SessionBlock(made.block, ids, made.turn, counted)


def _live(engine: Engine) -> tuple[Live, Mapping[str, Any]]:
    live = Live(engine, {}, Path())
    if engine.state_place is None:
        return live, {}
    return live, read_kept(engine.state_place / KEPT, live)
