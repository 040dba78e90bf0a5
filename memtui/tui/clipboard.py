"""Copying, whichever way works here or is set: the system clipboard, or the terminal's (OSC 52)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from textual.app import App

_OSC52_LIMIT = 74_000
"""Terminals and multiplexers drop longer OSC 52 sequences without a word."""


async def copy(app: App[None], text: str, environ: Mapping[str, str] = os.environ, way: str = "auto") -> str:
    """Copy `text` and say where to; raises `ValueError` when that cannot be done.

    `way` as in the settings: auto, osc52, native or off; `MEMTUI_CLIPBOARD` in `environ` comes first. With auto, over
    SSH and in a browser the system clipboard is the wrong machine's, so the terminal's is used. The system's is
    reached through a program of its own, which may be slow: it runs in a thread.
    """
    way = environ.get("MEMTUI_CLIPBOARD", way)
    if way == "off":
        raise ValueError('copying is switched off (clipboard = "off" in the settings)')
    far = app.is_web or environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")
    if way == "native" or (way != "osc52" and not far):
        if await asyncio.to_thread(_native, text):
            return "clipboard"
        if way == "native":
            raise ValueError("there is no clipboard program here (xclip, xsel, wl-copy)")
    if len(text.encode("utf-8", "replace")) > _OSC52_LIMIT:
        raise ValueError("too long for the terminal's clipboard, and there is no system clipboard here")
    app.copy_to_clipboard(text)
    if app.is_web:
        return "clipboard of the browser"
    return "terminal clipboard; tmux needs set-clipboard on" if environ.get("TMUX") else "terminal clipboard"


def _native(text: str) -> bool:
    import pyperclip

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError, UnicodeError):
        return False
    return True
