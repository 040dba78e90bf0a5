"""JavaScript's notions of a string and a number, where memory-lancedb-pro's results depend on them."""

from __future__ import annotations

import re
from typing import Any

SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What `\\s` matches and `trim` removes, as the inside of a character class."""

LINE = "[^\n\r\u2028\u2029]"
"""What `.` matches."""

LINE_START = "(?:\\A|(?<=[\n\r\u2028\u2029]))"
"""What `^` matches with the flag m."""

_SPACES = SPACE.replace("\u2000-\u200a", "".join(map(chr, range(0x2000, 0x200B))))

_DECIMAL = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")

_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")

_POINT_FREE = 1e21

_EXPONENT_FREE = 1e-6

SAFE_INTEGER = 2**53
"""Whole numbers up to this are exact as a double."""

_NAN = float("nan")

_INF = float("inf")


def utf16_len(text: str) -> int:
    """`text.length`: UTF-16 code units, two for a character beyond U+FFFF."""
    if text.isascii():
        return len(text)
    return len(text) + sum(ch > "\uffff" for ch in text)


def utf16_slice(text: str, end: int) -> str:
    """`text.slice(0, end)` in code units; a character cut in half leaves its first half, a lone surrogate."""
    if len(text) <= end and utf16_len(text) <= end:
        return text
    if text.isascii():
        return text[:end]
    raw = text.encode("utf-16-le", "surrogatepass")[: 2 * end]
    half = chr(int.from_bytes(raw[-2:], "little")) if b"\xd8" <= raw[-1:] < b"\xdc" else ""
    return raw[: len(raw) - 2 * len(half)].decode("utf-16-le", "surrogatepass") + half


def trim(text: str) -> str:
    """`text.trim()`: Unicode spaces, line ends and U+FEFF; unlike `str.strip`, not the C0 separators."""
    return text.strip(_SPACES)


def number(value: Any) -> float:
    """`Number(value)` for any value that JSON can hold; NaN for what is no number. `None` is null: 0."""
    if isinstance(value, bool) or value is None:
        return float(bool(value))
    if isinstance(value, int | float):
        return _double(value)
    if isinstance(value, str):
        return _parsed(trim(value))
    if isinstance(value, list):
        return _listed(value)
    return _NAN


def whole(value: float) -> int:
    """`Math.floor` of a finite number, as an int."""
    return int(value // 1)


def _double(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return _INF if value > 0 else -_INF


def _parsed(text: str) -> float:
    if not text:
        return 0.0
    if _DECIMAL.fullmatch(text):
        return float(text)
    return _double(int(text, 0)) if _RADIX.fullmatch(text) else _NAN


def _listed(value: list[Any]) -> float:
    """An array is its elements joined by commas: a number only when there is at most one."""
    while isinstance(value, list):
        if len(value) != 1:
            return _NAN if value else 0.0
        value = value[0]
    if isinstance(value, bool):
        return _NAN
    return number(value)


def text_of(value: float) -> str:
    """`String(value)` of a finite number: whole ones without a point, an exponent only below 1e-6 or from 1e21."""
    if value == value // 1 and abs(value) < _POINT_FREE:
        return str(int(value))
    mantissa, _, exponent = repr(float(value)).partition("e")
    if not exponent:
        return mantissa
    if _EXPONENT_FREE <= abs(value) < _POINT_FREE:
        from decimal import Decimal

        return f"{Decimal(repr(float(value))):f}"
    return f"{mantissa}e{int(exponent):+d}"


def to_fixed(value: float, digits: int) -> str:
    """`value.toFixed(digits)`: the exact value rounded half up, away from zero."""
    from decimal import ROUND_HALF_UP, Decimal

    exact = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{exact:f}"
