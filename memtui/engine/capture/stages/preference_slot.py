"""A preference that names one product of one brand: another product of it is another memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memtui.engine.capture.stages.matching import pattern

_ENGLISH = pattern(
    r"(?:\b(?:i|user)\s+)?(?:(?:really|still|also)\s+)?\b(?:like|love|prefer|enjoy)\s+(?P<items>[a-z0-9\s\-'&,]+?)"
    r"\s+from\s+(?P<brand>[a-z0-9][a-z0-9\s\-'&]*)"
)

_CHINESE = pattern(
    r"(?:我|用户)?(?:很|更|还)?(?:喜欢|爱吃|偏爱|常吃|想吃)(?:吃|喝|用|买)?"
    r"(?P<brand>[\u4e00-\u9fa5A-Za-z0-9&·'\-]{1,24}?)的(?P<items>[^。！？!?\n]{1,80})"
)

_CUT = pattern(r"因为|所以|但是|不过|\b(?:if|when|because|but)\b")

_SPLIT = pattern(r"\s*(?:、|,|，|/|以及|及|与|和|\band\b|&)\s*")

_QUOTES = re.compile("[\"'“”‘’「」『』]")

_ENDS = re.compile("[。！？!?,，.；;：:\\s]+$")

_ARTICLE = pattern(r"\A(?:the|a|an)\s+")

_SPACE = pattern(r"\s+")


@dataclass(frozen=True, slots=True)
class BrandItem:
    """The brand and the items of a preference, in one spelling."""

    brand: str
    items: tuple[str, ...]

    @property
    def single(self) -> str | None:
        """The item, where there is exactly one."""
        return self.items[0] if len(self.items) == 1 else None


def brand_item_preference(text: str) -> BrandItem | None:
    """What a sentence such as "I like ITEM from BRAND" prefers; None for any other text."""
    for rule in (_CHINESE, _ENGLISH):
        match = rule.search(text)
        if match is None:
            continue
        brand = _token(match["brand"])
        listed = _CUT.split(match["items"], maxsplit=1)[0]
        items = tuple(dict.fromkeys(item for part in _SPLIT.split(listed) if (item := _token(part))))
        if brand and items:
            return BrandItem(brand, items)
    return None


def _token(text: str) -> str:
    plain = _ENDS.sub("", _QUOTES.sub("", text.strip()))
    return _SPACE.sub("", _ARTICLE.sub("", plain)).lower()
