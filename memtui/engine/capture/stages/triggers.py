"""The regex capture of memory-lancedb-pro: which texts are worth a row without a model, and under which category."""

from __future__ import annotations

import re

from memtui.engine.capture.stages.matching import CJK, any_of, pattern
from memtui.engine.core.javascript import trim, utf16_len

SHORTEST, SHORTEST_CJK, LONGEST = 10, 4, 500

MOST_PICTURES = 3

_HEADERS = pattern(
    r"(?:\A|(?<=[\n\r\u2028\u2029]))(?:Conversation info|Sender) \(untrusted metadata\):[\s\S]*?\n\s*\n"
)

_PICTURES = re.compile("[\U0001f300-\U0001f9ff]")

_DELETE = "delete|remove|forget|purge|cleanup|clean up|clear"

_MANAGEMENT = pattern(
    r"\b(?:memory-pro|memory_store|memory_recall|memory_forget|memory_update)\b|\bopenclaw\s+memory-pro\b"
    rf"|\b(?:{_DELETE})\b.*\b(?:memory|memories|entry|entries)\b|\b(?:memory|memories)\b.*\b(?:{_DELETE})\b"
    r"|\bhow do i\b.*\b(?:delete|remove|forget|purge|cleanup|clear)\b"
    r"|(?:删除|刪除|清理|清除).{0,12}(?:记忆|記憶|memory)"
)

# fmt: off
_TRIGGERS = pattern("|".join((
    any_of((
        "zapamatuj si", "pamatuj", "preferuji", "radši", "nechci", "rozhodli jsme", "budeme používat",
        "remember", "prefer", "we'll use", "well use", "we will use", "switch to", "switched to", "migrate to",
        "migrated to", "going forward", "from now on", "i like", "i prefer", "i hate", "i love", "i want", "i need",
        "i care", "always", "never", "important",
        "merk dir", "merke dir", "erinner dich", "vergiss nicht", "nicht vergessen", "ich bevorzuge", "ich mag",
        "ich hasse", "ich will", "ich brauche", "wir haben entschieden", "ab jetzt", "ab sofort", "in zukunft",
        "heißt", "wohne", "arbeite", "immer", "niemals", "wichtig",
        "記住", "记住", "記一下", "记一下", "別忘了", "别忘了", "備註", "备注", "偏好", "喜好", "喜歡", "喜欢", "討厭",
        "讨厌", "愛用", "爱用", "習慣", "习惯", "決定", "决定", "選擇了", "选择了", "改用", "換成", "换成", "以後用",
        "以后用", "叫我", "稱呼", "称呼", "老是", "講不聽", "總是", "总是", "從不", "从不", "一直", "每次都", "重要",
        "關鍵", "关键", "注意", "千萬別", "千万别", "幫我", "筆記", "存檔", "存起來", "存一下", "重點", "原則", "底線",
    )),
    r"\bdecided\b", r"my\s+\w+\s+is", r"is\s+my", r"můj\s+\w+\s+je", r"je\s+můj", r"mein\s+\w+\s+ist",
    r"\+\d{10,}", r"我的\S+是", r"[\w.-]+@\w+\.\w+",
)))

_CATEGORIES = tuple((name, pattern(text)) for name, text in (
    ("preference", any_of((
        "prefer", "radši", "like", "love", "hate", "want", "bevorzuge", "mag", "hasse", "will", "brauche", "偏好",
        "喜歡", "喜欢", "討厭", "讨厌", "不喜歡", "不喜欢", "愛用", "爱用", "習慣", "习惯",
    ))),
    ("decision", any_of((
        "rozhodli", "decided", "will use", "we'll use", "well use", "switch to", "switched to", "migrate to",
        "migrated to", "going forward", "from now on", "budeme", "haben entschieden", "ab jetzt", "ab sofort",
        "in zukunft", "決定", "决定", "選擇了", "选择了", "改用", "換成", "换成", "以後用", "以后用", "規則", "流程",
        "sop",
    ))),
    ("entity", any_of(("is called", "jmenuje se", "heißt", "叫我", "稱呼", "称呼"))
        + r"|\+\d{10,}|@[\w.-]+\.\w+|mein\s+\w+\s+ist|我的\S+是"),
    ("fact", r"\b(?:is|are|has|have|je|má|jsou|ist|sind|hat|habe|wohne|arbeite)\b|"
        + any_of(("immer", "niemals", "wichtig", "總是", "总是", "從不", "从不", "一直", "每次都", "老是"))),
))

# fmt: on


def capture_gate(text: str) -> tuple[str, float | None, float | None]:
    """The rule that keeps a text from regex capture, what it measured and its limit; an empty rule lets it pass."""
    s = trim(text)
    s = _HEADERS.sub("", s) if "untrusted metadata" in s.lower() else s
    length = utf16_len(s)
    shortest = SHORTEST_CJK if CJK.search(s) else SHORTEST
    if length < shortest:
        return "too short", length, shortest
    if length > LONGEST:
        return "too long", length, LONGEST
    if "<relevant-memories>" in s:
        return "recalled memories", None, None
    if s.startswith("<") and "</" in s:
        return "markup", None, None
    if "**" in s and "\n-" in s:
        return "formatted list", None, None
    pictures = len(_PICTURES.findall(s))
    if pictures > MOST_PICTURES:
        return "emoji", pictures, MOST_PICTURES
    if _MANAGEMENT.search(s):
        return "talk about the memory itself", None, None
    return ("", None, None) if _TRIGGERS.search(s) else ("no trigger word", None, None)


def should_capture(text: str) -> bool:
    """Whether regex capture keeps a text."""
    return not capture_gate(text)[0]


def detect_category(text: str) -> str:
    """The column category of a text by its words: preference, decision, entity, fact or other."""
    lower = text.lower()
    return next((name for name, rule in _CATEGORIES if rule.search(lower)), "other")
