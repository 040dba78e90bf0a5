"""The adaptive gate: whether auto-recall looks anything up for a question at all."""

from __future__ import annotations

import re

from memtui.engine.js import LINE_START, SPACE, trim, utf16_len
from memtui.engine.recall.emoji import EMOJI

SHORTEST = 5
LATIN_LENGTH = 15
CJK_LENGTH = 6
"""Questions in Chinese, Japanese or Korean say more in fewer characters."""

_FLAGS = re.ASCII | re.IGNORECASE
_S = f"[{SPACE}]"
_UNTRUSTED = re.compile(
    rf"{LINE_START}(?:Conversation info|Sender) \(untrusted metadata\):(?s:.*?)\n{_S}*\n", _FLAGS
)
_CRON = re.compile(rf"\[cron:[^\]]+\]{_S}*", _FLAGS)
_STAMP = re.compile(
    rf"\[[A-Za-z]{{3}}{_S}\d{{4}}-\d\d-\d\d{_S}\d\d:\d\d{_S}[^\]]+\]{_S}*",
    re.ASCII,
)
_FORCE = re.compile(
    r"\b(?:remember|recall|forgot|memory|memories|last time|before|previously|earlier|yesterday|ago"
    r"|my (?:name|email|phone|address|birthday|preference)|what did (?:i|we)|did i (?:tell|say|mention)"
    rf"|erinnerst du dich|wei(?:ß|ss)t du noch|was (?:war|ist) mein|letzte[sn]?{_S}+mal|vorher|gestern|neulich"
    r"|merke? dir|habe ich dir gesagt|habe ich erw[äÄa]hnt)\b"
    r"|你记得|[你妳]記得|之前|上次|以前|还记得|還記得|提到[过過]|说过|說過",
    _FLAGS,
)
_SKIP = {
    "greeting": rf"(?:hi|hello|hey|good{_S}*(?:morning|afternoon|evening|night)|greetings|yo|sup|howdy|what'?s up)\b",
    "slash_command": r"/",
    "shell_command": r"(?:run|build|test|ls|cd|git|npm|pip|docker|curl|cat|grep|find|make|sudo)\b",
    "confirmation": r"(?:yes|no|yep|nope|ok|okay|sure|fine|thanks|thank you|thx|ty|got it|understood|cool|nice"
    rf"|great|good|perfect|awesome|👍|👎|✅|❌){_S}*[.!]?\Z",
    "go_ahead": r"(?:go ahead|continue|proceed|do it|start|begin|next"
    rf"|实施|實施|开始|開始|继续|繼續|好的|可以|行){_S}*[.!]?\Z",
    "emoji": rf"[{EMOJI}{SPACE}]+\Z",
    "heartbeat": r"(?s:.*)HEARTBEAT",
    "system": r"\[System",
    "ping": rf"(?:ping|pong|test|debug){_S}*[.!?]?\Z",
}
"""The rules by name, in the order in which they are tried, each from the start of the text."""
_SKIP_RULES = tuple((name, re.compile(pattern, _FLAGS)) for name, pattern in _SKIP.items())
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def plain_question(query: str) -> str:
    """The question without what a channel put around it: untrusted blocks, a cron tag, a time stamp."""
    text = trim(_UNTRUSTED.sub("", trim(query)))
    text = trim(_CRON.sub("", text, count=1) if _CRON.match(text) else text)
    return trim(_STAMP.sub("", text, count=1) if _STAMP.match(text) else text)


def skip_rule(query: str, min_length: int | None = None) -> str | None:
    """The rule by which the gate skips `query`, None when it retrieves.

    `min_length` in UTF-16 units is the host's autoRecallMinLength; without it (or with 0) the gate's own
    lengths count, 6 for CJK, else 15. The rules: short, those of the skip table, too_short.
    """
    text = plain_question(query)
    if _FORCE.search(text):
        return None
    length = utf16_len(text)
    if length < SHORTEST:
        return "short"
    for name, pattern in _SKIP_RULES:
        if pattern.match(text):
            return name
    least = min_length if min_length and min_length > 0 else CJK_LENGTH if _CJK.search(text) else LATIN_LENGTH
    asks = "?" in text or "？" in text
    return "too_short" if length < least and not asks else None
