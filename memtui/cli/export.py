"""`memtui export`: memories into a file or a folder."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.progress import shown
from memtui.engine import UsageError, counted, quoted, transfer
from memtui.engine.transfer import EXPORT_FORMATS, Exported, ExportRequest, export_format, parse_fields

_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Paths that mean standard output."""

_PIPED = EXPORT_FORMATS[0].name
"""What is written there where no format is named: one line per memory."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui export`."""
    parser.add_argument(
        "path", metavar="FILE", type=Path, help="the file to write, - for standard output; a folder for notes"
    )
    listed = "; ".join(f"{each.name}: {each.title}" for each in EXPORT_FORMATS)
    choosable = ", ".join(each.name for each in EXPORT_FORMATS if each.choice is not None)
    parser.add_argument(
        "--format", metavar="FORM", default="auto", help=f"{listed} (default: by the file's name)"
    )
    parser.add_argument("--where", metavar="FILTER", default="", help="only memories matching a filter")
    parser.add_argument("--ids", metavar="ID", nargs="+", default=[], help="only these memories")
    parser.add_argument(
        "--fields",
        metavar="NAME,...",
        default="",
        help=f"only these fields beside id and text ({choosable})",
    )
    parser.add_argument("--vectors", action="store_true", help="with their vectors")
    parser.add_argument("--keep-secrets", action="store_true", help="do not mask passwords and keys")
    parser.add_argument("--without-texts", action="store_true", help="lengths instead of texts")
    parser.add_argument("--dry-run", action="store_true", help="print what would be written, write nothing")
    parser.add_argument("--yes", action="store_true", help="replace a file that is there")


def run(args: argparse.Namespace) -> int:
    """Export; to standard output, what is said of it goes to standard error."""
    name = _format(args.format, args.path)
    to_output = str(args.path) in _OUTPUT
    if to_output and export_format(name).folder:
        raise UsageError(
            f"{name} is a folder of files, not one that a pipe could take.", fix="Name a folder."
        )
    if to_output and args.json and not args.dry_run:
        raise UsageError(
            "The export and --json would both go to standard output.", fix="Name a file, or leave --json out."
        )
    engine = open_for(args)
    engine.load_catalog()
    engine.load_metadata()
    with TemporaryDirectory(prefix="memtui-") as folder:
        request = ExportRequest(
            path=Path(folder) / "export" if to_output else args.path,
            format=name,
            filter=args.where,
            ids=tuple(engine.get(memory_id).id for memory_id in args.ids),
            vectors=args.vectors,
            mask=not (args.keep_secrets or args.show_secrets),
            redact=args.without_texts,
            fields=parse_fields(args.fields),
            overwrite=args.yes,
        )
        with shown(sys.stderr) as on_progress:
            done = transfer.export_memories(engine, request, dry_run=args.dry_run, on_progress=on_progress)
        if to_output:
            done = replace(done, path=args.path)
            if not args.dry_run:
                with request.path.open("rb") as made:
                    copyfileobj(made, sys.stdout.buffer)
                sys.stdout.buffer.flush()
    for note in done.warnings:
        warning(note)
    if to_output and not args.dry_run:
        for loss in done.loss:
            warning(f"{loss.field}: {loss.what} ({counted(loss.rows, 'row')})")
    elif args.json:
        print_json(done.as_json(name))
    else:
        _print(done, name, dry_run=args.dry_run)
    return 0


def _format(name: str, path: Path) -> str:
    if name != "auto":
        return export_format(name).name
    if str(path) in _OUTPUT:
        return _PIPED
    suffix = path.suffix.lower()
    found = next((each.name for each in EXPORT_FORMATS if suffix in each.suffixes), None)
    if suffix in (".md", ".markdown"):
        raise UsageError(
            f"Notes in Markdown are exported as a folder of files, not as {path.name}.",
            fix=f"memtui export {quoted(path.with_suffix(''))} --format markdown (or obsidian)",
        )
    if found is None:
        raise UsageError(
            f"{path.name} does not say which form is wanted.",
            fix=f"Add --format with one of {', '.join(each.name for each in EXPORT_FORMATS)}.",
        )
    return found


def _print(done: Exported, name: str, *, dry_run: bool) -> None:
    if done.loss:
        print_table(
            [(loss.field, f"{loss.rows:,}", loss.what) for loss in done.loss],
            ("field", "rows", "what changes or is lost"),
            right_aligned=(1,),
        )
    rows = counted(done.rows, "memory", "memories")
    if dry_run:
        print_text(f"dry run: {rows} would be written to {done.path} ({name})")
    else:
        files = f" in {done.files:,} files" if done.files > 1 else ""
        print_text(f"{rows} written to {done.path}{files} ({name}, {done.size_bytes:,} bytes)")
