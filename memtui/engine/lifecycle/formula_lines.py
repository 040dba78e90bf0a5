"""Where each number of one memory comes from: the plugin's formulas with the numbers filled in."""

from __future__ import annotations

import math

from memtui.engine.core.javascript import text_of
from memtui.engine.core.memory import TIERS
from memtui.engine.decay.decay import (
    DAY_MS,
    DYNAMIC_DIVISOR,
    FREQUENCY_SCALE,
    GAP_DAYS,
    GAP_FLOOR,
    DecayParams,
    effective_half_life_days,
)
from memtui.engine.decay.tiers import CORE, PERIPHERAL, WORKING, TierParams, age_days
from memtui.engine.lifecycle.curves import FormulaLine, days_to
from memtui.engine.lifecycle.population import MemoryTraits, ScoredPopulation
from memtui.engine.lifecycle.tier_plan import TierNumbers, rule_of


def lines_of(
    one: MemoryTraits, scored: ScoredPopulation, decay: DecayParams, now_ms: int
) -> tuple[FormulaLine, ...]:
    """The account of one memory (a single row): each number with its formula, built from those above it."""
    importance, confidence = float(one.importance[0]), float(one.confidence[0])
    uses, code = float(one.uses[0]), int(one.tier[0])
    recency, frequency = float(scored.recency[0]), float(scored.frequency[0])
    intrinsic, composite = float(scored.intrinsic[0]), float(scored.composite[0])
    last = float((one.last_used if uses > 0 else one.created)[0])
    idle = max(0.0, (now_ms - last) / DAY_MS)
    half_life = float(effective_half_life_days(one.importance, one.dynamic, decay)[0])
    beta, floor = float(decay.betas[code]), float(decay.floors[code])
    base = text_of(decay.recency_half_life_days)
    if one.dynamic[0]:
        base = f"{base} / {DYNAMIC_DIVISOR}"
    best = max(floor, composite, recency)
    low = decay.search_boost_min
    weights = (decay.recency_weight, decay.frequency_weight, decay.intrinsic_weight)
    parts = zip(weights, (recency, frequency, intrinsic), strict=True)
    return (
        FormulaLine("t", "days idle", _since(uses, last, now_ms), idle, _clock(one, now_ms)),
        FormulaLine(
            "H",
            "half-life",
            f"{base} x e^({text_of(decay.importance_modulation)} x {share(importance)})",
            half_life,
            _halves(one, code, decay, beta),
        ),
        FormulaLine(
            "R",
            "recency",
            f"e^(-ln2 / {number(half_life)} x {number(idle)}^{text_of(beta)})",
            recency,
            f"beta of {TIERS[code]}",
        ),
        _frequency(one, frequency),
        FormulaLine(
            "I",
            "intrinsic",
            f"{share(importance)} x {share(confidence)}",
            intrinsic,
            "importance x confidence",
        ),
        FormulaLine(
            "C",
            "composite",
            " + ".join(f"{text_of(weight)} x {share(value)}" for weight, value in parts),
            composite,
            f"{'stale: below' if scored.stale[0] else 'fresh: not below'} {text_of(decay.stale_threshold)}",
        ),
        FormulaLine(
            "m",
            "boost",
            f"{text_of(low)} + {text_of(round(1 - low, 6))}"
            f" x max({text_of(floor)}, {share(composite)}, {share(recency)})",
            float(scored.boost[0]),
            "at its floor" if best == floor else "above its floor",
        ),
    )


def _since(uses: float, last: float, now_ms: int) -> str:
    if last <= 0:
        return "no time is stored"
    return "now - last use" if uses > 0 else "now - creation, never used"


def _clock(one: MemoryTraits, now_ms: int) -> str:
    if one.created[0] <= 0:
        return "a missing time counts as 1970"
    return "its time is still to come: 0" if one.created[0] > now_ms else ""


def _halves(one: MemoryTraits, code: int, decay: DecayParams, beta: float) -> str:
    half, fold = (days_to(one, code, decay, level) for level in ("half", "e-folding"))
    if beta == 1:
        return f"half-life {number(half)} d; 1/e (half-life in the article) after {number(fold)} d"
    root = f"half after H^(1/{text_of(beta)}) = {number(half)} d"
    return f"{root}; 1/e (half-life in the article) after {number(fold)} d"


def _frequency(one: MemoryTraits, value: float) -> FormulaLine:
    uses = float(one.uses[0])
    scale = text_of(FREQUENCY_SCALE)
    if uses <= 1:
        return FormulaLine("F", "frequency", f"1 - e^(-{uses:.0f}/{scale})", value, f"{uses:.0f} uses")
    span = max(1.0, float(one.last_used[0] - one.created[0]) / DAY_MS)
    gap = span / max(uses - 1, 1.0)
    formula = (
        f"(1 - e^(-{uses:.0f}/{scale}))"
        f" x ({text_of(GAP_FLOOR)} + {text_of(1 - GAP_FLOOR)} x e^(-{number(gap)}/{text_of(GAP_DAYS)}))"
    )
    return FormulaLine("F", "frequency", formula, value, f"a use every {number(gap)} d")


def verdict_of(one: MemoryTraits, scored: ScoredPopulation, params: TierParams, now_ms: int) -> str:
    """Why the tier manager moves one memory (a single row); where it stays, what it lacks to rise."""
    before, after = int(one.tier[0]), int(scored.next_tier[0])
    uses, composite = int(one.uses[0]), float(scored.composite[0])
    importance, days = float(one.importance[0]), float(age_days(one.created, now_ms)[0])
    if before != after:
        by_score = composite < params.peripheral_composite_threshold
        return rule_of(before, after, by_score, params, TierNumbers(uses, composite, importance, days))
    if before == CORE:
        low = f"composite {composite:.3f} < {text_of(params.peripheral_composite_threshold)}"
        return f"stays: sinks only with {low} and uses {uses} < {params.working_access_threshold}"
    if before == PERIPHERAL:
        needs = [
            (uses, params.working_access_threshold, "uses", f"{uses}"),
            (composite, params.working_composite_threshold, "composite", f"{composite:.3f}"),
        ]
        return f"stays: {_lacking(needs, TIERS[WORKING])}"
    needs = [
        (uses, params.core_access_threshold, "uses", f"{uses}"),
        (composite, params.core_composite_threshold, "composite", f"{composite:.3f}"),
        (importance, params.core_importance_threshold, "importance", text_of(importance)),
    ]
    return f"stays: {_lacking(needs, TIERS[CORE])}"


def _lacking(needs: list[tuple[float, float, str, str]], goal: str) -> str:
    parts = [f"{name} {shown} < {text_of(least)}" for value, least, name, shown in needs if value < least]
    return f"not {goal}, {' and '.join(parts)}"


def number(value: float) -> str:
    """A number of days for a formula: `85.7`, `0.42`, `never`."""
    if not math.isfinite(value):
        return "never" if value > 0 else "-"
    if value >= 1e6:
        return f"{value:.2g}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def share(value: float) -> str:
    """A share for a formula: `.785`, `1`."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text.removeprefix("0") if text.startswith("0.") else text
