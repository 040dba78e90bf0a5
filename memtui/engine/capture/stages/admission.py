"""Admission control: a score of five features decides whether a candidate may reach de-duplication at all."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memtui.engine.core.javascript import number, to_fixed, trim, utf16_len
from memtui.engine.metadata.categories import SMART

VERSION = "amac-v1"

FEATURES = ("utility", "confidence", "novelty", "recency", "typePrior")

MATCH_AT = 0.55
"""From this cosine on a stored memory counts as a match, and a candidate as one that updates it."""

NEUTRAL = 0.5

MOST_POOL, LONGEST_HALF_LIFE = 20, 365

_DAY_MS = 86_400_000

_MODES = ("standalone", "batch", "off")


@dataclass(frozen=True, slots=True)
class Admission:
    """The settings of admission control, resolved."""

    preset: str
    enabled: bool
    utility_mode: str
    weights: Mapping[str, float]
    reject: float
    admit: float
    veto: float
    pool: int
    half_life_days: float
    priors: Mapping[str, float]
    audit_metadata: bool = True
    persist_rejected: bool = True
    rejected_path: str | None = None
    model: str | None = None
    affinity: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The settings under the plugin's own names."""
        found: dict[str, Any] = {
            "preset": self.preset,
            "enabled": self.enabled,
            "utilityMode": self.utility_mode,
            "weights": dict(self.weights),
            "rejectThreshold": self.reject,
            "admitThreshold": self.admit,
            "utilityVetoThreshold": self.veto,
            "noveltyCandidatePoolSize": self.pool,
            "recency": {"halfLifeDays": self.half_life_days},
            "typePriors": dict(self.priors),
            "auditMetadata": self.audit_metadata,
            "persistRejectedAudits": self.persist_rejected,
            "rejectedAuditFilePath": self.rejected_path,
            "model": self.model,
            "modelAffinity": self.affinity,
        }
        return {key: value for key, value in found.items() if value is not None}


def _preset(
    name: str, weights: Sequence[float], priors: Sequence[float], numbers: Sequence[float]
) -> Admission:
    reject, admit, pool, half_life = numbers
    return Admission(
        preset=name,
        enabled=False,
        utility_mode="standalone",
        weights=dict(zip(FEATURES, weights, strict=True)),
        reject=reject,
        admit=admit,
        veto=0,
        pool=int(pool),
        half_life_days=half_life,
        priors=dict(zip(SMART, priors, strict=True)),
    )


PRESETS = {
    preset.preset: preset
    for preset in (
        _preset("balanced", (0.1, 0.1, 0.1, 0.1, 0.6), (0.95, 0.9, 0.75, 0.45, 0.8, 0.85), (0.45, 0.6, 8, 14)),
        _preset(
            "conservative", (0.16, 0.16, 0.18, 0.08, 0.42), (0.98, 0.94, 0.78, 0.28, 0.78, 0.8),
            (0.52, 0.68, 10, 10),
        ),
        _preset(
            "high-recall", (0.08, 0.1, 0.08, 0.14, 0.6), (0.96, 0.92, 0.8, 0.58, 0.84, 0.88),
            (0.34, 0.52, 6, 21),
        ),
    )
}  # fmt: skip


