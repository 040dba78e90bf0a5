"""The plugin's learning files: entries, their numbers, and the names of files."""

from __future__ import annotations

import re

_ENTRY = re.compile(r"^## \[(LRN|ERR)-[0-9]{8}-[0-9]{3}\]", re.MULTILINE)

_OTHER = re.compile(r"[^a-z0-9]+")

TOKEN_LENGTH = 32


def learning_entries(text: str) -> dict[str, int]:
    """How many entries a file holds: all, learnings, errors."""
    kinds = [match[1] for match in _ENTRY.finditer(text)]
    return {"all": len(kinds), "lrn": kinds.count("LRN"), "err": kinds.count("ERR")}


def file_token(text: str, fallback: str) -> str:
    """A part of a file's name: lower case, everything else to dashes, at most 32 characters."""
    return _OTHER.sub("-", text.lower()).strip("-")[:TOKEN_LENGTH] or fallback
