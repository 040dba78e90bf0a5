"""What can be turned of mem-engine, and when turning it does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.knob import LIMIT, SOURCE, Knob

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


def _engine(path: str, resolved: str, meaning: str, low: int, high: int, step: int = 1) -> Knob:
    return Knob(f"memEngine.{path}", "whole", meaning, low, high, step, resolved=f"memEngine.{resolved}")


KNOBS = (
    replace(LIMIT, high=50),
    SOURCE,
    Knob(
        "memEngine.trustMode",
        "choice",
        "which sources of a memory are let through",
        choices=("off", "prefer_trusted", "exclude_quarantined"),
        resolved="memEngine.trust_mode",
    ),
    _engine("autoRecall.maxItems", "hook.max_items", "how many memories the hook wants", 1, 5),
    _engine("autoRecall.trivialMinChars", "hook.trivial_min_chars", "shorter questions are skipped", 2, 40),
    _engine("autoRecall.tierSearchMultiplier", "hook.multiplier", "hits of each tier for one wanted", 1, 6),
    Knob(
        "memEngine.autoRecall.selectionMode",
        "choice",
        "tier after tier, or a share for each",
        choices=("tier_first_v1", "tier_quota_v1"),
        resolved="memEngine.hook.mode",
    ),
    _engine("autoRecall.quotas.mustMax", "hook.quotas.must_max", "most of must_remember", 0, 5),
    _engine("autoRecall.quotas.niceMin", "hook.quotas.nice_min", "least of nice_to_have", 0, 5),
    _engine("autoRecall.quotas.unknownMax", "hook.quotas.unknown_max", "most without a tier", 0, 5),
    _engine("budget.maxChars", "budget.max_chars", "characters of the block for the prompt", 300, 12_000, 50),
    _engine("budget.minRecentSlots", "budget.min_recent_slots", "recent memories that always stay", 0, 5),
    _engine("autoCapture.todoStaleTtlDays", "todo_days", "days after which a to-do counts as stale", 1, 90),
)


def idle(trace: Trace, path: str) -> str:
    """Why a setting of mem-engine does nothing here; empty where it may do something."""
    key = path.removeprefix("memEngine.")
    settings: Mapping[str, Any] = trace.config.get("memEngine") or {}
    if key in ("limit", "source", "trustMode"):
        return ""
    if trace.source != "auto-recall":
        return "only the hook before each prompt reads it"
    if key == "autoRecall.maxItems" and trace.request is not None and trace.request.limit is not None:
        return "the question brings its own limit"
    if key.startswith("autoRecall.quotas.") and settings["hook"]["mode"] == "tier_first_v1":
        return "only the selection by quotas reads it"
    return ""
