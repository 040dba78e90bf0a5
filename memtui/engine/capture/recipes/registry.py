"""Every capture recipe by name: our own from a static table, others from extensions when they are named."""

from __future__ import annotations

from functools import cache

from memtui.engine.capture.recipes.base import CaptureModule, CaptureRecipe
from memtui.engine.core.errors import UsageError
from memtui.engine.core.extensions import ExtensionError, extension_named, guarded, load


@cache
def capture_recipes() -> dict[str, CaptureRecipe]:
    """The recipes by name, in the order to show them."""
    from memtui.engine.capture.recipes import mem_engine, memory_lancedb
    from memtui.engine.capture.recipes.memtui import run as memtui
    from memtui.engine.capture.recipes.pro import run as pro

    modules: tuple[CaptureModule, ...] = (memtui, pro, memory_lancedb, mem_engine)
    return {module.RECIPE.name: module.RECIPE for module in modules}


GROUP = "memtui.capture_recipes"


@cache
def _of_extension(name: str) -> CaptureRecipe | None:
    """The capture recipe of the extension with this name; an ExtensionError where it is broken."""
    extension = extension_named(GROUP, name)
    if extension is None:
        return None
    recipe: CaptureRecipe = load(extension, "RECIPE", CaptureRecipe)
    if recipe.name != name:
        raise ExtensionError(f"The {extension} has no capture recipe named {name!r}.")
    return guarded(recipe, extension)


def capture_recipe(name: str) -> CaptureRecipe:
    """The recipe of this name. Raises UsageError with the names that there are."""
    known = capture_recipes()
    recipe = known.get(name) or _of_extension(name)
    if recipe is None:
        raise UsageError(f"There is no capture recipe {name}.", fix=f"Take one of {', '.join(known)}.")
    return recipe
