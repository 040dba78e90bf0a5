"""The one place where hostile text becomes harmless for a screen.

A memory may hold anything: escape sequences, bidi overrides, NUL. Everything that is shown passes
through `clean` once, when a row becomes a `Memory`.
"""

from __future__ import annotations

import math
import re
import shlex
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Any, Literal
from unicodedata import is_normalized, normalize

from memtui.engine.core.errors import UsageError

# Explicit directional formatting and isolates, which can reorder what a reader sees (Trojan Source).
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"

# Invisible fillers that hide or join words; ZWJ and variation selectors stay, emoji need them.
_INVISIBLE = "\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0001-\U000e007f"

# A joiner that joins no emoji draws nothing, but makes whoever counts cells lose the next one.
_IDLE_JOINER = re.compile("\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])")

_HOSTILE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_BIDI}{_INVISIBLE}]")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)  # Control Pictures block: ESC becomes one visible cell
    if code == 0x7F:
        return "\u2421"
    if code in (0x2028, 0x2029):
        return "\n"
    if code < 0xA0 or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return ""


def clean(text: str) -> str:
    """Return `text` safe to draw, keeping its line breaks.

    C0 and C1 controls become visible pictures, tabs four spaces, CRLF and CR a line feed, lone
    surrogates U+FFFD; bidi controls, invisible fillers and idle joiners are removed. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return _IDLE_JOINER.sub("", _HOSTILE.sub(_picture, text))


def composed(text: str) -> str:
    """Return `text` with each letter and its marks as one character (NFC): as people type, not as macOS names files."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def letter_forms(text: str) -> tuple[str, ...]:
    """Return the ways that the same text may be stored: as it is written, letters composed, letters decomposed."""
    if text.isascii():
        return (text,)
    return tuple(dict.fromkeys((text, normalize("NFC", text), normalize("NFD", text))))


LOOSE_MARKS = "\u0300-\u036f\u3099\u309a"
"""Marks that stand behind their letter in a decomposed text, for a class of characters in a pattern."""


def words_pattern(words: str) -> str:
    """Return a pattern for these words, any space between them, in each of the ways their letters may be stored."""
    return r"\s+".join(f"(?:{'|'.join(map(re.escape, letter_forms(word)))})" for word in words.split())


def apart(pattern: str) -> str:
    """Return a pattern that finds `pattern` where it is no part of a longer word; a loose mark is one of a word."""
    return rf"(?<![\w{LOOSE_MARKS}])(?:{pattern})(?![\w{LOOSE_MARKS}])"


_HALF = re.compile("[\ud800-\udfff]")


def unbroken(value: Any) -> Any:
    """Return a JSON value whose texts hold no half of a character pair: U+FFFD stands where one was cut.

    JavaScript cuts texts between the halves and writes them out so; no store and no protocol of ours takes one.
    """
    if isinstance(value, str):
        if _HALF.search(value) is None:
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [unbroken(item) for item in value]
    if isinstance(value, dict):
        return {unbroken(name): unbroken(each) for name, each in value.items()}
    return value


def one_line(text: str) -> str:
    """`clean` text on one line: every run of white space becomes one space."""
    return " ".join(clean(text).split())


_RUN, _RUN_HEAD, _RUN_TAIL = 240, 120, 60

_UNBROKEN = re.compile(rf"\S{{{_RUN + 1},}}")

_SAID, _SAID_HEAD, _SAID_TAIL = 2_000, 1_200, 600


def shortened(said: str) -> str:
    """What is said of a failure, every long value in it cut in its middle: a name may have thousands of characters.

    An unbroken run keeps its beginning and its end where it has more than 240 characters, as the longest name of a
    file has not; what is said as a whole where it has more than 2,000.
    """
    said = _UNBROKEN.sub(lambda run: f"{run[0][:_RUN_HEAD]}…{run[0][-_RUN_TAIL:]}", said)
    return said if len(said) <= _SAID else f"{said[:_SAID_HEAD]} … {said[-_SAID_TAIL:]}"


# What differs between two texts, word by word.

Part = tuple[Literal["same", "gone", "new"], str]

_WORDS = re.compile(r"\s+|[\w]+|[^\w\s]")

MOST_WORDS = 2_000
"""Longer texts are compared as a whole: the time grows with the square."""


LEAST_SHARED = 0.4
"""Share of words that two texts have in common, in their order, before one is read as the other's wording."""


