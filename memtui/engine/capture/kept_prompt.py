"""The prompt of a session between its event and the one that ends the turn, for hosts that tell it only once.

One private file a session, secrets masked; it goes with the turn, and after an hour with the next event of any.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from memtui.engine.core.private_file import make_private_folder, write_private
from memtui.engine.core.secrets import mask

KEPT = "prompts"
"""The folder beside the journal of calls."""

KEPT_S = 3600.0
"""So long at most a prompt waits for the end of its turn."""


def keep_prompt(state: Path, session: str, prompt: str) -> None:
    """Put the prompt of a session into its place below `state`, in place of the one before. Raises OSError."""
    folder = state / KEPT
    make_private_folder(folder)
    write_private(_place(state, session), json.dumps({"prompt": mask(prompt)[0]}, ensure_ascii=True))


def kept_prompt(state: Path, session: str) -> str:
    """The prompt that waits for the end of this session's turn; empty where none does."""
    place = _place(state, session)
    try:
        if _is_old(place):
            return ""
        given = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    prompt = given.get("prompt") if isinstance(given, dict) else None
    return prompt if isinstance(prompt, str) else ""


def drop_prompt(state: Path, session: str) -> None:
    """Remove what is kept of this session; what cannot be removed is left to `drop_old_prompts`."""
    with suppress(OSError):
        _place(state, session).unlink()


def drop_old_prompts(state: Path) -> None:
    """Remove the prompts of all sessions whose turn did not end within `KEPT_S`."""
    with suppress(OSError), os.scandir(state / KEPT) as entries:
        for entry in entries:
            with suppress(OSError):
                if _is_old(Path(entry.path)):
                    os.unlink(entry.path)


def _is_old(place: Path) -> bool:
    return abs(time.time() - place.stat().st_mtime) > KEPT_S


def _place(state: Path, session: str) -> Path:
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return state / KEPT / f"{digest}.json"
