"""`memtui context`: vectors of word pieces read in their sentences, for the recipe memtui."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.cli.progress import shown
from memtui.engine import Engine, UsageError, counted, quoted
from memtui.engine.token_vectors import MODEL_URL, build, fetch, look, remove, status
from memtui.paths import cache_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui context`."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("status", "build", "remove", "fetch"),
        default="status",
        help="action (default: status)",
    )
    parser.add_argument(
        "--model", type=Path, metavar="FOLDER", help="build: the model's folder; fetch: where to put it"
    )
    parser.add_argument(
        "--dims", type=int, default=128, metavar="N", help="dimensions of each token vector (default: 128)"
    )
    parser.add_argument(
        "--from", dest="source", default=MODEL_URL, metavar="URL", help="fetch: address to download from"
    )
    parser.add_argument(
        "--yes", action="store_true", help="fetch: download; without it only host and size are shown"
    )


def run(args: argparse.Namespace) -> int:
    """Look, build, remove or fetch."""
    if args.action == "fetch":
        return _fetch(args)
    engine = open_for(args)
    if args.action == "build":
        return _build(engine, args)
    if args.action == "remove":
        gone = remove(engine)
        if args.json:
            print_json({"removed": gone})
        else:
            print_text("token vectors removed" if gone else "there were no token vectors")
        return 0
    return _status(engine, args)


def _default_model() -> Path:
    return cache_dir() / "models" / "all-MiniLM-L6-v2"


def _build(engine: Engine, args: argparse.Namespace) -> int:
    folder = args.model
    if folder is None and status(engine) is None and (_default_model() / "tokenizer.json").is_file():
        folder = _default_model()
    with shown(sys.stderr) as on_progress:
        done = build(
            engine,
            None if folder is None else folder.expanduser().absolute(),
            dims=args.dims,
            on_progress=on_progress,
        )
    if args.json:
        print_json(asdict(done))
        return 0
    print_text(
        f"{done.made} read, {done.unchanged} unchanged, {done.removed} removed: "
        f"{counted(done.memories, 'memory', 'memories')} in {done.bytes / 1e6:.1f} MB, by {done.model}"
    )
    return 0


def _status(engine: Engine, args: argparse.Namespace) -> int:
    found = status(engine)
    if args.json:
        print_json(None if found is None else asdict(found))
        return 0
    if found is None:
        print_text(
            "no token vectors: recall compares words by the bundled model alone\n"
            "memtui context fetch names a model's host and size; memtui context build --model FOLDER reads the store"
        )
        return 0
    print_text(f"model     {found.model}\nfolder    {found.folder}")
    print_text(
        f"vectors   {found.current} of {counted(found.memories, 'memory', 'memories')}, "
        f"{found.dims} numbers a word piece, {found.bytes / 1e6:.1f} MB"
    )
    if found.current < found.memories:
        print_text("memtui context build reads the others")
    return 0


def _fetch(args: argparse.Namespace) -> int:
    folder = (args.model or _default_model()).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder.", fix="Name another one with --model.")
    files = look(args.source)
    if args.yes:
        with shown(sys.stderr) as on_progress:
            fetch(files, folder, on_progress=on_progress)
    if args.json:
        print_json(
            {"folder": str(folder), "fetched": bool(args.yes), "files": [asdict(file) for file in files]}
        )
        return 0
    for file in files:
        size = "size not known" if file.bytes is None else f"{file.bytes / 1e6:.1f} MB"
        print_text(f"{file.name}  {size}  from {file.host}")
    if args.yes:
        print_text(f"in {folder}; next: memtui context build --model {quoted(folder)}")
    else:
        print_text(f"nothing was fetched; --yes puts them into {folder}. No memory is sent anywhere.")
    return 0
