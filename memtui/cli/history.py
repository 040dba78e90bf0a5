"""`memtui history`: the questions that were asked in the app, searched, asked again, forgotten."""

from __future__ import annotations

import argparse

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, tell_wait
from memtui.cli.show import moment
from memtui.engine import UsageError, explain
from memtui.engine.explain import History
from memtui.paths import questions_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui history`."""
    parser.add_argument(
        "words", nargs="*", metavar="WORDS", help="only questions that hold every one of these"
    )
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="number of rows (default 50)")
    parser.add_argument(
        "--again", type=int, metavar="NUMBER", help="ask this question again, with the same settings"
    )
    parser.add_argument("--forget", type=int, metavar="NUMBER", help="delete this question from the history")
    parser.add_argument("--forget-all", action="store_true", help="clear the history of this store")


def run(args: argparse.Namespace) -> int:
    """List, ask again or forget."""
    engine = open_for(args)
    history = History(questions_file())
    own = history.search(" ".join(args.words), store=engine.info.uri, limit=max(1, args.limit))
    if args.forget is not None or args.forget_all:
        every = history.search(store=engine.info.uri, limit=1_000_000)
        chosen = [each for each in every if args.forget_all or each.number == args.forget]
        if not chosen and not args.forget_all:
            raise UsageError(f"There is no question {args.forget} of this store.", fix="See: memtui history.")
        gone = sum(history.forget(each.number) for each in chosen)
        if args.json:
            print_json({"forgotten": gone})
        else:
            print_text(f"{gone} forgotten")
        return 0
    if args.again is not None:
        from memtui.cli.recall import render

        every = history.search(store=engine.info.uri, limit=1_000_000)
        question = next((each for each in every if each.number == args.again), None)
        if question is None:
            raise UsageError(f"There is no question {args.again} of this store.", fix="See: memtui history.")
        trace = engine.recall(explain.again(question, history), tell_wait)
        if args.json:
            print_json(trace.as_json(explain=False))
        else:
            print_text(render(engine, trace, whole=False))
        return 0
    if args.json:
        print_json(
            {
                "questions": [
                    {
                        "number": each.number,
                        "asked_ms": each.asked_ms,
                        "query": each.query,
                        "recipe": each.recipe,
                        "returned": list(each.returned),
                        "model": each.model,
                        "request": dict(each.request),
                    }
                    for each in own
                ]
            }
        )
    elif own:
        rows = [(e.number, moment(e.asked_ms), e.recipe, len(e.returned), e.query) for e in own]
        print_table(rows, ("number", "asked", "recipe", "came back", "question"), right_aligned=(0, 3))
    else:
        print_text(
            "No question of this store is kept that holds these words."
            if args.words
            else "Nothing was asked yet."
        )
    return 0
