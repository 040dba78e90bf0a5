"""Taking what a host or channel put around a message off again: two cleaners, a light one and a stronger one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import SPACE, trim

ROUNDS = 6

LABEL_WINDOW = 160

_LABELS = (
    "Conversation info (untrusted metadata):",
    "Sender (untrusted metadata):",
    "Thread starter (untrusted, for context):",
    "Replied message (untrusted, for context):",
    "Forwarded message context (untrusted metadata):",
    "Chat history since last reply (untrusted, for context):",
)

_RECALLED = pattern(r"<relevant-memories>[\s\S]*?</relevant-memories>\s*")

_UNTRUSTED = pattern(r"\[UNTRUSTED DATA[^\n]*?\][\s\S]*?\[END UNTRUSTED DATA\]\s*")

_STARTED = "A new session was started via /new or /reset. Execute your Session Startup sequence now"

_LINE = "(?:\\A|(?<=[\n\r\u2028\u2029]))"

_END = "(?=[\n\r\u2028\u2029]|\\Z)"

_EXEC = pattern(rf"{_LINE}System:\s*\[[^\n]*?\]\s*Exec\s+(?:completed|failed|started)\b.*{_END}")

_BLOCK = pattern(
    rf"(?:\A|\n)\s*(?:{'|'.join(map(re.escape, _LABELS))})\s*\n```json[\s\S]*?\n```\s*", re.NOFLAG
)

_ADDRESSED = pattern(r"\A(?:<@!?[0-9]+>|@[A-Za-z0-9_.-]+)\s*", re.NOFLAG)

_WRAPPER = pattern(r"\A\[(?:Subagent Context|Subagent Task)\]\s*")

_PHRASE = (
    r"(?:You are running as a subagent\b[^\n]*?(?:\.(?=\s|\Z)|\Z)|Results auto-announce to your requester\.?"
    r"|do not busy-poll for status\.?|Reply with a brief acknowledgment only\.?|Do not use any memory tools\.?)"
)

_PHRASES = pattern(rf"\A(?:{_PHRASE}\s*)+")

_BOILERPLATE = pattern(rf"\A(?:{_PHRASE}\s*)+\Z")

_SUBAGENT = pattern(r"\AYou are running as a subagent\b")

_SYSTEM = pattern(rf"{_LINE}System:\s*\[[0-9\-: +GMT]+\]\s+\S+\[[^\n]*?\].*{_END}", re.NOFLAG)

_LABEL_END = pattern(
    r"(?:Conversation info|Sender|Replied message)\s*\(untrusted[^)\n]*\)\s*:\s*\Z", re.NOFLAG
)

_FENCE = "```json"

_MARKED = re.compile("[<@\\[`\n\r\u2028\u2029]|system:|new session", re.IGNORECASE)
"""Whatever a host puts around a message has one of these: looked for first."""

_BLANKS = re.compile(r"\n{3,}")

_SPACES = f"[{SPACE}]"


def begins_with_slash(text: str) -> bool:
    """What the plugin takes for a command to the host."""
    return text.startswith("/")


def normalize_capture_text(
    role: str, text: str, is_command: Callable[[str], bool] = begins_with_slash
) -> str | None:
    """The text of a message without what the host put around it; None for what is never captured."""
    wrapped = role == "user" and _MARKED.search(text) is not None
    cleaned = _without_injected(text) if wrapped else trim(text)
    if not cleaned or is_command(cleaned):
        return None
    if role == "user" and ("<relevant-memories>" in cleaned or "UNTRUSTED DATA" in cleaned):
        return None
    return cleaned


def said_in(text: str) -> str:
    """What a person said in a message that begins with a block of recalled memories; a block alone stays."""
    return _RECALLED.sub("", text).strip() or text


def message_texts(message: Any, roles: tuple[str, ...]) -> list[tuple[str, str]]:
    """(role, raw text) of each text of a message in its host's shape; nothing for other roles."""
    if not isinstance(message, dict):
        return []
    role, content = message.get("role"), message.get("content")
    if role not in roles:
        return []
    if isinstance(content, str):
        return [(role, content)]
    if not isinstance(content, list):
        return []
    return [
        (role, block["text"])
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]


