"""openclaw-mem-engine's own capture: sentences by trigger words, secrets and tool output out, to-dos within limits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRecipe, CaptureRequest
from memtui.engine.capture.recipes.memtui.texts import without_secrets
from memtui.engine.capture.trace import (
    CaptureCandidate,
    CaptureNeighbour,
    CaptureText,
    CaptureTrace,
    Fate,
    Message,
)
from memtui.engine.recall.recipes.mem_engine.copies import near_duplicate

DEFAULTS: Mapping[str, Any] = {
    "maxItemsPerTurn": 2,
    "maxCharsPerItem": 240,
    "maxScannedUserMessages": 24,
    "maxTextBlocksPerMessage": 4,
    "maxTotalInputChars": 48_000,
    "capturePreference": True,
    "captureDecision": True,
    "captureTodo": False,
    "dedupeSimilarityThreshold": 0.92,
    "duplicateSearchMinScore": 0.94,
    "maxTodoPerTurn": 1,
    "todoDedupeWindowHours": 24,
    "todoStaleTtlDays": 7,
}

SHORTEST = 12

MOST_PARTS = 16

RECENT_TODOS = 64

HOUR_MS, DAY_MS = 3_600_000, 86_400_000

IMPORTANCE = {"decision": 0.88, "preference": 0.78, "todo": 0.70}


_FLAGS = re.ASCII | re.IGNORECASE

_CATEGORIES = (
    (
        "todo",
        re.compile(
            r"\b(?:todo|to-do|to do|remember to|remind me|待辦|要記得|記得要|提醒我|別忘了)\b", _FLAGS
        ),
    ),
    (
        "decision",
        re.compile(
            r"\b(?:we decided|decided to|from now on|let's use|we will|we'll|決定|改成|採用|之後都|統一用)\b",
            _FLAGS,
        ),
    ),
    (
        "preference",
        re.compile(
            r"\b(?:i prefer|i like|i love|i hate|i want|i don't want|my preference"
            r"|偏好|我喜歡|我討厭|我比較想|我不要)\b",
            _FLAGS,
        ),
    ),
)

_INJECTED = re.compile(
    r"<!--\s*openclaw-mem-engine:autoRecall[\s\S]*?-->|<relevant-memories>[\s\S]*?</relevant-memories>", re.I
)

_ENDS = re.compile(r"(?<=[.!?。！？])\s+")

_OUTPUT = re.compile(
    r"stdout|stderr|exit[ _-]?code|traceback|stack[ _-]?trace|tool[ _-]?call|tool[ _-]?result|command[ _-]?output",
    re.IGNORECASE,
)

_OUTPUT_KEYS = ("stdout", "stderr", "exitCode", "command", "tool")

_SECRETS = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"-----BEGIN (?:(?:RSA|EC|DSA|OPENSSH|PGP) )?PRIVATE KEY", 0),
        (
            r"\b(?:api[ _-]?key|access[ _-]?token|refresh[ _-]?token|password|passwd|pwd|secret)\s*[:=]\s*\S+",
            _FLAGS,
        ),
        (r"\bsk-[A-Za-z0-9]{20,}", 0),
        (r"\bsk-proj-[A-Za-z0-9_-]{16,}", 0),
        (r"\bAKIA[A-Z0-9]{16}", 0),
        (r"\bgh[pousr]_[A-Za-z0-9]{20,}", 0),
        (r"\bgithub_pat_[A-Za-z0-9_]{20,}", 0),
        (r"\bxox[baprs]-[A-Za-z0-9-]{10,}", 0),
        (r"\baws_secret_access_key\s*[:=]\s*\S{20,}", _FLAGS),
        (r"\bauthorization\s*:\s*bearer\s+\S{16,}", _FLAGS),
        (r"\bBearer\s+[A-Za-z0-9._~+/=-]{24,}", 0),
    )
)

_SCOPE_TAG = re.compile(r"\[(?:scope|ISO)[:=]\s*([A-Za-z0-9._:/-]+)\]", re.IGNORECASE)


def detect_category(text: str) -> str | None:
    """todo, decision, preference, in this order; None where no trigger stands in it. Word ends are ASCII."""
    return next((name for name, pattern in _CATEGORIES if pattern.search(text)), None)


def looks_like_secret(text: str) -> bool:
    """Whether its own rules see a secret."""
    return any(pattern.search(text) for pattern in _SECRETS)


def looks_like_tool_output(text: str) -> bool:
    """Whether a text is what a tool printed: empty, fenced, an object of such keys, or with such words."""
    trimmed = text.strip()
    if not trimmed or "<relevant-memories>" in trimmed or trimmed.startswith("```"):
        return True
    if trimmed.startswith("{"):
        try:
            value = json.loads(trimmed)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and any(key in value for key in _OUTPUT_KEYS):
            return True
    return _OUTPUT.search(trimmed) is not None


def split_candidates(text: str) -> list[str]:
    """Lines where there are several, else sentences; sixteen at most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parts = lines if len(lines) > 1 else [part.strip() for part in _ENDS.split(text.strip())]
    return [part for part in parts if part][:MOST_PARTS]