def word_diff(before: str, after: str) -> tuple[Part, ...]:
    """The parts of both texts in order; "gone" stands in `before` only, "new" in `after` only.

    Texts that share too few words are two texts, not two wordings: each is one part. Blanks and punctuation are
    no words here.
    """
    if before == after:
        return (("same", before),) if before else ()
    a, b = _WORDS.findall(before), _WORDS.findall(after)
    whole: tuple[Part, ...] = tuple(part for part in (("gone", before), ("new", after)) if part[1])
    if len(a) > MOST_WORDS or len(b) > MOST_WORDS:
        return whole
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    shared = sum(_is_word(each) for tag, start, end, _, _ in steps if tag == "equal" for each in a[start:end])
    words = sum(map(_is_word, a)) + sum(map(_is_word, b))
    if words and 2 * shared < LEAST_SHARED * words:
        return whole
    parts: list[Part] = []
    for tag, a0, a1, b0, b1 in steps:
        if tag == "equal":
            parts.append(("same", "".join(a[a0:a1])))
            continue
        if a1 > a0:
            parts.append(("gone", "".join(a[a0:a1])))
        if b1 > b0:
            parts.append(("new", "".join(b[b0:b1])))
    return tuple(parts)


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] == "_"


# Moments as words for sentences: a UTC day, a span of days.

DAY_MS = 86_400_000

_AGE = re.compile(r"(\d+(?:\.\d+)?)(m|h|d|w|mo|y)")

_UNITS = {"m": 60_000, "h": 3_600_000, "d": DAY_MS, "w": 7 * DAY_MS, "mo": 30 * DAY_MS, "y": 365 * DAY_MS}


def cut_bytes(text: str, most: int) -> str:
    """The beginning of `text` that takes at most `most` bytes in UTF-8, cut between characters."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def quoted(value: object) -> str:
    """A path, name or other word as a shell takes it whole: for every command that is suggested to a person."""
    return shlex.quote(str(value))


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun: "1 turn", "2,000 memories"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def time_span(seconds: float) -> str:
    """A length of time for people, in the one unit that fits: "38 s", "4 min", "2.5 h", "83 days", "3 years"."""
    if not math.isfinite(seconds):
        return "an unknown time"
    seconds = max(0.0, seconds)
    if seconds < 99.5 and seconds != 60:  # a whole minute is said as one
        return f"{seconds:.1f} s" if 0 < seconds < 9.95 and round(seconds, 1) % 1 else f"{seconds:.0f} s"
    if seconds < 5_970:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3_600
    if hours < 47.5:
        return f"{hours:.0f} h" if hours >= 9.95 else f"{hours:.1f} h"
    days = round(hours / 24)
    return counted(days, "day") if days < 730 else counted(round(days / 365.25), "year")


def duration(ms: float) -> str:
    """How long a call took, from milliseconds, with its unit: "<1 ms", "412 ms", "3.3 s", "4 min"."""
    if not 0 <= ms < 999.5:
        return time_span(ms / 1000)
    return "<1 ms" if 0 < ms < 0.95 else f"{ms:.0f} ms"


def day(ms: float) -> str:
    """The UTC day of `ms`: "2026-09-01"; "an unknown day" for what is no date."""
    if not math.isfinite(ms) or ms <= 0:
        return "an unknown day"
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return "a day beyond the calendar"


def days_between(from_ms: float, to_ms: float) -> str:
    """From one moment to a later one: "today", "in 1 day", "in 12 days"; "3 days ago" to an earlier one."""
    days = math.floor(to_ms / DAY_MS) - math.floor(from_ms / DAY_MS)
    if days == 0:
        return "today"
    count = counted(abs(days), "day")
    return f"in {count}" if days > 0 else f"{count} ago"


def moment_since(text: str, now_ms: int) -> int:
    """The moment in ms that "7d", "12h", "2026-09-01" or a number of ms means; UsageError for anything else."""
    written = text.strip().lower()
    if (match := _AGE.fullmatch(written)) is not None:
        return int(now_ms - float(match[1]) * _UNITS[match[2]])
    if written.isdigit() and len(written) > 8:
        return int(written)
    try:
        moment = datetime.fromisoformat(text.strip())
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is neither a length of time nor a day.", fix="Write it as 7d, 12h or 2026-09-01."
        ) from None
