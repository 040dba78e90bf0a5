"""What could be turned to bring one memory back: each knob with its range of steps and the gates it can open."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.catalog.text_search import index_tokens
from memtui.engine.core.javascript import utf16_slice
from memtui.engine.core.memory import TIERS
from memtui.engine.explain import knobs
from memtui.engine.explain.effective_settings import inert
from memtui.engine.explain.variation import memory_of
from memtui.engine.recall.knob import Knob
from memtui.engine.recall.recipes.registry import recipe_named
from memtui.engine.recall.rows import CandidateRow

if TYPE_CHECKING:
    from memtui.engine.explain.ladder import GateEvidence
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest


# A memory as it would be after a change, without writing it: its importance, tier, use, state, length.

UNARCHIVED = {"state": "confirmed", "memory_layer": "working"}


def edited(row: CandidateRow, change: str, value: Any, *, now_ms: int) -> CandidateRow:
    """`row` after one change; `change` is one of

    `memory.importance` (0 to 1), `memory.tier` (a tier), `memory.touch` (used once more, now), `memory.used`
    (used `value` times more, the last time now), `memory.state` (confirmed again), `memory.suppressed_until`
    and `memory.valid_until` and `memory.invalidated_at` (removed),
    `memory.length` (its first `value` UTF-16 units; vector and words are taken to stay as they are).
    """
    if change == "memory.importance":
        return row.changed(importance=float(value))
    if change == "memory.length":
        return row.changed(text=utf16_slice(row.text, int(value)))
    return row.changed(raw_metadata=_patched(row, change, value, now_ms))


def _patched(row: CandidateRow, change: str, value: Any, now_ms: int) -> str:
    values: dict[str, Any] = dict(row.metadata.values)
    if change == "memory.tier":
        values["tier"] = value
    elif change == "memory.touch":
        values.update(_touch(row, 1, now_ms))
    elif change == "memory.used":
        values.update(_touch(row, int(value), now_ms))
    elif change == "memory.state":
        values.update(UNARCHIVED)
    elif change == "memory.suppressed_until":
        values["suppressed_until_ms"] = 0
    elif change in ("memory.valid_until", "memory.invalidated_at"):
        values.pop(change.removeprefix("memory."), None)
        if change == "memory.invalidated_at" and row.metadata.valid_from > now_ms:
            values["valid_from"] = now_ms
    else:
        raise ValueError(change)
    return json.dumps(values, ensure_ascii=False)


def _touch(row: CandidateRow, times: int, now_ms: int) -> Mapping[str, Any]:
    """More uses, the last one now: both spellings of the keys where a row has both."""
    patch: dict[str, Any] = {
        "access_count": row.metadata.access_count + times,
        "last_accessed_at": now_ms,
    }
    if "accessCount" in row.metadata.values or "lastAccessedAt" in row.metadata.values:
        patch |= {"accessCount": row.reinforcement[0] + times, "lastAccessedAt": now_ms}
    return patch


AFTER_RERANK = frozenset({"hard_cutoff", "limit", "mmr_diversity"})

RANKED = AFTER_RERANK | {"rerank_window", "rerank"}

SCORED = RANKED | {"min_score"}

FOUND = SCORED | {"candidate_pool"}

GUARDS = frozenset({"inactive", "expired", "state", "suppressed"})
"""Gates that look at what a memory is, whatever was asked."""

SWITCH = 1.0
"""The size of a change that has no range."""

SHORTEST_TEXT, TEXT_STEP = 10, 10

_OPENS: Mapping[str, frozenset[str]] = {
    "limit": RANKED - {"hard_cutoff"} | {"candidate_pool"},
    "retrieval.candidatePoolSize": RANKED | {"candidate_pool"},
    "retrieval.minScore": SCORED,
    "retrieval.vectorWeight": SCORED,
    "retrieval.bm25Weight": SCORED,
    "retrieval.rerank": RANKED,
    "retrieval.mode": FOUND,
    "retrieval.queryExpansion": FOUND,
    "retrieval.disableNativeCosine": FOUND,
    "retrieval.filterNoise": AFTER_RERANK | {"noise_filter"},
}
"""The gates that a parameter can open; every other one works after the rerank stage only."""


@dataclass(frozen=True)
class CandidateChange:
    """One knob in one direction: step 1 is the smallest change, `steps` the largest."""

    knob: str
    before: Any
    opens: frozenset[str]
    steps: int
    value: Callable[[int], Any]
    size: Callable[[int], float]
    changes: Callable[[Any], Mapping[str, Any]]
    """A value as changes of the request."""
    edits: Callable[[Any], Mapping[str, CandidateRow | None]] = lambda value: {}
    """A value as changes of memories."""
    note: str = ""
    estimate: bool = False
    """Whether what it does can only be estimated without writing it."""
    hints: tuple[int, ...] = ()
    """Steps worth looking at: where the memory's own number lies."""

    @property
    def is_switch(self) -> bool:
        """Whether there is nothing between off and on."""
        return self.steps == 1


