"""The parameters of one recall as they stood: value, what turning them needs, and which of them do nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.explain import knobs
from memtui.engine.recall.knob import Knob
from memtui.engine.recall.recipes.registry import recipe_named
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.recipe import Resolved
    from memtui.engine.recall.record import Trace


Needs = Literal["nothing", "a search"]

_SEARCHED = (
    "source",
    "retrieval.mode",
    "retrieval.queryExpansion",
    "retrieval.disableNativeCosine",
    "memtui.pool",
    "memoryCore.candidateMultiplier",
    "memEngine.autoRecall.maxItems",
    "memEngine.autoRecall.tierSearchMultiplier",
)
"""Turning these may need another search; the others work on what was found."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting of a recall: its value there, and whether another value could change the answer."""

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
    return recipe_named(trace.recipe).idle(trace, path)


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


def settings(request: RecallRequest, context: RecallContext) -> Resolved:
    """What `request` resolves to over the store's own settings; the question may still be empty.

    Raises UsageError or ConfigError for a recipe, source or setting that does not exist.
    """
    return recipe_named(request.recipe).resolve(request, context)
