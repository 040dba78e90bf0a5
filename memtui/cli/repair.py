"""`memtui repair`: what agents cannot find or would misread is mended."""

from __future__ import annotations

import argparse
import sys

from memtui.cli.memory_changes import add_effect_argument, add_safety_arguments, carry_out, open_to_change
from memtui.cli.progress import shown
from memtui.engine import transfer
from memtui.engine.transfer import (
    REPAIRS,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui repair`."""
    listed = "; ".join(f"{name}: {what}" for name, what in REPAIRS.items())
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{listed} (default: all)")
    parser.add_argument("--target-scope", metavar="S", default="global", help="scope of memories without one")
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, and unless it is a dry run, write."""
    engine = open_to_change(args)
    with shown(sys.stderr) as on_progress:
        planned = transfer.plan_repair(
            engine, args.kinds or list(REPAIRS), target_scope=args.target_scope, on_progress=on_progress
        )
    return carry_out(engine, planned, args)
