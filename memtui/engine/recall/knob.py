"""One parameter of a recall that a person can turn: where it stands in a request, its range and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from memtui.engine.recall.request import SOURCES

Kind = Literal["number", "whole", "choice", "switch"]


@dataclass(frozen=True, slots=True)
class Knob:
    """One parameter. `path` is where it stands: `limit`, `retrieval.minScore`, `decay.betaCore`, ..."""

    path: str
    kind: Kind
    meaning: str
    low: float = 0.0
    high: float = 1.0
    step: float = 0.001
    """The finest change that is offered, and counted as one step."""
    choices: tuple[Any, ...] = ()
    resolved: str = ""
    """Where the resolved settings have it, where that is not `path`."""

    @property
    def span(self) -> float:
        """Length of its range, the measure that a change is compared with."""
        return self.high - self.low

    @property
    def notch(self) -> float:
        """What one press of a key turns it by: about a fortieth of its range, a round number of steps."""
        rough = self.span / 40 / self.step
        round_ones = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500)
        return self.step * next((each for each in reversed(round_ones) if each <= rough), 1)

    def clamp(self, value: float) -> float | int:
        """The nearest value that lies on a step within the range."""
        steps = round((min(self.high, max(self.low, value)) - self.low) / self.step)
        exact = self.low + steps * self.step
        return round(exact) if self.kind == "whole" else round(exact, 6)


def share(name: str, meaning: str, high: float = 1.0) -> Knob:
    """A number from 0 to `high`."""
    return Knob(name, "number", meaning, 0.0, high)


def days(name: str, meaning: str, low: float = 0.0) -> Knob:
    """A number of days from `low` to a year."""
    return Knob(name, "number", meaning, low, 365.0, 1.0)


LIMIT = Knob("limit", "whole", "how many memories come back", 1, 20, 1)

SOURCE = Knob("source", "choice", "who asks", choices=SOURCES)
