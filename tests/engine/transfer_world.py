"""What the tests of import and export share: reading a source as the importer does, and finding its parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memtui.engine.transfer.detection import Detected, detect
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.options import ReadOptions

NOW_MS = 1_795_244_400_000
"""The clock of fixtures/sources: 2026-11-21."""


class Source:
    """A source that was read whole."""

    def __init__(self, path: Path, format_name: str = "auto", **options: Any) -> None:
        self.detected: Detected = detect(path, format_name)
        reader = self.detected.format.reader(self.detected.kind)
        self.all: list[Read] = list(reader(path, ReadOptions(now_ms=NOW_MS, **options)))

    @property
    def name(self) -> str:
        """The detected format."""
        return self.detected.format.name

    @property
    def records(self) -> list[Record]:
        """The memories in it."""
        return [each for each in self.all if isinstance(each, Record)]

    @property
    def rejected(self) -> list[Rejected]:
        """What is left out."""
        return [each for each in self.all if isinstance(each, Rejected)]

    @property
    def remarks(self) -> str:
        """What is said about the source as a whole."""
        return " ".join(each.what for each in self.all if isinstance(each, SourceRemark))

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return [record.text for record in self.records]

    def said(self, field: str) -> list[str]:
        """What the ledger will say of a field."""
        return [note.what for record in self.records for note in record.notes if note.field == field]


def expected(folder: Path) -> Any:
    """What a correct importer must get from a folder of sources."""
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> Path:
    """Write a JSON document and return its path."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path
