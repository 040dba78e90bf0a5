"""The journal of calls: who called which tool, what came back, how long it took. No texts unless somebody asked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

KEPT = "calls.jsonl"

LARGEST = 4_000_000
"""Bytes; a longer journal becomes `calls.1.jsonl`, and the one before that goes."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, and what became of it."""

    time_ms: int
    client: str
    agent: str
    tool: str
    outcome: str
    """ok, the action of a write (created, preview, ...), or refused."""
    ids: tuple[str, ...]
    """What came back, or what was written."""
    ms: float
    asked: str
    """SHA-256 of the arguments, 16 digits: the same call has the same."""
    arguments: Mapping[str, Any] | None = None
    """The arguments themselves, where texts are kept."""
    said: str = ""
    """Why it was refused, where texts are kept."""


def asked_of(arguments: Mapping[str, Any]) -> str:
    """A digest of the arguments."""
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ids_in(answer: Any) -> tuple[str, ...]:
    """The ids of memories in a tool's structured content, each once, in order."""
    found: dict[str, None] = {}

    def walk(part: Any) -> None:
        if isinstance(part, Mapping):
            if isinstance(part.get("id"), str) and part["id"]:
                found[part["id"]] = None
            for value in part.values():
                walk(value)
        elif isinstance(part, Sequence) and not isinstance(part, str):
            for value in part:
                walk(value)

    walk(answer)
    return tuple(found)


class CallJournal:
    """The calls on one store, of all servers and processes: a line each, appended in one write."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / KEPT

    def add(self, call: Call) -> None:
        """Append. A journal that cannot be written keeps no call from being answered."""
        line = json.dumps({name: value for name, value in asdict(call).items() if value not in (None, "")})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, (line + "\n").encode())
                size = os.fstat(file).st_size
            finally:
                os.close(file)
            if size > LARGEST:
                self.path.replace(self.path.with_name("calls.1.jsonl"))
        except OSError:
            return

    def read(self, limit: int = 500) -> list[Call]:
        """The newest calls, the newest first; a line that was cut off is left out."""
        lines: list[str] = []
        for path in (self.path.with_name("calls.1.jsonl"), self.path):
            try:
                lines += path.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
        names = {each.name for each in fields(Call)}
        found: list[Call] = []
        for line in reversed(lines):
            if len(found) == limit:
                break
            try:
                given = json.loads(line)
                told = {"agent": "", "client": "", **{k: v for k, v in given.items() if k in names}}
                found.append(Call(**{**told, "ids": tuple(told["ids"])}))
            except (ValueError, TypeError, KeyError):
                continue
        return found
