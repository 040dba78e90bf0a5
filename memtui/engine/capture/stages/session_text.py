"""A conversation as plain lines: what a session summary and a reflection are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memtui.engine.capture.stages.redaction import redact_secrets
from memtui.engine.core.javascript import trim


def message_line(message: Any) -> str | None:
    """`role: text` of one message of a user or an assistant, secrets masked; None for what is left out."""
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        return None
    text = trim(first_text(message.get("content")) or "")
    if not text or text.startswith("/"):
        return None
    if message["role"] == "user" and ("<relevant-memories>" in text or "UNTRUSTED DATA" in text):
        return None
    return f"{message['role']}: {redact_secrets(text)}"


def first_text(content: Any) -> str | None:
    """The text of a message, or its first text block."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    return next(
        (
            block["text"]
            for block in content
            if isinstance(block, Mapping)
            and block.get("type") == "text"
            and isinstance(block.get("text"), str)
        ),
        None,
    )


def summarize_messages(messages: Sequence[Any], count: int) -> str | None:
    """The last `count` messages as lines; None when there is none."""
    lines = [line for message in messages if (line := message_line(message)) is not None]
    return "\n".join(lines[-count:]) or None


def messages_of(lines: Iterable[str]) -> list[Mapping[str, Any]]:
    """The messages in a session's JSONL; lines that are none are left out."""
    found: list[Mapping[str, Any]] = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, Mapping) and entry.get("type") == "message":
            message = entry.get("message")
            if isinstance(message, Mapping):
                found.append(message)
    return found


def source_line(when: str, source: str, said: str) -> str:
    """The text of a session summary."""
    return f"Session: {when}\nSource: {source}\n\nConversation Summary:\n{said}"
