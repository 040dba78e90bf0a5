"""From the characters behind an operator to a value of the field's kind."""

from __future__ import annotations

import re
from typing import NoReturn

from memtui.engine.query.ast import UNIT_MS, Age, Number, Range, Text, Value
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.fields import ORDERED, FieldSpec
from memtui.engine.query.lex import Token

_NUMBER = re.compile(r"[0-9]{0,15}(?:\.[0-9]{0,15})?")
_AGE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})([A-Za-z]+)")


def read_value(spec: FieldSpec, op: str, token: Token, text: str) -> Value:
    """The value that `token` means for the field, or FilterError with its span in `text`."""
    if spec.kind == "choice":
        return _choice(spec, token, text)
    if spec.kind == "text":
        return Text(token.text, glob=_is_glob(spec, op, token), span=token.span)
    if not token.quoted and ".." in token.text:
        return _range(spec, op, token, text)
    return _ordered(spec, token, token.text, text)


def _is_glob(spec: FieldSpec, op: str, token: Token) -> bool:
    return spec.globs and op != "=" and not token.quoted and ("*" in token.text or "?" in token.text)


def _choice(spec: FieldSpec, token: Token, text: str) -> Text:
    word = token.text.lower()
    known = spec.choices + spec.provided
    if word in known:
        return Text(word, span=token.span)
    meant = nearest(word, known)
    raise FilterError(
        f'"{quote(token.text)}" is no value of {spec.name}.',
        text=text,
        span=token.span,
        fix=f"Did you mean {meant}?" if meant else f"It takes {_listed(spec.choices)}.",
        nearest=meant,
    )


def _listed(words: tuple[str, ...]) -> str:
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _range(spec: FieldSpec, op: str, token: Token, text: str) -> Range:
    if op in (">", ">=", "<", "<="):
        raise FilterError(
            f"{op} takes one value, not a range.",
            text=text,
            span=token.span,
            fix=f"Write {spec.name}:{quote(token.text)}.",
        )
    left, _, right = token.text.partition("..")
    if spec.kind == "age" and left and left[-1].isdigit() and (unit := right.lstrip("0123456789.")):
        left += unit
    low = _ordered(spec, token, left, text) if left else None
    high = _ordered(spec, token, right, text) if right else None
    if low is None and high is None:
        _bad(spec, token, text)
    if low is not None and high is not None and _size(low) > _size(high):
        raise FilterError(
            "The range ends before it begins.", text=text, span=token.span, fix="Put the smaller end first."
        )
    return Range(low, high, span=token.span)


def _size(end: Number | Age) -> float:
    return end.ms if isinstance(end, Age) else end.value


def _ordered(spec: FieldSpec, token: Token, written: str, text: str) -> Number | Age:
    if spec.kind == "age":
        match = _AGE.fullmatch(written)
        if not match or match[2].lower() not in UNIT_MS:
            _bad(spec, token, text)
        return Age(float(match[1]), match[2].lower(), span=token.span)
    if not _NUMBER.fullmatch(written) or not any(map(str.isdigit, written)):
        _bad(spec, token, text)
    value = float(written)
    if spec.kind == "count" and not value.is_integer():
        _bad(spec, token, text)
    return Number(value, span=token.span)


def _bad(spec: FieldSpec, token: Token, text: str) -> NoReturn:
    assert spec.kind in ORDERED
    wanted = {
        "age": "a length of time such as 30m, 6h, 2d or 3w",
        "count": "a whole number",
        "number": "a number",
    }[spec.kind]
    raise FilterError(
        f'"{quote(token.text)}" is not {wanted}.',
        text=text,
        span=token.span,
        fix=f"Write it as in {spec.example}.",
    )
