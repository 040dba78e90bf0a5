"""`memtui reflect`: a reflection on a conversation, written by a language model, as rows and files."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from memtui.cli.capture import FORMATS, add_model_arguments, asking, read_source
from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.cli.output import print_text
from memtui.engine.changes import (
    edits_of,
)
from memtui.engine.discovery import (
    read_config,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui reflect`."""
    parser.add_argument("source", metavar="FILE", help="a conversation, - for standard input")
    parser.add_argument(
        "--format", choices=FORMATS, default="auto", help="format of the source (default: auto-detect)"
    )
    parser.add_argument("--agent", default="main", metavar="A", help="the agent of the conversation")
    parser.add_argument("--config", metavar="FILE", help="JSON or JSON5 with a memoryReflection block")
    parser.add_argument(
        "--workspace", metavar="DIR", help="folder for the report and the day's note (default: none)"
    )
    add_model_arguments(parser)
    add_safety_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Reflect, after a look at what it would write."""
    from memtui.engine.capture import (
        plan_reflection,
    )

    conversation = read_source(args.source, args.format)[0]
    engine = open_to_change(args)
    messages = conversation.messages
    with (
        asking(args, engine, "pro", texts=messages) as chat,
        TemporaryDirectory(prefix="memtui-reflect-") as nowhere,
    ):
        if chat is None and args.dry_run and args.llm is not None:
            return 0  # what would be sent is said
        planned = plan_reflection(
            engine.capture_context(chat),
            conversation.messages,
            Path(args.workspace or nowhere),
            agent=args.agent,
            session=conversation.session,
            config=read_config(args.config),
        )
        if not args.json:
            print_text(planned.report + "\n")
        change_set = planned.change_set
        if args.workspace:
            change_set = replace(change_set, files=edits_of(planned.files.changed))
        return carry_out(engine, change_set, args)
