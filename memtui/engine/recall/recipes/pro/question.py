"""The adaptive gate: whether auto-recall looks anything up for a question at all."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.core.javascript import LINE_START, SPACE, trim, utf16_len

# The characters that Unicode 15 calls emoji, as JavaScript's `\p{Emoji}` knows them.
#
# Digits, `#` and `*` are among them; the joiner and the variation selectors are not.

_RANGES = """23 2A 30-39 A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 23CF 23E9-23F3 23F8-23FA 24C2
25AA-25AB 25B6 25C0 25FB-25FE 2600-2604 260E 2611 2614-2615 2618 261D 2620 2622-2623 2626 262A 262E-262F
2638-263A 2640 2642 2648-2653 265F-2660 2663 2665-2666 2668 267B 267E-267F 2692-2697 2699 269B-269C
26A0-26A1 26A7 26AA-26AB 26B0-26B1 26BD-26BE 26C4-26C5 26C8 26CE-26CF 26D1 26D3-26D4 26E9-26EA 26F0-26F5
26F7-26FA 26FD 2702 2705 2708-270D 270F 2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E
2753-2755 2757 2763-2764 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297
3299 1F004 1F0CF 1F170-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1E6-1F1FF 1F201-1F202 1F21A 1F22F
1F232-1F23A 1F250-1F251 1F300-1F321 1F324-1F393 1F396-1F397 1F399-1F39B 1F39E-1F3F0 1F3F3-1F3F5
1F3F7-1F4FD 1F4FF-1F53D 1F549-1F54E 1F550-1F567 1F56F-1F570 1F573-1F57A 1F587 1F58A-1F58D 1F590
1F595-1F596 1F5A4-1F5A5 1F5A8 1F5B1-1F5B2 1F5BC 1F5C2-1F5C4 1F5D1-1F5D3 1F5DC-1F5DE 1F5E1 1F5E3 1F5E8
1F5EF 1F5F3 1F5FA-1F64F 1F680-1F6C5 1F6CB-1F6D2 1F6D5-1F6D7 1F6DC-1F6E5 1F6E9 1F6EB-1F6EC 1F6F0
1F6F3-1F6FC 1F7E0-1F7EB 1F7F0 1F90C-1F93A 1F93C-1F945 1F947-1F9FF 1FA70-1FA7C 1FA80-1FA88 1FA90-1FABD
1FABF-1FAC5 1FACE-1FADB 1FAE0-1FAE8 1FAF0-1FAF8"""


def _span(text: str) -> str:
    first, _, last = text.partition("-")
    return f"\\U{int(first, 16):08x}-\\U{int(last or first, 16):08x}"


EMOJI = "".join(_span(text) for text in _RANGES.split())
"""The inside of a character class of a regular expression."""

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


MIN_LENGTH = 15
"""autoRecallMinLength where a configuration gives none: the host fills in the schema's default."""

MAX_QUERY = 2000
"""autoRecallMaxQueryLength where a configuration gives none, UTF-16 units."""


def min_length_of(settings: Mapping[str, Any]) -> int:
    """What the host passes to the gate under the plugin's `settings`: autoRecallMinLength, or its default."""
    return _positive(settings.get("autoRecallMinLength"), MIN_LENGTH)


def max_query_of(settings: Mapping[str, Any]) -> int:
    """How many UTF-16 units of a message auto-recall asks with under the plugin's `settings`."""
    return min(10_000, max(100, _positive(settings.get("autoRecallMaxQueryLength"), MAX_QUERY)))


def _positive(value: Any, otherwise: int) -> int:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value >= 1
    return int(value) if usable and math.isfinite(value) else otherwise


# Query expansion: related words added to the text of the keyword lane.

MOST_WORDS = 5

EXPANSION_SHORTEST = 2

_TABLE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("挂了 挂掉 宕机", "shutdown|crashed", ("崩溃", "crash", "error", "报错", "宕机", "失败")),
    ("卡住 卡死 没反应", "hung|frozen", ("hang", "timeout", "超时", "无响应", "stuck")),
    ("炸了 爆了", "oom", ("崩溃", "crash", "OOM", "内存溢出", "error")),
    ("配置 设置", "config|configuration", ("配置", "config", "configuration", "settings", "设置")),
    ("部署 上线", "deploy|deployment", ("deploy", "部署", "上线", "发布", "release")),
    ("容器", "docker|container", ("Docker", "容器", "container", "docker-compose")),
    ("报错 出错 错误", "error|exception", ("error", "报错", "exception", "错误", "失败", "bug")),
    ("修复 修了 修好", "bugfix|hotfix", ("fix", "修复", "patch", "解决")),
    ("踩坑", "troubleshoot", ("踩坑", "bug", "问题", "教训", "排查", "troubleshoot")),
    ("记忆 记忆系统", "memory", ("记忆", "memory", "记忆系统", "LanceDB", "索引")),
    ("搜索 查找 找不到", "search|retrieval", ("搜索", "search", "retrieval", "检索", "查找")),
    ("推送", "git push", ("push", "推送", "git push", "commit")),
    ("日志", "logfile|logging", ("日志", "log", "logging", "输出", "打印")),
    ("权限", "permission|authorization", ("权限", "permission", "access", "授权", "认证")),
)
"""Chinese triggers (found anywhere), English ones (whole words), and what they add."""

