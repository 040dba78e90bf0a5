"""Where a host says that a memory came from: content of somebody whom its owner did not vouch for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COLUMNS = ("trust_tier", "origin_class")
"""Columns in which programs say it."""

_KEYS = (*COLUMNS, "originClass", "trustTier", "trust", "origin", "provenance")

_WORDS = ("untrusted", "quarantined")


def is_untrusted(columns: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Whether the host itself says of a row that it is untrusted, in a column or in a key of its metadata."""
    told = [columns.get(name) for name in COLUMNS] + [metadata.get(name) for name in _KEYS]
    if metadata.get("untrusted") is True:
        return True
    for each in told:
        if isinstance(each, Mapping):
            each = each.get("origin_class") or each.get("originClass")
        if isinstance(each, str) and each.strip().lower() in _WORDS:
            return True
    return False
