"""The plugin's pure functions of capture against ours: how each recorded input is handed over."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro import settings as pro_settings
from memtui.engine.capture.stages import (
    admission,
    boundary,
    cleaning,
    compaction,
    json_reply,
    model_reference,
    preference_slot,
    redaction,
    reflection_retry,
    reflection_rows,
    reflection_text,
    session_value,
    similarity,
    support,
    transcript,
    triggers,
    turns,
    usage,
    verdict,
)
from memtui.engine.capture.stages.learnings import file_token, learning_entries
from memtui.engine.capture.stages.session_text import summarize_messages
from memtui.engine.core.content_rules import is_frustration, noise_rule
from memtui.engine.core.errors import ConfigError
from memtui.engine.decay.validity import InjectionPolicy, infer_expiry, injection_patch, temporal_type
from memtui.engine.metadata.categories import normalise_category, resolve_input, smart_of
from memtui.engine.metadata.patch import append_relation, build_metadata
from memtui.engine.metadata.read import fact_key, normalise
from memtui.engine.providers import codex
from tests.conformance.recording import FIXTURES, clock_of

FILE = FIXTURES / "capture" / "functions.json"
RECORDING: Mapping[str, Any] = (
    json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {"now": 0, "data": {}}
)
NOW = clock_of(RECORDING)
DAY = 86_400_000
TOLERANCE = 1e-12
SIX_DECIMALS = ("admission_novelty",)
"""Made from vectors of six decimals: equal to 1e-5, as the recordings say."""
FIXED = "<fixed text>"
COUNTERS = ("access_count", "injected_count", "bad_recall_count", "suppressed_until_turn")
Read = Callable[[Any], Any]


def vectors_of(cosines: Sequence[float]) -> list[np.ndarray[Any, Any]]:
    """Vectors with these cosines to the first axis, each in a plane of its own."""
    size = len(cosines) + 1
    found = []
    for at, value in enumerate(cosines):
        vector = np.zeros(size)
        vector[0], vector[at + 1] = value, math.sqrt(max(0.0, 1 - value * value))
        found.append(vector)
    return found


def _throws(read: Callable[[Any], Any]) -> Read:
    def run(given: Any) -> Any:
        try:
            return read(given)
        except ConfigError:
            return {"throws": "Error"}

    return run


def _turns(listed: Any) -> list[transcript.TranscriptTurn]:
    return [transcript.TranscriptTurn(role, text) for role, text in listed]


def _lists(found: Sequence[transcript.TranscriptTurn]) -> list[list[str]]:
    return [[turn.role, turn.text] for turn in found]


def _brand(text: str) -> Any:
    found = preference_slot.brand_item_preference(text)
    if found is None:
        return None
    return {"brand": found.brand, "items": list(found.items), "aggregate": len(found.items) > 1}


def _slot(text: str) -> Any:
    found = preference_slot.brand_item_preference(text)
    if found is None or found.single is None:
        return None
    return {"type": "brand-item", "brand": found.brand, "item": found.single}


def _transcript(given: Any) -> Any:
    listed, limit, protected = given
    found = transcript.bounded_transcript(_turns(listed), limit, protected)
    return {
        "transcript": found.text,
        "fullLength": found.full_length,
        "protectedPrefixKept": found.prefix_kept,
    }


def _compressed(given: Any) -> Any:
    found = session_value.compress_texts(given[0], given[1])
    return {"kept": list(found.kept), "dropped": found.dropped, "chars": found.chars}


def _scored(text: str) -> Any:
    score, reason = session_value.score_text(text)
    return {"score": score, "reason": reason}


def _expiry(text: str) -> Any:
    until = infer_expiry(text, NOW)
    return None if until is None else until - NOW


def _category(name: str) -> Any:
    smart, column = resolve_input(name)
    return {"memoryCategory": smart, "storageCategory": column}


def _tier1(given: Any) -> Any:
    stored, repeat = given
    meta = normalise(json.dumps(stored), text="x", category="fact", timestamp_ms=0, now_ms=5000)
    # The plugin's function takes what it is handed: only reading a row cuts a counter to a whole number.
    meta = meta._replace(**{name: stored[name] for name in COUNTERS if name in stored})
    return injection_patch(meta, at_ms=5000, policy=InjectionPolicy(min_repeated=repeat))


def _support(given: Any) -> Any:
    stored, label, event = given
    return support.support_update(stored, label, event, NOW)


def _cron(expression: str) -> Any:
    found = pro_settings.daily_cron(expression)
    return None if found is None else {"minute": found[0], "hour": found[1]}


def _exclusive(given: Mapping[str, Any]) -> bool:
    return boundary.user_md_exclusive(
        boundary.Boundary(enabled=True),
        category=given.get("memoryCategory", ""),
        text=given.get("text", ""),
        abstract=given.get("abstract", ""),
        content=given.get("content", ""),
        fact_key=given.get("factKey", ""),
    )


def _retry(given: Any) -> Any:
    again, reason = reflection_retry.reflection_retry(*given)
    return {"retryable": again, "reason": reason}


def _confidence(given: Any) -> Any:
    candidate = given["candidate"]
    found = admission.admission_confidence(candidate["abstract"], candidate["content"], given["conversation"])
    return {
        "score": found.score,
        "bestSupport": found.best_support,
        "coverage": found.coverage,
        "unsupportedRatio": found.unsupported,
    }


def _novelty(cosines: Any) -> Any:
    made = [vector.round(6) for vector in vectors_of(cosines)]  # the recordings have six decimals
    base = np.zeros(len(cosines) + 1)
    base[0] = 1
    found = admission.admission_novelty(
        [(f"m{at}", similarity.cosine(base, vector)) for at, vector in enumerate(made)]
    )
    return {
        "score": found.score,
        "max_similarity": found.max_similarity,
        "matched": list(found.matched),
    }


def _admission_model(given: Any) -> Any:
    block, lane, model, reflection_model = given
    return admission.admission_model(admission.admission_config(block), lane, model, reflection_model)


def _bank(value: float) -> bool:
    prototypes = [np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])]
    bank = similarity.NoiseBank(prototypes)
    return bank.is_noise(np.array([value, math.sqrt(1 - value * value), 0.0]))


class _Growing:
    """The cases follow on each other: each vector in a plane of its own beside what was learned."""

    def __init__(self) -> None:
        first, second = np.zeros(12), np.zeros(12)
        first[0], second[1] = 1, 1
        self.bank, self.at = similarity.NoiseBank([first, second]), 2

    def __call__(self, value: float) -> bool:
        vector = np.zeros(12)
        vector[0], vector[self.at] = value, math.sqrt(1 - value * value)
        self.at += 1
        return self.bank.learn(vector)


def _batch(cosines: Any) -> Any:
    surviving, duplicate = similarity.batch_dedup(
        [vectors_of([1.0, *cosines])[0], *vectors_of([1.0, *cosines])[1:]]
    )
    return {"surviving": surviving, "duplicate": duplicate}


def _metadata(given: Any) -> Any:
    raw, patch = given
    return build_metadata(
        raw, patch, text="Kettle: copper", category="preference", timestamp_ms=NOW - 1000, now_ms=NOW
    )


def _reverse(given: Any) -> Any:
    category, text, row_type = given
    return smart_of(category, text, row_type=row_type)


def _merge(members: Any) -> Any:
    rows = [
        StoredRow(str(at), text, category, "agent:main", importance, int(NOW - age * DAY), "{}")
        for at, (text, importance, category, age) in enumerate(members)
    ]
    found = compaction.compaction_merge(rows, NOW)
    return {
        "text": found.text,
        "importance": found.importance,
        "category": found.category,
        "scope": found.scope,
        "metadata": found.metadata,
    }


def _payloads(legacy: bool) -> Any:
    recorded = _recorded("reflection_store_payloads", legacy)
    lines = recorded["slices"]
    run = reflection_rows.ReflectionRun(
        NOW,
        "agent:main:x",
        "s1",
        "main",
        "new",
        "agent:main",
        error_signals=("abcd",),
        source_path="memory/reflections/x.md",
    )
    made = reflection_rows.store_payloads(run, lines, legacy=legacy)
    return {
        "eventId": run.event_id,
        "slices": lines,
        "payloads": [{"kind": each.kind, "text": each.text, "metadata": each.metadata} for each in made],
    }


def _recorded(name: str, given: Any) -> Any:
    """What the plugin answered: some cases hold a part of what it was given there alone."""
    return next(case["out"] for case in RECORDING["data"][name] if case["in"] == given)


def _loaded(rows: Any) -> Any:
    read = [
        reflection_rows.ReflectionRow(row["text"], row["timestamp"], json.loads(row["metadata"]))
        for row in rows
    ]
    return reflection_rows.load_slices(read, "main", NOW)


def _verdict(entry: Any) -> Any:
    return verdict.dedup_verdict(entry, ["r1", "r2", "r3"]).as_json()


def _line_score(given: Mapping[str, Any]) -> float:
    return reflection_rows.line_score(
        given["ageDays"],
        given["midpointDays"],
        given["k"],
        given["baseWeight"],
        given["quality"],
        given["usedFallback"],
    )


def _limits(given: Any) -> Any:
    limits = pro_settings.plugin_config(given).prompt
    items, retrieve = limits.items, limits.asked
    return {"items": items, "retrieve": retrieve}


def _governance(report: str) -> Any:
    action = reflection_text.GOVERNANCE_ACTION
    found = reflection_text.governance(report)
    return [{key: FIXED if value == action else value for key, value in entry.items()} for entry in found]


FUNCTIONS: Mapping[str, Callable[[], Read]] = {
    name: (lambda read=read: read)
    for name, read in {
        "should_capture": triggers.should_capture,
        "detect_category": triggers.detect_category,
        "is_noise": lambda text: noise_rule(text) is not None,
        "is_meta_frustration": is_frustration,
        "strip_envelope": cleaning.strip_envelope,
        "normalize_capture_text": lambda given: cleaning.normalize_capture_text(*given),
        "is_explicit_remember": turns.is_explicit_remember,
        "normalize_category": normalise_category,
        "resolve_tool_category": _category,
        "derive_fact_key": lambda given: fact_key(*given),
        "classify_temporal": temporal_type,
        "infer_expiry_offset_ms": _expiry,
        "brand_item_preference": _brand,
        "atomic_preference_slot": _slot,
        "conversation_value": session_value.conversation_value,
        "score_text": _scored,
        "compress_texts": _compressed,
        "neutralize_speaker_tags": transcript.neutralize_speaker_tags,
        "bounded_transcript": _transcript,
        "reflection_slices": lambda text: reflection_text.slices(text, injectable=False),
        "reflection_slices_injectable": lambda text: reflection_text.slices(text, injectable=True),
        "reflection_mapped_injectable": reflection_text.mapped_items,
        "reflection_governance": _governance,
        "reflection_line_placeholder": reflection_text.is_placeholder,
        "reflection_line_unsafe": reflection_text.is_unsafe,
        "reflection_line_normalized": reflection_text.normalized_line,
        "reflection_logistic": lambda given: reflection_rows.logistic(*given),
        "reflection_score": _line_score,
        "derived_line_quality": reflection_rows.derived_line_quality,
        "recall_used": lambda given: usage.recall_used(*given),
        "tier1_patch": _tier1,
        "normalize_context": support.normalize_context,
        "support_update": _support,
        "extract_json": json_reply.extract_json,
        "repair_json": json_reply.repair_json,
        "direct_model_ref": model_reference.direct_model_ref,
        "reasoning_disabled": model_reference.reasoning_disabled,
        "invalid_agent_id": lambda given: turns.invalid_agent_id(*given),
        "agent_excluded": lambda given: turns.agent_excluded(*given),
        "ingress_conversation_key": lambda given: turns.ingress_conversation_key(*given),
        "session_conversation_key": turns.session_conversation_key,
        "extraction_policy": lambda given: turns.extraction_policy(*given),
        "error_signal": redaction.is_error_signal,
        "error_signature": redaction.error_signature,
        "redact_secrets": redaction.redact_secrets,
        "sanitize_for_context": redaction.sanitize_for_context,
        "file_token": lambda text: file_token(text, "fallback"),
        "daily_cron": _cron,
        "dreaming_delay_ms": lambda given: pro_settings.dreaming_delay_ms(given[0], given[1], NOW + given[2]),
        "user_md_exclusive": _exclusive,
        "reflection_retry": _retry,
        "learning_entries": learning_entries,
        "retained_text_cap": turns.retained_text_cap,
        "source_from_session_key": turns.source_from_session_key,
        "memory_subsession": turns.memory_subsession,
        "admission_confidence": _confidence,
        "admission_recency": lambda given: admission.admission_recency(
            [NOW - age * DAY for age in given[0]], NOW, given[1]
        ),
        "admission_novelty": _novelty,
        "admission_type_prior": lambda given: admission.type_prior(
            given[0], given[1], admission.PRESETS["balanced"].priors
        ),
        "admission_config": lambda given: admission.admission_config(given).as_json(),
        "admission_model": _admission_model,
        "conversation_turns": lambda given: _lists(
            turns.conversation_turns(_turns(given[0]), given[1], given[2])
        ),
        "reconcile_turns": lambda given: _lists(turns.reconcile_turns(_turns(given[0]), given[1], given[2])),
        "noise_bank_cosine": _bank,
        "batch_dedup": _batch,
        "build_metadata": _metadata,
        "append_relation": lambda given: append_relation(*given),
        "reverse_map_category": _reverse,
        "compaction_merge": _merge,
        "plugin_config": lambda given: pro_settings.plugin_config(given, {}).as_json(),
        "dreaming_config": _throws(lambda given: pro_settings.dreaming_config(given).as_json()),
        "reflection_event_id": lambda given: reflection_rows.event_id(*given),
        "reflection_store_payloads": _payloads,
        "reflection_load": _loaded,
        "dedup_verdict": _verdict,
        "oauth_model": codex.bare_model,
        "oauth_endpoint": codex.endpoint,
        "oauth_sse_text": codex.streamed_text,
        "summarize_messages": lambda given: summarize_messages(*given),
        "tool_result_text": redaction.tool_result_text,
        "recall_limits": _limits,
    }.items()
} | {"noise_bank_learn_grows": _Growing}
"""Makes, for each recorded function, what answers its cases in order."""


def same(ours: Any, theirs: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal, numbers to `tolerance` of their size."""
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key], tolerance) for key in theirs)
    if isinstance(ours, list | tuple) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            same(a, b, tolerance) for a, b in zip(ours, theirs, strict=True)
        )
    return bool(ours == theirs)
