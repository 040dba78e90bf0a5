"""The settings of openclaw-mem-engine that decide a recall, under its own key names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from memtui.engine.core.errors import ConfigError
from memtui.engine.providers.clip import ClipRules, clip_rules
from memtui.engine.recall.recipes.mem_engine import trust
from memtui.engine.recall.recipes.mem_engine.prompt_block import BudgetRules
from memtui.engine.recall.recipes.mem_engine.raw_values import switch, whole
from memtui.engine.recall.recipes.mem_engine.receipt import ReceiptRules, receipt_rules
from memtui.engine.recall.recipes.mem_engine.scope_rules import ScopeRules, rules_from
from memtui.engine.recall.recipes.mem_engine.selection import TierQuotas

BLOCK = "memEngine"

TOOL_LIMIT, MOST = 5, 50

HOOK_ITEMS, MOST_HOOK_ITEMS = 4, 5

BLOCK_KEYS: Mapping[str, tuple[str, ...]] = {
    "scopePolicy": (
        "enabled",
        "defaultScope",
        "fallbackScopes",
        "fallbackMarker",
        "skipFallbackOnInvalidScope",
        "validationMode",
        "maxScopeLength",
    ),
    "autoRecall": (
        "enabled",
        "maxItems",
        "skipTrivialPrompts",
        "trivialMinChars",
        "includeUnknownFallback",
        "tierSearchMultiplier",
        "selectionMode",
        "quotas",
        "routeAuto",
    ),
    "autoCapture": (
        "enabled",
        "maxItemsPerTurn",
        "maxCharsPerItem",
        "maxScannedUserMessages",
        "maxTextBlocksPerMessage",
        "maxTotalInputChars",
        "capturePreference",
        "captureDecision",
        "captureTodo",
        "maxTodoPerTurn",
        "todoDedupeWindowHours",
        "todoStaleTtlDays",
        "dedupeSimilarityThreshold",
        "duplicateSearchMinScore",
    ),
    "budget": ("enabled", "maxChars", "minRecentSlots", "overflowAction"),
    "workingSet": ("enabled", "persist", "maxChars", "maxItemsPerSection", "maxGoalChars", "maxItemChars"),
    "receipts": ("enabled", "verbosity", "maxItems"),
    "embedding": ("apiKey", "model", "maxChars", "headChars", "maxBytes"),
}
"""The blocks of the plugin's configuration that decide a recall, and the keys that it reads in them."""

OTHER_KEYS = (
    "dbPath",
    "tableName",
    "docsColdLane",
    "weijiMemoryPreflight",
    "gbrainMirror",
    "symbolicCanvas",
    "retrievalBackend",
    "readOnly",
)
"""What else the plugin's configuration has, none of which decides a recall of its table."""

ALL_KEYS = (*BLOCK_KEYS, *OTHER_KEYS)
"""Every key of the plugin's configuration."""

RANGES: Mapping[str, tuple[float, float]] = {
    "scopePolicy.maxScopeLength": (8, 256),
    "autoRecall.maxItems": (1, MOST_HOOK_ITEMS),
    "autoRecall.trivialMinChars": (2, 40),
    "autoRecall.tierSearchMultiplier": (1, 6),
    "autoCapture.maxItemsPerTurn": (1, 3),
    "autoCapture.maxCharsPerItem": (60, 320),
    "autoCapture.maxTodoPerTurn": (0, 3),
    "autoCapture.todoDedupeWindowHours": (1, 168),
    "autoCapture.todoStaleTtlDays": (1, 90),
    "autoCapture.dedupeSimilarityThreshold": (0.7, 0.99),
    "autoCapture.duplicateSearchMinScore": (0.8, 0.999),
    "budget.maxChars": (300, 12_000),
    "budget.minRecentSlots": (0, 5),
    "workingSet.maxChars": (240, 2_800),
    "workingSet.maxItemsPerSection": (1, 5),
    "workingSet.maxGoalChars": (40, 600),
    "workingSet.maxItemChars": (40, 400),
    "receipts.maxItems": (1, 10),
    "embedding.maxChars": (200, 200_000),
    "embedding.headChars": (0, 200_000),
}
"""The range that the plugin holds each number in."""

SERVICE_KEYS = ("baseURL", "baseUrl", "dimensions", "provider")
"""What memtui reads of an `embedding` block to reach another service than OpenAI's."""

_QUOTA_KEYS = ("mustMax", "niceMin", "unknownMax")

TRUST_MODE = "trustMode"

_BLOCKS = (*BLOCK_KEYS, TRUST_MODE)


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
class WorkingSettings:
    """The `workingSet` block as resolved; lengths in characters."""

    enabled: bool = False
    persist: bool = True
    max_chars: int = 240
    per_section: int = 2
    item_chars: int = 100


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything that decides a recall; `trust_mode` is memtui's own, upstream has no trust gate."""

    scopes: ScopeRules = field(default_factory=ScopeRules)
    hook: HookRules = field(default_factory=HookRules)
    budget: BudgetRules = field(default_factory=BudgetRules)
    receipts: ReceiptRules = field(default_factory=ReceiptRules)
    todo_days: float = 7
    working: WorkingSettings = field(default_factory=WorkingSettings)
    clip: ClipRules = field(default_factory=ClipRules)
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
    blocks = {key: _switched(base[key]) for key in BLOCK_KEYS if _is_block(base.get(key))}
    for key, given in asked.items():
        both = key in blocks and isinstance(given, Mapping)
        blocks[key] = {**blocks[key], **given} if both else given
    return {**(config or {}), **({BLOCK: blocks} if blocks or BLOCK in (config or {}) else {})}


