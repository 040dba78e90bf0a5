"""The options that make a question, shared by the commands that ask one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from memtui.engine import RecallRequest, UsageError
from memtui.engine.discovery import (
    read_config,
)
from memtui.engine.recall import (
    UNSET,
)


def add_question_options(parser: argparse.ArgumentParser) -> None:
    """Recipe, settings, scopes, category, agent, limit, clock, vector, table version."""
    parser.add_argument(
        "--recipe",
        metavar="NAME",
        default="",
        help="memtui, pro/agent, pro/tool, pro/cli, pro/article, memory-lancedb, mem-engine, memory-core, crewai, "
        "hermes",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="JSON or JSON5 with the plugin's retrieval and decay blocks"
    )
    parser.add_argument(
        "--scope", metavar="SCOPE", action="append", help="only this scope; may be given several times"
    )
    parser.add_argument(
        "--all-scopes",
        action="store_true",
        help="search every scope (an agent's own recall never does)",
    )
    parser.add_argument("--category", metavar="NAME", help="only this category")
    parser.add_argument(
        "--agent",
        metavar="ID",
        default="",
        help="the agent that asks; only scopes it can read are searched (default for an "
        "agent's recipe: the configured one, else main)",
    )
    parser.add_argument(
        "--limit", type=int, metavar="K", help="number of results (the plugin allows 1 to 20)"
    )
    parser.add_argument(
        "--now", type=int, metavar="MS", help="recall as of this time, milliseconds since the epoch"
    )
    parser.add_argument("--query-vector", metavar="FILE", help="JSON list or .npy in place of the embedder")
    parser.add_argument(
        "--table-version", type=int, metavar="N", help="recall on this older version of the table, read only"
    )


def request_of(args: argparse.Namespace) -> RecallRequest:
    """The request that the options make."""
    return RecallRequest(
        query=args.query,
        recipe=args.recipe,
        config=read_config(args.config),
        whole_config=args.config is not None,
        scopes=scopes_of(args),
        category=args.category,
        limit=args.limit,
        now_ms=args.now,
        query_vector=read_vector(args.query_vector),
        agent=args.agent,
        table_version=args.table_version,
    )


QUESTION_OPTIONS = {
    "recipe": "recipe",
    "config": "config",
    "scope": "scopes",
    "all_scopes": "scopes",
    "category": "category",
    "agent": "agent",
    "limit": "limit",
    "now": "now_ms",
    "query_vector": "query_vector",
    "table_version": "table_version",
}
"""Each of the options by its name in the arguments, and the part of the request that it gives."""


def given_of(args: argparse.Namespace) -> dict[str, Any]:
    """The parts of a request that were given as options, by their names."""
    request = request_of(args)
    named = {
        part for option, part in QUESTION_OPTIONS.items() if getattr(args, option) not in (None, "", False)
    }
    return {part: getattr(request, part) for part in named}


def refuse_options(args: argparse.Namespace, options: Iterable[str], beside: str) -> None:
    """Raise UsageError for the first of these options that was given and has no meaning `beside` another."""
    for option in options:
        if getattr(args, option) not in (None, "", False):
            name = "--" + option.replace("_", "-")
            raise UsageError(f"{name} has no meaning beside {beside}.", fix=f"Leave {name} out.")


def scopes_of(args: argparse.Namespace) -> Any:
    """The scopes that the options name: several, None for all of them, UNSET for what the asker may read."""
    if args.scope is not None:
        return args.scope
    return None if args.all_scopes else UNSET


def read_vector(path: str | None) -> list[float] | None:
    """The numbers in a JSON list or a .npy file, None without one; UsageError for anything else."""
    if path is None:
        return None
    try:
        if path.endswith(".npy"):
            import numpy as np

            loaded = np.load(path, allow_pickle=False)
            if loaded.ndim > 1 and loaded.shape[0] != 1:
                _not_flat(path)
            return [float(x) for x in loaded.reshape(-1)]
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as failure:
        raise UsageError(
            f"--query-vector {path} cannot be read: {failure.strerror}.", fix="Name an existing file."
        ) from None
    except (ValueError, EOFError, RecursionError):
        _not_flat(path)
    if not isinstance(value, list) or not all(type(item) in (int, float) for item in value):
        _not_flat(path)
    return [float(item) for item in value]


def _not_flat(path: str) -> NoReturn:
    raise UsageError(
        f"--query-vector {path} does not hold one flat list of numbers.",
        fix="Give a JSON list or a one-dimensional .npy.",
    )
