"""The embedded demo store: a year in the memory of a small software team's agents. All of it is invented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.demo.build import build_demo
    from memtui.engine.demo.content import DemoQuestion, questions
    from memtui.engine.demo.folder import (
        GENERATION,
        DemoMark,
        demo_folder,
        demo_home,
        demo_state,
        is_complete,
        read_mark,
    )

__all__ = [
    "GENERATION",
    "DemoMark",
    "DemoQuestion",
    "build_demo",
    "demo_folder",
    "demo_home",
    "demo_state",
    "is_complete",
    "questions",
    "read_mark",
]

__getattr__ = lazy_names(
    __name__,
    {
        "DemoMark": "memtui.engine.demo.folder",
        "DemoQuestion": "memtui.engine.demo.content",
        "GENERATION": "memtui.engine.demo.folder",
        "build_demo": "memtui.engine.demo.build",
        "demo_folder": "memtui.engine.demo.folder",
        "demo_home": "memtui.engine.demo.folder",
        "demo_state": "memtui.engine.demo.folder",
        "is_complete": "memtui.engine.demo.folder",
        "questions": "memtui.engine.demo.content",
        "read_mark": "memtui.engine.demo.folder",
    },
)