def admission_config(block: Any) -> Admission:
    """The settings of an `admissionControl` block; anything but an object gives the balanced preset, switched off."""
    if not isinstance(block, Mapping):
        return PRESETS["balanced"]
    name = block.get("preset")
    base = PRESETS.get(name if isinstance(name, str) else "", PRESETS["balanced"])
    given = block.get("weights")
    asked = given if isinstance(given, Mapping) else {}
    weights = {key: _share(asked.get(key), base.weights[key]) for key in FEATURES}
    total = sum(weights.values())
    weights = {key: value / total for key, value in weights.items()} if total > 0 else dict(base.weights)
    if not asked:
        weights = dict(base.weights)
    priors = block.get("typePriors")
    asked_priors = priors if isinstance(priors, Mapping) else {}
    recency = block.get("recency")
    half_life = recency.get("halfLifeDays") if isinstance(recency, Mapping) else None
    reject = _share(block.get("rejectThreshold"), base.reject)
    mode = block.get("utilityMode")
    return Admission(
        preset=base.preset,
        enabled=block.get("enabled") is True,
        utility_mode=mode if mode in _MODES else "standalone",
        weights=weights,
        reject=reject,
        admit=max(_share(block.get("admitThreshold"), base.admit), reject),
        veto=_share(block.get("utilityVetoThreshold"), 0),
        pool=_whole(block.get("noveltyCandidatePoolSize"), base.pool, MOST_POOL),
        half_life_days=_whole(half_life, int(base.half_life_days), LONGEST_HALF_LIFE),
        priors={key: _share(asked_priors.get(key), base.priors[key]) for key in SMART},
        audit_metadata=block.get("auditMetadata") is not False,
        persist_rejected=block.get("persistRejectedAudits") is not False,
        rejected_path=_text(block.get("rejectedAuditFilePath")),
        model=_text(block.get("model")),
        affinity="lane" if block.get("modelAffinity") == "lane" else "global",
    )


def _share(value: Any, default: float) -> float:
    if value is None or isinstance(value, bool):
        return default
    n = number(value)
    return min(1.0, max(0.0, n)) if math.isfinite(n) and value != "" else default


def _whole(value: Any, default: int, most: int) -> int:
    n = number(value) if value is not None and not isinstance(value, bool) else math.nan
    return min(most, int(n)) if math.isfinite(n) and n >= 1 else default


def _text(value: Any) -> str | None:
    return trim(value) or None if isinstance(value, str) else None


# ---------------------------------------------------------------- the features


class CandidateSupport(NamedTuple):
    """How far a conversation supports a candidate: 0 to 1, and the parts of it."""

    score: float
    best_support: float
    coverage: float
    unsupported: float


_TOKEN = re.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)

_SENTENCE = re.compile("[。！？!?]+")

_SPAN = 4


def admission_confidence(abstract: str, content: str, conversation: str) -> CandidateSupport:
    """How far `conversation` supports a candidate: its best span by word order, and the share of words said there."""
    wanted = _tokens(f"{abstract}\n{content}")
    if not wanted:
        return CandidateSupport(0.0, 0.0, 0.0, 1.0)
    best = max((_overlap(wanted, _tokens(span)) for span in _spans(conversation)), default=0.0)
    said = set(_tokens(conversation))
    distinct = set(wanted)
    coverage = sum(1 for word in distinct if word in said) / len(distinct)
    missing = 1.0 - coverage
    return CandidateSupport(_clamp(best * 0.7 + coverage * 0.3 - missing * 0.25), best, coverage, missing)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _spans(conversation: str) -> list[str]:
    found: list[str] = []
    for line in conversation.split("\n"):
        whole = trim(line)
        if not whole:
            continue
        found.append(whole)
        found += [piece for part in _SENTENCE.split(whole) if utf16_len(piece := trim(part)) >= _SPAN]
    return list(dict.fromkeys(found))


def _overlap(left: Sequence[str], right: Sequence[str]) -> float:
    """F1 of the longest common subsequence of words."""
    if not left or not right:
        return 0.0
    row = [0] * (len(right) + 1)
    for word in left:
        before = 0
        for at, other in enumerate(right, 1):
            kept = row[at]
            row[at] = before + 1 if word == other else max(row[at], row[at - 1])
            before = kept
    common = row[-1]
    if not common:
        return 0.0
    precision, recall = common / len(left), common / len(right)
    return 2 * precision * recall / (precision + recall)


class Novelty(NamedTuple):
    """How new a candidate is: 1 - the highest cosine to what is stored, that cosine, and the ids that match."""

    score: float
    max_similarity: float
    matched: tuple[str, ...]
    compared: tuple[str, ...]


def admission_novelty(matches: Sequence[tuple[str, float]]) -> Novelty:
    """The novelty against (id, cosine) of stored memories."""
    if not matches:
        return Novelty(1.0, 0.0, (), ())
    highest = max(0.0, max(cosine for _, cosine in matches))
    matched = tuple(key for key, cosine in matches if cosine >= MATCH_AT)
    return Novelty(_clamp(1.0 - highest), _clamp(highest), matched, tuple(key for key, _ in matches))


