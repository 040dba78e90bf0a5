"""The journal of calls: who called which tool or hook, what came back, how long it took. No texts unless asked for."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.secrets import mask

KEPT = "calls.jsonl"

LARGEST = 4_000_000
"""Bytes; a longer journal becomes `calls.1.jsonl`, and the one before that goes."""

LINE = 600
"""Bytes that a line has at most, mostly: the newest calls are looked for in so many from the end."""

LONGEST_TEXT = 4_000
"""Characters that are kept of one text."""

UNANSWERED = "unanswered"
"""The outcome of a call that was begun and has no answer yet; of one that was cut off it stays."""

Via = Literal["stdio", "http", "hook"]
"""The way that a call came: a tool over standard input or HTTP, or an event of an agent's host."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, or one event of a host, and what became of it."""

    time_ms: int
    client: str
    agent: str
    tool: str
    outcome: str
    """ok, the action of a write (created, preview, ...), refused, unanswered; of a hook: injected, stored, silent."""
    ids: tuple[str, ...]
    """What came back, or what was written."""
    ms: float
    asked: str
    """SHA-256 of the arguments, 16 digits: the same call has the same."""
    arguments: Mapping[str, Any] | None = None
    """The arguments themselves, where texts are kept."""
    said: str = ""
    """Why it was refused, where texts are kept."""
    via: Via = "stdio"
    gate: str = ""
    """What refused it, in a word: the argument or the gate of the text; of `memory_why` the gate it names."""
    scores: tuple[float, ...] = ()
    """Of `ids`, where the answer has scores."""
    chars: int = 0
    """Characters of the block that went into a prompt."""
    key: str = ""
    """Of a call that may write: what its two lines share, the one when it began and the one with its answer."""


def asked_of(arguments: Mapping[str, Any]) -> str:
    """A digest of the arguments."""
    text = json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def masked(given: Any) -> Any:
    """Arguments as the journal may keep them: secrets masked and long texts cut, however deep they stand."""
    if isinstance(given, str):
        return mask(given)[0][:LONGEST_TEXT]
    if isinstance(given, Mapping):
        return {masked(name): masked(value) for name, value in given.items()}
    if isinstance(given, Sequence):
        return [masked(item) for item in given]
    return given


def scores_in(answer: Any) -> tuple[float, ...]:
    """The scores of a search's results, in order; empty where one has none."""
    results = answer.get("results") if isinstance(answer, Mapping) else None
    scores = [result.get("score") for result in results or () if isinstance(result, Mapping)]
    known = [float(score) for score in scores if isinstance(score, int | float)]
    return tuple(round(each, 4) for each in known) if len(known) == len(scores) else ()


_RULES = (
    ("secret", "secret"),
    ("prompt injection", "order"),
    ("paused", "paused"),
    ("The person", "not agreed"),
    ("read-only", "read only"),
    ("nothing that would help", "noise"),
)


def gate_of(why: str) -> str:
    """What refused a call, in a word that repeats nothing of what was sent: a rule, else the argument it names."""
    rule = next((gate for words, gate in _RULES if words in why), "")
    argument = re.match(r"([a-z_]{1,24}): ", why)
    return rule or (argument[1] if argument else "")


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
        told = {name: value for name, value in asdict(call).items() if value not in (None, "", (), 0)}
        line = json.dumps({"time_ms": 0, "ids": (), "ms": 0.0, **told})
        try:
            make_private_folder(self.path.parent)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                end = os.fstat(file).st_size
                torn = (
                    end > 0 and os.pread(file, 1, end - 1) != b"\n"
                )  # by a kill: it takes no other line along
                os.write(file, ("\n" * torn + line + "\n").encode())
                size = os.fstat(file).st_size
            finally:
                os.close(file)
            if size > LARGEST:
                self.path.replace(self.path.with_name("calls.1.jsonl"))
        except OSError:
            return

    @property
    def stamp(self) -> tuple[int, int]:
        """What differs when there is something new: the size and the change of the file."""
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    def read(self, limit: int = 500) -> list[Call]:
        """The newest calls, the newest first; a line that was cut off is left out.

        A call that has its answer is one; one without stands where it began.
        """
        found: list[Call] = []
        for path in (self.path, self.path.with_name("calls.1.jsonl")):
            if len(found) < limit:
                answered = {call.key for call in found if call.outcome != UNANSWERED}
                found += _last_calls(path, limit - len(found), answered)
        return found


def _last_calls(path: Path, count: int, answered: Collection[str]) -> list[Call]:
    """The last `count` calls of a file, or all of them, the last first."""
    wanted = max(1, count) * LINE
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            while True:
                start = max(0, size - wanted)
                file.seek(start)
                lines = file.read(size - start).decode("utf-8", "replace").splitlines()
                read = [call for line in lines[1 if start else 0 :] if (call := _call(line)) is not None]
                over = {call.key for call in read if call.outcome != UNANSWERED}.union(answered)
                found = [call for call in read if call.outcome != UNANSWERED or call.key not in over]
                if not start or len(found) >= count:
                    return found[::-1][:count]
                wanted *= 4
    except OSError:
        return []


_NAMES = {field.name for field in fields(Call)}


def _call(line: str) -> Call | None:
    try:
        given = json.loads(line)
        told = {"agent": "", "client": "", **{k: v for k, v in given.items() if k in _NAMES}}
        return Call(**{**told, "ids": tuple(told["ids"]), "scores": tuple(told.get("scores", ()))})
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
