"""What can be turned of the plugin's recipes, and when turning it does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.knob import LIMIT, SOURCE, Knob, days, share

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


RETRIEVAL = (
    Knob(
        "retrieval.mode",
        "choice",
        "hybrid asks both lanes, vector only the first",
        choices=("hybrid", "vector"),
    ),
    Knob("retrieval.candidatePoolSize", "whole", "hits wanted of each lane; each stops at 20", 1, 20, 1),
    Knob("retrieval.queryExpansion", "switch", "synonyms for the keyword lane, for manual and cli only"),
    Knob("retrieval.disableNativeCosine", "switch", "scan every row instead of asking the index"),
    share("retrieval.vectorWeight", "share of the vector score"),
    share("retrieval.bm25Weight", "share of the keyword score; a keyword hit alone counts whole"),
    share("retrieval.minScore", "a fused score below this is dropped"),
    Knob(
        "retrieval.rerank",
        "choice",
        "cross-encoder asks a service, lightweight blends the cosine",
        choices=("cross-encoder", "lightweight", "none"),
    ),
    share("retrieval.recencyWeight", "most that a fresh memory gains", 0.5),
    days("retrieval.recencyHalfLifeDays", "days after which .37 of that gain is left"),
    Knob("retrieval.lengthNormAnchor", "whole", "characters up to which length costs nothing", 0, 5000, 10),
    days("retrieval.timeDecayHalfLifeDays", "days after which .37 of the losable half is left"),
    Knob("retrieval.reinforcementFactor", "number", "how much use stretches that time", 0, 2, 0.01),
    Knob("retrieval.maxHalfLifeMultiplier", "number", "and at most by this", 1, 10, 0.1),
    share("retrieval.hardMinScore", "a final score below this is dropped"),
    Knob(
        "retrieval.filterNoise", "switch", "drop greetings, refusals and boilerplate, recognised by phrases"
    ),
)

DECAY = (
    days("decay.recencyHalfLifeDays", "half-life in days at importance 0", 1.0),
    share("decay.recencyWeight", "share of recency in the composite"),
    share("decay.frequencyWeight", "share of use in the composite"),
    share("decay.intrinsicWeight", "share of importance and confidence in the composite"),
    share("decay.searchBoostMin", "the least that decay leaves of a score"),
    Knob("decay.importanceModulation", "number", "how much importance stretches the half-life", 0, 10, 0.01),
    Knob("decay.betaCore", "number", "shape of the curve for core memories", 0.1, 5, 0.01),
    Knob("decay.betaWorking", "number", "shape of the curve for working ones", 0.1, 5, 0.01),
    Knob("decay.betaPeripheral", "number", "shape of the curve for peripheral ones", 0.1, 5, 0.01),
    share("decay.coreDecayFloor", "a core memory never counts as less"),
    share("decay.workingDecayFloor", "a working one never counts as less"),
    share("decay.peripheralDecayFloor", "a peripheral one never counts as less"),
    share("decay.staleThreshold", "a composite below this is called stale"),
)

KNOBS = (LIMIT, SOURCE, *RETRIEVAL, *DECAY)

SEARCH_SPACE: Mapping[str, tuple[Any, ...]] = {
    "vectorWeight": (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "bm25Weight": (0.1, 0.2, 0.3, 0.4, 0.5, 0.7),
    "hardMinScore": (0.0, 0.2, 0.3, 0.35, 0.4, 0.5),
    "minScore": (0.0, 0.2, 0.3, 0.4, 0.5),
    "rerank": ("lightweight", "none"),
    "lengthNormAnchor": (0, 300, 500, 800, 1500),
    "filterNoise": (True, False),
    "candidatePoolSize": (10, 20),
}
"""What is tried of the plugin's recipes, in its own names and within its schema's ranges."""

_CLI_ONLY = (
    "recencyWeight",
    "recencyHalfLifeDays",
    "timeDecayHalfLifeDays",
    "reinforcementFactor",
    "maxHalfLifeMultiplier",
)

_TIER_OF = {
    "betaCore": "core",
    "coreDecayFloor": "core",
    "betaWorking": "working",
    "workingDecayFloor": "working",
    "betaPeripheral": "peripheral",
    "peripheralDecayFloor": "peripheral",
}

_BOTH_LANES = ("vectorWeight", "bm25Weight", "rerank")


def idle(trace: Trace, path: str) -> str:
    """Why turning `path` cannot change this recall; empty where it can."""
    block, _, key = path.partition(".")
    config = trace.config.get("retrieval") or {}
    if block == "decay":
        if trace.config.get("decay") is None:
            return "this caller runs without a decay engine"
        return "no recall reads it" if key == "staleThreshold" else _tier_knob(trace, key)
    if block != "retrieval":
        return ""
    if key in _CLI_ONLY:
        return _age_knob(trace, config, key)
    if trace.mode in ("vector", "tag") and key in _BOTH_LANES:
        return f"a recall by {trace.mode} has one lane: nothing is fused or reranked"
    if trace.mode == "keyword" and key in ("vectorWeight", "bm25Weight"):
        return "this recall has one lane: a keyword hit counts whole, not weighted"
    if key == "minScore" and trace.mode == "tag":
        return "a recall by tag has no minimum score"
    if key == "minScore" and trace.mode == "vector" and config["minScore"] <= 1 / 3:
        return "up to .333 it rejects nothing: 1 / (1 + distance) is never lower"
    if key == "queryExpansion" and trace.source not in ("manual", "cli"):
        return "questions are expanded for manual and cli only"
    if key == "candidatePoolSize" and 2 * trace.limit >= 20:
        return "twice the limit is 20 already, and the store clamps the pool at 20"
    if key == "disableNativeCosine" and trace.mode in ("tag", "keyword"):
        return "this recall uses keyword search only"
    return ""


def _tier_knob(trace: Trace, key: str) -> str:
    """A knob of one tier is idle where no candidate is of that tier."""
    tier = _TIER_OF.get(key)
    if tier is None or any(row.metadata.tier == tier for row in trace.pool.rows):
        return ""
    return f"no candidate of this recall is {tier}"


def _age_knob(trace: Trace, config: dict[str, Any], key: str) -> str:
    if trace.config.get("decay") is not None:
        return "agents never read it, only the command line does, which has no decay engine"
    if key == "recencyHalfLifeDays" and not config["recencyWeight"]:
        return "recencyWeight is 0"
    if key == "recencyWeight" and not config["recencyHalfLifeDays"]:
        return "recencyHalfLifeDays is 0"
    if key in ("reinforcementFactor", "maxHalfLifeMultiplier") and not config["timeDecayHalfLifeDays"]:
        return "timeDecayHalfLifeDays is 0"
    return ""