def strip_injected(text: str) -> str:
    """`text` with what recall put into it replaced by a space."""
    return _INJECTED.sub(" ", text)


def todo_is_stale(created_ms: float, now_ms: float, days: float = 7) -> bool:
    """Older than its time; exactly as old is still fresh, and one without a time never is."""
    return created_ms > 0 and created_ms < now_ms - days * DAY_MS


def todo_in_window(created_ms: float, now_ms: float, hours: float = 24) -> bool:
    """Whether a to-do is recent enough to be compared with, the edge included."""
    return created_ms >= now_ms - hours * HOUR_MS


@dataclass(frozen=True, slots=True)
class Scan:
    """What of a conversation is scanned, and how much of it is not."""

    texts: tuple[tuple[int, str], ...]
    """(place of the message, text)."""
    older: int
    """User messages before the first that is looked at."""
    cut: int
    """Characters of the messages looked at that are left out: beyond the blocks of one, beyond all characters."""

    @property
    def messages(self) -> int:
        """User messages of which something is scanned."""
        return len({at for at, _ in self.texts})

    @property
    def chars(self) -> int:
        """Characters that are scanned."""
        return sum(len(text) for _, text in self.texts)


def user_texts(messages: Sequence[Message], settings: Mapping[str, Any]) -> Scan:
    """What is scanned: the newest user messages, their first text blocks, so many characters."""
    users = [(at, message) for at, message in enumerate(messages) if message.role == "user"]
    looked_at = users[-int(settings["maxScannedUserMessages"]) :]
    left = int(settings["maxTotalInputChars"])
    found: list[tuple[int, str]] = []
    cut = 0
    for at, message in looked_at:
        for place, text in enumerate(_blocks(message.content)):
            taken = ""
            if left > 0 and place < int(settings["maxTextBlocksPerMessage"]):
                taken = text[:left]
                found.append((at, taken))
            left -= len(taken)
            cut += len(text) - len(taken)
    return Scan(tuple(found), len(users) - len(looked_at), cut)


_COUNTED = {
    "tool output": "tool_output",
    "secret": "secrets_like",
    "said twice": "duplicate",
    "duplicate": "duplicate",
    "to-dos of this turn": "todo_rate_limit",
    "to-do of the last hours": "todo_dedupe_window",
}
"""Gates and the plugin's counters of what they stop; it counts nothing of the others."""


