"""The adaptive gate: whether auto-recall looks anything up for a question at all (spec/retrieval 9.3)."""

from __future__ import annotations

import re

from memtui.engine.js import trim, utf16_len

_FLAGS = re.ASCII | re.IGNORECASE
_UNTRUSTED = re.compile(
    r"^(?:conversation info|sender) \(untrusted metadata\):.*?\n[^\S\n]*\n",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_CRON = re.compile(r"^\[cron:[^\]]+\]\s*", re.IGNORECASE)
_STAMP = re.compile(r"^\[[A-Za-z]{3}\s\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}[^\]]*\]\s*")
_FORCE = re.compile(
    r"\b(?:remember|recall|forgot|memory|memories)\b|\b(?:last time|before|previously|earlier|yesterday|ago)\b"
    r"|\b(?:my (?:name|email|phone|address|birthday|preference))\b|\bwhat did (?:i|we)\b|\bdid i (?:tell|say|mention)\b"
    r"|\berinnerst du dich\b|\bwei(?:ß|ss)t du noch\b|\bwas (?:war|ist) mein|\bletzte[sn]? mal\b|\bvorher\b|\bgestern\b"
    r"|\bneulich\b|\bmerke? dir\b|\bhabe ich dir gesagt\b|\bhabe ich erw(?:ä|a)hnt\b"
    r"|你记得|[你妳]記得|之前|上次|以前|还记得|還記得|提到[过過]|说过|說過",
    _FLAGS,
)
_SKIP = (
    (
        "greeting",
        re.compile(
            r"^(?:hi|hello|hey|good\s*(?:morning|afternoon|evening|night)|greetings|yo|sup|howdy|what'?s up)\b",
            _FLAGS,
        ),
    ),
    ("slash_command", re.compile(r"^/")),
    (
        "shell_command",
        re.compile(r"^(?:run|build|test|ls|cd|git|npm|pip|docker|curl|cat|grep|find|make|sudo)\b", _FLAGS),
    ),
    (
        "confirmation",
        re.compile(
            r"^(?:yes|no|yep|nope|ok|okay|sure|fine|thanks|thank you|thx|ty|got it|understood|cool|nice|great|good"
            r"|perfect|awesome|👍|👎|✅|❌)\s*[.!]?$",
            _FLAGS,
        ),
    ),
    (
        "go_ahead",
        re.compile(
            r"^(?:go ahead|continue|proceed|do it|start|begin|next"
            r"|实施|實施|开始|開始|继续|繼續|好的|可以|行)\s*[.!]?$",
            _FLAGS,
        ),
    ),
    ("heartbeat", re.compile(r"HEARTBEAT", _FLAGS)),
    ("system", re.compile(r"^\[System", _FLAGS)),
    ("ping", re.compile(r"^(?:ping|pong|test|debug)\s*[.!?]?$", _FLAGS)),
)
_CJK = re.compile(r"[\u4e00-\u9fff\u3040-\u309f\u30a0-\u30ff\uac00-\ud7af]")
_SHORTEST = 5
_LATIN_LENGTH, _CJK_LENGTH = 15, 6


def plain_question(query: str) -> str:
    """The question without the envelope that channels put around it."""
    text = _UNTRUSTED.sub("", trim(query))
    text = _CRON.sub("", trim(text))
    return trim(_STAMP.sub("", trim(text)))


def _only_emoji(text: str) -> bool:
    """Digits, # and * count as emoji to the plugin, so a number alone is skipped."""
    return all(char in "0123456789#*" or char.isspace() or _is_emoji(char) for char in text)


def _is_emoji(char: str) -> bool:
    code = ord(char)
    return (
        0x1F000 <= code <= 0x1FAFF
        or 0x2600 <= code <= 0x27BF
        or 0x2190 <= code <= 0x21FF
        or 0x2300 <= code <= 0x23FF
        or 0x2B00 <= code <= 0x2BFF
        or code
        in (
            0xA9,
            0xAE,
            0x203C,
            0x2049,
            0x2122,
            0x2139,
            0x24C2,
            0x25AA,
            0x25AB,
            0x25B6,
            0x25C0,
            0x3030,
            0x303D,
            0x3297,
            0x3299,
        )
        or 0x25FB <= code <= 0x25FE
        or 0x2934 <= code <= 0x2935
    )


def skip_rule(query: str, min_length: int | None = None) -> str | None:
    """The rule by which the gate skips `query`, None when it retrieves.

    `min_length` is the host's autoRecallMinLength; without it (or 0) the gate's own lengths count, 6 for CJK, else 15.
    """
    text = plain_question(query)
    if _FORCE.search(text):
        return None
    if utf16_len(text) < _SHORTEST:
        return "short"
    for name, pattern in _SKIP:
        if pattern.search(text):
            return name
    if _only_emoji(text):
        return "emoji"
    asks = "?" in text or "？" in text
    if min_length is not None and min_length > 0:
        return "too_short" if utf16_len(text) < min_length and not asks else None
    threshold = _CJK_LENGTH if _CJK.search(text) else _LATIN_LENGTH
    return "too_short" if utf16_len(text) < threshold and not asks else None
