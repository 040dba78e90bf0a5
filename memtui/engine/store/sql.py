"""Filter text for the engine: names and literals quoted, never pasted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from memtui.engine.core.text import letter_forms

SENTINEL = "__schema__"
"""The id of the row by which the agents' programs create their table; never a memory."""


def name(column: str) -> str:
    """`column` as an identifier, whatever characters it has."""
    return "`" + column.replace("`", "``") + "`"


def literal(value: Any) -> str:
    """A string, number or boolean as a literal; raises `ValueError` for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise ValueError(f"no literal for {value!r}")


def is_in(column: str, values: Iterable[Any]) -> str:
    """`column` equals one of `values`, where None means NULL; no value at all matches no row."""
    wanted = list(values)
    known = [literal(value) for value in wanted if value is not None]
    terms = [f"{name(column)} IN ({', '.join(known)})"] if known else []
    if len(known) < len(wanted):
        terms.append(f"{name(column)} IS NULL")
    return f"({' OR '.join(terms)})" if terms else "false"


def in_runs(column: str, runs: Sequence[tuple[int, int]]) -> str:
    """`column` lies in one of `runs` (first and last of each, both counted)."""
    if len(runs) <= 1:
        return " AND ".join(f"{column} >= {first} AND {column} <= {last}" for first, last in runs) or "false"
    half = len(runs) // 2  # halved again and again, so that it nests little
    return f"(({in_runs(column, runs[:half])}) OR ({in_runs(column, runs[half:])}))"


def both(*conditions: str | None) -> str | None:
    """All the conditions that are there, None when there is none."""
    terms = [f"({condition})" for condition in conditions if condition]
    return " AND ".join(terms) or None


def contains(column: str, text: str) -> str:
    """`column` holds `text`, upper and lower case alike, its letters composed or decomposed as they may be."""
    found = [f"contains(lower({name(column)}), {literal(form.lower())})" for form in letter_forms(text)]
    return found[0] if len(found) == 1 else f"({' OR '.join(found)})"


DECOMPOSED = "[\u0300-\u036f\u1100-\u11ff\u3099\u309a]"
"""A letter's mark, or a part of a Korean syllable, that stands alone: a pattern for texts in decomposed letters."""


def regex(column: str, pattern: str) -> str:
    """`pattern` is found in `column`, upper and lower case alike."""
    return f"regexp_like({name(column)}, {literal(pattern)}, 'i')"


def not_sentinel(column: str) -> str:
    """Every row but the sentinel, rows with a NULL id included."""
    return f"({name(column)} IS NULL OR {name(column)} <> {literal(SENTINEL)})"
