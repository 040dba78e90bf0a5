"""A finished selection as stages: searches, fusion, trust, tiers, guard, budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtui.engine.recall.flow import Flow, Gate, Outcome
from memtui.engine.recall.mem_engine import trust
from memtui.engine.recall.mem_engine.budget import Packed
from memtui.engine.recall.mem_engine.fusion import K
from memtui.engine.recall.mem_engine.lanes import Stored, TierLanes
from memtui.engine.recall.mem_engine.selection import Selection
from memtui.engine.recall.pool import Hit, Pool
from memtui.engine.recall.record import StageRecord
from memtui.engine.recall.rows import Row
from memtui.engine.recall.searched import Column, blank, ranked
from memtui.engine.recall.trace import StageKind


@dataclass(frozen=True)
class Told:
    """Everything that happened, before it is told as stages."""

    tiers: Sequence[tuple[TierLanes, Sequence[tuple[str, float]]]]
    """Each searched tier with its fused hits, (id, score), in the order of the searches."""
    selection: Selection
    trust_mode: trust.Mode
    admitted: frozenset[str]
    """Ids that the trust mode lets through."""
    guarded: Mapping[str, str]
    """For the hook: id to the reason why it is left out of the prompt; empty for the tool."""
    packed: Packed | None
    limit: int
    lane_limit: int

    @property
    def stored(self) -> dict[str, Stored]:
        """Every row that a search delivered, by id."""
        found: dict[str, Stored] = {}
        for lanes, _ in self.tiers:
            found = {**lanes.stored, **found}
        return found


class Account:
    """The stages of one recall over one pool."""

    def __init__(
        self, told: Told, *, now_ms: int, table_rows: int, lane_ms: float, clock: Callable[[], float]
    ) -> None:
        self.told = told
        self.table_rows, self.lane_ms, self.clock = table_rows, lane_ms, clock
        rows: list[Row] = [each.row for each in told.stored.values()]
        self.place = {row.id: at for at, row in enumerate(rows)}
        self.tier_of = {each: at for at, (_, fused) in enumerate(told.tiers) for each, _ in fused}
        self.hits = {name: self._hits(name) for name in ("vector", "words")}
        self.pool = Pool(rows, self.hits["vector"], self.hits["words"], now_ms)
        self.records: list[StageRecord] = []

    def stages(self) -> list[StageRecord]:
        """All stages in order."""
        self._searched("vector_ranked", "vector", self.hits["vector"])
        self._searched("bm25_ranked", "words", self.hits["words"])
        flow = self._add("fused", "rank fusion", "score", blank(self.pool), self._fused)
        if self.told.trust_mode != "off":
            flow = self._add("trust", "trust", "filter", flow, self._trust)
        flow = self._add("policy_tiers", "tiers", "order", flow, self._tiers)
        if self.told.packed is not None:
            flow = self._add("injection_guard", "guard", "filter", flow, self._guard)
            self._add("context_budget", "budget", "filter", flow, self._budget)
        return self.records

    def _hits(self, name: str) -> dict[int, Hit]:
        found: dict[int, Hit] = {}
        for lanes, _ in self.told.tiers:
            for hit in getattr(lanes, name):
                found.setdefault(self.place[hit.row.id], hit)
        return found

    def _searched(self, name: str, title: str, hits: Mapping[int, Hit]) -> None:
        """A search of all tiers; ranks are those within the tier."""
        notes = list(dict.fromkeys(why for lanes, _ in self.told.tiers for why in lanes.failed))
        params = {"limit": self.told.lane_limit, "searches": len(self.told.tiers)}
        outcome = ranked(hits, self.pool, {}, "; ".join(notes), params)
        record = StageRecord(
            name, title, "search", blank(self.pool), outcome, self.table_rows, self.lane_ms / 2
        )
        self.records.append(record)

    def _add(
        self, name: str, title: str, kind: StageKind, before: Flow, run: Callable[[Flow], Outcome]
    ) -> Flow:
        start = self.clock()
        outcome = run(before)
        n_in = len(before.order) or len(outcome.flow.order) + len(outcome.dropped)
        ms = (self.clock() - start) * 1000
        self.records.append(StageRecord(name, title, kind, before, outcome, n_in, ms))
        return outcome.flow

    def _column(self, values: Mapping[str, Any]) -> Column:
        column: Column = np.full(self.pool.n, None, object)
        for each, value in values.items():
            if each in self.place:
                column[self.place[each]] = value
        return column

    def _fused(self, flow: Flow) -> Outcome:
        """1 / (60 + rank) from each search of the tier; what comes after the tier's limit is left out."""
        score = np.full(self.pool.n, np.nan)
        for _, fused in self.told.tiers:
            for each, value in fused:
                score[self.place[each]] = value
        found = np.flatnonzero(~np.isnan(score))
        ids = np.array([self.pool.rows[at].id for at in found.tolist()], object)
        by_id = found[np.argsort(ids, kind="stable")] if found.size else found
        left_out = np.flatnonzero(np.isnan(score)).tolist()
        inputs = {
            "bm25_rank": self._ranks("words"),
            "vector_rank": self._ranks("vector"),
            "tier": self._column({each: self._tier_name(at) for each, at in self.tier_of.items()}),
        }
        gate = Gate("lane_limit", None, float(self.told.lane_limit))
        return Outcome(
            Flow(by_id, score).sorted(score),
            "reciprocal_ranks",
            inputs,
            dict.fromkeys(left_out, gate),
            {"k": K},
        )

    def _ranks(self, name: str) -> Column:
        return self._column({self.pool.rows[at].id: float(hit.rank) for at, hit in self.hits[name].items()})

    def _tier_name(self, at: int) -> str:
        return self.told.selection.counts[at].tier

    def _trust(self, flow: Flow) -> Outcome:
        tiers = {each: trust.tier_of(stored.trust) for each, stored in self.told.stored.items()}
        keep, dropped = [], {}
        for index in flow.order.tolist():
            each = self.pool.rows[index].id
            if each in self.told.admitted:
                keep.append(index)
            else:
                dropped[index] = Gate("quarantined" if tiers[each] == trust.QUARANTINED else "not_trusted")
        return self._filtered(
            flow, keep, dropped, {"trust": self._column(tiers)}, {"mode": self.told.trust_mode}
        )

    def _tiers(self, flow: Flow) -> Outcome:
        """The memories taken, in the order in which tiers, quotas and scopes were filled."""
        selection = self.told.selection
        taken = [each for each in selection.taken if each.hit.id in self.place]
        order = [self.place[each.hit.id] for each in taken]
        rest = [index for index in flow.order.tolist() if index not in set(order)]
        dropped = {
            index: Gate("limit", float(at), float(self.told.limit))
            for at, index in enumerate(rest, len(order) + 1)
        }
        inputs = {
            "tier": self._column({each.hit.id: each.tier for each in taken}),
            "scope": self._column({each.hit.id: each.scope for each in taken}),
            "wildcard": self._column({each.hit.id: True for each in taken if each.wildcard}),
        }
        params = {
            "ladder": selection.policy_tier,
            "tiers": [count.as_json() for count in selection.counts],
            "rejected": list(selection.rejected),
            "fallback": selection.fallback.as_json(),
            "wildcards": selection.wildcards,
        }
        return self._filtered(flow, order, dropped, inputs, params)

    def _guard(self, flow: Flow) -> Outcome:
        why = {index: self.told.guarded.get(self.pool.rows[index].id, "") for index in flow.order.tolist()}
        keep = [index for index, reason in why.items() if not reason]
        return self._filtered(
            flow, keep, {index: Gate(reason) for index, reason in why.items() if reason}, {}, {}
        )

    def _budget(self, flow: Flow) -> Outcome:
        packed = self.told.packed
        assert packed is not None  # the stage runs only for the hook
        inside = {slot.id for slot in packed.kept}
        keep = [index for index in flow.order.tolist() if self.pool.rows[index].id in inside]
        gate = Gate("budget", float(packed.receipt["beforeChars"]), float(packed.receipt["maxChars"]))
        dropped = {index: gate for index in flow.order.tolist() if index not in set(keep)}
        return self._filtered(flow, keep, dropped, {}, dict(packed.receipt))

    @staticmethod
    def _filtered(
        flow: Flow,
        keep: Sequence[int],
        dropped: Mapping[int, Gate],
        inputs: Mapping[str, Any],
        params: Mapping[str, Any],
    ) -> Outcome:
        after = Flow(np.array(keep, np.int64), flow.score)
        return Outcome(after, "unchanged", inputs, dropped, params, kind="filter")
