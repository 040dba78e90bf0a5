"""The embedded demo store: a year in the memory of a small software team's agents. All of it is invented."""

from __future__ import annotations

from memtui.engine.demo.build import (
    GENERATION,
    DemoMark,
    build_demo,
    demo_folder,
    demo_state,
    is_complete,
    read_mark,
)
from memtui.engine.demo.content import DemoQuestion, questions
from memtui.engine.demo.sessions import demo_home

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
