"""From tiers of fused hits to the memories that are returned: tier by tier, by quota, or down the ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.engine.recall.recipes.mem_engine.trust import (
    IGNORE,
    LABELS_UNKNOWN,
    MUST,
    NICE,
    TIERS,
    ladder_label,
)

REASONS = (
    "trivial_prompt", "no_query", "embedding_input_too_long", "no_results_must", "no_results_nice",
    "provider_unavailable", "budget_cap",
)  # fmt: skip
"""Why something was not returned, in the order in which a receipt names them."""


@dataclass(frozen=True, slots=True)
class TierHit:
    """One fused hit of a tier."""

    id: str
    score: float
    created_ms: float = 0.0


Search = Callable[[str, Sequence[str]], Sequence[TierHit]]
"""(scope, labels) to fused hits, best first."""


@dataclass(frozen=True, slots=True)
class TierCount:
    """A tier that was searched: its name (`scope:tier` in a fallback scope), labels, hits, and how many were taken."""

    tier: str
    labels: tuple[str, ...]
    scope: str
    candidates: int
    selected: int

    def as_json(self) -> dict[str, Any]:
        """The count as a receipt has it."""
        return {"tier": self.tier, "candidates": self.candidates, "selected": self.selected}


@dataclass(frozen=True, slots=True)
class SelectedTier:
    """A hit that is returned: from which tier and scope, and whether over its quota."""

    hit: TierHit
    tier: str
    scope: str
    wildcard: bool = False


@dataclass(frozen=True, slots=True)
class Quotas:
    """How many of a tier are taken before the rest is filled by score."""

    must_max: int = 2
    nice_min: int = 2
    unknown_max: int = 1


@dataclass(frozen=True, slots=True)
class FallbackUse:
    """Whether other scopes could be asked, were asked, and helped."""

    eligible: bool = False
    consulted: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    contributed: int = 0
    suppressed: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The use as a receipt has it."""
        return {
            "eligible": self.eligible,
            "consulted": bool(self.consulted),
            "consultedScopes": list(self.consulted),
            "usedScopes": list(self.used),
            "contributed": self.contributed,
            "suppressedReason": self.suppressed,
        }


@dataclass(frozen=True, slots=True)
class Selection:
    """What is returned, in order, and the account of it."""

    taken: tuple[SelectedTier, ...] = ()
    counts: tuple[TierCount, ...] = ()
    rejected: tuple[str, ...] = ()
    fallback: FallbackUse = field(default_factory=FallbackUse)
    policy_tier: str = ""
    """The label of the ladder that was really climbed."""
    wildcards: int = 0


def tier_first(
    search: Search, scopes: Sequence[str], tiers: Sequence[str], limit: int, *, suppressed: str | None = None
) -> Selection:
    """Walk the tiers of the first scope, then those of each fallback scope, until there are `limit` memories.

    `suppressed` says why no fallback scope may be asked; None: there are some.
    """
    taken: dict[str, SelectedTier] = {}
    counts: list[TierCount] = []
    rejected: set[str] = set()
    consulted: list[str] = []
    for position, scope in enumerate(scopes):
        if position and len(taken) >= limit:
            break
        if position:
            consulted.append(scope)
        for at, tier in enumerate(tiers):
            hits = search(scope, (TIERS[tier],))
            fresh = [hit for hit in hits if hit.id not in taken][: limit - len(taken)]
            taken |= {hit.id: SelectedTier(hit, tier, scope) for hit in fresh}
            name = f"{scope}:{tier}" if position else tier
            counts.append(TierCount(name, (TIERS[tier],), scope, len(hits), len(fresh)))
            if not hits and tier in ("must", "nice"):
                rejected.add(f"no_results_{tier}")
            if len(taken) >= limit and at + 1 < len(tiers):
                rejected.add("budget_cap")
                break
    return _selection(
        list(taken.values()), counts, rejected, scopes, consulted, suppressed, suppressed is None
    )


def tier_quota(
    search: Search,
    scopes: Sequence[str],
    tiers: Sequence[str],
    limit: int,
    quotas: Quotas,
    *,
    suppressed: str | None = None,
) -> Selection:
    """Search all tiers of a scope, then take by quota; fallback scopes fill what is missing."""
    taken: list[SelectedTier] = []
    counts: list[TierCount] = []
    rejected: set[str] = set()
    consulted: list[str] = []
    for position, scope in enumerate(scopes):
        if position and len(taken) >= limit:
            break
        if position:
            consulted.append(scope)
        known = {each.hit.id for each in taken}
        buckets = {tier: list(search(scope, (TIERS[tier],))) for tier in tiers}
        fresh = {tier: [hit for hit in hits if hit.id not in known] for tier, hits in buckets.items()}
        chosen = [replace(each, scope=scope) for each in by_quota(fresh, limit - len(taken), quotas)]
        taken += chosen
        for tier, hits in buckets.items():
            name = f"{scope}:{tier}" if position else tier
            selected = sum(1 for each in chosen if each.tier == tier)
            counts.append(TierCount(name, (TIERS[tier],), scope, len(hits), selected))
            if not hits and tier in ("must", "nice"):
                rejected.add(f"no_results_{tier}")
    if len(taken) >= limit:
        rejected.add("budget_cap")
    return _selection(taken, counts, rejected, scopes, consulted, suppressed, suppressed is None)


