"""What is kept of a session between two of its events: one private file, gone with the session and after an hour."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.core.private_file import make_private_folder, write_private

KEPT_S = 3600.0
"""So long at most a file waits for the next event of its session."""


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The files of one kind, a file a session, in the folder `name` beside the journal of calls."""

    name: str

    def keep(self, state: Path, session: str, value: Any) -> None:
        """Keep a JSON value of a session below `state`, for this user alone. Raises OSError."""
        make_private_folder(state / self.name)
        write_private(self._place(state, session), json.dumps(value, ensure_ascii=True))

    def kept(self, state: Path, session: str) -> Any:
        """The value of a session; None where none is kept, it cannot be read, or it is older than `KEPT_S`."""
        place = self._place(state, session)
        try:
            return None if _is_old(place) else json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None

    def drop(self, state: Path, session: str) -> None:
        """Remove what is kept of a session; what cannot be removed is left to `drop_old`."""
        with suppress(OSError):
            self._place(state, session).unlink()

    def drop_old(self, state: Path) -> None:
        """Remove the files of all sessions that had no event within `KEPT_S`."""
        with suppress(OSError), os.scandir(state / self.name) as entries:
            for entry in entries:
                with suppress(OSError):
                    if _is_old(Path(entry.path)):
                        os.unlink(entry.path)

    def _place(self, state: Path, session: str) -> Path:
        digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return state / self.name / f"{digest}.json"


def _is_old(place: Path) -> bool:
    return abs(time.time() - place.stat().st_mtime) > KEPT_S
