"""What was decided in the review, kept in a file beside memtui's other state."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.errors import MemtuiError
from memtui.engine.lifecycle.cards import SETTLEMENTS, Settlement

DAY_MS = 86_400_000
VERSION = 1
SKIP_DAYS = 7
KEEP_DAYS = 90
"""A memory that was kept is not asked about again for so long."""
WEEK_DAYS = 7


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of one memory, and when."""

    settlement: Settlement
    at_ms: int

    def holds(self, now_ms: int) -> bool:
        """Whether the memory stays out of the queue; what was written (fix, archive, ...) speaks for itself."""
        days = SKIP_DAYS if self.settlement == "skip" else KEEP_DAYS
        return now_ms - self.at_ms < days * DAY_MS


class ReviewProgress:
    """The decisions of one store in `path` (it need not exist); each is written at once, atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def decisions(self) -> dict[str, Decision]:
        """By memory id, the oldest first. Raises MemtuiError when the file is none of ours."""
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise MemtuiError(
                f"The progress of the review in {self.path} cannot be read.",
                fix="Repair or move the file away.",
                details=str(error),
            ) from None
        found = value.get("decisions") if isinstance(value, dict) else None
        if not isinstance(found, dict):
            raise MemtuiError(
                f"{self.path} does not hold the progress of a review.", fix="Repair or move the file away."
            )
        return {
            key: Decision(each["settlement"], int(each["at_ms"]))
            for key, each in found.items()
            if isinstance(each, dict)
            and each.get("settlement") in SETTLEMENTS
            and isinstance(each.get("at_ms"), int)
        }

    def settle(self, memory: str, settlement: Settlement, now_ms: int) -> None:
        """Note a decision; a later one replaces an earlier one."""
        self._write({**self.decisions(), memory: Decision(settlement, now_ms)})

    def reopen(self, memory: str) -> None:
        """Take a decision back; the memory is in the queue again."""
        self._write({key: each for key, each in self.decisions().items() if key != memory})

    def _write(self, decisions: Mapping[str, Decision]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "version": VERSION,
            "decisions": {
                key: {"settlement": each.settlement, "at_ms": each.at_ms} for key, each in decisions.items()
            },
        }
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        beside.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, self.path)


def settled_lately(decisions: Mapping[str, Decision], now_ms: int) -> int:
    """How many memories were settled in the last seven days; a skipped one is not settled."""
    week = now_ms - WEEK_DAYS * DAY_MS
    return sum(1 for each in decisions.values() if each.settlement != "skip" and each.at_ms > week)
