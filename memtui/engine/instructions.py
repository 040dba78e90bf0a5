"""Texts that give an agent orders instead of telling it something: worth a look, never dropped for it."""

from __future__ import annotations

import re

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "breaks out of its block",
        re.compile(
            r"</?\s*(?:relevant-memories|system|assistant|instructions?|tool_(?:call|result)s?)\s*>", re.I
        ),
    ),
    (
        "overrides instructions",
        re.compile(
            r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your)\b"
            r".{0,30}\b(?:instructions?|prompts?|rules?|messages?)\b"
            r"|(?:忽略|无视|無視|忘记|忘記).{0,12}(?:指令|指示|命令|规则|規則|提示)"
            r"|(?:これまで|以前|上記|前)の.{0,10}(?:指示|命令|ルール).{0,6}(?:無視|忘れ)",
            re.I | re.S,
        ),
    ),
    (
        "speaks as somebody else",
        re.compile(r"(?:^|\n)\s*(?:system|developer|assistant)\s*:\s*\S.*(?:\n|$)", re.I),
    ),
    (
        "calls a tool",
        re.compile(
            r"\b(?:run|call|use|invoke|execute)\b.{0,20}\b(?:tool|function|command)\b.{0,40}\w+_\w+"
            r"|(?:调用|呼叫|使用|运行|運行|実行).{0,6}\w+_\w+.{0,6}(?:工具|函数|函數|ツール|関数)",
            re.I | re.S,
        ),
    ),
    (
        "assigns a role",
        re.compile(
            r"\byou are now (?:root|admin|an? )|你现在是管理员|你現在是管理員|あなたは今.{0,4}管理者", re.I
        ),
    ),
)


_HINTS = (
    "relevant-memories", "system", "assistant", "developer", "instruction", "prompt", "rule", "message", "tool",
    "function", "command", "you are now", "忽略", "无视", "無視", "忘", "你现在", "你現在", "あなたは", "工具", "函数",
    "函數", "ツール", "関数",
)  # fmt: skip
"""Every text that a rule matches has one of these in lower case; looking for them first is ten times as fast."""
HINT = f"(?i)(?:{'|'.join(map(re.escape, _HINTS))})"
"""The same as one pattern, for engines that look at a whole column at once."""


def instruction_like(text: str) -> str | None:
    """Why `text` reads like an order to an agent (a rule's name), None when it does not.

    English, Chinese and Japanese. A transcript line such as "Assistant: ..." counts: memories are no chats.
    """
    lower = text.lower()
    if not any(hint in lower for hint in _HINTS):
        return None
    return next((name for name, pattern in _RULES if pattern.search(text)), None)
