"""A session as its files tell it: entries, submitted prompts, and what could not be read."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memtui.engine.witness.prompt_block import split_prompt
from memtui.engine.witness.usage import ModelUsage, usage_of

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

LONGEST_ARGUMENT = 4_000
"""Characters of one argument of a memory tool's call that are kept."""

RECALL_TOOL = "memory_recall"

READING_TOOLS = (RECALL_TOOL, "memory_search", "memory_get", "memory_list")
"""Tools that show memories to their agent; the others of memory write."""

NESTED_TOOL = "openclaw.nested-tool.v1"
"""The custom message in which a host keeps the call behind its bridge."""

BRIDGE = "tool_call"
"""The tool behind which a host hides the tools of its plugins: the model names the tool in the arguments."""

HEARTBEAT = "[OpenClaw heartbeat poll]"

_EARLIER_HEARTBEAT = re.compile(r"(?s)(?:\[[^\]\n]{1,80}\] ?)?Read HEARTBEAT\.md\b.*\breply HEARTBEAT_OK\b")
"""Earlier hosts wrote the whole order, and no provenance; a person who asks about the file asks for no such answer."""

_CRON_JOB = re.compile(r"\[cron:[^\]\s]+ [^\]\n]*\] ?")
"""Earlier hosts put the job's id and name before what it asks."""

_BY_THE_HOST = re.compile(
    r"(?:agent:[^:]+:)?(?P<why>subagent|cron|hook):.*"
    r"|agent:.*:(?P<inner>subagent):[0-9a-f-]{36}"
    r"|agent:.*:(?P<plugin>active-memory):[0-9a-f]{12}"
)
"""Keys of sessions that the host or a plugin opened: nobody asks in them."""

_BY_A_PERSON = "external_user"

Kind = Literal["user", "assistant", "tool", "compaction", "reset", "other"]


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
    archive: str = ""
    """Of a transcript in a database's table of archives, the name of its archive."""
    spawned: bool = False
    """Whether the host's index says that another session opened it."""

    @property
    def machine(self) -> str:
        """Who asks in it instead of a person (subagent, cron, hook, active-memory); empty for a person's session."""
        match = _BY_THE_HOST.fullmatch(self.key)
        if match is not None:
            return next(word for word in match.groups() if word)
        return "subagent" if self.spawned else ""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote a message, as its channel says."""

    id: str
    name: str = ""
    owner: bool | None = None
    """Whether the host took them for its owner; None where it does not say."""

    def as_json(self) -> dict[str, object]:
        """The sender of the command-line contract."""
        return {"id": self.id, "name": self.name or None, "owner": self.owner}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back."""

    call: str
    """The id of the answer's call."""
    name: str
    memories: tuple[tuple[str, str | None], ...] = ()
    """(id, scope) of each memory that it names, in its order."""
    searched: tuple[str, ...] = ()
    """The scopes that were searched."""
    sources: tuple[str, ...] = ()
    """Files and lines that it quotes, where its memories are files."""
    args: Mapping[str, Any] | None = None
    """Of a call behind the bridge; None where the answer's own call has them."""
    failed: bool = False


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
    args: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    """Files and lines that its result quotes."""
    failed: bool = False

    @property
    def gave(self) -> tuple[str, ...]:
        """The ids of memories that it showed its agent; a tool that writes shows none."""
        return self.ids if self.name in READING_TOOLS else ()


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
    calls: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    """Calls of memory tools in an answer: (call id, tool, arguments)."""
    result: ToolResult | None = None
    """Of a tool result."""
    run: str = ""
    """The run that it belongs to, where the host says."""
    machine: str = ""
    """Of a user's message that no person wrote: what wrote it (heartbeat, cron, ...)."""
    sender: Sender | None = None
    lost: bool = False
    """Whether its text could not be read: only the host's index tells of it."""
    usage: ModelUsage | None = None
    """Of an answer, the tokens of its model call, where the host recorded them."""


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
    trigger: str = ""
    """What began the run (user, heartbeat, cron, ...), where the recorder says."""
    system: str | None = None
    """The system prompt as the recorder kept it; None where it kept none."""
    tools: str | None = None
    """The tool definitions as compact JSON, as the recorder kept them (it shortens long ones)."""


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
    active: list[Entry] | None = None
    """The entries of the live branch in their reading order, where the host keeps it; None: follow the parents."""
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
    if name in ("compaction", "reset"):
        return Entry(**base, kind=name, time_ms=time_ms)
    if name != "message" or not isinstance(message, Mapping):
        return Entry(**base, kind="other", time_ms=time_ms)
    time_ms = moment_of(message.get("timestamp")) or time_ms
    role, content = message.get("role"), message.get("content")
    base["run"] = run_of(message)
    if role == "user":
        text = text_of(content)[:LONGEST_MESSAGE]
        machine, sender = machine_of(message, text), sender_of(message)
        return Entry(**base, kind="user", time_ms=time_ms, text=text, machine=machine, sender=sender)
    if role == "assistant":
        text = text_of(content)[:LONGEST_ANSWER]
        return Entry(
            **base,
            kind="assistant",
            time_ms=time_ms,
            text=text,
            calls=_calls(content),
            usage=usage_of(message),
        )
    if role in ("toolResult", "tool"):
        return Entry(**base, kind="tool", time_ms=time_ms, result=_result(message, text_of(content)))
    if role == "custom" and message.get("customType") == NESTED_TOOL:
        return Entry(**base, kind="tool", time_ms=time_ms, result=_nested(message.get("details")))
    return Entry(**base, kind="other", time_ms=time_ms)


