"""What a recall leaves behind beside its stages: receipt, log lines, the block for the prompt."""

from __future__ import annotations

from typing import Any

from memtui.engine.recall.mem_engine import prompts, receipt
from memtui.engine.recall.mem_engine.budget import Packed, pack
from memtui.engine.recall.mem_engine.scope_policy import Scope
from memtui.engine.recall.mem_engine.selection import Selection
from memtui.engine.recall.mem_engine.settings import EngineSettings

MARKER = "openclaw-mem-engine"


def extra(
    settings: EngineSettings,
    scope: Scope,
    chosen: Selection,
    story: receipt.Story,
    packed: Packed | None,
    *,
    hook: bool,
    limit: int,
) -> dict[str, Any]:
    """`receipt` (the tool's or the hook's), `markers`, and for the hook `injected`.

    `injected.text` is the block as the program sends it; where it lost its closing tag, `closed` is the same
    within the same budget with the tag kept. `imitating` names memories whose lines pass for lines of the block.
    """
    lifecycle = receipt.lifecycle(story, settings.receipts)
    validation = {
        "validationMode": settings.scopes.validation_mode,
        "invalid": scope.invalid,
        "normalized": scope.normalized,
    }
    tool = {
        "limit": limit,
        "ftsCount": len(story.fts),
        "vecCount": len(story.vector),
        "fusedCount": len(story.fused),
        "policyTier": story.tiers[-1].name if story.tiers else None,
        "ladder": chosen.policy_tier,
        "scopeMode": scope.mode,
        "scope": scope.scope,
        "scopeFilterApplied": True,
        "scopeValidation": validation,
        "fallback": chosen.fallback.as_json(),
        **({"lifecycle": lifecycle} if settings.receipts.enabled else {}),
    }
    out: dict[str, Any] = {
        "receipt": lifecycle if hook else tool,
        "markers": _markers(settings, scope, chosen, validation, packed),
    }
    if packed is not None:
        lost = packed.cut and not packed.text.endswith(prompts.CLOSE)
        out["injected"] = {
            "text": packed.text,
            "memories": [slot.id for slot in packed.kept],
            "cut": packed.cut,
            "closing_tag_lost": lost,
            "imitating": [slot.id for slot in packed.kept if prompts.imitates_lines(slot.text)],
            **({"closed": pack(packed.kept, settings.budget).text} if lost else {}),
        }
    return out


def _markers(
    settings: EngineSettings,
    scope: Scope,
    chosen: Selection,
    validation: dict[str, Any],
    packed: Packed | None,
) -> list[dict[str, Any]]:
    """The log lines that the program writes for such a recall."""
    rules, fallback = settings.scopes, chosen.fallback
    markers: list[dict[str, Any]] = []
    if scope.invalid or scope.normalized:
        markers.append({"marker": f"{MARKER}:scopeValidation", "scope": scope.scope, **validation})
    if fallback.consulted and rules.fallback_marker:
        markers.append(
            {
                "marker": f"{MARKER}:scopeFallback",
                "scope": scope.scope,
                "consultedScopes": list(fallback.consulted),
                "usedScopes": list(fallback.used),
                "contributed": fallback.contributed,
            }
        )
    if fallback.suppressed == "invalid_scope":
        markers.append(
            {
                "marker": f"{MARKER}:scopeFallbackSuppressed",
                "scope": scope.scope,
                "reason": fallback.suppressed,
                "validationMode": rules.validation_mode,
            }
        )
    if packed is not None and packed.receipt["truncated"]:
        keys = ("beforeChars", "afterChars", "droppedIds", "droppedCount", "truncatedChars")
        markers.append({"marker": f"{MARKER}:contextBudget", **{key: packed.receipt[key] for key in keys}})
    return markers
