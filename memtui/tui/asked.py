"""What a screen asks of its staging: how a change is planned, written, weighed, and what comes after."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memtui.engine import MemtuiError
from memtui.tui.paint.numbers import plural
from memtui.tui.runner import Report

if TYPE_CHECKING:
    from memtui.engine import CancelToken, ChangeSet, Engine, Outcome, RecallEffect

Make = Callable[["Engine"], "ChangeSet | tuple[ChangeSet, Sequence[str]]"]
"""Plans a change, in a thread; perhaps with sentences to say beside it."""
Force = Callable[["Engine", Collection[str]], "ChangeSet"]
"""Plans it again, over these memories also where another program changed them."""
Write = Callable[["Engine", "ChangeSet", bool], "Outcome"]
"""Writes the agreed plan, in a thread; the flag says that a person agreed to what has to be agreed to."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One change, from its plan to what is called when it is written."""

    engine: Engine
    make: Make
    force: Force | None
    write: Write
    then: Callable[[Outcome], None] | None
    edit: Callable[[], None] | None = None
    failed: Callable[[MemtuiError], None] | None = None
    collected: bool = False
    """It is everything that is staged; `amend` edits one memory of it."""
    amend: Callable[[str], None] | None = None


def commit(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
    """Write a plan at once."""
    return engine.curate.apply(planned, confirmed=confirmed)


def commit_staged(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
    """Write everything that is staged."""
    return engine.curate.apply_staged(planned, confirmed=confirmed)


def effect_on_recall(engine: Engine, planned: ChangeSet, cancel: CancelToken, report: Report) -> RecallEffect:
    """What the change does to the saved cases and the last questions of this store."""
    from memtui.engine import CaseBook, History
    from memtui.paths import questions_file, store_state_dir

    cases = CaseBook(store_state_dir(engine.info.uri) / "cases.json").cases()
    history = History(questions_file())
    return engine.lab.effect(planned, cases, history, on_progress=report, cancel=cancel)


def effect_with_staged(
    engine: Engine, planned: ChangeSet, cancel: CancelToken, report: Report
) -> RecallEffect:
    """The same of a plan that stands on top of what is staged: of both together."""
    return effect_on_recall(engine, engine.curate.stage.with_(planned), cancel, report)


def words_on_top(engine: Engine, planned: ChangeSet) -> str:
    """That the plan is about memories with staged changes; empty when it is not."""
    waiting = engine.curate.stage.ops
    count = sum(each.id in waiting for each in planned.changes) if planned.undoes is None else 0
    said = "has a staged change" if count == 1 else "have staged changes"
    return (
        f"{plural(count, 'memory', 'memories')} {said}: this comes on top, applied with it." if count else ""
    )


def may_wait(asked: Asked, planned: ChangeSet, on_top: bool) -> Literal["", "offered", "only"]:
    """Whether a plan may be staged with others, or, `on_top` of what is staged, can only be."""
    if asked.write is not commit or planned.undoes is not None:
        return ""
    if on_top:
        return "only"
    return "" if planned.shrinks or planned.purges else "offered"
