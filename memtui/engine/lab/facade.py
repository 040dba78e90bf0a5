"""The lab of one store: why not, what if, flip points, comparisons, what the agent would see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import UsageError
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.lab.flips import Strip
    from memtui.engine.lab.parameters import Parameter
    from memtui.engine.lab.ranks import Ranking
    from memtui.engine.lab.verdict import Verdict
    from memtui.engine.lab.whatif import Ask, WhatIf
    from memtui.engine.progress import CancelToken, OnProgress
    from memtui.engine.recall.record import Trace


class Lab:
    """Everything that explains a recall. Reads only; call from a worker, all of it may take a moment."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def why_not(
        self,
        memory_id: str,
        request: RecallRequest,
        *,
        changes: bool = True,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> Verdict:
        """Why `memory_id` does not come back for `request`, and (`changes`) what alone would bring it back."""
        ask = self._ask(cancel)
        return self.why_not_in(
            ask(self._named(request), None),
            memory_id,
            changes=changes,
            on_progress=on_progress,
            cancel=cancel,
        )

    def why_not_in(
        self,
        trace: Trace,
        memory_id: str,
        *,
        changes: bool = True,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> Verdict:
        """The same for a recall that ran already."""
        from memtui.engine.lab.smallest import with_changes
        from memtui.engine.lab.whynot import why_not

        ask = self._ask(cancel)
        inquiry = why_not(trace, memory_id, self._ranking, ask)
        if not changes:
            return inquiry.verdict
        return with_changes(inquiry, self._engine.catalog.scopes, ask, on_progress)

    def parameters(self, trace: Trace) -> tuple[Parameter, ...]:
        """Every parameter of the recipe: value, range, what turning it needs, findings beside it."""
        from memtui.engine.lab.parameters import parameters

        return parameters(trace)

    def what_if(self, trace: Trace, changes: Mapping[str, Any], cancel: CancelToken | None = None) -> WhatIf:
        """`trace` with other parameters; see `whatif.what_if`. `agent_scopes` turns an agent into scopes."""
        from memtui.engine.lab.whatif import what_if

        return what_if(trace, changes, self._ask(cancel))

    def flips(self, trace: Trace, path: str, cancel: CancelToken | None = None) -> Strip:
        """The values of one parameter at which the list changes. UsageError for one that is no number."""
        from memtui.engine.lab.flips import strip

        for parameter in self.parameters(trace):
            if parameter.knob.path == path:
                return strip(trace, parameter.knob, parameter.value, self._ask(cancel))
        raise UsageError(f"This recall has no parameter {path}.", fix="See its list of parameters.")

    def agent_scopes(self, agent: str) -> list[str] | None:
        """The scopes that an agent reads, by the plugin's rules; None is no filter at all."""
        return self._engine.scope_policy.store_filter(agent)

    def more_like(self, memory_id: str, request: RecallRequest) -> RecallRequest:
        """`request` with a memory as the question: its abstract as the words, its own vector as the vector.

        Raises UsageError when there is no such memory, or it has no vector.
        """
        from memtui.engine.recall.rows import rows_of
        from memtui.engine.recall.search import read_columns

        pin = self._engine.store.pin(request.table_version)
        rows = rows_of(pin.rows_by_id([memory_id], read_columns(pin.dialect)), pin.dialect)
        if not rows:
            raise UsageError(f"There is no memory {memory_id}.", fix="Take one from the list.")
        if rows[0].vector is None or not rows[0].vector.any():
            raise UsageError("This memory has no vector to ask with.", fix="Ask with its words.")
        return replace(
            request, query=rows[0].metadata.l0_abstract or rows[0].text, query_vector=rows[0].vector.tolist()
        )

    def _ask(self, cancel: CancelToken | None) -> Ask:
        from memtui.engine.lab.whatif import Ask

        return Ask(self._engine.bench(), cancel)

    def _named(self, request: RecallRequest) -> RecallRequest:
        return request if request.recipe else replace(request, recipe=self._engine.default_recipe)

    def _ranking(self, version: int) -> Ranking:
        from memtui.engine.lab.ranks import ranking_at

        engine = self._engine
        engine.load_metadata()
        return ranking_at(engine.store, version, engine.catalog)
