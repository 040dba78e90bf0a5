"""A text in the user's own editor: what comes back is checked before anything is done with it."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from memtui.engine import MemtuiError, UsageError


def edited_text(text: str, environ: Mapping[str, str]) -> str:
    """`text` as the user left it in $VISUAL or $EDITOR; the line end that editors add is taken off again.

    Raises MemtuiError when the editor cannot be started or ends with an error, UsageError when what it left is
    no text. Nothing of it is kept on disk.
    """
    command = (environ.get("VISUAL") or environ.get("EDITOR") or "").strip() or "vi"
    handle, name = tempfile.mkstemp(suffix=".md", prefix="memtui-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        try:
            code = subprocess.call([*shlex.split(command), name])
        except (OSError, ValueError) as error:
            raise MemtuiError(
                f"The editor {command!r} cannot be started.",
                fix="Set EDITOR; nothing was changed.",
                details=str(error),
            ) from error
        if code:
            raise MemtuiError(f"The editor ended with {code}; nothing was changed.", fix="Try again.")
        try:
            left = Path(name).read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"What the editor left is no UTF-8 text (byte {error.start}).", fix="Nothing was changed."
            ) from error
        except OSError as error:
            raise MemtuiError("The editor removed the file.", fix="Nothing was changed.") from error
        return left if text.endswith("\n") else left.removesuffix("\n").removesuffix("\r")
    finally:
        Path(name).unlink(missing_ok=True)
