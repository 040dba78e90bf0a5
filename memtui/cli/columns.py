"""`memtui columns`: the wizard for a table of another program: which column is what, kept under a name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import ROLES, mapping_of, wall_clock
from memtui.cli.output import print_json, print_table, print_text
from memtui.engine import UsageError, counted, quoted
from memtui.paths import column_maps_file

if TYPE_CHECKING:
    from memtui.engine.transfer import TableMap


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui columns`."""
    parser.add_argument(
        "place", nargs="?", metavar="FOLDER", help="the folder of the table (default: --store)"
    )
    parser.add_argument("--keep", metavar="NAME", help="keep the map: the table then opens without --columns")
    parser.add_argument("--yes", action="store_true", help="ask nothing, take what was found and given")


def run(args: argparse.Namespace) -> int:
    """Propose, ask in a terminal, show what cannot be done, keep; 1 where the table cannot be opened so."""
    from memtui.engine.transfer import KeptMap, keep_map, place_key, propose_map

    target = args.place or args.store
    if not target:
        raise UsageError("No table is named.", fix="memtui columns FOLDER --table NAME")
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not (args.json or args.yes)
    table = args.table or (_ask_table(target) if asks else None) or _only_table(target)
    given = mapping_of(args.columns)
    found = propose_map(target, table, given, wall_clock())
    if asks:
        found = propose_map(target, table, _ask_roles(found), wall_clock())
    can_open = "id" in found.columns and "text" in found.columns
    name = args.keep or (input("keep it under a name (empty: not): ").strip() if asks and can_open else "")
    if name and can_open:
        keep_map(column_maps_file(), KeptMap(name, place_key(found.uri, found.table), dict(found.columns)))
    if args.json:
        print_json({**found.as_json(), "kept": name or None})
    else:
        _show(found, name)
    return 0 if can_open else 1


def _tables_in(target: str) -> Sequence[str]:
    """The names of the tables in a folder; none where the target is an address or no folder."""
    from memtui.engine.transfer import tables_of

    folder = Path(target).expanduser()
    return tables_of(folder) if folder.is_dir() and "://" not in target else ()


def _only_table(target: str) -> str | None:
    """The one table of a folder that has no `memories`; None where there are several, or none."""
    names = _tables_in(target)
    return names[0] if len(names) == 1 else None


def _ask_table(target: str) -> str | None:
    """The table that a person chooses of several; None where there is nothing to choose."""
    names = _tables_in(target)
    if len(names) < 2:
        return None
    print_text(f"tables: {', '.join(names)}")
    return input(f"table [{names[0]}]: ").strip() or names[0]


def _ask_roles(found: TableMap) -> dict[str, str]:
    """Each role with its proposal; enter takes it, - leaves the role out."""
    _show(found, "")
    print_text("\nenter: take it; a column's name: take that; -: none")
    answers: dict[str, str] = {}
    for role in ROLES:
        proposed = found.columns.get(role, "")
        if role in ("zone", "unit") and not answers.get("timestamp"):
            continue
        typed = input(f"{role} [{proposed or '-'}]: ").strip()
        answers[role] = "" if typed == "-" else typed or proposed
    return answers


def _show(found: TableMap, name: str) -> None:
    print_text(f"{found.uri}, table {found.table}, {counted(found.rows, 'row')}")
    rows = [
        (role, found.columns[role], found.kinds.get(found.columns[role], ""), found.reasons.get(role, ""))
        for role in ROLES
        if role in found.columns
    ]
    print_table(rows, ("role", "column", "type", "why"))
    for note in found.notes:
        print_text(f"note: {note}")
    print_text("\ncannot be done with this table:")
    for action, why in found.limits:
        print_text(f"  {action}: {why}")
    if name:
        print_text(
            f"\nkept as {name}: memtui --store {quoted(found.uri)} opens it; elsewhere --columns {name}"
        )
    else:
        print_text(f"\nopen it: --table {found.table} --columns {_written(found.columns)}")


def _written(columns: Mapping[str, str]) -> str:
    return ",".join(f"{role}={column}" for role, column in columns.items())
