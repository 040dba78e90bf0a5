"""The demo store's telling questions as cases."""

from __future__ import annotations

from memtui.engine.cases.case import Case, case_id
from memtui.engine.demo.content import questions
from memtui.engine.demo.rows import memory_id


def demo_cases(now_ms: int) -> tuple[Case, ...]:
    """One case a question: the keys it names become ids."""
    return tuple(
        Case(
            id=case_id(each.query, each.scopes, None, ""),
            query=each.query,
            expected=tuple(memory_id(key) for key in each.expected),
            rejected=tuple(memory_id(key) for key in each.unexpected),
            scopes=each.scopes,
            note=each.shows,
            created_ms=now_ms,
        )
        for each in questions()
    )
