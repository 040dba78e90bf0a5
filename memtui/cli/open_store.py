"""From the command line's words to an opened engine."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memtui.engine import Engine, UsageError, open_engine
from memtui.paths import settings_file, state_dir
from memtui.settings import load_settings

DEMO = "demo"
"""The target that means the demonstration store, made when it is not there."""

NOT_OPENED = 4
"""What a check ends with where nothing could be opened, so that 1 means: looked, and something is wrong."""

ROLES = ("id", "text", "vector", "scope", "category", "importance", "timestamp", "metadata")


def column_map(text: str | None) -> dict[str, str] | None:
    """`id=doc_id,text=body` as a mapping; UsageError with the known roles when it does not parse."""
    if text is None:
        return None
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


def demo_store() -> Path:
    """The demo store's folder; made now when it is not there yet."""
    from memtui.engine.demo import build_demo, demo_folder
    from memtui.paths import cache_dir

    return build_demo(demo_folder(cache_dir()), now_ms=wall_clock())


def agents_environ(args: argparse.Namespace) -> Mapping[str, str]:
    """Where the agents of the named store are looked for: this machine, for the demo store its own home."""
    from memtui.engine.demo import demo_folder, demo_home
    from memtui.paths import cache_dir, of_another_home

    folder = demo_folder(cache_dir())
    if args.store not in (DEMO, str(folder)):
        return os.environ
    return of_another_home(os.environ, demo_home(folder))


def app_options(args: argparse.Namespace) -> dict[str, Any]:
    """What `open_engine` needs beside the target: settings, embedding, table, columns."""
    settings = load_settings(settings_file(), os.environ)
    return {
        "settings": settings,
        "embedding": settings.embedding(os.environ),
        "table": args.table,
        "columns": column_map(args.columns),
    }


def open_for(
    args: argparse.Namespace, now: Callable[[], int] = wall_clock, *, writable: bool = False
) -> Engine:
    """The engine on the store that `args` name, else the settings, else discovery."""
    target = demo_store() if args.store == DEMO else args.store
    return open_engine(
        target,
        now=now,
        environ=agents_environ(args),
        cwd=Path.cwd(),
        writable=writable,
        state=state_dir(os.environ),
        **app_options(args),
    )
