"""De-duplication and what follows from it: merges, new rows, new versions, statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.capture.draft import StoredRow, VectorHit
from memtui.engine.capture.recipes.pro.admission import Admitted, admit, keep_rejected
from memtui.engine.capture.recipes.pro.extraction_call import ExtractionCall, ExtractionStats
from memtui.engine.capture.recipes.pro.world import World, entry_of, field_lines, relation
from memtui.engine.capture.stages.grounding import Proposal
from memtui.engine.capture.stages.preference_slot import brand_item_preference
from memtui.engine.capture.stages.support import GENERAL, support_update
from memtui.engine.capture.stages.verdict import DedupVerdict, dedup_verdict
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import to_fixed, trim
from memtui.engine.decay.validity import infer_expiry, temporal_type
from memtui.engine.metadata.categories import TEMPORAL_VERSIONED, storage_of
from memtui.engine.metadata.read import fact_key

NEIGHBOURS, SHOWN = 5, 3

NEIGHBOUR_SCORE = 0.7

PROFILE_SCORE = 0.3

MERGEABLE = ("preferences", "entities", "patterns")

IMPORTANCE = {
    "profile": 0.9,
    "preferences": 0.8,
    "entities": 0.7,
    "events": 0.6,
    "cases": 0.8,
    "patterns": 0.85,
}

NO_NEIGHBOUR = "No similar memories found"

SAME_BRAND = "Same brand but different item-level preference (preference-slot guard)"


@dataclass(slots=True)
class _Merge:
    target: str
    category: str
    additions: list[tuple[Proposal, str | None, Admitted | None, Any]] = field(default_factory=list)


@dataclass(slots=True)
class _New:
    """A row to be added, and the row that it supersedes."""

    text: str
    vector: Any
    category: str
    importance: float
    metadata: dict[str, Any]
    row_id: str
    replaces: StoredRow | None = None
    key: str | None = None


class Decisions:
    """What becomes of the candidates of one run, and the rows that are written for it."""

    def __init__(self, world: World, call: ExtractionCall, stats: ExtractionStats) -> None:
        self.world, self.call, self.stats = world, call, stats
        self.merges: dict[str, _Merge] = {}
        self.new: list[_New] = []

    def carry_out(self, chosen: list[Proposal], vectors: list[Any], admitted: list[Admitted | None]) -> None:
        """Decide about every candidate, then write: merges first, new rows, the ends of old versions."""
        self._decide(chosen, vectors, admitted)
        self._write_merges()
        self._write_new()

    def _decide(self, chosen: list[Proposal], vectors: list[Any], admitted: list[Admitted | None]) -> None:
        asked: list[tuple[int, list[VectorHit]]] = []
        decided: dict[int, DedupVerdict] = {}
        rows: dict[int, dict[str, StoredRow]] = {}
        for at, proposal in enumerate(chosen):
            gate = admitted[at]
            if gate is not None and gate.rejected:
                continue
            if proposal.category == "profile":
                continue
            hits = self.world.search(vectors[at], NEIGHBOURS, NEIGHBOUR_SCORE, self.call.scopes, active=True)
            rows[at] = {hit.row.id: hit.row for hit in hits}
            verdict = _short_circuit(proposal, hits)
            self.world.records.append(
                {
                    "kind": "dedup_prefilter",
                    "candidate": proposal.abstract,
                    "short_circuit": None if verdict is None else verdict.as_json(),
                    "similar": [{"id": hit.row.id, "score": hit.score} for hit in hits if verdict is None],
                }
            )
            if verdict is not None:
                decided[at] = verdict
            else:
                asked.append((at, hits))
        size = self.world.settings.batch
        for start in range(0, len(asked), size):
            self._ask_dedup(chosen, asked[start : start + size], decided)
        for at, proposal in enumerate(chosen):
            self._apply(proposal, vectors[at], decided.get(at), admitted[at], rows.get(at, {}))

    def _ask_dedup(
        self,
        chosen: list[Proposal],
        chunk: Sequence[tuple[int, list[VectorHit]]],
        decided: dict[int, DedupVerdict],
    ) -> None:
        request = {
            "candidates": [
                {
                    "index": index,
                    "category": chosen[at].category,
                    "abstract": field_lines(chosen[at].abstract),
                    "overview": field_lines(chosen[at].overview),
                    "content": field_lines(chosen[at].content),
                    "existing": [
                        _shown(number, hit, self.world.now_ms) for number, hit in enumerate(hits[:SHOWN], 1)
                    ],
                }
                for index, (at, hits) in enumerate(chunk, 1)
            ]
        }
        reply = self.world.ask("dedup", request)
        results = reply.get("results") if reply is not None else None
        for index, (at, hits) in enumerate(chunk, 1):
            entry = entry_of(results, index)
            ids = [hit.row.id for hit in hits[:SHOWN]]
            verdict = dedup_verdict(entry, ids)
            decided[at] = verdict
            self.world.records.append(
                {
                    "kind": "dedup_verdict",
                    "raw": entry,
                    "similar_ids": ids,
                    "decision": verdict.decision,
                    "reason": verdict.reason,
                    "match_id": verdict.match,
                    "context_label": verdict.label,
                }
            )

    def _apply(
        self,
        proposal: Proposal,
        vector: Any,
        verdict: DedupVerdict | None,
        gate: Admitted | None,
        rows: dict[str, StoredRow],
    ) -> None:
        stats, category = self.stats, proposal.category
        if gate is not None and gate.rejected:
            self._reject(proposal, gate)
            return
        if category == "profile":
            self._profile(proposal, vector, gate)
            return
        if verdict is None:
            return
        match = rows.get(verdict.match) if verdict.match else None
        decision = verdict.decision
        if decision == "skip":
            stats.skipped += 1
        elif decision == "merge" and category in MERGEABLE and match is not None:
            self._queue_merge(match.id, proposal, verdict.label, gate, vector)
        elif decision == "supersede" and category in TEMPORAL_VERSIONED and match is not None:
            self._supersede(proposal, vector, match, gate)
        elif decision == "support" and match is not None:
            self._support(match.id, verdict.label, "support", gate)
            stats.supported += 1
        elif decision == "contextualize" and match is not None:
            self._linked(proposal, vector, "contextualizes", match.id, verdict.label, gate)
        elif decision == "contradict" and match is not None:
            if category in TEMPORAL_VERSIONED and verdict.label == GENERAL:
                self._supersede(proposal, vector, match, gate)
            else:
                self._support(match.id, verdict.label, "contradict", gate)
                self._linked(proposal, vector, "contradicts", match.id, verdict.label, gate)
        else:
            self._create(proposal, vector, gate)

    def _reject(self, proposal: Proposal, gate: Admitted) -> None:
        self.stats.rejected += 1
        keep_rejected(self.world, self.call, proposal, gate)

    def _profile(self, proposal: Proposal, vector: Any, gate: Admitted | None) -> None:
        if gate is None:
            gate = admit(self.world, self.call, [proposal], [vector], lane="profile")[0]
            if gate is not None and gate.rejected:
                self._reject(proposal, gate)
                return
        hits = self.world.search(vector, 1, PROFILE_SCORE, self.call.scopes)
        nearest = hits[0].row if hits else None
        if nearest is not None and nearest.meta(self.world.now_ms).memory_category == "profile":
            self._queue_merge(nearest.id, proposal, None, gate, vector)
        else:
            self._create(proposal, vector, gate)

    def _queue_merge(
        self, target: str, proposal: Proposal, label: str | None, gate: Admitted | None, vector: Any
    ) -> None:
        job = self.merges.setdefault(target, _Merge(target, proposal.category))
        job.additions.append((proposal, label, gate, vector))

    def _create(self, proposal: Proposal, vector: Any, gate: Admitted | None) -> None:
        metadata = self._fresh(proposal)
        metadata |= {"grounding": proposal.grounding, "conversation_register": proposal.register}
        if gate is not None and gate.audit is not None:
            metadata["admission_audit"] = gate.audit_text
        self._queue_new(proposal, vector, metadata)

    def _fresh(self, proposal: Proposal, extra: dict[str, Any] | None = None) -> dict[str, Any]:
        now = self.world.now_ms
        said = proposal.content or proposal.abstract
        until = infer_expiry(said, now)
        overview = proposal.overview or f"- {proposal.abstract}"
        more = extra or {}
        key = more.get("fact_key") or fact_key(proposal.category, proposal.abstract)
        found: dict[str, Any] = {
            "l0_abstract": proposal.abstract,
            "l1_overview": overview,
            "l2_content": proposal.content or proposal.abstract,
            "memory_category": proposal.category,
            "tier": "working",
            "access_count": 0,
            "confidence": 0.7,
            "last_accessed_at": now,
            "valid_from": now,
            "memory_temporal_type": temporal_type(said),
            "valid_until": until,
            "fact_key": key,
            "supersedes": more.get("supersedes"),
            "source_session": self.call.session,
            "state": "confirmed",
            "source": "auto-capture",
            "memory_layer": "working",
            "injected_count": 0,
            "bad_recall_count": 0,
            "suppressed_until_turn": 0,
            "relations": more.get("relations"),
        }
        return {key: value for key, value in found.items() if value is not None}

    def _supersede(self, proposal: Proposal, vector: Any, match: StoredRow, gate: Admitted | None) -> None:
        old = match.meta(self.world.now_ms)
        key = old.fact_key or fact_key(proposal.category, proposal.abstract)
        metadata = self._fresh(
            proposal,
            {
                "fact_key": key,
                "supersedes": match.id,
                "relations": [{"type": "supersedes", "targetId": match.id}],
            },
        )
        self._queue_new(proposal, vector, metadata, replaces=match, key=key)
        self.stats.superseded += 1

    def _linked(
        self,
        proposal: Proposal,
        vector: Any,
        kind: str,
        target: str,
        label: str | None,
        gate: Admitted | None,
    ) -> None:
        metadata: dict[str, Any] = {
            "l0_abstract": proposal.abstract,
            "l1_overview": proposal.overview or f"- {proposal.abstract}",
            "l2_content": proposal.content or proposal.abstract,
            "memory_category": proposal.category,
            "tier": "working",
            "access_count": 0,
            "confidence": 0.7,
            "last_accessed_at": self.world.now_ms,
            "source_session": self.call.session,
            "source": "auto-capture",
            "state": "confirmed",
            "memory_layer": "working",
            "injected_count": 0,
            "bad_recall_count": 0,
            "suppressed_until_turn": 0,
            "contexts": [label] if label else [],
            "relations": [{"type": kind, "targetId": target}],
        }
        if gate is not None and gate.control is not None:
            metadata["admission_control"] = gate.control
        self._queue_new(proposal, vector, metadata)

    def _queue_new(
        self,
        proposal: Proposal,
        vector: Any,
        metadata: dict[str, Any],
        *,
        replaces: StoredRow | None = None,
        key: str | None = None,
    ) -> None:
        self.new.append(
            _New(
                proposal.abstract,
                vector,
                proposal.category,
                IMPORTANCE[proposal.category],
                metadata,
                self.world.new_id(),
                replaces,
                key,
            )
        )
        self.stats.created += 1

    # ------------------------------------------------------------------ writes

    def _support(self, target: str, label: str | None, event: Any, gate: Admitted | None) -> None:
        row = self.world.get(target, self.call.scopes)
        if row is None:
            return
        stored = row.meta(self.world.now_ms).values.get("support_info")
        patch: dict[str, Any] = {"support_info": support_update(stored, label, event, self.world.now_ms)}
        if gate is not None and gate.control is not None:
            patch["admission_control"] = gate.control
        self.world.patch(target, patch, self.call.scopes, why=event)

    def _write_merges(self) -> None:
        jobs: list[tuple[_Merge, StoredRow | None]] = [
            (job, self.world.get(job.target, self.call.scopes)) for job in self.merges.values()
        ]
        size = self.world.settings.batch
        for start in range(0, len(jobs), size):
            self._ask_merge(jobs[start : start + size])

    def _ask_merge(self, jobs: Sequence[tuple[_Merge, StoredRow | None]]) -> None:
        world = self.world
        request = {"jobs": [_job(index, job, row, world.now_ms) for index, (job, row) in enumerate(jobs, 1)]}
        reply = world.ask("merge", request)
        results = reply.get("results") if reply is not None else None
        for index, (job, row) in enumerate(jobs, 1):
            entry = entry_of(results, index)
            merged = _merged_texts(entry)
            if merged is None or row is None:
                continue
            self._merge(job, row, *merged)

    def _merge(self, job: _Merge, row: StoredRow, abstract: str, overview: str, content: str) -> None:
        world = self.world
        try:
            vector = world.embed(f"{abstract} {content}")
        except EmbeddingError:
            return  # as a reply that cannot be read: the additions are lost
        proposal, _, gate, _ = job.additions[0]
        patch: dict[str, Any] = {
            "l0_abstract": abstract,
            "l1_overview": overview,
            "l2_content": content,
            "memory_category": proposal.category,
            "tier": "working",
            "confidence": 0.8,
        }
        if gate is not None and gate.control is not None:
            patch["admission_control"] = gate.control
        world.draft.change(row.id, "merge", text=abstract, vector=vector, metadata=world.built(row, patch))
        for _, label, _, _ in job.additions:
            self._support(row.id, label, "support", None)
            self.stats.merged += 1
        world.mirror(
            abstract,
            str(storage_of(proposal.category)),
            self.call.scope,
            agent=self.call.agent,
            source="smart-extraction",
        )

    def _write_new(self) -> None:
        world = self.world
        for new in self.new:
            world.add(
                text=new.text,
                vector=new.vector,
                category=str(storage_of(new.category)),
                scope=self.call.scope,
                importance=new.importance,
                metadata=new.metadata,
                row_id=new.row_id,
            )
        for new in self.new:
            if new.replaces is not None:
                old = new.replaces
                values = old.meta(world.now_ms).values
                patch = {
                    "fact_key": new.key,
                    "invalidated_at": world.now_ms,
                    "superseded_by": new.row_id,
                    "relations": relation(values.get("relations"), "superseded_by", new.row_id),
                }
                world.draft.change(old.id, "superseded", metadata=world.built(old, patch))
        for new in self.new:
            world.mirror(
                new.text,
                str(storage_of(new.category)),
                self.call.scope,
                agent=self.call.agent,
                source="smart-extraction",
            )


def _short_circuit(proposal: Proposal, hits: list[VectorHit]) -> DedupVerdict | None:
    if not hits:
        return DedupVerdict("create", NO_NEIGHBOUR)
    if proposal.category != "preferences":
        return None
    mine = brand_item_preference(proposal.content)
    if mine is None or mine.single is None:
        return None
    for hit in hits:
        other = brand_item_preference(hit.row.text)
        if other is None or other.single is None or other.brand != mine.brand or other.single == mine.single:
            return None
    return DedupVerdict("create", SAME_BRAND)


def _shown(number: int, hit: VectorHit, now_ms: int) -> dict[str, Any]:
    meta = hit.row.meta(now_ms)
    stored = meta.values.get("memory_category")
    abstract = meta.values.get("l0_abstract")
    return {
        "n": number,
        "category": stored if isinstance(stored, str) and stored else hit.row.category,
        "abstract": field_lines(abstract if isinstance(abstract, str) and abstract else hit.row.text),
        "score": float(to_fixed(hit.score, 3)),
    }


def _job(index: int, job: _Merge, row: StoredRow | None, now_ms: int) -> dict[str, Any]:
    meta = row.meta(now_ms) if row is not None else None
    existing = {
        "abstract": field_lines(meta.l0_abstract if meta else ""),
        "overview": field_lines(meta.l1_overview if meta else ""),
        "content": field_lines(meta.l2_content if meta else ""),
    }
    return {
        "index": index,
        "category": job.category,
        "existing": existing,
        "additions": [
            {
                "abstract": field_lines(proposal.abstract),
                "overview": field_lines(proposal.overview),
                "content": field_lines(proposal.content),
            }
            for proposal, _, _, _ in job.additions
        ],
    }


def _merged_texts(entry: Any) -> tuple[str, str, str] | None:
    if not isinstance(entry, dict):
        return None
    texts = [entry.get(name) for name in ("abstract", "overview", "content")]
    if not all(isinstance(text, str) for text in texts) or not trim(str(texts[0])):
        return None
    return str(texts[0]), str(texts[1]), str(texts[2])
