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
