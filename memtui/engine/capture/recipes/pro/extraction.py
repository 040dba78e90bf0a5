"""Smart extraction: turns to candidates by a chat model, through grounding and admission to decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtui.engine.capture.recipes.pro.admission import admit
from memtui.engine.capture.recipes.pro.decisions import Decisions
from memtui.engine.capture.recipes.pro.extraction_call import ExtractionCall, ExtractionStats
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages import grounding
from memtui.engine.capture.stages.boundary import user_md_exclusive
from memtui.engine.capture.stages.cleaning import strip_envelope
from memtui.engine.capture.stages.grounding import Proposal
from memtui.engine.capture.stages.similarity import batch_dedup
from memtui.engine.capture.stages.transcript import (
    TranscriptTurn,
    bounded_transcript,
    neutralize_speaker_tags,
    utf16_tail,
)
from memtui.engine.capture.trace import CaptureCandidate, CaptureText
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import trim, utf16_slice

MOST_CANDIDATES = 5

_BARE = "nothing is left without what a channel adds"


def extract(world: World, call: ExtractionCall) -> ExtractionStats:
    """Run the extraction and write what comes of it."""
    stats = ExtractionStats()
    record: dict[str, Any] = {
        "kind": "extract_call",
        "session_key": call.session,
        "scope": call.scope,
        "scope_filter": None if call.scopes is None else list(call.scopes),
        "conversation_text": call.conversation,
        "turns": [turn._asdict() for turn in call.turns],
        "protected_prefix_turns": call.protected,
    }
    world.records.append(record)
    _Extraction(world, call, stats).run()
    record["stats"] = stats.as_json()
    return stats


class _Extraction:
    def __init__(self, world: World, call: ExtractionCall, stats: ExtractionStats) -> None:
        self.world, self.call, self.stats = world, call, stats

    def run(self) -> None:
        world, stats = self.world, self.stats
        status, proposals, dropped = self._candidates()
        world.records.append(
            {
                "kind": "candidates",
                "status": status,
                "grounding_or_policy_dropped": dropped,
                "accepted": [proposal.as_json() for proposal in proposals],
            }
        )
        if status != "ok":
            stats.failed = True
            stats.no_input = status == "empty_input"
            return
        if not proposals:
            if not dropped:
                self._learn_noise()
            return
        chosen = proposals[:MOST_CANDIDATES]
        for proposal in proposals[MOST_CANDIDATES:]:
            self._lose(
                proposal.abstract, "too many", f"only the first {MOST_CANDIDATES} of a reply are looked at"
            )
        chosen = self._distinct(chosen)
        chosen = self._within_boundary(chosen)
        if not chosen:
            stats.settled = bool(stats.skipped)
            return
        found = self._vectors([trim(f"{proposal.abstract} {proposal.content}") for proposal in chosen])
        for proposal, vector in zip(chosen, found, strict=True):
            if vector is None:
                self._lose(
                    proposal.abstract, "embedding failed", "it has no vector, so nothing becomes of it"
                )
        chosen = [proposal for proposal, vector in zip(chosen, found, strict=True) if vector is not None]
        vectors = [vector for vector in found if vector is not None]
        admitted = admit(world, self.call, chosen, vectors, lane="extraction")
        Decisions(world, self.call, stats).carry_out(chosen, vectors, admitted)
        stats.settled = bool(
            stats.created
            or stats.merged
            or stats.skipped
            or stats.rejected
            or stats.supported
            or stats.superseded
        )

    # ------------------------------------------------------------------ candidates

    def _candidates(self) -> tuple[str, list[Proposal], bool]:
        world, call = self.world, self.call
        turns, protected = [], 0
        for at, turn in enumerate(call.turns):
            text = strip_envelope(turn.text)
            if text:
                turns.append(TranscriptTurn(turn.role, text))
                protected += at < call.protected
            else:
                world.fates.append(CaptureText(turn.text, turn.role, "dropped", "envelope", reason=_BARE))
        bounded = bounded_transcript(turns, world.settings.max_chars, protected) if turns else None
        transcript = bounded.text if bounded is not None else ""
        for turn in turns if bounded is not None and bounded.full_length > world.settings.max_chars else ():
            if utf16_tail(neutralize_speaker_tags(turn.text), 20) not in transcript:
                length, most = bounded.full_length if bounded else 0, world.settings.max_chars
                why = "the transcript is longer than may be sent, and its end is sent"
                world.fates.append(CaptureText(turn.text, turn.role, "dropped", "no room", length, most, why))
        if not transcript:
            return "empty_input", [], False
        reply = world.ask(
            "extract",
            {"transcript": transcript, "assistant_eligible": world.settings.capture_assistant},
        )
        if reply is None:
            return "llm_failure", [], False
        items = reply.get("memories")
        if not isinstance(items, list):
            return "malformed", [], False
        given = grounding.register_of(reply.get("conversation_register"))
        register, asserted = given or grounding.MIXED, given is not None
        objects = [item for item in items if isinstance(item, dict)]
        fired = grounding.cell(register, asserted, objects)
        judgement = None
        if fired is not None:
            judgement = grounding.read_judgement(
                world.ask("rejudge", _judge_request(transcript, register, objects)), len(objects)
            )
        left = grounding.filter_items(items, register, asserted, fired, judgement)
        for abstract, why in left.reasons:
            self._lose(abstract, "noise" if why.startswith("noise") else "grounding", why)
        return "ok", list(left.kept), left.grounding_dropped

    def _lose(self, abstract: str, gate: str, why: str) -> None:
        self.world.losses.append(CaptureCandidate("", abstract, decision="drop", gate=gate, reason=why))

    def _learn_noise(self) -> None:
        tail = self.call.conversation
        try:
            self.world.noise.learn(self.world.embed(utf16_tail(tail, 300)))
        except EmbeddingError:
            return

    def _distinct(self, chosen: list[Proposal]) -> list[Proposal]:
        try:
            vectors = self.world.embed_all([proposal.abstract for proposal in chosen])
        except EmbeddingError:
            return chosen
        surviving, duplicate = batch_dedup(list(vectors))
        self.stats.skipped += len(duplicate)
        for at in duplicate:
            self._lose(chosen[at].abstract, "said twice", "an earlier candidate of the reply says the same")
        return [chosen[at] for at in surviving]

    def _within_boundary(self, chosen: list[Proposal]) -> list[Proposal]:
        kept = [
            proposal
            for proposal in chosen
            if not user_md_exclusive(
                self.world.settings.exclusive,
                category=proposal.category,
                abstract=proposal.abstract,
                content=proposal.content,
            )
        ]
        for proposal in chosen:
            if proposal not in kept:
                self._lose(proposal.abstract, "boundary", "it belongs to USER.md alone")
        self.stats.boundary_skipped += len(chosen) - len(kept)
        self.stats.skipped += len(chosen) - len(kept)
        return kept

    def _vectors(self, texts: list[str]) -> list[Any]:
        try:
            return list(self.world.embed_all(texts))
        except EmbeddingError:
            found: list[Any] = []
            for text in texts:
                try:
                    found.append(self.world.embed(text))
                except EmbeddingError:
                    found.append(None)
            return found


def _judge_request(transcript: str, register: str, objects: Sequence[dict[str, Any]]) -> dict[str, Any]:
    def text(value: Any, length: int) -> str:
        return utf16_slice(value if isinstance(value, str) else "", length)

    return {
        "transcript": transcript,
        "register": register,
        "candidates": [
            {
                "index": index,
                "category": item.get("category"),
                "grounding": grounding.grounding_of(item.get("grounding")) or grounding.REAL,
                "abstract": text(item.get("abstract"), 200),
                "content": text(item.get("content"), 400),
            }
            for index, item in enumerate(objects, 1)
        ],
    }
