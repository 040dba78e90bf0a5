"""openclaw-mem-engine's recorded rules against ours: fusion, tiers, scopes, trust, prompts, budget, receipts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memtui.engine.dialects import importance_labels
from memtui.engine.recall.recipes.mem_engine import (
    prompt_block,
    receipt,
    scope_rules,
    selection,
    trust,
)
from memtui.engine.recall.recipes.mem_engine.settings import lane_limit
from memtui.engine.recall.recipes.mem_engine.stages import reciprocal_ranks, stale_todo

Given = dict[str, Any]
NOT_OURS = {
    "injection/block-lancedb": "the built-in program's block",
    "isTodoWithinDedupeWindow": "a rule of capturing, not of recall",
    "looksLikePromptInjection": "a rule of capturing, not of recall",
    "importance.parse_importance_score": "the sidecar's grading, not recall",
    "scope.normalize_scope_token": "the sidecar's scope names (NFKC first), not the engine's",
}
"""Functions and cases of these groups that this recipe has no use for, with the reason."""


def _scope(found: scope_rules.Scope) -> Given:
    return {"scope": found.scope, "invalid": found.invalid, "normalized": found.normalized}


def _resolved(i: Given) -> Given:
    rules = scope_rules.rules_from(i["policy"])
    found = scope_rules.resolve(i["explicitScope"], i["text"], rules)
    return {
        "scope": found.scope,
        "scopeMode": found.mode,
        "invalid": found.invalid,
        "normalized": found.normalized,
    }


def _rules(i: Given) -> Given:
    rules = scope_rules.rules_from(i["raw"])
    return {
        "enabled": rules.enabled,
        "defaultScope": rules.default_scope,
        "fallbackScopes": list(rules.fallback_scopes),
        "fallbackMarker": rules.fallback_marker,
        "skipFallbackOnInvalidScope": rules.skip_fallback_on_invalid,
        "validationMode": rules.validation_mode,
        "maxScopeLength": rules.max_length,
    }


def _plan(i: Given) -> list[Given]:
    scopes = scope_rules.plan(i["primary"], i["fallbackScopes"])
    return [{"scope": s, "origin": "fallback" if at else "primary"} for at, s in enumerate(scopes)]


def _search(world: Given, limit: int) -> Callable[[str, Sequence[str]], list[selection.TierHit]]:
    def search(scope: str, wanted: Sequence[str]) -> list[selection.TierHit]:
        hits = [hit for label in wanted for hit in world.get(scope, {}).get(label, [])]
        fused = reciprocal_ranks([[each for each, _ in hits]], limit=lane_limit(limit))
        return [selection.TierHit(each, score) for each, score in fused]

    return search


def _account(made: selection.TierSelection) -> Given:
    return {
        "selected": [each.hit.id for each in made.taken],
        "tierCounts": [count.as_json() for count in made.counts],
        "rejected": list(made.rejected),
        "fallback": made.fallback.as_json(),
    }


def _tiered(i: Given) -> Given:
    rules = scope_rules.rules_from(i["policy"])
    scopes, suppressed = scope_rules.searched(i["primaryScope"], rules, invalid=not i["allowFallback"])
    made = selection.tier_first(
        _search(i["world"], i["limit"]),
        scopes,
        tuple(importance_labels.TIERS),
        i["limit"],
        suppressed=suppressed,
    )
    return _account(made)


def _ladder(i: Given) -> Given:
    scopes = [part["scope"] for part in i["scopePlan"]]
    made = selection.ladder(
        _search(i["world"], i["limit"]), scopes, i["limit"], _quotas(i["quotas"]), enabled=i["policyEnabled"]
    )
    return {**_account(made), "policyTier": made.policy_tier}


def _quotas(block: Given) -> selection.TierQuotas:
    return selection.TierQuotas(block["mustMax"], block["niceMin"], block["unknownMax"])


def _quota(i: Given) -> Given:
    buckets = {
        bucket["tier"]: [selection.TierHit(h["id"], h["score"], h["createdAt"]) for h in bucket["hits"]]
        for bucket in i["buckets"]
    }
    taken = selection.by_quota(buckets, i["limit"], _quotas(i["quotas"]))
    by_tier: dict[str, int] = {}
    for each in taken:
        by_tier[each.tier] = by_tier.get(each.tier, 0) + 1
    return {
        "selectedIds": [each.hit.id for each in taken],
        "selectedByTier": by_tier,
        "wildcardUsed": sum(1 for each in taken if each.wildcard),
    }


def _packed(i: Given) -> Given:
    slots = [
        prompt_block.BlockItem(s["id"], s["createdAt"], s["category"], s["importanceLabel"], s["text"])
        for s in i["slots"]
    ]
    cfg = i["cfg"]
    rules = prompt_block.BudgetRules(
        cfg["enabled"], cfg["maxChars"], cfg["minRecentSlots"], cfg["overflowAction"]
    )
    made = prompt_block.pack(slots, rules, comment=i["receiptComment"], close_tag=False)
    return {"prependContext": made.text, "keptSlots": len(made.kept), "budget": made.receipt}


def _context(i: Given) -> str:
    slots = [
        prompt_block.BlockItem("", 0, m["category"], m["importanceLabel"], m["text"]) for m in i["memories"]
    ]
    return prompt_block.block(slots)


def _receipt(i: Given) -> Given:
    n = i["n"]
    story = receipt.ReceiptInput(
        scope="p",
        scope_mode="explicit",
        rejected=("budget_cap", "no_results_must"),
        tiers=[receipt.ReceiptTier(f"t{k}", ["must_remember"], 2.9, -1) for k in range(8)],
        fts=[(f"f{k}", 1 / (k + 3)) for k in range(n)],
        vector=[("f0", 0.1234567, 0), ("v1", 0.5, 0)],
        fused=[
            receipt.Fused(f"f{k}", "unknown" if k % 2 else "must_remember", "p" if k < 2 else "other")
            for k in range(n)
        ],
        injected=2.7,
    )
    return receipt.lifecycle(story, receipt.receipt_rules(i["cfg"] or {}))


def _skips(i: Given) -> bool:
    cfg = {} if i["cfg"] == "defaults" else i["cfg"]
    found = prompt_block.skip_reason(
        i["prompt"],
        skip_trivial=cfg.get("skipTrivialPrompts", True),
        min_chars=cfg.get("trivialMinChars", 8),
    )
    return found is not None


def _fused(i: Given) -> list[Given]:
    fused = reciprocal_ranks([i["fts"], i["vector"]], limit=i["limit"])
    return [{"id": each, "score": score} for each, score in fused]


def _rank_rrf(i: Given) -> list[list[Any]]:
    lists = [[f"{each:09}" for each in ids] for ids in i["lists"]]
    return [[int(each), score] for each, score in reciprocal_ranks(lists, limit=i["limit"], k=i["k"])]


def _trust(i: Given) -> Given:
    def stored(row: Given) -> str | None:
        return row.get("trust") or row.get("provenance", {}).get("trust_tier")

    rows = [(f"obs:{n}", stored(i["rows"][str(n)])) for n in i["order"]]
    return trust.policy_receipt(rows, i["mode"])


def _trust_gate(i: Given) -> list[str]:
    rows = trust.admitted(i["ranked"], lambda row: str(row["trust"]), "prefer_trusted")
    return [row["id"] for row in rows[: i["limit"]]]


def _distance(i: Given) -> Given:
    return {"score": 1 / (1 + i["distance"]), "cosine": 1 - i["distance"] / 2}


FUNCTIONS: dict[str, Callable[[Given], Any]] = {
    "fuseRecall": _fused,
    "vector.rank_rrf": _rank_rrf,
    "selectTierQuotaV1": _quota,
    "runScopedTieredRecall": _tiered,
    "runScopedImportancePolicyLoopV0": _ladder,
    "policyTierLabel": lambda i: trust.ladder_label(
        enabled=i["enabled"], unknown=i.get("usedUnknown", False), ignore=i.get("usedIgnore", False)
    ),
    "normalizeImportance": lambda i: importance_labels.importance(i["value"]),
    "resolveImportanceLabel": lambda i: importance_labels.label_of(i["label"], i["score"]),
    "normalizeResolvedScope": lambda i: _scope(
        scope_rules.normalised(i["raw"], scope_rules.rules_from(i["policy"]))
    ),
    "extractScopeFromText": lambda i: scope_rules.tagged(i["text"]),
    "resolveScope": _resolved,
    "resolveScopePolicyConfig": _rules,
    "buildScopeRecallPlan": _plan,
    "scopeFilterExpr": lambda i: scope_rules.scope_where(i["scope"]),
    "buildRecallFilter": lambda i: scope_rules.recall_where(i["scope"], i["labels"]),
    "provenance_trust_schema.normalize_trust_tier": lambda i: trust.strict_tier(i["raw"]),
    "provenance_trust_schema.parse_provenance_ref": lambda i: dict(trust.provenance(i["raw"]).as_json()),
    "pack trust policy": _trust,
    "prefer trusted; others only when nothing trusted was found; never quarantined": _trust_gate,
    "shouldSkipAutoRecallPrompt": _skips,
    "applyPrependContextBudget": _packed,
    "formatRelevantMemoriesContext": _context,
    "escapeMemoryForPrompt": lambda i: prompt_block.escaped(i["text"]),
    "buildRecallLifecycleReceipt": _receipt,
    "isTodoStale": lambda i: stale_todo(i["createdAt"], now_ms=i["nowMs"], ttl_days=i["ttlDays"]),
    "score=1/(1+d); cosine=1-d/2": _distance,
    "score of a zero-vector row for any unit query": lambda i: {"score": _distance(i)["score"]},
}
"""Upstream function to ours."""


def engine_cases(recorded: list[Given]) -> Iterator[tuple[str, str, Any, Any]]:
    """(function, case, our value, the recorded one) of every case whose function memtui has."""
    for case in recorded:
        run = FUNCTIONS.get(case["fn"])
        if run is not None and case["id"] not in NOT_OURS:
            yield case["fn"], case["id"], run(case["input"]), case["expected"]
