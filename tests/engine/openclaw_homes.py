"""The recorded homes of OpenClaw 2026.9: unpacked once, with what really happened in each."""

from __future__ import annotations

import html
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine import open_engine
from memtui.engine.engine import Engine

AFTER_MS = 1_795_800_000_000
"""Later than everything that was recorded."""

NAMES = (
    "lancedb", "core", "pro", "external-edit", "sessions", "broken-no-conversation", "broken-no-injection",
    "broken-slot-core", "broken-plugin-missing", "broken-dims", "broken-pro-no-conversation", "config-old-list",
)  # fmt: skip


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
    place = shared / "fixtures" / "openclaw"
    with tarfile.open(place / f"{name}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return RecordedHome(folder / name, json.loads((place / f"{name}.expected.json").read_text("utf-8")))
