"""What the commands that change memories have in common: which memories, preview or write, and what is printed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memtui.cli.answers import print_effect, short
from memtui.cli.open_store import open_for
from memtui.cli.output import error, print_json, print_text, warning
from memtui.engine import Engine, RefusedError, UsageError, changes, counted, dump_json, explain, veiled
from memtui.engine.cases import CaseBook
from memtui.engine.explain import History
from memtui.paths import cases_file, questions_file

if TYPE_CHECKING:
    from memtui.engine.changes import Change, ChangeSet, Conflict, Outcome, RecallEffect


_SHOWN = 20
"""Memories printed for a person; --json has all."""


def add_memory_arguments(parser: argparse.ArgumentParser) -> None:
    """Which memories: ids, or a filter."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="ids, or their first 8 or more characters")
    parser.add_argument("--where", metavar="FILTER", help="all memories matching a filter, instead of ids")


def add_safety_arguments(parser: argparse.ArgumentParser) -> None:
    """Preview, consent, and a lock that was left behind."""
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, change nothing")
    add_send_argument(parser)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="confirm destructive changes, and that no agent is running where required",
    )
    parser.add_argument(
        "--break-lock", action="store_true", help="remove a write lock left by a program that died"
    )


def add_send_argument(parser: argparse.ArgumentParser) -> None:
    """Leave for a preview to ask the services that the configuration names."""
    parser.add_argument(
        "--send",
        action="store_true",
        help="with --dry-run: send texts and questions to the services, to measure (default: nothing is sent)",
    )


def add_effect_argument(parser: argparse.ArgumentParser) -> None:
    """What the change does to recall."""
    parser.add_argument(
        "--effect",
        action="store_true",
        help="with --dry-run: also show which cases and recent questions would change",
    )


def check_effect_argument(args: argparse.Namespace) -> None:
    """UsageError where the effect is asked for and something would be written."""
    if getattr(args, "effect", False) and not args.dry_run:
        raise UsageError("--effect belongs to a preview.", fix="Give --dry-run with it.")
    if getattr(args, "send", False) and not args.dry_run and not getattr(args, "rehearse", False):
        raise UsageError("--send belongs to a preview.", fix="Give --dry-run with it.")


def open_to_change(args: argparse.Namespace) -> Engine:
    """The engine, writable unless this is a dry run; what was interrupted earlier is said first."""
    check_effect_argument(args)
    engine = open_for(args, writable=not args.dry_run)
    for left in changes.find_interrupted(engine):
        warning(left.sentence)
    if args.break_lock and not args.dry_run:
        engine.write_state.break_abandoned_lock()
    return engine


def chosen_ids(engine: Engine, args: argparse.Namespace) -> list[str]:
    """The full ids that the words mean. UsageError for none, for both ways at once, and for an unclear prefix."""
    if bool(args.ids) == (args.where is not None):
        raise UsageError(
            "Name memories by their ids or choose them with --where, not both.",
            fix="For example: --where 'scope:agent:main tier:peripheral'.",
        )
    engine.load_catalog()
    if args.where is None:
        return [engine.get(memory_id).id for memory_id in args.ids]
    if not args.where.strip():
        raise UsageError(
            "An empty filter would choose every memory.", fix="To mean that, write --where 'id:*'."
        )
    engine.load_metadata()
    from memtui.engine.catalog import select_ids

    found = select_ids(engine.view, args.where)
    if not found:
        raise UsageError(f"No memory fits the filter {args.where!r}.", fix="Try it with: memtui ls.")
    return found


def carry_out(
    engine: Engine,
    planned: ChangeSet,
    args: argparse.Namespace,
    do: Callable[..., Outcome] | None = None,
) -> int:
    """Show a change set in a dry run, else apply it (or `do` what it previews); the exit code."""
    from memtui.engine import ConflictError

    if getattr(args, "where", None) is not None:
        planned = planned.leaving_refused()
    if args.dry_run:
        effect = effect_of(engine, planned) if getattr(args, "effect", False) else None
        more = {} if effect is None else {"effect": effect.as_json()}
        _print({**planned.as_json(), **more}, planned, args, planned.asides)
        if effect is not None and not args.json:
            print_effect(effect)
        return 0
    try:
        outcome = do(confirmed=args.yes) if do else changes.apply(engine, planned, confirmed=args.yes)
    except RefusedError as refused:
        conflicts = refused.conflicts if isinstance(refused, ConflictError) else planned.conflicts
        if args.json:
            print_json(
                without_secrets(
                    {**planned.as_json(), "conflicts": [conflict.as_json() for conflict in conflicts]}
                )
            )
        error(refused, _conflict_lines(conflicts))
        return refused.exit_code
    _print(outcome.as_json(), outcome, args, planned.asides)
    return 0


