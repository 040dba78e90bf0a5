"""The recipes of memory-lancedb-pro: the same stages for the agent, its tool, the command line, the article."""

from __future__ import annotations

from functools import partial
from typing import Any

from memtui.engine.recall.asker import by_agent, by_whoever
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipe import Recipe
from memtui.engine.recall.recipes.pro.knobs import KNOBS, SEARCH_SPACE, idle
from memtui.engine.recall.recipes.pro.prompt_block import plugin_block
from memtui.engine.recall.recipes.pro.question import min_length_of, skip_rule
from memtui.engine.recall.recipes.pro.run import rerun, resolve, run
from memtui.engine.recall.recipes.pro.stages import ARTICLE_STAGES, PRO_STAGES, StagedRecipe
from memtui.engine.recall.request import RecallRequest


def _gate(request: RecallRequest, context: RecallContext) -> str:
    """The plugin's gate with the length that the host passes."""
    return skip_rule(request.query, min_length_of(context.auto_recall)) or ""


def _article_gate(request: RecallRequest, context: RecallContext) -> str:
    """The article's gate: 15 characters, 6 where the question is Chinese, Japanese or Korean."""
    return skip_rule(request.query) or ""


def _recipe(staged: StagedRecipe, title: str, description: str, **more: Any) -> Recipe:
    return Recipe(
        staged.name,
        title,
        description,
        staged.limit,
        **{
            "run": partial(run, staged),
            "asker": by_whoever,
            "resolve": partial(resolve, staged),
            "prompt_gate": _gate,
            "knobs": KNOBS,
            "idle": idle,
            "block": "retrieval",
            "search_space": SEARCH_SPACE,
            "searches_held_vectors": True,
            "source": staged.source,
            "family": "pro",
            "prompt": "plugin",
            "prompt_block": plugin_block,
            "rerun": rerun,
            "replayable": True,
            **more,
        },
    )


AGENT = StagedRecipe("pro/agent", PRO_STAGES, "auto-recall", 6, decay_on=True, guarded=True)

TOOL = StagedRecipe("pro/tool", PRO_STAGES, "manual", 3, decay_on=True)

CLI = StagedRecipe("pro/cli", PRO_STAGES, "cli", 10, decay_on=False)

ARTICLE = StagedRecipe("pro/article", ARTICLE_STAGES, None, 10, decay_on=False)

PROTOCOL = 1

RECIPES = (
    _recipe(
        AGENT,
        "what is injected automatically",
        "memory-lancedb-pro's auto-recall: hybrid search, lifecycle decay, adaptive gate and governance.",
        asker=by_agent,
        of_agent=True,
        on_purpose=TOOL.name,
    ),
    _recipe(
        TOOL,
        "what the memory_recall tool returns",
        "The agent asks on purpose: keywords expanded, lifecycle decay on, nothing withheld by state.",
        asker=by_agent,
        of_agent=True,
    ),
    _recipe(
        CLI,
        "what the plugin's command line prints",
        "The plugin without its decay engine: recency, importance, time decay. It ranks differently from the agent.",
        asker=partial(by_whoever, who="the command line, for its owner"),
    ),
    _recipe(
        ARTICLE,
        "as the February 2026 article describes it",
        "Fusion as a 15 % bump for keyword hits, plain 60/40 rerank blend, near-duplicates removed.",
        prompt_gate=_article_gate,
    ),
)
