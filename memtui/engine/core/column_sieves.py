"""Which texts of a column are worth a close look: passes of a fast engine instead of many patterns a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from memtui.engine.core.number_secrets import ACCOUNT_SIEVE, LONG_NUMBER_SIEVE
from memtui.engine.core.number_secrets import SIEVE as NUMBER_SIEVE
from memtui.engine.core.secrets import WORD_SIEVE
from memtui.engine.core.seed_phrases import may_hold_phrase, phrase_sieve
from memtui.engine.core.told_secrets import SOCIAL_HINTS


def suspects(column: Any, pattern: str) -> list[int]:
    """Places of the texts in an Arrow column that `pattern` (RE2) is found in, ascending; NULLs are none."""
    import pyarrow.compute as pc

    hits = pc.fill_null(pc.match_substring_regex(column, pattern), False)
    return [int(place) for place in pc.indices_nonzero(hits).to_pylist()]


def suspect_texts(texts: Sequence[str], pattern: str) -> list[int]:
    """The same of plain texts; all of them when they cannot be held as UTF-8."""
    column = _column_of(texts)
    return list(range(len(texts))) if column is None else suspects(column, pattern)


def suspected_of_secrets(column: Any, *, json: bool = False) -> list[int]:
    """Places of the texts in an Arrow column in which there may be a secret, ascending: no other holds one.

    With `json` they are JSON objects, and a secret stands within one string of them.
    """
    found: set[int] = set()
    any_of = suspects(column, _one_pass(json))
    if any_of:
        among = column.take(any_of)
        told = suspects(among, _numbers_told())
        longer = suspects(among.take(told), LONG_NUMBER_SIEVE) if told else []
        at = {*suspects(among, _sure(json)), *(told[place] for place in longer)}
        found.update(any_of[place] for place in at)
    for place in suspects(column, phrase_sieve(json=json)):
        if place not in found and may_hold_phrase(_said(column[place].as_py(), json).lower()):
            found.add(place)
    return sorted(found)


def _said(text: str, json: bool) -> str:
    """The words of a text; of a JSON object without its signs for the ends of lines."""
    return text.replace("\\n", " ").replace("\\t", " ").replace('\\"', '"') if json else text


@cache
def _one_pass(json: bool) -> str:
    return f"{_sure(json)}|{_numbers_told()}"


@cache
def _sure(json: bool) -> str:
    letters_by_number = r"|\\u[0-9a-fA-F]{4}" if json else ""
    return f"{WORD_SIEVE}|{NUMBER_SIEVE}{letters_by_number}"


def texts_suspected_of_secrets(texts: Sequence[str]) -> list[int]:
    """The same of plain texts; all of them when they cannot be held as UTF-8."""
    column = _column_of(texts)
    return list(range(len(texts))) if column is None else suspected_of_secrets(column)


@cache
def _numbers_told() -> str:
    """What stands beside a long number that is one of an account, or of the social security."""
    words = "|".join(map(re.escape, sorted(SOCIAL_HINTS)))
    return f"(?i:{words})|{ACCOUNT_SIEVE}"


def _column_of(texts: Sequence[str]) -> Any:
    """The texts as a column; None when they cannot be held as UTF-8."""
    import pyarrow as pa

    try:
        return pa.array(texts, pa.large_string())
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return None
