"""The recorded homes of OpenClaw 2026.9: unpacked once, with what really happened in each.

    python -m tests.engine.openclaw_homes FOLDER

holds the homes of another folder against their own truth (NAME.tar.gz beside NAME.expected.json, in the shape that
the README of the recorded homes tells): a new layout of the host is a new pair, and one file of code that reads it.
"""

from __future__ import annotations

import html
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine import open_engine
from memtui.engine.engine import Engine

AFTER_MS = 1_795_800_000_000
"""Later than everything that was recorded."""

FOLDER = "MEMTUI_RECORDED_HOMES"
"""The variable that names another folder of homes."""

RECORDED = (
    "lancedb", "core", "pro", "external-edit", "sessions", "broken-no-conversation", "broken-no-injection",
    "broken-slot-core", "broken-plugin-missing", "broken-dims", "broken-pro-no-conversation", "config-old-list",
)  # fmt: skip

NAMES = (
    tuple(sorted(path.name.removesuffix(".expected.json") for path in Path(given).glob("*.expected.json")))
    if (given := os.environ.get(FOLDER))
    else RECORDED
)

HELD = (
    "every_turn_is_what_the_model_server_saw",
    "only_turns_of_persons_are_counted",
    "the_list_says_what_a_replay_says",
)
"""The tests that hold any home against its truth."""


@dataclass(frozen=True)
class RecordedHome:
    """One home and its truth."""

    path: Path
    expected: dict[str, Any]

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.path)}

    def engine(self) -> Engine | None:
        """The home's store, None where it has none."""
        stores = sorted(self.path.rglob("memories.lance"))
        if not stores:
            return None
        return open_engine(stores[0].parent, now=lambda: AFTER_MS, environ=self.environ, cwd=self.path)

    def known_id(self, line: Mapping[str, Any]) -> str | None:
        """The id of an injected line, where a version that lies in the home has the row with that text."""
        text = html.unescape(line["text"])
        rows = [row for store in self.expected["stores"] for row in store["ever"]]
        return next(
            (row["id"] for row in rows if row["id"] in line["ids"] and row["text"].startswith(text)), None
        )


def unpack_home(shared: Path, name: str, folder: Path) -> RecordedHome:
    """Unpack a home into `folder`."""
    place = Path(os.environ.get(FOLDER) or shared / "fixtures" / "openclaw")
    with tarfile.open(place / f"{name}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return RecordedHome(folder / name, json.loads((place / f"{name}.expected.json").read_text("utf-8")))


if __name__ == "__main__":
    import pytest

    os.environ[FOLDER] = str(Path(sys.argv[1]).resolve())
    tests = Path(__file__).with_name("test_openclaw_sessions.py")
    raise SystemExit(pytest.main(["-q", "-n", "0", *(f"{tests}::test_{name}" for name in HELD)]))
