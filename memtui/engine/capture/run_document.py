"""The trace as the command line's JSON, and whether it holds when it is run again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.chat import ModelCall, ModelReply, NoReplyError, Purpose
from memtui.engine.capture.draft import Write
from memtui.engine.capture.pipeline import last_writes
from memtui.engine.capture.recipes.memtui.texts import masked
from memtui.engine.capture.trace import SCHEMA, CaptureTrace

if TYPE_CHECKING:
    pass


def document(
    trace: CaptureTrace, *, entry: int | None = None, proof: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of the command-line contract, `memtui.capture.v1`; secrets that a recipe lets through are masked."""
    writes = last_writes(trace.writes)
    return {
        "schema": SCHEMA,
        "recipe": trace.recipe,
        "texts": masked([text.as_json() for text in trace.texts]),
        "candidates": masked([candidate.as_json() for candidate in trace.candidates]),
        "rows": {
            "created": [_row(write, trace.now_ms) for write in writes if write.op == "add"],
            "changed": [_row(write, trace.now_ms) for write in writes if write.op == "change"],
        },
        "entry": entry,
        "calls": [call.as_json() for call in trace.calls],
        "warnings": list(trace.warnings),
        **({"receipt": trace.facts["receipt"]} if "receipt" in trace.facts else {}),
        "proof": dict(proof) if proof is not None else {"proven": None, "why": "not asked for"},
    }


def _row(write: Write, now_ms: int) -> dict[str, Any]:
    row = write.row
    meta = row.meta(now_ms)
    return {
        "id": row.id,
        "text": masked(row.text),
        "scope": row.scope,
        "category": meta.memory_category,
        "active": meta.invalidated_at is None,
        "why": write.why,
    }


@dataclass(slots=True)
class Again:
    """A model played from the calls of a run: for each purpose the same answers in the same order, never a new one."""

    calls: tuple[ModelCall, ...]
    missing: int = 0
    """Questions that the recording has no answer to."""
    _next: dict[str, int] | None = None

    def __call__(self, purpose: Purpose, parts: Mapping[str, Any], *, model: str | None = None) -> ModelReply:
        """The recorded answer to the very question; NoReplyError where that was never asked."""
        asked = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
        for call in self.calls:
            known = json.dumps(call.parts, ensure_ascii=False, sort_keys=True, default=str)
            if call.purpose == purpose and known == asked:
                if call.reply is None:
                    raise NoReplyError(call.error or "the recorded call failed")
                return call.reply
        self.missing += 1
        raise NoReplyError("not known: this would be a new question to the model")
