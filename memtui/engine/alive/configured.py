"""What makes a memory dead by a key of the configuration, said as the check of the configuration says it."""

from __future__ import annotations

from collections.abc import Sequence

from memtui.engine.alive.model import Aliveness
from memtui.engine.configuration.file import Configuration
from memtui.engine.configuration.rules import Problem

_CHOSEN = frozenset(("A8",))
"""Switches that a person may have turned off on purpose."""


def add_dead_parts(
    problems: Sequence[Problem], config: Configuration, found: Aliveness
) -> tuple[Problem, ...]:
    """`problems` of a configuration and, behind the errors, the dead parts that a key of its files is evidence of.

    A key that `problems` name already is named once.
    """
    files = {str(file) for file in config.texts}
    known = {problem.path for problem in problems}
    more: dict[tuple[str, str], Problem] = {}
    for _, _, cause in found.causes:
        keys = [item for item in cause.evidence if item.file in files]
        if cause.state != "dead" or not keys or any(item.key in known for item in keys):
            continue
        more[cause.code, keys[0].key] = Problem(
            cause.code,
            "warning" if cause.code in _CHOSEN else "error",
            keys[0].key,
            cause.sentence.rstrip("."),
            cause.fix,
            keys[0].file,
        )
    order = ("error", "warning", "note")
    return tuple(sorted((*problems, *more.values()), key=lambda problem: order.index(problem.severity)))