def moves(trace: Trace, e: GateEvidence, scopes: Sequence[str | None]) -> Iterator[CandidateChange]:
    """Every move for this recall and memory; `scopes` are all scopes of the store."""
    yield from _parameters(trace, e)
    yield from _question(trace, e, scopes)
    yield from _memory(e)


def powerless(trace: Trace, e: GateEvidence) -> Iterator[tuple[str, str]]:
    """(knob, why) of what cannot help whatever the gate: inert parameters and constants."""
    for knob in knobs.knobs_of(e.plan.recipe.name):
        why = inert(trace, knob.path)
        if why:
            yield knob.path, why
    if e.plan.plain:
        yield "min_score", "the floor of .1 is a constant of the program"
        return
    yield "mmr", "its limit of .85 is a constant of the plugin"
    if e.plan.lane_limit >= 20:
        yield "retrieval.candidatePoolSize", "the store clamps the pool at 20"
    if not e.plan.retrieval.rerank_api_key:
        yield "retrieval.rerank = cross-encoder", "there is no API key, so it is the cosine blend in silence"


def _parameters(trace: Trace, e: GateEvidence) -> Iterator[CandidateChange]:
    numbers = _numbers_of(e)
    for knob in knobs.knobs_of(e.plan.recipe.name):
        if inert(trace, knob.path):
            continue
        before = knobs.value_of(e.plan.request, trace.config, trace.limit, trace.source, knob.path)
        opens = _OPENS.get(knob.path, AFTER_RERANK)
        if knob.path == "retrieval.rerank":
            for mode in _rerank_modes(e, str(before)):
                yield _switch(knob.path, before, mode, opens)
        elif knob.path != "source":
            yield from of_knob(knob, before, opens, numbers.get(knob.path))


def of_knob(
    knob: Knob, before: Any, opens: frozenset[str], hint: float | None = None
) -> Iterator[CandidateChange]:
    """Everything that one parameter can be turned to; `hint` is a value worth looking at."""
    if knob.kind in ("number", "whole"):
        yield from _both_ways(knob, float(before), opens, hint)
    elif knob.kind == "switch":
        yield _switch(knob.path, before, not before, opens)
    else:
        for choice in knob.choices:
            if choice != before:
                yield _switch(knob.path, before, choice, opens)


def _rerank_modes(e: GateEvidence, before: str) -> list[str]:
    keyed = bool(e.plan.retrieval.rerank_api_key)
    effective = before if before != "cross-encoder" or keyed else "lightweight"
    modes = ["none", "lightweight", *(["cross-encoder"] if keyed else [])]
    return [mode for mode in modes if mode != effective]


def _numbers_of(e: GateEvidence) -> dict[str, float]:
    """The memory's own number at the gates that compare one with a parameter."""
    out: dict[str, float] = {}
    for path, stage in (("retrieval.minScore", "rerank_input"), ("retrieval.hardMinScore", "hard_cutoff")):
        record = e.passage.record(stage) if e.passage else None
        score = e.passage.before(record) if e.passage and record else None
        if score is not None:
            out[path] = score
    return out


def _both_ways(
    knob: Knob, before: float, opens: frozenset[str], hint: float | None
) -> Iterator[CandidateChange]:
    """A number turned up, and turned down, step by step to the ends of its range."""
    for sign, room in ((1, knob.high - before), (-1, before - knob.low)):
        steps = int(room / knob.step + 1e-9)
        if steps < 1 or (knob.path == "limit" and sign < 0):
            continue

        def value(k: int, sign: int = sign) -> Any:
            return knob.clamp(before + sign * k * knob.step)

        def size(k: int) -> float:
            return k * knob.step / knob.span

        near = (
            ()
            if hint is None
            else (int(abs(before - hint) / knob.step), int(abs(before - hint) / knob.step) + 1)
        )
        shown = round(before) if knob.kind == "whole" else before
        yield CandidateChange(knob.path, shown, opens, steps, value, size, _setting(knob.path), hints=near)


