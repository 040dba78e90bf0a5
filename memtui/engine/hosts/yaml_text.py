"""YAML with places: one item of a list is written or taken out, every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import yaml

from memtui.engine.hosts.piece import ConfigPiece, NotReadableError


class YamlFormat:
    """YAML in its block form; a piece is an item of a list at the top."""

    title = "YAML"
    new = "name: Local Config\nversion: 1.0.0\nschema: v1\n"

    def read(self, text: str) -> Any:
        """The values of a text. NotReadableError, also for several documents in one file."""
        try:
            return yaml.safe_load(text) or {}
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            why = getattr(error, "problem", None) or type(error).__name__
            where = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
            raise NotReadableError(f"{why}{where}") from error

    def put(self, text: str, piece: ConfigPiece) -> str:
        """The text with the item's own keys set, or with a new item at the end of the list."""
        line_end = "\r\n" if "\r\n" in text else "\n"
        key, items = _list_at(text, piece.place[0])
        if key is None:
            lead = "" if not text or text.endswith("\n") else line_end
            return text + lead + line_end.join([f"{piece.place[0]}:", *_item(piece.value, "  "), ""])
        if not isinstance(items, yaml.SequenceNode) or items.flow_style:
            if items is not None and items.tag != "tag:yaml.org,2002:null" and _plain(items):
                raise KeyError(piece.place[0])
            if items is not None:  # an empty list, or null
                text = text[: items.start_mark.index].rstrip(" ") + text[items.end_mark.index :]
            at = _line_after(text, key.end_mark.index)
            lead = "" if text[:at].endswith("\n") else line_end
            return text[:at] + lead + line_end.join([*_item(piece.value, "  "), ""]) + text[at:]
        dash = " " * items.start_mark.column
        for node in items.value:
            if piece.is_alike(_plain(node)):
                return _changed(text, node, piece, dash + "  ", line_end)
        at = _line_after(text, _end_of(items))
        lead = "" if text[:at].endswith("\n") else line_end
        return text[:at] + lead + line_end.join([*_item(piece.value, dash), ""]) + text[at:]

    def take(self, text: str, piece: ConfigPiece) -> str:
        """The text without the item, and without the list where it was the only one."""
        key, items = _list_at(text, piece.place[0])
        if key is None or not isinstance(items, yaml.SequenceNode):
            return text
        found = [node for node in items.value if piece.is_alike(_plain(node))]
        if len(found) == len(items.value):
            return text[: key.start_mark.index] + text[_line_after(text, _end_of(items)) :]
        for node in reversed(found):
            start = text.rfind("\n", 0, node.start_mark.index) + 1
            text = text[:start] + text[_line_after(text, _end_of(node)) :]
        return text


def _list_at(text: str, name: str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The key at the top and its value; the value None where nothing stands behind the key. KeyError for a `{}`."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return None, None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise KeyError(name)
    for key, value in root.value:
        if key.value == name:
            return key, None if value.tag == "tag:yaml.org,2002:null" and not value.value else value
    return None, None


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {key.value: _plain(value) for key, value in node.value}
    return node.value


def _end_of(node: yaml.Node) -> int:
    """Where a value ends: that of a block, as the parser tells it, has the lines behind it, too."""
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return _end_of(node.value[-1]) if node.value else int(node.start_mark.index)
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return _end_of(node.value[-1][1]) if node.value else int(node.start_mark.index)
    return int(node.end_mark.index)


def _line_after(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at  # a text in lines ends with its last one
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _item(value: dict[str, Any], indent: str) -> list[str]:
    """The lines of an item of a list."""
    rows = [row for name, each in value.items() for row in _pair(name, each, indent + "  ")]
    return [f"{indent}- {rows[0].lstrip()}", *rows[1:]]


def _pair(name: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, list) and value:
        return [f"{indent}{name}:", *(f"{indent}  - {_scalar(item)}" for item in value)]
    return [f"{indent}{name}: {value if name == 'name' else _scalar(value)}"]


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _changed(text: str, node: yaml.Node, piece: ConfigPiece, indent: str, line_end: str) -> str:
    """The text with the keys of an item set that are memtui's."""
    pairs = {key.value: (key, value) for key, value in node.value}
    splices: list[tuple[int, int, str]] = []
    last = _line_after(text, _end_of(node))
    for name, value in piece.value.items():
        rows = _pair(name, value, indent)
        if name not in pairs:
            lead = "" if text[:last].endswith("\n") else line_end
            splices.append((last, last, lead + line_end.join([*rows, ""])))
        elif _plain(pairs[name][1]) != value:
            key, old = pairs[name]
            splices.append((key.start_mark.index, _end_of(old), line_end.join(rows).lstrip()))
    for name, (key, old) in pairs.items():
        if name in piece.ours and name not in piece.value:
            start = text.rfind("\n", 0, key.start_mark.index) + 1
            splices.append((start, _line_after(text, _end_of(old)), ""))
    for start, end, made in sorted(splices, key=lambda splice: splice[:2])[::-1]:
        text = text[:start] + made + text[end:]
    return text