def strip_envelope(text: str) -> str:
    """The text without wrapper lines of sub-agents, system lines of channels and labelled metadata blocks."""
    if _MARKED.search(text) is None:
        return trim(text)
    lines = _without_wrappers(text.split("\n"))
    body = _SYSTEM.sub("", "\n".join(lines))
    return trim(_BLANKS.sub("\n\n", _without_blocks(body)))


def _without_injected(text: str) -> str:
    cleaned = _UNTRUSTED.sub("", _RECALLED.sub("", trim(text)))
    cleaned = _without_metadata(_after_session_start(cleaned))
    cleaned = trim(_ADDRESSED.sub("", cleaned, count=1))
    cleaned = _without_metadata(_without_lead_in(cleaned))
    return trim(_BLANKS.sub("\n\n", cleaned))


def _after_session_start(text: str) -> str:
    trimmed = trim(text)
    if not trimmed.startswith(_STARTED):
        return trimmed
    _, blank, rest = trimmed.partition("\n\n")
    return trim(rest) if blank else trim("\n".join(trimmed.split("\n")[2:]))


def _without_metadata(text: str) -> str:
    cleaned = trim(text)
    for _ in range(ROUNDS):
        before = cleaned
        cleaned = _BLOCK.sub("", _EXEC.sub("\n", cleaned))
        cleaned = trim(_BLANKS.sub("\n\n", cleaned))
        if cleaned == before:
            break
    return cleaned


def _without_lead_in(text: str) -> str:
    """The text without the wrapper lines that it begins with; what stands behind a wrapper stays."""
    kept: list[str] = []
    leading = True
    for line in trim(text).split("\n"):
        current = trim(line)
        if leading and (not current or (_WRAPPER.match(current) is None and _BOILERPLATE.match(current))):
            if current and not _wrapped(text):
                leading = False
                kept.append(line)
            continue
        if leading and _WRAPPER.match(current):
            rest = trim(_PHRASES.sub("", _WRAPPER.sub("", current)))
            if rest:
                kept.append(rest)
                leading = False
            continue
        leading = False
        kept.append(line)
    return trim("\n".join(kept))


def _wrapped(text: str) -> bool:
    return _WRAPPER.match(trim(text)) is not None


def _without_wrappers(lines: list[str]) -> list[str]:
    kept: list[str] = []
    leading, wrapped = True, False
    for line in lines:
        current = trim(line)
        if not leading or not current:
            kept.append(line)
        elif _WRAPPER.match(current):
            wrapped = True
            kept.append(trim(_PHRASES.sub("", _WRAPPER.sub("", current))))
        elif _BOILERPLATE.match(current) or _SUBAGENT.match(current):
            kept.append("" if wrapped else line)
        else:
            leading = False
            kept.append(line)
    return kept


def _without_blocks(text: str) -> str:
    at = 0
    while (start := text.find(_FENCE, at)) >= 0:
        end = _block_end(text, start + len(_FENCE))
        if end is None:
            at = start + len(_FENCE)
            continue
        body = text[start + len(_FENCE) : end - 3]
        window = text[max(0, start - LABEL_WINDOW) : start]
        label = _LABEL_END.search(window)
        if label:
            begin = start - (len(window) - label.start())
        elif '"message_id":' in body and '"sender_id":' in body:
            begin = start
        else:
            at = end
            continue
        text = text[:begin] + text[end:]
        at = begin
    return text


def _block_end(text: str, start: int) -> int | None:
    """Where a fence ends whose body is one balanced object; None for any other."""
    at = start
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    if at >= len(text) or text[at] != "{":
        return None
    depth, quoted, escaped = 0, False, False
    for place in range(at, len(text)):
        ch = text[place]
        if quoted:
            if escaped:
                escaped = False
            elif ch == "\\":
                escaped = True
            elif ch == '"':
                quoted = False
        elif ch == '"':
            quoted = True
        elif ch == "{":
            depth += 1
        elif ch == "}":
            depth -= 1
            if depth == 0:
                rest = place + 1
                while rest < len(text) and text[rest] in " \t\r\n":
                    rest += 1
                return rest + 3 if text.startswith("```", rest) else None
    return None
