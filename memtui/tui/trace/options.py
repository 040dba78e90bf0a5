"""The options of a question as chips, and what each of them can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine import counted, one_line
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.paint.numbers import date
from memtui.tui.screens.recall.state import Form
from memtui.tui.widgets.question_line import OptionChip

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.recall import RecipeInfo


ANY = "\0any"
"""The value of "no filter" in a chooser; no stored name is this."""

NAMES = {
    "recipe": "recipe",
    "limit": "how many",
    "scope": "scopes",
    "category": "category",
    "source": "who asks",
}
"""What the options of the line are called where they are listed one below the other."""

LIMIT_STEPS = (1, 3, 5, 6, 10, 20)

SOURCE_HINTS = {
    "manual": "the memory_recall tool: keywords are expanded",
    "cli": "the command line: keywords are expanded",
    "auto-recall": "before each prompt: keywords as they are",
}


def recipes_of(engine: Engine | None) -> tuple[RecipeInfo, ...]:
    """The engine's recipes; none while no store is open."""
    return engine.recipes() if engine is not None else ()


def recipe_named(recipes: Sequence[RecipeInfo], name: str) -> RecipeInfo | None:
    """The recipe called `name`."""
    return next((recipe for recipe in recipes if recipe.name == name), None)


def chips(
    form: Form, recipe: RecipeInfo | None, own: str = "", searched: Sequence[str] = ()
) -> tuple[OptionChip, ...]:
    """The options in the order of the line; `own` is the one that asks where the form names none.

    It is empty where no agent reads by scopes. `searched` are the scopes that the recipe's own rules made of this
    question, once it is answered.
    """
    own_limit = recipe.limit if recipe else 0
    limit = form.limit if form.limit is not None else own_limit
    own_source = (recipe.source if recipe else None) or "anyone"
    tried = (OptionChip("what-if", "tried", tried_words(form), True),) if form.tried else ()
    return (
        OptionChip("recipe", "recipe", form.recipe or "-"),
        OptionChip("limit", "k", str(limit or "-"), form.limit is not None and form.limit != own_limit),
        OptionChip("scope", *asked_by(form, recipe, own, searched)),
        OptionChip("category", "category", form.category or "any", form.category is not None),
        OptionChip("source", "caller", form.source or own_source, form.source not in (None, own_source)),
        *tried,
    )


def asked_by(
    form: Form, recipe: RecipeInfo | None, own: str, searched: Sequence[str] = ()
) -> tuple[str, str, bool]:
    """Label, value and whether it is chosen: the agent that asks, the scopes that are named, or all of them."""
    if form.scopes is not None:
        return "scopes", ", ".join(form.scopes) or "none", True
    named = form.agent and recipe is not None and not recipe.scope_by_scope and not recipe.own_rows
    if recipe is not None and own and (recipe.of_agent or named) and not form.everyone:
        if form.source is not None:
            return "scope", "all scopes", False
        return "asked by", form.agent or own, bool(form.agent) and form.agent != own
    if recipe is not None and recipe.scope_by_scope:
        return (
            "scope",
            f"{', '.join(map(one_line, searched))}, its policy's" if searched else "its policy's",
            False,
        )
    if recipe is not None and recipe.own_rows:
        return "asked by", form.agent or "main", False
    return "scope", "all scopes", form.everyone and recipe is not None and recipe.of_agent


def own_agent(engine: Engine | None) -> str:
    """The agent that asks where a form names none; empty where the store's rules are not by scopes."""
    if engine is None or engine.store.dialect.can.visibility not in ("scopes", "policy"):
        return ""
    return engine.agents[0]


def unfiltered_words(recipe: RecipeInfo | None) -> str:
    """What is searched where nobody names a scope or an agent, as a row of the chooser."""
    return recipe.unfiltered if recipe is not None else "all scopes, no filter"


def tried_words(form: Form) -> str:
    """What is tried beside the options of the line: the clock, the version, how many settings."""
    given = dict(form.tried)
    settings = [path for path in given if "." in path]
    words = []
    if given.get("now_ms") is not None:
        words.append(f"as of {date(given['now_ms'])[:10]}")
    if given.get("table_version") is not None:
        words.append(f"v{given['table_version']}")
    if given.get("query_vector") is not None:
        words.append("a given vector")
    if settings:
        words.append(counted(len(settings), "setting"))
    return ", ".join(words)


def recipe_options(recipes: Sequence[RecipeInfo]) -> list[Option]:
    """Every recipe with what it stands for."""
    return [Option(r.name, r.name, r.title, str(i)) for i, r in enumerate(recipes, 1)]


def limit_options(recipe: RecipeInfo | None) -> list[Option]:
    """A few numbers of results, the recipe's own first."""
    own = recipe.limit if recipe else 0
    first = [Option("", f"{own}", "the recipe's own")] if own else []
    return [*first, *(Option(str(n), str(n)) for n in LIMIT_STEPS if n != own)]


def category_options(categories: Sequence[tuple[str | None, int]]) -> list[Option]:
    """No filter, then the stored categories with their counts."""
    known = [(name, count) for name, count in categories if name]
    return [
        Option(ANY, "any category"),
        *(Option(name, one_line(name), f"{count:,}") for name, count in known),
    ]


def source_options(recipe: RecipeInfo | None) -> list[Option]:
    """Who may ask, the recipe's own caller first."""
    own = (recipe.source if recipe else None) or "anyone"
    rest = [Option(name, name, hint) for name, hint in SOURCE_HINTS.items() if name != own]
    return [Option("", own, "as the recipe has it"), *rest]
