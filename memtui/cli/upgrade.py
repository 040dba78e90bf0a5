"""`memtui upgrade`: rows of the old form get categories, summaries and a tier."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from memtui.cli.memory_changes import add_effect_argument, add_safety_arguments, carry_out, open_to_change
from memtui.cli.progress import shown
from memtui.engine import UsageError, transfer
from memtui.paths import settings_file
from memtui.settings import load_settings

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        ChatSettings,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui upgrade`."""
    parser.add_argument("--limit", type=int, metavar="N", help="maximum number of memories")
    parser.add_argument(
        "--llm",
        metavar="URL",
        nargs="?",
        const="",
        help="better summaries by a language model: the configured one, or one of a service (its address with /v1)",
    )
    parser.add_argument("--llm-model", metavar="NAME", help="name of the model")
    parser.add_argument("--llm-key-env", metavar="VAR", help="environment variable with its API key")
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, and unless it is a dry run, write."""
    chat = _chat(args)
    engine = open_to_change(args)
    with shown(sys.stderr) as on_progress:
        planned = transfer.plan_upgrade(
            engine, chat, limit=args.limit, dry_run=args.dry_run, on_progress=on_progress
        )
    code = carry_out(engine, planned, args)
    if code == 0 and not args.dry_run:
        transfer.forget_answers(engine, planned.action)
    return code


def _chat(args: argparse.Namespace) -> ChatSettings | None:
    """The language model that the options name: texts go out to it, so there is none by default."""
    from memtui.engine.transfer import (
        ChatSettings,
    )

    if args.llm:
        if not args.llm_model:
            raise UsageError("A chat service needs a model.", fix="Give --llm-model, too.")
        key = os.environ.get(args.llm_key_env, "") if args.llm_key_env else ""
        return ChatSettings(args.llm, args.llm_model, key)
    if args.llm is None:
        return None
    found = load_settings(settings_file(), os.environ).chat(os.environ)
    if found is None:
        raise UsageError(
            "No language model is configured.", fix="Set chat.model and chat.base_url, or name one."
        )
    return found
