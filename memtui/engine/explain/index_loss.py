"""The vector index as the reason: what it keeps back from a recall that a search of every row would answer with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.explain.variation import Recompute, changed_request, memory_of
from memtui.engine.explain.verdict import DROP, VECTOR_INDEX, GateResult, SmallestChange, Verdict

if TYPE_CHECKING:
    from memtui.engine.explain.ranks import VectorRank
    from memtui.engine.recall.candidates import Hit
    from memtui.engine.recall.record import Trace


NOTE = "Health measures what it loses and drops it (D11)"


def with_index(trace: Trace, verdict: Verdict, by_vector: VectorRank, ask: Recompute) -> Verdict:
    """The verdict with a rung for the vector index; itself where no index answered the search by vector.

    The same recall is asked again without the index. Where the memory then comes back, the index is the reason,
    whatever gate it led to; where no search delivered the memory and an exact one does, the index stopped it first.
    """
    if trace.outside is None or trace.query_vector is None or trace.failure is not None:
        return verdict
    kind = memory_of(trace).pin.vector_index
    if not kind or by_vector.distance is None:
        return verdict
    hit = _hit(trace, verdict.id)
    limit = len(trace.pool.vector)
    facts: dict[str, Any] = {"index": kind, "exact_rank": by_vector.rank, "of": by_vector.of}
    facts["index_rank"] = None if hit is None else hit.rank
    if verdict.returned:
        return _placed(
            verdict, GateResult(VECTOR_INDEX, True, by_vector.rank, limit, _met(facts), facts=facts)
        )
    exact = ask(changed_request(trace, {}), memory_of(trace).exactly())
    place = exact.returned.index(verdict.id) + 1 if verdict.id in exact.returned else None
    facts |= {"rank_without": place}
    found_exactly = _hit(exact, verdict.id) is not None
    never = all(row.id != verdict.id for row in trace.pool.rows)
    if place is None and not (never and hit is None and found_exactly):
        return _placed(
            verdict, GateResult(VECTOR_INDEX, True, by_vector.rank, limit, _met(facts), facts=facts)
        )
    earlier = next((rung for rung in verdict.ladder if rung.passed is False), None)
    words = _lost(facts)
    rung = GateResult(VECTOR_INDEX, False, by_vector.rank, limit, words, facts=facts)
    if place is None and earlier is not None and earlier.gate != "candidate_pool":
        return _placed(
            verdict, replace(rung, hypothetical=True)
        )  # what the memory is, stops it before any search
    told = replace(verdict, gate=VECTOR_INDEX, value=rung.value, limit=limit, sentence=words)
    if place is not None:
        drop = SmallestChange(DROP, kind, None, True, 1.0, place, note=NOTE)
        told = replace(told, changes=(*told.changes, drop))
    return _placed(told, rung)


def _hit(trace: Trace, memory_id: str) -> Hit | None:
    """Where the search by vector found the memory; None where it did not."""
    at = next((at for at, row in enumerate(trace.pool.rows) if row.id == memory_id), None)
    return None if at is None else trace.pool.vector.get(at)


def _placed(verdict: Verdict, rung: GateResult) -> Verdict:
    """The ladder with the rung where the search stands: before the pool."""
    names = [gate.gate for gate in verdict.ladder]
    at = names.index("candidate_pool") if "candidate_pool" in names else len(names)
    return replace(verdict, ladder=(*verdict.ladder[:at], rung, *verdict.ladder[at:]))


def _met(facts: dict[str, Any]) -> str:
    exact = f"exact rank {facts['exact_rank']:,} of {facts['of']:,}"
    if facts["index_rank"] is None:
        return f"Not what keeps it out: without the index the answer is the same ({exact})."
    return f"The index finds it, number {facts['index_rank']:,}; {exact}."


def _lost(facts: dict[str, Any]) -> str:
    exact = f"exact rank {facts['exact_rank']:,} of {facts['of']:,}"
    if facts["index_rank"] is None:
        said = f"The vector index ({facts['index']}) does not find it: {exact}."
    else:
        said = f"The vector index ({facts['index']}) misplaces it: number {facts['index_rank']:,}, {exact}."
    if facts["rank_without"] is None:
        return f"{said} Found, it would still have the other gates to pass."
    return f"{said} Without the index it comes back, number {facts['rank_without']}."