def receipt(scan: Scan, parts: int, gates: Mapping[str, int], stored: int) -> dict[str, Any]:
    """The plugin's receipt of a turn: counts, no text. `unlisted`, our own, counts what it drops without a word."""
    stopped = dict.fromkeys(
        (*dict.fromkeys(_COUNTED.values()), "older_user_messages", "input_chars_truncated"), 0
    )
    for gate, count in gates.items():
        if gate in _COUNTED:
            stopped[_COUNTED[gate]] += count
    stopped |= {"older_user_messages": scan.older, "input_chars_truncated": scan.cut}
    return {
        "schema": "openclaw-mem-engine.autoCapture.receipt.v1",
        "verbosity": "low",
        "candidateExtractionCount": parts,
        "filteredOut": stopped,
        "scanned": {
            "userMessages": scan.messages,
            "textBlocks": len(scan.texts),
            "textChars": scan.chars,
        },
        "storedCount": stored,
        "unlisted": {gate: count for gate, count in sorted(gates.items()) if gate not in _COUNTED},
    }


def _blocks(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else ()
    return [
        part["text"]
        for part in parts
        if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str)
    ]


@dataclass(slots=True)
class _Turn:
    settings: Mapping[str, Any]
    request: CaptureRequest
    context: CaptureContext
    stored: int = 0
    todos: int = 0
    taken: list[str] = field(default_factory=list)

    def decide(self, part: str, message: str, place: int) -> tuple[CaptureCandidate | None, str, Any, Any]:
        """(candidate, gate, value, limit) of one piece of text, by the gates in its order."""
        text, settings = " ".join(part.split()), self.settings
        if len(text) > settings["maxCharsPerItem"]:
            return None, "too long", float(len(text)), float(settings["maxCharsPerItem"])
        if len(text) < SHORTEST:
            return None, "too short", float(len(text)), float(SHORTEST)
        if text.startswith("/") or "heartbeat" in text.lower():
            return None, "command", None, None
        if looks_like_secret(text):
            return None, "secret", None, None
        if looks_like_tool_output(text):
            return None, "tool output", None, None
        category = detect_category(text)
        if category is None:
            return None, "no trigger", None, None
        if not settings[f"capture{category.capitalize()}"]:
            return None, "category off", category, None
        if self.stored >= settings["maxItemsPerTurn"]:
            return None, "enough of this turn", float(self.stored), float(settings["maxItemsPerTurn"])
        scope = self._scope(text, message)
        threshold = float(settings["dedupeSimilarityThreshold"])
        for other in self.taken:
            copies, jaccard = near_duplicate(text, other, threshold)
            if copies:
                return None, "said twice", jaccard, threshold
        if category == "todo" and (stopped := self._todo(text, scope, threshold)):
            return None, *stopped
        return self._stored(text, category, scope, place, threshold)

    def _scope(self, text: str, message: str) -> str:
        tag = _SCOPE_TAG.search(text) or _SCOPE_TAG.search(message)
        if tag is not None:
            return tag[1].lower()
        return self.request.scope or self.context.policy.writes_to(self.request.agent) or "global"

    def _todo(self, text: str, scope: str, threshold: float) -> tuple[str, Any, Any] | None:
        most = int(self.settings["maxTodoPerTurn"])
        if self.todos >= most:
            return "to-dos of this turn", float(self.todos), float(most)
        hours = float(self.settings["todoDedupeWindowHours"])
        now = self.context.now_ms
        recent = [
            row
            for row in self.context.draft.rows([scope])
            if row.category == "todo" and todo_in_window(row.timestamp, now, hours)
        ]
        for row in sorted(recent, key=lambda each: -each.timestamp)[:RECENT_TODOS]:
            copies, jaccard = near_duplicate(text, row.text, threshold)
            if copies:
                return "to-do of the last hours", jaccard, threshold
        return None

    def _stored(
        self, text: str, category: str, scope: str, place: int, threshold: float
    ) -> tuple[CaptureCandidate | None, str, Any, Any]:
        context = self.context
        try:
            vector = context.embed([text])[0]
        except Exception as error:  # it drops the item without a word; the trace counts it
            return None, "embedding failed", str(error), None
        base = CaptureCandidate(_SMART[category], text, content=text, texts=(place,))
        if category != "todo":
            least = float(self.settings["duplicateSearchMinScore"])
            for hit in context.draft.search(vector, limit=1, scopes=[scope]):
                score = 1.0 / (1.0 + (2.0 - 2.0 * hit.cosine))
                base = replace(base, neighbours=(CaptureNeighbour(hit.row.id, score, hit.row.text),))
                if score >= least or near_duplicate(text, hit.row.text, threshold)[0]:
                    skipped = replace(base, decision="skip", gate="duplicate", match=hit.row.id)
                    return skipped, "duplicate", score, least
        row = StoredRow(
            context.new_id(), text, category, scope, IMPORTANCE[category], context.now_ms, "{}", vector
        )
        write = context.draft.add(row, category)
        self.stored += 1
        self.todos += category == "todo"
        self.taken.append(text)
        return replace(base, decision="create", reason=f"{category} words", writes=(write,)), "", None, None