def by_quota(buckets: dict[str, list[TierHit]], limit: int, quotas: Quotas) -> list[SelectedTier]:
    """Nice ones get their least, must and unknown at most their quota; what is left is filled by score.

    The fill goes by score, newer first where equal, then id, then tier name.
    """
    have = {tier: len(buckets.get(tier, ())) for tier in ("must", "nice", "unknown")}
    nice = min(quotas.nice_min, limit, have["nice"])
    must = min(quotas.must_max, limit - nice, have["must"])
    unknown = min(quotas.unknown_max, limit - nice - must, have["unknown"])
    wanted = {"must": must, "nice": nice, "unknown": unknown}
    taken = [SelectedTier(hit, tier, "") for tier, n in wanted.items() for hit in buckets.get(tier, [])[:n]]
    rest = [(hit, tier) for tier, hits in buckets.items() for hit in hits[wanted.get(tier, 0) :]]
    rest.sort(key=lambda pair: (-pair[0].score, -pair[0].created_ms, pair[0].id, pair[1]))
    return taken + [SelectedTier(hit, tier, "", wildcard=True) for hit, tier in rest[: limit - len(taken)]]


def ladder(
    search: Search, scopes: Sequence[str], limit: int, quotas: Quotas, *, enabled: bool = True
) -> Selection:
    """Must and nice by quota, then unknown, then ignored ones, scope by scope: the ladder the design promises.

    Without policy it is one search for everything, labelled `ignore`.
    """
    taken: dict[str, SelectedTier] = {}
    counts: list[TierCount] = []
    rejected: set[str] = set()
    consulted: list[str] = []
    for position, scope in enumerate(scopes):
        if position and len(taken) >= limit:
            break
        if position:
            consulted.append(scope)
        prefix = f"{scope}:" if position else ""
        if not enabled:
            hits = search(scope, (MUST, NICE, LABELS_UNKNOWN, IGNORE))
            fresh = [hit for hit in hits if hit.id not in taken][: limit - len(taken)]
            taken |= {hit.id: SelectedTier(hit, "ignore", scope) for hit in fresh}
            counts.append(TierCount(f"{prefix}ignore", (), scope, len(hits), len(fresh)))
            continue
        first = {tier: list(search(scope, (TIERS[tier],))) for tier in ("must", "nice")}
        fresh_first = {tier: [hit for hit in hits if hit.id not in taken] for tier, hits in first.items()}
        chosen = by_quota(fresh_first, limit - len(taken), quotas)
        taken |= {each.hit.id: replace(each, scope=scope) for each in chosen}
        for tier, hits in first.items():
            selected = sum(1 for each in chosen if each.tier == tier)
            counts.append(TierCount(prefix + tier, (TIERS[tier],), scope, len(hits), selected))
            if not hits:
                rejected.add(f"no_results_{tier}")
        if len(taken) >= limit:
            rejected.add("budget_cap")
            break
        for tier in ("unknown", "ignore"):
            if len(taken) >= limit:
                break
            hits = search(scope, (TIERS[tier],))
            fresh = [hit for hit in hits if hit.id not in taken][: limit - len(taken)]
            taken |= {hit.id: SelectedTier(hit, tier, scope) for hit in fresh}
            counts.append(TierCount(prefix + tier, (TIERS[tier],), scope, len(hits), len(fresh)))
    made = _selection(list(taken.values()), counts, rejected, scopes, consulted, None)
    return made if enabled else replace(made, policy_tier=ladder_label(enabled=False))


def _selection(
    taken: Sequence[SelectedTier],
    counts: Sequence[TierCount],
    rejected: set[str],
    scopes: Sequence[str],
    consulted: Sequence[str],
    suppressed: str | None,
    eligible: bool | None = None,
) -> Selection:
    used = [scope for scope in consulted if any(each.scope == scope for each in taken)]
    fallback = FallbackUse(
        eligible=len(scopes) > 1 if eligible is None else eligible,
        consulted=tuple(consulted),
        used=tuple(used),
        contributed=sum(1 for each in taken if each.scope in used),
        suppressed=suppressed,
    )
    tiers = {each.tier for each in taken}
    return Selection(
        taken=tuple(taken),
        counts=tuple(counts),
        rejected=tuple(reason for reason in REASONS if reason in rejected),
        fallback=fallback,
        policy_tier=ladder_label(unknown="unknown" in tiers, ignore="ignore" in tiers),
        wildcards=sum(1 for each in taken if each.wildcard),
    )
