"""The agent's configuration: its problems, plans for it, what they would change, and writing it byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.configuration.access_plan import (
        ListPlace,
        access_under,
        list_places,
        listed_scopes,
        plan_access,
        rule_place,
        without_lists,
    )
    from memtui.engine.configuration.consequences import Consequence, consequences_of
    from memtui.engine.configuration.draft import (
        ConfigDraft,
        draft_of,
        draft_plan,
        plan_option,
        written_difference,
    )
    from memtui.engine.configuration.file import REMOVED, Configuration, open_config
    from memtui.engine.configuration.flight import Flight, fly
    from memtui.engine.configuration.key_checks import WORD, KeyCheck, KeyResult, checks_for, run_checks
    from memtui.engine.configuration.options import ConfigOption, option
    from memtui.engine.configuration.owner_rules import other_owner
    from memtui.engine.configuration.plans import (
        PLANS,
        ConfigPlan,
        SettingChange,
        plan_changes,
        plan_named,
        setting_path,
        settings_under,
        value_at,
    )
    from memtui.engine.configuration.rules import Problem, options_of, problems_of
    from memtui.engine.configuration.trial_vectors import changes_vectors
    from memtui.engine.configuration.write import ConfigRecord, last_record, undo_write, write_changes

__all__ = [
    "PLANS",
    "REMOVED",
    "WORD",
    "ConfigDraft",
    "ConfigOption",
    "ConfigPlan",
    "ConfigRecord",
    "Configuration",
    "Consequence",
    "Flight",
    "KeyCheck",
    "KeyResult",
    "ListPlace",
    "Problem",
    "SettingChange",
    "access_under",
    "changes_vectors",
    "checks_for",
    "consequences_of",
    "draft_of",
    "draft_plan",
    "fly",
    "last_record",
    "list_places",
    "listed_scopes",
    "open_config",
    "option",
    "options_of",
    "other_owner",
    "plan_access",
    "plan_changes",
    "plan_named",
    "plan_option",
    "problems_of",
    "rule_place",
    "run_checks",
    "setting_path",
    "settings_under",
    "undo_write",
    "value_at",
    "without_lists",
    "write_changes",
    "written_difference",
]

__getattr__ = lazy_names(
    __name__,
    {
        "access_under": "memtui.engine.configuration.access_plan",
        "listed_scopes": "memtui.engine.configuration.access_plan",
        "plan_access": "memtui.engine.configuration.access_plan",
        "without_lists": "memtui.engine.configuration.access_plan",
        "ListPlace": "memtui.engine.configuration.access_plan",
        "list_places": "memtui.engine.configuration.access_plan",
        "rule_place": "memtui.engine.configuration.access_plan",
        "ConfigDraft": "memtui.engine.configuration.draft",
        "draft_of": "memtui.engine.configuration.draft",
        "draft_plan": "memtui.engine.configuration.draft",
        "plan_option": "memtui.engine.configuration.draft",
        "written_difference": "memtui.engine.configuration.draft",
        "settings_under": "memtui.engine.configuration.plans",
        "ConfigOption": "memtui.engine.configuration.options",
        "option": "memtui.engine.configuration.options",
        "setting_path": "memtui.engine.configuration.plans",
        "value_at": "memtui.engine.configuration.plans",
        "Flight": "memtui.engine.configuration.flight",
        "ConfigRecord": "memtui.engine.configuration.write",
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
        "changes_vectors": "memtui.engine.configuration.trial_vectors",
        "fly": "memtui.engine.configuration.flight",
        "last_record": "memtui.engine.configuration.write",
        "open_config": "memtui.engine.configuration.file",
        "plan_changes": "memtui.engine.configuration.plans",
        "plan_named": "memtui.engine.configuration.plans",
        "options_of": "memtui.engine.configuration.rules",
        "other_owner": "memtui.engine.configuration.owner_rules",
        "problems_of": "memtui.engine.configuration.rules",
        "run_checks": "memtui.engine.configuration.key_checks",
        "undo_write": "memtui.engine.configuration.write",
        "write_changes": "memtui.engine.configuration.write",
    },
)
