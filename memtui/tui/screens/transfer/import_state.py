"""What the import wizard knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.transfer import GROUPS, SWITCHABLE, Group, ImportRequest, Resolution
from memtui.tui.wizard.view import RunProgress

if TYPE_CHECKING:
    from memtui.engine import Memory, MemtuiError
    from memtui.engine.changes import RecallEffect
    from memtui.engine.transfer import (
        Cost,
        Detected,
        FieldLoss,
        GivenPath,
        ImportPlan,
        ImportPreview,
        ImportResult,
        PlannedRecord,
        SourceLines,
    )


SHEETS = ("answers", "ledger", "left", "scopes", "cost", "notes")
"""Views of the review that list something else than records."""

PAGE = 200


@dataclass(frozen=True, slots=True)
class DetectedSources:
    """What was found at a path: what it is, or why it cannot be imported."""

    typed: str
    sources: tuple[Detected, ...] = ()
    size: int = 0
    error: MemtuiError | None = None


@dataclass(frozen=True, slots=True)
class PlanPage:
    """Records of one group, with the memories that they are compared with."""

    group: str
    offset: int
    items: tuple[PlannedRecord, ...]
    here: Mapping[str, Memory]


@dataclass(frozen=True, slots=True)
class PlannedImport:
    """A plan with what is asked of it at every stroke of a key; added up once, in a thread."""

    plan: ImportPlan
    losses: tuple[FieldLoss, ...]
    taken: int
    """Records that will be written."""
    bare: int
    """Those of them that need a vector."""
    replaced: int
    """Memories here whose text will be replaced."""
    kept: int
    """Conflicts in which ours stays."""

    def close(self) -> None:
        """Close the plan."""
        self.plan.close()


def added_up(plan: ImportPlan) -> PlannedImport:
    """The sums of a plan; for a million records this takes longer than a frame."""
    numbers = plan.numbers("conflict").tolist()
    choices = plan.request.choices
    if choices.keys() - numbers:  # another rule made something else of them
        still = {n: choices[n] for n in numbers if n in choices}
        plan = plan.decided(replace(plan.request, choices=still))
    adds, replaced = plan.decisions()
    kept = sum(1 for number in numbers if plan.choice(number) == "keep")
    written = len(adds) + len(set(replaced.values()))
    return PlannedImport(plan, plan.losses(), written, len(plan.to_embed()), len(replaced), kept)


@dataclass(frozen=True, slots=True)
class ImportState:
    """`plan` is what `request` gives, once `planned` is equal to it; while another is made it is the one before.

    `losses` to `kept` are added up from the plan in a thread (`added_up`), after every decision.
    """

    step: Literal["source", "map", "review", "run", "report"] = "source"
    again: bool = False
    """It was begun before: what was asked for then is planned at once."""
    typed: str = ""
    places: tuple[GivenPath, ...] = ()
    listed: str | None = None
    """The text that `places` complete; None before any were read."""
    found: DetectedSources | None = None
    request: ImportRequest = field(default_factory=lambda: ImportRequest(()))
    preview: ImportPreview | None = None
    error: MemtuiError | None = None
    """Why the present step cannot go on."""
    plan: ImportPlan | None = None
    planned: ImportRequest | None = None
    losses: tuple[FieldLoss, ...] = ()
    taken: int = 0
    bare: int = 0
    replaced: int = 0
    kept: int = 0
    cost: Cost | None = None
    effect: RecallEffect | MemtuiError | None = None
    """What the agent would then read; None while the questions are asked."""
    view: str = "new"
    offset: int = 0
    page: PlanPage | None = None
    item: int = -1
    """Number of the record under the cursor."""
    source: tuple[int, SourceLines | None] | None = None
    """A record's number and its lines in the source, once they were read."""
    pace: RunProgress = field(default_factory=RunProgress)
    stopping: bool = False
    done: ImportResult | None = None
    undone: bool = False


