"""What Health knows: findings, indexes, versions, the configuration, and the cursor in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from memtui.engine import Memory
    from memtui.engine.configuration import (
        ConfigDraft,
        ConfigOption,
        Consequence,
        Flight,
        Problem,
        SettingChange,
    )
    from memtui.engine.health import (
        Examination,
        HealthFinding,
        IndexReport,
        NamedVersion,
        VersionEntry,
    )


View = Literal["doctor", "indexes", "versions", "config"]

VIEWS: tuple[View, ...] = ("doctor", "indexes", "versions", "config")


@dataclass(frozen=True, slots=True)
class OptionLine:
    """One option: what counts now, and what the plan would make of it."""

    option: ConfigOption
    value: Any
    """None where it is not set, and the default counts."""
    is_set: bool
    change: SettingChange | None = None


@dataclass(frozen=True, slots=True)
class Turned:
    """What the person turned on top of a plan, by dotted path below the plugin's settings."""

    plan: str = "own"
    """The plan that was chosen; at first that of nothing but what the person turned."""
    edits: Mapping[str, Any] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    """Settings of the plan that stay as they are."""


@dataclass(frozen=True, slots=True)
class ConfigView:
    """The configuration as it is shown: problems, one plan with what it brings, and every option."""

    file: str
    turned: Turned
    draft: ConfigDraft | None = None
    problems: tuple[Problem, ...] = ()
    lines: tuple[OptionLine, ...] = ()
    error: str = ""
    owner: str = ""
    """The plugin that has the memory slot in place of memory-lancedb-pro, whose plans and options these are."""
    of_demo: bool = False
    """Whether the store is the demo, which no agent's configuration names."""
    flight: Flight | None = None
    """What the cases and the last questions answer under it; None until it was flown."""
    talks: tuple[str, ...] = ()
    """What the saved conversations leave now and under the plan."""
    offered: tuple[tuple[str, str, int], ...] = ()
    """The plans that can be chosen: letter, title, and how many settings each would change here."""

    @property
    def plan(self) -> str:
        """The plan's letter."""
        return self.turned.plan

    @property
    def title(self) -> str:
        """The plan in words."""
        return self.draft.title if self.draft is not None else ""

    @property
    def changes(self) -> tuple[SettingChange, ...]:
        """Settings that would change."""
        return self.draft.changes if self.draft is not None else ()

    @property
    def consequences(self) -> tuple[Consequence, ...]:
        """What they bring."""
        return self.draft.consequences if self.draft is not None else ()

    def line(self, cursor: str) -> OptionLine | None:
        """The option of the row under the cursor: the row of an option has its dotted path, that of a problem the
        path of what is wrong within the file."""
        named = cursor
        for problem in self.problems:
            if cursor == f"problem:{problem.path}:{problem.rule}":
                named = f".{problem.path}"
        whole = next((line for line in self.lines if line.option.path == named), None)
        return whole or next((line for line in self.lines if named.endswith(f".{line.option.path}")), None)

    def offer(self, cursor: str) -> str | None:
        """The letter of the plan of the row under the cursor."""
        return next((letter for letter, *_ in self.offered if cursor == f"plan:{letter}"), None)


@dataclass(frozen=True, slots=True)
class VersionAnswers:
    """One question asked on an older version and on the newest one: (id, words) in the order of their places."""

    query: str
    version: int
    then: tuple[tuple[str, str], ...]
    now: tuple[tuple[str, str], ...]

    def place_now(self, memory: str) -> int | None:
        """Where a memory comes today; None where it does not."""
        return next((at for at, (each, _) in enumerate(self.now, 1) if each == memory), None)


@dataclass(frozen=True, slots=True)
class HealthState:
    """Everything that is painted; None is not read yet."""

    view: View = "doctor"
    zoom: str = ""
    found: Examination | None = None
    deep: bool = False
    """Whether vectors and texts were looked at."""
    looking: str = ""
    """What is being looked at, and how far; empty when nothing is."""
    cursor: str = ""
    indexes: tuple[IndexReport, ...] | None = None
    advice: str = ""
    versions: tuple[VersionEntry, ...] | None = None
    version: int = 0
    difference: tuple[Any, ...] | None = None
    marked: frozenset[str] = frozenset()
    """Ids of the difference that are to be brought back."""
    names: tuple[NamedVersion, ...] = ()
    unfolded: bool = False
    """Whether every injection has a line of its own."""
    answers: VersionAnswers | None = None
    """A question asked at the version and today."""
    rows: Mapping[str, Memory] = field(default_factory=dict)
    """Memories that findings name, as far as they were read."""
    config: ConfigView | None = None
    listing: bool = False
    """Whether every option is listed, not the plan's alone."""

    @property
    def finding(self) -> HealthFinding | None:
        """The finding under the cursor."""
        found = () if self.found is None else self.found.findings
        return next(
            (finding for finding in found if finding.kind == self.cursor), found[0] if found else None
        )

    @property
    def index(self) -> IndexReport | None:
        """The index under the cursor."""
        found = self.indexes or ()
        return next((each for each in found if each.index.name == self.cursor), found[0] if found else None)

    @property
    def entry(self) -> VersionEntry | None:
        """The version under the cursor."""
        found = self.versions or ()
        return next((each for each in found if each.version == self.version), found[0] if found else None)
