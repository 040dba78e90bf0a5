"""Where the panels of Cases stand at which size: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class

HEAD_ROWS = {"narrow": 2, "normal": 4, "wide": 4}


def cases(width: int, height: int, *, shown: str = "measures", filled: bool = True) -> Arrangement:
    """The setups on top; the list; beside or below it the measures and the case under the cursor."""
    kind = size_class(width)
    head = HEAD_ROWS[kind]
    body = max(4, height - head)
    found = {"head": Box(0, 0, width, head)}
    if not filled:
        return found | {"list": Box(0, head, width, body)}
    if kind == "narrow":
        lower = body * 55 // 100 if body >= 12 else 0
        found["list"] = Box(0, head, width, body - lower)
        if lower:
            found[shown] = Box(0, height - lower, width, lower)
        return found
    left = width * 52 // 100 if kind == "normal" else width * 48 // 100
    upper = body * 60 // 100
    return found | {
        "list": Box(0, head, left, body),
        "measures": Box(left, head, width - left, upper),
        "case": Box(left, head + upper, width - left, body - upper),
    }
