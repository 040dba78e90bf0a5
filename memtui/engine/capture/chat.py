"""What a capture recipe asks a chat model, and the answers: live, recorded, or played back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Purpose = Literal["extract", "rejudge", "utility", "utility_batch", "dedup", "merge", "reflect", "upgrade"]


class NoReplyError(Exception):
    """A call that brought no reply: the text says why, without any key. A recipe goes on without the answer."""

    def __init__(self, message: str, ms: float = 0.0, attempts: int = 1) -> None:
        super().__init__(message)
        self.ms = ms
        self.attempts = attempts


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model said. `text` is its content; `reasoning` what it put into the reasoning field instead."""

    text: str
    reasoning: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    ms: float = 0.0
    cost: float | None = None
    """In the currency of the configured prices; 0 on this machine, None where no price is known."""


class Chat(Protocol):
    """One chat model behind a purpose and the variable parts of a prompt.

    The parts are data by name, never instructions; the implementation writes the prompt. `model` overrides the
    configured one.
    """

    def __call__(self, purpose: Purpose, parts: Mapping[str, Any], *, model: str | None = None) -> ModelReply:
        """The reply. Raises NoReplyError when there is none."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One question to the model as the trace keeps it; `reply` is None where the call failed, `error` says why."""

    purpose: Purpose
    parts: Mapping[str, Any]
    reply: ModelReply | None
    error: str = ""
    model: str | None = None
    failed_ms: float = 0.0
    """How long an answer was waited for that did not come."""
    attempts: int = 1
    """How often it was asked."""

    def as_json(self) -> dict[str, Any]:
        """The call in the command-line contract: purpose, tokens, milliseconds, cost."""
        reply = self.reply
        tokens = None
        if reply is not None and (reply.tokens_in is not None or reply.tokens_out is not None):
            tokens = (reply.tokens_in or 0) + (reply.tokens_out or 0)
        return {
            "purpose": self.purpose,
            "tokens": tokens,
            "ms": round(reply.ms if reply is not None else self.failed_ms, 3),
            "cost": None if reply is None else reply.cost,
            **({"error": self.error, "attempts": self.attempts} if self.error else {}),
        }


@dataclass(slots=True)
class RecordingChat:
    """Asks another chat and keeps every question with its answer, in order: the replies of a recording."""

    chat: Chat
    calls: list[ModelCall] = field(default_factory=list)

    def __call__(self, purpose: Purpose, parts: Mapping[str, Any], *, model: str | None = None) -> ModelReply:
        """The other chat's reply, kept."""
        try:
            reply = self.chat(purpose, parts, model=model)
        except NoReplyError as error:
            self.calls.append(ModelCall(purpose, parts, None, str(error), model, error.ms, error.attempts))
            raise
        self.calls.append(ModelCall(purpose, parts, reply, "", model))
        return reply


@dataclass(slots=True)
class StoppedModel:
    """A model that was stopped while it answered: the memories that it had named whole are its answer to the question
    that they are of, and there is no other."""

    memories: Sequence[Mapping[str, Any]]
    dump: Callable[[Any], str]
    """Writes an object as JSON text."""

    def __call__(self, purpose: Purpose, parts: Mapping[str, Any], *, model: str | None = None) -> ModelReply:
        """What was said of these parts. Raises NoReplyError for any other question."""
        asked = {message["number"] for message in parts["messages"]} if purpose == "extract" else set()
        said = [memory for memory in self.memories if asked.intersection(_numbers(memory))]
        if not said:
            raise NoReplyError("the model was stopped before it got this far")
        return ModelReply(self.dump({"memories": said}))


def _numbers(memory: Mapping[str, Any]) -> list[int]:
    told = memory.get("from")
    return [item for item in told if isinstance(item, int)] if isinstance(told, list) else []


@dataclass(slots=True)
class Replies:
    """Plays recorded replies back: of each purpose the next one, in order; a missing one is a failed call.

    A recorded reply is an object (sent as JSON text), a text (sent as it is), {"reasoning": text}, or
    {"error": text}.
    """

    recorded: Mapping[str, Sequence[Any]]
    dump: Callable[[Any], str]
    """Writes an object as JSON text."""
    played: dict[str, int] = field(default_factory=dict)

    def __call__(self, purpose: Purpose, parts: Mapping[str, Any], *, model: str | None = None) -> ModelReply:
        """The next recorded reply of this purpose. Raises NoReplyError where none is left or an error was recorded."""
        index = self.played.get(purpose, 0)
        self.played[purpose] = index + 1
        listed = self.recorded.get(purpose, ())
        if index >= len(listed):
            raise NoReplyError("no reply was recorded")
        reply = listed[index]
        if isinstance(reply, str):
            return ModelReply(reply)
        if isinstance(reply, Mapping) and set(reply) == {"error"}:
            raise NoReplyError(str(reply["error"]))
        if isinstance(reply, Mapping) and set(reply) == {"reasoning"}:
            return ModelReply("", str(reply["reasoning"]))
        return ModelReply(self.dump(reply))

    @property
    def unused(self) -> dict[str, int]:
        """Recorded replies that were not asked for, counted by purpose; purposes without any are left out."""
        left = {name: len(listed) - self.played.get(name, 0) for name, listed in self.recorded.items()}
        return {name: count for name, count in left.items() if count > 0}
