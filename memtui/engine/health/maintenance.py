"""The one way in which a table itself is changed: fold, prune, index; under the locks, with a receipt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.changes.change_set import MAINTAIN
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.applier import Applier
    from memtui.engine.store.table import Store


Step = Literal["fold", "unmask", "prune", "index-text", "index-ids", "drop-index", "drop-name", "restore"]

KEPT_DAYS = 7
"""Younger versions may be what an agent reads at this moment."""

_STEPS: dict[Step, str] = {
    "fold": "fold small files together",
    "unmask": "rewrite files that hold deleted rows",
    "prune": f"remove versions and leftover files older than {KEPT_DAYS} days",
    "index-text": "rebuild the full-text index",
    "index-ids": "index the ids",
    "drop-index": "drop the index",
    "drop-name": "remove the name from the table",
    "restore": "go back to version",
}


@dataclass(frozen=True, slots=True)
class TableStep:
    """One thing to do to a table; `about` is the index or name it is about."""

    step: Step
    about: str = ""

    @property
    def title(self) -> str:
        """What it does."""
        return f"{_STEPS[self.step]} {self.about}".strip()


@dataclass(frozen=True, slots=True)
class MaintenanceReceipt:
    """What a maintenance did: versions and indexes before and after, and how long it took."""

    entry: int | None
    steps: tuple[TableStep, ...]
    version_before: int
    version_after: int
    indexes_before: tuple[str, ...]
    indexes_after: tuple[str, ...]
    rows: int
    seconds: float
    answers: Mapping[str, Any] | None = None
    """What the cases and the last questions answered before and after; None where they were not asked."""

    @property
    def sentence(self) -> str:
        """The answers in a line; empty where nothing was asked."""
        return "" if self.answers is None else answers_in_words(self.answers)

    def as_json(self) -> dict[str, Any]:
        """For the command line and the journal."""
        return {
            "entry": self.entry,
            "steps": [step.title for step in self.steps],
            "version_before": self.version_before,
            "version_after": self.version_after,
            "indexes_before": list(self.indexes_before),
            "indexes_after": list(self.indexes_after),
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
            "answers": None if self.answers is None else dict(self.answers),
        }


def answers_in_words(answers: Mapping[str, Any]) -> str:
    """The answers of a receipt in a line: better, worse or the same."""
    kept, changed = answers["cases"], len(answers["changed"])
    if not answers["asked"]:
        return "no case is saved and nothing was asked yet: no answer was compared"
    cases = f"{kept['right_before']} of {counted(kept['cases'], 'case')} right before, {kept['right_after']} after; "
    said = (
        f"{changed} of {counted(answers['asked'], 'question')} answered differently"
        if changed
        else "every answer is the same"
    )
    return (cases if kept["cases"] else "") + said


def maintain(
    store: Store,
    applier: Applier,
    steps: tuple[TableStep, ...],
    *,
    confirmed: bool = False,
    planned_on: int | None = None,
    ask: Callable[[int], Mapping[str, Any]] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> MaintenanceReceipt:
    """Do the steps one after the other, each under the store's own lock, and write the receipt into the journal.

    Rows are counted before and after each hold: a maintenance that would lose one is said at once. `confirmed`
    says that the agent is stopped, where the store asks for that. With `planned_on` nothing is done to a table
    that has gone on since that version. `ask` compares the answers of the version before with those of now: they
    go into the receipt. Raises RefusedError, MemtuiError.
    """
    from memtui.engine.changes.journal import RowImages
    from memtui.engine.changes.undo_restore import RESTORED
    from memtui.engine.store.maintenance import TableMaintainer

    applier.access.require(confirmed=confirmed)
    table = TableMaintainer(applier.writer)
    begun = clock()
    before, names = table.newest(), table.index_names()
    for step in steps:
        with applier.gatekeeper.hold() as hold:
            rows = table.count()
            if planned_on is not None and step is steps[0] and table.newest() != planned_on:
                raise RefusedError(
                    f"The table has gone on since version {planned_on}: another program wrote to it.",
                    fix="Preview again what would be removed; nothing was changed.",
                )
            table.do(step.step, step.about)
            hold.check()
            left = table.count()
        if step.step != "restore" and left < rows and applier.access.lock == "file":
            raise RefusedError(
                f"The table had {counted(rows, 'row')} and has {left:,} after it was asked to {step.title}.",
                fix=f"See memtui versions diff {before} {table.newest()}; go back: memtui versions restore {before}.",
            )
    after = table.newest()
    taken = clock() - begun
    store.refresh()
    answers = None if ask is None else ask(before)
    receipt = MaintenanceReceipt(
        None, steps, before, after, names, table.index_names(), table.count(), taken, answers
    )
    title = "; ".join(step.title for step in steps)
    target = next((step.about for step in steps if step.step == "restore"), None)
    restored = {} if target is None else {RESTORED: target}
    entry = applier.journal.intend(
        time_ms=applier.now(),
        action=MAINTAIN,
        title=title,
        changes=(),
        images=RowImages(None, None, None),
        version_before=before,
        detail={"receipt": receipt.as_json(), **restored},
        done=after,
    )
    return replace(receipt, entry=entry)


def move_manifest_away(path: Path) -> Path:
    """Move a damaged version file out of the way, so that the version before it opens; where it is now."""
    place = path.with_name(f"{path.name}.damaged")
    number = 2
    while place.exists():
        place = path.with_name(f"{path.name}.damaged-{number}")
        number += 1
    path.rename(place)
    return place
