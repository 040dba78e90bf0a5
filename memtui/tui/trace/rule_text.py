"""The rules of a recall in words: formulas with their numbers filled in, gates with what was missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from memtui.engine import counted, explain, one_line
from memtui.tui.paint.numbers import date
from memtui.tui.paint.waterfall import number

Inputs = Mapping[str, Any]

MOST_WORDS = 4
"""Words of a BM25 value that are named; the others are dots."""


def figure(value: Any, digits: int = 3) -> str:
    """A number of the record: `.914`, `12`, `14.5`; `-` where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-" if value is None else one_line(str(value))
    text = number(float(value), digits)
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


def _weighted(b: float, i: Inputs) -> str:
    lanes = (("vector_weight", "vector"), ("bm25_weight", "bm25"))
    parts = [f"{figure(i[w])} x {figure(i[lane])}" for w, lane in lanes if i.get(lane) is not None]
    return " + ".join(parts)


def _three_parts(b: float, i: Inputs) -> str:
    parts = (("likeness", "semantic"), ("freshness", "recency"), ("importance", "importance"))
    return " + ".join(
        f"{figure(i.get(f'{name}_weight'), 2)} x {word} {figure(i.get(name))}" for word, name in parts
    )


def _rerank(b: float, i: Inputs) -> str:
    keep = i.get("keep")
    floor = (
        f", minimum {figure(keep, 2)} of the former score"
        if isinstance(keep, int | float) and keep > 0
        else ""
    )
    return f".6 x {figure(i.get('reranked'))} + .4 x {figure(b)}{floor}"


def _unreturned(b: float, i: Inputs) -> str:
    keep = i.get("keep")
    share = max(0.8, keep) if isinstance(keep, int | float) else 0.8
    return f"not returned by the reranker: keeps {figure(share, 2)}"


def _length(b: float, i: Inputs) -> str:
    length, anchor = i.get("length"), i.get("anchor")
    if isinstance(length, int | float) and isinstance(anchor, int | float) and length <= anchor:
        return f"{figure(length)} of {figure(anchor)} characters: no loss"
    return f"/ (1 + .5 x log2({figure(length)} / {figure(anchor)}))"


def _decay(b: float, i: Inputs) -> str:
    tier = one_line(str(i.get("tier") or ""))
    return f"x {figure(i.get('multiplier'))}  {tier}, recency {figure(i.get('recency'), 2)}"


def _aged(i: Inputs) -> str:
    return f"exp(-{figure(i.get('age_days'), 1)} / {figure(i.get('e_folding_days'), 1)} days)"


def _recency(b: float, i: Inputs) -> str:
    return f"+ {figure(i.get('weight'))} x {_aged(i)}"


def _time_decay(b: float, i: Inputs) -> str:
    return f"x (.5 + .5 x {_aged(i)})"


def _substring(b: float, i: Inputs) -> str:
    field = one_line(str(i.get("field") or "text"))
    count = i.get("characters")
    said = counted(int(count), "character") if isinstance(count, int) else "characters"
    return f"{said} found as they stand in {field}"


def _near(b: float, i: Inputs) -> str:
    return (
        f"cosine {figure(i.get('cosine'))} with a better one, above {figure(i.get('threshold'))}: to the end"
    )


def stretched(i: Inputs, name: str) -> float:
    """Where a number stands between the lowest and the highest of the pool, 0 to 1; 0 where it is absent."""
    value, low, high = i.get(name), i.get(f"lowest_{name}"), i.get(f"highest_{name}")
    if not all(isinstance(n, int | float) for n in (value, low, high)) or not high > low:  # type: ignore[operator]
        return 0.0
    return float((value - low) / (high - low))  # type: ignore[operator]


def stretch_words(i: Inputs, name: str) -> str:
    """How a number is stretched, to be recomputed: "(.508 - .102) / (.530 - .102)"; "0" where it is absent."""
    value, low, high = (figure(i.get(key)) for key in (name, f"lowest_{name}", f"highest_{name}"))
    return f"({value} - {low}) / ({high} - {low})" if stretched(i, name) else "0"


def _stretched_sum(b: float, i: Inputs) -> str:
    parts = [f"{figure(i.get('vector_weight'))} x {stretch_words(i, 'cosine')}"]
    if i.get("bm25") is not None:
        parts.append(
            f"{figure(i.get('bm25_weight'))} x {figure(i['bm25'], 2)} / {figure(i.get('highest_bm25'), 2)}"
        )
    if i.get("identifiers"):
        parts.append(f"{figure(i.get('identifier_weight'))} x {figure(i['identifiers'])}")
    return " + ".join(parts)


