"""Capture without a model: texts with a trigger word become rows as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtui.engine.capture.recipes.pro.admission import admit, keep_rejected
from memtui.engine.capture.recipes.pro.extraction_call import ExtractionCall
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.boundary import user_md_exclusive
from memtui.engine.capture.stages.grounding import Proposal
from memtui.engine.capture.stages.similarity import cosine
from memtui.engine.capture.stages.triggers import capture_gate, detect_category
from memtui.engine.capture.trace import CaptureText, Fate
from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.metadata.categories import smart_of
from memtui.engine.metadata.read import fact_key

MOST_TEXTS = 2

DUPLICATE_SCORE = 0.90

DUPLICATE_COSINE = 0.90

IMPORTANCE = 0.7

PROVENANCE = "auto-capture-regex-fallback"


def regex_capture(
    world: World,
    texts: Sequence[str],
    *,
    agent: str,
    scope: str,
    scopes: Sequence[str] | None,
    session: str,
    key: str = "",
) -> int:
    """Store the first two texts that pass; how many were stored.

    `session` goes into the rows; it comes from the event and is normally unknown. `key` names the session in audits.
    """
    chosen = _chosen(world, texts)
    taken: list[Any] = []
    rows: list[tuple[str, str, Any, str | None]] = []
    for text in chosen:
        if user_md_exclusive(world.settings.exclusive, text=text):
            _stop(world, text, "boundary", reason="it belongs to USER.md alone")
            continue
        category = detect_category(text)
        try:
            vector = world.embed(text)
        except EmbeddingError as error:  # the plugin's run ends here, and what it had taken is lost, too
            for lost in dict.fromkeys((*(row[0] for row in rows), *chosen[chosen.index(text) :])):
                _stop(world, lost, "embedding failed", reason=str(error))
            return 0
        near = world.search(vector, 1, 0.1, [scope])
        if near and near[0].score > DUPLICATE_SCORE:
            hit = near[0]
            _stop(world, text, "duplicate", hit.score, DUPLICATE_SCORE, f"{hit.row.id} says it", fate="known")
            continue
        nearest = max((cosine(vector, other) for other in taken), default=0.0)
        if nearest > DUPLICATE_COSINE:
            _stop(world, text, "said twice", nearest, DUPLICATE_COSINE, "another text of the turn says it")
            continue
        smart = smart_of(category, text)
        proposal = Proposal(smart, text, f"- {text}", text, "", "")
        call = ExtractionCall(key or session, agent, scope, scopes, "\n".join(texts), ())
        gate = admit(world, call, [proposal], [vector], lane="regex", marks={"provenance": PROVENANCE})[0]
        if gate is not None and gate.rejected:
            keep_rejected(world, call, proposal, gate)
            least = gate.audit["thresholds"]["reject"]
            _stop(world, text, "admission", gate.audit["score"], least, gate.audit["reason"])
            continue
        taken.append(vector)
        rows.append((text, category, vector, None if gate is None else gate.audit_text))
    for text, category, vector, audit in rows:
        world.add(
            text=text,
            vector=vector,
            category=category,
            scope=scope,
            importance=IMPORTANCE,
            metadata=_metadata(text, category, session, world.now_ms, audit),
        )
    for text, category, _, _ in rows:
        world.mirror(text, category, scope, agent=agent, source="auto-capture")
    return len(rows)


def _chosen(world: World, texts: Sequence[str]) -> list[str]:
    """The first texts with a trigger word and without noise."""
    chosen: list[str] = []
    for text in texts:
        gate, value, limit = capture_gate(text)
        noise = None if gate else noise_rule(text)
        if gate:
            _stop(world, text, gate, value, limit)
        elif noise is not None:
            _stop(world, text, "noise", reason=noise)
        elif len(chosen) >= MOST_TEXTS:
            _stop(world, text, "enough of this turn", len(chosen), MOST_TEXTS, "two texts are stored already")
        else:
            chosen.append(text)
    return chosen


def _stop(
    world: World,
    text: str,
    gate: str,
    value: float | None = None,
    limit: float | None = None,
    reason: str = "",
    fate: Fate = "dropped",
) -> None:
    world.fates.append(CaptureText(text, "user", fate, gate, value, limit, reason))


def _metadata(text: str, category: str, session: str, now_ms: int, audit: str | None) -> dict[str, Any]:
    smart = smart_of(category, text)
    found: dict[str, Any] = {
        "l0_abstract": text,
        "l1_overview": f"- {text}",
        "l2_content": text,
        "memory_category": smart,
        "tier": "working",
        "access_count": 0,
        "confidence": 0.7,
        "last_accessed_at": now_ms,
        "valid_from": now_ms,
        "fact_key": fact_key(smart, text),
        "source_session": session,
        "state": "confirmed",
        "source": "auto-capture",
        "memory_layer": "working",
        "injected_count": 0,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        "admission_audit": audit,
    }
    return {key: value for key, value in found.items() if value is not None}
