"""Every capture recipe by name: a new one is one line here."""

from __future__ import annotations

from functools import cache

from memtui.engine.capture.recipes.base import CaptureRecipe
from memtui.engine.core.errors import UsageError


@cache
def capture_recipes() -> dict[str, CaptureRecipe]:
    """The recipes by name, in the order to show them."""
    from memtui.engine.capture.recipes import mem_engine, memory_lancedb
    from memtui.engine.capture.recipes.memtui import run as memtui
    from memtui.engine.capture.recipes.pro import run as pro

    listed: tuple[CaptureRecipe, ...] = (
        memtui.RECIPE,
        pro.RECIPE,
        memory_lancedb.RECIPE,
        mem_engine.RECIPE,
    )
    return {recipe.name: recipe for recipe in listed}


def capture_recipe(name: str) -> CaptureRecipe:
    """The recipe of this name. Raises UsageError with the names that there are."""
    known = capture_recipes()
    if name not in known:
        raise UsageError(f"There is no capture recipe {name}.", fix=f"Take one of {', '.join(known)}.")
    return known[name]