_SMART = {"todo": "events", "decision": "events", "preference": "preferences"}


def run(request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The trace of one turn."""
    settings = {**DEFAULTS, **request.config}
    turn = _Turn(settings, request, context)
    scan = user_texts(request.messages, settings)
    scanned: dict[int, list[str]] = {}
    for at, block in scan.texts:
        scanned.setdefault(at, []).append(block)
    gates: dict[str, int] = {}
    parts = 0
    texts: list[CaptureText] = []
    candidates: list[CaptureCandidate] = []
    for number, message in enumerate(request.messages):
        shown = without_secrets("\n".join(_blocks(message.content)))[0]
        text = CaptureText(shown, message.role, "dropped", message=number)
        if message.role != "user":
            texts.append(replace(text, gate="role", reason="only user messages are captured"))
            continue
        if number not in scanned:
            texts.append(replace(text, gate="not scanned", limit=float(settings["maxScannedUserMessages"])))
            continue
        stops: list[tuple[str, Any, Any]] = []
        fate: Fate = "dropped"
        for block in scanned[number]:
            for part in split_candidates(strip_injected(block)):
                candidate, gate, value, limit = turn.decide(part, block, len(texts))
                parts += 1
                if candidate is not None:
                    candidates.append(candidate)
                    fate = "kept" if candidate.writes else ("known" if fate == "dropped" else fate)
                if gate:
                    stops.append((gate, value, limit))
                    gates[gate] = gates.get(gate, 0) + 1
        first = stops[0] if stops and fate != "kept" else ("" if fate == "kept" else "empty", None, None)
        texts.append(replace(text, fate=fate, gate=first[0], value=first[1], limit=first[2]))
    told = {"receipt": receipt(scan, parts, gates, turn.stored)}
    lost = tuple(
        dict.fromkeys(
            f"What needs a vector is lost, as with the engine. {text.value}"
            for text in texts
            if text.gate == "embedding failed"
        )
    )
    return CaptureTrace(
        "mem-engine",
        settings,
        context.now_ms,
        tuple(texts),
        tuple(candidates),
        warnings=lost,
        facts=told,
    )


PROTOCOL = 1

RECIPE = CaptureRecipe(
    "mem-engine",
    "openclaw-mem-engine",
    "trigger words in English and Chinese, at most two memories a turn, to-dos within limits",
    run,
    defaults=DEFAULTS,
    steps=(
        ("who said it", ("role",)),
        ("scanned", ("not scanned", "empty")),
        ("length", ("too long", "too short")),
        ("no command", ("command",)),
        ("no secret", ("secret",)),
        ("no tool output", ("tool output",)),
        ("trigger word", ("no trigger", "category off")),
        ("turn's limit", ("enough of this turn",)),
        ("said once", ("said twice",)),
        ("to-do's limits", ("to-dos of this turn", "to-do of the last hours")),
        ("embedded", ("embedding failed",)),
        ("not stored yet", ("duplicate",)),
    ),
)
