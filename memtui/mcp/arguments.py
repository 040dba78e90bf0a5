"""Arguments as hosts send them: read liberally, so that a call fails only for what it cannot mean.

Hosts add keys of their own, send null or an empty text for what a model left out, a list as JSON text, and 0 for a
number that they do not know. What was read otherwise than it was written is noted, and the note goes into the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memtui.engine import mask, one_line

_NOTHING = ("", "null", "none", "undefined")
"""Texts that hosts send for what a model left out, in JSON's, Python's and JavaScript's word."""

_AS_WRITTEN = "text"
"""The argument that becomes a memory: the space around it is its own."""

_BETWEEN = re.compile(r"[,;\r\n]+")

_MOST_WRITTEN = 3
"""How often a list may have been turned into JSON text; some hosts do it once more than the model did."""

_MOST_NAMES, _LONGEST_NAME = 10, 64


def read_arguments(
    model: type[BaseModel], given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments of a tool as `model` takes them, and a note on each that is read otherwise than it was sent.

    Values that no reading makes right are left as they are: the model refuses them.
    """
    fields = model.model_fields
    read: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in given.items():
        if name not in fields:
            continue
        field = fields[name]
        if not field.is_required() and _is_nothing(value):
            continue
        read[name] = _read(field, value, as_written=name == _AS_WRITTEN)
        if not field.is_required() and (bounded := _within(field, read[name])) is not read[name]:
            said = "left out" if bounded is None else bounded
            notes.append(f"{name}: {_shown(value)} is out of range, read as {said}")
            if bounded is None:
                del read[name]
            else:
                read[name] = bounded
    unknown = [name for name in given if name not in fields]
    if unknown:
        named = ", ".join(_shown(name) for name in unknown[:_MOST_NAMES])
        more = f" and {len(unknown) - _MOST_NAMES} more" if len(unknown) > _MOST_NAMES else ""
        notes.append(f"unknown arguments ignored: {named}{more}")
    return read, tuple(notes)


def _is_nothing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in _NOTHING
    return value is None or value == [] or value == {}


def _read(field: FieldInfo, value: Any, *, as_written: bool) -> Any:
    """A value as the field's kind asks for it: a list from its JSON text, a text from a number, a word of a choice."""
    kinds = _kinds(field.annotation)
    if any(get_origin(kind) is list for kind in kinds):
        return _list_of(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if str in kinds and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and not as_written:
        value = value.strip()
    choices = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if choices and isinstance(value, str):
        return next((word for word in choices if word == value.strip().casefold()), value)
    return value


def _list_of(value: Any) -> Any:
    """A list as itself, from its JSON text (written once or twice), from Python's form, or from words between commas
    or on lines; elements that say nothing are left out."""
    if isinstance(value, list):
        return [part for part in value if not _is_nothing(part)]
    if not isinstance(value, str):
        return value
    text = value.strip()
    for _ in range(_MOST_WRITTEN):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            break
        if isinstance(found, list):
            return _list_of(found)
        if not isinstance(found, str):
            break
        text = found.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [word for part in _BETWEEN.split(text) if (word := part.strip().strip("'\"`"))]


def _within(field: FieldInfo, value: Any) -> Any:
    """A count within its bounds: one below them is left out (None), one above them is the most that may be asked."""
    if int not in _kinds(field.annotation) or isinstance(value, bool):
        return value
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return value
    for bound in field.metadata:
        least, most = getattr(bound, "ge", None), getattr(bound, "le", None)
        if least is not None and number < least:
            return None
        if most is not None and number > most:
            return most
    return value


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of an annotation."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(kind for value in get_args(annotation) for kind in _kinds(value))
    return (annotation,)


def _shown(value: Any) -> str:
    return mask(one_line(str(value))[:_LONGEST_NAME])[0]
