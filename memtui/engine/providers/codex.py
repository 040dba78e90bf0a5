"""A ChatGPT account in place of an API key, as memory-lancedb-pro keeps it: its file is read, never written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import ConfigError

BASE_URL = "https://chatgpt.com/backend-api"

_REFRESHED_BEFORE_MS = 60_000

_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Account:
    """What a request needs of the file. `repr` shows nothing of it."""

    token: str
    account_id: str

    def __repr__(self) -> str:
        return "Account()"


def read_account(path: Path, now_ms: int) -> Account:
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
    return Account(token.strip(), account if isinstance(account, str) else "")


def endpoint(base_url: str) -> str:
    """Where a request of such an account goes."""
    base = (base_url or BASE_URL).rstrip("/")
    if base.endswith("/codex/responses"):
        return base
    return f"{base.removesuffix('/responses')}/codex/responses"


def bare_model(model: str) -> str:
    """The model's name without the provider that the account is of."""
    provider, slash, name = model.partition("/")
    known = provider.strip().lower() in ("openai", "openai-codex")
    return name.strip() if slash and known and name.strip() else model.strip()


def streamed_text(events: str) -> str | None:
    """The text in a stream of server-sent events: its first whole one, else the pieces joined; None without any."""
    pieces: list[str] = []
    for event in _events(events):
        kind = event.get("type")
        if kind == "response.output_text.done" and isinstance(event.get("text"), str):
            return str(event["text"])
        if kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            pieces.append(event["delta"])
        elif (found := _nested(event)) is not None:
            return found
    return "".join(pieces) or None


def _events(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        if line.startswith("data:") and (data := line[5:].strip()) not in ("", "[DONE]"):
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(value)
    return found


def _nested(event: dict[str, Any]) -> str | None:
    response = event.get("response")
    output = (response if isinstance(response, dict) else event).get("output")
    texts: list[str] = []
    for item in output if isinstance(output, list) else ():
        content = item.get("content") if isinstance(item, dict) else None
        parts = [part for part in (content if isinstance(content, list) else ()) if isinstance(part, dict)]
        said = [part.get("text") for part in parts if part.get("type") == "output_text"]
        texts += [each for each in said if isinstance(each, str)]
    return "\n".join(texts) or None
