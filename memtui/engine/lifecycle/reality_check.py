"""What the model says and what really happens in a store: findings about its lifecycle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.catalog.catalog import NO_TIME, SECONDS
from memtui.engine.catalog.types import Finding
from memtui.engine.decay.tiers import PERIPHERAL
from memtui.engine.lifecycle.population import Mask, MemoryTraits, PopulationEvidence, ScoredPopulation
from memtui.engine.lifecycle.review_queue import DRIFTED
from memtui.engine.lifecycle.settings import LifecycleSettings
from memtui.engine.lifecycle.tier_plan import TierPlan, mover_of
from memtui.engine.query.render import literal

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog


LISTED = 50

FEW = 5
"""Fewer memories than this prove nothing about how a store is run."""


def find_reality(
    catalog: Catalog,
    traits: MemoryTraits,
    scored: ScoredPopulation,
    plan: TierPlan,
    settings: LifecycleSettings,
    *,
    now_ms: int,
    evidence: PopulationEvidence | None = None,
    plugin: Mapping[str, Any] | None = None,
) -> tuple[Finding, ...]:
    """Findings, the gravest first. `evidence` None: what the metadata says of use is not read yet.

    `plugin` is the whole configuration block of the plugin that owns the store, None where none is known.
    """
    found = [
        *_notes(settings),
        *_clocks(catalog, now_ms),
        *_tiers(traits, plan, plugin),
        *(_use(catalog, traits, evidence) if evidence is not None else ()),
        *_reach(traits, scored, settings),
        *_stale(scored, traits),
    ]
    order = ("error", "warning", "info")
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def _notes(settings: LifecycleSettings) -> Iterator[Finding]:
    for note in settings.notes:
        yield Finding("warning", f"setting: {note}", 1, "", "Correct it in the plugin's configuration.")


def _clocks(catalog: Catalog, now_ms: int) -> Iterator[Finding]:
    yield from _some(
        "warning",
        catalog,
        (catalog.flags & NO_TIME) != 0,
        "{} without a creation time",
        "They count as written in 1970: fully decayed, and sunk by any sweep. A sweep here leaves them alone.",
        "-age<1000y",
    )
    yield from _some(
        "info",
        catalog,
        (catalog.flags & SECONDS) != 0,
        "{} with a time in seconds",
        "Read as seconds, so their age here is right; the plugin does the same.",
    )
    yield from _some(
        "warning",
        catalog,
        catalog.timestamp > now_ms,
        "{} from the future",
        "They do not decay until their time comes.",
        "age<0s",
    )


def _tiers(traits: MemoryTraits, plan: TierPlan, plugin: Mapping[str, Any] | None) -> Iterator[Finding]:
    mover = mover_of(plugin)
    dreaming = mover == "dreaming"
    if traits.n >= FEW and (traits.tier == traits.tier[0]).all():
        tier = ("core", "working", "peripheral")[int(traits.tier[0])]
        never = "; it is off here" if mover == "nothing" else ""
        yield Finding(
            "warning",
            f"memories, and every one is {tier}",
            traits.n,
            f"tier:{tier}",
            f"The plugin moves tiers only while dreaming is on{never}, and then only rows of the last two days.",
        )
    elif mover == "nothing" and plan.at.size:
        yield Finding(
            "info",
            "memories that nothing will move",
            int(plan.at.size),
            "",
            "Dreaming is off, and nothing else in the plugin moves tiers: sweep here.",
        )
    if dreaming and plan.at.size:
        old = traits.created[plan.at] < plan.now_ms - 2 * 86_400_000
        if count := int(np.count_nonzero(old)):
            yield Finding(
                "info",
                "memories that dreaming will not move",
                count,
                "",
                "It looks at rows of the last two days only: the rule on age can never meet them.",
            )


def _use(catalog: Catalog, traits: MemoryTraits, evidence: PopulationEvidence) -> Iterator[Finding]:
    injected = evidence.injected.astype(np.float64)
    by_injection = (traits.uses > 0) & (injected >= traits.uses) & np.isnan(evidence.confirmed)
    yield from _some(
        "warning",
        catalog,
        by_injection,
        "{} whose use is injection alone",
        "Auto-recall counts as use: injecting a memory keeps it fresh, read or not.",
    )
    drifted = np.isin(np.round(traits.importance, 6), DRIFTED) & ((injected > 0) | evidence.own_importance)
    yield from _some(
        "warning",
        catalog,
        drifted,
        "{} with importance drifted to about .5",
        "Usage feedback starts from .5 when the metadata holds no importance, whatever the column says.",
    )


def _reach(traits: MemoryTraits, scored: ScoredPopulation, settings: LifecycleSettings) -> Iterator[Finding]:
    """Memories whose importance and confidence alone keep them above the line that a move down needs."""
    line = settings.values["tier.peripheralCompositeThreshold"]
    weight = settings.values["decay.intrinsicWeight"]
    held = (traits.tier != PERIPHERAL) & (weight * scored.intrinsic >= line)
    rest = int(np.count_nonzero(traits.tier != PERIPHERAL))
    if (count := int(np.count_nonzero(held))) >= FEW and 2 * count > rest:
        yield Finding(
            "info",
            "memories that no neglect can sink by score",
            count,
            "",
            f"{weight:g} x importance x confidence alone is {line:g} or more: only age sinks a working one.",
        )


def _stale(scored: ScoredPopulation, traits: MemoryTraits) -> Iterator[Finding]:
    count = int(np.count_nonzero(scored.stale & traits.recalled))
    if count:
        yield Finding(
            "info",
            "stale memories that recall still returns"
            if count > 1
            else "stale memory that recall still returns",
            count,
            "is:stale",
            "Nothing in the plugin acts on the stale threshold: it only ranks them lower. Review or forget them.",
        )


def _some(
    severity: str, catalog: Catalog, mask: Mask, title: str, remedy: str, text: str = ""
) -> Iterator[Finding]:
    rows = np.flatnonzero(mask)
    if not rows.size:
        return
    noun = "memory" if rows.size == 1 else "memories"
    if not text:
        ids = dict.fromkeys(memory_id for memory_id in catalog.ids.texts(rows[:LISTED]) if memory_id)
        text = f"id={','.join(literal(memory_id, '=') for memory_id in ids)}" if ids else ""
    yield Finding(severity, title.format(noun), int(rows.size), text, remedy)