def counts(state: ImportState) -> dict[Group, int]:
    """Records in each group; nothing before there is a plan."""
    return state.plan.counts if state.plan is not None else {}


def shown_groups(state: ImportState) -> list[Group]:
    """Groups to list: those with records, and rules that are switched off."""
    found = counts(state)
    return [
        group for group in GROUPS if found.get(group) or group == "new" or group in state.request.rules_off
    ]


def views(state: ImportState) -> list[str]:
    """Every view of the review in order."""
    return [*shown_groups(state), *SHEETS]


def best_view(state: ImportState) -> str:
    """What to look at first: conflicts where there are any."""
    found = counts(state)
    return "conflict" if found.get("conflict") else next((g for g in GROUPS if found.get(g)), "new")


def switched(state: ImportState, rule: str) -> ImportState:
    """Switch a rule off or on again."""
    if rule not in SWITCHABLE:
        return state
    off = state.request.rules_off ^ {rule}
    return replace(state, request=replace(state.request, rules_off=off))


def asked(state: ImportState, **changes: Any) -> ImportState:
    """Ask for something else. Records may then be others or have other numbers: decisions are taken back."""
    request = replace(state.request, choices={}, left_out=frozenset(), **changes)
    return replace(state, request=request, error=None)


def mapped(state: ImportState, role: str, column: str) -> ImportState:
    """Say which column a role is; an empty one takes it away. A column has one role."""
    mapping = dict(state.preview.mapping) if state.preview is not None else dict(state.request.mapping)
    mapping = {name: value for name, value in mapping.items() if name != role and value != column}
    if column:
        mapping[role] = column
    return asked(state, mapping=mapping)


def decided(state: ImportState, number: int, choice: Resolution) -> ImportState:
    """Decide one conflict."""
    return _with_plan(state, choices={**state.request.choices, number: choice})


def decided_all(state: ImportState, choice: Resolution) -> ImportState:
    """Decide every conflict alike, those decided before too."""
    numbers = state.plan.numbers("conflict").tolist() if state.plan is not None else []
    return _with_plan(state, conflicts=choice, choices=dict.fromkeys(numbers, choice))


def left_out(state: ImportState, number: int) -> ImportState:
    """Leave a new record out, or take it back in."""
    return _with_plan(state, left_out=state.request.left_out ^ {number})


def _with_plan(state: ImportState, **decisions: Any) -> ImportState:
    if state.plan is None:
        return state
    plan = state.plan.decided(replace(state.request, **decisions))
    return replace(
        state, plan=plan, request=plan.request, planned=plan.request, page=_again(state, plan.request)
    )


def _again(state: ImportState, request: ImportRequest) -> PlanPage | None:
    """The page as it is decided now."""
    if state.page is None:
        return None
    items = (
        replace(
            item,
            choice=request.choices.get(item.number),
            left_out=item.group == "new" and item.number in request.left_out,
        )
        for item in state.page.items
    )
    return replace(state.page, items=tuple(items))


def open_conflicts(state: ImportState) -> int:
    """The number of conflicts without a decision."""
    return max(0, counts(state).get("conflict", 0) - len(state.request.choices))


def listed(state: ImportState, group: Group) -> int:
    """Records that the list of a group has: those that were left out of it too."""
    out = len(state.plan.left_out) if state.plan is not None and group == "new" else 0
    return counts(state).get(group, 0) + out


def left(state: ImportState) -> dict[Group, int]:
    """Records in each group that are not written; a conflict that was decided for theirs or both is."""
    return {
        **counts(state),
        "conflict": state.kept,
        "new": listed(state, "new") - counts(state).get("new", 0),
    }


def current(state: ImportState) -> PlannedRecord | None:
    """The record under the cursor."""
    items = state.page.items if state.page is not None and state.page.group == state.view else ()
    return next((item for item in items if item.number == state.item), items[0] if items else None)
