"""Names of models and addresses of the plugin's chat service, and the text in its stream of events."""

from __future__ import annotations

import json
import re
from typing import Any

from memtui.engine.core.javascript import trim

_OPENROUTER = re.compile(r"openrouter\s*/\s*(\S[\s\S]*)", re.IGNORECASE)

_OPENAI = re.compile(r"openai(?:-codex)?\s*/\s*(\S[\s\S]*)", re.IGNORECASE)

_THINKING = re.compile(r"qwen3|deepseek.*r1|qwq", re.IGNORECASE)


def direct_model_ref(model: str) -> str:
    """The model's own name, without the router's prefix."""
    name = trim(model)
    match = _OPENROUTER.fullmatch(name)
    return trim(match[1]) if match else name


def reasoning_disabled(model: str) -> bool:
    """Whether a model of this name is asked not to think aloud."""
    return _THINKING.search(model) is not None


def oauth_model(model: str) -> str:
    """The name under which the plugin's signed-in service knows a model."""
    name = trim(model)
    match = _OPENAI.fullmatch(name)
    return trim(match[1]) if match else name


def oauth_endpoint(base_url: str) -> str:
    """The address that the signed-in service is asked at."""
    base = trim(base_url).rstrip("/")
    if base.endswith("/codex/responses"):
        return base
    return f"{base.removesuffix('/responses')}/codex/responses"


def oauth_sse_text(stream: str) -> str | None:
    """The text in a stream of server-sent events: the finished text, else the whole output, else the pieces."""
    deltas: list[str] = []
    whole: str | None = None
    nested: str | None = None
    for block in re.split(r"\r?\n\r?\n", stream):
        lines = [line[5:].strip() for line in re.split(r"\r?\n", block) if line.startswith("data:")]
        data = "\n".join(lines).strip()
        if not data or data == "[DONE]":
            continue
        try:
            event = json.loads(data)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        kind = event.get("type")
        if kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            deltas.append(event["delta"])
        elif kind == "response.output_text.done" and isinstance(event.get("text"), str):
            whole = event["text"]
        if isinstance(event.get("response"), dict):
            nested = _nested(event["response"]) or nested
    return whole or nested or "".join(deltas) or None


def _nested(response: dict[str, Any]) -> str | None:
    outputs = response.get("output")
    texts = [
        part["text"]
        for output in (outputs if isinstance(outputs, list) else [])
        if isinstance(output, dict) and isinstance(output.get("content"), list)
        for part in output["content"]
        if isinstance(part, dict) and part.get("type") == "output_text" and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts) or None