def admission_recency(times_ms: Sequence[float], now_ms: float, half_life_days: float) -> float:
    """How long ago the newest match was made: 0 for now, 1 without matches."""
    if not times_ms or half_life_days <= 0:
        return 1.0
    gap = max(0.0, (now_ms - max(times_ms)) / _DAY_MS)
    if gap == 0:
        return 0.0
    return _clamp(1.0 - math.exp(-(math.log(2) * gap) / half_life_days))


def type_prior(category: str, register: str, priors: Mapping[str, float]) -> float:
    """The prior of a category; in fiction no lasting one counts more than an event."""
    prior = priors.get(category, 0.0)
    return min(prior, priors.get("events", 0.0)) if register == "fiction" and category != "events" else prior


def utility_score(value: Any) -> float:
    """The utility that a model gave, 0 to 1; a half for what is no number."""
    if value is None or isinstance(value, bool | list | dict):
        return NEUTRAL
    n = number(value)
    return _clamp(n) if math.isfinite(n) and value != "" else NEUTRAL


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))


# ---------------------------------------------------------------- the decision


class Features(NamedTuple):
    """The five features of a candidate, each 0 to 1."""

    utility: float
    confidence: float
    novelty: float
    recency: float
    type_prior: float


def audit(
    settings: Admission,
    features: Features,
    novelty: Novelty,
    *,
    utility_reason: str | None,
    now_ms: int,
    grounding: str | None,
    register: str | None,
) -> dict[str, Any]:
    """The decision about one candidate with everything that led to it, in the plugin's own form."""
    score = sum(settings.weights[key] * value for key, value in zip(FEATURES, features, strict=True))
    vetoed = settings.veto > 0 and features.utility <= settings.veto
    rejected = vetoed or score < settings.reject
    hint = "add" if score >= settings.admit and novelty.max_similarity < MATCH_AT else "update_or_merge"
    reason = _reason(settings, features, score, novelty, hint, vetoed, rejected, utility_reason)
    found: dict[str, Any] = {
        "version": VERSION,
        "decision": "reject" if rejected else "pass_to_dedup",
        "hint": None if rejected else hint,
        "score": score,
        "reason": reason,
        "utility_reason": utility_reason,
        "thresholds": {
            "reject": settings.reject,
            "admit": settings.admit,
            "utilityVeto": settings.veto,
        },
        "weights": dict(settings.weights),
        "feature_scores": dict(zip(FEATURES, features, strict=True)),
        "matched_existing_memory_ids": list(novelty.matched),
        "compared_existing_memory_ids": list(novelty.compared),
        "max_similarity": novelty.max_similarity,
        "evaluated_at": now_ms,
        "grounding": grounding,
        "conversation_register": register,
    }
    return {key: value for key, value in found.items() if value is not None}


def _reason(
    settings: Admission,
    features: Features,
    score: float,
    novelty: Novelty,
    hint: str,
    vetoed: bool,
    rejected: bool,
    utility_reason: str | None,
) -> str:
    said = f" Utility: {utility_reason}" if utility_reason else ""
    if vetoed:
        return (
            f"Admission rejected by utility veto (utility {to_fixed(features.utility, 2)} <= "
            f"{to_fixed(settings.veto, 2)}; composite {to_fixed(score, 3)}).{said}"
        )
    similarity = f"maxSimilarity={to_fixed(novelty.max_similarity, 3)}."
    if rejected:
        return (
            f"Admission rejected ({to_fixed(score, 3)} < {to_fixed(settings.reject, 3)}). {similarity}{said}"
        )
    return f"Admission passed ({to_fixed(score, 3)}); hint={hint}; {similarity}{said}"


def admission_model(
    settings: Admission, lane: str, global_model: str | None, reflection_model: str | None
) -> str | None:
    """The model that judges utility: the configured one, the reflection lane's own, else the extraction's."""
    from memtui.engine.capture.stages.model_reference import direct_model_ref

    if settings.model:
        return direct_model_ref(settings.model)
    if settings.affinity == "lane" and lane == "reflection" and reflection_model:
        return direct_model_ref(reflection_model)
    return direct_model_ref(global_model) if global_model else None
