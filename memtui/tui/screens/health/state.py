"""What Health knows: findings, indexes, versions, the configuration, and the cursor in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from memtui.engine.health import (
        Examination,
        HealthFinding,
        IndexReport,
        NamedVersion,
        VersionEntry,
    )
    from memtui.tui.screens.health.configuring import ConfigView
    from memtui.tui.screens.health.versioning import VersionAnswers


View = Literal["doctor", "indexes", "versions", "config"]

VIEWS: tuple[View, ...] = ("doctor", "indexes", "versions", "config")


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
    config: ConfigView | None = None
    listing: bool = False
    """Whether every option is listed, not the plan's alone."""

    @property
    def finding(self) -> HealthFinding | None:
        """The finding under the cursor."""
        found = () if self.found is None else self.found.findings
        return next((each for each in found if each.kind == self.cursor), found[0] if found else None)

    @property
    def entry(self) -> VersionEntry | None:
        """The version under the cursor."""
        found = self.versions or ()
        return next((each for each in found if each.version == self.version), found[0] if found else None)
