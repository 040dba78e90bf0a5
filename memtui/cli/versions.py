"""`memtui versions`: the time line of the table, names for versions, what differs, and the ways back."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.memory_changes import add_safety_arguments, before_and_after, carry_out, open_to_change
from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.progress import shown
from memtui.cli.show import moment
from memtui.engine import Engine, RefusedError, UsageError, changes, counted

if TYPE_CHECKING:
    from memtui.engine.health import NamedVersion, RowChange, VersionNames


_SHOWN = 20

_SIGNS = {"add": "+", "remove": "-", "change": "~"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui versions`."""
    parser.set_defaults(do=_list)
    parser.add_argument("--all", action="store_true", help="one line per injection")
    parser.add_argument(
        "--last", type=int, default=200, metavar="N", help="the last N versions (default 200)"
    )
    actions = parser.add_subparsers(title="actions (without one: the time line)", metavar="ACTION")
    name = _action(actions, "name", _name, "give a version a name; without words its name is removed")
    name.add_argument("version", type=int, metavar="N")
    name.add_argument("words", nargs="*", metavar="WORDS")
    add_safety_arguments(name)
    diff = _action(actions, "diff", _diff, "what differs between two versions, by id")
    diff.add_argument("before", metavar="A", help="a number or a name")
    diff.add_argument("after", metavar="B", help="a number or a name")
    restore = _action(
        actions, "restore", _restore, "bring memories back as they were; without ids the whole table"
    )
    restore.add_argument("version", metavar="N", help="a number or a name")
    restore.add_argument("ids", nargs="*", metavar="ID", help="ids, or their first 8 or more characters")
    add_safety_arguments(restore)
    restore.add_argument(
        "--no-cases", action="store_true", help="skip answering cases and recent questions before and after"
    )
    pin = _action(actions, "pin", _pin, "keep a version for good: copy it into a store of its own")
    pin.add_argument("version", metavar="N", help="a number or a name")
    pin.add_argument("folder", metavar="FOLDER", help="a new folder")
    pin.add_argument("--dry-run", action="store_true", help="print what would be copied, write nothing")
    snapshot = _action(
        actions,
        "snapshot",
        _snapshot,
        "copy the table's whole folder, with a manifest, beside memtui's files",
    )
    snapshot.add_argument("tag", metavar="TAG", help="letters, digits, . _ and -")
    _action(actions, "snapshots", _snapshots, "the snapshots of this store, the newest first")
    checkout = _action(
        actions,
        "checkout",
        _checkout,
        "verify a snapshot and copy it into a new folder, which opens as a store",
    )
    checkout.add_argument("tag", metavar="TAG")
    checkout.add_argument("folder", metavar="FOLDER", help="a new folder")
    drop = _action(actions, "drop", _drop, "remove a snapshot for good")
    drop.add_argument("tag", metavar="TAG")
    drop.add_argument("--yes", action="store_true", help="confirm: this cannot be undone")


def _action(actions: Any, name: str, do: Any, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=what, description=what)
    parser.set_defaults(do=do)
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one JSON document")
    parser.add_argument("--store", metavar="STORE", default=argparse.SUPPRESS, help="the store to open")
    parser.add_argument("--table", metavar="NAME", default=argparse.SUPPRESS, help="the table")
    return parser


def run(args: argparse.Namespace) -> int:
    """List, name, compare or restore."""
    code: int = args.do(args)
    return code


def _names(engine: Engine) -> VersionNames:
    from memtui.engine.health import (
        VersionNames,
    )
    from memtui.paths import versions_file

    return VersionNames(engine.store, versions_file(engine.info.uri, engine.store.table_name))


def _number(engine: Engine, word: str) -> int:
    """The version that a number or a name means. UsageError for one that is not there."""
    listed = engine.store.versions()
    word = word.removeprefix("v") if word[1:].isdigit() else word
    number = int(word) if word.isdigit() else _names(engine).number(word)
    if number not in {each for each, _ in listed}:
        raise UsageError(f"There is no version {word} any more.", fix="See: memtui versions.")
    return number


