"""`memtui dream`: one sweep of memory-lancedb-pro's dreaming, as a change that can be taken back."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.engine.discovery import (
    read_config,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui dream`."""
    parser.add_argument("--config", metavar="FILE", help="JSON or JSON5 with a dreaming block")
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Sweep, after a look at what it would do."""
    from memtui.engine.capture import (
        plan_dream,
    )

    engine = open_to_change(args)
    block = (read_config(args.config) or {}).get("dreaming")
    return carry_out(engine, plan_dream(engine.capture_context(), block).change_set, args)
