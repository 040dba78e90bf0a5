"""The built-in memory-lancedb: trigger words, the first three texts that have one, a copy check, nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRecipe, CaptureRequest
from memtui.engine.capture.recipes.memtui.texts import content_text, without_secrets
from memtui.engine.capture.trace import CaptureCandidate, CaptureNeighbour, CaptureText, CaptureTrace
from memtui.engine.core.javascript import utf16_len
from memtui.engine.core.text import one_line

DEFAULTS: Mapping[str, Any] = {"captureMaxChars": 500}

MOST = 3

SHORTEST = 10

SAME = 0.95
"""Of its own score, 1 / (1 + squared distance)."""

IMPORTANCE = 0.7

_FLAGS = re.ASCII | re.IGNORECASE

_TRIGGERS = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        r"zapamatuj si|pamatuj|remember",
        r"preferuji|radši|nechci|prefer",
        r"rozhodli jsme|budeme používat",
        r"\+\d{10,}",
        r"[\w.-]+@[\w-]+\.\w+",
        r"můj\s+\w+\s+je|je\s+můj",
        r"my\s+\w+\s+is|is\s+my",
        r"i (?:like|prefer|hate|love|want|need)",
        r"always|never|important",
    )
)

_ORDERS = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        r"ignore (?:all|any|previous|above|prior) instructions",
        r"do not follow (?:the )?(?:system|developer)",
        r"system prompt",
        r"developer message",
        r"<\s*(?:system|assistant|developer|tool|function|relevant-memories)\b",
        r"\b(?:run|execute|call|invoke)\b.{0,40}\b(?:tool|command)\b",
    )
)

_CATEGORIES = (
    ("preference", re.compile(r"prefer|radši|like|love|hate|want", _FLAGS)),
    ("decision", re.compile(r"rozhodli|decided|will use|budeme", _FLAGS)),
    ("entity", re.compile(r"\+\d{10,}|@[\w.-]+\.\w+|is called|jmenuje se", _FLAGS)),
    ("fact", re.compile(r"is|are|has|have|je|má|jsou", _FLAGS)),
)

_SMART = {"preference": "preferences", "decision": "events", "entity": "entities", "fact": "cases"}


def capture_gate(text: str, max_chars: int = 500) -> tuple[str, float | str | None, float | None]:
    """(gate, value, limit) of the rule that refuses a text; an empty gate where it is kept."""
    length = utf16_len(text)
    if length < SHORTEST:
        return "too short", float(length), float(SHORTEST)
    if length > max_chars:
        return "too long", float(length), float(max_chars)
    if "<relevant-memories>" in text:
        return "injected block", None, None
    if text.startswith("<") and "</" in text:
        return "markup", None, None
    if "**" in text and "\n-" in text:
        return "summary", None, None
    emoji = sum("\U0001f300" <= char <= "\U0001f9ff" for char in text)
    if emoji > MOST:
        return "emoji", float(emoji), float(MOST)
    if is_order(text):
        return "order", None, None
    if not any(trigger.search(text) for trigger in _TRIGGERS):
        return "no trigger", None, None
    return "", None, None


def is_order(text: str) -> bool:
    """Whether a text reads like an order to a model: the program's patterns, which miss much."""
    flat = " ".join(text.split())
    return any(order.search(flat) for order in _ORDERS)


def should_capture(text: str, max_chars: int = 500) -> bool:
    """Whether it keeps a text."""
    return not capture_gate(text, max_chars)[0]


def detect_category(text: str) -> str:
    """The category of a text: the first whose words stand in it, as pieces of words too."""
    return next((name for name, pattern in _CATEGORIES if pattern.search(text)), "other")


def run(request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The trace of one turn; like the program, it looks at the whole conversation from its beginning."""
    settings = {**DEFAULTS, **request.config}
    longest = int(settings["captureMaxChars"])
    texts: list[CaptureText] = []
    candidates: list[CaptureCandidate] = []
    eligible = 0
    for number, message in enumerate(request.messages):
        raw = content_text(message.content)
        shown = without_secrets(raw)[0]
        base = CaptureText(shown, message.role, "dropped", message=number)
        if message.role != "user":
            texts.append(replace(base, gate="role", reason="only user messages are captured"))
            continue
        gate, value, limit = capture_gate(raw, longest)
        if gate:
            texts.append(replace(base, gate=gate, value=value, limit=limit))
            continue
        eligible += 1
        if eligible > MOST:
            texts.append(
                replace(base, gate="after the third", value=float(eligible), limit=float(MOST), reason=_LATE)
            )
            continue
        candidate = _decided(raw, len(texts), request, context)
        candidates.append(candidate)
        fate = (
            replace(base, fate="kept") if candidate.writes else replace(base, fate="known", gate="duplicate")
        )
        texts.append(fate)
    told = [
        "The plugin stores every trigger word: "
        f"{one_line(without_secrets(candidate.content)[0])[:80]!r} holds a secret."
        for candidate in candidates
        if candidate.writes and without_secrets(candidate.content)[1]
    ]
    return CaptureTrace(
        "memory-lancedb", settings, context.now_ms, tuple(texts), tuple(candidates), warnings=tuple(told)
    )


_LATE = "each turn tries the same first three texts again: what comes after them is never reached"


def _decided(text: str, place: int, request: CaptureRequest, context: CaptureContext) -> CaptureCandidate:
    category = detect_category(text)
    vector = context.embed([text])[0]
    hits = context.draft.search(vector, limit=1)
    base = CaptureCandidate(_SMART.get(category, "patterns"), text, content=text, texts=(place,))
    if hits:
        score = 1.0 / (1.0 + 2.0 * (1.0 - hits[0].cosine))
        base = replace(base, neighbours=(CaptureNeighbour(hits[0].row.id, score, hits[0].row.text),))
        if score >= SAME:
            return replace(
                base, decision="skip", gate="duplicate", match=hits[0].row.id, reason=f"{score:.3f}"
            )
    scope = request.scope or context.policy.writes_to(request.agent) or "global"
    row = StoredRow(context.new_id(), text, category, scope, IMPORTANCE, context.now_ms, "{}", vector)
    write = context.draft.add(row, category)
    return replace(base, decision="create", reason="a trigger word stands in it", writes=(write,))


PROTOCOL = 1

RECIPE = CaptureRecipe(
    "memory-lancedb",
    "memory-lancedb",
    "the built-in plugin: trigger words in English and Czech, the first three texts of a conversation",
    run,
    defaults=DEFAULTS,
    steps=(
        ("who said it", ("role",)),
        ("length", ("too short", "too long")),
        ("form", ("injected block", "markup", "summary", "emoji")),
        ("no order", ("order",)),
        ("trigger word", ("no trigger",)),
        ("first three", ("after the third",)),
        ("not stored yet", ("duplicate",)),
    ),
)
