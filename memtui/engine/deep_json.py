"""JSON nested deeper than the standard library can go, read and written with a stack of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(json.decoder)["scanstring"]
_WHITE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r'[^\[\]{}",:\s]+')


def loads(text: str) -> Any:
    """The value of a JSON text of any depth; ValueError when it is not JSON (NaN and Infinity are not)."""
    return _Reader(text).read()


def dump_json(value: Any, *, default: Callable[[Any], Any] = str, **options: Any) -> str:
    """`json.dumps` for values of any depth: what is nested too deep for it is written on one line."""
    try:
        return json.dumps(value, default=default, **options)
    except RecursionError:
        encode = json.JSONEncoder(
            ensure_ascii=options.get("ensure_ascii", True), allow_nan=options.get("allow_nan", True)
        ).encode
        return "".join(_written(value, encode, default))


def _written(value: Any, encode: Callable[[Any], str], default: Callable[[Any], Any]) -> Iterator[str]:
    """The pieces of a JSON text; containers that are still open wait on a list."""
    waiting: list[Any] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Piece):
            yield each
        elif isinstance(each, Mapping):
            waiting.append(_Piece("}"))
            for at, (key, item) in enumerate(reversed(list(each.items()))):
                name = key if isinstance(key, str) else encode(key)
                comma = "," if at < len(each) - 1 else ""
                waiting += [item, _Piece(f"{comma}{encode(name)}:")]
            yield "{"
        elif isinstance(each, list | tuple):
            waiting.append(_Piece("]"))
            for at, item in enumerate(reversed(each)):
                waiting += [item, _Piece("," if at < len(each) - 1 else "")]
            yield "["
        elif each is None or isinstance(each, str | int | float):
            yield encode(each)
        else:
            waiting.append(default(each))


class _Piece(str):
    """A piece of JSON text that is written as it is."""

    __slots__ = ()


class _Reader:
    """One pass over a text; containers that are still open wait on a list, not on the call stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> Any:
        """The value of the whole text."""
        top: list[Any] = []
        open_containers: list[Any] = []
        put: Callable[[Any], None] = top.append
        while True:
            value = self._value()
            put(value)
            if isinstance(value, list | dict) and not self._take("]" if isinstance(value, list) else "}"):
                open_containers.append(value)
                put = self._slot(value)
                continue
            while open_containers and not self._take(","):
                container = open_containers[-1]
                self._need("]" if isinstance(container, list) else "}")
                open_containers.pop()
            if not open_containers:
                break
            put = self._slot(open_containers[-1])
        self._skip_white()
        if self._at != len(self._text):
            raise self._fault("extra data")
        return top[0]

    def _value(self) -> Any:
        """A scalar, or an empty container just opened."""
        if self._take("["):
            return []
        if self._take("{"):
            return {}
        if self._next() == '"':
            return self._string()
        match = _SCALAR.match(self._text, self._at)
        if match is None:
            raise self._fault("no value")
        self._at = match.end()
        return json.loads(match[0], parse_constant=_refuse, parse_int=_whole_number)

    def _slot(self, container: Any) -> Callable[[Any], None]:
        """Where the next value of an open container goes; reads the key of an object."""
        if isinstance(container, list):
            return container.append
        if self._next() != '"':
            raise self._fault("no key")
        key = self._string()
        self._need(":")
        return lambda value: container.__setitem__(key, value)

    def _string(self) -> str:
        value, self._at = _scan_string(self._text, self._at + 1, True)
        return value

    def _next(self) -> str:
        self._skip_white()
        return self._text[self._at : self._at + 1]

    def _take(self, mark: str) -> bool:
        if self._next() != mark:
            return False
        self._at += 1
        return True

    def _need(self, mark: str) -> None:
        if not self._take(mark):
            raise self._fault(f"no {mark}")

    def _skip_white(self) -> None:
        if match := _WHITE.match(self._text, self._at):
            self._at = match.end()

    def _fault(self, what: str) -> ValueError:
        return ValueError(f"{what} at {self._at}")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)
