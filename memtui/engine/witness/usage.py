"""The tokens of a model call as a transcript carries them, in one shape for every host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """One model call. None stands for what its transcript does not carry, which is another thing than 0."""

    input: int
    """Tokens of the prompt that were neither read from a cache nor written to one."""
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    provider: str = ""
    model: str = ""

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.input + (self.cache_read or 0) + (self.cache_write or 0)


def usage_of(message: Mapping[str, Any]) -> ModelUsage | None:
    """The usage in an answer of OpenClaw or Claude Code, or in a reply of OpenAI; None where it carries none."""
    usage = message.get("usage")
    if not isinstance(usage, Mapping):
        return None
    named = (_word(message, "provider"), _word(message, "model"))
    if "cacheRead" in usage or "input" in usage:  # OpenClaw: what was cached is not in `input`
        return _made(usage, "input", "output", "cacheRead", "cacheWrite", named)
    if "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
        names = ("cache_read_input_tokens", "cache_creation_input_tokens")
        return _made(usage, "input_tokens", "output_tokens", *names, named)
    for details, whole, made in (
        ("prompt_tokens_details", "prompt_tokens", "completion_tokens"),
        ("input_tokens_details", "input_tokens", "output_tokens"),
    ):
        inner = usage.get(details)
        if whole in usage and isinstance(inner, Mapping):
            return inclusive_usage(
                _count(usage, whole), _count(inner, "cached_tokens"), _count(usage, made), named
            )
    return _made(usage, "input_tokens", "output_tokens", "", "", named)


def inclusive_usage(
    prompt: int | None, cached: int | None, output: int | None, named: tuple[str, str]
) -> ModelUsage | None:
    """The usage of a provider that counts what it read from its cache into the prompt, and names no writes.

    `named` is (provider, model). None where the prompt's tokens are not known.
    """
    if prompt is None:
        return None
    return ModelUsage(max(0, prompt - (cached or 0)), output or 0, cached, None, *named)


def _made(
    usage: Mapping[str, Any], fresh: str, made: str, read: str, written: str, named: tuple[str, str]
) -> ModelUsage | None:
    count = _count(usage, fresh)
    if count is None:
        return None
    return ModelUsage(count, _count(usage, made) or 0, _count(usage, read), _count(usage, written), *named)


def _count(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        return None
    return int(value)


def _word(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
