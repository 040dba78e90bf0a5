"""What a row of CrewAI may hold: everything that is set there is written as the package itself writes it."""

from __future__ import annotations

import json
from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.metadata.read import parse_object

TREELESS = "A scope that does not begin with / stands in no tree: CrewAI finds it under exactly this beginning alone."


def read_categories(name: str, value: Any, now_ms: int) -> str:
    """The whole list as it is stored, of words between commas or a JSON list of texts; empty for none."""
    listed = value
    if isinstance(value, str):
        listed = (
            _json(value, list)
            if value.lstrip().startswith("[")
            else [part.strip() for part in value.split(",")]
        )
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise UsageError(
            f"{name} takes words between commas, or a JSON list of texts.",
            fix=f"For example: {name}=fact,price.",
        )
    return json.dumps([item for item in dict.fromkeys(listed) if item.strip()])


def read_scope(name: str, value: Any, now_ms: int) -> str:
    """A scope as it was typed; UsageError for a blank one and for what is no path."""
    scope = str(value)
    if not scope.strip() or scope != scope.strip() or not scope.isprintable() or "//" in scope:
        raise UsageError(
            f"The scope {scope!r} is no path.",
            fix="A scope is a path: /, /crew/shop or /crew/shop/agent/buyer.",
        )
    if len(scope) > 1 and scope.endswith("/"):
        raise UsageError(f"The scope {scope!r} ends with /.", fix=f"Write {scope.rstrip('/') or '/'}.")
    return scope


def read_metadata(name: str, value: Any, now_ms: int) -> str:
    """The whole JSON object as it is stored."""
    found = _json(value, dict) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise UsageError(f"{name} takes a JSON object.", fix=f'For example: {name}=\'{{"ticket": "T-1"}}\'.')
    return json.dumps(found)


def read_source(name: str, value: Any, now_ms: int) -> str:
    """Where a memory came from; empty for none."""
    return str(value).strip()


def _json(text: str, kind: type) -> Any:
    """The value of a JSON text, None for any other; NaN and Infinity are none."""
    if kind is dict:
        values, valid = parse_object(text)
        return values if valid and text.strip() else None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
