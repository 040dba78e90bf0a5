"""The two lists of Mend: rows that can be marked, and the way from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

from memtui.engine import changes, counted, mask, one_line
from memtui.tui.actions.table import bindings
from memtui.tui.screens.mend.state import FLOOR, KINDS, MendState, Part
from memtui.tui.screens.mend.view import LISTED
from memtui.tui.widgets.row_list import BuiltRows

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.changes import ChangeSet
    from memtui.engine.health import Suspect
    from memtui.tui.calls import Report


class Finds(BuiltRows, inherit_bindings=False):
    """Rows built by a function; posts `Marked` and `Sideways`, the screen decides what they mean."""

    BINDINGS = bindings("finds", "narrow")

    @dataclass
    class Marked(Message):
        """Mark the row under the cursor, or take its mark away."""

        rows: Finds

    @dataclass
    class Sideways(Message):
        """Go to the list on the right (+1) or on the left (-1)."""

        by: int

    @property
    def keys(self) -> list[str]:
        """The keys of the rows, from the first to the last."""
        return self._keys()

    def action_mark(self) -> None:
        if self.key:
            self.post_message(self.Marked(self))

    def action_right(self) -> None:
        self.post_message(self.Sideways(1))

    def action_left(self) -> None:
        self.post_message(self.Sideways(-1))


MOST_SKIPPED, NAMED_CHARS = 6, 48
"""Memories that masking leaves alone which are named, and the characters of each."""

# The engine calls behind Mend, as they run on a worker thread.


def look(engine: Engine, state: MendState, token: CancelToken, report: Report) -> Any:
    """What the present part is about: near pairs, suspects, or what was thrown away."""
    from memtui.engine.health import find_duplicates, find_suspects

    if state.part == "duplicates":
        near = find_duplicates(
            engine, state.within, floor=FLOOR, across_scopes=state.across, on_progress=report, cancel=token
        )
        return near, near.clusters(state.threshold)
    if state.part == "trash":
        return trash(engine, token)
    return find_suspects(engine, KINDS[state.part], state.within, on_progress=report, cancel=token)


def trash(engine: Engine, token: CancelToken) -> Any:
    """Deleted and archived memories together, the last first."""
    stateful = any(field.name == "state" for field in engine.editable)
    found = changes.deleted_memories(engine)
    if stateful:
        found += changes.archived_memories(engine, LISTED, token)
    return tuple(sorted(found, key=lambda each: -each.when_ms))


def masked(
    engine: Engine, ids: Sequence[str], past: str, doubted: Sequence[Suspect] = ()
) -> tuple[ChangeSet, tuple[str, ...]]:
    """Plan to put a mark in the place of every secret in the texts of these memories, and say what that leaves.

    `past` is the key that takes it out of the history, too; `doubted` are secrets of which the rule is not sure, that
    were not chosen.
    """
    there = engine.memories(ids)
    texts = {each: mask(memory.raw_text)[0] for each, memory in there.items()}
    plain = [memory for id, memory in there.items() if texts[id] == memory.raw_text]
    texts = {id: text for id, text in texts.items() if text != there[id].raw_text}
    stays = (
        "The secret stays in older versions of the table, and in the journal for undo."
        f" {past} takes it out of both afterwards, and the memory stays. A key that leaked: change it where it is used."
    )
    skipped = [
        f"Left as it is: {one_line(memory.title)[:NAMED_CHARS]}: no rule finds a secret in its text."
        for memory in plain
    ]
    skipped += [f"Left as it is, in doubt: {one_line(each.excerpt)}: {each.doubt}" for each in doubted]
    more = len(skipped) - MOST_SKIPPED
    if more > 0:
        skipped = [
            *skipped[:MOST_SKIPPED],
            f"{counted(more, 'other is', 'others are')} left as they are, too.",
        ]
    return changes.plan_texts(engine, texts, in_place=True), (stays, *skipped)


def title_of(part: Part) -> str:
    """What is going on while the part is looked for."""
    return {
        "duplicates": "comparing memories",
        "noise": "looking for noise",
        "secrets": "looking for secrets and prompt injection",
        "trash": "looking into the trash",
    }[part]
