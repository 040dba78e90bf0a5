"""The edit of the configuration that revives a part of an agent's memory, as a preview of the doctor's view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine import MemtuiError
from memtui.tui.dialogs.config_preview import PlannedConfig

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.configuration import Configuration
    from memtui.engine.health import HealthFinding
    from memtui.tui.config_request import Make


def causes_of(finding: HealthFinding) -> tuple[str, ...]:
    """The codes of `memtui alive` that a finding tells of; empty for a finding of another kind."""
    codes = finding.seen.detail.get("causes", ())
    return tuple(codes) if finding.check.back == "memtui config undo" else ()


def revival_to_write(codes: Sequence[str]) -> Make:
    """The edits of the first of these causes that an edit fixes; for a worker.

    Raises MemtuiError with what a person has to do where none is fixed by an edit.
    """

    def make(engine: Engine, config: Configuration) -> PlannedConfig:
        from memtui.engine.alive import check_alive, plan_revival
        from memtui.engine.configuration import draft_of

        found = check_alive(engine.environ, Path.cwd(), now_ms=engine.now_ms)
        causes = [cause for _, _, cause in found.causes if cause.code in codes]
        fixed = next((cause for cause in causes if cause.edits), None)
        if fixed is None:
            by_hand = next((cause.fix for cause in causes), "Refresh.")
            raise MemtuiError("No edit of the configuration fixes it.", fix=by_hand)
        planned = plan_revival(found, fixed.code, engine.environ, Path.cwd())
        draft = draft_of(
            planned.config,
            planned.changes,
            name=f"alive {fixed.code}",
            title=fixed.sentence,
            store=engine.store,
            environ=engine.environ,
        )
        return PlannedConfig(draft, (fixed.sentence,), "WHY")

    return make
