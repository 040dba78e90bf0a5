"""What a person left the screen like: small JSON files, one for the app and one for each store."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memtui.engine.changes.process_lock import ProcessLock
from memtui.engine.core.errors import RefusedError
from memtui.paths import state_dir, store_state_dir

MOST_BYTES = 1 << 20
"""A file of ours is a few kilobytes; a larger one is none of ours."""

PATIENCE_S = 2.0

Values = dict[str, Any]
"""Names to what JSON knows."""


class UiState:
    """Named values in `path`, which need not exist. Losing them is no harm: nothing here raises.

    A change reads the file again under a lock and replaces it whole, so that of two running memtui each keeps
    what the other wrote under other names.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Values:
        """Everything that is kept; empty where the file is absent, damaged or too large to be ours."""
        try:
            with self.path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            value = json.loads(data) if len(data) <= MOST_BYTES else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def put(self, values: Mapping[str, Any]) -> bool:
        """Set these names, a None takes its name away; whether it is on disk."""
        return self.change(lambda kept: kept.update(values))

    def change(self, edit: Callable[[Values], object]) -> bool:
        """Let `edit` change what is kept at this moment; whether it is on disk. For a worker: it may wait."""
        try:
            with ProcessLock(self.path.with_suffix(".lock"), patience_s=PATIENCE_S):
                return self._replace(edit)
        except (OSError, RefusedError):
            return False

    def _replace(self, edit: Callable[[Values], object]) -> bool:
        before = self.read()
        after = dict(before)
        edit(after)
        after = {name: value for name, value in after.items() if value is not None}
        if after == before:
            return True
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                file.write(json.dumps(after, indent=1).encode() + b"\n")
            os.replace(beside, self.path)
        except (OSError, TypeError, ValueError):
            with contextlib.suppress(OSError):
                beside.unlink()
            return False
        return True


KEYS, GENERATION = "keys", 2
"""The name under which it is kept which keys a person has worked with, and what is kept of those of today."""


def knew_before(kept: UiState) -> bool:
    """Whether somebody worked here with other keys than those of today; from now on these are known."""
    before = kept.read()
    kept.put({KEYS: GENERATION})
    return bool(before) and before.get(KEYS) != GENERATION


def app_state(environ: Mapping[str, str] = os.environ) -> UiState:
    """What belongs to no store: the theme and the screen of the last run, which a store never seen begins with."""
    return UiState(state_dir(environ) / "ui.json")


def store_ui_state(uri: str, environ: Mapping[str, str] = os.environ) -> UiState:
    """How the store at `uri` (as in `StoreInfo`) was looked at: theme, screen, filter, order, widths, saved views."""
    return UiState(store_state_dir(uri, environ) / "ui.json")


def unsaved_edits(uri: str, environ: Mapping[str, str] = os.environ) -> UiState:
    """What was typed of memories of the store at `uri` and not applied yet; `uri` as in `StoreInfo`."""
    return UiState(store_state_dir(uri, environ) / "unsaved.json")
