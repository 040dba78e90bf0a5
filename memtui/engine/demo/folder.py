"""Where the demo store lies, and how a folder is known to be one.

Every command and every server asks this of the store that it opens: nothing of what the demo holds is read for it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

GENERATION = 6
"""Counts up with every change of the demo's memories or sessions; a demo of another generation is made anew."""

MARK_FILE = "demo.json"

TABLE_FOLDER = "memories.lance"


@dataclass(frozen=True, slots=True)
class DemoMark:
    """What a demo store says of itself. `now_ms` is the midnight (UTC) that its ages count back from."""

    generation: int
    now_ms: int
    rows: int


def demo_folder(cache_dir: Path) -> Path:
    """Where the demo store belongs below memtui's cache folder."""
    return cache_dir / "demo"


def demo_state(folder: Path) -> Path:
    """What memtui keeps of the demo store, its journal for one: beside the table in `folder`, and nowhere else."""
    return folder / "state"


def demo_home(folder: Path) -> Path:
    """The home of the demo's user, in which the demo's agents keep their sessions: beside the table in `folder`."""
    return folder / "home"


def write_mark(folder: Path, mark: DemoMark) -> None:
    """Mark `folder` as a complete demo store."""
    (folder / MARK_FILE).write_text(json.dumps(asdict(mark)) + "\n", encoding="utf-8")


def read_mark(folder: Path) -> DemoMark | None:
    """The mark of the demo store in `folder`; None when the folder does not hold one."""
    try:
        found = json.loads((folder / MARK_FILE).read_text("utf-8"))
        return DemoMark(int(found["generation"]), int(found["now_ms"]), int(found["rows"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def is_complete(folder: Path) -> bool:
    """Whether `folder` holds a whole demo store of this generation; opens nothing."""
    mark, versions = read_mark(folder), folder / TABLE_FOLDER / "_versions"
    return bool(mark and mark.generation == GENERATION and versions.is_dir() and any(versions.iterdir()))
