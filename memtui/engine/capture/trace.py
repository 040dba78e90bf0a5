"""The capture trace: what became of every text, every candidate and every row, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from memtui.engine.capture.chat import ModelCall
from memtui.engine.capture.draft import Write
from memtui.engine.capture.stages.cleaning import message_texts, said_in

SCHEMA = "memtui.capture.v1"

Fate = Literal["kept", "used", "dropped", "deferred", "known"]
"""kept: at least one candidate was made of it; used: it was read and nothing was made of it; dropped: a gate
stopped it; deferred: it waits for a later turn; known: an earlier run has read it."""

KEPT, REJECTED, NEEDS_REVIEW = "kept", "rejected", "needs review"

VERDICTS = (KEPT, REJECTED, NEEDS_REVIEW)
"""The three verdicts that a person sees, on a text, a candidate and an item of the inbox."""

_VERDICT_OF = {"kept": KEPT, "deferred": NEEDS_REVIEW}

Verdict = Literal[
    "create", "skip", "merge", "supersede", "support", "contextualize", "contradict", "reject", "drop"
]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation as its host keeps it.

    `content` is a text, or a list of blocks ({"type": "text", "text": ...}). `id` names the message where the
    host numbers them; `at_ms` is its time in milliseconds, None when unknown.
    """

    role: str
    content: Any
    id: str | None = None
    at_ms: int | None = None

    @property
    def said(self) -> str:
        """What was said, without the block of recalled memories that a host put before it; "" where it has no text."""
        texts = [text for _, text in message_texts(self.as_json(), (self.role,))]
        return said_in("\n".join(texts))

    def as_json(self) -> dict[str, Any]:
        """The message in the host's own shape."""
        named = {} if self.id is None else {"id": self.id}
        return {"role": self.role, "content": self.content, **named}


@dataclass(frozen=True, slots=True)
class CaptureText:
    """One text of the conversation and what became of it.

    `gate` is the rule that decided, `value` what it measured and `limit` what it compared with; empty and None
    where no rule stopped the text. `message` is the place of its message in the conversation.
    """

    text: str
    role: str
    fate: Fate
    gate: str = ""
    value: float | str | None = None
    limit: float | str | None = None
    reason: str = ""
    message: int | None = None

    @property
    def verdict(self) -> str:
        """What became of it in one of three words, the same wherever a person reads it: `VERDICTS`."""
        return _VERDICT_OF.get(self.fate, REJECTED)

    @property
    def said(self) -> str:
        """What was said, without the block of recalled memories that a host put before it; for a list."""
        return said_in(self.text)

    def as_json(self) -> dict[str, Any]:
        """The text in the command-line contract."""
        return {
            "text": self.text,
            "role": self.role,
            "verdict": self.verdict,
            "fate": self.fate,
            "gate": self.gate,
            "value": self.value,
            "limit": self.limit,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class CaptureNeighbour:
    """A stored memory near a candidate: its score s = 1 / (2 - cosine), and its text."""

    id: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class CaptureCandidate:
    """One memory that was proposed, and what was decided about it.

    `match` is the memory that the decision is about. `gate` names the rule that dropped or rejected it.
    `raw` is the model's verdict as it was. `writes` are what the decision does to the store.
    """

    category: str
    abstract: str
    overview: str = ""
    content: str = ""
    grounding: str = ""
    register: str = ""
    texts: tuple[int, ...] = ()
    """Places in the trace's `texts` of what it was made of, where the recipe knows."""
    decision: Verdict = "create"
    gate: str = ""
    match: str | None = None
    reason: str = ""
    context: str | None = None
    admission: Mapping[str, Any] | None = None
    neighbours: tuple[CaptureNeighbour, ...] = ()
    raw: Any = None
    writes: tuple[Write, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The candidate in the command-line contract."""
        return {
            "category": self.category,
            "abstract": self.abstract,
            "content": self.content,
            "decision": self.decision,
            "match": self.match,
            "reason": self.reason,
            "gate": self.gate,
            "admission": dict(self.admission) if self.admission is not None else None,
            "neighbours": [{"id": n.id, "score": n.score, "text": n.text} for n in self.neighbours],
        }


@dataclass(frozen=True, slots=True)
class CaptureTrace:
    """Everything that one capture run did, in order; nothing of it is written yet unless `entry` says so."""

    recipe: str
    settings: Mapping[str, Any]
    now_ms: int
    texts: tuple[CaptureText, ...]
    candidates: tuple[CaptureCandidate, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    files: tuple[FileWrite, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the recipe knows of its run: queues, counts, records in its own terms."""

    @property
    def writes(self) -> tuple[Write, ...]:
        """Every change to the store, in the order of the decisions."""
        return tuple(write for candidate in self.candidates for write in candidate.writes)


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file beside the store that a run appends to or writes: its path as configured, and the text."""

    path: str
    text: str
    append: bool = True
