"""Where the agent's configuration contradicts the store, and a second store that is written to, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.text import counted
from memtui.engine.discovery.types import PRO
from memtui.engine.health.check import Check, Patient, Seen

if TYPE_CHECKING:
    from memtui.engine.configuration.rules import Problem


FRESH_MS = 7 * 86_400_000

_PAIR = ("lancedb", "lancedb-pro")


def _contradictions(patient: Patient) -> Seen | None:
    from memtui.engine.configuration.file import open_config
    from memtui.engine.configuration.rules import problems_of
    from memtui.engine.configuration.store_rules import problems_of_store

    found = patient.found
    if found is None or not found.config:
        return _unused(patient)
    config = open_config(patient.environ, patient.cwd, path=Path(found.config))
    said = (
        [problem for problem in problems_of(config, store=patient.store) if problem.rule in CONTRADICTS]
        if found.plugin == PRO
        else problems_of_store(config, found, patient.store)
    )
    return _seen(said, found.config)


def _unused(patient: Patient) -> Seen | None:
    """A full store that no configuration names, beside the one that it names and that holds nothing."""
    from memtui.engine.configuration.file import open_config
    from memtui.engine.configuration.store_rules import problem_of_place
    from memtui.engine.core.errors import MemtuiError

    if patient.folder is None:
        return None
    try:
        config = open_config(patient.environ, patient.cwd)
    except MemtuiError:
        return None  # no configuration, or more than one: `config check` says so
    problem = problem_of_place(config, patient.folder, patient.table, patient.cwd)
    return None if problem is None else _seen([problem], str(config.main))


def _seen(problems: Sequence[Problem], main: str) -> Seen | None:
    if not problems:
        return None
    return Seen(
        f"{counted(len(problems), 'setting')} against the store: {problems[0].sentence}",
        len(problems),
        files=tuple(dict.fromkeys((main, *(problem.file or main for problem in problems)))),
        evidence=tuple(problem.sentence for problem in problems),
        remedy=problems[0].remedy,
        detail={"rules": [problem.rule for problem in problems]},
    )


CONTRADICTS = frozenset(
    (
        "dims",
        "db-path-empty",
        "default-scope",
        "auto-recall-off",
        "include-exclude",
        "rerank-key",
        "slot",
        "off",
    )
)
"""Rules of the configuration whose breach means that the agent does not work with this store as it should."""


def _two_stores(patient: Patient) -> Seen | None:
    if patient.folder is None or patient.folder.name not in _PAIR:
        return None
    from memtui.engine.store.table_files import list_table

    times = {}
    for name in _PAIR:
        newest = list_table(patient.folder.parent / name / f"{patient.table}.lance").newest
        if newest is not None and patient.now_ms - newest.time_ms < FRESH_MS:
            times[name] = newest.time_ms
    if len(times) < len(_PAIR):
        return None
    return Seen(
        "both the built-in store and the plugin's were written to within 7 days",
        2,
        files=tuple(str(patient.folder.parent / name) for name in _PAIR),
    )


PROTOCOL = 1

CHECKS = (
    Check(
        "D37", "configuration and store", "facts", "S2", "wrong",
        "the agent does not remember as it is meant to", "see: memtui config check", _contradictions,
        how="restart", safe=None, reversible=None, back="memtui config undo", price="a restart of the gateway",
    ),
    Check(
        "D38", "one store in use", "facts", "S2", "wrong",
        "what is stored in one is never recalled from the other",
        "choose one, bring the rows of the other over: memtui migrate",
        _two_stores, how="by hand", safe=None, reversible=None, price="a migration",
    ),
)  # fmt: skip
