"""`memtui duplicates`: memories that say the same, in clusters."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from memtui.cli.cluster_plan import (
    add_cluster_arguments,
    check_cluster_arguments,
    plan_folder,
    planned,
)
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_row, print_text
from memtui.cli.progress import shown
from memtui.engine import counted, quoted
from memtui.engine.health import duplicates_job, find_duplicates

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.health import Near


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui duplicates`."""
    parser.add_argument(
        "filter",
        nargs="*",
        metavar="FILTER",
        help="limit to memories that match this filter (see memtui help filter)",
    )
    parser.add_argument(
        "--similarity", type=float, default=0.95, metavar="COSINE", help="0.7 to 1 (default 0.95)"
    )
    parser.add_argument("--across-scopes", action="store_true", help="also across scopes")
    add_cluster_arguments(parser, "the comparison")


def run(args: argparse.Namespace) -> int:
    """Look for duplicates, here or by a cluster."""
    engine = open_for(args)
    engine.load_catalog()
    engine.load_metadata()
    check_cluster_arguments(args)
    wanted, floor = " ".join(args.filter), min(0.9, args.similarity)
    if not args.plan and not args.parts:
        near = find_duplicates(engine, wanted, floor=floor, across_scopes=args.across_scopes)
        return _tell(engine, near, args)
    job = duplicates_job(engine, wanted, floor=floor, across_scopes=args.across_scopes)

    def take() -> int:
        with shown(sys.stderr) as on_progress:
            return _tell(engine, job.take(args.parts, on_progress), args)

    if not args.plan:
        return take()
    made = job.plan(plan_folder(engine.info.uri, "duplicates"), parts=args.parts or "", workers=args.workers)
    across = " --across-scopes" if args.across_scopes else ""
    asked = "".join(f" {quoted(each)}" for each in args.filter)
    return planned(
        args,
        made,
        take,
        schema="memtui.duplicates.v1",
        then=f"duplicates{asked} --similarity {args.similarity:g}{across}",
    )


def _tell(engine: Engine, near: Near, args: argparse.Namespace) -> int:
    """Print the clusters."""
    clusters = near.clusters(args.similarity)
    texts = engine.memories([memory_id for cluster in clusters for memory_id in cluster.ids])
    if args.json:
        print_json(
            {
                "schema": "memtui.duplicates.v1",
                "similarity": args.similarity,
                "compared": near.compared,
                "without_vector": near.without,
                "clusters": [
                    {
                        "scope": cluster.scope,
                        "exact": cluster.exact,
                        "rows": [
                            {"id": memory_id, "similarity": similarity, "text": texts[memory_id].raw_text}
                            for memory_id, similarity in zip(cluster.ids, cluster.similarities, strict=True)
                            if memory_id in texts
                        ],
                    }
                    for cluster in clusters
                ],
            }
        )
        return 0
    for cluster in clusters:
        print_text(
            f"{len(cluster.ids)} in {cluster.scope or '(no scope)'}, similarity {cluster.lowest:.3f} or more"
        )
        for memory_id, similarity in zip(cluster.ids, cluster.similarities, strict=True):
            print_row(
                f"  {similarity:.3f}  {memory_id}  {texts[memory_id].title[:90] if memory_id in texts else ''}"
            )
    extra = sum(len(cluster.ids) - 1 for cluster in clusters)
    merged = counted(extra, "memory", "memories")
    print_text(f"{counted(len(clusters), 'cluster')}, {merged} to merge away, of {near.compared:,} compared")
    return 0
