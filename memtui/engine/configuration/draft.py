"""A planned change of the configuration as it is looked at before it is written: settings, files, consequences."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.configuration.consequences import Consequence, consequences_of
from memtui.engine.configuration.file import REMOVED, Configuration
from memtui.engine.configuration.key_checks import KeyCheck, checks_for
from memtui.engine.configuration.options import ConfigOption
from memtui.engine.configuration.plans import (
    ConfigPlan,
    SettingChange,
    block_under,
    change_to,
    check_no_literal,
    settings_under,
)
from memtui.engine.configuration.rules import Problem, problems_of
from memtui.engine.core.secrets import mask
from memtui.engine.discovery.variables import MASK, mask_text

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


_KEY = re.compile(
    r"(?P<lead>[\w-]*(?:key|token|secret|passw\w*|authorization)[\"']?\s*[:=]\s*(?P<quote>[\"']))"
    r"(?P<value>[^\"'\n]*)(?P=quote)",
    re.IGNORECASE,
)

_BARE_KEY = re.compile(
    r"(?P<lead>^\s*(?:- )?[\w-]*(?:key|token|secret|passw\w*|authorization):[ \t]+)(?P<value>[^\s\"'{\[].*?)"
    r"(?P<quote>[ \t]*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""As YAML has it."""


@dataclass(frozen=True, slots=True)
class ConfigDraft:
    """A planned change; nothing is written."""

    config: Configuration
    name: str
    """What the record of the write calls it."""
    title: str
    changes: tuple[SettingChange, ...]
    consequences: tuple[Consequence, ...]
    problems: tuple[Problem, ...]
    """What would be wrong once it is written."""
    checks: tuple[KeyCheck, ...]
    """The requests that would tell whether the services work; none was made."""
    missing: tuple[str, ...]
    """Variables that it needs and that are not set here."""

    @property
    def values(self) -> dict[str, Any]:
        """Each setting with what it becomes, named as the plugin names it; None for one that goes."""
        return {change.short: None if change.after is REMOVED else change.after for change in self.changes}

    @property
    def difference(self) -> tuple[str, ...]:
        """The difference of the files' texts, line by line; keys that are written out are masked."""
        texts = self.config.with_settings([(change.path, change.after) for change in self.changes])
        return text_difference([(str(path), self.config.texts[path], text) for path, text in texts.items()])

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that the checks would ask, each once."""
        return tuple(dict.fromkeys(check.host for check in self.checks))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems with which the plugin would not work."""
        return tuple(problem for problem in self.problems if problem.severity == "error")


def draft_of(
    config: Configuration,
    changes: Sequence[SettingChange],
    *,
    name: str,
    title: str,
    keys: Iterable[str] = (),
    store: Store | None = None,
    environ: Mapping[str, str],
) -> ConfigDraft:
    """Work out what a change would bring; `keys` are variables that it needs, `store` is the agent's, if it opens."""
    settings = settings_under(config, changes)
    return ConfigDraft(
        config,
        name,
        title,
        tuple(changes),
        consequences_of(config, changes, store, environ=environ),
        problems_of(config, block_under(config, changes), store),
        checks_for(settings, config.loaded.environ),
        tuple(key for key in keys if not config.loaded.environ.get(key)),
    )


def draft_plan(
    config: Configuration, plan: ConfigPlan, changes: Sequence[SettingChange], *, store: Store | None = None,
    environ: Mapping[str, str],
) -> ConfigDraft:  # fmt: skip
    """Work out what a plan's changes bring; some of them may have been left out or changed."""
    return draft_of(
        config, changes, name=plan.name, title=plan.title, keys=plan.keys, store=store, environ=environ
    )


def plan_option(config: Configuration, option: ConfigOption, value: Any) -> tuple[SettingChange, ...]:
    """Plan one setting; REMOVED takes it out, so that the default counts. Empty where it is so already.

    Raises UsageError for a key that is written out.
    """
    check_no_literal(option.path, value)
    path = (*config.config_path, *option.path.split("."))
    change = change_to(config, path, value, option.meaning)
    return () if change is None else (change,)


def text_difference(pairs: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """The unified difference of files (name, before, after); keys that are written out are masked."""
    lines: list[str] = []
    for name, before, after in pairs:
        lines += difflib.unified_diff(
            _masked(before).splitlines(), _masked(after).splitlines(), name, name, lineterm="", n=1
        )
    return tuple(lines)


def written_difference(files: Iterable[Any]) -> tuple[str, ...]:
    """The difference that a write made (its `WrittenFile`s), from the backups to what the files hold now."""
    return text_difference(
        (file.path, Path(file.backup).read_text("utf-8"), Path(file.path).read_text("utf-8"))
        for file in files
    )


def _masked(text: str) -> str:
    """The text of a configuration without the keys that are written out in it."""

    def hide(match: re.Match[str]) -> str:
        known = "${" in match["value"] or match["value"] == "ollama"
        return match[0] if known else f"{match['lead']}{MASK}{match['quote']}"

    return mask_text(mask(_BARE_KEY.sub(hide, _KEY.sub(hide, text)))[0])
