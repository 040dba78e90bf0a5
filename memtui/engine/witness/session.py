"""A session as its files tell it: entries, submitted prompts, and what could not be read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

LONGEST_ANSWER = 20_000
"""Characters of an answer that are looked at for words of a memory."""

LONGEST_MESSAGE = 262_144
"""Characters of a user's message that are kept; what was injected opens the message."""

ANSWERS_KEPT = 16_000_000
"""Characters of all answers of a session that are kept; of a longer session those of the oldest go."""

MESSAGES_KEPT = 32_000_000
"""Characters of all messages of users that are kept whole; of a longer session the oldest are cut."""

_BEGINNING = 2_000
"""Characters behind the injected blocks that an old message of a long session keeps."""

RECALL_TOOL = "memory_recall"

ToolResult = tuple[str, str, tuple[tuple[str, str | None], ...], tuple[str, ...]]
"""(call id, tool, (id, scope) of each memory, the scopes that were searched)."""

Kind = Literal["user", "assistant", "tool", "compaction", "other"]


@dataclass(frozen=True, slots=True)
class SessionFile:
    """Where one session is, before its entries are read."""

    id: str
    agent: str
    path: Path
    form: Literal["jsonl", "sqlite"]
    archived: Literal["", "reset", "deleted"] = ""
    modified_ms: int = 0
    key: str = ""
    """The session key, where an index names it."""
    listed_only: bool = False
    """Whether a database lists it and holds nothing of it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a memory tool."""

    name: str
    query: str
    ids: tuple[str, ...]
    """The ids that its result names."""
    scopes: tuple[str | None, ...] = ()
    """The scope of each as the result says it; None where it says none."""
    searched: tuple[str, ...] = ()
    """The scopes that the tool searched for its agent, where the result says so."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a transcript, reduced to what the witness needs."""

    id: str
    parent: str | None
    linked: bool
    """Whether the entry says who its parent is (old transcripts do not)."""
    kind: Kind
    time_ms: int
    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """Tool calls of an answer: (call id, tool, query)."""
    result: ToolResult | None = None
    """Of a tool result."""


@dataclass(frozen=True, slots=True)
class SubmittedPrompt:
    """What a run submitted to its model, as the recorder kept it."""

    run: str
    time_ms: int
    prompt: str | None
    """None where the recorder cut the event."""
    leaf: str | None
    """The entry that the user's message hangs on; only meaningful where `joined`."""
    joined: bool


@dataclass(slots=True)
class SessionRecord:
    """Everything that one session's files tell."""

    file: SessionFile
    entries: list[Entry] = field(default_factory=list)
    prompts: list[SubmittedPrompt] = field(default_factory=list)
    recorded: Literal["", "trajectory", "sqlite"] = ""
    """Where the submitted prompts come from; empty where nothing was recorded."""
    full: bool = False
    """Whether the recorder stopped because its file was full."""
    warnings: list[str] = field(default_factory=list)
    shortened: int = 0
    """Answers left out and messages cut, the oldest first, to hold the memory of a long session down."""
    _whole: dict[str, deque[int]] = field(default_factory=lambda: {"assistant": deque(), "user": deque()})
    _held: dict[str, int] = field(default_factory=lambda: {"assistant": 0, "user": 0})

    def add(self, entry: Entry) -> None:
        """Take the next entry; the words of the oldest ones go where there are too many of them."""
        kind = entry.kind
        self.entries.append(entry)
        if kind not in self._whole or not entry.text:
            return
        self._whole[kind].append(len(self.entries) - 1)
        self._held[kind] += len(entry.text)
        while self._held[kind] > (ANSWERS_KEPT if kind == "assistant" else MESSAGES_KEPT):
            at = self._whole[kind].popleft()
            text = self.entries[at].text
            self._held[kind] -= len(text)
            kept = "" if kind == "assistant" else _beginning(text)
            self.shortened += kept != text
            self.entries[at] = replace(self.entries[at], text=kept)

    def tell_shortened(self) -> None:
        """Say in the warnings how much was left out."""
        if self.shortened:
            self.warnings.append(
                f"a long session: the words of {self.shortened} old answers and messages are not kept whole, "
                "so whether they used a memory is not known"
            )


