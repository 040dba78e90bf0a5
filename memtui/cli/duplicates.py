"""`memtui duplicates`: memories that say the same, in clusters."""

from __future__ import annotations

import argparse

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.engine import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui duplicates`."""
    parser.add_argument("filter", nargs="*", metavar="FILTER", help="only among these, as in memtui ls")
    parser.add_argument(
        "--similarity", type=float, default=0.95, metavar="COSINE", help="0.7 to 1 (default 0.95)"
    )
    parser.add_argument("--across-scopes", action="store_true", help="also between scopes")


def run(args: argparse.Namespace) -> int:
    """Look for duplicates."""
    engine = open_for(args)
    engine.load_catalog()
    engine.load_metadata()
    floor = min(0.9, args.similarity)
    near = engine.curate.duplicates(" ".join(args.filter), floor=floor, across_scopes=args.across_scopes)
    clusters = near.clusters(args.similarity)
    texts = engine.memories([each for cluster in clusters for each in cluster.ids])
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
                            {"id": each, "similarity": similarity, "text": texts[each].raw_text}
                            for each, similarity in zip(cluster.ids, cluster.similarities, strict=True)
                            if each in texts
                        ],
                    }
                    for cluster in clusters
                ],
            }
        )
        return 0
    for cluster in clusters:
        print_text(
            f"{len(cluster.ids)} in {cluster.scope or '(no scope)'}, at least {cluster.lowest:.3f} alike"
        )
        for each, similarity in zip(cluster.ids, cluster.similarities, strict=True):
            print_text(f"  {similarity:.3f}  {each}  {texts[each].title[:90] if each in texts else ''}")
    extra = sum(len(cluster.ids) - 1 for cluster in clusters)
    merged = counted(extra, "memory", "memories")
    print_text(f"{counted(len(clusters), 'cluster')}, {merged} to merge away, of {near.compared:,} compared")
    return 0
