"""The messages of the protocol as bytes: what a line or a request's body says, or the error that answers it.

Every way in reads here first, so that the same bytes get the same answer over standard input and over HTTP. What
passes is a JSON object that the SDK takes; whether its method and parameters are right is the SDK's to say.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from memtui.engine import unbroken

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

MOST_BYTES = 4 * 1024 * 1024
"""Bytes of one message; the SDK takes as many over HTTP."""

EDGE_BYTES = 512
"""Of a message that is too large, so many bytes at its beginning and at its end are looked at for its id."""

DEEPEST = 100
"""Levels of nesting of one message; the SDK's own parser stops at 200."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""The escape of half a character, as JavaScript writes it; two of them in a row are a whole one."""

_ID_FIRST = re.compile(
    rb'\A\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")\s*,'
)
_ID_LAST = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')
"""An id beside the outermost braces: no other place of a message looks like these two."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why bytes are no message: the code of the protocol, the sentence, the id where one is known."""

    code: int
    why: str
    id: str | int | None = None
    silent: bool = False
    """Whether it is a notification's: those are never answered, where the way back allows silence."""

    def as_json(self) -> dict[str, Any]:
        """The error of the protocol that answers it."""
        return {"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code, "message": self.why}}


def read_message(data: bytes) -> dict[str, Any] | Fault:
    """What bytes say: a request, a notification or a response as a JSON object, else what is wrong with them."""
    if len(data) > MOST_BYTES:
        return too_large(data[:EDGE_BYTES], data[-EDGE_BYTES:])
    data = data.removeprefix(_BYTE_ORDER_MARK)
    damaged = False
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text, damaged = data.decode(errors="replace"), True
    try:
        message = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        return Fault(INVALID_REQUEST, f"The message is nested too deeply: {DEEPEST} levels at most.")
    except ValueError:
        return Fault(PARSE_ERROR, "The message is no JSON. Send one JSON-RPC 2.0 object.")
    if isinstance(message, list):
        return Fault(INVALID_REQUEST, "Batches are not supported. Send one message at a time.")
    if not isinstance(message, dict):
        return Fault(INVALID_REQUEST, "The message is no JSON object. Send one JSON-RPC 2.0 object.")
    if damaged:
        return Fault(PARSE_ERROR, "The message is not valid UTF-8.", _id_of(message))
    if text.count("{") + text.count("[") > DEEPEST and _is_deeper(message, DEEPEST):
        why = f"The message is nested too deeply: {DEEPEST} levels at most."
        return Fault(INVALID_REQUEST, why, _id_of(message))
    if _HALF.search(text):
        message = unbroken(message)
    return _fault_in(message) or _with_arguments(message)


def too_large(head: bytes, tail: bytes) -> Fault:
    """The fault of a message of more than `MOST_BYTES`, of which only the edges are known."""
    found = _ID_FIRST.search(head) or _ID_LAST.search(tail)
    known: str | int | None = None
    if found is not None:
        try:
            known = json.loads(found[1])
        except ValueError:
            known = None
    return Fault(INVALID_REQUEST, f"The message is too large: {MOST_BYTES >> 20} MiB at most.", known)


def _fault_in(message: dict[str, Any]) -> Fault | None:
    """What is wrong with the outermost members of a message."""
    known = _id_of(message)
    if message.get("jsonrpc") != "2.0":
        return Fault(INVALID_REQUEST, 'jsonrpc: it must be "2.0".', known)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    if not isinstance(message.get("method"), str):
        return Fault(INVALID_REQUEST, "method: it must be a text.", known)
    if "id" in message and known is None:
        return Fault(INVALID_REQUEST, "id: it must be a text or a whole number.")
    if not isinstance(message.get("params"), dict | None):
        return Fault(INVALID_PARAMS, "params: it must be an object.", known, silent="id" not in message)
    return None


def _with_arguments(message: dict[str, Any]) -> dict[str, Any] | Fault:
    """A message with the arguments of a call as an object, though a host wrote them as JSON text, or none as a list."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return message
    given = params.get("arguments")
    if isinstance(given, dict | None):
        return message
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            given = ""
    if given == [] or given is None:
        given = {}
    if not isinstance(given, dict) or _is_deeper(given, DEEPEST):
        why = "arguments: it must be an object, such as {} for none."
        return Fault(INVALID_PARAMS, why, _id_of(message), silent="id" not in message)
    return {**message, "params": {**params, "arguments": unbroken(given)}}


def _id_of(message: dict[str, Any]) -> str | int | None:
    known = message.get("id")
    return known if isinstance(known, str | int) and not isinstance(known, bool) else None


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested deeper than so many levels."""
    level = [value]
    for _ in range(levels + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
