"""Memories given one by one: the same plan, rules and journal as an import of a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Fields = dict[str, Any]
"""text, and what is known of it: category, scope, importance, timestamp (milliseconds)."""


@contextmanager
def as_source(memories: Sequence[Fields]) -> Iterator[Path]:
    """A source for `ImportRequest` with `memories` in it, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="memtui-add-") as folder:
        source = Path(folder) / "added.jsonl"
        source.write_text("".join(json.dumps(each) + "\n" for each in memories), encoding="utf-8")
        yield source
