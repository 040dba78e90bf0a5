"""The plugin's regex noise filter: which texts it will not store and not return (spec/retrieval 9.1)."""

from __future__ import annotations

import re

from memtui.engine.js import trim, utf16_len

SHORTEST = 5
"""Trimmed texts shorter than this many UTF-16 units are noise."""

_FLAGS = re.ASCII | re.IGNORECASE
_DENIAL = re.compile(
    r"i don'?t have (?:any )?(?:information|data|memory|record)|i'?m not sure about|i don'?t recall"
    r"|i don'?t remember|it looks like i don'?t|i wasn'?t able to find|no (?:relevant )?memories found"
    r"|i don'?t have access to",
    _FLAGS,
)
_META_QUESTION = re.compile(
    r"\bdo you (?:remember|recall|know about)\b|\bcan you (?:remember|recall)\b"
    r"|\bdid i (?:tell|mention|say|share)\b|\bhave i (?:told|mentioned|said)\b"
    r"|\bwhat did i (?:tell|say|mention)\b"
    r"|如果你知道[^\n\r\u2028\u2029]*只回复|如果不知道[^\n\r\u2028\u2029]*只回复\s*none|只回复精确代号|只回复\s*none"
    r"|你还?记得|记不记得|还记得[^\n\r\u2028\u2029]*吗|你(?:知道|晓道)[^\n\r\u2028\u2029]*吗"
    r"|我(?:之前|上次|以前)(?:说|提|讲)[^\n\r\u2028\u2029]*(?:吗|呢|？|\?)",
    _FLAGS,
)
_META_FRUSTRATION = re.compile(
    r"\byou (?:never|don'?t|do not|can'?t|cannot) (?:remember|recall|get|understand)\b"
    r"|\b(?:why do|can) you (?:keep )?(?:forget|not remember|never remember)\b"
    r"|\bdid you (?:get|understand) what i (?:said|told you|meant)\b"
    r"|^\s*what (?:just )?changed\??\s*$"
    r"|\bwhy (?:is|are) (?:my|the) (?:memory|memories) (?:wrong|missing|broken|not working)\b",
    _FLAGS,
)
_BOILERPLATE = re.compile(
    r"^(?:hi|hello|hey|good morning|good evening|greetings|fresh session|new session|heartbeat)", _FLAGS
)
_DIAGNOSTIC = re.compile(
    r"\bquery\s*->\s*(?:none|no explicit solution|unknown|not found)\b"
    r"|\buser asked for\b[^\n\r\u2028\u2029]*\b(?:none|no explicit solution|unknown|not found)\b"
    r"|\bno explicit solution\b",
    _FLAGS,
)
_RULES = (
    ("denial", _DENIAL, "denials"),
    ("meta_question", _META_QUESTION, "meta"),
    ("meta_frustration", _META_FRUSTRATION, "meta"),
    ("boilerplate", _BOILERPLATE, "boilerplate"),
    ("diagnostic", _DIAGNOSTIC, ""),
)
_WHOLE_GREETING = re.compile(
    r"(?:hi|hello|hey|good morning|good evening|greetings|fresh session|new session|heartbeat)\b", _FLAGS
)
_SMALL_TALK = 24
"""Greetings longer than this many units say something after the greeting."""


def noise_rule(text: str, *, denials: bool = True, meta: bool = True, boilerplate: bool = True) -> str | None:
    """The rule that makes `text` noise, None when it is not.

    short, denial, meta_question, meta_frustration, boilerplate or diagnostic; the switches turn classes off.
    """
    trimmed = trim(text)
    if utf16_len(trimmed) < SHORTEST:
        return "short"
    switches = {"denials": denials, "meta": meta, "boilerplate": boilerplate, "": True}
    for name, pattern, switch in _RULES:
        if switches[switch] and pattern.search(trimmed):
            return name
    return None


def false_positive(text: str) -> bool:
    """Whether the filter takes `text` for noise by a known mistake.

    The greeting rule has no word boundary ("High availability" begins with "hi") and no end ("Hello world program
    in Rust"); short Chinese texts say much in four characters.
    """
    trimmed = trim(text)
    rule = noise_rule(trimmed)
    if rule == "short":
        return (
            any("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" for char in trimmed)
            and len(trimmed) > 2
        )
    if rule != "boilerplate":
        return False
    return _WHOLE_GREETING.match(trimmed) is None or utf16_len(trimmed) > _SMALL_TALK
