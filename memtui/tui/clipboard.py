"""Copying, whichever way works here: the system clipboard, or the terminal's (OSC 52)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from textual.app import App

_OSC52_LIMIT = 74_000
"""Terminals and multiplexers drop longer OSC 52 sequences without a word."""


async def copy(app: App[None], text: str, environ: Mapping[str, str] = os.environ) -> str:
    """Copy `text` and say how: "clipboard" or "terminal clipboard". Raises `ValueError` when neither can.

    Over SSH and in a browser the system clipboard is the wrong machine's, so the terminal's is used. The system's
    is reached through a program of its own, which may be slow: it runs in a thread.
    """
    if not app.is_web and not environ.get("SSH_CONNECTION") and await asyncio.to_thread(_native, text):
        return "clipboard"
    if len(text.encode("utf-8", "replace")) > _OSC52_LIMIT:
        raise ValueError("too long for the terminal's clipboard, and there is no system clipboard here")
    app.copy_to_clipboard(text)
    return "terminal clipboard"


def _native(text: str) -> bool:
    import pyperclip

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError, UnicodeError):
        return False
    return True
