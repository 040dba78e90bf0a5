"""The prompt of a session between its event and the one that ends the turn, for hosts that tell it only once.

One private file a session, secrets masked; it goes with the turn, and after an hour with the next event of any.
"""

from __future__ import annotations

from pathlib import Path

from memtui.engine.capture.kept_files import SessionFiles
from memtui.engine.core.secrets import mask

KEPT = "prompts"
"""The folder beside the journal of calls."""

_FILES = SessionFiles(KEPT)

drop_prompt, drop_old_prompts = _FILES.drop, _FILES.drop_old


def keep_prompt(state: Path, session: str, prompt: str) -> None:
    """Put the prompt of a session into its place below `state`, in place of the one before. Raises OSError."""
    _FILES.keep(state, session, {"prompt": mask(prompt)[0]})


def kept_prompt(state: Path, session: str) -> str:
    """The prompt that waits for the end of this session's turn; empty where none does."""
    given = _FILES.kept(state, session)
    prompt = given.get("prompt") if isinstance(given, dict) else None
    return prompt if isinstance(prompt, str) else ""