_ENTRIES = tuple(
    (
        re.compile(rf"{'|'.join(chinese.split())}|\b(?:{english})\b", re.ASCII | re.IGNORECASE),
        words,
    )
    for chinese, english, words in _TABLE
)


def expand(query: str) -> str:
    """`query` with up to five related words that it does not contain; unchanged when nothing matches."""
    if utf16_len(trim(query)) < EXPANSION_SHORTEST:
        return query
    lowered = query.lower()
    added: list[str] = []
    for triggers, words in _ENTRIES:
        if triggers.search(query):
            added += [word for word in words if word.lower() not in lowered and word not in added]
    return " ".join((query, *added[:MOST_WORDS]))


# Tag tokens in a question: `proj:atlas` sends the plugin down its tag route.

TAG_PREFIXES = ("proj", "env", "team", "scope")


def tag_tokens(query: str, prefixes: Sequence[str] = TAG_PREFIXES) -> list[str]:
    """The tag tokens of `query` as written: a prefix, a colon, ASCII word characters or hyphens.

    There is no word boundary on the left, so `http://myproj:8080` has the token `proj:8080`, as in the
    plugin.
    """
    if not prefixes:
        return []
    alternatives = "|".join(map(re.escape, prefixes))
    return re.findall(rf"(?:{alternatives}):[\w-]+", query, re.ASCII | re.IGNORECASE)


# What a question is after: the rules by which the plugin's adaptive mode prefers categories.

BOOST = 1.15


@dataclass(frozen=True, slots=True)
class QuestionIntent:
    """A label, the storage categories it prefers, how much of a memory to show, and how sure it is."""

    label: str
    categories: tuple[str, ...] = ()
    depth: str = "l0"
    """l0, l1 or full."""
    confidence: str = "low"
    """high when a rule matched, else low."""


EMPTY = QuestionIntent("empty")

BROAD = QuestionIntent("broad")

_RULES = (
    (
        QuestionIntent("preference", ("preference", "decision"), "l0", "high"),
        r"prefer|preference|style|convention|like|dislike|favorite|habit|how do (?:i|we) usually"
        r"|what(?:'s| is) (?:my|our) (?:style|convention|approach)",
        "偏好 喜欢 习惯 风格 惯例 常用 不喜欢 不要用 别用",
    ),
    (
        QuestionIntent("decision", ("decision", "fact"), "l1", "high"),
        r"why did (?:we|i)|decision|decided|chose|rationale|trade-?off|reason for"
        r"|what was the (?:reason|rationale|decision)",
        "为什么选 决定 选择了 取舍 权衡 原因是 当时决定",
    ),
    (
        QuestionIntent("entity", ("entity", "fact"), "l1", "high"),
        r"who is|who are|tell me about|info on|details about|contact info|who(?:'s| is) (?:the|our|my)"
        r"|what team|which (?:person|team)",
        "谁是 告诉我关于 详情 联系方式 哪个团队",
    ),
    (
        QuestionIntent("event", ("entity", "decision"), "full", "high"),
        r"when did|what happened|timeline|incident|outage|deploy|release|shipped"
        r"|last (?:week|month|time|sprint)|recently|yesterday|today",
        "什么时候 发生了什么 时间线 事件 上线 部署 发布 上次 最近",
    ),
    (
        QuestionIntent("fact", ("fact", "entity"), "l1", "high"),
        r"how (?:does|do|to)|what (?:does|do|is)|explain|documentation|spec"
        r"|config|configuration|setup|install|architecture|api|endpoint",
        "怎么 如何 是什么 解释 文档 规范 配置 安装 架构 接口",
    ),
)

_COMPILED = tuple(
    (intent, re.compile(rf"\b(?:{english})\b|{'|'.join(chinese.split())}", re.ASCII | re.IGNORECASE))
    for intent, english, chinese in _RULES
)


def analyse(query: str) -> QuestionIntent:
    """The first rule that matches; `broad` when none does, `empty` for a blank question."""
    text = trim(query)
    if not text:
        return EMPTY
    return next((intent for intent, pattern in _COMPILED if pattern.search(text)), BROAD)


def boost(
    scores: Sequence[float], categories: Sequence[str | None], intent: QuestionIntent
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
