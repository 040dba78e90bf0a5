"""The recipes that are programs of their own, not lists of the plugin's stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.recall.recipes.pro.recipe import _ALL, Recipe

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.recall.io_cache import IoCache
    from memtui.engine.recall.recipes.pro.run import RecallContext
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.trace import StageSummary

    OnStage = Callable[[StageSummary], None] | None
    Runner = Callable[[RecallRequest, RecallContext, IoCache, OnStage, CancelToken | None], Trace]


def _memtui(
    request: RecallRequest,
    bench: RecallContext,
    outside: IoCache,
    on_stage: OnStage,
    cancel: CancelToken | None,
) -> Trace:
    from memtui.engine.recall.recipes.memtui.recipe import recall_own

    return recall_own(
        request,
        outside,
        now_ms=bench.now_ms,
        bundled_vectors=bench.bundled,
        on_stage=on_stage,
        cancel=cancel,
    )


def _mem_engine(
    request: RecallRequest,
    bench: RecallContext,
    outside: IoCache,
    on_stage: OnStage,
    cancel: CancelToken | None,
) -> Trace:
    from memtui.engine.recall.recipes.mem_engine.recipe import recall_engine

    return recall_engine(request, outside, now_ms=bench.now_ms, on_stage=on_stage, cancel=cancel)


RUNNERS: dict[str, Runner] = {"memtui": _memtui, "mem-engine": _mem_engine}
"""Recipe to the function that answers with it."""


# The recipes: named, ordered lists of stages. A new recipe is a new list.


def recipe_named(name: str) -> Recipe:
    """The recipe called `name`; UsageError with the known names otherwise."""
    if name not in _ALL:
        raise UsageError(f"There is no recipe {name!r}.", fix=f"Known recipes: {', '.join(_ALL)}.")
    return _ALL[name]


def all_recipes() -> tuple[Recipe, ...]:
    """Every recipe, in the order to show them."""
    return tuple(_ALL.values())
