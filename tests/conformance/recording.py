"""Where recordings lie, and the clock that each was made by: nothing here knows the values of one of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIXTURES = Path(os.environ.get("MEMTUI_FIXTURES") or Path(__file__).parents[3] / "shared" / "fixtures")

CLOCKS = ("now_ms", "now")


def clock_of(recorded: Mapping[str, Any], fixtures: Path = FIXTURES) -> int:
    """The clock of a recording, in ms since the epoch; where it names none, that of the plugin's recalls beside it."""
    found = next((recorded[name] for name in CLOCKS if name in recorded), None)
    if found is None:
        meta = json.loads((fixtures / "peer" / "meta.json").read_text(encoding="utf-8"))
        found = meta["now_ms"]
    return int(found)
