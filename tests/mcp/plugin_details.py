"""The plugin's own keys of an answer of `--tools openclaw`, without what memtui puts beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BESIDE = ("untrusted", "notes", "fenced")


def plugins_own(details: Mapping[str, Any] | None) -> dict[str, Any]:
    """The details without memtui's keys; that the answer is untrusted is said in each."""
    told = dict(details or {})
    assert told["untrusted"] is True
    return {name: value for name, value in told.items() if name not in BESIDE}
