"""A recipe is found by its name without loading the others; the table of names says what the modules hold."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from memtui.engine import UsageError
from memtui.engine.recall.recipes.registry import MODULES, all_recipes, recipe_named


def test_the_table_names_what_every_module_offers() -> None:
    for module, names in MODULES.items():
        recipes = import_module(f"memtui.engine.recall.recipes.{module}").RECIPES
        assert tuple(recipe.name for recipe in recipes) == names
    assert [recipe.name for recipe in all_recipes()] == [name for names in MODULES.values() for name in names]
    assert all(recipe_named(recipe.name) is recipe for recipe in all_recipes())


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no recipe 'nobody'") as refused:
        recipe_named("nobody")
    assert all(name in str(refused.value.fix) for names in MODULES.values() for name in names)


def test_one_recipe_loads_no_other() -> None:
    code = (
        "import sys\n"
        "from memtui.engine.recall import recipe_named\n"
        "recipe_named('memtui')\n"
        "parts = ('crewai', 'hermes', 'mem_engine', 'memory_core')\n"
        "print([m for m in sys.modules if any(f'recipes.{part}.' in m for part in parts)])\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
