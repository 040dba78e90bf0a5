"""The receipt of a verdict: one document to hand over, with every text or with none."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.blame.cause import Blame, SuspectedCause
    from memtui.engine.engine import Engine


SCHEMA = "memtui.blame.v1"


def blame_receipt(engine: Engine, found: Blame, *, texts: bool = True) -> dict[str, Any]:
    """The verdict as a document; without `texts` ids, numbers and times only, no word of anybody.

    Secrets in its texts are masked when it is saved.
    """
    turn = None
    if found.turn is not None:
        told = found.turn.replayed.turn
        turn = {
            "session": found.turn.file.id,
            "n": told.n,
            "agent": found.turn.file.agent,
            "time_ms": told.time_ms,
            "evidence": found.turn.replayed.evidence,
            **({"question": told.question} if texts else {}),
        }
    info = engine.info
    return {
        "schema": SCHEMA,
        "saved_ms": engine.now_ms,
        "store": {
            "name": info.name if texts else "",
            "table": info.table,
            "dialect": info.dialect,
            "version": info.version,
            "rows": info.rows,
        },
        "texts": texts,
        **({"sentence": found.sentence} if texts else {}),
        "turn": turn,
        "verdict": found.verdict,
        "suspects": [_suspect(suspect, texts) for suspect in found.suspects],
        "missing": [
            {"id": each.id, **({"text": each.text, "why_not": each.why_not} if texts else {})}
            for each in found.missing
        ],
        "instead": [{"id": each.id, **({"text": each.text} if texts else {})} for each in found.instead],
        **({"notes": list(found.notes)} if texts else {}),
    }


def _suspect(each: SuspectedCause, texts: bool) -> dict[str, Any]:
    said = {"text": each.text, "shares": list(each.shares), "why": each.why} if texts else {}
    return {
        "id": each.id,
        "confidence": round(each.confidence, 3),
        "how": each.how or None,
        "since": each.state or None,
        **said,
        "grounds": {name: round(float(value), 4) for name, value in asdict(each.grounds.evidence).items()},
        "came_from": [step.as_json(texts=texts) for step in each.came_from],
    }
