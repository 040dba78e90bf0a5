"""The recipes that are programs of their own, not lists of the plugin's stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.progress import CancelToken
    from memtui.engine.recall.outside import Outside
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.run import Bench
    from memtui.engine.recall.trace import StageSummary

    OnStage = Callable[[StageSummary], None] | None
    Runner = Callable[[RecallRequest, Bench, Outside, OnStage, CancelToken | None], Trace]


def _memtui(
    request: RecallRequest, bench: Bench, outside: Outside, on_stage: OnStage, cancel: CancelToken | None
) -> Trace:
    from memtui.engine.recall.own.run import recall_own

    return recall_own(
        request,
        outside,
        now_ms=bench.now_ms,
        bundled_vectors=bench.bundled,
        on_stage=on_stage,
        cancel=cancel,
    )


def _mem_engine(
    request: RecallRequest, bench: Bench, outside: Outside, on_stage: OnStage, cancel: CancelToken | None
) -> Trace:
    from memtui.engine.recall.mem_engine.run import recall_engine

    return recall_engine(request, outside, now_ms=bench.now_ms, on_stage=on_stage, cancel=cancel)


RUNNERS: dict[str, Runner] = {"memtui": _memtui, "mem-engine": _mem_engine}
"""Recipe to the function that answers with it."""
