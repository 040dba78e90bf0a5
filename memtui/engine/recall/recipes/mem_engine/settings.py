"""The settings of openclaw-mem-engine that decide a recall, under its own key names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from memtui.engine.core.errors import ConfigError
from memtui.engine.recall.recipes.mem_engine import trust
from memtui.engine.recall.recipes.mem_engine.prompt_block import BudgetRules
from memtui.engine.recall.recipes.mem_engine.receipt import ReceiptRules, receipt_rules
from memtui.engine.recall.recipes.mem_engine.scope_rules import ScopeRules, rules_from
from memtui.engine.recall.recipes.mem_engine.selection import TierQuotas

BLOCK = "memEngine"

TOOL_LIMIT, MOST = 5, 50

HOOK_ITEMS, MOST_HOOK_ITEMS = 4, 5

_BLOCKS = ("scopePolicy", "autoRecall", "budget", "receipts", "todoGuardrails", "trustMode")


@dataclass(frozen=True, slots=True)
class HookRules:
    """The `autoRecall` block as resolved."""

    max_items: int = HOOK_ITEMS
    skip_trivial: bool = True
    trivial_min_chars: int = 8
    include_unknown: bool = True
    multiplier: int = 2
    mode: Literal["tier_first_v1", "tier_quota_v1"] = "tier_first_v1"
    quotas: TierQuotas = field(default_factory=TierQuotas)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything that decides a recall; `trust_mode` is memtui's own, upstream has no trust gate."""

    scopes: ScopeRules = field(default_factory=ScopeRules)
    hook: HookRules = field(default_factory=HookRules)
    budget: BudgetRules = field(default_factory=BudgetRules)
    receipts: ReceiptRules = field(default_factory=ReceiptRules)
    todo_days: float = 7
    trust_mode: trust.Mode = "off"

    def as_block(self) -> dict[str, Any]:
        """The resolved settings for people and JSON."""
        return asdict(self)


def lane_limit(limit: int, multiplier: int = 2) -> int:
    """Rows that each search of a tier may deliver."""
    return max(1, min(MOST, limit * multiplier))


def hook_limit(limit: int, multiplier: int) -> int:
    """The same for the hook: never fewer than it wants."""
    return max(limit, lane_limit(limit, multiplier))


def configured(config: Mapping[str, Any] | None, base: Mapping[str, Any]) -> Mapping[str, Any]:
    """`config` over the plugin's own settings `base`, block by block and key by key; what is no block is left out."""
    asked = (config or {}).get(BLOCK, {})
    if not isinstance(asked, Mapping):
        return config or {}
    known = {key: base.get(_UPSTREAM.get(key, key)) for key in _BLOCKS}
    blocks: dict[str, Any] = {key: block for key, block in known.items() if isinstance(block, Mapping)}
    for key, given in asked.items():
        both = key in blocks and isinstance(given, Mapping)
        blocks[key] = {**blocks[key], **given} if both else given
    return {**(config or {}), **({BLOCK: blocks} if blocks or BLOCK in (config or {}) else {})}


_UPSTREAM = {"budget": "contextBudget"}
"""Blocks that the plugin's configuration calls otherwise."""


def resolve_engine(config: Mapping[str, Any] | None) -> tuple[EngineSettings, tuple[str, ...]]:
    """The settings of `config` ({"memEngine": {...}}) as the program clamps them, and findings.

    Raises ConfigError for a block that is unknown or no object, and for a trust mode that does not exist.
    """
    config = config or {}
    unknown = [key for key in config if key not in (BLOCK, "retrieval", "decay")]
    if unknown:
        raise ConfigError(f"{unknown[0]} is not a known block.", path=unknown[0], fix=f"Use {BLOCK}.")
    findings = [
        f"{key} has no effect: those are another plugin's settings, this recipe reads the block {BLOCK}."
        for key in ("retrieval", "decay")
        if config.get(key)
    ]
    block = _object(config.get(BLOCK, {}), BLOCK)
    for key in block:
        if key not in _BLOCKS:
            path = f"{BLOCK}.{key}"
            raise ConfigError(
                f"{path} is not a known setting.", path=path, fix=f"Known: {', '.join(_BLOCKS)}."
            )
    mode = block.get("trustMode", "off")
    if mode not in trust.MODES:
        raise ConfigError(
            f"{BLOCK}.trustMode is {mode!r}.", path=f"{BLOCK}.trustMode", fix=f"Use {', '.join(trust.MODES)}."
        )
    parts = {key: _object(block.get(key, {}), f"{BLOCK}.{key}") for key in _BLOCKS[:-1]}
    settings = EngineSettings(
        scopes=rules_from(parts["scopePolicy"]),
        hook=_hook(parts["autoRecall"]),
        budget=_budget(parts["budget"]),
        receipts=receipt_rules(parts["receipts"]),
        todo_days=_whole(parts["todoGuardrails"], "todoStaleTtlDays", 7, 1, 90),
        trust_mode=mode,
    )
    if settings.receipts.verbosity == "high":
        findings.append("receipts at high verbosity stand in the prompt and displace memories.")
    return settings, tuple(findings)


def _hook(block: Mapping[str, Any]) -> HookRules:
    quotas = block.get("quotas", {})
    quotas = quotas if isinstance(quotas, Mapping) else {}
    return HookRules(
        max_items=_whole(block, "maxItems", HOOK_ITEMS, 1, MOST_HOOK_ITEMS),
        skip_trivial=block.get("skipTrivialPrompts", True) is not False,
        trivial_min_chars=_whole(block, "trivialMinChars", 8, 2, 40),
        include_unknown=block.get("includeUnknownFallback", True) is not False,
        multiplier=_whole(block, "tierSearchMultiplier", 2, 1, 6),
        mode="tier_quota_v1" if block.get("selectionMode") == "tier_quota_v1" else "tier_first_v1",
        quotas=TierQuotas(
            _whole(quotas, "mustMax", 2, 0, 5),
            _whole(quotas, "niceMin", 2, 0, 5),
            _whole(quotas, "unknownMax", 1, 0, 5),
        ),
    )


def _budget(block: Mapping[str, Any]) -> BudgetRules:
    tail = block.get("overflowAction") == "truncate_tail"
    return BudgetRules(
        enabled=block.get("enabled", True) is not False,
        max_chars=_whole(block, "maxChars", 1800, 300, 12_000),
        min_recent_slots=_whole(block, "minRecentSlots", 1, 0, 5),
        overflow="truncate_tail" if tail else "truncate_oldest",
    )


def _object(given: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{path} must be an object.", path=path, fix="Give it as {...}.")
    return given


def _whole(block: Mapping[str, Any], key: str, usual: int, low: int, high: int) -> int:
    value = block.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return usual
    return min(high, max(low, math.floor(value)))
