"""The engine calls behind Mend, as they run on a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine.secrets import mask
from memtui.tui.screens.mend.painting import LISTED
from memtui.tui.screens.mend.state import FLOOR, KINDS, MendState, Part

if TYPE_CHECKING:
    from memtui.engine import CancelToken, ChangeSet, Engine
    from memtui.tui.runner import Report


def look(engine: Engine, state: MendState, token: CancelToken, report: Report) -> Any:
    """What the present part is about: near pairs, suspects, or what was thrown away."""
    if state.part == "duplicates":
        near = engine.curate.duplicates(
            state.within, floor=FLOOR, across_scopes=state.across, on_progress=report, cancel=token
        )
        return near, near.clusters(state.threshold)
    if state.part == "trash":
        return trash(engine, token)
    return engine.curate.sweep(KINDS[state.part], state.within, on_progress=report, cancel=token)


def trash(engine: Engine, token: CancelToken) -> Any:
    """Deleted and archived memories together, the last first."""
    curate = engine.curate
    stateful = any(field.name == "state" for field in engine.editable)
    found = [*curate.trash(), *(curate.archived(LISTED, token) if stateful else ())]
    return tuple(sorted(found, key=lambda each: -each.when_ms))


def masked(engine: Engine, ids: Sequence[str], past: str) -> tuple[ChangeSet, tuple[str, ...]]:
    """Plan to put a mark in the place of every secret in the texts of these memories, and say what that leaves.

    `past` is the key that takes it out of the history, too.
    """
    texts = {each: mask(memory.raw_text)[0] for each, memory in engine.memories(ids).items()}
    stays = (
        "The secret stays in older versions of the table, and in the journal for undo."
        f" {past} takes it out of both afterwards, and the memory stays. A key that leaked: change it where it is used."
    )
    return engine.curate.texts(texts, in_place=True), (stays,)


def title_of(part: Part) -> str:
    """What is going on while the part is looked for."""
    return {
        "duplicates": "comparing memories",
        "noise": "looking for noise",
        "secrets": "looking for secrets and orders",
        "trash": "looking into the trash",
    }[part]
