"""Numbers as texts write them: in digits, in words of several languages, in Chinese numerals."""

from __future__ import annotations

import re
from functools import lru_cache

from memtui.engine.blame.lexicon import lexicon

_ZH = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}

_ZH_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 100_000_000}

CHINESE_NUMERALS = "[零〇一二两兩三四五六七八九十百千万萬亿半]+"

_DIGITS = r"\d+(?:[.,'’]\d+)*"

_GERMAN_PARTS = re.compile(r"^(?:(?P<k>\w*?)tausend)?(?:(?P<h>\w*?)hundert)?(?:und)?(?P<r>\w*)$")

_LETTER = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter of a script that puts spaces between words."""

NUMBER = re.compile(
    rf"(?P<digits>{_DIGITS})|(?P<zh>第?{CHINESE_NUMERALS})|(?P<word>{_LETTER}+(?:-{_LETTER}+)*)"
)

_NEXT = re.compile(r" ([a-z-]+)")

_AND_A_HALF = re.compile(r" and a half| y medi[oa]| et demie?| e mezz[oa]| e mei[ao]")


def read_number(match: re.Match[str]) -> tuple[float, float | None, bool] | None:
    """(the number, a second reading, whether it is written in words) of a match; None where it is no number."""
    if match["digits"] is not None:
        return (*_read_digits(match["digits"]), False)
    if match["zh"] is not None:
        value = chinese_number(match["zh"].removeprefix("第"))
        return None if value is None else (value, None, False)
    value = _word_number(match["word"])
    return None if value is None else (value, None, True)


def _read_digits(digits: str) -> tuple[float, float | None]:
    plain = re.sub(r"['’]", "", digits)
    groups = re.split(r"[.,]", plain)
    if len(groups) == 1:
        return float(plain), None
    if len(groups) > 2:
        return float(
            "".join(groups[:-1] if len(groups[-1]) != 3 else groups)
            + ("" if len(groups[-1]) == 3 else "." + groups[-1])
        ), None
    whole, part = groups
    decimal = float(f"{whole}.{part}")
    return (float(whole + part), decimal) if len(part) == 3 and whole != "0" else (decimal, None)


def _word_number(word: str) -> float | None:
    told = lexicon()
    if word in told.numbers:
        return told.numbers[word]
    if word in told.scales:
        return told.scales[word]
    if len(word) < 6:
        return None
    return _german_number(word)


@lru_cache(maxsize=1024)
def _german_number(word: str) -> float | None:
    """zweihundert, viertausendachthundert, dreiundzwanzig, zweieinhalb; None for any other word."""
    told = lexicon().numbers
    if word.endswith("einhalb") and (whole := told.get(word[: -len("einhalb")])) is not None:
        return whole + 0.5
    match = _GERMAN_PARTS.match(word)
    if match is None or (match["k"] is None and match["h"] is None):
        one, joined, ten = word.partition("und")
        value, tens = told.get(one), told.get(ten)
        return (
            value + tens
            if joined and value is not None and tens is not None and value < 10 and tens >= 20
            else None
        )
    total = 0.0
    for part, scale in ((match["k"], 1000), (match["h"], 100)):
        if part is not None:
            factor = 1.0 if not part else told.get(part, _german_number(part) if len(part) > 5 else None)
            if factor is None:
                return None
            total += factor * scale
    if match["r"]:
        rest = told.get(match["r"], _german_number(match["r"]))
        if rest is None:
            return None
        total += rest
    return total


def with_words_behind(
    free: str, amount: float, other: float | None, end: int, spoken: bool
) -> tuple[float, float | None, int]:
    """The number with the words behind it that belong to it: hundred, and a half, seventy-five."""
    told = lexicon()
    more = _NEXT.match(free, end) if spoken and amount in (100.0, 1000.0) else None
    if more is not None and 0 < told.numbers.get(more[1], 0) < 100:  # ciento ochenta
        amount, end = amount + told.numbers[more[1]], more.end()
    while (match := re.compile(r"[ -]([^\W\d_]+)").match(free, end)) is not None and match[1] in told.scales:
        amount, other, end = amount * told.scales[match[1]], None, match.end()
        if (more := re.compile(r" (?:and )?([a-z-]+)").match(free, end)) and 0 < told.numbers.get(
            more[1], 0
        ) < 100:
            amount, end = amount + told.numbers[more[1]], more.end()
    if (match := _AND_A_HALF.match(free, end)) is not None:
        amount, end = amount + 0.5, match.end()
    elif (
        spoken
        and amount >= 20
        and amount % 10 == 0
        and (match := re.compile(r"[ -](?:y |e |et )?([a-z]+)").match(free, end)) is not None
        and 1 <= told.numbers.get(match[1], 0) <= 9
    ):
        amount, end = amount + told.numbers[match[1]], match.end()
    return amount, other, end


def number_in(text: str | None) -> float:
    if text is None:
        return 0.0
    if text.isdecimal():
        return float(text)
    if len(text) == 4 and all(letter in _ZH for letter in text):
        return float("".join(str(_ZH[letter]) for letter in text))
    return chinese_number(text) or 0.0


def chinese_number(text: str) -> float | None:
    """四千八 is 4800, 十八 is 18, 半 is 0.5; None for a text that is no number."""
    if text == "半":
        return 0.5
    half = text.endswith("半")
    text = text.removesuffix("半")
    total = section = digit = 0.0
    last = 1.0
    for letter in text:
        if letter in _ZH:
            digit = _ZH[letter]
            if letter in "零〇":
                last = 10.0
        elif letter in _ZH_SCALE:
            scale = _ZH_SCALE[letter]
            if scale >= 10_000:
                total += (section + digit or 1) * scale
                section = digit = 0.0
            else:
                section += (digit or 1.0) * scale
                digit = 0.0
            last = float(scale)
        else:
            return None
    if digit and last >= 100 and text[-1] in _ZH:
        digit *= last / 10
    return total + section + digit + (0.5 if half else 0.0)
