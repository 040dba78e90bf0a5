"""Carrying out the plan of an import, and telling what became of every record."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from memtui.cli.answers import print_effect
from memtui.cli.memory_changes import effect_of
from memtui.cli.output import error, print_json, print_table, print_text, warning
from memtui.engine import Engine, RefusedError, transfer
from memtui.engine.transfer import (
    GROUPS,
    MEANINGS,
)

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        ImportPlan,
    )


_SHOWN = 20


def carry_out(
    engine: Engine, plan: ImportPlan, args: argparse.Namespace, on_progress: Any, *, typed: bool = False
) -> int:
    """Write `plan`, unless it is a dry run, and print it; the exit code.

    For what a person `typed` there is no format, no columns and no ledger to tell of.
    """
    document = plan.as_json()
    if args.dry_run:
        effect = None
        if getattr(args, "effect", False):
            effect = effect_of(engine, transfer.tried_import(engine, plan))
            document["effect"] = effect.as_json()
        _tell(plan, document, args, typed, "dry run: nothing was written")
        if effect is not None and not args.json:
            print_effect(effect)
        return 0 if plan.total else 1
    began = time.monotonic()
    try:
        done = transfer.run_import(engine, plan, confirmed=args.yes, on_progress=on_progress)
    except RefusedError as refused:
        _tell(plan, document, args, typed, "")
        error(refused)
        return refused.exit_code
    if typed and args.json:
        document["receipts"] = transfer.store_receipts(engine, plan, (time.monotonic() - began) * 1000)
    document |= {
        "entry": done.entry,
        "added": done.added,
        "replaced": done.replaced,
        "warnings": list(dict.fromkeys((*document["warnings"], *done.warnings))),
    }
    said = f"{done.added:,} added, {done.replaced:,} replaced; undo with: memtui undo {done.entry}"
    _tell(plan, document, args, typed, said if done.entry is not None else "nothing to add")
    return 0 if plan.total else 1


def _tell(
    plan: ImportPlan, document: dict[str, Any], args: argparse.Namespace, typed: bool, last: str
) -> None:
    for note in document["warnings"]:
        warning(note)
    if args.json:
        print_json(document)
        return
    if not typed:
        print_text(f"{plan.sources[0].format.title}: {'; '.join(document['evidence'])}")
    if plan.mapping and not typed:
        print_text("columns: " + ", ".join(f"{role}={column}" for role, column in plan.mapping.items()))
    rows = [(group, f"{plan.counts[group]:,}", MEANINGS[group]) for group in GROUPS if plan.counts[group]]
    print_table(rows, ("group", "records", "meaning"), right_aligned=(1,))
    if plan.left_out:
        print_text(f"left out as asked: {len(plan.left_out):,} that would be new")
    for theirs, ours, count in plan.scopes:
        if theirs != ours:
            print_text(f"scope {theirs or '(none)'} -> {ours or '(none)'}: {count:,}")
    if document["loss"] and not typed:
        ledger = [(loss["field"], f"{loss['rows']:,}", loss["what"]) for loss in document["loss"]]
        print_table(ledger, ("field", "rows", "what changes or is lost"), right_aligned=(1,))
    for each in document["rejected"][:_SHOWN]:
        match = f" ({each['match']})" if each.get("match") else ""
        print_text(f"left out: {each['where']}: {each['why']}{match}")
    if len(document["rejected"]) > _SHOWN:
        print_text(f"... and {len(document['rejected']) - _SHOWN:,} more (--json has them)")
    if last:
        print_text(last)
