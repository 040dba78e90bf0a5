"""Changes of one entry's lines: its text, one of its comments, or all of it; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from memtui.engine.core.errors import UsageError
from memtui.engine.notes.annotations import (
    FIELDS,
    HIGHEST,
    annotation_tail,
    has_annotation,
    is_comment_line,
    set_annotation,
    strip_annotations,
)

_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")

_HEADING = re.compile(r"#{1,6}\s")


def parse_values(given: Mapping[str, object]) -> dict[str, str]:
    """What a person typed for an entry, checked; an empty comment is removed. UsageError where it makes no sense."""
    values: dict[str, str] = {}
    for name, value in given.items():
        field = "triggers" if name == "trigger" else name
        text = "" if value is None else str(value)
        if field == "text":
            if not text.strip():
                raise UsageError("The text is empty.", fix="To remove the entry: memtui forget ID --hard.")
            values[field] = text.replace("\r\n", "\n").replace("\r", "\n")
        elif field == "importance":
            values[field] = _importance(text)
        elif field in FIELDS:
            if "-->" in text or "\n" in text:
                raise UsageError(
                    f"{field} {text!r} cannot stand in a comment.", fix="Leave --> and line ends out."
                )
            values[field] = text.strip()
        else:
            raise UsageError(
                f"{name} is no field of an entry of Markdown.",
                fix="Set text, importance, triggers or project.",
            )
    return values


def _importance(text: str) -> str:
    plain = text.strip()
    if not plain:
        return ""
    try:
        number = float(plain)
    except ValueError:
        number = 0.0
    if not number.is_integer() or not 1 <= number <= HIGHEST:
        raise UsageError(
            f"importance {plain} is out of range.", fix=f"OpenClaw reads whole numbers from 1 to {HIGHEST}."
        )
    return str(int(number))


def is_heading(lines: Sequence[str]) -> bool:
    """Whether the entry begins with a heading, which carries no fields."""
    first = next((line for line in lines if line.strip()), "")
    return _HEADING.match(first.lstrip("\ufeff")) is not None


def content_lines(lines: Sequence[str]) -> tuple[int, int]:
    """The lines of an entry that say something: without blank lines and whole-line comments around them."""
    places = [at for at, line in enumerate(lines) if line.strip() and not is_comment_line(line.rstrip("\r"))]
    return (places[0], places[-1] + 1) if places else (0, 0)


def edit_entry(lines: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The entry's lines with new values. Lines are cut at line feeds; a carriage return at their end stays."""
    edited = list(lines)
    if "text" in values:
        edited = _with_text(edited, values["text"])
    for field in FIELDS:
        if field in values:
            at = _line_of(edited, field)
            end = "\r" if edited[at].endswith("\r") else ""
            edited[at] = set_annotation(edited[at].removesuffix("\r"), field, values[field]) + end
    return edited


def remove_entry(lines: Sequence[str]) -> list[str]:
    """What is left of an entry's lines when what they say goes: blank lines, and marks that belong to the next."""
    start, end = content_lines(lines)
    return [*lines[:start], *lines[end:]]


def _line_of(lines: Sequence[str], field: str) -> int:
    """The line whose comment holds the field; else the one with other comments, else the entry's first."""
    plain = [line.removesuffix("\r") for line in lines]
    start, end = content_lines(lines)
    around: range = range(start, end) if end > start else range(len(lines))
    found = [at for at in range(len(lines)) if has_annotation(plain[at], field)]
    tails = [at for at in around if annotation_tail(plain[at])]
    places: list[int] = [*found, *tails, *around]
    return places[0]


def _with_text(lines: list[str], text: str) -> list[str]:
    """New words in the place of the old; comments stay unless the text brings its own."""
    start, end = content_lines(lines)
    old = [line.removesuffix("\r") for line in lines[start:end]]
    new = text.strip("\n").split("\n")
    mark = "\ufeff" if old and old[0].startswith("\ufeff") else ""
    bullet = _BULLET.match(old[0].removeprefix("\ufeff")) if old else None
    if bullet and not _BULLET.match(new[0]):
        new[0] = bullet[0] + new[0]
    new[0] = mark + new[0].removeprefix("\ufeff")
    if "<!--" not in text:
        new = _carry_comments(old, new)
    style = "\r" if any(line.endswith("\r") for line in lines) else ""
    ends = [style] * len(new)
    if end:
        ends[-1] = "\r" if lines[end - 1].endswith("\r") else ""
    return [*lines[:start], *(line + tail for line, tail in zip(new, ends, strict=True)), *lines[end:]]


def without_marks(text: str, following: Sequence[str]) -> str:
    """The text without comment lines at its end that stand below the entry in the file already."""
    lines = text.rstrip("\n").split("\n")
    marks = [line.rstrip("\r") for line in following]
    while len(lines) > 1 and is_comment_line(lines[-1]) and lines[-1] in marks:
        lines.pop()
    return "\n".join(lines)


def _carry_comments(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new lines with the comments of the old ones at their ends, also of those that go."""
    plain = [strip_annotations(line) for line in old]
    out = list(new)
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, plain, list(new), autojunk=False).get_opcodes():
        for offset, line in enumerate(old[a0:a1]):
            tail = annotation_tail(line)
            if not tail:
                continue
            if tag == "equal" or b1 > b0:
                at = min(b0 + offset, b1 - 1)
            else:  # the line goes: its comments stay with the line before
                at = max(0, min(b0 - 1, len(out) - 1))
            out[at] = out[at].rstrip() + tail if not annotation_tail(out[at]) else out[at] + tail
    return out
