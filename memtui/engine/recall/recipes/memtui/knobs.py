"""What can be turned of memtui's own recipe, and when turning it does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.knob import LIMIT, Knob
from memtui.engine.recall.recipes.memtui.signals import ASKS, SIGNALS, Signal, of_stage
from memtui.engine.recall.recipes.memtui.weights import ALONE, WEIGHTS, Weight

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


def _weight(weight: Weight) -> Knob:
    return Knob(f"memtui.{weight.key}", "number", weight.meaning, *weight.knob)


def _signal(signal: Signal) -> Knob:
    return Knob(f"memtui.signals.{signal.key}", "number", signal.weighed, -1.0, 1.0, 0.01)


def _weights(*, of_age: bool) -> tuple[Knob, ...]:
    """The knobs of those that make newer ones gain, or of all the others."""
    return tuple(_weight(weight) for weight in WEIGHTS if (weight.stage == "recency") is of_age)


KNOBS = (
    replace(LIMIT, high=100),
    Knob("memtui.profile", "choice", "whose weights are the start", choices=("dialogue", "notes")),
    Knob("memtui.pool", "whole", "candidates of each search", 1, 200, 1),
    *_weights(of_age=False),
    *(_signal(signal) for signal in SIGNALS),
    Knob("memtui.following", "whole", "best ones whose next memory becomes a candidate", 0, 100, 1),
    Knob("memtui.recency", "choice", "whether newer ones gain", choices=("asked", "on", "off")),
    *_weights(of_age=True),
    Knob("memtui.minScore", "number", "a score below this is not returned", 0.0, 3.0, 0.01),
)

SEARCH_SPACE: Mapping[str, tuple[Any, ...]] = {
    "lateWeight": (0.0, 0.4, 0.6, 0.8, 1.0, 1.2),
    "vectorWeight": (0.0, 0.15, 0.3, 0.5, 0.8),
    "bm25Weight": (0.0, 0.1, 0.2, 0.4, 0.6),
    "identifierWeight": (0.0, 0.5, 1.0),
    "rarity": (0.0, 0.5, 1.0, 1.5),
    "contextWeight": (0.0, 0.5, 0.7),
    "profile": ("dialogue", "notes"),
    "recency": ("asked", "on", "off"),
    "minScore": (0.0, 0.2, 0.4, 0.6),
}
"""What is tried when settings are searched."""

_NEEDS_STAGE: Mapping[str, tuple[str, str]] = {
    **{weight.key: (weight.needs, weight.missing) for weight in WEIGHTS if weight.needs},
    "following": ("neighbours", ALONE),
    **{f"signals.{signal.key}": ("neighbours", ALONE) for signal in of_stage("neighbours")},
}
"""Setting to the stage that reads it, and what it means that this stage did not run."""


def idle(trace: Trace, path: str) -> str:
    """Why a setting of the recipe `memtui` does nothing here; empty where it may do something."""
    key = path.removeprefix("memtui.")
    settings: Mapping[str, Any] = trace.config.get("memtui") or {}
    ran = {record.name for record in trace.records}
    if key == "vectorWeight" and trace.mode == "keyword":
        return "this recall uses keyword search only"
    if key == "bm25Weight" and not trace.pool.bm25:
        return "no candidate shares a word with the question"
    asks = next((record.outcome.params for record in trace.records if record.name == "kind"), {})
    signal = next((signal for signal in SIGNALS if key == f"signals.{signal.key}"), None)
    if signal is not None and signal.asked and not asks.get(signal.asked):
        return ASKS[signal.asked].missing
    stage, why = _NEEDS_STAGE.get(key, ("", ""))
    if stage and stage not in ran:
        return "recency is off" if stage == "recency" and settings.get("recency") == "off" else why
    if key == "recencyHalfLifeDays" and not settings.get("recencyWeight"):
        return "recencyWeight is 0"
    if key in ("rarity", "contextWeight") and not settings.get("lateWeight"):
        return "lateWeight is 0"
    return ""
