"""How fast a run goes and how long it will take: pure arithmetic over the progress that was heard."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memtui.engine import Progress


@dataclass(frozen=True, slots=True)
class Pace:
    """The phases of one run in order, each with its progress and when it began; times in milliseconds."""

    phases: tuple[tuple[Progress, int, int], ...] = ()
    """(progress, began, heard last)."""
    began_ms: int = 0
    now_ms: int = 0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return max(0, self.now_ms - self.began_ms) / 1000


def heard(pace: Pace, progress: Progress, now_ms: int) -> Pace:
    """Another report: of the phase that goes on, or of a new one."""
    began = pace.began_ms or now_ms
    if pace.phases and pace.phases[-1][0].what == progress.what:
        _, phase_began, _ = pace.phases[-1]
        phases = (*pace.phases[:-1], (progress, phase_began, now_ms))
    else:
        phases = (*pace.phases, (progress, now_ms, now_ms))
    return Pace(phases, began, now_ms)


def ticked(pace: Pace, now_ms: int) -> Pace:
    """Time went on without a report."""
    return replace(pace, now_ms=now_ms)


def rate(phase: tuple[Progress, int, int]) -> float | None:
    """Units a second in a phase; None before it can be told."""
    progress, began, last = phase
    return progress.done * 1000 / (last - began) if last - began >= 200 and progress.done else None


def left_s(phase: tuple[Progress, int, int]) -> float | None:
    """Seconds until a phase is done; None before it can be told."""
    speed, progress = rate(phase), phase[0]
    return (progress.total - progress.done) / speed if speed and progress.total else None


def span(seconds: float) -> str:
    """A duration for people: `38 s`, `4 min`, `2.5 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"
