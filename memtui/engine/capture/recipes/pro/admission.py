"""Admission control at work: utility from the model, the other features from the text and the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.capture.recipes.pro.extraction_call import ExtractionCall
from memtui.engine.capture.recipes.pro.world import World, compact_json, entry_of, field_lines
from memtui.engine.capture.stages.admission import (
    NEUTRAL,
    Features,
    Novelty,
    admission_confidence,
    admission_model,
    admission_novelty,
    admission_recency,
    audit,
    type_prior,
    utility_score,
)
from memtui.engine.capture.stages.grounding import Proposal
from memtui.engine.capture.stages.similarity import cosine
from memtui.engine.capture.stages.transcript import utf16_tail
from memtui.engine.core.javascript import trim

EXCERPT = 1200

SWITCHED_OFF = "Utility scoring disabled"

UNAVAILABLE = "Utility scoring unavailable"

MISSING = "Malformed batch entry: no usable response for this candidate"


@dataclass(frozen=True, slots=True)
class Admitted:
    """The decision about one candidate; `audit` in full, `keep` says whether rows carry it."""

    audit: dict[str, Any]
    keep: bool

    @property
    def rejected(self) -> bool:
        """Whether the candidate stops here."""
        return bool(self.audit["decision"] == "reject")

    @property
    def control(self) -> dict[str, Any] | None:
        """The audit as an object for rows that were changed, None where rows are not to carry it."""
        return self.audit if self.keep else None

    @property
    def audit_text(self) -> str:
        """The audit as the text that new rows carry, switched off or not."""
        return compact_json(self.audit)


def admit(
    world: World,
    call: ExtractionCall,
    proposals: Sequence[Proposal],
    vectors: Sequence[Any],
    *,
    lane: str,
    marks: dict[str, Any] | None = None,
) -> list[Admitted | None]:
    """The decision about each candidate; None where nobody judges it yet (or at all).

    Profiles of an extraction wait for their own turn unless utility is judged in batches.
    """
    settings = world.settings.admission
    if not settings.enabled:
        return [None] * len(proposals)
    found: list[Admitted | None] = [None] * len(proposals)
    todo = list(range(len(proposals)))
    if lane == "extraction" and settings.utility_mode != "batch":
        todo = [at for at in todo if proposals[at].category != "profile"]
    utilities: dict[int, tuple[float, str | None]] = {}
    if settings.utility_mode == "batch" and lane in ("extraction", "reflection"):
        size = world.settings.batch
        for start in range(0, len(todo), size):
            chunk = todo[start : start + size]
            judged = _batch(world, call, proposals, chunk, lane)
            if judged is None:
                judged = {at: _one(world, proposals[at], lane) for at in chunk}
            utilities |= judged
    for at in todo:
        utility = utilities.get(at)
        if utility is None:
            utility = _one(world, proposals[at], lane)
        made = _judged(world, call, proposals[at], vectors[at], utility)
        if marks:
            made = {**made, **marks}
        found[at] = Admitted(made, settings.audit_metadata)
    return found


def _candidate(index: int, proposal: Proposal) -> dict[str, Any]:
    return {
        "index": index,
        "category": proposal.category,
        "abstract": field_lines(proposal.abstract),
        "overview": field_lines(proposal.overview),
        "content": field_lines(proposal.content),
    }


def _model(world: World, lane: str) -> str | None:
    settings = world.settings
    own = world.models.get("model")
    return admission_model(
        settings.admission,
        "reflection" if lane == "reflection" else "other",
        own if isinstance(own, str) else None,
        settings.reflection.model,
    )


def _one(world: World, proposal: Proposal, lane: str) -> tuple[float, str | None]:
    if world.settings.admission.utility_mode == "off":
        return NEUTRAL, SWITCHED_OFF
    reply = world.ask("utility", {"candidates": [_candidate(1, proposal)]}, model=_model(world, lane))
    if reply is None:
        return NEUTRAL, UNAVAILABLE
    return utility_score(reply.get("utility")), _said(reply.get("reason"))


def _said(reason: Any) -> str | None:
    return trim(reason) or None if isinstance(reason, str) else None


def _batch(
    world: World, call: ExtractionCall, proposals: Sequence[Proposal], chunk: Sequence[int], lane: str
) -> dict[int, tuple[float, str | None]] | None:
    request = {"candidates": [_candidate(index, proposals[at]) for index, at in enumerate(chunk, 1)]}
    reply = world.ask("utility_batch", request, model=_model(world, lane))
    results = reply.get("results") if reply is not None else None
    if not isinstance(results, list):
        return None
    found: dict[int, tuple[float, str | None]] = {}
    for index, at in enumerate(chunk, 1):
        entry = entry_of(results, index)
        if entry is None:
            found[at] = (NEUTRAL, MISSING)
            continue
        found[at] = (utility_score(entry.get("utility")), _said(entry.get("reason")))
    return found


def _judged(
    world: World, call: ExtractionCall, proposal: Proposal, vector: Any, utility: tuple[float, str | None]
) -> dict[str, Any]:
    settings = world.settings.admission
    hits = world.search(vector, settings.pool, 0.0, call.judged_scopes)
    same = [hit for hit in hits if hit.row.meta(world.now_ms).memory_category == proposal.category]
    compared = same or hits
    novelty: Novelty = admission_novelty([(hit.row.id, cosine(vector, hit.row.vector)) for hit in compared])
    features = Features(
        utility[0],
        admission_confidence(proposal.abstract, proposal.content, call.conversation).score,
        novelty.score,
        admission_recency([hit.row.timestamp for hit in compared], world.now_ms, settings.half_life_days),
        type_prior(proposal.category, proposal.register, settings.priors),
    )
    made = audit(
        settings,
        features,
        novelty,
        utility_reason=utility[1],
        now_ms=world.now_ms,
        grounding=proposal.grounding or None,
        register=proposal.register or None,
    )
    world.records.append(
        {
            "kind": "admission",
            "candidate": {
                "category": proposal.category,
                "abstract": proposal.abstract,
                "content": proposal.content,
            },
            "conversation_text": call.conversation,
            "scope_filter": list(call.judged_scopes),
            "utility": {"score": utility[0], **({"reason": utility[1]} if utility[1] else {})},
            "audit": made,
        }
    )
    return made


def keep_rejected(world: World, call: ExtractionCall, proposal: Proposal, gate: Admitted) -> None:
    """Append a rejected candidate to the audit file, where the settings keep one."""
    if not world.settings.admission.persist_rejected:
        return
    made = {key: value for key, value in gate.audit.items() if key != "provenance"}
    candidate = {
        key: value
        for key, value in proposal.as_json().items()
        if value or key in ("category", "abstract", "overview", "content")
    }
    line = {
        "version": made["version"],
        "rejected_at": world.now_ms,
        "session_key": call.session,
        "target_scope": call.scope,
        "scope_filter": list(call.judged_scopes),
        "candidate": candidate,
        "audit": made,
        "conversation_excerpt": utf16_tail(call.conversation, EXCERPT),
    }
    path = world.settings.admission.rejected_path or f"{world.state_folder}/admission-audit/rejections.jsonl"
    world.files.append(path, compact_json(line) + "\n")