def _setting(path: str) -> Callable[[Any], Mapping[str, Any]]:
    return lambda value: {path: value}


def _switch(path: str, before: Any, after: Any, opens: frozenset[str], note: str = "") -> CandidateChange:
    return CandidateChange(
        path, before, opens, 1, lambda k: after, lambda k: SWITCH, _setting(path), note=note
    )


def _question(trace: Trace, e: GateEvidence, scopes: Sequence[str | None]) -> Iterator[CandidateChange]:
    """The request's own fields: scopes, category, caller, clock."""
    request, row = e.plan.request, e.row
    if request.scopes is not None and e.scope_column and row.scope is not None:
        asked = list(request.scopes)
        if row.scope not in asked:
            note = "" if e.grant is None else f"{e.agent} would have to be granted it: {e.grant.words}"
            yield _switch("scopes", asked, [*asked, row.scope], frozenset({"scope"}), note)
        elif len(asked) > 1:
            yield _switch("scopes", asked, [row.scope], FOUND, "only the memory's own scope")
    elif request.scopes is None and e.scope_column and row.scope is not None and len(scopes) > 1:
        yield _switch("scopes", None, [row.scope], FOUND, "only the memory's own scope")
    if request.category is not None:
        yield _switch("category", request.category, None, frozenset({"category"}) | RANKED)
    elif row.category:
        yield _switch("category", None, row.category, RANKED, "only the memory's own category")
    if purpose := recipe_named(e.plan.recipe.name).on_purpose:
        opens = FOUND | {"adaptive_gate", "state", "suppressed"}
        yield _switch("recipe", request.recipe, purpose, opens, "the agent asks on purpose")
    if not e.plan.plain:
        yield from clock_moves(e.row, e.plan.now_ms, GUARDS)


def clock_moves(row: CandidateRow, now: int, gates: frozenset[str]) -> Iterator[CandidateChange]:
    """The clock set to when the memory still was, or will be, let through by each of `gates`."""
    meta = row.metadata
    moments = (
        ("inactive", meta.invalidated_at, -1),
        ("inactive", meta.valid_from if meta.valid_from > now else None, 0),
        ("expired", meta.valid_until, -1),
        ("suppressed", meta.suppressed_until_ms if meta.suppressed(now) else None, 0),
    )
    for gate, at, shift in moments:
        if gate in gates and at and ((at > now) == (shift == 0)):
            away = abs(at + shift - now)
            yield CandidateChange(
                "now_ms",
                now,
                frozenset({gate}),
                away,
                lambda k, sign=1 if at > now else -1: now + sign * k,  # type: ignore[misc]
                lambda k: SWITCH,
                _setting("now_ms"),
                hints=(away,),
                note="the clock, not the store",
            )


def _memory(e: GateEvidence) -> Iterator[CandidateChange]:
    """The memory's own side."""
    if e.plan.plain:
        return
    row, meta, now = e.row, e.row.metadata, e.plan.now_ms
    switch, edit = _edits_of(row, now)
    yield from let_through(row, now, GUARDS)
    for tier in TIERS:
        if tier != meta.tier:
            yield switch("memory.tier", meta.tier, tier, AFTER_RERANK)
    yield switch("memory.touch", meta.last_accessed_at, now, AFTER_RERANK, "used once more, now")
    importance = Knob("memory.importance", "number", "", 0.0, 1.0, 0.01)
    for move in _both_ways(importance, row.importance, AFTER_RERANK, None):
        yield _as_edit(move, edit("memory.importance"))
    shorter = (row.length - SHORTEST_TEXT) // TEXT_STEP
    if shorter >= 1:
        yield CandidateChange(
            "memory.length",
            row.length,
            AFTER_RERANK,
            int(shorter),
            lambda k: row.length - k * TEXT_STEP,
            lambda k: k * TEXT_STEP / row.length,
            lambda v: {},
            edit("memory.length"),
            note="if its vector and the words asked for stay as they are",
            estimate=True,
        )
    yield from _twin(e)


