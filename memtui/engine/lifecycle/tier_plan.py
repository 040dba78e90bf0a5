"""The tier manager's plan for a whole store: who moves, by which rule, with which numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memtui.engine.core.javascript import text_of
from memtui.engine.core.memory import TIERS
from memtui.engine.decay.tiers import CORE, PERIPHERAL, WORKING, TierParams, age_days, reason
from memtui.engine.lifecycle.population import Codes, Mask, MemoryTraits, Places, ScoredPopulation

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog


# What will become of memories, as plain values for the screen, the command line and JSON.

Kind = Literal["stale", "rises", "sinks", "expires"]

KINDS: tuple[Kind, ...] = ("stale", "rises", "sinks", "expires")

Mover = Literal["nothing", "dreaming", "unknown"]
"""Who moves tiers here, beside a sweep by a person: dreaming, nothing (it is off), or the plugin is not known.

The plugin's tier manager is called by dreaming alone, which is off by default and looks at rows of its last two
days only (spec/retrieval 8.4, 13.4); so a dated move is what the rule would say, not what will happen.
"""


def mover_of(plugin: Mapping[str, Any] | None) -> Mover:
    """Who moves tiers under the plugin's configuration block; None where none is known."""
    if plugin is None:
        return "unknown"
    block = plugin.get("dreaming")
    return "dreaming" if isinstance(block, Mapping) and block.get("enabled") is True else "nothing"


@dataclass(frozen=True, slots=True)
class TierMove:
    """One transition of the tier manager, with the numbers that its rule looked at."""

    id: str
    before: str
    after: str
    rule: str
    """The condition that is met, with its numbers."""
    reason: str
    """The plugin's own words for it."""
    composite: float
    uses: int
    importance: float
    age_days: float
    held: str = ""
    """Why a sweep leaves it alone unless told otherwise; empty when it does not."""

    @property
    def rises(self) -> bool:
        """Whether it is a promotion."""
        order = ("core", "working", "peripheral")
        return order.index(self.after) < order.index(self.before)

    def as_json(self) -> dict[str, Any]:
        """The shape of the command line's contract."""
        return {
            "id": self.id,
            "from": self.before,
            "to": self.after,
            "rule": self.rule,
            "reason": self.reason,
            "composite": self.composite,
            "access_count": self.uses,
            "importance": self.importance,
            "age_days": self.age_days,
            "held": self.held or None,
        }


@dataclass(frozen=True, slots=True)
class TierFlow:
    """How many memories one rule moves from one tier to another."""

    before: str
    after: str
    rule: str
    """The condition that they meet, with the settings filled in."""
    rows: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """One memory meets one line at one moment (ms)."""

    id: str
    kind: Kind
    at_ms: int
    tier: str
    to: str
    """The tier that it would get; its own where the crossing is none of tiers."""
    composite: float
    """Now."""
    importance: float
    uses: int
    recalled: bool = True
    """Whether recall can still return it."""

    def as_json(self) -> dict[str, Any]:
        """The shape of the command line's contract."""
        moved = {"from": self.tier, "to": self.to} if self.kind in ("rises", "sinks") else {}
        return {
            "id": self.id,
            "kind": self.kind,
            "at_ms": self.at_ms,
            "tier": self.tier,
            **moved,
            "composite": self.composite,
            "importance": self.importance,
            "access_count": self.uses,
            "recalled": self.recalled,
        }


HELD = ("", "pinned", "no longer recalled", "no creation time")
"""Why a sweep leaves a memory alone: a person protects it, nobody would notice, its age is a guess."""


@dataclass(frozen=True, slots=True, eq=False)
class TierPlan:
    """Every move that the tier manager would make at `now_ms`: places in the catalog and both tiers, [m].

    `held` marks moves that a sweep leaves alone unless it is told otherwise (`HELD`), 0 for none.
    """

    now_ms: int
    at: Places
    before: Codes
    after: Codes
    held: Codes

    @property
    def promotions(self) -> int:
        """Moves up."""
        return int(np.count_nonzero(self.after < self.before))

    @property
    def demotions(self) -> int:
        """Moves down."""
        return int(np.count_nonzero(self.after > self.before))


def make_plan(
    traits: MemoryTraits, scored: ScoredPopulation, now_ms: int, pinned: Mask | None = None
) -> TierPlan:
    """The plan that the verdicts of `scored` make, in the order of the catalog; `pinned` where that is known."""
    at = np.flatnonzero(scored.next_tier != traits.tier)
    reasons = [
        np.zeros(at.size, np.bool_) if pinned is None else pinned[at],
        ~traits.recalled[at],
        traits.created[at] <= 0,
    ]
    held = np.select(reasons, [1, 2, 3], 0).astype(np.uint8)
    return TierPlan(now_ms, at, traits.tier[at], scored.next_tier[at], held)


