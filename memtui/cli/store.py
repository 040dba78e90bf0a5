"""From the command line's words to an opened engine."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

from memtui.engine import Engine, UsageError, open_engine

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


def open_for(args: argparse.Namespace, now: Callable[[], int] = wall_clock) -> Engine:
    """The engine on the store that `args` name, else on the discovered one."""
    return open_engine(
        args.store,
        now=now,
        environ=os.environ,
        cwd=Path.cwd(),
        table=args.table,
        columns=column_map(args.columns),
    )
