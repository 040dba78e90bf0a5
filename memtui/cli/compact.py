"""`memtui compact`: old memories that say nearly the same become one."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.cli.output import warning
from memtui.engine.discovery import (
    read_config,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui compact`."""
    parser.add_argument("--config", metavar="FILE", help="JSON or JSON5 with a memoryCompaction block")
    parser.add_argument(
        "--as-plugin",
        action="store_true",
        help="work as memory-lancedb-pro does: across scopes and categories, reviving history",
    )
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Merge, after a look at what it would do."""
    from memtui.engine.capture import (
        plan_compaction,
    )

    engine = open_to_change(args)
    block = (read_config(args.config) or {}).get("memoryCompaction")
    planned = plan_compaction(engine.capture_context(), block, sound=not args.as_plugin)
    if args.dry_run and not args.as_plugin:
        for note in plan_compaction(engine.capture_context(), block, sound=False).change_set.warnings:
            warning(f"the plugin's own would do more: {note}")
    return carry_out(engine, planned.change_set, args)