def flows_of(plan: TierPlan, scored: ScoredPopulation, params: TierParams) -> tuple[TierFlow, ...]:
    """The plan's moves counted by the rule that they meet, the most first."""
    sunk_by_score = (plan.before == WORKING) & (
        scored.composite[plan.at] < params.peripheral_composite_threshold
    )
    code = (plan.before.astype(np.int64) * len(TIERS) + plan.after) * 2 + sunk_by_score
    found = []
    for each, rows in zip(*np.unique(code, return_counts=True), strict=True):
        (before, after), by_score = divmod(int(each) // 2, len(TIERS)), bool(each % 2)
        rule = rule_of(before, after, by_score, params)
        found.append(TierFlow(TIERS[before], TIERS[after], rule, int(rows)))
    return tuple(sorted(found, key=lambda flow: -flow.rows))


def moves_of(
    plan: TierPlan,
    catalog: Catalog,
    traits: MemoryTraits,
    scored: ScoredPopulation,
    params: TierParams,
    *,
    chosen: Places | None = None,
) -> list[TierMove]:
    """The plan's moves with their rules in words; `chosen` tells where in the catalog the traits stand."""
    at = plan.at.tolist()
    ids = catalog.ids.texts(plan.at if chosen is None else chosen[plan.at])
    out = []
    for number, place in enumerate(at):
        before, after = int(plan.before[number]), int(plan.after[number])
        uses, composite = int(traits.uses[place]), float(scored.composite[place])
        importance, created = float(traits.importance[place]), float(traits.created[place])
        days = float(age_days(created, plan.now_ms))
        words = reason(
            TIERS[before],
            TIERS[after],
            access_count=uses,
            composite=composite,
            importance=importance,
            created_ms=created,
            now_ms=plan.now_ms,
            params=params,
        )
        by_score = composite < params.peripheral_composite_threshold
        rule = rule_of(before, after, by_score, params, TierNumbers(uses, composite, importance, days))
        out.append(
            TierMove(
                ids[number] or "",
                TIERS[before],
                TIERS[after],
                rule,
                words,
                composite,
                uses,
                importance,
                days,
                HELD[plan.held[number]],
            )
        )
    return out


@dataclass(frozen=True, slots=True)
class TierNumbers:
    """What a rule looks at in one memory."""

    uses: int
    composite: float
    importance: float
    days: float


def rule_of(
    before: int, after: int, by_score: bool, params: TierParams, numbers: TierNumbers | None = None
) -> str:
    """The condition of one kind of move, "age > 60 d, uses < 3"; empty for no move.

    With `numbers` as one memory meets it: "age 61.2 d > 60 and uses 2 < 3". `by_score` tells which of the two ways
    down from working was taken.
    """
    terms = _terms(before, after, by_score, params)
    return (", " if numbers is None else " and ").join(term.told(numbers) for term in terms)


@dataclass(frozen=True, slots=True)
class _Term:
    """One comparison of a rule: the name of a number, how it compares, with which setting."""

    name: Literal["uses", "composite", "importance", "age"]
    sign: str
    limit: float

    def told(self, numbers: TierNumbers | None) -> str:
        """In words, with the memory's own number where one is given."""
        limit = text_of(self.limit)
        days = " d" if self.name == "age" else ""
        if numbers is None:
            return f"{_SHORT.get(self.name, self.name)} {self.sign} {limit}{days}"
        own = {
            "uses": str(numbers.uses),
            "composite": f"{numbers.composite:.3f}",
            "importance": text_of(numbers.importance),
            "age": f"{numbers.days:.1f}",
        }[self.name]
        return f"{self.name} {own}{days} {self.sign} {limit}"


_SHORT = {"importance": "imp."}
"""Names that are shorter where many rules stand side by side."""


def _terms(before: int, after: int, by_score: bool, params: TierParams) -> tuple[_Term, ...]:
    low = _Term("composite", "<", params.peripheral_composite_threshold)
    rare = _Term("uses", "<", params.working_access_threshold)
    if (before, after) == (PERIPHERAL, WORKING):
        least = _Term("composite", ">=", params.working_composite_threshold)
        return _Term("uses", ">=", params.working_access_threshold), least
    if (before, after) == (WORKING, CORE):
        return (
            _Term("uses", ">=", params.core_access_threshold),
            _Term("composite", ">=", params.core_composite_threshold),
            _Term("importance", ">=", params.core_importance_threshold),
        )
    if (before, after) == (WORKING, PERIPHERAL):
        return (low,) if by_score else (_Term("age", ">", params.peripheral_age_days), rare)
    return (low, rare) if (before, after) == (CORE, WORKING) else ()
