"""One result explained in words: how it was found, what pushed it, what it gained and lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memtui.engine.core.text import counted
from memtui.engine.explain.verdict import check_name

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.trace import Candidate, Step


# Each gate of the ladder in one sentence, with the memory's number and the limit filled in.

Facts = Mapping[str, Any]

NOT_ASKED = "This recipe does not ask."

UNKNOWN = "Not known: the memory never got that far."

SHARES_NONE = "it shares no word with the question"
"""Why a memory has no rank by words."""


def score(value: float | None) -> str:
    """.413; a dash where there is none."""
    if value is None:
        return "-"
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def moment(ms: float | None) -> str:
    """A time in UTC to the minute."""
    if not ms:
        return "no time"
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%MZ")
    except (OverflowError, ValueError, OSError):
        return "a time beyond the calendar"


def sentence(gate: str, passed: bool | None, value: Any, limit: Any, facts: Facts) -> str:
    """What the gate says of the memory."""
    if passed is None:
        return UNKNOWN
    words = (_PASSED if passed else FAILED)[gate]
    return words(value, limit, facts)


def _listed(values: Any) -> str:
    items = [str(item) if item else "(none)" for item in values]
    return ", ".join(items) if items else "none at all"


def _scope(value: Any, limit: Any, f: Facts) -> str:
    if f.get("what") == "agent":
        return f"It belongs to the agent {value}; asked was {_listed(limit)}."
    if f.get("because"):
        return f"Its scope is {value or 'not set'}; {f['agent']} reads {_listed(limit)}: {f['because']}."
    return f"Its scope is {value or 'not set'}; searched were {_listed(limit)}."


def _inactive(value: Any, limit: Any, f: Facts) -> str:
    if f.get("what") == "future":
        return f"It is valid from {moment(value)} on, which is after {moment(limit)}."
    by = f" by {f['superseded_by']}" if f.get("superseded_by") else ""
    return f"It was replaced{by} at {moment(value)}; searches leave such memories out."


def _pool(value: Any, limit: Any, f: Facts) -> str:
    told = [_lane(name, lane, limit, f) for name, lane in f["lanes"].items()]
    bm25 = f["lanes"].get("bm25")
    if "question_words" in f and bm25 and bm25["rank"] is None and not _shares_none(bm25, f):
        told.append(_words(f))
    if f.get("in_index") is False:
        told.append(
            "The row is not folded into the full-text index yet; its words count by other statistics."
        )
    return " ".join(["It never became a candidate.", *told])


def _lane(name: str, lane: Facts, limit: Any, f: Facts) -> str:
    what = "By vector" if name == "vector" else "By keywords"
    if lane["rank"] is None and _shares_none(lane, f):
        return f"{what}: it has none of the question's words ({', '.join(f['question_words'])})."
    if lane["rank"] is None:
        return f"{what}: {lane['why']}."
    if lane.get("kept_back"):
        return f"{what} it is number {lane['rank']:,} of {lane['of']:,} by exact distance, and was not found."
    ahead = lane.get("inactive_ahead", 0)
    hidden = f", behind {counted(ahead, 'replaced row')} of {f['fetched']} that are read" if ahead else ""
    return f"{what} it is number {lane['rank']:,} of {lane['of']:,}{hidden}; the pool takes {limit}."


def _shares_none(lane: Facts, f: Facts) -> bool:
    return lane["why"] == SHARES_NONE and bool(f.get("question_words"))


def _words(f: Facts) -> str:
    if f["shared_words"]:
        return f"Shared words: {', '.join(f['shared_words'])}."
    return f"The question's words are {', '.join(f['question_words']) or 'none that count'}; it has none of them."


def _category(value: Any, limit: Any, f: Facts) -> str:
    return f"Its category is {value} ({f.get('smart')}); asked was {limit}, and the filter runs after the cut of 20."


def _state(value: Any, limit: Any, f: Facts) -> str:
    return f"It is {f['state']}, layer {f['layer']}; auto-recall injects only confirmed memories in use."


def _rerank(value: Any, limit: Any, f: Facts) -> str:
    who = "The reranker" if f["service"] else "The cosine blend"
    moved = f", from {f['from']} to {f['to']}" if f.get("from") and f.get("to") else ""
    return f"{who} said {score(f['said'])} and took it from {score(limit)} to {score(value)}{moved}."


def _cutoff(value: Any, limit: Any, f: Facts) -> str:
    losses = sorted(f.get("losses", {}).items(), key=lambda pair: pair[1])
    worst = f" Most was lost by {_STAGES.get(losses[0][0], losses[0][0])}: {score(losses[0][1])}."
    lost = worst if losses and losses[0][1] < 0 else ""
    return f"Its final score {score(value)} is below the hard cutoff {score(limit)}.{lost}"


_STAGES = {
    "reranked": "reranking",
    "length_normalization": "its length",
    "decay_boost": "its age (lifecycle decay)",
    "time_decay": "its age",
    "importance_weight": "its importance",
}


def _mmr(value: Any, limit: Any, f: Facts) -> str:
    return (
        f"It is a near duplicate of {f['near']} (cosine {score(value)}, limit {score(limit)}), so it was put last:"
        f" from {f['from']} to {f['to'] or 'nowhere'}."
    )


FAILED: Mapping[str, Callable[[Any, Any, Facts], str]] = {
    "unknown_id": lambda value, limit, f: f"There is no memory {value} among the {limit:,} of this store.",
    "scope": _scope,
    "inactive": _inactive,
    "expired": lambda value, limit, f: f"It expired at {moment(value)}.",
    "adaptive_gate": lambda value, limit, f: (
        f"The adaptive gate skips this question ({str(value).replace('_', ' ')}): nothing is looked up."
    ),
    "candidate_pool": _pool,
    "tag": lambda value, limit, f: (
        f"Its text lacks {_listed(value)}, which the question asks for as an exact match."
    ),
    "category": _category,
    "state": _state,
    "suppressed": lambda value, limit, f: (
        f"It is suppressed until {moment(value)}: injected too often without being used."
    ),
    "min_score": lambda value, limit, f: f"Its score {score(value)} is below the minimum {score(limit)}.",
    "rerank_window": lambda value, limit, f: (
        f"It stands at {value}; only the first {limit} (twice the limit) reach the reranker."
    ),
    "rerank": _rerank,
    "hard_cutoff": _cutoff,
    "noise_filter": lambda value, limit, f: (
        f"Its text counts as noise ({str(value).replace('_', ' ')}), though it may be a real memory."
    ),
    "mmr_diversity": _mmr,
    "limit": lambda value, limit, f: f"It stands at {value}; {limit} come back.",
    "prompt_gate": lambda value, limit, f: f"The prompt gets nothing: {f.get('why')}.",
    "governance": lambda value, limit, f: f"The prompt leaves it out: {f.get('why')}.",
    "repeat": lambda value, limit, f: (
        f"It was injected {counted(value, 'turn')} ago in this session; again only after {limit}."
    ),
    "prompt_score": lambda value, limit, f: (
        f"Its score {score(value)} is below {score(limit)}, which the prompt asks for."
    ),
    "prompt_items": lambda value, limit, f: (
        f"It is number {value} for the prompt, which takes {counted(limit, 'item')}."
    ),
    "prompt_chars": lambda value, limit, f: (
        f"The prompt's {limit} characters are used up{f'; with it there would be {value}' if value else ''}."
    ),
}


def _pool_passed(value: Any, limit: Any, f: Facts) -> str:
    lanes = {("vector" if name == "vector" else "words"): lane for name, lane in f["lanes"].items()}
    if not any(lane["met"] for lane in lanes.values()):  # a gate before it stopped it: no search delivered it
        places = [
            f"by {name} it would be number {lane['rank']:,} of {lane['of']:,}"
            for name, lane in lanes.items()
            if lane["rank"] is not None
        ]
        return f"No search delivered it; {', '.join(places)}. The pool takes {limit}."
    ranks = [f"{name} {lane['rank']:,}" for name, lane in lanes.items() if lane["rank"] and lane["met"]]
    outside = [
        f" By {name} it is number {lane['rank']:,} of {lane['of']:,}, which that search did not deliver."
        for name, lane in lanes.items()
        if lane["rank"] is not None and not lane["met"]
    ]
    return f"Found: {', '.join(ranks) or 'recorded'}; the pool takes {limit}.{''.join(outside)}"


_PASSED: Mapping[str, Callable[[Any, Any, Facts], str]] = {
    "unknown_id": lambda value, limit, f: "The store has it.",
    "scope": lambda value, limit, f: (
        f"Its scope {value or '(none)'} is searched{f', {because}' if (because := f.get('because')) else ''}."
        if limit
        else "No scope filter."
    ),
    "inactive": lambda value, limit, f: "It is active.",
    "expired": lambda value, limit, f: f"It expires at {moment(value)}." if value else "It does not expire.",
    "adaptive_gate": lambda value, limit, f: "The adaptive gate lets the question through.",
    "candidate_pool": _pool_passed,
    "tag": lambda value, limit, f: f"Its text has {_listed(limit)}.",
    "category": lambda value, limit, f: (
        f"Its category {value} fits {limit}." if limit else "No category asked."
    ),
    "state": lambda value, limit, f: "It is confirmed and in use.",
    "suppressed": lambda value, limit, f: "It is not suppressed.",
    "min_score": lambda value, limit, f: f"Its score {score(value)} reaches the minimum {score(limit)}.",
    "rerank_window": lambda value, limit, f: f"It stands at {value} of the {limit} that are reranked.",
    "rerank": lambda value, limit, f: f"Reranking took it from {score(limit)} to {score(value)}.",
    "hard_cutoff": lambda value, limit, f: (
        f"Its final score {score(value)} reaches the cutoff {score(limit)}."
    ),
    "noise_filter": lambda value, limit, f: "Its text is not noise.",
    "mmr_diversity": lambda value, limit, f: (
        f"Nearest of those before it: cosine {score(value)}, limit {score(limit)}."
        if value is not None
        else "Nothing before it resembles it."
    ),
    "limit": lambda value, limit, f: f"It stands at {value} of the {limit} that come back.",
    "prompt_gate": lambda value, limit, f: "The gate lets this question through.",
    "governance": lambda value, limit, f: "The prompt may hold it.",
    "repeat": lambda value, limit, f: "Not injected before in this session, as far as is known.",
    "prompt_score": lambda value, limit, f: "Its score is enough for the prompt.",
    "prompt_items": lambda value, limit, f: f"Among the {counted(limit, 'item')} that the prompt takes.",
    "prompt_chars": lambda value, limit, f: f"Within the prompt's {limit} characters.",
}

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
    from memtui.engine.catalog.text_search import index_tokens

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
    return [f"failed check: {check_name(candidate.reason)}{numbers}"]
