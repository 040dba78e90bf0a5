"""The formulas of the recipes a second time, in plain arithmetic with constants of their own: what the proof uses.

Nothing here is shared with the stages on purpose. When a constant of a stage changes, the numbers recorded no
longer follow from these formulas, and the proof fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Inputs = Mapping[str, Any]

DAY_MS = 86_400_000

NEARLY = 1e-9


def clamp(x: float, fallback: float = 0.0) -> float:
    """min(1, max(0, x)); where x is not finite the fallback, 0 where that is not finite either."""
    value = x if math.isfinite(x) else fallback
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def exp(x: float) -> float:
    """e^x, infinite where it overflows."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def power(x: float, y: float) -> float:
    """x^y for x >= 0, infinite where it overflows."""
    try:
        return float(x**y)
    except OverflowError:
        return math.inf


def divide(a: float, b: float) -> float:
    """a / b as IEEE 754 has it: a zero divisor gives an infinity, 0 / 0 no number."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)


def _weighted(before: float, i: Inputs) -> float:
    v, b = i.get("vector") or 0.0, i.get("bm25") or 0.0
    floor = 0.92 * b if b >= 0.75 else 0.0
    return clamp(max(v * i["vector_weight"] + b * i["bm25_weight"], floor), 0.1)


def kept_share(b: float, *, returned: bool) -> float:
    """Share of its prior score that a reranked candidate keeps at least, by its keyword score `b`."""
    strong, good, plain = (0.95, 0.90, 0.50) if returned else (1.0, 0.95, 0.80)
    return strong if b >= 0.75 else good if b >= 0.60 else plain


def _blend(before: float, i: Inputs) -> float:
    floor = before * i["keep"]
    return max(clamp(floor), clamp(0.6 * i["reranked"] + 0.4 * before, floor))


def _unreturned(before: float, i: Inputs) -> float:
    return max(clamp(before * i["keep"]), clamp(0.8 * before))


def _length(before: float, i: Inputs) -> float:
    longer = max(i["length"] / i["anchor"], 1) if i["length"] / i["anchor"] < math.inf else math.inf
    return clamp(before / (1 + 0.5 * (math.log2(longer) if longer < math.inf else math.inf)))


def _recency(before: float, i: Inputs) -> float:
    return clamp(before + i["weight"] * exp(-i["age_days"] / i["e_folding_days"]), before)


def _time_decay(before: float, i: Inputs) -> float:
    kept = 0.5 + 0.5 * exp(-divide(i["age_days"], i["e_folding_days"]))
    return clamp(before * kept if kept < math.inf or before else math.nan, before * 0.5)


def age_days(i: Inputs) -> float:
    """Days since creation, negative for a time to come; an unknown time counts as now."""
    created = i["created_ms"]
    return float((i["now_ms"] - created) / DAY_MS) if created > 0 else 0.0


def lifecycle(i: Inputs, d: Inputs) -> dict[str, float]:
    """The decay engine's components from the memory's own fields, and the search boost made of them."""
    tier = str(i["tier"])
    beta = {"core": d["beta_core"], "working": d["beta_working"], "peripheral": d["beta_peripheral"]}[tier]
    floor = {
        "core": d["core_decay_floor"],
        "working": d["working_decay_floor"],
        "peripheral": d["peripheral_decay_floor"],
    }[tier]
    count = i["access_count"]
    last = i["last_accessed_ms"] if count > 0 else i["created_ms"]
    days = max(0.0, i["now_ms"] - last) / DAY_MS
    half_life = (
        d["recency_half_life_days"]
        / (3 if i["dynamic"] else 1)
        * exp(d["importance_modulation"] * i["importance"])
    )
    loss = divide(math.log(2), half_life) * power(days, beta)
    recency = 1.0 if math.isnan(loss) else exp(-loss)
    frequency = 1 - exp(-count / 5)
    if count > 1:
        gap = max(1.0, (last - i["created_ms"]) / DAY_MS) / max(count - 1, 1)
        frequency *= 0.5 + 0.5 * exp(-gap / 30)
    intrinsic = i["importance"] * i["confidence"]
    composite = (
        d["recency_weight"] * recency + d["frequency_weight"] * frequency + d["intrinsic_weight"] * intrinsic
    )
    low = d["search_boost_min"]
    return {
        "recency": recency,
        "frequency": frequency,
        "intrinsic": intrinsic,
        "composite": composite,
        "multiplier": min(1.0, max(low, low + (1 - low) * max(floor, composite, recency))),
    }


def stretched_days(i: Inputs, p: Inputs) -> float:
    """The e-folding time with reinforcement: min(H + H*f*ln(1 + a*2^(-d/30)), H*M)."""
    base = p["timeDecayHalfLifeDays"] / (3 if i["dynamic"] else 1)
    count, last, factor = i["access_count"], i["last_accessed_ms"], p["reinforcementFactor"]
    if factor <= 0 or count <= 0:
        return float(base)
    idle = max(0.0, i["now_ms"] - last) / DAY_MS
    effective = count * exp(-idle * math.log(2) / 30)
    return float(min(base + base * factor * math.log1p(effective), base * p["maxHalfLifeMultiplier"]))


def _substring(before: float, i: Inputs) -> float:
    weight = {"text": 1.0, "l2_content": 0.96, "l0_abstract": 0.98, "l1_overview": 0.92}[i["field"]]
    base: float = min(0.95, 0.72 + 0.02 * i["characters"])
    return base * weight


def _raw_bm25(i: Inputs) -> float:
    """The BM25 value: where the trace says what each word adds, it has to be their sum."""
    raw = float(i["raw_bm25"])
    words = i.get("words")
    return raw if words is None or abs(math.fsum(words.values()) - raw) <= NEARLY else math.inf


SCORES: dict[str, Callable[[float, Inputs], float]] = {
    "inverse_distance": lambda _, i: 1 / (1 + i["distance"]),
    "inverse_squared_l2": lambda _, i: 1 / (1 + i["distance"]),
    "bm25_logistic": lambda _, i: 1 / (1 + exp(-_raw_bm25(i) / 5)) if i["raw_bm25"] > 0 else 0.5,
    "substring": _substring,
    "recorded": lambda _, i: float(i["recorded"]),
    "weighted_sum": _weighted,
    "exact_match_floor": _weighted,
    "keyword_only": lambda _, i: clamp(i["bm25"], 0.1),
    "vector_only": lambda _, i: clamp(i["vector"], 0.1),
    "keyword_bump": lambda _, i: clamp(1.15 * i["vector"], 0.1),
    "rerank_blend": _blend,
    "rerank_unreturned": _unreturned,
    "cosine_blend": lambda b, i: clamp(0.7 * b + 0.3 * i["cosine"], b),
    "recency": _recency,
    "importance": lambda b, i: clamp(b * (0.7 + 0.3 * i["importance"])),
    "length": _length,
    "time_decay": _time_decay,
    "decay_boost": lambda b, i: clamp(b * i["multiplier"]),
    "exempt": lambda b, _: b,
    "unchanged": lambda b, _: b,
    "deferred": lambda b, _: b,
}
"""Rule name to (score before, inputs) -> score after. For the rules of a lane the score before is not used."""
