"""Every recipe, by its name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.base import Recipe

MODULES = (
    "pro.recipe",
    "memory_lancedb",
    "memory_core.host_index",
    "mem_engine.recipe",
    "memtui.recipe",
    "crewai.recipe",
    "hermes.recipe",
)
"""The modules of this package whose `RECIPES` are offered, in the order to show them."""


@cache
def _by_name() -> dict[str, Recipe]:
    found = (import_module(f"memtui.engine.recall.recipes.{module}").RECIPES for module in MODULES)
    return {recipe.name: recipe for recipes in found for recipe in recipes}


def recipe_named(name: str) -> Recipe:
    """Return the recipe called `name`; raise UsageError with the known names otherwise."""
    known = _by_name()
    if name not in known:
        raise UsageError(f"There is no recipe {name!r}.", fix=f"Known recipes: {', '.join(known)}.")
    return known[name]


def all_recipes() -> tuple[Recipe, ...]:
    """Every recipe, in the order to show them."""
    return tuple(_by_name().values())
