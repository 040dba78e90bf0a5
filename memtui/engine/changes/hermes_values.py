"""What a row of Hermes may hold: what is set there is written as its plugin writes it."""

from __future__ import annotations

import json
from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.dialects.hermes import CATEGORIES


def read_word(name: str, value: Any, now_ms: int) -> str:
    """A workspace or a category: any text on one line, outer blanks cut; empty for none."""
    word = str(value).strip()
    if not word.isprintable():
        raise UsageError(
            f"{name} takes one line; {word[:40]!r} is none.", fix=f"For example: {name}={CATEGORIES[0]}."
        )
    return word


def read_line(name: str, value: Any, now_ms: int) -> str:
    """A sentence that stands in the text's place before a prompt; empty for none."""
    return str(value).strip()


def read_tags(name: str, value: Any, now_ms: int) -> list[str]:
    """The whole list, of words between commas or a JSON list of texts: blanks cut, each once."""
    listed = value
    if isinstance(value, str):
        listed = _json(value) if value.lstrip().startswith("[") else value.split(",")
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise UsageError(
            f"{name} takes words between commas, or a JSON list of texts.",
            fix=f"For example: {name}=garden,tools.",
        )
    return list(dict.fromkeys(word for item in listed if (word := item.strip())))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
