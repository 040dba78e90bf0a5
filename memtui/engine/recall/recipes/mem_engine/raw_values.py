"""Numbers and switches of a configuration as openclaw-mem-engine reads them: also those that are written as texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memtui.engine.core.javascript import number, trim


def whole(block: Mapping[str, Any], key: str, usual: int, low: int, high: int) -> int:
    """The whole number of a key, from `low` to `high`; `usual` for what is no number."""
    value = block.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return usual
    found = number(value)
    return min(high, max(low, math.floor(found))) if math.isfinite(found) else usual


def switch(block: Mapping[str, Any], key: str, *, usual: bool = True) -> bool:
    """Whether a key says yes; `usual` for a value that says neither yes nor no."""
    value = block.get(key)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value != 0
    word = trim(value).lower() if isinstance(value, str) else ""
    if word in ("true", "1", "yes", "on"):
        return True
    return False if word in ("false", "0", "no", "off") else usual
