"""Trust tiers: what the stored words mean, what each mode lets through, and the receipt of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from memtui.engine.core.javascript import trim

TRUSTED, UNTRUSTED, QUARANTINED, UNKNOWN, DERIVED = (
    "trusted", "untrusted", "quarantined", "unknown", "derived",
)  # fmt: skip

ORDER = (TRUSTED, UNKNOWN, UNTRUSTED, QUARANTINED)
"""The order in which the sidecar packs."""

FAIL_OPEN = "exclude_quarantined_fail_open"

Mode = Literal["off", "prefer_trusted", "exclude_quarantined"]

MODES: tuple[Mode, ...] = ("off", "prefer_trusted", "exclude_quarantined")

T = TypeVar("T")

_JOINTS = re.compile(r"[\s-]+")

_LINES = re.compile(r"L(\d+)(?:-L?(\d+))?")


def strict_tier(raw: str | None) -> str | None:
    """One of the three tiers as the sidecar reads them; None for every other word."""
    word = _JOINTS.sub("_", trim(raw or "").lower())
    word = QUARANTINED if word == "quarantine" else word
    return word if word in (TRUSTED, UNTRUSTED, QUARANTINED) else None


def tier_of(stored: str | None) -> str:
    """What a stored `trust_tier` means to memtui: the engine writes where a row came from, not how far to trust it.

    What the user or an operator stored is trusted, an import unknown, a working set derived.
    """
    word = trim(stored or "").lower().removesuffix("_noembed")
    if word in ("user", "operator"):
        return TRUSTED
    if word.startswith("system_working_set"):
        return DERIVED
    return strict_tier(word) or UNKNOWN


def passes(tier: str, mode: Mode) -> bool:
    """Whether a mode, taken by its word, lets a tier through."""
    if mode == "prefer_trusted":
        return tier in (TRUSTED, DERIVED)
    return mode == "off" or tier != QUARANTINED


def admitted(rows: Sequence[T], tier: Callable[[T], str], mode: Mode) -> list[T]:
    """The rows that `mode` lets through, in their order.

    prefer_trusted: only trusted ones (and those derived from the store itself) while there is any, else all but
    quarantined ones. exclude_quarantined: all but those.
    """
    passing = [row for row in rows if passes(tier(row), mode)]
    if passing or mode != "prefer_trusted":
        return passing
    return [row for row in rows if passes(tier(row), "exclude_quarantined")]


def policy_receipt(
    rows: Sequence[tuple[str, str | None]], mode: str, schema: str | None = None
) -> dict[str, Any]:
    """The sidecar's trust receipt for (record, stored tier) pairs; modes other than its own count as off."""
    decisions = []
    if mode == FAIL_OPEN:
        for record, stored in rows:
            tier = strict_tier(stored) or UNKNOWN
            included = tier != QUARANTINED
            reason = {
                QUARANTINED: "trust_quarantined_excluded",
                UNKNOWN: "trust_unknown_fail_open",
            }.get(tier, "trust_allowed")
            decisions.append(
                {
                    "recordRef": record,
                    "trust": tier,
                    "included": included,
                    "reason": reason,
                    "fail_open": tier == UNKNOWN,
                    "error_code": None,
                }
            )
    included_count = sum(1 for decision in decisions if decision["included"])
    return {
        **({"schema": schema} if schema else {}),
        "mode": mode if mode == FAIL_OPEN else "off",
        "checked_count": len(decisions),
        "included_count": included_count,
        "excluded_count": len(decisions) - included_count,
        "fail_open_count": sum(1 for decision in decisions if decision["fail_open"]),
        "decision_reason_counts": dict(
            sorted(Counter(str(decision["reason"]) for decision in decisions).items())
        ),
        "decisions": decisions,
    }


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory says it comes from; line ends that run backwards collapse to the start."""

    raw: str
    kind: Literal["url", "file_line", "file_anchor", "receipt", "opaque", "none"]
    path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    anchor: str | None = None
    url: str | None = None

    @property
    def is_structured(self) -> bool:
        """Whether more is known than the text itself."""
        return self.kind not in ("opaque", "none")

    def as_json(self) -> Mapping[str, Any]:
        """The reference as the sidecar writes it."""
        return {
            "raw": self.raw,
            "kind": self.kind,
            "is_structured": self.is_structured,
            "path": self.path,
            "line_start": self.line_start,
            "line_end": self.line_end,
            "anchor": self.anchor,
            "url": self.url,
        }


def provenance(raw: str | None) -> Provenance:
    """Read a reference: a URL, `path#L4-9`, `path#anchor`, `receipt:...`, or just a text."""
    text = trim(raw or "")
    if not text:
        return Provenance("", "none")
    if text.lower().startswith(("http://", "https://")):
        return Provenance(text, "url", url=text)
    if text.startswith("receipt:"):
        return Provenance(text, "receipt")
    path, _, anchor = text.partition("#")
    if not path or not anchor:
        return Provenance(text, "opaque")
    lines = _LINES.fullmatch(anchor)
    if not lines:
        return Provenance(text, "file_anchor", path=path, anchor=anchor)
    start = int(lines[1])
    end = int(lines[2]) if lines[2] else start
    return Provenance(text, "file_line", path=path, line_start=start, line_end=max(start, end))


def ladder_label(*, enabled: bool = True, unknown: bool = False, ignore: bool = False) -> str:
    """How far down the ladder of importance a recall went; `ignore` alone is a recall without policy."""
    if not enabled:
        return "ignore"
    if ignore:
        return "must+nice+unknown+ignore"
    return "must+nice+unknown" if unknown else "must+nice"
