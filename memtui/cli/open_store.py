"""From the command line's words to an opened engine."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memtui.demo_store import DEMO, agents_environ, demo_store
from memtui.engine import Engine, UsageError, open_engine
from memtui.paths import column_maps_file, settings_file, state_dir
from memtui.settings import load_settings

NOT_OPENED = 4
"""What a check ends with where nothing could be opened, so that 1 means: looked, and something is wrong."""

ROLES = ("id", "text", "vector", "scope", "category", "importance", "timestamp", "metadata", "zone", "unit")


def column_map(text: str | None) -> dict[str, str] | str | None:
    """`id=doc_id,text=body` as a mapping; UsageError with the known roles when it does not parse.

    A word alone is the name of a kept map, whose mapping it becomes, else the name of an extension's dialect.
    """
    if text is None:
        return None
    if text.strip() and not set(text) & set("=,"):
        from memtui.engine.transfer import read_maps

        kept = read_maps(column_maps_file()).get(text.strip())
        return text.strip() if kept is None else dict(kept.columns)
    out: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not equals or role.strip() not in ROLES or not column.strip():
            raise UsageError(
                f"--columns cannot read {part!r}.",
                fix=f"Write ROLE=COLUMN with the roles {', '.join(ROLES)}.",
            )
        out[role.strip()] = column.strip()
    return out


def wall_clock() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def app_options(args: argparse.Namespace) -> dict[str, Any]:
    """What `open_engine` needs beside the target: settings, embedding, table, columns."""
    settings = load_settings(settings_file(), os.environ)
    return {
        "settings": settings,
        "embedding": settings.embedding(os.environ),
        "table": args.table,
        "columns": column_map(args.columns),
        "column_maps": kept_maps(),
    }


def mapping_of(text: str | None) -> dict[str, str]:
    """The mapping of `--columns`, where only a mapping can be used; UsageError for an extension's dialect."""
    found = column_map(text)
    if isinstance(found, str):
        raise UsageError(
            f"There is no kept column map {found!r}.",
            fix="Write ROLE=COLUMN,..., or make one: memtui columns.",
        )
    return found or {}


def kept_maps() -> dict[str, Mapping[str, str]]:
    """The kept column maps by the tables that they belong to."""
    file = column_maps_file()
    if not file.exists():
        return {}
    from memtui.engine.transfer import by_place, read_maps

    return by_place(read_maps(file))


def open_for(
    args: argparse.Namespace,
    now: Callable[[], int] = wall_clock,
    *,
    writable: bool = False,
    keeps_state: bool = True,
) -> Engine:
    """The engine on the store that `args` name, else the settings, else discovery.

    Without `keeps_state` it has no folder of its own, so that nothing at all is written.

    A preview (a dry run, or a command that only --send lets ask a service) sends nothing.
    """
    target = demo_store(wall_clock()) if args.store == DEMO else args.store
    environ = agents_environ(args.store)
    engine = open_engine(
        target,
        now=now,
        environ=environ,
        cwd=Path.cwd(),
        writable=writable,
        state=state_dir(environ) if keeps_state else None,
        **app_options(args),
    )
    if getattr(args, "dry_run", "send" in args) and not getattr(args, "send", False):
        engine.send_nothing()
    return engine
