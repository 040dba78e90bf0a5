"""A recording: a conversation, what a model answered, and what came of it; replayed without asking again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from memtui.engine.capture.chat import ModelCall, ModelReply
from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.memtui.likeness import key_of
from memtui.engine.capture.recipes.memtui.texts import masked
from memtui.engine.capture.recipes.registry import capture_recipe
from memtui.engine.capture.run_document import Again
from memtui.engine.capture.trace import CaptureTrace, Message
from memtui.engine.core.errors import MemtuiError

SCHEMA = "memtui.capture.recording.v1"


@dataclass(frozen=True, slots=True)
class Recording:
    """What a run was given and what a model said; secrets are masked in it."""

    request: CaptureRequest
    calls: tuple[ModelCall, ...]
    now_ms: int
    kept: tuple[str, ...]
    """The statements that were stored."""


@dataclass(slots=True)
class Recorder:
    """Keeps what a run reads of the store and of the embedder, so that it can be replayed without either."""

    vectors: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, StoredRow] = field(default_factory=dict)

    def watch(self, context: CaptureContext) -> CaptureContext:
        """The context with everything that is read through it kept here."""
        context.draft.seen = self.rows

        def embed(texts: Sequence[str]) -> Any:
            found = context.embed(texts)
            self.vectors |= dict(zip(texts, found, strict=True))
            return found

        return replace(context, embed=embed)


def record(path: Path, request: CaptureRequest, trace: CaptureTrace, seen: Recorder) -> None:
    """Add a recording to a file, one JSON line each. Raises MemtuiError when it cannot be written."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)  # what was said is in it
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            file.write(json.dumps(recorded(request, trace, seen), ensure_ascii=False) + "\n")
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.", fix="Name another file."
        ) from error


def recorded(request: CaptureRequest, trace: CaptureTrace, seen: Recorder) -> dict[str, Any]:
    """A run as a recording, in the shape of a recorded scenario of the plugin, so that it is replayed like one."""
    context = {
        "agentId": request.agent,
        "sessionKey": request.session or f"agent:{request.agent}:conversation",
    }
    steps: list[dict[str, Any]] = [
        {"do": "agent_end", "ctx": context, "messages": [_timed(message) for message in request.messages]}
    ]
    if trace.settings.get("sessionEnd"):
        steps.append({"do": "session_end", "ctx": context, "event": {"reason": "new"}})
    config = dict(request.config)
    replies: dict[str, list[Any]] = {}
    for call in trace.calls:
        said = {"error": call.error} if call.reply is None else call.reply.text or call.reply.reasoning
        replies.setdefault(call.purpose, []).append(masked(said))
    if resolved := capture_recipe(request.recipe).recorded:
        config |= {name: trace.settings[name] for name in resolved}
        config.pop("sessionEnd", None)
    key = json.dumps([trace.now_ms, steps], sort_keys=True, default=str)
    return {
        "schema": SCHEMA,
        "id": f"capture-{blake2b(key.encode('utf-8', 'surrogatepass'), digest_size=5).hexdigest()}",
        "recipe": request.recipe,
        "now": trace.now_ms,
        "agent": request.agent,
        "scope": request.scope,
        "session": request.session,
        "config": config,
        "rows_before": [_stored(row) for row in seen.rows.values()],
        "embeddings": {masked(text): _numbers(vector) for text, vector in seen.vectors.items()},
        "replies": replies,
        "steps": masked(steps),
        "calls": [
            {
                "purpose": call.purpose,
                "parts": masked(call.parts),
                "reply": None if call.reply is None else masked(call.reply.text or call.reply.reasoning),
                "error": call.error,
            }
            for call in trace.calls
        ],
        "kept": [candidate.abstract for candidate in trace.candidates if candidate.writes],
    }


