"""What belongs to the workspace's USER.md instead of the store: profiles, names, forms of address."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.metadata.read import fact_key as derive_fact_key

_LINE = "(?:\\A|(?<=[\n\r\u2028\u2029]))"

_NAME_KEY, _ADDRESS_KEY = "entities:姓名", "preferences:称呼偏好"

_X = "[^\\s，。,.!?！？\"'“”‘’「」『』]"

_NAME = pattern(
    rf"我的名字是\s*{_X}|我(?:现在)?叫\s*{_X}|本名是\s*{_X}|calls? themselves ['\"“‘]|name is\s+['\"“‘]?{_X}"
    rf"|{_LINE}姓名[：:]|{_LINE}## Identity\b|{_LINE}\s*[-*]\s+Name:|用户当前姓名/自称为"
)

_ADDRESS = pattern(
    rf"以后(?:你|请)?叫我\s*{_X}|请叫我\s*{_X}|以后称呼我为?\s*{_X}|称呼(?:我为?|其为|他为)\s*{_X}"
    rf"|希望.*称呼(?:我|其|他)为\s*{_X}|被称呼为|称呼偏好(?:是|[：:])|preferred address\b|\baddressed as\b"
    r"|addressive identifier|preferred form of address"
    rf"|{_LINE}## Addressing\b"
)

_PROFILE = pattern(
    rf"{_LINE}User profile:|{_LINE}## (?:Background|Profile|Context)\b"
    rf"|{_LINE}\s*[-*]\s+(?:Timezone|Pronouns?|Role|Language|Working style|Collaboration style):"
    r"|my timezone is|my pronouns are|i am\b|(?:我的时区是|我的代词是|我是|我的身份是)\b"
    r"|时区|代词|协作方式|工作方式|语言偏好"
)


@dataclass(frozen=True, slots=True)
class Boundary:
    """What the workspace file owns; nothing unless `enabled`."""

    enabled: bool = False
    profile: bool = True
    name: bool = True
    addressing: bool = True
    filter_recall: bool = True


def user_md_exclusive(
    boundary: Boundary,
    *,
    category: str = "",
    text: str = "",
    abstract: str = "",
    content: str = "",
    fact_key: str = "",
) -> bool:
    """Whether the boundary keeps a text or candidate out of the store."""
    if not boundary.enabled:
        return False
    said = "\n".join(part for part in (text, abstract, content) if part)
    key = fact_key or (derive_fact_key(category, abstract) if category and abstract else None) or ""
    if boundary.profile and (category == "profile" or _PROFILE.search(said)):
        return True
    if boundary.name and (key == _NAME_KEY or _NAME.search(said)):
        return True
    return boundary.addressing and (key == _ADDRESS_KEY or _ADDRESS.search(said) is not None)
