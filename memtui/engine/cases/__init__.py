""""""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.cases.bisection import Bisection, BisectPoint, TableVersion, dropped_by
    from memtui.engine.cases.case import Case, CaseBook, Verdict, case_id, demo_cases, new_case
    from memtui.engine.cases.golden_set import CaseFile, read_cases
    from memtui.engine.cases.runner import (
        DEFAULT_K,
        CaseAnswer,
        CaseReport,
        CaseSetup,
        compare,
        missed_bars,
        run_cases,
    )
    from memtui.engine.cases.tuning import TuningResult, tune

__all__ = [
    "DEFAULT_K",
    "BisectPoint",
    "Bisection",
    "Case",
    "CaseAnswer",
    "CaseBook",
    "CaseFile",
    "CaseReport",
    "CaseSetup",
    "TableVersion",
    "TuningResult",
    "Verdict",
    "case_id",
    "compare",
    "demo_cases",
    "dropped_by",
    "missed_bars",
    "new_case",
    "read_cases",
    "run_cases",
    "tune",
]

__getattr__ = lazy_names(
    __name__,
    {
        "BisectPoint": "memtui.engine.cases.bisection",
        "Bisection": "memtui.engine.cases.bisection",
        "Case": "memtui.engine.cases.case",
        "CaseAnswer": "memtui.engine.cases.runner",
        "CaseBook": "memtui.engine.cases.case",
        "CaseReport": "memtui.engine.cases.runner",
        "CaseSetup": "memtui.engine.cases.runner",
        "DEFAULT_K": "memtui.engine.cases.runner",
        "TableVersion": "memtui.engine.cases.bisection",
        "TuningResult": "memtui.engine.cases.tuning",
        "Verdict": "memtui.engine.cases.case",
        "case_id": "memtui.engine.cases.case",
        "compare": "memtui.engine.cases.runner",
        "demo_cases": "memtui.engine.cases.case",
        "dropped_by": "memtui.engine.cases.bisection",
        "missed_bars": "memtui.engine.cases.runner",
        "new_case": "memtui.engine.cases.case",
        "CaseFile": "memtui.engine.cases.golden_set",
        "read_cases": "memtui.engine.cases.golden_set",
        "run_cases": "memtui.engine.cases.runner",
        "tune": "memtui.engine.cases.tuning",
    },
)
