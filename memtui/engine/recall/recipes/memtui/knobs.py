"""What can be turned of memtui's own recipe, and when turning it does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.knob import LIMIT, Knob
from memtui.engine.recall.recipes.memtui.signals import ASKS, SIGNALS, Signal, of_stage

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


def _weight(key: str, meaning: str) -> Knob:
    return Knob(f"memtui.{key}", "number", meaning, 0.0, 2.0, 0.01)


def _signal(signal: Signal) -> Knob:
    return Knob(f"memtui.signals.{signal.key}", "number", signal.weighed, -1.0, 1.0, 0.01)


KNOBS = (
    replace(LIMIT, high=100),
    Knob("memtui.profile", "choice", "whose weights are the start", choices=("dialogue", "notes")),
    Knob("memtui.pool", "whole", "candidates of each search", 1, 200, 1),
    _weight("vectorWeight", "of the cosine, stretched over the candidates"),
    _weight("lateWeight", "of how well each word of the question is met"),
    _weight("tokenWeight", "of how well token vectors meet the question, where there are any"),
    Knob("memtui.contextWeight", "number", "of what the memory before meets, same session", step=0.01),
    Knob("memtui.rarity", "number", "how far a rare word of the question counts more", 0.0, 3.0, 0.05),
    _weight("bm25Weight", "of the keyword score, as a share of the best"),
    _weight("identifierWeight", "of identifiers that stand in the text to the letter"),
    _weight("speakerWeight", "for what the named speaker has said"),
    _weight("dateWeight", "for memories of the time that is named"),
    *(_signal(signal) for signal in SIGNALS),
    Knob("memtui.following", "whole", "best ones whose next memory becomes a candidate", 0, 100, 1),
    Knob("memtui.recency", "choice", "whether newer ones gain", choices=("asked", "on", "off")),
    _weight("recencyWeight", "most that the newest gains"),
    Knob("memtui.recencyHalfLifeDays", "number", "days after which half of that is left", 1.0, 365.0, 1.0),
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

_ALONE = "no candidate has another memory of its session beside it"

_NEEDS_STAGE: Mapping[str, tuple[str, str]] = {
    "lateWeight": ("late_interaction", "the bundled model is not at hand: nothing is compared word by word"),
    "tokenWeight": ("token_vectors", "the store has no token vectors: memtui context build makes them"),
    "rarity": ("late_interaction", "the bundled model is not at hand: nothing is compared word by word"),
    "contextWeight": ("neighbours", _ALONE),
    "identifierWeight": ("identifier_ranked", "the question names nothing to be found to the letter"),
    "speakerWeight": ("speaker", "the question names no speaker"),
    "dateWeight": ("date", "the question names no time"),
    "following": ("neighbours", _ALONE),
    **{f"signals.{signal.key}": ("neighbours", _ALONE) for signal in of_stage("neighbours")},
    "recencyWeight": ("recency", "the question does not ask for what is new"),
    "recencyHalfLifeDays": ("recency", "the question does not ask for what is new"),
}
"""Setting to the stage that reads it, and what it means that this stage did not run."""


def idle(trace: Trace, path: str) -> str:
    """Why a setting of the recipe `memtui` does nothing here; empty where it may do something."""
    key = path.removeprefix("memtui.")
    settings: Mapping[str, Any] = trace.config.get("memtui") or {}
    ran = {record.name for record in trace.records}
    if key == "vectorWeight" and trace.mode == "keyword":
        return "this recall asks by words only"
    if key == "bm25Weight" and not trace.pool.bm25:
        return "no candidate shares a word with the question"
    asks = next((record.outcome.params for record in trace.records if record.name == "kind"), {})
    signal = next((each for each in SIGNALS if key == f"signals.{each.key}"), None)
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
