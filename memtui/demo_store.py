"""The demo store as a target: it is made on first use, and its agents live in a home of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memtui.paths import cache_dir, of_another_home

DEMO = "demo"
"""The target that means the demo store."""


def demo_store(now_ms: int, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the demo store; made now when it is not there yet."""
    from memtui.engine.demo import build_demo, demo_folder

    return build_demo(demo_folder(cache_dir(environ)), now_ms=now_ms)


def is_demo(target: str | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a target is the demo store, by its name or by its path: a screen that switches tables has the path."""
    from memtui.engine.demo import demo_folder

    return target is not None and target in (DEMO, str(demo_folder(cache_dir(environ))))


def agents_environ(target: str | None, environ: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """The environment in which the agents of a store are looked for: `environ`, for the demo store its own home."""
    from memtui.engine.demo import demo_folder, demo_home

    if not is_demo(target, environ):
        return environ
    return of_another_home(environ, demo_home(demo_folder(cache_dir(environ))))
