"""What the kit found, on one page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TriedProperty:
    """One property that was tried: held, not held with the reason, or left out with the reason."""

    name: str
    held: bool | None
    reason: str = ""


@dataclass(slots=True)
class KitReport:
    """All properties of one dialect."""

    title: str
    findings: list[TriedProperty] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing that was tried failed."""
        return all(finding.held is not False for finding in self.findings)

    def try_property(self, name: str, check: Callable[[], str | None]) -> None:
        """Run one check: it returns None, or why it is left out; an AssertionError says what does not hold."""
        try:
            left_out = check()
        except AssertionError as error:
            self.findings.append(TriedProperty(name, False, str(error) or "it does not hold"))
        except Exception as error:  # an author reads why, not a traceback
            self.findings.append(TriedProperty(name, False, f"{type(error).__name__}: {error}"))
        else:
            self.findings.append(TriedProperty(name, None if left_out else True, left_out or ""))

    def page(self) -> str:
        """The findings as text: a line each."""
        marks = {True: "held    ", False: "FAILED  ", None: "left out"}
        lines = [self.title, ""]
        for finding in self.findings:
            lines.append(f"{marks[finding.held]}  {finding.name}")
            if finding.reason:
                lines += [f"          {line}" for line in finding.reason.splitlines()[:6]]
        failed = sum(finding.held is False for finding in self.findings)
        lines += ["", f"{len(self.findings)} properties, {failed} failed"]
        return "\n".join(lines)
