"""The parameters of one recall as they stood: value, what turning them needs, and which of them do nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.explain import knobs
from memtui.engine.explain.knobs import Knob
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.pro.run import RecallContext
    from memtui.engine.recall.record import Trace


# Parameters of memtui's own recipe and of mem-engine that cannot change a recall, and why.

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


Needs = Literal["nothing", "a search"]

_SEARCHED = (
    "source",
    "retrieval.mode",
    "retrieval.queryExpansion",
    "retrieval.disableNativeCosine",
    "memtui.pool",
    "memEngine.autoRecall.maxItems",
    "memEngine.autoRecall.tierSearchMultiplier",
)
"""Turning these may need another search; the others work on what was found."""

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


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob in one recall."""

    knob: Knob
    value: Any
    needs: Needs
    inert: str = ""
    """Why turning it does nothing here; empty where it may do something."""
    findings: tuple[str, ...] = ()
    """What a person should know about its value: no effect, rejects nothing, falls back silently."""


def parameters(trace: Trace) -> tuple[Parameter, ...]:
    """Every parameter of the recipe that made `trace`, in the order of the stages that read them."""
    request = trace.request or RecallRequest(trace.query, recipe=trace.recipe)
    return tuple(
        Parameter(
            knob,
            knobs.value_of(request, trace.config, trace.limit, trace.source, knob.path),
            "a search" if knob.path in _SEARCHED else "nothing",
            inert(trace, knob.path),
            _findings(trace, knob.path),
        )
        for knob in knobs.knobs_of(trace.recipe)
        if not (knob.path.startswith("decay.") and trace.config.get("decay") is None)
    )


def inert(trace: Trace, path: str) -> str:
    """Why turning `path` cannot change this recall; empty where it can."""
    if trace.recipe == "memtui":
        return idle_own(trace, path)
    if trace.recipe == "mem-engine":
        return idle_engine(trace, path)
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
        return "this recall asks by words only"
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


def _findings(trace: Trace, path: str) -> tuple[str, ...]:
    told = [finding for finding in trace.findings if re.search(rf"{re.escape(path)}\b", finding)]
    if path == "retrieval.rerank":
        told += [warning for warning in trace.warnings if warning.startswith("rerank: ")]
    return (*told, *_rejects_nothing(trace, path))


def _rejects_nothing(trace: Trace, path: str) -> tuple[str, ...]:
    """A threshold that stopped no candidate of this recall."""
    gate = {
        "retrieval.minScore": "min_score",
        "retrieval.hardMinScore": "hard_cutoff",
        "memtui.minScore": "min_score",
    }.get(path)
    if gate is None or not trace.records:
        return ()
    stopped = any(drop.reason == gate for record in trace.records for drop in record.outcome.dropped.values())
    return () if stopped else ("it rejects nothing here",)


# The settings that a question would be asked with, before it is asked.

Resolved = tuple[Mapping[str, Any], tuple[str, ...]]
"""The configuration as resolved, secrets masked; and what a person should know of it."""

ANY_QUESTION = "?"


def settings(request: RecallRequest, bench: RecallContext) -> Resolved:
    """What `request` resolves to over the store's own settings; the question may still be empty.

    Raises UsageError or ConfigError for a recipe, source or setting that does not exist.
    """
    if request.recipe == "memtui":
        from memtui.engine.recall.recipes.memtui.settings import BLOCK, resolve_own

        own, findings = resolve_own(request.config, bundled=bench.bundled, question=request.query)
        return {BLOCK: own.as_block()}, findings
    if request.recipe == "mem-engine":
        from memtui.engine.recall.recipes.mem_engine.settings import BLOCK as ENGINE
        from memtui.engine.recall.recipes.mem_engine.settings import resolve_engine

        rules, findings = resolve_engine(request.config)
        return {ENGINE: rules.as_block()}, findings
    plan = bench.plan(request if request.query.strip() else replace(request, query=ANY_QUESTION))
    return plan.config_block(), plan.findings()
