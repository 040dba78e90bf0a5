"""What was exported lately: where it went, for a person who looks for it. Texts are never in it."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

MOST = 50


@dataclass(frozen=True, slots=True)
class Written:
    """One export that was written."""

    time_ms: int
    path: str
    format: str
    rows: int


class Exports:
    """The last exports of one store, in the small file `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[Written]:
        """The last one first; what cannot be read is none."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        found = []
        for line in lines:
            try:
                found.append(Written(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return found[::-1]

    def add(self, written: Written) -> None:
        """Remember one more; a note that cannot be kept is no reason to fail."""
        kept = [*self.all()[: MOST - 1][::-1], written]
        text = "".join(json.dumps(asdict(each)) + "\n" for each in kept)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(dir=self._path.parent, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, self._path)
        except OSError:
            return
