"""`memtui stats`: counts, mix and findings."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text
from memtui.engine import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`memtui stats` has no options of its own."""


def run(args: argparse.Namespace) -> int:
    """Count."""
    engine = open_for(args)
    engine.load_catalog()
    engine.load_metadata()
    info, stats = engine.info, engine.stats()
    if args.json:
        print_json({"store": asdict(info), **asdict(stats)})
        return 0
    print_text(f"{info.name}  {info.dialect_title}\n{info.uri}")
    size = f"{info.size_bytes / 1e6:.1f} MB"
    print_text(
        f"{counted(info.rows, 'memory', 'memories')}, {stats.added_7d} in the last 7 days,"
        f" version {info.version}, {size}"
    )
    print_text(f"vectors {info.dims or 'none'}   full text {info.full_text}   embedder {info.embedder}\n")
    for title, counts in (
        ("scope", stats.scopes),
        ("category", stats.categories),
        ("tier", stats.tiers),
        ("state", stats.states),
        ("importance label", stats.labels),
        ("trust tier", stats.trust_tiers),
    ):
        if counts:
            print_table(
                [(str(key) if key is not None else "(none)", str(count)) for key, count in counts],
                (title, "memories"),
                right_aligned=(1,),
            )
            print_text("")
    for finding in stats.findings:
        print_text(f"! {finding.count} {finding.title}: {finding.remedy}")
    for warning in info.warnings:
        print_text(f"! {warning}")
    return 0
