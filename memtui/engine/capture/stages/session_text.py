"""A conversation as plain lines: what a session summary and a reflection are made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memtui.engine.capture.stages.redaction import redact_secrets
from memtui.engine.core.javascript import trim
from memtui.engine.discovery.agents import agent_entries


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
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, Mapping) and entry.get("type") == "message":
            message = entry.get("message")
            if isinstance(message, Mapping):
                found.append(message)
    return found


def recovered(listed: Sequence[tuple[str, float]], given: str, session: str) -> str | None:
    """The file of a session among (name, time of change): the one without a reset's mark, the one of its id, the
    newest of its topics; where a file was given, else the newest of any session."""
    names = [name for name, _ in listed]
    base = given.partition(".reset.")[0]
    for name in (base, f"{session}.jsonl"):
        if name and name in names:
            return name
    newest = [name for name, _ in sorted(listed, key=lambda each: (each[1], each[0]), reverse=True)]
    plain = [name for name in newest if name.endswith(".jsonl") and ".reset." not in name]
    topics = [name for name in plain if name.startswith(f"{session}-topic-")]
    return next(iter(topics or (plain if given else [])), None)


def session_folders(file: str, agent: str, workspace: str, context: Mapping[str, Any]) -> list[str]:
    """The folders where the plugin looks for a session's file, in its order."""
    entries = [
        each if isinstance(each := context.get(name), Mapping) else {}
        for name in ("previousSessionEntry", "sessionEntry")
    ]
    given = [_text(entry.get("sessionFile")) for entry in entries]
    folders = [name.rpartition("/")[0] for name in (file, *given)]
    folders += [_text(entry.get(name)) for entry in entries for name in ("sessionsDir", "sessionDir")]
    folders.append(f"{workspace.rstrip('/')}/sessions")
    cfg = context.get("cfg")
    agents = cfg.get("agents") if isinstance(cfg, Mapping) else None
    agents = agents if isinstance(agents, Mapping) else {}
    listed = agent_entries(cfg)
    defaults = agents.get("defaults")
    spaces = [workspace, _text(defaults.get("workspace")) if isinstance(defaults, Mapping) else ""]
    spaces += [_text(entry.values.get("workspace")) for entry in listed]
    homes = [match[1] for space in spaces if (match := _IN_WORKSPACE.match(space))]
    homes += [match[1] for each in (file, *given) if (match := _IN_SESSIONS.match(each))]
    ids = [agent, _text(context.get("agentId")), *(_text(entry.get("agentId")) for entry in entries)]
    ids += [*(entry.id for entry in listed), "main"]
    folders += [
        f"{home}/agents/{memory_id}/sessions"
        for home in dict.fromkeys(homes)
        for memory_id in ids
        if memory_id
    ]
    return [folder for folder in dict.fromkeys(folders) if folder]


_IN_WORKSPACE = re.compile(r"(.+?)/workspace(?:/.*)?\Z", re.DOTALL)

_IN_SESSIONS = re.compile(r"(.+?)/agents/[^/]+/sessions(?:/[^/]+)?\Z", re.DOTALL)


def _text(value: Any) -> str:
    return trim(value) if isinstance(value, str) else ""


def source_line(when: str, source: str, said: str) -> str:
    """The text of a session summary."""
    return f"Session: {when}\nSource: {source}\n\nConversation Summary:\n{said}"
