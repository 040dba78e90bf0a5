"""Every recipe, by its name: our own from a static table, others from extensions when they are named."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.core.extensions import ExtensionError, extension_named, guarded, load

if TYPE_CHECKING:
    from memtui.engine.recall.recipe import PromptBlockMaker, Recipe

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
    recipe = known.get(name) or _of_extension(name)
    if recipe is None:
        raise UsageError(f"There is no recipe {name!r}.", fix=f"Known recipes: {', '.join(known)}.")
    return recipe


GROUP = "memtui.recipes"


@cache
def _of_extension(name: str) -> Recipe | None:
    """The recipe of the extension with this name; an ExtensionError where it is broken or its recipe is another."""
    from memtui.engine.recall.recipe import Recipe

    extension = extension_named(GROUP, name)
    if extension is None:
        return None
    offered: tuple[Recipe, ...] = load(extension, "RECIPES", Recipe)
    recipe = next((recipe for recipe in offered if recipe.name == name), None)
    if recipe is None:
        raise ExtensionError(f"The {extension} has no recipe named {name!r}.")
    return guarded(recipe, extension)


def prompt_block_of(name: str) -> PromptBlockMaker | None:
    """Who makes the block of a recipe; one that names a form and brings no maker has ours of that form."""
    recipe = recipe_named(name)
    if recipe.prompt_block is not None or not recipe.prompt:
        return recipe.prompt_block
    return next((ours.prompt_block for ours in all_recipes() if ours.prompt == recipe.prompt), None)


def all_recipes() -> tuple[Recipe, ...]:
    """Every recipe of our own, in the order to show them."""
    return tuple(_by_name().values())
