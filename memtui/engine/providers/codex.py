"""A ChatGPT account in place of an API key, as memory-lancedb-pro keeps it: its file is read, never written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import ConfigError
from memtui.engine.core.javascript import trim

BASE_URL = "https://chatgpt.com/backend-api"

_REFRESHED_BEFORE_MS = 60_000

_LONGEST = 1 << 20

_OPENAI = re.compile(r"openai(?:-codex)?\s*/\s*(\S[\s\S]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, repr=False)
class CodexAccount:
    """What a request needs of the file. `repr` shows nothing of it."""

    token: str
    account_id: str

    def __repr__(self) -> str:
        return "CodexAccount()"


def read_account(path: Path, now_ms: int) -> CodexAccount:
    """The account in `path`. Raises ConfigError when there is none that is good for another minute.

    Refreshing it would need a new file, and two programs that refresh one account lock each other out: that is
    left to the plugin.
    """
    fix = "Log in with the plugin: openclaw memory-pro auth login; or name a service with a key."
    try:
        with path.open("rb") as handle:
            value: Any = json.loads(handle.read(_LONGEST))
    except FileNotFoundError:
        raise ConfigError(f"There is no OAuth file at {path}.", path=str(path), fix=fix) from None
    except (OSError, ValueError):
        raise ConfigError(f"The OAuth file {path} cannot be read.", path=str(path), fix=fix) from None
    token = value.get("access_token") if isinstance(value, dict) else None
    if not isinstance(token, str) or not token.strip():
        raise ConfigError(f"The OAuth file {path} holds no token.", path=str(path), fix=fix)
    expires = value.get("expires_at")
    if isinstance(expires, int | float) and expires - _REFRESHED_BEFORE_MS <= now_ms:
        raise ConfigError(
            f"The login in {path} has expired.",
            path=str(path),
            fix="The plugin renews it with its next call; memtui only reads the file.",
        )
    account = value.get("account_id")
    return CodexAccount(token.strip(), account if isinstance(account, str) else "")


def bare_model(model: str) -> str:
    """The name under which the plugin's signed-in service knows a model."""
    name = trim(model)
    match = _OPENAI.fullmatch(name)
    return trim(match[1]) if match else name


def endpoint(base_url: str) -> str:
    """The address that the signed-in service is asked at."""
    base = trim(base_url or BASE_URL).rstrip("/")
    if base.endswith("/codex/responses"):
        return base
    return f"{base.removesuffix('/responses')}/codex/responses"


def streamed_text(stream: str) -> str | None:
    """The text in a stream of server-sent events: that of the first event with a finished one, else the pieces.

    A finished text is one that says it is done, or an output: of the event's response, else of the event itself,
    whatever type it names.
    """
    deltas: list[str] = []
    for block in re.split(r"\r?\n\r?\n", stream):
        lines = [trim(line[5:]) for line in re.split(r"\r?\n", block) if line.startswith("data:")]
        data = "\n".join(lines)
        if not data or data == "[DONE]":
            continue
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict):
            continue
        kind = event.get("type")
        if kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            deltas.append(event["delta"])
            continue
        if kind == "response.output_text.done" and isinstance(event.get("text"), str):
            text: str = event["text"]
            return text
        whole = _output_text(event.get("response")) or _output_text(event)
        if whole:
            return whole
    return "".join(deltas) or None


def _output_text(response: Any) -> str | None:
    outputs = response.get("output") if isinstance(response, dict) else None
    texts = [
        part["text"]
        for output in (outputs if isinstance(outputs, list) else [])
        if isinstance(output, dict) and isinstance(output.get("content"), list)
        for part in output["content"]
        if isinstance(part, dict) and part.get("type") == "output_text" and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts) or None