def effect_of(engine: Engine, planned: ChangeSet) -> RecallEffect:
    """What a change set does to the saved cases and the last questions."""
    cases = CaseBook(cases_file(engine.info.uri)).cases()
    return explain.effect_on_recall(engine, planned, cases, History(questions_file()))


def _print(
    document: Mapping[str, Any], done: ChangeSet | Outcome, args: argparse.Namespace, asides: Sequence[str]
) -> None:
    for note in done.warnings:
        warning(note)
    if args.json:
        print_json(without_secrets(document))
        return
    for change in done.changes[:_SHOWN]:
        print_text("\n".join(_lines(change)))
    count = done.count if done.count is not None else len(done.changes)
    if count > _SHOWN:
        all_of_them = " (--json has all)" if count == len(done.changes) else ""
        print_text(f"... and {count - _SHOWN:,} more{all_of_them}")
    for line in _conflict_lines((*done.conflicts, *getattr(done, "left", ()))):
        print_text(f"! {line}")
    for aside in asides:
        print_text(f"besides: {aside}")
    for copy in done.copies:
        verb = "goes" if copy["goes"] else "stays"
        print_text(f"copy in {copy['path']} line {copy['line']} ({copy['kind']}): {verb}")
    entry = document["entry"]
    said = counted(count + sum(change.rows - 1 for change in done.changes), "memory", "memories")
    if asides and not done.changes:
        said = "what is named here"
    if args.dry_run:
        print_text(f"dry run: {said} would change; nothing was written")
    elif entry is None:
        print_text("nothing to change" if not asides else "done")
    else:
        final = getattr(done, "final", False)
        back = "this cannot be undone" if final else f"undo with: memtui undo {entry}"
        print_text(f"{said} changed; {back}")
    if receipt := document.get("receipt"):
        print_text(f"receipt: {receipt['file']} ({_left(receipt)})")


def _left(receipt: Mapping[str, Any]) -> str:
    """What the search after a forget says, in a few words."""
    found = receipt["found"]
    if found["newest_version"] or found["index"] or found["files"]:
        return "something is still found, see there"
    if found["versions"]:
        return f"gone; {len(found['versions'])} older versions of the table still hold it"
    return "no version, index or file of the table holds it any more"


def _lines(change: Change) -> Iterable[str]:
    mark = {"edit": "~", "add": "+", "delete": "-"}[change.op]
    why = f" ({change.why})" if change.why else ""
    yield f"{mark} {change.id}{why} {short(change.title)}"
    if change.op == "edit":
        for field in change.after:
            yield f"    {field}: {_value(change.before.get(field))} -> {_value(change.after[field])}"


def _conflict_lines(conflicts: Iterable[Conflict]) -> list[str]:
    lines = []
    for conflict in conflicts:
        lines.append(f"{conflict.id}: {conflict.sentence}")
        lines += [
            f"    {field.field}: was {_value(field.before)}, to be {_value(field.mine)}, is {_value(field.theirs)}"
            for field in conflict.fields
        ]
    return lines


def _value(value: Any) -> str:
    return short("-" if value is None else value if isinstance(value, str) else dump_json(value))


def without_secrets(value: Any) -> Any:
    """A document without the secrets in its texts: each is named by its kind."""
    if isinstance(value, str):
        return veiled(value)
    if isinstance(value, Mapping):
        return {key: without_secrets(item) for key, item in value.items()}
    return [without_secrets(item) for item in value] if isinstance(value, list | tuple) else value


def before_and_after(args: argparse.Namespace, engine: Engine) -> Callable[[int], Mapping[str, Any]] | None:
    """What a maintenance of the table asks before and after it; None with --no-cases."""
    if args.no_cases:
        return None
    from memtui.engine.health import asking

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    return asking(engine, cases, History(questions_file()))
