"""Which format a source is in: decided by what is in it, shown with the evidence."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.extensions import installed
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.registry import FORMATS, READERS, format_named
from memtui.engine.transfer.sources.files import ZIP
from memtui.engine.transfer.sources.head import HEAD, KINDS, Head, Kind, head_text
from memtui.engine.transfer.sources.json_stream import loads, unwrapped
from memtui.engine.transfer.sources.text import unzipped
from memtui.engine.transfer.sources.values import BRACKETED

_SQLITE = b"SQLite format 3\x00"

_PARQUET = b"PAR1"

_HTML = re.compile(r"\s*<(?:!doctype html|html|head|title|body)\b", re.IGNORECASE)

_ENCODED_TWICE = re.compile(r"\s*\"\s*[\[{](?:\s|\\[nrt])*[\\{\[]")
"""A JSON document that was written into a JSON text."""

_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Detected:
    """What a source is. `evidence` are short phrases: what was seen in it that no other format has."""

    path: Path
    kind: Kind
    format: Format
    evidence: tuple[str, ...]


def detect(path: Path, name: str = "auto") -> Detected:
    """The format of the file or folder at `path`, or `name` taken by the user's word.

    Raises MemtuiError for an empty file, a web page and what no format fits; UsageError for a wrong `name`.
    """
    kind = kind_of(path)
    if name != "auto":
        chosen = format_named(name)
        chosen.reader(kind)
        return Detected(path, kind, chosen, ("named by the user",))
    head = Head(path, kind)
    best: tuple[Format, Sighting] | None = None
    for known_format in FORMATS:
        seen = known_format.detects(head) if kind in known_format.readers else None
        if seen is not None and (best is None or seen.certainty > best[1].certainty):
            best = known_format, seen
        if best is not None and best[1].certainty >= 1:
            break
    if best is None:
        raise _with_extensions(_unknown(head))
    found, sighting = best
    if sighting.refusal is not None:
        raise sighting.refusal
    return Detected(path, kind, found, sighting.evidence)


def kind_of(path: Path) -> Kind:
    """What the source is physically."""
    if not path.exists():
        raise UsageError(f"There is no file or folder {path}.", fix="Check the path.")
    if path.is_dir():
        is_table = path.suffix == ".lance" or any(each.suffix == ".lance" for each in path.iterdir())
        return "lance" if is_table else "folder"
    with path.open("rb") as handle:
        head = unzipped(handle, path.name).peek(HEAD)[:HEAD]
    if head.startswith(_SQLITE):
        return "sqlite"
    if path.suffix == ".sqlite":
        return "sqlite"
    if head.startswith(_PARQUET):
        return "parquet"
    if head.startswith(ZIP):
        return "zip"
    text = head_text(head)
    if not text.strip():
        raise MemtuiError(f"{path.name} is empty: there is nothing to import.", fix="Export it again.")
    if _HTML.match(text):
        raise MemtuiError(
            f"{path.name} is HTML, not an export: probably the page of a log-in.",
            fix="Sign in there and fetch the file again.",
        )
    if _ENCODED_TWICE.match(text):
        return "lines" if _is_lines(text, path.suffix) else "json"
    if text.lstrip()[:1] in ("{", "[") and not BRACKETED.match(text.lstrip()):
        return "lines" if _is_lines(text, path.suffix) else "json"
    return "text"


def _is_lines(head: str, suffix: str) -> bool:
    """Whether a text that begins with `head` has one JSON value a line, not one document."""
    first, newline, rest = head.lstrip().partition("\n")
    try:
        value = loads(first)
    except (json.JSONDecodeError, RecursionError):
        return suffix in _LINES and len(first) > 2
    value = unwrapped(value)
    if not isinstance(value, dict):
        return suffix in _LINES and not isinstance(value, list)
    return bool(newline and rest.strip()) or suffix in _LINES


def _with_extensions(error: MemtuiError) -> MemtuiError:
    """The same error, whose remedy names the formats of extensions: their code runs only when it is chosen."""
    names = ", ".join(extension.name for extension in installed(READERS))
    if names:
        error.fix = f"{error.fix} Formats of extensions are read when named with --format: {names}."
    return error


def _unknown(head: Head) -> MemtuiError:
    """What is said of a source that no format fits."""
    path, name = head.path, head.path.name
    match head.kind:
        case "json":
            keys = ", ".join(head.document.keys[:8])
            shape = f"an object with the keys {keys}" if head.document.keys else "no array of records"
            return MemtuiError(
                f"{name} holds no memories that we can see: it is {shape}.",
                fix="Name its form, or export it again.",
            )
        case "lines":
            return MemtuiError(
                f"{name} holds no objects, one a line.", fix="Name its form, or export it again."
            )
        case "zip" | "folder" as kind:
            what = (
                f"{name or path} is an archive without notes, tables or exports that we know."
                if kind == "zip"
                else f"{path} holds neither Markdown nor a LanceDB table."
            )
            return MemtuiError(what, fix="Name a file in it, or the folder that holds the notes.")
        case kind:
            return MemtuiError(
                f"{name} is {KINDS[kind]} of no program that we know.",
                fix="Name its form, or export it again.",
            )
