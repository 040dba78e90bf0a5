"""`memtui inject`: the block of memories that goes before a prompt, for a question as an agent."""

from __future__ import annotations

import argparse
import sys

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.engine import RecallRequest, Trace, UsageError, explain
from memtui.engine.discovery import (
    read_config,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui inject`."""
    parser.add_argument("question", metavar="QUESTION", help="what the agent is asked")
    parser.add_argument(
        "--as", dest="agent", default="main", metavar="AGENT", help="who answers it (default: main)"
    )
    parser.add_argument("--recipe", metavar="R", help="how it recalls (default: as the store's own program)")
    parser.add_argument(
        "--pack",
        type=int,
        metavar="TOKENS",
        help="a context pack of at most so many tokens instead: items with citations, what is left out and why",
    )
    parser.add_argument("--config", metavar="FILE", help="the plugin's own block: retrieval, decay")


def run(args: argparse.Namespace) -> int:
    """Ask, and print the block alone: nothing where nothing is injected, and why on standard error."""
    engine = open_for(args)
    from memtui.engine.recall import UNSET, recipe_named

    recipe = recipe_named(args.recipe or engine.default_recipe)
    trace = engine.recall(
        RecallRequest(
            args.question,
            recipe=recipe.name,
            config=read_config(args.config),
            agent=args.agent,
            source=recipe.hook or UNSET,
        )
    )
    if args.pack is not None:
        return _packed(trace, args.pack, engine.now_ms)
    block = explain.injected(trace)
    if args.json:
        print_json(
            {
                "question": args.question,
                "agent": args.agent,
                "recipe": trace.recipe,
                "block": block.block,
                "ids": [part.id for part in block.parts if part.line],
                "left_out": [
                    {"id": part.id, "why": part.left_out, "gate": part.gate}
                    for part in block.parts
                    if not part.line
                ],
                "chars": block.chars,
                "budget": block.budget,
                "tokens": block.tokens,
                "why_nothing": block.why_nothing,
                "note": block.note,
            }
        )
        return 0
    if block.block:
        print_text(block.block, reveal=True)  # what the agent gets, to the letter
    else:
        sys.stderr.write(f"nothing is injected: {block.why_nothing}\n")
    return 0


def _packed(trace: Trace, budget: int, now_ms: int) -> int:
    from memtui.engine.documents import pack_context, pack_json

    if budget < 1:
        raise UsageError(f"--pack {budget} is no budget.", fix="Give a number of tokens, such as 1200.")
    print_json(pack_json(pack_context(trace, now_ms=now_ms, budget_tokens=budget)))
    return 0
