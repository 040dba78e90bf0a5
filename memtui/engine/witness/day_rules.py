"""Who could read what on a past day: the configuration as it was then, as far as its file and its copies tell.

A configuration file proves what the rules were from its last change on; a copy beside it proves what they were at
its own time. Where neither reaches a moment, today's rules stand in, and every finding says so.
"""

from __future__ import annotations

import calendar
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.access import Access, ScopePolicy
from memtui.engine.core.errors import MemtuiError
from memtui.engine.discovery.openclaw_config import LoadedConfig, load
from memtui.engine.discovery.places import PathReading, read_environment
from memtui.engine.discovery.plugins import settings_block
from memtui.engine.discovery.types import PRO

if TYPE_CHECKING:
    from memtui.engine.witness.rights import Rights


Basis = Literal["unchanged", "copy", "today"]

MOST_COPIES = 200
"""Copies of a configuration that are read, the youngest first."""

_LARGEST = 16_000_000
"""Bytes above which a file beside the configuration is no copy of it."""

_STAMP = re.compile(r"\.memtui-(\d{8}-\d{6})(?:-\d+)?\Z")


@dataclass(frozen=True, slots=True)
class DayRules:
    """The rules of one moment, and how well they are known."""

    access: Access
    basis: Basis
    file: str = ""
    """The file that tells; empty for the rules of a program without a configuration."""
    time_ms: int = 0
    """When the file was changed last, or its copy was made; 0 where that says nothing."""

    @property
    def words(self) -> str:
        """How well the rules are known, behind a rule: by the rules of that day, by today's rules."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self.time_ms / 1000))
        if self.basis == "unchanged":
            return "by the rules of that day: " + (
                f"the configuration is unchanged since {day}" if self.time_ms else "they cannot be configured"
            )
        if self.basis == "copy":
            return f"by the configuration of {day}, the next one known after that turn"
        return "by today's rules: those of that day are not known"

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "basis": self.basis,
            "file": self.file or None,
            "time_ms": self.time_ms or None,
            "words": self.words,
        }


@dataclass(frozen=True, slots=True)
class RulesByDay:
    """Today's rules and those of the copies of their configuration, oldest first."""

    today: Access
    source: str = ""
    changed_ms: int = 0
    copies: tuple[DayRules, ...] = ()

    def on(self, time_ms: int) -> DayRules:
        """The rules at a moment (0: not known when).

        Between two copies the later one counts: a copy is made of what was in force until then.
        """
        if not isinstance(self.today, ScopePolicy):
            return DayRules(self.today, "unchanged")
        if self.source and self.changed_ms and time_ms >= self.changed_ms:
            return DayRules(self.today, "unchanged", self.source, self.changed_ms)
        later = next((copy for copy in self.copies if time_ms and copy.time_ms >= time_ms), None)
        return later or DayRules(self.today, "today", self.source)


def read_day_rules(rights: Rights, environ: Mapping[str, str], cwd: Path) -> RulesByDay | None:
    """The rules by day; None where the configuration throws. A copy that cannot be read is left out."""
    if rights.access is None:
        return None
    if not rights.source or not isinstance(rights.access, ScopePolicy):
        return RulesByDay(rights.access)
    main = Path(rights.source)
    now = _loaded(main, environ, cwd)
    try:
        changed = max(_changed_ms(path) for path in (main, *_included(now)))
    except OSError:
        return RulesByDay(rights.access, rights.source)
    copies = []
    for place, at in _copies_of(main)[:MOST_COPIES]:
        config = _loaded(place, environ, cwd)
        block = settings_block(config.mapping("plugins", "entries", PRO, "config"))
        try:
            if not block or not config.readable or any(_changed_ms(path) > at for path in _included(config)):
                continue  # no configuration of the plugin, or what it includes is not what it was
            rules = ScopePolicy.from_config(block.get("scopes"), environ)
        except (MemtuiError, OSError):
            continue
        copies.append(DayRules(rules, "copy", str(place), at))
    return RulesByDay(rights.access, rights.source, changed, tuple(reversed(copies)))


def _loaded(path: Path, environ: Mapping[str, str], cwd: Path) -> LoadedConfig:
    where = read_environment(environ, cwd)
    return load(PathReading("host", path, path.parent, where.user_home), environ, cwd)


def _included(config: LoadedConfig) -> list[Path]:
    return [Path(include) for include in config.file.includes] if config.file is not None else []


def _copies_of(main: Path) -> list[tuple[Path, int]]:
    """The files beside a configuration that carry its name and more, with their times; the youngest first."""
    found = []
    try:
        with os.scandir(main.parent) as there:
            for entry in there:
                if not entry.name.startswith(f"{main.name}.") or not entry.is_file():
                    continue
                if entry.stat().st_size <= _LARGEST:
                    stamp = _STAMP.search(entry.name)
                    at = _stamped_ms(stamp[1]) if stamp else _changed_ms(Path(entry.path))
                    found.append((Path(entry.path), at))
    except OSError:
        return []
    return sorted(found, key=lambda each: (-each[1], each[0].name))


def _stamped_ms(text: str) -> int:
    try:
        return calendar.timegm(time.strptime(text, "%Y%m%d-%H%M%S")) * 1000
    except ValueError:
        return 0


def _changed_ms(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000
