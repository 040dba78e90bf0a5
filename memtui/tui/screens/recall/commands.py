"""What the palette offers on Recall beside the keys: recipes, and the questions of this session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memtui.engine import one_line
from memtui.tui.dialogs.palette import Entry
from memtui.tui.screens.recall import options

if TYPE_CHECKING:
    from memtui.tui.screens.recall.screen import RecallScreen

QUESTION_CHARS = 60


def entries(screen: RecallScreen) -> list[Entry]:
    """Recipes to switch to, and earlier questions to ask again, newest first."""
    found = [
        Entry(
            "RECIPES",
            f"Recipe: {recipe.name}",
            partial(screen.choose, recipe=recipe.name, limit=None, source=None),
            one_line(recipe.title),
            disabled="the present one" if recipe.name == screen.state.form.recipe else "",
        )
        for recipe in options.recipes_of(screen.session.engine)
    ]
    found += [
        Entry(
            "QUESTIONS", f"Ask: {one_line(query)[:QUESTION_CHARS]}", partial(screen.ask, query), "ask again"
        )
        for query in reversed(screen.state.history)
    ]
    return found
