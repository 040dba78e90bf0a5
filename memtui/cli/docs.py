"""`memtui docs`: an agent's Markdown, indexed and searched as memory-core does."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_table, print_text
from memtui.engine import clean, counted
from memtui.engine.discovery import read_config
from memtui.engine.documents import (
    ColdAnswer,
    ColdLane,
    Ingest,
    SearchRules,
    lane_of,
    open_index,
    read_cold_rules,
    take_in,
)
from memtui.paths import cache_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui docs`."""
    parser.add_argument("folder", metavar="FOLDER", help="an agent's workspace, or a folder of notes")
    parser.add_argument(
        "question", nargs="?", metavar="QUESTION", help="question to search for (default: print the status)"
    )
    parser.add_argument("--limit", type=int, default=6, metavar="N", help="maximum number (default: 6)")
    parser.add_argument(
        "--min-score", type=float, default=0.35, metavar="S", help="minimum score (default: 0.35)"
    )
    parser.add_argument(
        "--half-life",
        type=float,
        metavar="DAYS",
        help="half-life in days of the scores of dated files (memory-core: 30)",
    )
    parser.add_argument("--mmr", type=float, metavar="L", help="diversity (MMR), 0 to 1 (memory-core: 0.7)")
    parser.add_argument(
        "--slugs", action="store_true", help="2026-02-10-api.md has a date, too (later memory-core)"
    )
    parser.add_argument("--words-only", action="store_true", help="without vectors")
    parser.add_argument(
        "--sessions",
        metavar="DIR",
        help="also search the sessions of an agent: its folder, or that of its sessions; secrets removed",
    )
    parser.add_argument(
        "--cold",
        action="store_true",
        help="as mem-engine's cold lane: pieces by headings, without private ones and secrets, within a scope; with "
        "--store they become that store's documents, which its answers consult where memories are few",
    )
    parser.add_argument(
        "--scope", default="global", metavar="S", help="with --cold: the agent of the documents"
    )
    parser.add_argument("--config", metavar="FILE", help="with --cold: the engine's block docsColdLane")


def _held_transcripts(sessions: Path) -> list[tuple[str, str, int]]:
    """The transcripts in the database of an agent, whose folder, or whose folder of sessions, this is."""
    from memtui.engine.witness import read_transcripts

    agent = sessions if (sessions / "agent").is_dir() else sessions.parent
    return list(read_transcripts(agent, agent.name))


