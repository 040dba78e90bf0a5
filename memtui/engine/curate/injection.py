"""Memories that look like orders to a model: why, and whether the phrase is only quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memtui.engine.instructions import instruction_like

_SPACES = re.compile(r"\s+")
_FILTER: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ignores instructions", re.compile(r"ignore (?:all|any|previous|above|prior) instructions", re.I)),
    ("overrules its program", re.compile(r"do not follow (?:the )?(?:system|developer)", re.I)),
    ("speaks of the system prompt", re.compile(r"system prompt", re.I)),
    ("speaks of the developer message", re.compile(r"developer message", re.I)),
    (
        "opens a block of its own",
        re.compile(r"<\s*(?:system|assistant|developer|tool|function|relevant-memories)\b", re.I),
    ),
    ("calls a tool", re.compile(r"\b(?:run|execute|call|invoke)\b.{0,40}\b(?:tool|command)\b", re.I)),
)
"""What the built-in memory plugin refuses to capture; other plugins and its own store tool let it in."""
_QUOTES = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|'[^']*'|`[^`]*`")


@dataclass(frozen=True, slots=True)
class Injection:
    """Why a text looks like an order; `quoted` when it does so only inside quotation marks."""

    rule: str
    quoted: bool


def injection(text: str) -> Injection | None:
    """The first rule that `text` breaks, None for an ordinary memory.

    A phrase that stands in quotation marks only is spoken about, not spoken: a look will tell.
    """
    rule = _rule(text)
    if rule is None:
        return None
    outside = _rule(_QUOTES.sub('""', text))
    return Injection(outside or rule, quoted=outside is None)


def _rule(text: str) -> str | None:
    found = instruction_like(text)
    if found is not None:
        return found
    plain = _SPACES.sub(" ", text)
    return next((name for name, pattern in _FILTER if pattern.search(plain)), None)
