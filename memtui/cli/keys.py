"""`memtui keys`: every action with its keys, and whether a keys.toml is right."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from memtui.cli.output import print_json, print_table, print_text
from memtui.engine import UsageError
from memtui.paths import keys_file, settings_file
from memtui.settings import load_settings
from memtui.tui.actions.action import MOVE
from memtui.tui.actions.conflicts import place
from memtui.tui.actions.keymap import PRESETS, Keymap
from memtui.tui.actions.table import load_keys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui keys`."""
    parser.add_argument(
        "--check",
        nargs="?",
        const="",
        metavar="FILE",
        help="check a keys.toml (default: yours); exit code 1 if something is wrong",
    )
    parser.add_argument("--preset", choices=tuple(PRESETS), help="show this preset instead of yours")
    parser.add_argument(
        "--markdown", action="store_true", help="print the table for the docs, preset default"
    )


def run(args: argparse.Namespace) -> int:
    """Print the table, or the problems."""
    if args.markdown:
        print_text(markdown(load_keys()))
        return 0
    preset = args.preset or load_settings(settings_file(), os.environ).keys
    file = Path(args.check) if args.check else keys_file()
    if args.check and not file.is_file():
        raise UsageError(f"{file} is no file.", fix=f"Name a keys.toml, or none for {keys_file()}.")
    keys = load_keys(None if args.preset and args.check is None else file, preset)
    if args.json:
        print_json(_document(keys, file))
    elif args.check is not None:
        _verdict(keys, file)
    else:
        rows = [(place(key.context).title, key.caps, key.title, key.id) for key in keys.table]
        print_table(rows, ("where", "keys", "does", "id"))
        print_text(f"\nPreset {keys.preset}: {PRESETS[keys.preset].what}. Other keys: {keys_file()}")
        for problem in keys.problems:
            print_text(f"! {problem}")
    return 1 if args.check is not None and keys.problems else 0


def _verdict(keys: Keymap, file: Path) -> None:
    for problem in keys.problems:
        print_text(problem)
    if not file.is_file():
        print_text(f"There is no {file}: the keys are those of the preset {keys.preset}.")
    elif not keys.problems:
        print_text(f"{file}: no problem, preset {keys.preset}.")


def _document(keys: Keymap, file: Path) -> dict[str, object]:
    return {
        "preset": keys.preset,
        "file": str(file),
        "problems": list(keys.problems),
        "keys": [
            {
                "id": key.id,
                "keys": list(key.each),
                "title": key.title,
                "help": key.help,
                "where": place(key.context).title,
            }
            for key in keys.table
        ],
    }


def markdown(keys: Keymap) -> str:
    """The key section of the README: a line for each place.

    Moving about in a list is the same everywhere, and a dialog shows its keys itself.
    """
    places: dict[str, list[str]] = {}
    for key in keys.table:
        if key.group != MOVE and key.cap and "app" in (key.context, *place(key.context).inside):
            caps = f"<kbd>{_escaped(key.cap)}</kbd>"
            places.setdefault(place(key.context).title, []).append(f"{caps} {_escaped(key.title)}")
    rows = [f"| {title} | {' · '.join(found)} |" for title, found in places.items()]
    return "\n".join(["| where | keys |", "|---|---|", *rows])


def _escaped(text: str) -> str:
    return "".join(f"&#{ord(char)};" if char in "<>|&*_`~\\[]" else char for char in text)
