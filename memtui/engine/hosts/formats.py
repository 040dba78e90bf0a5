"""The formats of hosts' configuration files: JSON with comments, TOML, YAML; one piece is changed, all else kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from memtui.engine.configuration.json5_text import Json5Error, parse, remove_value, set_value
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.hosts.piece import (
    ConfigPiece,
    InTheWayError,
    NotReadableError,
    put_value,
    take_value,
    value_in,
)


class FileFormat(Protocol):
    """How a text is read, and how a piece is put into it and taken out of it."""

    title: str
    new: str
    """What a new file begins with."""

    def read(self, text: str) -> Any:
        """The plain values of a text. NotReadableError for one that is not of the format."""

    def put(self, text: str, piece: ConfigPiece) -> str:
        """The text with the piece in its place, every other byte as it was."""

    def take(self, text: str, piece: ConfigPiece) -> str:
        """The text without what stands in the place of the piece."""


class JsonFormat:
    """JSON, with comments, commas at the end and bare names where the file has them."""

    title = "JSON"
    new = "{}\n"

    def read(self, text: str) -> Any:
        """The values of a text. NotReadableError."""
        try:
            return parse(text).plain()
        except Json5Error as error:
            raise NotReadableError(str(error)) from error

    def put(self, text: str, piece: ConfigPiece) -> str:
        """The text with the piece's own members set in its place."""
        tree = parse(text).plain()
        there = value_in(tree, piece.place)
        path: list[str | int] = list(piece.place)
        for depth in range(1, len(piece.place)):
            outer = value_in(tree, piece.place[: depth - 1])
            if (
                isinstance(outer, dict) and outer.get(piece.place[depth - 1], outer) is None
            ):  # null, as good as {}
                inner: object = [piece.value] if piece.key else piece.value
                for name in reversed(piece.place[depth:]):
                    inner = {name: inner}
                return set_value(text, path[:depth], inner)
        if piece.key:
            items = there if isinstance(there, list) else []
            position = next((at for at, item in enumerate(items) if piece.is_alike(item)), None)
            if position is None:
                return set_value(text, path, [*items, piece.value])
            there = items[position]
            path.append(position)
        if not isinstance(there, dict) or not isinstance(piece.value, dict) or not piece.ours:
            return set_value(text, path, piece.value)
        for name in there:
            if name in piece.ours and name not in piece.value:
                text = remove_value(text, [*path, name])
        for name, value in piece.value.items():
            if name not in there or there[name] != value:
                text = set_value(text, [*path, name], value)
        return text

    def take(self, text: str, piece: ConfigPiece) -> str:
        """The text without what stands there, and without objects that held nothing else."""
        tree = parse(text).plain()
        there = value_in(tree, piece.place)
        path: list[str | int] = list(piece.place)
        if piece.key and isinstance(there, list):
            positions = [at for at, item in enumerate(there) if piece.is_alike(item)]
            if len(positions) < len(there):
                for position in reversed(positions):
                    text = remove_value(text, [*path, position])
                return text
        while len(path) > 1 and len(value_in(tree, [str(name) for name in path[:-1]]) or ()) == 1:
            path.pop()
        return remove_value(text, path)


def format_of(name: str) -> FileFormat:
    """The format of a file by its name."""
    ending = Path(name).suffix.lower()
    if ending == ".toml":
        from memtui.engine.hosts.toml_text import TomlFormat

        return TomlFormat()
    if ending in (".yaml", ".yml"):
        from memtui.engine.hosts.yaml_text import YamlFormat

        return YamlFormat()
    return JsonFormat()


def read_text(path: Path, content: bytes) -> tuple[str, Any]:
    """The text of a configuration file without its byte order mark, and its values. MemtuiError where it is damaged."""
    form = format_of(path.name)
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise MemtuiError(
            f"{path} is not UTF-8 at byte {error.start}.",
            fix="Save it as UTF-8 and try again; nothing was changed.",
        ) from error
    if not text.strip():
        return text, {}
    try:
        return text, form.read(text)
    except NotReadableError as error:
        raise MemtuiError(
            f"{path} is not {form.title}: {error}.",
            fix="Correct that place and try again; nothing was changed.",
        ) from error


def edited(path: Path, content: bytes | None, piece: ConfigPiece, *, take: bool = False) -> bytes:
    """The bytes of a file with a piece put into it (or taken out): nothing else in it changes.

    `content` None is a file that is not there yet. Raises MemtuiError for a file that cannot be read, RefusedError
    where the piece has no place in it.
    """
    form = format_of(path.name)
    text, tree = ("", {}) if content is None else read_text(path, content)
    if not text.strip():
        text = form.new
        tree = form.read(text)
    try:
        wanted = take_value(tree, piece) if take else put_value(tree, piece)
    except InTheWayError as error:
        raise RefusedError(
            f"{path} cannot take the entry: {error} holds another kind of value.",
            fix="Correct that place and try again; nothing was changed.",
        ) from error
    if wanted == tree:
        return content if content is not None else text.encode("utf-8")
    try:
        made = form.take(text, piece) if take else form.put(text, piece)
        right = _alike(form.read(made), wanted)
    except (NotReadableError, KeyError, IndexError) as error:
        raise _refusal(path, piece) from error
    if not right:
        raise _refusal(path, piece)
    mark = b"\xef\xbb\xbf" if content is not None and content.startswith(b"\xef\xbb\xbf") else b""
    return mark + made.encode("utf-8")


def _alike(found: Any, wanted: Any) -> bool:
    """Whether two trees are the same: dates and numbers by what they print."""
    return json.dumps(found, default=repr, sort_keys=True) == json.dumps(wanted, default=repr, sort_keys=True)


def _refusal(path: Path, piece: ConfigPiece) -> RefusedError:
    return RefusedError(
        f"{path} writes {'.'.join(piece.place[:1])} in a form that memtui does not change.",
        fix="Paste the entry instead: memtui mcp --print-config HOST prints it; nothing was changed.",
    )