def _list(args: argparse.Namespace) -> int:
    from memtui.engine.health import (
        patient_of,
        time_line,
    )

    if args.last < 1:
        raise UsageError("--last must be 1 or more.")
    engine = open_for(args)
    kept = _names(engine).kept()
    files = patient_of(engine, now_ms=wall_clock()).files
    with shown(sys.stderr) as on_progress:
        lines = time_line(
            engine.store,
            files,
            journal=engine.write_state.journal.entries(),
            names={each.version: each.name for each in kept},
            last=args.last,
            fold=not args.all,
            on_progress=on_progress,
        )
    if args.json:
        print_json({"total": len(lines), "rows": [line.as_json() for line in lines],
                    "names": [each.as_json() for each in kept]})  # fmt: skip
        return 0
    print_table(
        [
            (
                f"v{line.version}" if line.first is None else f"v{line.first}-{line.version}",
                moment(line.time_ms),
                line.writer,
                f"+{line.added} ~{line.changed} -{line.removed}",
                f"[{line.name}] {line.title}" if line.name else line.title,
            )
            for line in lines
        ],
        ("version", "written", "by", "rows", "what"),
    )
    for name in kept:
        print_text(f"{name.name}: v{name.version}, {_held(name)}")
    return 0


def _held(name: NamedVersion) -> str:
    """How long a named version is there."""
    until = name.lives_until_ms
    if until is None:
        return "in the table: no clean-up takes it"
    return f"the name is memtui's own: a clean-up may take the version from {moment(until)} on"


def _name(args: argparse.Namespace) -> int:
    engine = open_for(args, writable=not args.dry_run)
    if args.break_lock and not args.dry_run:
        engine.write_state.break_abandoned_lock()
    number, names = _number(engine, str(args.version)), _names(engine)
    planned = names.plan(number, " ".join(args.words))
    outcome = None
    if planned.asides and not args.dry_run:
        outcome = changes.apply(engine, planned, confirmed=args.yes)
    entry = None if outcome is None else outcome.entry
    for note in () if outcome is None else outcome.warnings:
        warning(note)
    kept = names.kept()
    if args.json:
        listed = [each.as_json() for each in kept]
        print_json({"version": number, "entry": entry, "notes": list(planned.asides), "names": listed})
        return 0
    given = next((each for each in kept if each.version == number), None)
    if args.dry_run:
        for aside in planned.asides:
            print_text(aside)
        print_text("dry run: nothing was written")
    elif given is None:
        print_text(f"v{number} has no name")
    else:
        print_text(f"v{number} is {given.name}; {_held(given)}")
    if entry is not None:
        print_text(f"undo with: memtui undo {entry}")
    return 0


def _diff(args: argparse.Namespace) -> int:
    from memtui.engine.health import (
        diff_versions,
    )

    engine = open_for(args)
    before, after = _number(engine, args.before), _number(engine, args.after)
    found = diff_versions(engine.store, before, after)
    if args.json:
        rows = [{"id": each.id, "op": each.op, "fields": list(each.fields)} for each in found]
        print_json({"before": before, "after": after, "total": len(found), "rows": rows})
        return 0
    _print_rows(found)
    print_text(f"{len(found):,} differ between v{before} and v{after}")
    return 0


def _restore(args: argparse.Namespace) -> int:
    engine = open_to_change(args)
    number = _number(engine, args.version)
    if not args.ids:
        return _whole(args, engine, number)
    column = engine.store.dialect.columns.id
    scanned = engine.store.pin(number).scan([column])
    there = [str(value) for batch in scanned for value in batch.column(0).to_pylist() if value is not None]
    return carry_out(
        engine,
        changes.plan_bring_back(engine, number, [_id(memory_id, there) for memory_id in args.ids]),
        args,
    )


def _pin(args: argparse.Namespace) -> int:
    from memtui.engine.health import pin_version

    engine = open_for(args)
    number, folder = _number(engine, args.version), Path(args.folder).expanduser()
    if args.dry_run:
        rows, entry = engine.store.pin(number).count(), None
        said = f"v{number}, {counted(rows, 'memory', 'memories')}, "
        said += f"would be copied to {folder}; dry run: nothing was written"
    else:
        with shown(sys.stderr) as on_progress:
            rows, entry = pin_version(engine, number, folder, on_progress=on_progress)
        said = f"v{number}, {counted(rows, 'memory', 'memories')}, copied to {folder}: no clean-up reaches it there"
    if args.json:
        print_json({"version": number, "folder": str(folder), "rows": rows, "entry": entry})
        return 0
    print_text(said)
    if entry is not None:
        print_text(f"remove the copy again with: memtui undo {entry}")
    return 0


def _snapshot(args: argparse.Namespace) -> int:
    from memtui.engine.health import FolderSnapshots

    kept = FolderSnapshots(open_for(args))
    with shown(sys.stderr) as on_progress:
        made = kept.create(args.tag, on_progress=on_progress)
    if args.json:
        print_json(made.as_json())
        return 0
    print_text(
        f"{made.tag}: v{made.version}, {counted(made.rows, 'memory', 'memories')}, {made.bytes:,} bytes in {made.place}"
    )
    return 0


