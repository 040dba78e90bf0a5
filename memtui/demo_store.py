"""The demo store as a target: it is made on first use, and its agents live in a home of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.paths import cache_dir, of_another_home

if TYPE_CHECKING:
    from memtui.engine import Progress

DEMO = "demo"
"""The target that means the demo store."""


def demo_store(
    now_ms: int,
    environ: Mapping[str, str] = os.environ,
    on_progress: Callable[[Progress], None] | None = None,
) -> Path:
    """The folder of the demo store; made now when it is not there yet."""
    from memtui.engine.demo import demo_folder, is_complete

    folder = demo_folder(cache_dir(environ))
    if is_complete(folder):
        return folder
    from memtui.engine.demo_home import build_demo_home  # what only building needs

    return build_demo_home(folder, now_ms=now_ms, on_progress=on_progress)


def is_demo(target: str | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a target is the demo store, by its name or by its path: a screen that switches tables has the path."""
    from memtui.engine.demo import demo_folder

    return target is not None and target in (DEMO, str(demo_folder(cache_dir(environ))))


def agents_environ(target: str | None, environ: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """The environment in which the agents of a store are looked for: `environ`, for the demo store its own home.

    There memtui's own state, the journal for one, is that of the demo, too: it never lies in the person's.
    """
    from memtui.engine.demo import demo_folder, demo_home, demo_state

    if not is_demo(target, environ):
        return environ
    folder = demo_folder(cache_dir(environ))
    return {**of_another_home(environ, demo_home(folder)), "MEMTUI_STATE_DIR": str(demo_state(folder))}
