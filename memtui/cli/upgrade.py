"""`memtui upgrade`: rows of the old form get categories, summaries and a tier."""

from __future__ import annotations

import argparse
import os
import sys

from memtui.cli.changing import add_safety_arguments, carry_out, open_to_change
from memtui.cli.progress import shown
from memtui.engine import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui upgrade`."""
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many memories")
    parser.add_argument(
        "--llm", metavar="URL", help="root of a chat service with its /v1, for better summaries"
    )
    parser.add_argument("--llm-model", metavar="NAME", help="the model to ask there")
    parser.add_argument("--llm-key-env", metavar="VAR", help="the variable that holds its key")
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, and unless it is a dry run, write."""
    from memtui.engine.transfer.chat import ChatSettings

    if bool(args.llm) != bool(args.llm_model):
        raise UsageError(
            "A chat service needs an address and a model.", fix="Give both --llm and --llm-model."
        )
    key = os.environ.get(args.llm_key_env, "") if args.llm_key_env else ""
    chat = ChatSettings(args.llm, args.llm_model, key) if args.llm else None
    engine = open_to_change(args)
    with shown(sys.stderr) as on_progress:
        planned = engine.transfer.upgrade(
            chat, limit=args.limit, dry_run=args.dry_run, on_progress=on_progress
        )
    return carry_out(engine, planned, args)
