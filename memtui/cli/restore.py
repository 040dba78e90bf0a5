"""`memtui restore`: bring back what was deleted or archived; without ids, what there is to bring back."""

from __future__ import annotations

import argparse

from memtui.cli.memory_changes import add_effect_argument, add_safety_arguments, carry_out, open_to_change
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text
from memtui.cli.show import moment
from memtui.engine import Engine, UsageError, changes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui restore`."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="ids, or their first 8 or more characters")
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Restore, or list."""
    if not args.ids:
        return _list(args)
    engine = open_to_change(args)
    engine.load_catalog()
    deleted = [memory.id for memory in changes.deleted_memories(engine)]
    return carry_out(
        engine,
        changes.plan_restore(engine, [_id(engine, memory_id, deleted) for memory_id in args.ids]),
        args,
    )


def _id(engine: Engine, word: str, deleted: list[str]) -> str:
    """The id of a deleted memory, or of one that is there, that begins with `word`."""
    hits = [each for each in deleted if each == word or (len(word) >= 8 and each.startswith(word.lower()))]
    if len(hits) > 1 and word not in hits:
        raise UsageError(
            f"Several deleted memories begin with {word!r}: {', '.join(hits[:5])}.",
            fix="Give more characters.",
        )
    return word if word in hits else hits[0] if hits else engine.get(word).id


def _list(args: argparse.Namespace) -> int:
    engine = open_for(args)
    trash = changes.deleted_memories(engine)
    if args.json:
        print_json({"total": len(trash), "rows": [each.as_json() for each in trash]})
        return 0
    print_table(
        [(each.id, moment(each.when_ms), each.entry, each.scope, each.title[:80]) for each in trash],
        ("id", "deleted", "entry", "scope", "memory"),
        right_aligned=(2,),
    )
    print_text(f"{len(trash)} deleted; archived ones are listed by: memtui ls is:archived")
    return 0