def run_of(message: Mapping[str, Any]) -> str:
    """The run of a message: a user's own key names it, an answer's mark does; empty where neither says."""
    key = message.get("idempotencyKey")
    if message.get("role") == "user":
        return key[: -len(":user")] if isinstance(key, str) and key.endswith(":user") else ""
    for place in (message.get("__openclaw"), message.get("details")):
        if isinstance(place, Mapping) and isinstance(place.get("runId"), str):
            return str(place["runId"])
    return ""


def machine_of(message: Mapping[str, Any], text: str) -> str:
    """What wrote a user's message when no person did: heartbeat, cron, another session; empty for a person."""
    provenance = message.get("provenance")
    kind = provenance.get("kind") if isinstance(provenance, Mapping) else None
    if isinstance(provenance, Mapping) and isinstance(kind, str) and kind != _BY_A_PERSON:
        tool = provenance.get("sourceTool")
        return tool if isinstance(tool, str) and tool else kind
    own = split_prompt(text).rest if text.startswith("<") else text.strip()
    if own == HEARTBEAT or _EARLIER_HEARTBEAT.match(own):
        return "heartbeat"
    return "cron" if _CRON_JOB.match(own) else ""


def sender_of(message: Mapping[str, Any]) -> Sender | None:
    """Who wrote a user's message, where its channel says; None where only the host's owner can have."""
    facts = message.get("__openclaw")
    if not isinstance(facts, Mapping) or not isinstance(facts.get("senderId"), str | int):
        return None
    name = next(
        (facts[key] for key in ("senderName", "senderUsername") if isinstance(facts.get(key), str)), ""
    )
    owner = facts.get("senderIsOwner")
    return Sender(str(facts["senderId"]), name, owner if isinstance(owner, bool) else None)


def prompts_of(events: Iterable[Mapping[str, Any]]) -> tuple[list[SubmittedPrompt], bool, int]:
    """(one prompt for each run that submitted one, whether the recorder was full, foreign events).

    A run that submits again (a model fallback) has submitted one prompt. Where one of the run's events was
    cut, the other may have survived.
    """
    runs: dict[str, dict[str, Any]] = {}
    triggers: dict[str, str] = {}
    texts: dict[str, str] = {}  # system prompts and tools are mostly the same in every run: each is held once
    full, foreign = False, 0
    for number, event in enumerate(events):
        name, data = event.get("type"), event.get("data")
        if name == "trace.truncated":
            full = True
            continue
        if name == "session.started" and isinstance(event.get("runId"), str) and isinstance(data, Mapping):
            triggers[event["runId"]] = str(data.get("trigger") or "")
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
        if isinstance(data.get("systemPrompt"), str):
            seen.setdefault("system", texts.setdefault(data["systemPrompt"], data["systemPrompt"]))
        if isinstance(data.get("tools"), list):
            tools = json.dumps(data["tools"], ensure_ascii=False, separators=(",", ":"))
            seen.setdefault("tools", texts.setdefault(tools, tools))
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
            triggers.get(run, ""),
            seen.get("system"),
            seen.get("tools"),
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


