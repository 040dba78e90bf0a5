"""One result explained in words: how it was found, what pushed it, what it gained and lost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.lab.gate_words import score

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.trace import Candidate, Step

LEAST = 0.005
"""A change of score smaller than this is not worth words."""
MOST_WORDS = 4
_WORD = re.compile(r"\w[\w.:/-]*\w|\w")
_BY = {
    "reranked": "by the reranker",
    "recency_boost": "for being fresh",
    "importance_weight": "for its importance",
    "length_normalization": "for its length",
    "decay_boost": "for its age and use",
    "time_decay": "for its age",
    "mmr_diversity": "as a near-duplicate",
    "fused": "by fusion",
}


_LOWERS = ("length_normalization", "decay_boost", "time_decay", "importance_weight")
"""Stages that never raise a score."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The sentence in parts, the most telling first."""

    id: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The parts as one sentence."""
        return "; ".join(self.parts)


def explain(trace: Trace, memory_id: str) -> Explanation:
    """What happened to one candidate of `trace`, in words; no parts for a memory that is none."""
    candidate = next((c for c in trace.candidates if c.id == memory_id), None)
    if candidate is None:
        return Explanation(memory_id, ())
    parts = [_found(trace, candidate), *_pushes(candidate), *_gains(candidate), *_end(candidate)]
    return Explanation(memory_id, tuple(part for part in parts if part))


def _found(trace: Trace, candidate: Candidate) -> str:
    vector, words = candidate.sources.get("vector"), candidate.sources.get("bm25")
    shared = matched_words(trace, candidate.id)[:MOST_WORDS] if words else []
    told = ": " + ", ".join(f"'{word}'" for word in shared) if shared else ""
    if vector and words:
        return f"found by meaning (#{vector['rank']}) and by keyword (#{words['rank']}){told}"
    if words:
        return f"found by keyword only{told}" if told else f"found by keyword only (#{words['rank']})"
    return f"found by meaning only (#{vector['rank']})" if vector else ""


def matched_words(trace: Trace, memory_id: str) -> list[str]:
    """The words of the memory, as it writes them, that the index takes for words of the question; longest first."""
    row = next((row for row in trace.pool.rows if row.id == memory_id), None)
    if trace.outside is None or row is None or trace.bm25_query is None:
        return []
    from memtui.engine.store.tokens import index_tokens

    outside, pin = trace.outside, trace.outside.pin

    def tokens(text: str) -> frozenset[str]:
        return outside.made(("tokens", text), lambda: frozenset(index_tokens(pin, text)))

    asked = tokens(trace.bm25_query)
    found: dict[str, str] = {}
    for word in _WORD.findall(row.text):
        if tokens(word) & asked:
            found.setdefault(word.lower(), word)
    return sorted(found.values(), key=lambda word: -len(word))


def _pushes(candidate: Candidate) -> list[str]:
    """The largest move up and the largest move down."""
    moves: list[tuple[int, Step]] = [
        (step.rank_before - step.rank_after, step)
        for step in candidate.steps
        if step.rank_before is not None and step.rank_after is not None and step.stage in _BY
    ]
    if not moves:
        return []
    up, down = max(moves, key=lambda move: move[0]), min(moves, key=lambda move: move[0])
    out = []
    for change, step, verb in ((up[0], up[1], "pushed"), (-down[0], down[1], "taken")):
        if change >= 1:
            places = f"from {step.rank_before} to {step.rank_after}"
            fell = step.before is not None and step.after is not None and step.after <= step.before
            if verb == "pushed" and fell and step.stage in _LOWERS:
                out.append(f"rose {places}: others lost more {_BY[step.stage]}")
            else:
                out.append(f"{verb} {places} {_because(step)}")
    return out


def _because(step: Step) -> str:
    if step.stage == "reranked" and step.rule == "cosine_blend":
        return "by the cosine blend"
    if step.stage == "mmr_diversity" and step.rule != "deferred":
        return "because others were put last"
    return _BY[step.stage]


def _gains(candidate: Candidate) -> list[str]:
    """What the stages after fusion gave and took, the largest first; the reranker is told by its push."""
    out: list[tuple[float, str]] = []
    for step in candidate.steps:
        if step.before is None or step.after is None or step.stage in ("fused", "reranked", "mmr_diversity"):
            continue
        change = step.after - step.before
        if abs(change) >= LEAST and step.stage in _BY:
            verb = "gained" if change > 0 else "lost"
            out.append((abs(change), f"{verb} {abs(change):.2f} {_BY[step.stage]}".replace(" 0.", " .", 1)))
    return [words for _, words in sorted(out, key=lambda item: -item[0])]


def _end(candidate: Candidate) -> list[str]:
    if candidate.rank is not None:
        return []
    numbers = ""
    if candidate.limit is not None and candidate.score is not None:
        numbers = f": {score(candidate.score)}, limit {candidate.limit:.4g}"
    return [f"stopped at {candidate.reason.replace('_', ' ')}{numbers}"]
