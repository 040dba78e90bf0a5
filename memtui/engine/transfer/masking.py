"""Secrets out of rows that leave or enter: the text, and the copies of it in the metadata."""

from __future__ import annotations

from typing import Any

from memtui.engine.metadata import parse_object
from memtui.engine.secrets import find_secrets, mask
from memtui.engine.transfer.metadata_form import dumps


def mask_json(raw: str | None) -> tuple[str | None, int]:
    """A metadata string with the secrets in its texts masked, and how many; untouched when there are none.

    What is no JSON object is masked as the text that it is.
    """
    if not raw or not find_secrets(raw):
        return raw, 0
    values, valid = parse_object(raw)
    if not valid:
        return mask(raw)
    found, count = _masked(values)
    return (dumps(found), count) if count else (raw, 0)


def _masked(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        parts = [_masked(item) for item in value]
        return [part for part, _ in parts], sum(count for _, count in parts)
    if isinstance(value, dict):
        pairs = {key: _masked(item) for key, item in value.items()}
        return {key: part for key, (part, _) in pairs.items()}, sum(count for _, count in pairs.values())
    return value, 0


_FROM_THE_TEXT = ("l0_abstract", "l1_overview", "l2_content", "fact_key", "title", "tags")
_WORD_CHARS = 64
"""A string without a blank and not longer than this is a name, an id or a word of a vocabulary."""


def redact_row(row: dict[str, Any], text: str, metadata: str | None) -> None:
    """Take the texts out of a row: lengths stand for them; sentences in the metadata go too, names and numbers stay."""
    row[text] = _length(row[text] or "")
    if metadata is None or not row.get(metadata):
        return
    values, valid = parse_object(row[metadata])
    row[metadata] = dumps(_redacted(values)) if valid else dumps({"metadata": _length(row[metadata])})


def _length(text: str) -> str:
    return f"[{len(text)} characters]"


def _redacted(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _redacted(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_redacted(each, key) for each in value]
    if not isinstance(value, str):
        return value
    plain = len(value) <= _WORD_CHARS and not any(char.isspace() for char in value) and value.isascii()
    return value if plain and key not in _FROM_THE_TEXT else _length(value)
