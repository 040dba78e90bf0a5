"""Who said a memory, by its metadata, and its text without the name that stands before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SPEAKER = "speaker"
"""The metadata key of who said it."""


def text_of(values: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first of `keys` that holds a text or a number; empty without one."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def bare_text(text: str, speaker: str) -> str:
    """A memory's text without its leading `Speaker:`."""
    head = f"{speaker}:"
    return text[len(head) :].lstrip() if speaker and text.startswith(head) else text
