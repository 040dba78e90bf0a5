"""Conversations as they are kept: pasted text, an agent's session, the exports of ChatGPT and Claude."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from memtui.engine.capture.trace import Message
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.text import counted, unbroken

if TYPE_CHECKING:
    from memtui.engine.witness.session import SessionFile

Format = Literal["auto", "text", "session", "chatgpt", "claude"]

FORMATS: tuple[str, ...] = get_args(Format)


class NoMessageError(MemtuiError):
    """A file was read, and nobody says anything in it: for a session that has just begun, that is as it should be."""


LARGEST = 512 << 20
"""Bytes of one file: what is larger is no conversation, or many years of them."""

_EXPORT = re.compile(r"conversations(?:[-_ .]?\d{1,6}|[-_ ]?\(\d{1,6}\))?\.json", re.IGNORECASE)
"""Files of an export: large ones come in numbered parts."""

_USER = (
    "user",
    "human",
    "me",
    "you said",
    "you",
    "ich",
    "benutzer",
    "用户",
    "我",
    "ユーザー",
    "usuario",
    "utilisateur",
)

_AGENT = (
    "assistant", "ai", "bot", "agent", "model", "chatgpt", "chatgpt said", "claude", "gemini", "copilot", "openclaw",
    "assistent", "助手", "アシスタント", "asistente",
)  # fmt: skip

_ROLES = {
    **dict.fromkeys(_USER, "user"),
    **dict.fromkeys(_AGENT, "assistant"),
    "system": "system",
    "developer": "system",
    "tool": "toolResult",
    "tool result": "toolResult",
    "toolresult": "toolResult",
    "function": "toolResult",
}

_LABEL = re.compile(
    r"^\s*(?:[#>*_\[]*\s*)?(?P<who>"
    + "|".join(sorted(map(re.escape, _ROLES), key=len, reverse=True))
    + r")\s*(?:\([^)]{0,40}\)|\[[^]]{0,40}\])?\s*[\]*_]{0,4}\s*(?::|：)\s*[*_]{0,3}\s*(?P<rest>.*)$",
    re.IGNORECASE,
)

_STAMP = re.compile(r"^\s*\[?(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?Z?\]?\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation in the order in which it was held."""

    messages: tuple[Message, ...]
    title: str = ""
    session: str = ""
    """The id of the session, where the source has one."""
    warnings: tuple[str, ...] = ()
    agent: str = ""
    """The agent whose session it is, where the file or its place says so."""


@dataclass(slots=True)
class _Reading:
    """What a reader needs beside the text."""

    name: str
    warnings: list[str] = field(default_factory=list)


def read_conversations(path: Path, format: str = "auto") -> tuple[Conversation, ...]:
    """The conversations in a file, or in the files of an unpacked export.

    Raises UsageError for an unknown format, MemtuiError for what cannot be read.
    """
    if path.is_dir():
        parts = sorted(
            (each for each in (*path.glob("*.json"), *path.glob("*/*.json")) if _EXPORT.fullmatch(each.name)),
            key=lambda each: _in_order(each.relative_to(path).with_suffix("").as_posix()),
        )
        if not parts:
            raise MemtuiError(
                f"{path} is a folder without conversations of an export.", fix="Name a file of conversations."
            )
        return tuple(talk for part in parts for talk in read_conversations(part, format))
    try:
        if path.stat().st_size > LARGEST:
            raise MemtuiError(
                f"{path.name} has more than {LARGEST >> 20} MB.", fix="Split it into conversations first."
            )
        data = path.read_bytes()
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            fix="Name a file that is there.",
        ) from error
    owner = _owner_of(path)
    return tuple(
        talk if talk.agent or not talk.session else replace(talk, agent=owner)
        for talk in parse_conversations(data, format, path.name)
    )


def _owner_of(path: Path) -> str:
    """The agent in whose folder of sessions a file lies; empty elsewhere."""
    folders = path.absolute().parts[:-1]
    at = next(
        (at for at, name in enumerate(folders) if name == "agents" and "sessions" in folders[at + 2 :]), None
    )
    return "" if at is None else folders[at + 1]


def _named_agent(header: Mapping[str, Any]) -> str:
    """The agent that a session's first line names, by itself or in its key `agent:NAME:...`; empty for none."""
    named = header.get("agentId")
    if isinstance(named, str) and named:
        return named
    key = header.get("sessionKey")
    parts = key.split(":") if isinstance(key, str) else []
    return parts[1] if len(parts) > 2 and parts[0] == "agent" else ""


