"""The staged changes: every row with its diff; drop one, edit one, drop all, or apply them as one change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memtui.tui.dialogs.preview import Answer, Preview
from memtui.tui.keys import bindings
from memtui.tui.widgets.ways import Way

if TYPE_CHECKING:
    from memtui.engine import ChangeSet


class StagedSet(Preview):
    """A preview of what is staged; `dropped` hears of every row that is left out, whatever the answer will be.

    `amends`: a row can be edited.
    """

    BINDINGS = bindings("staged")

    def __init__(
        self, plan: ChangeSet, *, dropped: Callable[[ChangeSet], None], amends: bool = False, **more: Any
    ) -> None:
        super().__init__(plan, **more)
        self._dropped, self._amends = dropped, amends

    @property
    def _row(self) -> str:
        """The memory under the cursor; of a single one, that."""
        alone = len({each.group or each.id for each in self.plan.changes}) == 1
        return self._rows.key or (self.plan.changes[0].id if alone else "")

    @property
    def _can_amend(self) -> bool:
        op = next((each.op for each in self.plan.changes if each.id == self._row), "delete")
        return self._amends and not self.plan.conflicts and op != "delete"

    def more_ways(self) -> list[Way]:
        amend = [("staged.amend", "edit this row")] if self._can_amend else []
        return [*amend, ("staged.clear", "drop all")]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "amend":
            return True if self._can_amend else None
        return super().check_action(action, parameters)

    def _take(self, plan: ChangeSet) -> None:
        self._dropped(plan)
        if plan.changes:
            super()._take(plan)
        else:
            self.dismiss(None)

    def action_amend(self) -> None:
        self.dismiss(Answer("amend", self.plan, row=self._row))

    def action_clear(self) -> None:
        self._take(self.plan.without(self.plan.ids))
