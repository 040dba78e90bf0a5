"""A word of the memory added to the question: which of its words the question lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.engine.lab.moves import FOUND, Move
from memtui.engine.lab.whatif import memory_of
from memtui.engine.store.tokens import index_tokens

if TYPE_CHECKING:
    from memtui.engine.lab.whynot import Inquiry

MOST_WORDS = 6
"""Words tried; each costs a search, and an embedding where the question has no given vector."""
_WORD = re.compile(r"\w[\w.:/-]*\w|\w")


def added_words(inquiry: Inquiry) -> Iterator[Move]:
    """One move for each word worth trying, the most telling first; and a question mark for the adaptive gate."""
    evidence = inquiry.evidence
    if evidence is None or evidence.plan.plain:
        return
    question = evidence.plan.request.query
    if evidence.plan.gate_rule == "too_short":
        yield _move(inquiry, f"{question}?", frozenset({"adaptive_gate"}))
    opens = FOUND | {"adaptive_gate"}
    for word in telling_words(inquiry)[:MOST_WORDS]:
        yield _move(inquiry, f"{question} {word}", opens)


def telling_words(inquiry: Inquiry) -> list[str]:
    """Words of the memory that the question lacks: names and numbers first, then the long ones."""
    if inquiry.evidence is None:
        return []
    pin = memory_of(inquiry.trace).pin
    asked = set(index_tokens(pin, inquiry.evidence.plan.request.query))
    words: dict[str, str] = {}
    for word in _WORD.findall(inquiry.evidence.row.text)[:200]:
        words.setdefault(word.lower(), word)
    fresh = [word for word in words.values() if _says_something(set(index_tokens(pin, word)), asked)]
    return sorted(fresh, key=lambda word: (not any(c.isdigit() for c in word), -len(word)))


def _says_something(tokens: set[str], asked: set[str]) -> bool:
    return bool(tokens) and not tokens & asked


def _move(inquiry: Inquiry, question: str, opens: frozenset[str]) -> Move:
    evidence = inquiry.evidence
    assert evidence is not None
    before = evidence.plan.request.query
    kept = evidence.plan.request.query_vector is not None
    return Move(
        "query",
        before,
        opens,
        1,
        lambda k: question,
        lambda k: 1 / (len(before.split()) + 1),
        lambda value: {"query": value},
        note="the question's vector kept" if kept else "",
    )
