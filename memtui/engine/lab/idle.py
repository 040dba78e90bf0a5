"""Parameters of memtui's own recipe and of mem-engine that cannot change a recall, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace

_NEEDS_STAGE: Mapping[str, tuple[str, str]] = {
    "lateWeight": ("late_interaction", "the bundled model is not at hand: nothing is compared word by word"),
    "rarity": ("late_interaction", "the bundled model is not at hand: nothing is compared word by word"),
    "contextWeight": ("neighbours", "no candidate has another memory of its session beside it"),
    "identifierWeight": ("identifier_ranked", "the question names nothing to be found to the letter"),
    "speakerWeight": ("speaker", "the question names no speaker"),
    "dateWeight": ("date", "the question names no time"),
    "previousWeight": ("neighbours", "no candidate has another memory of its session beside it"),
    "following": ("neighbours", "no candidate has another memory of its session beside it"),
    "nextWeight": ("neighbours", "no candidate has another memory of its session beside it"),
    "recencyWeight": ("recency", "the question does not ask for what is new"),
    "recencyHalfLifeDays": ("recency", "the question does not ask for what is new"),
}
"""Setting to the stage that reads it, and what it means that this stage did not run."""


def idle_own(trace: Trace, path: str) -> str:
    """Why a setting of the recipe `memtui` does nothing here; empty where it may do something."""
    key = path.removeprefix("memtui.")
    settings: Mapping[str, Any] = trace.config.get("memtui") or {}
    ran = {record.name for record in trace.records}
    if key == "vectorWeight" and trace.mode == "keyword":
        return "this recall asks by words only"
    if key == "bm25Weight" and not trace.pool.bm25:
        return "no candidate shares a word with the question"
    stage, why = _NEEDS_STAGE.get(key, ("", ""))
    if stage and stage not in ran:
        return "recency is off" if stage == "recency" and settings.get("recency") == "off" else why
    if key == "recencyHalfLifeDays" and not settings.get("recencyWeight"):
        return "recencyWeight is 0"
    if key in ("rarity", "contextWeight") and not settings.get("lateWeight"):
        return "lateWeight is 0"
    return ""


def idle_engine(trace: Trace, path: str) -> str:
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