def unread_keys(base: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each key of the plugin's own settings `base` that no version of it reads."""
    known = ALL_KEYS
    return tuple(_unread(str(key), known) for key in base if key not in known)


def _unread(path: str, known: Sequence[str]) -> str:
    """`path` is dotted; `known` are the keys that stand beside its last part."""
    usual = {"contextBudget": "budget", "todoGuardrails": "autoCapture"}
    key = path.rpartition(".")[2]
    near = [usual[key]] if key in usual else get_close_matches(key, known, 1, 0.6)
    meant = f"; {near[0]} is" if near else ""
    return f"{path} is no setting of openclaw-mem-engine, so nothing reads it{meant}."


def _is_block(given: object) -> bool:
    return isinstance(given, Mapping | bool)


def _switched(given: Any) -> Mapping[str, Any]:
    """A block, which may also be written as a switch: true leaves every key as it usually is."""
    return given if isinstance(given, Mapping) else {} if given else {"enabled": False}


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
    block = _moved(block)
    for key in block:
        if key not in _BLOCKS:
            path = f"{BLOCK}.{key}"
            raise ConfigError(
                f"{path} is not a known setting.", path=path, fix=f"Known: {', '.join(_BLOCKS)}."
            )
    mode = block.get(TRUST_MODE, "off")
    if mode not in trust.MODES:
        raise ConfigError(
            f"{BLOCK}.{TRUST_MODE} is {mode!r}.",
            path=f"{BLOCK}.{TRUST_MODE}",
            fix=f"Use {', '.join(trust.MODES)}.",
        )
    parts = {key: _object(block.get(key, {}), f"{BLOCK}.{key}") for key in BLOCK_KEYS}
    settings = EngineSettings(
        scopes=rules_from(parts["scopePolicy"]),
        hook=_hook(parts["autoRecall"]),
        budget=_budget(parts["budget"]),
        receipts=receipt_rules(parts["receipts"]),
        todo_days=whole(parts["autoCapture"], "todoStaleTtlDays", 7, 1, 90),
        working=_working(parts["workingSet"]),
        clip=clip_rules(parts["embedding"]),
        trust_mode=mode,
    )
    for key, part in parts.items():
        extra = SERVICE_KEYS if key == "embedding" else ()
        findings += [
            _unread(f"{key}.{name}", BLOCK_KEYS[key])
            for name in part
            if name not in (*BLOCK_KEYS[key], *extra)
        ]
    quotas = parts["autoRecall"].get("quotas")
    if isinstance(quotas, Mapping):
        findings += [
            _unread(f"autoRecall.quotas.{name}", _QUOTA_KEYS) for name in quotas if name not in _QUOTA_KEYS
        ]
    if settings.receipts.verbosity == "high":
        findings.append("receipts at high verbosity stand in the prompt and displace memories.")
    return settings, tuple(findings)


def _moved(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """memtui's older name for the age of a to-do, as questions were kept with it."""
    old = block.get("todoGuardrails")
    if not isinstance(old, Mapping):
        return block
    rest = {key: value for key, value in block.items() if key != "todoGuardrails"}
    newer = rest.get("autoCapture")
    return {**rest, "autoCapture": {**old, **(newer if isinstance(newer, Mapping) else {})}}


def _working(block: Mapping[str, Any]) -> WorkingSettings:
    return WorkingSettings(
        enabled=switch(block, "enabled", usual=False),
        persist=switch(block, "persist"),
        max_chars=whole(block, "maxChars", 240, 240, 2_800),
        per_section=whole(block, "maxItemsPerSection", 2, 1, 5),
        item_chars=whole(block, "maxItemChars", 100, 40, 400),
    )


def _hook(block: Mapping[str, Any]) -> HookRules:
    quotas = block.get("quotas", {})
    quotas = quotas if isinstance(quotas, Mapping) else {}
    return HookRules(
        max_items=whole(block, "maxItems", HOOK_ITEMS, 1, MOST_HOOK_ITEMS),
        skip_trivial=switch(block, "skipTrivialPrompts"),
        trivial_min_chars=whole(block, "trivialMinChars", 8, 2, 40),
        include_unknown=switch(block, "includeUnknownFallback"),
        multiplier=whole(block, "tierSearchMultiplier", 2, 1, 6),
        mode="tier_quota_v1" if block.get("selectionMode") == "tier_quota_v1" else "tier_first_v1",
        quotas=TierQuotas(
            whole(quotas, "mustMax", 2, 0, 5),
            whole(quotas, "niceMin", 2, 0, 5),
            whole(quotas, "unknownMax", 1, 0, 5),
        ),
    )


def _budget(block: Mapping[str, Any]) -> BudgetRules:
    tail = block.get("overflowAction") == "truncate_tail"
    return BudgetRules(
        enabled=switch(block, "enabled"),
        max_chars=whole(block, "maxChars", 1800, 300, 12_000),
        min_recent_slots=whole(block, "minRecentSlots", 1, 0, 5),
        overflow="truncate_tail" if tail else "truncate_oldest",
    )


def _object(given: Any, path: str) -> Mapping[str, Any]:
    if not _is_block(given):
        raise ConfigError(
            f"{path} must be an object.", path=path, fix="Give it as {...}, or as true or false."
        )
    return _switched(given)
