"""What the screen of a wrong answer knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine import MemtuiError, Progress
    from memtui.engine.blame import Blame, SuspectedCause


HINT = "Paste what the agent said, or its wrong part. Its turn is looked for in the sessions."

OF_A_TURN = "The answer of the turn under the cursor; shorten it to its wrong part."

SUSPECT, MISSING, INSTEAD = "suspect", "missing", "instead"
"""What a memory is here: the beginning of its row's key."""


@dataclass(frozen=True, slots=True)
class BlameState:
    """One sentence, and what is known of its cause."""

    sentence: str
    session: str = ""
    """The session that it was said in; empty: it is looked for."""
    turn: int = 0
    """Its turn, with a session."""
    found: Blame | None = None
    progress: Progress | None = None
    error: MemtuiError | None = None
    row: str = ""
    """The key of the row that is shown whole."""
    zoom: str = ""

    @property
    def memory(self) -> str:
        """The id of the memory that is shown whole; empty for none."""
        return self.row.partition(":")[2]

    @property
    def suspect(self) -> SuspectedCause | None:
        """The suspect that is shown whole, else the first."""
        if self.found is None:
            return None
        named = (suspect for suspect in self.found.suspects if f"{SUSPECT}:{suspect.id}" == self.row)
        return next(named, self.found.suspects[0] if self.found.suspects else None)

    @property
    def right(self) -> str:
        """The id of the memory that would have been right: the one under the cursor, else the first; empty for none."""
        if self.found is None:
            return ""
        ids = [each.id for each in self.found.missing]
        return self.memory if self.memory in ids else ids[0] if ids else ""

    @property
    def question(self) -> str:
        """The question of the turn; empty without a turn."""
        turn = self.found.turn if self.found is not None else None
        return turn.replayed.turn.question.strip() if turn is not None else ""


def asked(state: BlameState, sentence: str) -> BlameState:
    """Another sentence; nothing is known of it yet, and its turn is looked for."""
    return BlameState(sentence, zoom=state.zoom)


def again(state: BlameState) -> BlameState:
    """The same sentence once more, after a change: what was found stays until the new verdict is there."""
    return replace(state, error=None, progress=None)


def finish(state: BlameState, found: Blame) -> BlameState:
    """The verdict is there; the cursor stays where its memory is still named."""
    keys = rows_of(found)
    return replace(
        state,
        found=found,
        progress=None,
        error=None,
        row=state.row if state.row in keys else keys[0] if keys else "",
    )


def fail(state: BlameState, error: MemtuiError) -> BlameState:
    """The cause could not be looked for."""
    return replace(state, error=error, progress=None, found=None, row="")


def rows_of(found: Blame) -> list[str]:
    """The keys of all memories that are named, suspects first."""
    return [
        *(f"{SUSPECT}:{suspect.id}" for suspect in found.suspects),
        *(f"{MISSING}:{each.id}" for each in found.missing),
        *(f"{INSTEAD}:{each.id}" for each in found.instead),
    ]