def entry_of(value: Any, fallback_ms: int = 0) -> Entry | None:
    """One entry out of its JSON; None for what is no entry (the header, foreign types)."""
    if not isinstance(value, Mapping) or value.get("type") in (None, "session"):
        return None
    name = value.get("type")
    time_ms = moment_of(value.get("timestamp")) or fallback_ms
    parent = value.get("parentId")
    base: dict[str, Any] = {
        "id": value["id"] if isinstance(value.get("id"), str) else "",
        "parent": parent if isinstance(parent, str) else None,
        "linked": "parentId" in value,
    }
    message = value.get("message")
    if name == "compaction":
        return Entry(**base, kind="compaction", time_ms=time_ms)
    if name != "message" or not isinstance(message, Mapping):
        return Entry(**base, kind="other", time_ms=time_ms)
    time_ms = moment_of(message.get("timestamp")) or time_ms
    role, content = message.get("role"), message.get("content")
    if role == "user":
        return Entry(**base, kind="user", time_ms=time_ms, text=text_of(content)[:LONGEST_MESSAGE])
    if role == "assistant":
        text = text_of(content)[:LONGEST_ANSWER]
        return Entry(**base, kind="assistant", time_ms=time_ms, text=text, calls=_calls(content))
    if role in ("toolResult", "tool"):
        return Entry(**base, kind="tool", time_ms=time_ms, result=_result(message, text_of(content)))
    return Entry(**base, kind="other", time_ms=time_ms)


def prompts_of(events: Iterable[Mapping[str, Any]]) -> tuple[list[SubmittedPrompt], bool, int]:
    """(one prompt for each run that submitted one, whether the recorder was full, foreign events).

    A run that submits again (a model fallback) has submitted one prompt. Where one of the run's events was
    cut, the other may have survived.
    """
    runs: dict[str, dict[str, Any]] = {}
    full, foreign = False, 0
    for number, event in enumerate(events):
        name, data = event.get("type"), event.get("data")
        if name == "trace.truncated":
            full = True
            continue
        if name not in ("prompt.submitted", "context.compiled"):
            foreign += not isinstance(name, str)
            continue
        data = data if isinstance(data, Mapping) else {}
        run = event.get("runId")
        seen = runs.setdefault(run if isinstance(run, str) and run else f"#{number}", {})
        seen.setdefault("time", moment_of(event.get("ts")))
        if isinstance(data.get("prompt"), str):
            seen.setdefault(str(name), data["prompt"])
        if "transcriptLeafId" in data:
            leaf = data["transcriptLeafId"]
            seen["leaf"] = leaf if isinstance(leaf, str) else None
    prompts = [
        SubmittedPrompt(
            run,
            seen["time"],
            seen.get("prompt.submitted", seen.get("context.compiled")),
            seen.get("leaf"),
            "leaf" in seen,
        )
        for run, seen in runs.items()
    ]
    return prompts, full, foreign


def text_of(content: Any) -> str:
    """The text of a message: a string, or its text blocks in order."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        block["text"]
        for block in content
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return "\n".join(parts)


def moment_of(value: Any) -> int:
    """A time in ms out of a number or an ISO text; 0 for anything else."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        return int(value) if 0 < value < 1e16 else 0
    if not isinstance(value, str):
        return 0
    try:
        return int(datetime.fromisoformat(value).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0


def _beginning(text: str) -> str:
    """The injected blocks of a message, and the beginning of the rest."""
    from memtui.engine.witness.prompt_block import split_prompt

    rest = text.find(split_prompt(text).rest)
    return text[: max(0, rest) + _BEGINNING]


def _calls(content: Any) -> tuple[tuple[str, str, str], ...]:
    out = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, Mapping) or block.get("type") not in ("toolCall", "tool_use", "toolUse"):
            continue
        given = block.get("arguments", block.get("input"))
        query = given.get("query") if isinstance(given, Mapping) else None
        out.append(
            (
                str(block.get("id") or ""),
                str(block.get("name") or ""),
                query if isinstance(query, str) else "",
            )
        )
    return tuple(out)


def _result(
    message: Mapping[str, Any], text: str
) -> tuple[str, str, tuple[tuple[str, str | None], ...], tuple[str, ...]]:
    from memtui.engine.witness.prompt_block import block_lines

    details = message.get("details")
    listed = details.get("memories") if isinstance(details, Mapping) else None
    told: list[tuple[str, str | None]] = [
        (each["id"], each["scope"] if isinstance(each.get("scope"), str) else None)
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping) and isinstance(each.get("id"), str)
    ]
    name = str(message.get("toolName") or "")
    if not told and name == RECALL_TOOL:
        told = [(line.id, line.scope) for line in block_lines(text)[1] if line.id]
    scopes = details.get("scopes") if isinstance(details, Mapping) else None
    searched = tuple(each for each in scopes if isinstance(each, str)) if isinstance(scopes, list) else ()
    return str(message.get("toolCallId") or ""), name, tuple(told), searched
