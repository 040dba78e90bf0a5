"""What a question is after: the rules by which the plugin's adaptive mode prefers categories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtui.engine.js import trim

BOOST = 1.15


@dataclass(frozen=True, slots=True)
class Intent:
    """A label, the storage categories it prefers, how much of a memory to show, and how sure it is."""

    label: str
    categories: tuple[str, ...] = ()
    depth: str = "l0"
    """l0, l1 or full."""
    confidence: str = "low"
    """high when a rule matched, else low."""


EMPTY = Intent("empty")
BROAD = Intent("broad")

_RULES = (
    (
        Intent("preference", ("preference", "decision"), "l0", "high"),
        r"prefer|preference|style|convention|like|dislike|favorite|habit|how do (?:i|we) usually"
        r"|what(?:'s| is) (?:my|our) (?:style|convention|approach)",
        "偏好 喜欢 习惯 风格 惯例 常用 不喜欢 不要用 别用",
    ),
    (
        Intent("decision", ("decision", "fact"), "l1", "high"),
        r"why did (?:we|i)|decision|decided|chose|rationale|trade-?off|reason for"
        r"|what was the (?:reason|rationale|decision)",
        "为什么选 决定 选择了 取舍 权衡 原因是 当时决定",
    ),
    (
        Intent("entity", ("entity", "fact"), "l1", "high"),
        r"who is|who are|tell me about|info on|details about|contact info|who(?:'s| is) (?:the|our|my)"
        r"|what team|which (?:person|team)",
        "谁是 告诉我关于 详情 联系方式 哪个团队",
    ),
    (
        Intent("event", ("entity", "decision"), "full", "high"),
        r"when did|what happened|timeline|incident|outage|deploy|release|shipped"
        r"|last (?:week|month|time|sprint)|recently|yesterday|today",
        "什么时候 发生了什么 时间线 事件 上线 部署 发布 上次 最近",
    ),
    (
        Intent("fact", ("fact", "entity"), "l1", "high"),
        r"how (?:does|do|to)|what (?:does|do|is)|explain|documentation|spec"
        r"|config|configuration|setup|install|architecture|api|endpoint",
        "怎么 如何 是什么 解释 文档 规范 配置 安装 架构 接口",
    ),
)
_COMPILED = tuple(
    (intent, re.compile(rf"\b(?:{english})\b|{'|'.join(chinese.split())}", re.ASCII | re.IGNORECASE))
    for intent, english, chinese in _RULES
)


def analyse(query: str) -> Intent:
    """The first rule that matches; `broad` when none does, `empty` for a blank question."""
    text = trim(query)
    if not text:
        return EMPTY
    return next((intent for intent, pattern in _COMPILED if pattern.search(text)), BROAD)


def boost(
    scores: Sequence[float], categories: Sequence[str | None], intent: Intent
) -> list[tuple[int, float]]:
    """(position, score) of each row in its new order: preferred categories times 1.15, at most 1.

    `categories` are the stored ones. Without a sure intent nothing moves; the sort is stable, so it
    undoes an order that was not by score.
    """
    rows = list(enumerate(scores))
    if intent.confidence == "low" or not intent.categories:
        return rows
    lifted = [
        (at, min(1.0, score * BOOST) if categories[at] in intent.categories else score) for at, score in rows
    ]
    return sorted(lifted, key=lambda row: -row[1])
