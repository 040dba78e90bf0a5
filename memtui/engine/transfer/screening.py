"""Which texts of a column are worth a close look: one pass of a fast engine instead of many patterns a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def suspects(column: Any, pattern: str) -> list[int]:
    """Places of the texts in an Arrow column that `pattern` (RE2) is found in, ascending; NULLs are none."""
    import pyarrow.compute as pc

    hits = pc.fill_null(pc.match_substring_regex(column, pattern), False)
    return [int(place) for place in pc.indices_nonzero(hits).to_pylist()]


def suspect_texts(texts: Sequence[str], pattern: str) -> list[int]:
    """The same of plain texts; all of them when they cannot be held as UTF-8."""
    import pyarrow as pa

    try:
        return suspects(pa.array(texts, pa.large_string()), pattern)
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return list(range(len(texts)))