def _snapshots(args: argparse.Namespace) -> int:
    from memtui.engine.health import FolderSnapshots

    found = FolderSnapshots(open_for(args)).all()
    if args.json:
        print_json({"snapshots": [each.as_json() for each in found]})
        return 0
    if not found:
        print_text("no snapshot yet: memtui versions snapshot TAG makes one")
        return 0
    rows = [
        (each.tag, each.created_at, f"v{each.version}", f"{each.rows:,}", f"{each.bytes:,}") for each in found
    ]
    print_table(rows, ("tag", "made", "version", "memories", "bytes"), right_aligned=(3, 4))
    return 0


def _checkout(args: argparse.Namespace) -> int:
    from memtui.engine.health import FolderSnapshots

    engine, folder = open_for(args), Path(args.folder).expanduser()
    with shown(sys.stderr) as on_progress:
        found = FolderSnapshots(engine).check_out(args.tag, folder, on_progress=on_progress)
    if args.json:
        print_json(
            {
                "previousDbPath": str(engine.info.uri),
                "newDbPath": str(folder),
                "sourceSnapshot": found.tag,
                "restartRequired": True,
                "rows": found.rows,
            }
        )
        return 0
    print_text(f"{found.tag}, {counted(found.rows, 'memory', 'memories')}, verified and copied to {folder}")
    print_text("the store is unchanged; an agent reads the copy when its configuration names that folder")
    return 0


def _drop(args: argparse.Namespace) -> int:
    from memtui.engine.health import FolderSnapshots

    kept = FolderSnapshots(open_for(args))
    found = kept.named(args.tag)
    if not args.yes:
        raise RefusedError(
            f"{found.tag} of {found.created_at} would be gone for good.", fix="Repeat with --yes."
        )
    kept.drop(args.tag)
    print_json({"dropped": found.tag}) if args.json else print_text(f"{found.tag} is gone")
    return 0


def _id(word: str, there: list[str]) -> str:
    hits = [each for each in there if each == word or (len(word) >= 8 and each.startswith(word.lower()))]
    if word not in hits and len(hits) != 1:
        many = (
            f"Several memories of that version begin with {word!r}" if hits else f"It does not hold {word!r}"
        )
        raise UsageError(f"{many}.", fix="See: memtui versions diff N M.")
    return word if word in hits else hits[0]


def _whole(args: argparse.Namespace, engine: Engine, number: int) -> int:
    from memtui.engine.health import (
        TableStep,
        maintain,
        plan_whole_restore,
    )

    planned = plan_whole_restore(engine.store, number)
    steps: tuple[TableStep, ...] = (TableStep("restore", str(number)),)
    if planned.loses_words:
        steps = (*steps, TableStep("index-text"))
    if args.dry_run or not args.yes:
        if args.json:
            print_json({**planned.as_json(), "steps": [step.title for step in steps], "receipt": None})
        else:
            _print_rows(planned.changes)
            print_text(planned.sentence)
        if args.dry_run:
            return 0
        raise RefusedError(
            "A whole restore undoes what every writer did since.",
            fix="Name the ids to bring back, or repeat with --yes; nothing was changed.",
        )
    receipt = maintain(
        engine.store, engine.write_state.applier, steps,
        confirmed=True, planned_on=planned.newest, ask=before_and_after(args, engine),
    )  # fmt: skip
    if args.json:
        print_json(
            {**planned.as_json(), "steps": [step.title for step in steps], "receipt": receipt.as_json()}
        )
        return 0
    warning(planned.sentence)
    print_text(f"the table is as at v{number}; receipt: journal entry {receipt.entry}")
    if receipt.sentence:
        print_text(receipt.sentence)
    print_text(
        f"undo with: memtui undo {receipt.entry}, or versions and indexes and all with:"
        f" memtui versions restore {receipt.version_before} --yes"
    )
    return 0


def _print_rows(rows: tuple[RowChange, ...]) -> None:
    from memtui.engine import (
        veiled,
    )

    for row in rows[:_SHOWN]:
        fields = f" ({', '.join(row.fields)})" if row.fields else ""
        print_text(f"{_SIGNS[row.op]} {row.id}{fields} {' '.join(veiled(row.title).split())[:80]}")
    if len(rows) > _SHOWN:
        print_text(f"... and {len(rows) - _SHOWN:,} more (--json has all)")
