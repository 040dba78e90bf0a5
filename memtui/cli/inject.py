"""`memtui inject`: the block of memories that goes before a prompt, for a question as an agent."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text, tell_wait
from memtui.engine import RecallRequest, Trace, UsageError, explain
from memtui.engine.access import scope_of
from memtui.engine.discovery import (
    read_config,
)

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.explain import PromptBlock

PACK_POOL = 24
"""Results that a pack of eight items chooses from."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui inject`."""
    parser.add_argument("question", metavar="QUESTION", help="the prompt")
    parser.add_argument(
        "--as", dest="agent", default="main", metavar="AGENT", help="the agent that answers (default: main)"
    )
    parser.add_argument("--recipe", metavar="R", help="the recipe (default: that of the store's own program)")
    parser.add_argument(
        "--pack",
        type=int,
        metavar="TOKENS",
        help="print a context pack of at most N tokens instead: items with citations, what is left out and why",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="the plugin's own block: retrieval, decay, docsColdLane"
    )
    parser.add_argument(
        "--by-score",
        action="store_true",
        help="with --pack: order by importance, age, use and state as well as by the recall",
    )
    parser.add_argument(
        "--session",
        metavar="KEY",
        help="the session: memories of its last prompts are not repeated, and this turn is recorded",
    )
    parser.add_argument(
        "--count", action="store_true", help="with --session: count the use in the store, as the plugin does"
    )
    parser.add_argument(
        "--stable",
        action="store_true",
        help="with --session: unchanged memories keep the order of the last block, for the prompt cache",
    )


def run(args: argparse.Namespace) -> int:
    """Ask, and print the block alone: nothing where nothing is injected, and why on standard error."""
    if args.count and not args.session:
        raise UsageError("--count counts the turns of a session.", fix="Name it with --session KEY.")
    if args.stable and not args.session:
        raise UsageError("--stable keeps the order of a session's blocks.", fix="Name it with --session KEY.")
    engine = open_for(args, writable=args.count)
    from memtui.engine.documents import consult
    from memtui.engine.recall import UNSET, recipe_named

    recipe = recipe_named(args.recipe or engine.default_recipe)
    config = read_config(args.config)
    trace = engine.recall(
        RecallRequest(
            args.question,
            recipe=recipe.name,
            config=config,
            agent=args.agent,
            source=recipe.hook or UNSET,
            before_prompt=True,
            own_words=True,
            limit=PACK_POOL if args.pack is not None else None,
        ),
        tell_wait,
    )
    if args.pack is not None:
        if trace.gate:
            sys.stderr.write(f"nothing is packed: {explain.injected(trace).why_nothing}\n")
        return _packed(trace, args, engine.now_ms)
    turn = None
    if args.session:
        from memtui.engine.capture import note_block, session_block

        made = session_block(engine, trace, args.session)
        turn = note_block(engine, made, args.agent, args.session, ids=made.ids, count=args.count)
    block = turn.block if turn is not None else explain.injected(trace)
    documents = consult(engine, trace, home=scope_of("agent", args.agent), config=config, veiled=True)
    text, ids = block.block, [part.id for part in block.parts if part.line]
    if args.stable:
        text, ids = _in_order(engine, block, args.session)
    whole = "\n".join(each for each in (text, documents.block if documents else "") if each)
    if args.json:
        print_json(
            {
                "question": args.question,
                "agent": args.agent,
                "recipe": trace.recipe,
                "block": whole,
                "ids": ids,
                "left_out": [
                    {"id": part.id, "why": part.left_out, "gate": part.gate}
                    for part in block.parts
                    if not part.line
                ],
                "chars": block.chars,
                "budget": block.budget,
                "tokens": block.tokens,
                "why_nothing": block.why_nothing,
                "gate": trace.gate or None,
                "note": block.note,
                "session": None
                if turn is None
                else {"key": args.session, "turn": turn.turn, "counted": turn.counted},
                "documents": None if documents is None else documents.as_json(),
            }
        )
        return 0
    if whole:
        print_text(whole, reveal=True)  # what the agent gets, to the letter
    else:
        sys.stderr.write(f"nothing is injected: {block.why_nothing}\n")
    if documents is not None and documents.starved:
        sys.stderr.write(f"documents: {documents.starved}\n")
    return 0


def _in_order(engine: Engine, block: PromptBlock, session: str) -> tuple[str, list[str]]:
    """(the block in the order of the session's last one, its ids), which is kept for the next turn."""
    from memtui.engine.capture import drop_old_orders, keep_order, kept_order, order_parts

    place = engine.state_place
    if place is None:
        return block.block, [part.id for part in block.parts if part.line]
    drop_old_orders(place)
    made = order_parts(block, kept_order(place, session))
    if made.ids:
        keep_order(place, session, made.ids)
    return made.text, list(made.ids)


def _packed(trace: Trace, args: argparse.Namespace, now_ms: int) -> int:
    from memtui.engine.documents import pack_context, pack_json

    if args.pack < 1:
        raise UsageError(f"--pack {args.pack} is no budget.", fix="Give a number of tokens, such as 1200.")
    made = pack_context(trace, now_ms=now_ms, budget_tokens=args.pack, by_score=args.by_score)
    print_json(pack_json(made), reveal=True)  # what the agent gets, to the letter
    return 0