def _met(b: float, i: Inputs) -> str:
    return f"+ {figure(i.get('late_weight'))} x {stretch_words(i, 'met')} words matched"


def _read(b: float, i: Inputs) -> str:
    return f"+ {figure(i.get('token_weight'))} x {stretch_words(i, 'read')} met in their sentences"


def _signals(b: float, i: Inputs) -> str:
    """The signals that count here, each with its weight, and its value where that is not 1."""
    parts = []
    for name, said in explain.signal_words().items():
        value, weight = i.get(name), i.get(f"{name}_weight")
        if isinstance(value, int | float) and isinstance(weight, int | float) and value and weight:
            times = "" if value == 1 else f" x {figure(value)}"
            parts.append(f"{'-' if weight < 0 else '+'} {figure(abs(weight))}{times} {said}")
    return " ".join(parts) or "no signal applies"


def _newer(b: float, i: Inputs) -> str:
    age, half = figure(i.get("age_days"), 1), figure(i.get("half_life_days"), 1)
    return f"+ {figure(i.get('recency_weight'))} x 2^(-{age} / {half} days)"


def _reciprocal(before: float, i: Inputs) -> str:
    ranks = [
        f"1 / (60 + {name} #{i[key]:.0f})"
        for name, key in (("bm25", "bm25_rank"), ("vector", "vector_rank"))
        if i.get(key)
    ]
    return " + ".join(ranks) + (f", tier {one_line(str(i['tier']))}" if i.get("tier") else "")


def _words(before: float, i: Inputs) -> str:
    """The BM25 value on 0 to 1, and what each word adds to it, where the trace says so."""
    said = f"1 / (1 + exp(-{figure(i.get('raw_bm25'), 2)} / 5))"
    words = sorted((i.get("words") or {}).items(), key=lambda word: -word[1])
    added = " + ".join(f"{one_line(word)} {figure(adds, 2)}" for word, adds in words[:MOST_WORDS])
    return f"{said}, BM25 = {added}{' + ...' if len(words) > MOST_WORDS else ''}" if words else said


def _merged(before: float, i: Inputs) -> str:
    vector, words = (figure(i.get(name) or 0.0) for name in ("vector", "bm25"))
    return (
        f"{figure(i.get('vector_weight'))} x {vector} + {figure(i.get('bm25_weight'))} x {words} by keywords"
    )


def _halved(before: float, i: Inputs) -> str:
    days = max(0.0, (i["now_ms"] - i["created_ms"]) / 86_400_000) if i.get("created_ms") else 0.0
    return f"x 2^(-{figure(days, 1)} / {figure(i.get('half_life_days'), 0)} days)"


FORMULAS: dict[str, Callable[[float, Inputs], str]] = {
    "inverse_distance": lambda b, i: f"1 / (1 + distance {figure(i.get('distance'))})",
    "half_squared_l2": lambda b, i: f"1 - squared distance {figure(i.get('distance'))} / 2",
    "cosine_similarity": lambda b, i: f"1 - cosine distance {figure(i.get('distance'))}",
    "inverse_squared_l2": lambda b, i: f"1 / (1 + squared distance {figure(i.get('distance'))})",
    "bm25_logistic": _words,
    "substring": _substring,
    "recorded": lambda b, i: f"{figure(i.get('recorded'))} as recorded elsewhere",
    "weighted_sum": _weighted,
    "weighted": _three_parts,
    "exact_match_floor": lambda b, i: f".92 x {figure(i.get('bm25'))}, a strong keyword match",
    "keyword_only": lambda b, i: f"{figure(i.get('bm25'))} by keywords only, not weighted",
    "vector_only": lambda b, i: f"{figure(i.get('vector'))} by meaning only",
    "keyword_bump": lambda b, i: f"{figure(i.get('vector'))} x 1.15, keywords match too",
    "rerank_blend": _rerank,
    "rerank_unreturned": _unreturned,
    "cosine_blend": lambda b, i: f".7 x {figure(b)} + .3 x cosine {figure(i.get('cosine'))}",
    "recency": _recency,
    "importance": lambda b, i: f"x (.7 + .3 x importance {figure(i.get('importance'), 2)})",
    "length": _length,
    "time_decay": _time_decay,
    "decay_boost": _decay,
    "exempt": lambda b, i: "exempt: a corpus row",
    "unchanged": lambda b, i: "unchanged",
    "deferred": _near,
    "bm25_share": lambda b, i: f"BM25 {figure(i.get('raw_bm25'), 2)} / (1 + {figure(i.get('raw_bm25'), 2)})",
    "merged": _merged,
    "word_bonus": lambda b, i: (
        f"BM25 {figure(i.get('raw_bm25'), 2)} / (1 + {figure(i.get('raw_bm25'), 2)})"
        f" + bonus (met {figure(i.get('met'), 0)}/{figure(i.get('asked'), 0)}), at most 1"
    ),
    "path_match": lambda b, i: f"words in the path {figure(i.get('path_score'), 3)}",
    "by_importance": lambda b, i: f"{figure(b, 3)} × (0.75 + 0.05 × {figure(i.get('importance'), 0)})",
    "halved_by_age": _halved,
    "cosine": lambda b, i: f"1 - distance {figure(i.get('distance'))}",
    "squared_l2": lambda b, i: f"squared distance {figure(i.get('distance'))}",
    "bm25": lambda b, i: f"BM25 {figure(i.get('raw_bm25'), 2)}",
    "held": lambda b, i: "contains an exact match of a name in the question",
    "stretched_sum": _stretched_sum,
    "late_interaction": _met,
    "token_vectors": _read,
    "speaker_named": lambda b, i: f"+ {figure(i.get('speaker_weight'))}: said by {figure(i.get('speaker'))}",
    "date_named": lambda b, i: f"+ {figure(i.get('date_weight'))}: of the time that was asked for",
    "neighbours": _signals,
    "kind": _signals,
    "newer": _newer,
    "reciprocal_ranks": _reciprocal,
}
"""Each rule by its name in the record."""


