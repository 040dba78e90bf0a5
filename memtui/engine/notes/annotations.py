"""The comments at the end of a line of MEMORY.md or USER.md that memory-core reads as fields of the entry."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

FIELDS = ("importance", "triggers", "project")
"""The fields that a comment can hold, by the names that memtui gives them."""

_KEYS = {"importance": "importance", "triggers": "trigger", "project": "project"}

_ONE = r"<!--[ \t]*(?P<key>importance|triggers?|project)[ \t]*:[ \t]*(?P<value>(?:(?!-->).)*?)[ \t]*-->"

_COMMENT = re.compile(_ONE, re.IGNORECASE)

_TAIL = re.compile(
    rf"(?:[ \t]*{_ONE.replace('?P<key>', '?:').replace('?P<value>', '?:')})+[ \t]*\Z", re.IGNORECASE
)

_ALONE = re.compile(r"[ \t]*<!--(?:(?!-->).)*-->[ \t]*\Z")

HIGHEST = 10
"""Importance goes from 1 to this."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """What the comments of an entry say; None where they say nothing."""

    importance: int | None = None
    triggers: str | None = None
    """Joined by "; ", as the host keeps them."""
    project: str | None = None


def strip_annotations(line: str) -> str:
    """The line without the annotations at its end and the blanks before them."""
    return _TAIL.sub("", line) if line.rstrip().endswith("-->") else line


def annotation_tail(line: str) -> str:
    """The annotations at the end of a line with the blanks before them; empty without any."""
    return line[len(strip_annotations(line)) :]


def is_comment_line(line: str) -> bool:
    """Whether nothing but one HTML comment stands on the line, such as the mark of a promotion."""
    return _ALONE.match(line) is not None


def read_annotations(lines: Iterable[str]) -> Annotations:
    """The fields that the lines of one entry give it; the first comment of a kind counts."""
    found: dict[str, str] = {}
    for line in lines:
        for comment in _COMMENT.finditer(annotation_tail(line)):
            name = "triggers" if comment["key"].lower().startswith("trigger") else comment["key"].lower()
            found.setdefault(name, comment["value"].strip())
    number = found.get("importance", "")
    importance = int(number) if number.isdigit() and 1 <= int(number) <= HIGHEST else None
    return Annotations(
        importance, normalize_triggers(found.get("triggers", "")), found.get("project") or None
    )


def normalize_triggers(text: str) -> str | None:
    """Triggers as the host keeps them, joined by "; " whatever separates them in the comment; None for none."""
    parts = [part.strip() for part in re.split(r"[;,]", text)]
    return "; ".join(part for part in parts if part) or None


def has_annotation(line: str, field: str) -> bool:
    """Whether a comment at the end of the line holds the field."""
    return any(_names(comment, field) for comment in _COMMENT.finditer(annotation_tail(line)))


def set_annotation(line: str, field: str, value: str) -> str:
    """The line with the value in the field's comment; a comment that is missing is appended, an empty value removes it.

    Only the value's bytes change where the comment is there.
    """
    kept = strip_annotations(line)
    tail = line[len(kept) :]
    comment = next((found for found in _COMMENT.finditer(tail) if _names(found, field)), None)
    if comment is None:
        return f"{line.rstrip()} <!-- {_KEYS[field]}: {value} -->" if value else line
    if value:
        return kept + tail[: comment.start("value")] + value + tail[comment.end("value") :]
    before, after = tail[: comment.start()].rstrip(), tail[comment.end() :]
    return kept + before + after


def _names(comment: re.Match[str], field: str) -> bool:
    key = comment["key"].lower()
    return key.rstrip("s") == "trigger" if field == "triggers" else key == field
