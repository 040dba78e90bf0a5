"""What if: the same question under other parameters, from what the recall remembers of its searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import UsageError
from memtui.engine.lab.knobs import with_values

if TYPE_CHECKING:
    from memtui.engine.progress import CancelToken
    from memtui.engine.recall.outside import Outside
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.run import Bench


@dataclass(frozen=True)
class WhatIf:
    """The answer under other parameters."""

    trace: Trace
    asked: str
    """What had to be asked anew, empty when what was found before was enough."""
    changed: bool
    """Whether other memories come back, or in another order."""


class Ask:
    """Runs recalls over a bench: with remembered answers, or asking everything anew."""

    def __init__(self, bench: Bench, cancel: CancelToken | None = None) -> None:
        self.bench = bench
        self.cancel = cancel

    def __call__(self, request: RecallRequest, outside: Outside | None) -> Trace:
        """Run `request` over the answers remembered in `outside`; None asks everything anew."""
        from memtui.engine.recall.run import recall

        if self.cancel is not None:
            self.cancel.check()
        return recall(request, self.bench, outside=outside, cancel=self.cancel)


def what_if(trace: Trace, changes: Mapping[str, Any], ask: Ask) -> WhatIf:
    """`trace` as it would be with `changes`: knob paths (`limit`, `retrieval.minScore`) or request fields to values.

    The clock is `now_ms`, the agent's effective scopes are `scopes`, the table version is `table_version`. Stages
    run again over what was found; only where that does not suffice is the store searched again, and `asked` says
    so. Raises UsageError for a path that is none, or a setting of a decay engine that is off.
    """
    from memtui.engine.recall.outside import NotAsked

    request = changed_request(trace, changes)
    if "table_version" in changes and changes["table_version"] != trace.table_version:
        return _result(trace, ask(request, None), "another version of the table has to be searched")
    try:
        return _result(trace, ask(request, memory_of(trace).offline()), "")
    except NotAsked as missing:
        return _result(trace, ask(request, memory_of(trace)), missing.what)


def at_hand(trace: Trace, changes: Mapping[str, Any], ask: Ask) -> Trace | None:
    """The same without asking anything; None where that does not suffice."""
    from memtui.engine.recall.outside import NotAsked

    try:
        return ask(changed_request(trace, changes), memory_of(trace).offline())
    except NotAsked:
        return None


def changed_request(trace: Trace, changes: Mapping[str, Any]) -> RecallRequest:
    """The request of `trace` with `changes`, at the same moment and on the same version unless they say otherwise."""
    if trace.request is None:
        raise UsageError("This trace does not know its request.", fix="Ask the question again.")
    if trace.config.get("decay") is None and any(path.startswith("decay.") for path in changes):
        raise UsageError(
            "This recall runs without a decay engine.", fix="Choose a recipe with one, for example pro/tool."
        )
    frozen = replace(trace.request, now_ms=trace.now_ms, table_version=trace.table_version)
    return with_values(frozen, changes)


def memory_of(trace: Trace) -> Outside:
    """What the recall asked and was told; UsageError for a trace that was read from a file."""
    if trace.outside is None:
        raise UsageError("This trace was read from a file.", fix="Ask the question again on its store.")
    return trace.outside


def _result(before: Trace, after: Trace, asked: str) -> WhatIf:
    return WhatIf(after, asked, before.returned != after.returned)
