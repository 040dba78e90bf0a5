"""A recording: a conversation, what a model answered, and what came of it; replayed without asking again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memtui.engine.capture.chat import Call, ChatReply
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.memtui.likeness import key_of
from memtui.engine.capture.recipes.memtui.texts import without_secrets
from memtui.engine.capture.run_document import Again
from memtui.engine.capture.trace import CaptureTrace, Message
from memtui.engine.core.errors import MemtuiError

SCHEMA = "memtui.capture.recording.v1"


@dataclass(frozen=True, slots=True)
class Recording:
    """What a run was given and what a model said; secrets are masked in it."""

    request: CaptureRequest
    calls: tuple[Call, ...]
    now_ms: int
    kept: tuple[str, ...]
    """The statements that were stored."""


def record(path: Path, request: CaptureRequest, trace: CaptureTrace) -> None:
    """Add a recording to a file, one JSON line each. Raises MemtuiError when it cannot be written."""
    value = {
        "schema": SCHEMA,
        "recipe": request.recipe,
        "now": trace.now_ms,
        "agent": request.agent,
        "scope": request.scope,
        "session": request.session,
        "config": dict(request.config),
        "messages": [_masked(each.as_json()) for each in request.messages],
        "calls": [
            {
                "purpose": call.purpose,
                "parts": _masked(call.parts),
                "reply": None if call.reply is None else _masked(call.reply.text or call.reply.reasoning),
                "error": call.error,
            }
            for call in trace.calls
        ],
        "kept": [each.abstract for each in trace.candidates if each.writes],
    }
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.", fix="Name another file."
        ) from error


def read_recordings(path: Path) -> tuple[Recording, ...]:
    """The recordings in a file. Raises MemtuiError for what is none."""
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise MemtuiError(
            f"{path} holds no recordings.", fix="Make one with: memtui capture --record."
        ) from error
    if any(not isinstance(each, Mapping) or each.get("schema") != SCHEMA for each in lines):
        raise MemtuiError(
            f"{path} holds no recordings of ours.", fix="Make one with: memtui capture --record."
        )
    return tuple(_recording(each) for each in lines)


def _recording(value: Mapping[str, Any]) -> Recording:
    messages = [Message(each["role"], each["content"], each.get("id")) for each in value["messages"]]
    calls = tuple(
        Call(
            each["purpose"],
            each["parts"],
            None if each["reply"] is None else ChatReply(each["reply"]),
            each.get("error") or "",
        )
        for each in value["calls"]
    )
    request = CaptureRequest(
        messages, value["recipe"], value["config"], value["agent"], value["scope"], value["session"]
    )
    return Recording(request, calls, value["now"], tuple(value["kept"]))


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A run under other settings beside the one that was recorded."""

    settings: Mapping[str, Any]
    trace: CaptureTrace
    rows_before: int
    rows: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    unknown: int
    """Questions that nobody has asked a model yet: what they would bring is not known."""


def replay(recording: Recording, settings: Mapping[str, Any], fresh: Callable[[], CaptureContext]) -> WhatIf:
    """Run a recording under other settings; the model's answers are taken from it, none is asked for."""
    answers = Again(recording.calls)
    context = fresh()
    request = replace(recording.request, config={**recording.request.config, **settings})
    trace = capture(request, replace(context, chat=answers if recording.calls else None))
    kept = [each.abstract for each in trace.candidates if each.writes]
    before = {key_of(each) for each in recording.kept}
    after = {key_of(each) for each in kept}
    return WhatIf(
        settings,
        trace,
        len(recording.kept),
        len(kept),
        tuple(each for each in kept if key_of(each) not in before),
        tuple(each for each in recording.kept if key_of(each) not in after),
        answers.missing,
    )


@dataclass(frozen=True, slots=True)
class CaptureCase:
    """A conversation that should leave these memories and no others in an empty scope."""

    name: str
    recording: Recording
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a capture case came out."""

    name: str
    passed: bool
    missing: tuple[str, ...]
    surplus: tuple[str, ...]


def run_case(case: CaptureCase, fresh: Callable[[], CaptureContext]) -> CaseResult:
    """Replay a case and compare what it leaves with what it should leave."""
    done = replay(case.recording, {}, fresh)
    kept = [each.abstract for each in done.trace.candidates if each.writes]
    keys, wanted = {key_of(each) for each in kept}, {key_of(each) for each in case.expected}
    missing = tuple(each for each in case.expected if key_of(each) not in keys)
    surplus = tuple(each for each in kept if key_of(each) not in wanted)
    return CaseResult(case.name, not missing and not surplus, missing, surplus)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return without_secrets(value)[0]
    if isinstance(value, Mapping):
        return {key: _masked(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_masked(each) for each in value]
    return value
