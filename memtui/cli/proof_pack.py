"""`memtui proof-pack`: one file for whoever must be told what was stored, who read it and what remains."""

from __future__ import annotations

import argparse
from pathlib import Path

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.engine import UsageError, counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui proof-pack`."""
    parser.add_argument(
        "what", nargs="+", metavar="ID FILE", help="the memory (not with --subject) and the file to write"
    )
    parser.add_argument("--subject", metavar="WORDS", help="all memories with these words")


def run(args: argparse.Namespace) -> int:
    """Collect, write, say what is in it."""
    from memtui.engine.witness import (
        collect_proof,
        find_subject,
        write_pack,
    )

    if len(args.what) != (1 if args.subject is not None else 2):
        raise UsageError(
            "proof-pack needs a memory or a subject, and a file.",
            fix='Try: memtui proof-pack 33bbf2df pack.zip, or: memtui proof-pack --subject "Ines" pack.zip',
        )
    file = Path(args.what[-1]).expanduser()
    if file.exists():
        raise UsageError(f"{file} exists already.", fix="Name a new file.")
    engine = open_for(args)
    ids = find_subject(engine, args.subject) if args.subject is not None else [args.what[0]]
    document = collect_proof(engine, ids, engine.environ, Path.cwd(), subject=args.subject or "")
    sums = write_pack(document, file)
    if args.json:
        print_json(
            {
                "file": str(file),
                "memories": [memory["id"] for memory in document["memories"]],
                "parts": [{"name": name, "sha256": digest} for name, digest in sums],
            }
        )
        return 0
    print_text(f"wrote {file}: {counted(len(document['memories']), 'memory', 'memories')}, secrets masked")
    for name, digest in sums:
        print_text(f"  {digest}  {name}")
    return 0
