"""`memtui edit`: set fields of memories."""

from __future__ import annotations

import argparse
import os

from memtui.cli.memory_changes import (
    add_effect_argument,
    add_memory_arguments,
    add_safety_arguments,
    carry_out,
    chosen_ids,
    open_to_change,
)
from memtui.engine import UsageError, changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui edit`."""
    add_memory_arguments(parser)
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD=VALUE",
        help="text, scope, category, importance, tier, confidence, state, layer, pinned, suppressed, valid_until, ...",
    )
    parser.add_argument("--editor", action="store_true", help="change the text of one memory in $EDITOR")
    parser.add_argument(
        "--in-place", action="store_true", help="make no new version of a preference or an entity"
    )
    parser.add_argument("--reason", default="", help="reason, stored with an archived memory")
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Edit."""
    given = _assignments(args.set)
    if args.editor and "text" in given:
        raise UsageError("The text comes from --set or from the editor, not from both.", fix="Leave one out.")
    engine = open_to_change(args)
    ids = chosen_ids(engine, args)
    if args.editor:
        from memtui.editor import edited_text

        if len(ids) != 1:
            raise UsageError("The editor takes one memory at a time.", fix="Name one id.")
        given["text"] = edited_text(engine.get(ids[0]).raw_text, os.environ)
    planned = changes.plan_edit(engine, ids, given, reason=args.reason, in_place=args.in_place)
    return carry_out(engine, planned, args)


def _assignments(words: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        field, equals, value = word.partition("=")
        if not equals or not field.strip():
            raise UsageError(f"--set cannot read {word!r}.", fix="Write FIELD=VALUE, for example tier=core.")
        if field.strip() in given:
            raise UsageError(f"{field.strip()} is set twice.", fix="Give it once.")
        given[field.strip()] = value
    return given
