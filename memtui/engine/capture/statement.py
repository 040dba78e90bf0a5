"""One statement that somebody hands over as it is, an agent or a person: the checks, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtui.engine.capture.recipes.base import CaptureContext
from memtui.engine.capture.recipes.memtui.decide import Decider
from memtui.engine.capture.recipes.memtui.run import embedded
from memtui.engine.capture.recipes.memtui.texts import Statement, category_of, without_secrets
from memtui.engine.capture.trace import CaptureCandidate, CaptureText, CaptureTrace
from memtui.engine.core.content_rules import instruction_like, noise_rule
from memtui.engine.core.text import clean
from memtui.engine.metadata.categories import STORAGE

LONGEST = 2_000
"""Characters: what is longer is a document, not a memory."""

_SIX_WORDS = {"preference": "preferences", "decision": "events", "event": "events", "entity": "entities"}
"""The six-word category of a word that people use; another is told from the text."""


def remember(
    text: str,
    context: CaptureContext,
    *,
    scope: str,
    category: str = "fact",
    importance: float | None = None,
    session: str = "",
) -> CaptureTrace:
    """The trace of one text that is to be stored as it stands; nothing is written before `commit`.

    The one candidate is created, a duplicate (`skip`), takes an older one's place (`supersede`), or is rejected with
    its gate: empty, long, secret, order, noise. A rejected text is not in the trace: it may hold a secret.
    """
    stated = " ".join(clean(text).split())
    why = refusal_of(stated)
    trace = CaptureTrace("memtui", {}, context.now_ms, (), facts={"scope": scope})
    if why is not None:
        gate, reason = why
        rejected = CaptureCandidate(category, "", decision="reject", gate=gate, reason=reason)
        return replace(trace, candidates=(rejected,))
    decider = Decider(
        context.draft,
        scope,
        context.now_ms,
        context.new_id,
        session,
        supersedes=context.draft.store.dialect.reads_metadata,
    )
    kind = category if category in ("preference", "decision") else "fact"
    six_word = _SIX_WORDS.get(category) or category_of(stated, kind)
    statement = Statement(stated, kind, six_word, 0, reason="handed over as it is")
    vectors, warnings = embedded(context, [stated])
    candidates = decider.all([statement], vectors)
    candidates = [_named(candidate, category, importance) for candidate in candidates]
    shown = CaptureText(stated, "user", fate="kept")
    return replace(trace, texts=(shown,), candidates=tuple(candidates), warnings=warnings)


def refusal_of(text: str) -> tuple[str, str] | None:
    """The gate that a text does not pass and the reason for people, None where it passes all."""
    if not text:
        return "empty", "there is no text"
    if len(text) > LONGEST:
        return "long", f"{len(text):,} characters, {LONGEST:,} at most: say it in a sentence or two"
    if without_secrets(text)[1]:
        return "secret", "it holds a secret: store where the secret is kept, never the secret"
    order = instruction_like(text)
    if order is not None:
        return "order", f"it looks like prompt injection ({order}): state the fact"
    if noise_rule(text) is not None:
        return "noise", "it says nothing that would help later"
    return None


def _named(candidate: CaptureCandidate, category: str, importance: float | None) -> CaptureCandidate:
    """With the category that was named, so that it is found under that word, and the importance that was given."""
    given: dict[str, Any] = {"category": category} if category in STORAGE else {}
    if importance is not None:
        given["importance"] = importance
    writes = tuple(
        replace(write, row=replace(write.row, **given)) if write.op == "add" else write
        for write in candidate.writes
    )
    return replace(candidate, writes=writes)


def outcome_of(trace: CaptureTrace) -> dict[str, Any]:
    """What became of it, in one word, with the row that holds it now: created, duplicate, superseded or refused."""
    candidate = trace.candidates[0]
    words = {"create": "created", "skip": "duplicate", "supersede": "superseded"}
    made = next((write.row.id for write in candidate.writes if write.op == "add"), None)
    scope = str(trace.facts["scope"])
    return {
        "action": words.get(candidate.decision, "refused"),
        "id": made or candidate.match or None,
        "scope": scope,
        "reason": candidate.reason,
    }
