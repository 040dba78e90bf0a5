"""Sessions as memory-core indexes them, and the file that its hook leaves of one. Source: spec B9, B10."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

KEPT_MESSAGES = 15
"""Messages of a session that its file holds."""

LONGEST_SLUG = 30

SHORT_SECRET = 18
"""Characters from which a secret keeps its first six and last four."""

_KEY_NAME = r"[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)"

_SECRETS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:\b{_KEY_NAME})\b\s*[=:]\s*[\"']?([^\s\"'\\]+)",
        r"(?i:\"(?:api_?key|token|secret|password|passwd|access_?token|refresh_?token)\")\s*:\s*\"([^\"]+)\"",
        r"(?i:--(?:api-?key|token|secret|password|passwd))\s+[\"']?([^\s\"']+)",
        r"(?i:\bBearer)\s+([A-Za-z0-9._\-+=/]{18,})",
        r"\b(sk-[A-Za-z0-9_-]{8,})\b",
        r"\b(ghp_[A-Za-z0-9]{20,})\b",
        r"\b(github_pat_[A-Za-z0-9_]{20,})\b",
        r"\b(xox[baprs]-[A-Za-z0-9-]{10,})\b",
        r"\b(xapp-[A-Za-z0-9-]{10,})\b",
        r"\b(gsk_[A-Za-z0-9_-]{10,})\b",
        r"\b(AIza[0-9A-Za-z\-_]{20,})\b",
        r"\b(pplx-[A-Za-z0-9_-]{10,})\b",
        r"\b(npm_[A-Za-z0-9]{10,})\b",
        r"\b(\d{6,}:[A-Za-z0-9_-]{20,})\b",
    )
)

_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)


def masked_session(text: str) -> str:
    """A text with its secrets cut as memory-core cuts them for its index: the first six and last four, or `***`."""
    text = _PEM.sub("-----BEGIN PRIVATE KEY-----\n…redacted…\n-----END PRIVATE KEY-----", text)
    for pattern in _SECRETS:
        text = pattern.sub(_cut, text)
    return text


def _cut(found: re.Match[str]) -> str:
    token = found[1]
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    shown = "***" if len(token) < SHORT_SECRET else f"{token[:6]}…{token[-4:]}"
    return found[0][:start] + shown + found[0][end:]


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session as text: a line a message. `lines` tells for each the line of the file, from 1."""

    path: str
    content: str
    lines: tuple[int, ...]

    @property
    def hash(self) -> str:
        """SHA-256 of the text and its lines."""
        told = f"{self.content}\n{','.join(map(str, self.lines))}"
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def session_entry(name: str, jsonl: str) -> SessionEntry:
    """What users and assistants said in a session's file, secrets masked; lines that are none are left out."""
    said, lines = [], []
    for number, message in _messages(jsonl):
        text = " ".join(_texts(message.get("content")))
        text = " ".join(text.split())
        if text:
            said.append(f"{str(message['role']).title()}: {masked_session(text)}")
            lines.append(number)
    return SessionEntry(f"sessions/{name}", "\n".join(said), tuple(lines))


def recent_messages(jsonl: str, most: int = KEPT_MESSAGES) -> str | None:
    """The last messages as `role: text`, without commands; None where there is none."""
    said = []
    for _, message in _messages(jsonl):
        text = next(iter(_texts(message.get("content"))), "").strip()
        if text and not text.startswith("/"):
            said.append(f"{message['role']}: {text}")
    return "\n".join(said[-most:]) or None


def recent_of_files(files: Mapping[str, str], name: str, most: int = KEPT_MESSAGES) -> str | None:
    """The last messages of a session's file; where it is empty, of the newest one that was reset."""
    if found := recent_messages(files.get(name, ""), most):
        return found
    reset = sorted(path for path in files if path.startswith(f"{name}.reset."))
    return recent_messages(files[reset[-1]], most) if reset else None


def _messages(jsonl: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(jsonl.split("\n"), 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        message = entry.get("message") if isinstance(entry, dict) and entry.get("type") == "message" else None
        if isinstance(message, dict) and message.get("role") in ("user", "assistant"):
            yield number, message


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return [each for each in found if isinstance(each, str)]


@dataclass(frozen=True, slots=True)
class LeftSessionFile:
    """The file that is left of a session, below the agent's workspace."""

    path: str
    body: str


def clean_slug(reply: str) -> str | None:
    """A model's word for a session as it stands in a file's name; None where nothing of it can."""
    slug = re.sub(r"[^a-z0-9-]+", "-", reply.strip().lower())
    slug = re.sub(r"-+", "-", slug).strip("-")
    return slug[:LONGEST_SLUG] or None


def session_file(
    at_ms: int,
    *,
    session_key: str,
    session_id: str | None,
    source: str | None,
    slug: str | None,
    said: str | None,
) -> LeftSessionFile:
    """Return name and text of a session's file. Without a slug the name ends in the hour and minute of UTC."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    name = f"memory/{at:%Y-%m-%d}-{slug or at.strftime('%H%M')}.md"
    lines = [
        f"# Session: {at:%Y-%m-%d} {at:%H:%M:%S} UTC",
        "",
        f"- **Session Key**: {session_key}",
        f"- **Session ID**: {session_id or 'unknown'}",
        f"- **Source**: {source or 'unknown'}",
        "",
    ]
    if said:
        lines += ["## Conversation Summary", "", said, ""]
    return LeftSessionFile(name, "\n".join(lines))
