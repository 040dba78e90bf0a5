"""Every recipe, by its name: our own from a static table, others from extensions when they are named."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.core.extensions import ExtensionError, extension_named, guarded, load

if TYPE_CHECKING:
    from memtui.engine.recall.recipe import PromptBlockMaker, Recipe

MODULES: Mapping[str, tuple[str, ...]] = {
    "pro.recipe": ("pro/agent", "pro/tool", "pro/cli", "pro/article"),
    "memory_lancedb": ("memory-lancedb",),
    "memory_core.host_index": ("memory-core",),
    "mem_engine.recipe": ("mem-engine",),
    "memtui.recipe": ("memtui",),
    "crewai.recipe": ("crewai",),
    "hermes.recipe": ("hermes",),
}
"""The modules of this package with the names of their `RECIPES`, in the order to show them: only the one that is asked
for is loaded, since a hook asks before each prompt."""


@cache
def _of_module(module: str) -> dict[str, Recipe]:
    recipes: tuple[Recipe, ...] = import_module(f"memtui.engine.recall.recipes.{module}").RECIPES
    return {recipe.name: recipe for recipe in recipes}


def recipe_named(name: str) -> Recipe:
    """Return the recipe called `name`; raise UsageError with the known names otherwise."""
    module = next((module for module, names in MODULES.items() if name in names), None)
    recipe = _of_extension(name) if module is None else _of_module(module)[name]
    if recipe is None:
        known = ", ".join(name for names in MODULES.values() for name in names)
        raise UsageError(f"There is no recipe {name!r}.", fix=f"Known recipes: {known}.")
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
    return tuple(recipe for module in MODULES for recipe in _of_module(module).values())
