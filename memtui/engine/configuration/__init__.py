"""The agent's configuration: its problems, plans for it, what they would change, and writing it byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.configuration.consequences import Consequence, consequences_of
    from memtui.engine.configuration.file import REMOVED, Configuration, open_config
    from memtui.engine.configuration.flight import fly
    from memtui.engine.configuration.key_checks import WORD, KeyCheck, KeyResult, checks_for, run_checks
    from memtui.engine.configuration.plans import PLANS, ConfigPlan, SettingChange, plan_changes, plan_named
    from memtui.engine.configuration.rules import Problem, problems_of
    from memtui.engine.configuration.write import last_record, undo_write, write_changes

__all__ = [
    "PLANS",
    "REMOVED",
    "WORD",
    "ConfigPlan",
    "Configuration",
    "Consequence",
    "KeyCheck",
    "KeyResult",
    "Problem",
    "SettingChange",
    "checks_for",
    "consequences_of",
    "fly",
    "last_record",
    "open_config",
    "plan_changes",
    "plan_named",
    "problems_of",
    "run_checks",
    "undo_write",
    "write_changes",
]

__getattr__ = lazy_names(
    __name__,
    {
        "ConfigPlan": "memtui.engine.configuration.plans",
        "Configuration": "memtui.engine.configuration.file",
        "Consequence": "memtui.engine.configuration.consequences",
        "KeyCheck": "memtui.engine.configuration.key_checks",
        "KeyResult": "memtui.engine.configuration.key_checks",
        "PLANS": "memtui.engine.configuration.plans",
        "Problem": "memtui.engine.configuration.rules",
        "REMOVED": "memtui.engine.configuration.file",
        "SettingChange": "memtui.engine.configuration.plans",
        "WORD": "memtui.engine.configuration.key_checks",
        "checks_for": "memtui.engine.configuration.key_checks",
        "consequences_of": "memtui.engine.configuration.consequences",
        "fly": "memtui.engine.configuration.flight",
        "last_record": "memtui.engine.configuration.write",
        "open_config": "memtui.engine.configuration.file",
        "plan_changes": "memtui.engine.configuration.plans",
        "plan_named": "memtui.engine.configuration.plans",
        "problems_of": "memtui.engine.configuration.rules",
        "run_checks": "memtui.engine.configuration.key_checks",
        "undo_write": "memtui.engine.configuration.write",
        "write_changes": "memtui.engine.configuration.write",
    },
)
