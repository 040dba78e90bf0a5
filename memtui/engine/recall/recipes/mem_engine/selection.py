"""From tiers of fused hits to the memories that are returned: tier by tier, by quota, or down the ladder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.engine.dialects.importance_labels import IGNORE, MUST, NICE, TIERS, UNKNOWN
from memtui.engine.recall.recipes.mem_engine.trust import ladder_label

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
class TierQuotas:
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
class TierSelection:
    """What is returned, in order, and the account of it."""

    taken: tuple[SelectedTier, ...] = ()
    counts: tuple[TierCount, ...] = ()
    rejected: tuple[str, ...] = ()
    fallback: FallbackUse = field(default_factory=FallbackUse)
    policy_tier: str = ""
    """The label of the ladder that was really climbed."""
    wildcards: int = 0


class _Walk:
    """What is taken on the way through the scopes, and the account of it: the first scope, then fallback scopes.

    `by_tier` takes an id that two tiers of a scope hold from both, as the program does where it goes by quota.
    """

    def __init__(self, scopes: Sequence[str], limit: int, *, by_tier: bool = False) -> None:
        self.scopes, self.limit, self.by_tier = scopes, limit, by_tier
        self.taken: dict[tuple[str, str], SelectedTier] = {}
        self.counts: list[TierCount] = []
        self.rejected: set[str] = set()
        self.consulted: list[str] = []

    @property
    def room(self) -> int:
        """How many memories are still missing; never below 0."""
        return self.limit - len(self.taken)

    def __iter__(self) -> Iterator[str]:
        """The scopes that are searched: fallback scopes only while something is missing."""
        for position, scope in enumerate(self.scopes):
            if position and self.room <= 0:
                return
            if position:
                self.consulted.append(scope)
            yield scope

    def unknown(self, hits: Sequence[TierHit]) -> list[TierHit]:
        """The hits that are not taken yet."""
        ids = {key for key, _ in self.taken}
        return [hit for hit in hits if hit.id not in ids]

    def take(self, scope: str, tier: str, labels: tuple[str, ...], hits: Sequence[TierHit]) -> None:
        """Take the best hits of a tier while there is room."""
        fresh = self.unknown(hits)[: self.room]
        self.taken |= {(hit.id, ""): SelectedTier(hit, tier, scope) for hit in fresh}
        self._count(scope, tier, labels, len(hits), len(fresh))

    def take_by_quota(self, scope: str, found: dict[str, list[TierHit]], quotas: TierQuotas) -> None:
        """Take from several tiers of a scope at once, each within its quota."""
        fresh = {tier: self.unknown(hits) for tier, hits in found.items()}
        chosen = by_quota(fresh, self.room, quotas)
        self.taken |= {
            (tier.hit.id, tier.tier if self.by_tier else ""): replace(tier, scope=scope) for tier in chosen
        }
        for tier, hits in found.items():
            selected = sum(1 for each in chosen if each.tier == tier)
            self._count(scope, tier, (TIERS[tier],), len(hits), selected)

    def _count(self, scope: str, tier: str, labels: tuple[str, ...], found: int, selected: int) -> None:
        name = f"{scope}:{tier}" if self.consulted else tier
        self.counts.append(TierCount(name, labels, scope, found, selected))
        if not found and tier in ("must", "nice"):
            self.rejected.add(f"no_results_{tier}")

    def selection(self, *, eligible: bool, suppressed: str | None = None) -> TierSelection:
        """What was taken, in order; `eligible` says whether fallback scopes could be asked at all."""
        taken = tuple(self.taken.values())
        used = [scope for scope in self.consulted if any(tier.scope == scope for tier in taken)]
        fallback = FallbackUse(
            eligible=eligible,
            consulted=tuple(self.consulted),
            used=tuple(used),
            contributed=sum(1 for tier in taken if tier.scope in used),
            suppressed=suppressed,
        )
        tiers = {tier.tier for tier in taken}
        return TierSelection(
            taken=taken,
            counts=tuple(self.counts),
            rejected=tuple(reason for reason in REASONS if reason in self.rejected),
            fallback=fallback,
            policy_tier=ladder_label(unknown="unknown" in tiers, ignore="ignore" in tiers),
            wildcards=sum(1 for tier in taken if tier.wildcard),
        )


def tier_first(
    search: Search, scopes: Sequence[str], tiers: Sequence[str], limit: int, *, suppressed: str | None = None
) -> TierSelection:
    """Walk the tiers of the first scope, then those of each fallback scope, until there are `limit` memories.

    `suppressed` says why no fallback scope may be asked; None: there are some.
    """
    walk = _Walk(scopes, limit)
    for scope in walk:
        for at, tier in enumerate(tiers):
            walk.take(scope, tier, (TIERS[tier],), search(scope, (TIERS[tier],)))
            if walk.room <= 0 and at + 1 < len(tiers):
                walk.rejected.add("budget_cap")
                break
    return walk.selection(eligible=suppressed is None, suppressed=suppressed)


def tier_quota(
    search: Search,
    scopes: Sequence[str],
    tiers: Sequence[str],
    limit: int,
    quotas: TierQuotas,
    *,
    suppressed: str | None = None,
) -> TierSelection:
    """Search all tiers of a scope, then take by quota; fallback scopes fill what is missing."""
    walk = _Walk(scopes, limit, by_tier=True)
    for scope in walk:
        walk.take_by_quota(scope, {tier: list(search(scope, (TIERS[tier],))) for tier in tiers}, quotas)
    if walk.room <= 0:
        walk.rejected.add("budget_cap")
    return walk.selection(eligible=suppressed is None, suppressed=suppressed)


def by_quota(buckets: dict[str, list[TierHit]], limit: int, quotas: TierQuotas) -> list[SelectedTier]:
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
    search: Search, scopes: Sequence[str], limit: int, quotas: TierQuotas, *, enabled: bool = True
) -> TierSelection:
    """Must and nice by quota, then unknown, then ignored ones, scope by scope: the ladder the design promises.

    Without policy it is one search for everything, labelled `ignore`.
    """
    walk = _Walk(scopes, limit)
    for scope in walk:
        if not enabled:
            walk.take(scope, "ignore", (), search(scope, (MUST, NICE, UNKNOWN, IGNORE)))
            continue
        first = {tier: list(search(scope, (TIERS[tier],))) for tier in ("must", "nice")}
        walk.take_by_quota(scope, first, quotas)
        if walk.room <= 0:
            walk.rejected.add("budget_cap")
            break
        for tier in ("unknown", "ignore"):
            if walk.room > 0:
                walk.take(scope, tier, (TIERS[tier],), search(scope, (TIERS[tier],)))
    made = walk.selection(eligible=len(scopes) > 1)
    return made if enabled else replace(made, policy_tier=ladder_label(enabled=False))