def is_memory_tool(name: str) -> bool:
    """Whether a tool is one of the memory plugins'."""
    return name.startswith("memory_") or name == "intent"


def _calls(content: Any) -> tuple[tuple[str, str, Mapping[str, Any]], ...]:
    out = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, Mapping) or block.get("type") not in ("toolCall", "tool_use", "toolUse"):
            continue
        name, args = str(block.get("name") or ""), block.get("arguments", block.get("input"))
        if name == BRIDGE and isinstance(args, Mapping):
            name, args = str(args.get("id") or ""), args.get("args")
        if is_memory_tool(name):
            out.append((str(block.get("id") or ""), name, _arguments(args)))
    return tuple(out)


def _arguments(given: Any) -> Mapping[str, Any]:
    """The arguments of a call, long texts cut."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(given, Mapping):
        return {}
    return {
        str(key): value[:LONGEST_ARGUMENT] if isinstance(value, str) else value
        for key, value in given.items()
    }


def _nested(details: Any) -> ToolResult | None:
    """The call behind the bridge, and what it gave back."""
    if not isinstance(details, Mapping):
        return None
    result = details.get("result")
    result = result if isinstance(result, Mapping) else {}
    own = {"toolCallId": details.get("parentToolCallId"), "toolName": details.get("toolName")}
    found = _result(
        {**own, "details": result.get("details"), "isError": details.get("isError")},
        text_of(result.get("content")),
    )
    return replace(found, args=_arguments(details.get("input")))


def _result(message: Mapping[str, Any], text: str) -> ToolResult:
    from memtui.engine.witness.prompt_block import block_lines

    name, details = str(message.get("toolName") or ""), message.get("details")
    if name == BRIDGE and (behind := _bridged(text)) is not None:
        name, details, text = behind
    told: list[tuple[str, str | None]] = []
    sources: list[str] = []
    if is_memory_tool(name) and isinstance(details, Mapping):
        _collect(details, told, sources)
    if not told and name == RECALL_TOOL:
        told = [(line.id, line.scope) for line in block_lines(text)[1] if line.id]
    scopes = details.get("scopes") if isinstance(details, Mapping) else None
    searched = tuple(scope for scope in scopes if isinstance(scope, str)) if isinstance(scopes, list) else ()
    return ToolResult(
        str(message.get("toolCallId") or ""),
        name,
        tuple(told),
        searched,
        tuple(sources),
        failed=message.get("isError") is True,
    )


def _bridged(text: str) -> tuple[str, Any, str] | None:
    """(tool, its details, its text) out of the answer that the bridge gave the model; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    tool, result = (value.get("tool"), value.get("result")) if isinstance(value, Mapping) else (None, None)
    if (
        not isinstance(tool, Mapping)
        or not isinstance(tool.get("name"), str)
        or not isinstance(result, Mapping)
    ):
        return None
    return tool["name"], result.get("details"), text_of(result.get("content"))


def _collect(details: Mapping[str, Any], told: list[tuple[str, str | None]], sources: list[str]) -> None:
    """Add (id, scope) of every memory that `details` names in their order, and the lines of files that it quotes."""
    named = [
        details,
        *(details[key] for key in ("intent", "memory") if isinstance(details.get(key), Mapping)),
    ]
    for key in ("memories", "candidates", "results", "intents"):
        listed = details.get(key)
        named += [item for item in (listed if isinstance(listed, list) else ()) if isinstance(item, Mapping)]
    for each in named:
        scope = each.get("scope") if isinstance(each.get("scope"), str) else None
        for key in ("id", "existingId", "memoryId"):
            if isinstance(each.get(key), str) and each[key] not in {known for known, _ in told}:
                told.append((each[key], scope))
        if isinstance(each.get("path"), str):
            first, last = each.get("startLine", each.get("from")), each.get("endLine")
            lines = (
                f"#L{first}" + (f"-L{last}" if isinstance(last, int) else "")
                if isinstance(first, int)
                else ""
            )
            sources.append(each["path"] + lines)
