"""The terminal lent to another program: the user's editor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import App, SuspendNotSupported

from memtui.editor import edited_text
from memtui.engine import MemtuiError


def in_editor(app: App[Any], text: str, environ: Mapping[str, str]) -> str:
    """`text` as the user left it in the editor; MemtuiError when it fails, or where the app cannot step aside."""
    failed: Exception | None = None
    left = text
    try:
        with app.suspend():
            try:
                left = edited_text(text, environ)
            except Exception as error:  # Textual comes back to the screen only when the block ends well
                failed = error
    except SuspendNotSupported as error:
        raise MemtuiError("No editor can be opened from here.", fix="Change the text in the form.") from error
    if failed is not None:
        raise failed
    return left
