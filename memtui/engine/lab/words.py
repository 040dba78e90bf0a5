"""A word of the memory added to the question: which of its words the question lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.engine.lab.moves import FOUND, Move
from memtui.engine.lab.whatif import memory_of
from memtui.engine.store.tokens import index_tokens

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.rows import Row

MOST_WORDS = 6
"""Words tried; each costs a search, and an embedding where the question has no given vector."""
MOST_LOOKED_AT = 200
_WORD = re.compile(r"\w[\w.:/-]*\w|\w")


def added_words(trace: Trace, row: Row, gate_rule: str | None = None) -> Iterator[Move]:
    """One move for each word worth trying, the most telling first; a question mark where the adaptive gate wants one.

    `gate_rule` is the rule by which the adaptive gate skips the question, where it does.
    """
    request = trace.request
    if request is None:
        return
    if gate_rule == "too_short":
        yield _move(request, f"{request.query}?", frozenset({"adaptive_gate"}))
    for word in telling_words(trace, row)[:MOST_WORDS]:
        yield _move(request, f"{request.query} {word}", FOUND | {"adaptive_gate"})


def telling_words(trace: Trace, row: Row) -> list[str]:
    """Words of the memory that the question lacks, the long ones first.

    None with a digit: a port, a date or a code is what the question asks for, and who knew it would not ask.
    """
    pin = memory_of(trace).pin
    asked = set(index_tokens(pin, trace.query))
    words: dict[str, str] = {}
    for word in _WORD.findall(row.text)[:MOST_LOOKED_AT]:
        if not any(c.isdigit() for c in word):
            words.setdefault(word.lower(), word)
    fresh = [word for word in words.values() if _says_something(set(index_tokens(pin, word)), asked)]
    return sorted(fresh, key=len, reverse=True)


def _says_something(tokens: set[str], asked: set[str]) -> bool:
    return bool(tokens) and not tokens & asked


def _move(request: RecallRequest, question: str, opens: frozenset[str]) -> Move:
    return Move(
        "query",
        request.query,
        opens,
        1,
        lambda k: question,
        lambda k: 1 / (len(request.query.split()) + 1),
        lambda value: {"query": value},
        note="the question's vector kept" if request.query_vector is not None else "",
    )
