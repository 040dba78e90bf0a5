"""Times of day, dates and weekdays as texts write them, in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtui.engine.blame.lexicon import lexicon
from memtui.engine.blame.numbers import CHINESE_NUMERALS, number_in
from memtui.engine.blame.values import StatedValue

_CLOCK = re.compile(
    r"(?<![\d.,])(?P<h>[01]?\d|2[0-4])(?:[:h](?P<m>[0-5]\d)(?!\d)|(?P<dot>\.[0-5]\d)(?= ?uhr))?"
    r"(?P<half> ?(?:a\.?m\.?|p\.?m\.?)(?![a-z])"
    r"| ?uhr(?: (?P<m2>[0-5]?\d)(?!\d))?| ?o'?clock)?"
)

_ZH_CLOCK = re.compile(
    rf"(?P<half>凌晨|早上|上午|中午|下午|傍晚|晚上|夜里|午前|午後|夜|朝)?(?P<h>\d{{1,2}}|{CHINESE_NUMERALS})(?:点钟?|點鐘?|時(?!間))(?P<m>半|一刻|三刻|\d{{1,2}}分?|{CHINESE_NUMERALS}分?)?"
)

_HALF_WORDS = {
    "in the morning": 0,
    "in the afternoon": 1,
    "in the evening": 1,
    "at night": 1,
    "morgens": 0,
    "vormittags": 0,
    "nachmittags": 1,
    "abends": 1,
    "du matin": 0,
    "de l'apres-midi": 1,
    "du soir": 1,
    "de la manana": 0,
    "de la tarde": 1,
    "de la noche": 1,
    "di mattina": 0,
    "del pomeriggio": 1,
    "di sera": 1,
    "da tarde": 1,
    "da manha": 0,
}

_DATE_ISO = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)-(?P<m>[01]\d)-(?P<d>[0-3]\d)(?!\d)")

_DATE_DOTTED = re.compile(r"(?<![\d.])(?P<d>[0-3]?\d)\.(?P<m>[01]?\d)\.(?P<y>(?:19|20)?\d\d)?(?!\d)")

_DATE_ZH = re.compile(
    r"(?:(?P<y>(?:19|20)\d\d|[零〇一二三四五六七八九]{4}) ?年 ?)?"
    rf"(?P<m>[01]?\d|{CHINESE_NUMERALS}) ?月(?!間)(?: ?(?P<d>[0-3]?\d|{CHINESE_NUMERALS}) ?[日号號])?"
)

_MONTH_WORD = "|".join(sorted((w for w in lexicon().months), key=len, reverse=True))

_DAY_MONTH = re.compile(
    rf"(?<!\w)(?P<d>[0-3]?\d)(?:st|nd|rd|th|\.|er|º)?(?: of| de| di)? ?"
    rf"(?P<month>{_MONTH_WORD})\b\.?(?:,? (?:de )?(?P<y>(?:19|20)\d\d))?"
)

_MONTH_DAY = re.compile(
    rf"(?<!\w)(?P<month>{_MONTH_WORD})\b\.?(?: (?P<d>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:]))?(?:,? (?P<y>(?:19|20)\d\d))?"
)

_AS_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def dates_in(text: str, low: str) -> Iterator[StatedValue]:
    months = lexicon().months
    for pattern in (_DATE_ISO, _DATE_DOTTED, _DATE_ZH, _DAY_MONTH, _MONTH_DAY):
        for match in pattern.finditer(low):
            groups = match.groupdict()
            word = groups.get("month")
            if word is not None:
                month = months[word]
                if word in ("may", "mar", "dec", "sept", "sep", "march", "mars", "mai") and not groups.get(
                    "d"
                ):
                    shown = text[match.start() : match.start() + len(word)]
                    if not shown[:1].isupper() or match.start() == 0:
                        continue
            else:
                month = int(number_in(groups["m"]))
            day = int(number_in(groups["d"])) if groups.get("d") else 0
            year = int(number_in(groups["y"])) if groups.get("y") else 0
            year += 2000 if 0 < year < 100 else 0
            if not 1 <= month <= 12 or day > 31:
                continue
            yield StatedValue("date", match[0].strip(), match.start(), match.end(), date=(year, month, day))


def clocks_in(text: str, low: str) -> Iterator[StatedValue]:
    for match in _CLOCK.finditer(low):
        minutes = match["m"] or match["m2"] or (match["dot"] or "")[1:]
        if not minutes and not match["half"]:
            continue
        half = (match["half"] or "").strip()
        hour, loose = int(match["h"]), False
        end = match.end()
        if half.startswith("p") and hour < 12:
            hour += 12
        elif half.startswith("a") and hour == 12:
            hour = 0
        elif not half or half.startswith("o"):
            hour, loose, end = _with_half(low, end, hour, bool(minutes) and len(match["h"]) == 2)
        elif hour <= 12 and not minutes:
            hour, loose, end = _with_half(low, end, hour, False)
        yield StatedValue(
            "clock",
            text[match.start() : end].strip(),
            match.start(),
            end,
            amount=hour * 60.0 + int(minutes or 0),
            loose=loose,
        )
    for match in _ZH_CLOCK.finditer(text):
        hour_value = number_in(match["h"])
        if hour_value is None or hour_value > 24:
            continue
        told = match["m"] or ""
        minute = {"半": 30, "一刻": 15, "三刻": 45}.get(told)
        if minute is None:
            minute = int(number_in(told.rstrip("分")) or 0) if told else 0
        hour = int(hour_value)
        late = match["half"] in ("下午", "傍晚", "晚上", "夜里", "午後", "夜")
        if late and hour < 12:
            hour += 12
        if match["half"] is None and not told and hour <= 2:  # 一点 is "a little", too
            continue
        yield StatedValue(
            "clock",
            match[0],
            match.start(),
            match.end(),
            amount=hour * 60.0 + minute,
            loose=match["half"] is None,
        )
    yield from _spoken_clocks(text, low)


_SPOKEN = re.compile(
    r"(?<!\w)(?:(?P<half>half past|halb) (?P<h1>[a-z]+)"
    r"|(?P<quarter>(?:a )?quarter (?P<side>to|past|of)|viertel (?P<seite>vor|nach))"
    r" (?P<h2>[a-z]+)"
    r"|(?P<n>[a-z]+|\d+) (?:minutes )?(?P<side3>to|past) (?P<h3>[a-z]+)"
    r"|(?:at|um|gegen|ab) (?P<h4>[a-z]+)"
    r"(?= (?:in the (?:morning|afternoon|evening)|at night|uhr|morgens|abends|nachmittags|vormittags|fruh)))"
)


def _spoken_clocks(text: str, low: str) -> Iterator[StatedValue]:
    numbers = lexicon().numbers
    for match in _SPOKEN.finditer(low):
        word = next(match[name] for name in ("h1", "h2", "h3", "h4") if match[name])
        hour = numbers.get(word)
        if hour is None or not 1 <= hour <= 12 or hour != int(hour):
            continue
        at = hour * 60
        if match["half"]:
            at += 30 if match["half"] == "half past" else -30
        elif match["quarter"]:
            at += 15 if "past" in (match["side"] or "") or match["seite"] == "nach" else -15
        elif match["n"]:
            minutes = numbers.get(match["n"], float(match["n"]) if match["n"].isdecimal() else None)
            if minutes is None or not 1 <= minutes < 60:
                continue
            at += minutes if match["side3"] == "past" else -minutes
        got, loose, end = _with_half(low, match.end(), int(at // 60), False)
        yield StatedValue(
            "clock", text[match.start() : end], match.start(), end, amount=got * 60.0 + at % 60, loose=loose
        )


def _with_half(low: str, end: int, hour: int, sure: bool) -> tuple[int, bool, int]:
    """(the hour, whether it may be twelve hours later, the end) by the words behind a time."""
    rest = low[end : end + 24].lstrip(" ,")
    for words, late in _HALF_WORDS.items():
        if rest.startswith(words):
            moved = end + low[end : end + 24].index(words) + len(words)
            return hour + 12 if late and hour < 12 else hour, False, moved
    return hour, not sure and hour <= 12, end


def weekdays_in(text: str, low: str) -> Iterator[StatedValue]:
    days = lexicon().weekdays
    for match in _AS_WORDS.finditer(low):
        word = match[0].removesuffix("'s")
        day = days.get(word)
        if day is None and len(word) > 7:  # Dienstagabend, Mittwochfrüh
            day = next(
                (number for name, number in days.items() if len(name) > 5 and word.startswith(name)), None
            )
        if day is not None and not (len(word) <= 3 and not text[match.start()].isupper()):
            yield StatedValue(
                "weekday", text[match.start() : match.end()], match.start(), match.end(), date=(0, 0, day + 1)
            )
    for name, day in days.items():
        if not name.isascii():
            for match in re.finditer(re.escape(name), low):
                yield StatedValue("weekday", name, match.start(), match.end(), date=(0, 0, day + 1))
