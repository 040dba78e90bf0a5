"""The sessions of Claude Code and Codex, as far as they say what a turn took: usage, words, injected blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.formats.lines import read_values
from memtui.engine.witness.session import moment_of, text_of
from memtui.engine.witness.usage import ModelUsage, inclusive_usage, usage_of

Host = Literal["claude", "codex"]

_BLOCK = re.compile(r"<relevant-memories>\n.*?</relevant-memories>", re.DOTALL)

_OF_HOST = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|system-reminder|local-command|command-name)\b"
    r"|# AGENTS\.md instructions)"
)
"""How a message begins that the host itself has written."""


@dataclass(frozen=True, slots=True)
class HostTranscript:
    """One transcript."""

    host: Host
    path: Path
    modified_ms: int

    @property
    def session(self) -> str:
        """Its id: the file's name."""
        return self.path.stem


@dataclass(slots=True)
class HostTurn:
    """One message of a person, and what followed."""

    time_ms: int
    question: str
    block: str = ""
    """What a hook put beside it, where the transcript holds it."""
    inside: bool = False
    """Whether the block stands before the words of the person, in their message."""
    answer: str = ""
    window: int = 0
    calls: dict[str, ModelUsage] = field(default_factory=dict)
    """By the name of the reply, of which a transcript holds several lines."""
    model: str = ""


def find_host_transcripts(environ: Mapping[str, str]) -> list[HostTranscript]:
    """The transcripts in the folders of Claude Code and Codex; a link or a device is never opened."""
    home = Path(environ.get("HOME", "")).expanduser() if environ.get("HOME") else None
    places: tuple[tuple[Host, str, str, str], ...] = (
        ("claude", "CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"),
        ("codex", "CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*.jsonl"),
    )
    found = []
    for host, variable, folder, pattern in places:
        given = environ.get(variable, "").strip()
        root = Path(given).expanduser() if given else home / folder if home is not None else None
        if root is None:
            continue
        try:
            paths = sorted(root.glob(pattern))
        except OSError:
            continue
        for path in paths:
            try:
                if path.is_file() and not path.is_symlink():
                    found.append(HostTranscript(host, path, int(path.stat().st_mtime * 1000)))
            except OSError:
                continue
    return found


def read_host_turns(
    file: HostTranscript, warnings: list[str], cancel: CancelToken | None = None
) -> list[HostTurn]:
    """The turns of a transcript in their order; what cannot be read is told in `warnings`."""
    try:
        with file.path.open("rb") as stream:
            values = [
                value
                for _, value in read_values(stream, file.path.name, warnings, cancel)
                if isinstance(value, Mapping)
            ]
    except OSError as error:
        warnings.append(f"{file.path.name} cannot be read: {error.strerror or error}")
        return []
    return list(_of_claude(values) if file.host == "claude" else _of_codex(values))


def _of_claude(values: Sequence[Mapping[str, Any]]) -> Iterator[HostTurn]:
    """Lines in order; what a sub-agent said (`isSidechain`) is no turn of this conversation."""
    turn: HostTurn | None = None
    waiting, window = "", 0
    for value in values:
        if value.get("isSidechain") is True:
            continue
        kind, message = value.get("type"), value.get("message")
        if kind == "system" and value.get("subtype") == "compact_boundary":
            window += 1
        elif kind == "attachment":
            block = _found(_texts(value.get("attachment")))
            if turn is not None and not turn.answer and not turn.block:
                turn.block = block
            else:
                waiting = block or waiting
        elif kind == "user" and isinstance(message, Mapping) and value.get("isMeta") is not True:
            text = text_of(message.get("content"))
            if not text.strip() or _OF_HOST.match(text):
                continue
            if turn is not None:
                yield turn
            turn = _begun(moment_of(value.get("timestamp")), text, window)
            turn.block, waiting = turn.block or waiting, ""
        elif kind == "assistant" and isinstance(message, Mapping) and turn is not None:
            turn.answer = f"{turn.answer}\n{text_of(message.get('content'))}".strip()
            usage = usage_of(message)
            if usage is not None:
                turn.calls[str(message.get("id") or value.get("uuid") or len(turn.calls))] = usage
                turn.model = usage.model
    if turn is not None:
        yield turn


def _of_codex(values: Sequence[Mapping[str, Any]]) -> Iterator[HostTurn]:
    """Events say what a person wrote and what each call took; older files have the model's messages alone."""
    turn: HostTurn | None = None
    waiting, model, window = "", "", 0
    before: Any = None
    typed = any(_payload(value).get("type") == "user_message" for value in values)
    for value in values:
        payload = _payload(value)
        kind, name = value.get("type"), payload.get("type")
        asked = kind == "event_msg" and name == "user_message"
        text = str(payload.get("message") or "") if asked else text_of(payload.get("content"))
        role = payload.get("role") if name == "message" else None
        if kind == "compacted":
            window += 1
        elif kind == "turn_context" and isinstance(payload.get("model"), str):
            model = payload["model"]
        elif asked or (not typed and role == "user" and not _OF_HOST.match(text)):
            if turn is not None:
                yield turn
            turn = _begun(moment_of(value.get("timestamp")), text, window)
            turn.block, waiting = turn.block or waiting, ""
        elif role in ("user", "developer") and (block := _found([text])):
            if turn is not None and not turn.answer:
                turn.block = turn.block or block
            else:
                waiting = block
        elif role == "assistant" and turn is not None:
            turn.answer = f"{turn.answer}\n{text}".strip()
        elif name == "token_count" and turn is not None and isinstance(payload.get("info"), Mapping):
            info = payload["info"]
            last = info.get("last_token_usage")
            if (
                isinstance(last, Mapping) and info.get("total_token_usage") != before
            ):  # it is told again unchanged
                usage = inclusive_usage(
                    _number(last, "input_tokens"),
                    _number(last, "cached_input_tokens"),
                    _number(last, "output_tokens"),
                    ("openai", model),
                )
                if usage is not None:
                    turn.calls[str(len(turn.calls))] = usage
                    turn.model = model
            before = info.get("total_token_usage")
    if turn is not None:
        yield turn


def _begun(time_ms: int, text: str, window: int) -> HostTurn:
    match = _BLOCK.search(text)
    if match is None:
        return HostTurn(time_ms, text, window=window)
    bare = (text[: match.start()] + text[match.end() :]).strip()
    return HostTurn(time_ms, bare, match[0], not text[: match.start()].strip(), window=window)


def _payload(value: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = value.get("payload")
    return payload if isinstance(payload, Mapping) else {}


def _number(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _found(texts: Sequence[str]) -> str:
    return next((match[0] for text in texts if (match := _BLOCK.search(text)) is not None), "")


def _texts(value: Any) -> list[str]:
    """Every text in an attachment, however deep it lies."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _texts(inner)]
    return [text for inner in value for text in _texts(inner)] if isinstance(value, list) else []