def read_recordings(path: Path) -> tuple[Recording, ...]:
    """The recordings in a file. Raises MemtuiError for what is none."""
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise MemtuiError(
            f"{path} holds no recordings.", fix="Make one with: memtui capture --record."
        ) from error
    if not all(isinstance(line, Mapping) and line.get("schema") == SCHEMA and is_own(line) for line in lines):
        raise MemtuiError(
            f"{path} holds no recordings of ours.", fix="Make one with: memtui capture --record."
        )
    return tuple(_recording(line) for line in lines)


def _timed(message: Message) -> dict[str, Any]:
    timed = {} if message.at_ms is None else {"at_ms": message.at_ms}
    return {**message.as_json(), **timed}


def _stored(row: StoredRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in ("id", "text", "category", "scope", "importance")}
    more = {"timestamp": row.timestamp, "metadata": row.metadata}
    return {**masked({**values, **more}), "vector": _numbers(row.vector)}


def _numbers(vector: Any) -> list[float] | None:
    """A vector in JSON: eight digits are what a float32 has."""
    return None if vector is None else [round(float(each), 8) for each in vector]


def _recording(value: Mapping[str, Any]) -> Recording:
    calls = calls_of(value)
    request = CaptureRequest(
        messages_of(value), value["recipe"], value["config"], value["agent"], value["scope"], value["session"]
    )
    return Recording(request, calls, value["now"], tuple(value["kept"]))


_FIELDS: Mapping[str, type] = {
    "recipe": str, "config": Mapping, "agent": str, "scope": str, "session": str, "steps": list, "calls": list,
    "kept": list,
}  # fmt: skip


def is_own(value: Mapping[str, Any]) -> bool:
    """Whether a line is a recording that memtui made: it has every field of one."""
    if not all(isinstance(value.get(name), kind) for name, kind in _FIELDS.items()):
        return False
    messages = [
        message
        for step in value["steps"]
        if isinstance(step, Mapping)
        for message in step.get("messages", ())
    ]
    calls = value["calls"]
    return all(
        isinstance(message, Mapping) and {"role", "content"} <= set(message) for message in messages
    ) and all(isinstance(call, Mapping) and {"purpose", "parts", "reply"} <= set(call) for call in calls)


def messages_of(value: Mapping[str, Any]) -> list[Message]:
    """The conversation of a recording that was made here."""
    told: Sequence[Mapping[str, Any]] = next(
        (step["messages"] for step in value["steps"] if step.get("messages")), []
    )
    return [Message(each["role"], each["content"], each.get("id"), each.get("at_ms")) for each in told]


def calls_of(value: Mapping[str, Any]) -> tuple[ModelCall, ...]:
    """The questions of a recording that was made here, with what the model answered."""
    return tuple(
        ModelCall(
            call["purpose"],
            call["parts"],
            None if call["reply"] is None else ModelReply(call["reply"]),
            call.get("error") or "",
        )
        for call in value["calls"]
    )


@dataclass(frozen=True, slots=True)
class RecordedWhatIf:
    """A run under other settings beside the one that was recorded."""

    settings: Mapping[str, Any]
    trace: CaptureTrace
    rows_before: int
    rows: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    unknown: int
    """Questions that nobody has asked a model yet: what they would bring is not known."""


def replay(
    recording: Recording, settings: Mapping[str, Any], fresh: Callable[[], CaptureContext]
) -> RecordedWhatIf:
    """Run a recording under other settings; the model's answers are taken from it, none is asked for."""
    answers = Again(recording.calls)
    context = fresh()
    request = replace(recording.request, config={**recording.request.config, **settings})
    trace = capture(request, replace(context, chat=answers if recording.calls else None))
    kept = [candidate.abstract for candidate in trace.candidates if candidate.writes]
    before = {key_of(each) for each in recording.kept}
    after = {key_of(each) for each in kept}
    return RecordedWhatIf(
        settings,
        trace,
        len(recording.kept),
        len(kept),
        tuple(each for each in kept if key_of(each) not in before),
        tuple(each for each in recording.kept if key_of(each) not in after),
        answers.missing,
    )
