"""What the agent would see: the block that auto-recall puts before a prompt, and what was cut from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.recall.prompt_block import BlockPart, PromptBlock, nothing_injected
from memtui.engine.recall.prompt_lines import PromptBlockSettings, settings_of
from memtui.engine.recall.recipes.registry import prompt_block_of, recipe_named

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


def injected(
    trace: Trace,
    settings: PromptBlockSettings | None = None,
    *,
    turns_since: Mapping[str, int] | None = None,
) -> PromptBlock:
    """The block for a recall by the plugin, the built-in program or mem-engine (spec/retrieval 6, steps 6 to 11).

    `turns_since`: for memories injected earlier in the session, how many turns ago. Raises UsageError for a trace
    read from a file and for recipes that inject in another way.
    """
    if settings is None and not turns_since:
        if "prompt" not in trace.kept:
            trace.kept["prompt"] = _injected(trace, settings_of(trace.auto_recall), {})
        found: PromptBlock = trace.kept["prompt"]
        return found
    return _injected(trace, settings or settings_of(trace.auto_recall), turns_since or {})


def reaches_prompt(trace: Trace) -> bool:
    """Whether this recall is one whose answer goes into a prompt by itself, and under its caller's guards.

    The built-in program's hook takes the first of what its tool finds; mem-engine's hook is a recall of its own.
    """
    if trace.failure is not None:
        return False
    form = recipe_named(trace.recipe).prompt
    if form in ("its own", "prefetched"):
        return trace.extra.get("injected" if form == "its own" else form) is not None
    return form == "built in" or (trace.plan is not None and trace.plan.guarded)


def prompt_gates(trace: Trace) -> tuple[str, ...]:
    """The gates between the answer of this recall and the prompt, in order; none where it fills no prompt."""
    if not reaches_prompt(trace):
        return ()
    return recipe_named(trace.recipe).prompt_gates


def _injected(trace: Trace, settings: PromptBlockSettings, turns_since: Mapping[str, int]) -> PromptBlock:
    if trace.failure is not None:
        return nothing_injected((), f"{trace.failure.words}. {trace.failure.reason}")
    form = recipe_named(trace.recipe).prompt
    if trace.gate and (form != "its own" or trace.source == "auto-recall"):
        return _skipped(trace)
    make = prompt_block_of(trace.recipe)
    if make is None or (form in ("plugin", "built in") and trace.plan is None):
        raise UsageError(
            f"What {trace.recipe} injects is not known here.", fix="Ask with pro/agent or memory-lancedb."
        )
    return make(trace, settings, turns_since)


def _skipped(trace: Trace) -> PromptBlock:
    """Nothing: the recipe's gate looks nothing up for this text, whatever a question on purpose found."""
    why = skipped_words(trace.gate)
    texts = {row.id: row.text for row in trace.pool.rows}
    return nothing_injected(
        [BlockPart(key, "", texts[key], why, "prompt_gate") for key in trace.returned], why
    )


def skipped_words(rule: str) -> str:
    """Why nothing goes before a prompt that a gate's rule skips."""
    return f"the gate skips this prompt ({rule.replace('_', ' ')})"
