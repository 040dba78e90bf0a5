"""The embedded demo store: a year in the memory of a small software team's agents. All of it is invented."""

from __future__ import annotations

from memtui.engine.demo.build import GENERATION, DemoMark, build_demo, demo_folder, is_complete, read_mark
from memtui.engine.demo.sessions import write_sessions

__all__ = [
    "GENERATION",
    "DemoMark",
    "build_demo",
    "demo_folder",
    "is_complete",
    "read_mark",
    "write_sessions",
]