def read_session(file: SessionFile) -> Conversation:
    """The conversation of an agent's session, wherever its host keeps it. Raises MemtuiError where it holds none.

    What no person and no answer said (a heartbeat and the answer to it, calls behind the bridge) is left out.
    """
    from memtui.engine.witness.formats.events import read_events

    warnings: list[str] = []
    messages = tuple(_chained(list(read_events(file, warnings))))
    if not messages:
        raise MemtuiError(
            f"The session {file.id} holds no message{'' if not warnings else f': {warnings[0]}'}.",
            fix="See: memtui sessions.",
        )
    return _whole(Conversation(messages, file.id, file.id, tuple(warnings), file.agent))


def parse_conversations(
    data: bytes, format: str = "auto", name: str = "the text"
) -> tuple[Conversation, ...]:
    """The conversations in `data`: a text, JSON, JSON lines, or the archive of an export."""
    if format not in FORMATS:
        raise UsageError(f"There is no form {format!r}.", fix=f"Take one of {', '.join(FORMATS)}.")
    if data.startswith(b"PK\x03\x04"):
        return tuple(
            talk
            for inside, part in _from_archive(data, name)
            for talk in parse_conversations(part, format, inside)
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if b"\0" in data:
            raise MemtuiError(
                f"{name} is no text.",
                fix="Give a text, a session's JSONL, or an export of ChatGPT or Claude.",
            ) from None
        text = data.decode("cp1252", "replace")
    found = format if format != "auto" else _kind(text)
    reading = _Reading(name)
    conversations = tuple(_whole(conversation) for conversation in _READERS[found](text, reading))
    if not any(conversation.messages for conversation in conversations):
        raise NoMessageError(
            f"{name} holds no message{_as_what(found)}.",
            fix="Check its content, or name its format (--format in the shell).",
        )
    return conversations


def _whole(read: Conversation) -> Conversation:
    """A conversation without halves of characters, which JSON may write and no store takes."""
    messages = tuple(replace(message, content=unbroken(message.content)) for message in read.messages)
    return replace(read, messages=messages, title=unbroken(read.title), session=unbroken(read.session))


def _as_what(kind: str) -> str:
    return {
        "session": " of a session",
        "chatgpt": " of a ChatGPT export",
        "claude": " of a Claude export",
    }.get(kind, "")


def _from_archive(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """(name, contents) of each file of conversations in an export."""
    import io

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [member for member in archive.infolist() if _EXPORT.fullmatch(Path(member.filename).name)]
            if not parts:
                raise MemtuiError(f"{name} has no conversations.json in it.", fix="Ask for the export again.")
            if sum(part.file_size for part in parts) > LARGEST:
                raise MemtuiError(
                    f"The conversations in {name} have more than {LARGEST >> 20} MB.",
                    fix="Unpack it, and give its files one by one.",
                )
            for member in sorted(parts, key=lambda part: _in_order(part.filename[: -len(".json")])):
                yield Path(member.filename).name, archive.read(member)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise MemtuiError(f"{name} is a damaged archive.", fix="Ask for the export again.") from error


def _in_order(name: str) -> list[tuple[int, int | str]]:
    """Names in the order of the numbers in them."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", name) if part]


def _kind(text: str) -> str:
    """What a text is, by its beginning."""
    head = text.lstrip()[:1]
    if head not in ("{", "["):
        return "text"
    first = text.lstrip().split("\n", 1)[0]
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, Mapping) and ("type" in value or "role" in value) and "\n" in text.strip():
        return "session"
    if isinstance(value, Mapping) and value.get("type") in ("session", "message"):
        return "session"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "session" if head == "{" and "\n{" in text else "text"
    items = value if isinstance(value, list) else [value]
    first_item = next((item for item in items if isinstance(item, Mapping)), {})
    if "mapping" in first_item:
        return "chatgpt"
    if "chat_messages" in first_item:
        return "claude"
    return "session"


# ---------------------------------------------------------------------- text


def _text(text: str, reading: _Reading) -> Iterator[Conversation]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    labelled = sum(_LABEL.match(_STAMP.sub("", line)) is not None for line in lines)
    yield Conversation(tuple(_spoken(lines) if labelled else _written(lines)), reading.name)


def _spoken(lines: Sequence[str]) -> Iterator[Message]:
    """Messages by the names before them; what comes before the first name is the person's."""
    role, part = "user", list[str]()
    for line in lines:
        match = _LABEL.match(_STAMP.sub("", line))
        if match is None:
            part.append(line)
            continue
        if any(each.strip() for each in part):
            yield Message(role, "\n".join(part).strip())
        role, part = _ROLES[match["who"].lower()], [match["rest"]]
    if any(each.strip() for each in part):
        yield Message(role, "\n".join(part).strip())


def _written(lines: Sequence[str]) -> Iterator[Message]:
    """Each line a message of the person; a line that goes on with a small letter belongs to the one before."""
    part = ""
    for line in (line.strip() for line in lines):
        goes_on = part and line and line[0].islower() and part[-1] not in ".!?:。！？"
        if goes_on:
            part = f"{part} {line}"
            continue
        if part:
            yield Message("user", part)
        part = line
    if part:
        yield Message("user", part)


# ---------------------------------------------------------------------- an agent's session


def _session(text: str, reading: _Reading) -> Iterator[Conversation]:
    """OpenClaw's JSONL (the chain of its last entry), another host's transcript, or a plain list of messages."""
    from memtui.engine.capture.host_transcripts import read_transcript

    values = list(_values(text, reading))
    whole_lines = text.split("\n")[:-1]  # the last one may be half written
    if not values and reading.warnings and any(line.strip() for line in whole_lines):
        raise MemtuiError(
            f"{reading.name} is no session: no line of it is JSON.",
            fix="Check its content, or name its format (--format in the shell).",
        )
    entries = [each for each in values if isinstance(each, Mapping)]
    header = next((each for each in entries if each.get("type") == "session"), {})
    told = read_transcript(entries)
    if told is not None:
        messages = tuple(_message(each) for each in told)
    elif any("message" in entry or entry.get("type") == "message" for entry in entries):
        messages = tuple(_chained(entries))
    else:
        messages = tuple(_message(entry) for entry in entries if isinstance(entry.get("role"), str))
    session = header.get("id")
    yield Conversation(
        messages,
        reading.name,
        session if isinstance(session, str) else "",
        tuple(reading.warnings),
        _named_agent(header),
    )


def _values(text: str, reading: _Reading) -> Iterator[Any]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, Mapping) and isinstance(whole.get("messages"), list):
        yield from whole["messages"]
        return
    if isinstance(whole, list):
        yield from whole
        return
    bad = 0
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            bad += 1
    if bad:
        reading.warnings.append(
            f"{counted(bad, 'line is', 'lines are')} no JSON in {reading.name} and left out"
        )


def _chained(entries: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """The messages from the first to the last entry up through their parents: abandoned branches are left out.

    So are messages of the host itself, with the answers to them.
    """
    from memtui.engine.witness.session import machine_of, text_of

    places = {entry["id"]: at for at, entry in enumerate(entries) if isinstance(entry.get("id"), str)}
    chain: list[Mapping[str, Any]] = []
    seen: set[int] = set()
    at: int | None = len(entries) - 1
    while at is not None and at >= 0 and at not in seen:
        seen.add(at)
        entry = entries[at]
        chain.append(entry)
        parent = entry.get("parentId")
        if isinstance(parent, str) and parent in places:
            at = places[parent]
        else:
            at = None if "parentId" in entry and parent is None else at - 1
    by_a_machine = False
    for entry in reversed(chain):
        message = entry.get("message")
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            continue
        if message["role"] == "user":
            by_a_machine = bool(machine_of(message, text_of(message.get("content"))))
        if not by_a_machine and message["role"] != "custom":
            yield _message(message, entry)


def _message(message: Mapping[str, Any], entry: Mapping[str, Any] | None = None) -> Message:
    from memtui.engine.witness.session import moment_of

    entry = entry or message
    stamp = moment_of(message.get("timestamp")) or moment_of(entry.get("timestamp"))
    named = entry.get("id")
    role = {"tool": "toolResult", "function": "toolResult"}.get(str(message["role"]), str(message["role"]))
    return Message(role, message.get("content"), named if isinstance(named, str) else None, stamp or None)


# ---------------------------------------------------------------------- exports


def _chatgpt(text: str, reading: _Reading) -> Iterator[Conversation]:
    for each in _exported(text, reading):
        mapping = each.get("mapping")
        nodes: Mapping[str, Any] = mapping if isinstance(mapping, Mapping) else {}
        chain: list[Message] = []
        unread: list[str] = []
        seen: set[str] = set()
        node = each.get("current_node")
        if not isinstance(node, str) or node not in nodes:
            node = list(nodes)[-1] if nodes else None
        while isinstance(node, str) and node in nodes and node not in seen:
            seen.add(node)
            value = nodes[node] if isinstance(nodes[node], Mapping) else {}
            chain += _of_chatgpt(node, value.get("message"))
            unread += _not_text(value.get("message"))
            node = value.get("parent")
        title = each.get("title")
        key = each.get("conversation_id") or each.get("id")
        yield Conversation(
            tuple(reversed(chain)),
            title if isinstance(title, str) else "",
            key if isinstance(key, str) else "",
            (*reading.warnings, *_told(unread)),
        )


def _not_text(message: Any) -> list[str]:
    """The kinds of what a message of ChatGPT or Claude holds beside texts: pictures, recordings, calls of tools."""
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = content.get("parts") if isinstance(content, Mapping) else content
    kinds = [
        str(part.get("content_type") or part.get("type") or "part without a type")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, Mapping) and part.get("type") != "text"
    ]
    if isinstance(content, Mapping) and not isinstance(parts, list):
        kinds.append(str(content.get("content_type") or "content without a type"))
    return kinds


def _told(kinds: Sequence[str]) -> Iterator[str]:
    """What was left out of a conversation as no text, by kind."""
    if kinds:
        named = ", ".join(f"{name} ({number})" for name, number in sorted(Counter(kinds).items()))
        are = "is" if len(kinds) == 1 else "are"
        yield f"{counted(len(kinds), 'part')} of messages {are} no text and left out: {named}"


def _of_chatgpt(node: str, message: Any) -> list[Message]:
    if not isinstance(message, Mapping):
        return []
    author = message.get("author")
    role = author.get("role") if isinstance(author, Mapping) else None
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    text = "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""
    if not text.strip() or not isinstance(role, str):
        return []
    stamp = message.get("create_time")
    at_ms = int(stamp * 1000) if isinstance(stamp, int | float) and stamp > 0 else None
    return [Message("toolResult" if role == "tool" else role, text, node, at_ms)]


def _claude(text: str, reading: _Reading) -> Iterator[Conversation]:
    from memtui.engine.witness.session import moment_of

    for each in _exported(text, reading):
        listed = each.get("chat_messages")
        messages = [
            Message(
                {"human": "user"}.get(str(one.get("sender")), str(one.get("sender") or "user")),
                _of_claude(one),
                one.get("uuid") if isinstance(one.get("uuid"), str) else None,
                moment_of(one.get("created_at")) or None,
            )
            for one in (listed if isinstance(listed, list) else ())
            if isinstance(one, Mapping)
        ]
        unread = [kind for one in (listed if isinstance(listed, list) else ()) for kind in _not_text(one)]
        name, key = each.get("name"), each.get("uuid")
        yield Conversation(
            tuple(messages),
            name if isinstance(name, str) else "",
            key if isinstance(key, str) else "",
            (*reading.warnings, *_told(unread)),
        )


def _of_claude(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    blocks = [
        each["text"]
        for each in (content if isinstance(content, list) else ())
        if isinstance(each, Mapping) and each.get("type") == "text" and isinstance(each.get("text"), str)
    ]
    text = message.get("text")
    return "\n".join(blocks) or (text if isinstance(text, str) else "")


def _exported(text: str, reading: _Reading) -> Iterator[Mapping[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MemtuiError(
            f"{reading.name} is no JSON: {error}.", fix="Ask for the export again, or name its form."
        ) from None
    items = value if isinstance(value, list) else [value]
    odd = sum(not isinstance(item, Mapping) for item in items)
    if odd:
        reading.warnings.append(f"{odd} of {counted(len(items), 'item')} are no conversations and left out")
    yield from (item for item in items if isinstance(item, Mapping))


_READERS: dict[str, Callable[[str, _Reading], Iterator[Conversation]]] = {
    "text": _text,
    "session": _session,
    "chatgpt": _chatgpt,
    "claude": _claude,
}
