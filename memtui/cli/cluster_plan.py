"""The options of commands that a cluster can work for: a plan, its parts, and running it here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.output import print_json, print_text
from memtui.cli.progress import shown
from memtui.engine import UsageError, counted
from memtui.engine.cluster import run_plan
from memtui.paths import store_state_dir

if TYPE_CHECKING:
    from memtui.engine.cluster import ClusterPlan


def add_cluster_arguments(parser: argparse.ArgumentParser, makes: str) -> None:
    """A plan for a cluster that `makes` something, and what it made."""
    parser.add_argument(
        "--plan", choices=("ray",), help=f"write a script that makes {makes} on a cluster, and stop there"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", default=2, help="plan: number of workers (default 2)"
    )
    parser.add_argument(
        "--run", action="store_true", help="plan: also run the script here, and continue with its result"
    )
    parser.add_argument(
        "--parts",
        metavar="PLACE",
        help="folder or address of a cluster's results",
    )


def check_cluster_arguments(args: argparse.Namespace) -> None:
    """Refuse options of a plan without one."""
    if not args.plan and (args.run or args.workers != 2):
        raise UsageError("--run and --workers belong to a plan.", fix="Add: --plan ray")


def plan_folder(uri: str, name: str) -> Path:
    """Where the script of a command goes."""
    return store_state_dir(uri) / "ray" / name


def planned(
    args: argparse.Namespace, made: ClusterPlan, go_on: Callable[[], int], *, schema: str, then: str
) -> int:
    """Tell of a script that was written; with --run do it here, and `go_on` with its parts. The exit code."""
    if args.run:
        if find_spec("lance_ray") is None:
            raise UsageError("Ray is not installed.", fix="Install it with: pip install 'memtui[ray]'")
        with shown(sys.stderr) as on_progress:
            run_plan(made.script, sys.executable, on_progress=on_progress)
        args.parts = made.parts
        return go_on()
    document: dict[str, Any] = {
        "schema": schema,
        "plan": "ray",
        "script": str(made.script),
        "parts": made.parts,
        "rows": made.rows,
        "version": made.version,
        "workers": args.workers,
    }
    if args.json:
        print_json(document)
        return 0
    print_text(
        f"{made.script}: {counted(made.rows, 'row')} of version {made.version} on {counted(args.workers, 'worker')}"
    )
    print_text(f"run it where Ray is: python {made.script.name}   (pip install 'memtui[ray]')")
    print_text(f"then here: memtui {then} --parts {made.parts}")
    return 0
