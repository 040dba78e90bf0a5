"""Keys and passwords in a text: where they are, what kind they are, and the text without them."""

from __future__ import annotations

import re
from dataclasses import dataclass

MARK = "[REDACTED]"
MASKED = re.compile(r"\[(?:[A-Z]+_)*REDACTED\]")
"""What a program that masked a text left in it; ours and openclaw-mem-engine's markers."""


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret: its kind and the characters it takes."""

    kind: str
    start: int
    end: int


_HINTS = (
    "sk-", "_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "xapp-", "akia", "asia", "aiza", "gsk_", "npm_",
    "glpat-", "hf_", "pplx-", "eyj", "-----begin", "bearer", "authoriz", "passw", "passphrase", "pwd", "secret",
    "token", "api key", "api_key", "api-key", "apikey", "kennwort", "密码", "密碼", "パスワード", "://",
)  # fmt: skip
"""Every text that a rule matches has one of these in lower case, or looks like the next one; looking for them
first is many times as fast."""
_NUMBERED = re.compile(r"[0-9]{8}:[A-Za-z0-9_-]{20}")
HINT = f"(?i)(?:{'|'.join(map(re.escape, _HINTS))})|{_NUMBERED.pattern}"
"""The same as one pattern, for engines that look at a whole column at once."""

_ASSIGNED = (
    r"(?i:api[ _-]?key|(?:access|refresh|auth|bot|client)[ _-]?token|token|client[ _-]?secret|secret"
    r"|password|passwd|passphrase|passwort|kennwort|pwd|密码|密碼|パスワード)"
    r"[\"'`]?(?:\s*[:=：＝]\s*|\s+(?i:is|ist)\s+)[\"'`]?"
)
# A value that a person would not write as a word: a digit or a sign in it, or a change of case inside.
_VALUE = r"(?=\S*(?:[0-9#$%^&*+~]|[a-z][A-Z]))(?P<value>[^\s\"'`,;<>()\[\]{}]{6,})"
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z ]+-----|.*)", re.DOTALL
        ),
    ),
    (
        "authorization header",
        re.compile(r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:bearer|basic)\s+\S{8,}"),
    ),
    ("bearer token", re.compile(r"\b[Bb]earer\s+[A-Za-z0-9._~+/=-]{16,}")),
    ("JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),
    ("API key", re.compile(r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}")),
    ("GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("AWS key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("Slack token", re.compile(r"\b(?:xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})")),
    (
        "API key",
        re.compile(r"\b(?:AIza[A-Za-z0-9_-]{30,}|(?:gsk|npm|hf)_[A-Za-z0-9]{20,}|(?:glpat|pplx)-\S{16,})"),
    ),
    ("bot token", re.compile(r"\b[0-9]{8,12}:[A-Za-z0-9_-]{20,}")),
    ("password in an address", re.compile(r"://[^/\s:@]*:(?P<value>[^/\s@]+)@")),
    ("password", re.compile(_ASSIGNED + _VALUE)),
)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in `text`, in order, none inside another; already masked ones are none."""
    if not may_hold_secrets(text):
        return ()
    found: list[Secret] = []
    for kind, pattern in _RULES:
        for match in pattern.finditer(text):
            part = "value" if "value" in pattern.groupindex else 0
            start, end = match.span(part)
            if MASKED.search(text, start, end) or any(s.start < end and start < s.end for s in found):
                continue
            found.append(Secret(kind, start, end))
    return tuple(sorted(found, key=lambda secret: secret.start))


def may_hold_secrets(text: str) -> bool:
    """Whether `text` is worth a look; False is certain."""
    lower = text.lower()
    return any(hint in lower for hint in _HINTS) or _NUMBERED.search(text) is not None


def mask(text: str) -> tuple[str, int]:
    """`text` with each secret replaced by `MARK`, and how many there were."""
    secrets = find_secrets(text)
    for secret in reversed(secrets):
        text = text[: secret.start] + MARK + text[secret.end :]
    return text, len(secrets)


def is_masked(text: str) -> bool:
    """Whether some program has masked a secret in `text`: what stood there is lost."""
    return "REDACTED]" in text and MASKED.search(text) is not None
