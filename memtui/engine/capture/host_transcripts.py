"""The transcripts of Codex, Gemini CLI and Qwen Code as messages: what persons and the agent said.

What those hosts put into a conversation themselves (the environment, instructions, what a hook injected) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_OF_HOST = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|session_context|hook_context|turn_aborted|system-reminder"
    r"|permissions instructions)\b|# AGENTS\.md instructions)"
)
"""How a message of a person begins that the host has written."""

_HOOKED = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)
"""What a hook injected, as Gemini CLI and Qwen Code put it behind a prompt."""

_ROLES = {"user": "user", "gemini": "assistant", "assistant": "assistant", "model": "assistant"}


def read_transcript(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The messages in the lines of a transcript, each with its time and id; None for another kind of file."""
    if any(isinstance(entry.get("payload"), Mapping) for entry in entries):
        return list(_of_codex(entries))
    if any(isinstance(entry.get("message"), Mapping) and "parts" in entry["message"] for entry in entries):
        return list(_of_qwen(entries))
    if any(
        "content" in entry and entry.get("type") in ("user", "gemini") and "id" in entry for entry in entries
    ):
        return list(_of_gemini(entries))
    if any("projectHash" in entry or "$set" in entry for entry in entries):
        return []
    return None


def _of_codex(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A rollout: events say what a person wrote and what was answered; older files have the model's messages alone."""
    payloads = [(entry, entry["payload"]) for entry in entries if isinstance(entry.get("payload"), Mapping)]
    events = {"user_message": "user", "agent_message": "assistant"}
    told = [
        (each, one) for each, one in payloads if each.get("type") == "event_msg" and one.get("type") in events
    ]
    typed = any(one["type"] == "user_message" for _, one in told)
    for entry, payload in told if typed else payloads:
        if typed:
            role, text = events[payload["type"]], payload.get("message")
        elif payload.get("type") == "message" and payload.get("role") in ("user", "assistant"):
            role, text = payload["role"], _joined(payload.get("content"))
        else:
            continue
        yield from _said(role, text, entry, payload.get("id"))


def _of_qwen(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Lines in a chain of `parentUuid`; a conversation that was taken back is a branch that nothing follows."""
    by_id = {entry["uuid"]: entry for entry in entries if isinstance(entry.get("uuid"), str)}
    chain: dict[str, Mapping[str, Any]] = {}
    at = next((entry["uuid"] for entry in reversed(entries) if isinstance(entry.get("uuid"), str)), None)
    while isinstance(at, str) and at in by_id and at not in chain:
        chain[at] = by_id[at]
        at = by_id[at].get("parentUuid")
    for entry in reversed(chain.values()):
        message = entry.get("message")
        if entry.get("type") in ("user", "assistant") and isinstance(message, Mapping):
            yield from _said(_ROLES[entry["type"]], _joined(message.get("parts")), entry, entry.get("uuid"))


def _of_gemini(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One record a message, the last of an id counts; `$rewindTo` takes back a message and all behind it."""
    kept: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        back, patch = entry.get("$rewindTo"), entry.get("$set")
        if isinstance(back, str):
            names = list(kept)
            for name in names[names.index(back) if back in kept else 0 :]:
                del kept[name]
        elif isinstance(patch, Mapping) and isinstance(patch.get("messages"), list):
            kept = {
                str(message.get("id")): message
                for message in patch["messages"]
                if isinstance(message, Mapping)
            }
        elif isinstance(entry.get("id"), str) and "content" in entry:
            kept[entry["id"]] = entry
    for entry in kept.values():
        if entry.get("type") in _ROLES:
            yield from _said(_ROLES[entry["type"]], _joined(entry.get("content")), entry, entry.get("id"))


def _joined(content: Any) -> str:
    """The texts of a content: itself, or its parts that hold text and are no thoughts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [
        part if isinstance(part, str) else part.get("text")
        for part in parts
        if isinstance(part, str) or (isinstance(part, Mapping) and not part.get("thought"))
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _said(role: str, text: Any, entry: Mapping[str, Any], named: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(text, str) or (role == "user" and _OF_HOST.match(text)):
        return
    if bare := _HOOKED.sub("", text).strip():
        yield {"role": role, "content": bare, "id": named, "timestamp": entry.get("timestamp")}
