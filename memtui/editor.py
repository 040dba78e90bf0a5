"""A text in the user's own editor: what comes back is checked before anything is done with it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from memtui.engine import MemtuiError, UsageError
from memtui.engine.changes import LONGEST_TEXT

FALLBACK = "vi"


def editor_command(environ: Mapping[str, str]) -> str:
    """The command of $VISUAL or $EDITOR, else vi; empty where there is not even that."""
    named = (environ.get("VISUAL") or environ.get("EDITOR") or "").strip()
    return named or (FALLBACK if shutil.which(FALLBACK) else "")


def edited_text(text: str, environ: Mapping[str, str]) -> str:
    """`text` as the user left it in the editor; the line end that editors add is taken off again.

    Raises MemtuiError when the editor cannot be started or ends with an error, UsageError when what it left is
    no text that a memory takes: then the file is kept and named, otherwise nothing stays on disk.
    """
    command = editor_command(environ)
    if not command:
        raise MemtuiError("No editor is set.", fix="Set EDITOR; nothing was changed.")
    handle, name = tempfile.mkstemp(suffix=".md", prefix="memtui-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        _run(command, path)
        try:
            left = path.read_bytes()
        except OSError as error:
            raise MemtuiError("The editor removed the file.", fix="Nothing was changed.") from error
        taken = _taken(left, path)
    except UsageError:
        raise  # what was written is kept
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)
    return taken if text.endswith("\n") else taken.removesuffix("\n").removesuffix("\r")


def _run(command: str, path: Path) -> None:
    try:
        code = subprocess.call([*shlex.split(command), str(path)])
    except (OSError, ValueError) as error:
        raise MemtuiError(
            f"The editor {command!r} cannot be started.",
            fix="Set EDITOR; nothing was changed.",
            details=str(error),
        ) from error
    if code:
        raise MemtuiError(f"The editor ended with {code}; nothing was changed.", fix="Try again.")


def _taken(left: bytes, path: Path) -> str:
    kept = f"Nothing was changed; what you wrote is kept in {path}."
    try:
        text = left.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"What the editor left is no UTF-8 text (byte {error.start}).", fix=kept) from error
    if len(text) > LONGEST_TEXT + 2:  # and the line end that the editor added
        raise UsageError(f"The text has {len(text):,} characters; a memory takes {LONGEST_TEXT:,}.", fix=kept)
    return text
