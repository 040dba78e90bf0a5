"""What must not leave a transcript: keys, passwords, home folders, e-mail addresses; and the trail of an error."""

from __future__ import annotations

import json
import re
from typing import Any

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import trim, utf16_slice

MASK = "[REDACTED]"

SIGNATURE_LENGTH = 240

SHOWN_TEXT = 300

_REST = r"[^\s\"',;)}\]]+"

_BEARER = pattern(r"Bearer\s+[A-Za-z0-9\-._~+/]+=*", re.NOFLAG)

_SECRETS = tuple(
    pattern(text, flags)
    for text, flags in (
        (r"\bsk-[A-Za-z0-9]{20,}\b", re.NOFLAG),
        (r"\bsk-(?:proj|ant)-[A-Za-z0-9\-_]{20,}\b", re.NOFLAG),
        (r"\bgh[pous]_[A-Za-z0-9]{36,}\b", re.NOFLAG),
        (r"\bgithub_pat_[A-Za-z0-9_]{22,}\b", re.NOFLAG),
        (r"\bxox[baprs]-[A-Za-z0-9-]{10,}\b", re.NOFLAG),
        (r"\bAIza[0-9A-Za-z_-]{20,}\b", re.NOFLAG),
        (r"\bAKIA[0-9A-Z]{16}\b", re.NOFLAG),
        (r"\bnpm_[A-Za-z0-9]{36,}\b", re.NOFLAG),
        (
            r"\b(?:token|api[_-]?key|secret|password)\s*[:=]\s*[\"']?[^\s\"',;)}\]]{6,}[\"']?\b",
            re.IGNORECASE,
        ),
        (
            r"-----BEGIN\s+(?:RSA\s+|EC\s+|DSA\s+|OPENSSH\s+)?PRIVATE\s+KEY-----[\s\S]*?"
            r"-----END\s+(?:RSA\s+|EC\s+|DSA\s+|OPENSSH\s+)?PRIVATE\s+KEY-----",
            re.NOFLAG,
        ),
        (r"(?<=://)[^@\s]+:[^@\s]+(?=@)", re.NOFLAG),
        (rf"/home/{_REST}", re.NOFLAG),
        (rf"/Users/{_REST}", re.NOFLAG),
        (rf"[A-Z]:\\{_REST}", re.NOFLAG),
        (r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}", re.NOFLAG),
    )
)

_SIGNAL = pattern(
    r"\[error\]|error:|exception:|fatal:|traceback|syntaxerror|typeerror|referenceerror|npm err!|command not found"
    r"|no such file|permission denied|non-zero|exit code|\"status\"\s*:\s*\"(?:error|failed)\"|\biserror\b"
    r"|(?:错误|异常|报错|失败)\s*[：:]"
)

_TAG = re.compile(r"</?[a-zA-Z][^>]*>")

_SPACE = pattern(r"\s+")


def redact_secrets(text: str) -> str:
    """The text with keys, passwords, home folders and e-mail addresses masked."""
    out = _BEARER.sub(f"Bearer {MASK}", text)
    for rule in _SECRETS:
        out = rule.sub(MASK, out)
    return out


def is_error_signal(text: str) -> bool:
    """Whether the output of a tool speaks of an error."""
    return _SIGNAL.search(text) is not None


def error_signature(text: str) -> str:
    """The error without what differs from run to run: paths, hexadecimal numbers, numbers, case and spacing."""
    out = redact_secrets(text).lower()
    out = re.sub(r"[a-z]:\\[^ \n\r\t]+", "<path>", out)
    out = re.sub(r"/[^ \n\r\t]+", "<path>", out)
    out = pattern(r"\b0x[0-9a-f]+\b").sub("<hex>", out)
    out = pattern(r"\b\d+\b").sub("<n>", out)
    return utf16_slice(trim(_SPACE.sub(" ", out)), SIGNATURE_LENGTH)


def sanitize_for_context(text: str) -> str:
    """A memory as it may stand in a prompt: one line, no tags, no angle brackets, at most 300 UTF-16 units."""
    out = re.sub(r"[\r\n]+", r"\\n", text)
    out = _TAG.sub("", out).replace("<", "＜").replace(">", "＞")
    return utf16_slice(trim(_SPACE.sub(" ", out)), SHOWN_TEXT)


def tool_result_text(result: Any) -> str:
    """What a tool answered, as one text."""
    if result is None:
        return ""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        content = result.get("content")
        if isinstance(content, list):
            parts = [b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str)]
            if parts:
                return "\n".join(parts)
        for key in ("text", "error", "details"):
            if isinstance(result.get(key), str):
                return str(result[key])
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
