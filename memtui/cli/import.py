"""`memtui import`: memories from a file or a folder, planned first, then written in one step."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from memtui.cli.cluster_plan import add_cluster_arguments, check_cluster_arguments, plan_folder, planned
from memtui.cli.import_plan import carry_out
from memtui.cli.memory_changes import add_effect_argument, add_safety_arguments, check_effect_argument
from memtui.cli.open_store import open_for
from memtui.cli.output import warning
from memtui.cli.progress import shown
from memtui.engine import transfer
from memtui.engine.transfer import (
    NEAR,
    ROLES,
    SWITCHABLE,
    ImportRequest,
    parse_mapping,
    parse_numbers,
    parse_scopes,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui import`."""
    parser.add_argument(
        "sources", nargs="+", metavar="FILE", type=Path, help="files or folders of one format"
    )
    parser.add_argument("--format", metavar="FORM", default="auto", help="format (default: auto-detect)")
    parser.add_argument("--map", metavar="ROLE=COLUMN,...", help=f"columns of a table: {', '.join(ROLES)}")
    parser.add_argument("--scope", metavar="S", help="scope of memories without one (default: global)")
    parser.add_argument("--scopes", metavar="THEIRS=OURS,...", help="target scope for memories of a scope")
    parser.add_argument("--agent", metavar="ID", help="the agent that the source belongs to")
    parser.add_argument("--allow", metavar="RULE,...", help=f"rules to ignore: {', '.join(SWITCHABLE)}")
    parser.add_argument(
        "--near",
        metavar="COSINE",
        type=float,
        default=NEAR,
        help=f"minimum similarity of near duplicates (default {NEAR})",
    )
    parser.add_argument(
        "--find-near",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="always or never look for near duplicates",
    )
    parser.add_argument(
        "--conflicts",
        choices=("keep", "take", "both"),
        default="keep",
        help="on conflict with an existing memory",
    )
    parser.add_argument(
        "--leave-out",
        metavar="N,N-M,...",
        default="",
        help="new records to leave out, by number (a dry run with --json lists them)",
    )
    parser.add_argument(
        "--keep-vectors", action="store_const", dest="vectors", const="keep", default="auto",
        help="keep the source's vectors: they are of the store's model",
    )  # fmt: skip
    parser.add_argument(
        "--new-vectors", action="store_const", dest="vectors", const="new", help="embed all memories again"
    )
    parser.add_argument(
        "--without-vectors", action="store_true", help="store zero vectors instead of embedding"
    )
    parser.add_argument("--mask-secrets", action="store_true", help="import memories with secrets, masked")
    parser.add_argument("--prose", action="store_true", help="import paragraphs of notes too, not only lists")
    parser.add_argument("--sessions", action="store_true", help="conversations in an index too")
    parser.add_argument("--encoding", metavar="NAME", help="encoding of a text that is not UTF-8")
    parser.add_argument(
        "--key-env",
        metavar="VAR,...",
        default="",
        help="plan: environment variables with the API keys of the store's model",
    )
    add_cluster_arguments(parser, "the vectors")
    add_safety_arguments(parser)
    add_effect_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, and unless it is a dry run, write."""
    check_cluster_arguments(args)
    check_effect_argument(args)
    request = request_of(args)
    if args.plan:
        return _plan(request, args)
    return _import(request, args)


def _plan(request: ImportRequest, args: argparse.Namespace) -> int:
    """Write the script that makes the vectors; with --run also what follows."""
    engine = open_for(args, writable=False)
    engine.load_catalog()
    with shown(sys.stderr) as on_progress:
        made = transfer.plan_embedding(
            engine,
            replace(request, parts=""),
            plan_folder(engine.info.uri, "import"),
            key_variables=args.key_env,
            parts=args.parts or "",
            workers=args.workers,
            on_progress=on_progress,
        )
    then = f"import {shlex.join(str(source) for source in args.sources)}"
    return planned(
        args,
        made,
        lambda: _import(replace(request, parts=made.parts), args),
        schema="memtui.import.v1",
        then=then,
    )


def _import(request: ImportRequest, args: argparse.Namespace) -> int:
    engine = open_for(args, writable=not args.dry_run)
    if not args.dry_run:
        if args.break_lock:
            engine.write_state.break_abandoned_lock()
        for sentence in transfer.settle_imports(engine):
            warning(sentence)
    engine.load_catalog()
    with shown(sys.stderr) as on_progress:
        plan = transfer.plan_import(engine, request, on_progress)
        try:
            return carry_out(engine, plan, args, on_progress)
        finally:
            plan.close()


def request_of(args: argparse.Namespace) -> ImportRequest:
    """What the words ask for; UsageError for a mapping that does not parse."""
    return ImportRequest(
        sources=tuple(args.sources),
        format=args.format,
        mapping=parse_mapping(args.map) if args.map else {},
        scope=args.scope,
        scopes=parse_scopes(args.scopes) if args.scopes else {},
        agent=args.agent,
        rules_off=frozenset(part.strip() for part in (args.allow or "").split(",") if part.strip()),
        near=args.near,
        find_near=args.find_near,
        vectors=args.vectors,
        without_embedding=args.without_vectors,
        conflicts=args.conflicts,
        left_out=parse_numbers(args.leave_out),
        mask_secrets=args.mask_secrets,
        prose=args.prose,
        sessions=args.sessions,
        encoding=args.encoding,
        parts=args.parts or "",
    )