def _edits_of(
    row: CandidateRow, now: int
) -> tuple[
    Callable[..., CandidateChange], Callable[[str], Callable[[Any], Mapping[str, CandidateRow | None]]]
]:
    """What makes a move of one change of a memory, and what makes the changed memory."""

    def edit(knob: str) -> Callable[[Any], Mapping[str, CandidateRow | None]]:
        return lambda value: {row.id: edited(row, knob, value, now_ms=now)}

    def switch(knob: str, before: Any, after: Any, opens: frozenset[str], note: str = "") -> CandidateChange:
        nothing: Mapping[str, Any] = {}
        return CandidateChange(
            knob, before, opens, 1, lambda k: after, lambda k: SWITCH, lambda v: nothing, edit(knob), note
        )

    return switch, edit


def let_through(row: CandidateRow, now: int, gates: frozenset[str]) -> Iterator[CandidateChange]:
    """The memory's own fields that one of `gates` looks at, set so that it passes."""
    meta = row.metadata
    switch, _ = _edits_of(row, now)
    if "state" in gates and (meta.state != "confirmed" or meta.memory_layer in ("archive", "reflection")):
        before = f"{meta.state}, {meta.memory_layer}"
        yield switch("memory.state", before, "confirmed, working", frozenset({"state"}))
    if "suppressed" in gates and meta.suppressed(now):
        yield switch("memory.suppressed_until", meta.suppressed_until_ms, 0, frozenset({"suppressed"}))
    if "expired" in gates and meta.valid_until is not None:
        yield switch("memory.valid_until", meta.valid_until, None, frozenset({"expired"}))
    if "inactive" in gates and not meta.active(now):
        note = f"it was replaced by {meta.superseded_by}" if meta.superseded_by else ""
        yield switch("memory.invalidated_at", meta.invalidated_at, None, frozenset({"inactive"}), note)


def _as_edit(
    move: CandidateChange, edits: Callable[[Any], Mapping[str, CandidateRow | None]]
) -> CandidateChange:
    return CandidateChange(
        move.knob, move.before, move.opens, move.steps, move.value, move.size, lambda v: {}, edits, move.note
    )


def _twin(e: GateEvidence) -> Iterator[CandidateChange]:
    """The memory that it resembles, forgotten."""
    record = e.passage.record("mmr_diversity") if e.passage else None
    if e.passage is None or record is None or record.outcome.rule[e.passage.index] != "deferred":
        return
    twin = record.outcome.inputs["nearest"][e.passage.index]
    yield CandidateChange(
        "memory.twin",
        twin,
        AFTER_RERANK,
        1,
        lambda k: None,
        lambda k: SWITCH,
        lambda v: {},
        lambda v: {twin: None},
        "the memory that it resembles, forgotten",
    )


# A word of the memory added to the question: which of its words the question lacks.

MOST_WORDS = 6
"""Words tried; each costs a search, and an embedding where the question has no given vector."""

MOST_LOOKED_AT = 200

_WORD = re.compile(r"\w[\w.:/-]*\w|\w")


def added_words(trace: Trace, row: CandidateRow, gate_rule: str | None = None) -> Iterator[CandidateChange]:
    """One move for each word worth trying, the most telling first; a question mark where the adaptive gate wants one.

    `gate_rule` is the rule by which the adaptive gate skips the question, where it does.
    """
    request = trace.request
    if request is None:
        return
    if gate_rule == "too_short":
        yield _move(request, f"{request.query}?", frozenset({"adaptive_gate"}))
    for word in telling_words(trace, row)[:MOST_WORDS]:
        yield _move(request, f"{request.query} {word}", FOUND | {"adaptive_gate"})


def telling_words(trace: Trace, row: CandidateRow) -> list[str]:
    """Words of the memory that the question lacks, the long ones first.

    None with a digit: a port, a date or a code is what the question asks for, and who knew it would not ask.
    """
    pin = memory_of(trace).pin
    asked = set(index_tokens(pin, trace.query))
    words: dict[str, str] = {}
    for word in _WORD.findall(row.text)[:MOST_LOOKED_AT]:
        if not any(c.isdigit() for c in word):
            words.setdefault(word.lower(), word)
    fresh = [word for word in words.values() if _says_something(set(index_tokens(pin, word)), asked)]
    return sorted(fresh, key=len, reverse=True)


def _says_something(tokens: set[str], asked: set[str]) -> bool:
    return bool(tokens) and not tokens & asked


def _move(request: RecallRequest, question: str, opens: frozenset[str]) -> CandidateChange:
    return CandidateChange(
        "query",
        request.query,
        opens,
        1,
        lambda k: question,
        lambda k: 1 / (len(request.query.split()) + 1),
        lambda value: {"query": value},
        note="the question's vector kept" if request.query_vector is not None else "",
    )
