"""The ledger: per field, what a conversion changes or loses, with the number of rows it happens to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memtui.engine.transfer.record import Note


@dataclass(frozen=True, slots=True)
class Loss:
    """One line of the ledger: in `rows` rows, `field` is not what it was. `example` is the place of the first."""

    field: str
    rows: int
    what: str
    example: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        example = {"example": self.example} if self.example else {}
        return {"field": self.field, "rows": self.rows, "what": self.what, **example}


class Ledger:
    """Counts losses as records go by; as large as the number of different sentences, not of rows."""

    def __init__(self) -> None:
        self._rows: dict[Note, int] = {}
        self._examples: dict[Note, str] = {}

    def add(self, notes: Iterable[Note], where: str = "") -> None:
        """Count these for one record at `where`; the same note twice counts once."""
        for note in dict.fromkeys(notes):
            if note not in self._rows:
                self._rows[note] = 0
                self._examples[note] = where
            self._rows[note] += 1

    def count(self, field: str, what: str, rows: int = 1, where: str = "") -> None:
        """Count `rows` at once."""
        note = Note(field, what)
        if rows:
            self._rows[note] = self._rows.get(note, 0) + rows
            self._examples.setdefault(note, where)

    def lines(self) -> tuple[Loss, ...]:
        """By field, most rows first."""
        found = [
            Loss(note.field, rows, note.what, self._examples.get(note, ""))
            for note, rows in self._rows.items()
        ]
        return tuple(sorted(found, key=lambda loss: (loss.field, -loss.rows, loss.what)))