def run(args: argparse.Namespace) -> int:
    """Take in what changed, search, print."""
    folder = Path(args.folder).expanduser().absolute()
    if args.cold:
        return _cold(args, folder)
    sessions = None if args.sessions is None else Path(args.sessions).expanduser().absolute()
    name = sha256(str(folder).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    kind = ("words" if args.words_only else "both") + ("" if sessions is None else "-sessions")
    database = cache_dir() / "documents" / f"{name}-{kind}.sqlite"
    held = [] if sessions is None else _held_transcripts(sessions)
    index = open_index(folder, database, words_only=args.words_only, sessions=sessions, transcripts=held)
    try:
        sync = index.sync()
        if args.question is None:
            return _status(args, asdict(sync))
        rules = SearchRules(
            limit=max(1, args.limit),
            min_score=args.min_score,
            half_life_days=args.half_life,
            lam=args.mmr,
            slugs=args.slugs,
        )
        found = index.search(args.question, rules, now_ms=wall_clock())
    finally:
        index.close()
    if args.json:
        print_json({"sync": asdict(sync), **asdict(found)})
        return 0
    if found.hits:
        print_table(
            [
                (
                    f"{hit.path}#L{hit.start_line}-L{hit.end_line}",
                    f"{hit.score:.2f}",
                    f"{hit.vector:.2f}",
                    f"{hit.words:.2f}",
                    f"{hit.decayed_by:.2f}",
                    " ".join(clean(hit.snippet).split())[:80],
                )
                for hit in found.hits
            ],
            ("where", "score", "meaning", "words", "age", "text"),
        )
    else:
        print_text("nothing found")
    if found.hidden:
        print_text(f"{found.hidden} more stand below {args.min_score:g}: --min-score shows them")
    for path in found.orders:
        sys.stderr.write(f"{clean(path)} looks like prompt injection\n")
    return 0


def _cold(args: argparse.Namespace, folder: Path) -> int:
    """Read what changed below the folder, which alone may be read, and ask within the scope."""
    config = read_config(args.config) or {}
    given = config.get("docsColdLane", {})
    block = {**(given if isinstance(given, dict) else {}), "enabled": True}
    if args.store:
        return _of_store(args, folder, block)
    rules = read_cold_rules({**block, "sourceRoots": [str(folder)]})
    lane = open_cold_lane(folder)
    try:
        told = lane.ingest(rules)
        answer = None
        if args.question is not None:
            answer = lane.search(args.question, rules, scope=args.scope, limit=args.limit)
    finally:
        lane.close()
    receipt = None if answer is None else answer.receipt(rules, args.scope)
    return _told(args, told, answer, receipt)


def _of_store(args: argparse.Namespace, folder: Path, block: dict[str, object]) -> int:
    """The same for the documents of a store: the folder joins those that are read already."""
    engine = open_for(args)
    try:
        with lane_of(engine) as lane:
            kept = {} if lane is None else dict(lane.kept_block or {})
        roots = list(dict.fromkeys((*kept.get("sourceRoots", ()), str(folder))))
        whole = {**kept, **block, "sourceRoots": roots}
        told = take_in(engine, whole)
        rules, answer = read_cold_rules(whole), None
        if args.question is not None:
            with lane_of(engine) as lane:
                assert lane is not None  # it was made just now
                answer = lane.search(args.question, rules, scope=args.scope, limit=args.limit)
    finally:
        engine.close()
    return _told(args, told, answer, None if answer is None else answer.receipt(rules, args.scope))


def _told(args: argparse.Namespace, told: Ingest, answer: ColdAnswer | None, receipt: object) -> int:
    if args.json:
        document: dict[str, object] = {"ingest": asdict(told)}
        if answer is not None:
            document |= {"hits": [asdict(hit) for hit in answer.hits], "receipt": receipt}
        print_json(document)
        return 0
    if told.skip_reason:
        print_text(f"nothing was read: {told.skip_reason.replace('_', ' ')}")
    print_text(
        f"{counted(told.files_ingested, 'file')}, {counted(told.chunks_total, 'piece')}: "
        f"{told.chunks_inserted} new, {told.chunks_updated} changed, {told.chunks_unchanged} unchanged, "
        f"{told.chunks_deleted} gone; left out {told.skipped_private} private, {told.skipped_secret_like} with secrets"
    )
    if answer is not None:
        for hit in answer.hits:
            print_text(f"{clean(hit.ref)}  {hit.kind}  {clean(hit.snippet)}")
        print_text(
            f"{answer.raw} found, {answer.scoped} in {clean(args.scope)}, {answer.filtered} left out by the scope"
        )
    return 0


def open_cold_lane(folder: Path) -> ColdLane:
    """The documents of a folder, kept in this user's cache."""
    name = sha256(str(folder).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return ColdLane(cache_dir() / "documents" / f"{name}-cold.sqlite")


def _status(args: argparse.Namespace, sync: dict[str, object]) -> int:
    if args.json:
        print_json({"sync": sync})
        return 0
    print_text(
        f"{counted(int(str(sync['files'])), 'file')}, {counted(int(str(sync['chunks'])), 'piece')}: "
        f"{sync['read']} read, {sync['unchanged']} unchanged, {sync['removed']} gone"
    )
    for each in sync["skipped"]:  # type: ignore[attr-defined]
        print_text(f"left out: {clean(str(each))}")
    return 0