def formula(rule: str, before: float | None, inputs: Inputs) -> str:
    """The rule with the numbers of this step; an unknown rule shows its name and its inputs."""
    if rule == "dropped":
        return missed(str(inputs.get("gate", "")), inputs.get("value"), inputs.get("limit"), inputs)
    known = FORMULAS.get(rule)
    if known is not None:
        return known(before or 0.0, inputs)
    shown = ", ".join(
        f"{one_line(k)} {figure(v)}" for k, v in inputs.items() if not isinstance(v, Mapping | list)
    )
    return f"{one_line(rule).replace('_', ' ')} {shown}".strip()


GATES = {
    "min_score": "below the minimum score",
    "inactive": "replaced, invalidated or not yet valid",
    "expired": "expired",
    "category": "another category",
    "tag": "without the tag that was asked for",
    "rerank_window": "outside the rerank window",
    "hard_cutoff": "below the hard cutoff",
    "noise_filter": "noise",
    "mmr_diversity": "near-duplicate of a better one",
    "limit": "below the cutoff",
    "state": "not confirmed, archived or a reflection",
    "suppressed": "suppressed for some turns",
    "adaptive_gate": "the agent would not have asked",
    "scope": "in another scope",
    "lane_limit": "beyond the limit of its tier's search",
    "quarantined": "quarantined: its source is not trusted",
    "not_trusted": "its source is not trusted enough",
}
"""What each gate says, as a heading over the memories that it stopped."""


SHORT_GATES = {
    "state": "not confirmed",
    "limit": "below the cutoff",
    "rerank_window": "outside the rerank window",
}
"""The gates whose names say too little, as they stand behind a number."""


def count_by_gate(reasons: Iterable[str]) -> str:
    """How many each gate dropped, the most first: "108 below the cutoff, 3 inactive"."""
    counts = Counter(SHORT_GATES.get(reason) or one_line(reason).replace("_", " ") for reason in reasons)
    return ", ".join(f"{count} {words}" for words, count in counts.most_common())


def gate(reason: str) -> str:
    """A gate in words; an unknown one by its own name."""
    return GATES.get(reason) or one_line(reason).replace("_", " ") or "dropped"


def missed(reason: str, value: Any, limit: Any, inputs: Inputs | None = None) -> str:
    """By how much a memory missed the gate, in one short phrase; empty where there is no number to tell."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        rule = (inputs or {}).get("noise_rule")
        return f"rule {one_line(str(rule)).replace('_', ' ')}" if rule else ""
    if reason in ("expired", "suppressed"):
        ms = value if reason == "expired" else limit
        return (
            f"{'since' if reason == 'expired' else 'until'} {date(ms)}" if isinstance(ms, int | float) else ""
        )
    if not isinstance(limit, int | float):
        return ""
    if reason in ("rerank_window", "limit"):
        return f"place {value:.0f} > {limit:.0f}"
    if reason == "mmr_diversity":
        return f"cosine {figure(value)} > {figure(limit)}"
    return f"{number(value)} < {number(limit)} by {number(limit - value)}"
