"""The rows of actions.toml, as read from actions.json, which is made from it.

JSON, since the first frame waits for it: 350 rows of TOML take 25 ms to read, of JSON less than one.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("actions.toml")
"""What people edit."""

FILE = SOURCE.with_suffix(".json")
"""What is read."""

Rows = dict[str, dict[str, Any]]
"""By name; of actions by their whole id."""


def from_source() -> dict[str, Rows]:
    """What actions.toml says: the places, the sentences, and the actions by their ids."""
    sections = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    where, sentences = sections.pop("where"), sections.pop("sentences")
    for checked in ("letters", "exceptions"):  # rules for the rows, which only a test reads
        sections.pop(checked)
    actions = {f"{name}.{row}": value for name, rows in sections.items() for row, value in rows.items()}
    return {"where": where, "sentences": sentences, "actions": actions}


def as_json(data: dict[str, Rows]) -> str:
    """The text of actions.json: a row a line, so that a change of one is a change of one."""
    parts = []
    for part, rows in data.items():
        lines = [f"{json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in rows.items()]
        parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _read() -> dict[str, Rows]:
    """The JSON; where it is not there or broken, as after a merge of two branches, what it is made from."""
    try:
        data: dict[str, Rows] = json.loads(FILE.read_bytes())
    except (OSError, ValueError):
        return from_source()
    return data


_DATA = _read()

WHERE: Rows = _DATA["where"]
SENTENCES: Rows = _DATA.get("sentences", {})
ACTIONS: Rows = _DATA["actions"]
