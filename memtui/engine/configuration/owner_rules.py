"""Which plugin has the memory slot where that is not memory-lancedb-pro, and what is wrong with its settings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.text import one_line
from memtui.engine.discovery.host_state import HostState, read_host_state
from memtui.engine.discovery.types import BUILTIN, ENGINE, OWNERS, PRO
from memtui.engine.recall.recipes.mem_engine.settings import ALL_KEYS, BLOCK_KEYS, RANGES, SERVICE_KEYS

if TYPE_CHECKING:
    from memtui.engine.configuration.file import Configuration

Said = tuple[str, Literal["error", "warning", "note"], str, str, str]
"""(rule, severity, path below the plugin's settings, sentence, remedy)."""

KNOWN_MODELS = ("text-embedding-3-small", "text-embedding-3-large")
"""The models whose vectors memory-lancedb and openclaw-mem-engine know the length of."""

BUILTIN_KEYS = frozenset(
    (
        "embedding",
        "dbPath",
        "autoRecall",
        "autoCapture",
        "recallMaxChars",
        "captureMaxChars",
        "customTriggers",
        "storageOptions",
        "dreaming",
    )
)

BUILTIN_EMBEDDING_KEYS = frozenset(("provider", "model", "apiKey", "baseUrl", "dimensions"))

CORE = "memory-core"
"""What a host of today runs where no plugin is named."""


def host_of(config: Configuration) -> HostState:
    """The host's own record beside a configuration."""
    return read_host_state(config.loaded.reading.state, config.loaded.values)


def slot_owner(config: Configuration) -> str:
    """The plugin that has the memory slot: the one that is named, or memory-core where a host of today has no other.

    Empty where nobody has it: it is switched off, or nothing tells that the host is one of today.
    """
    slot = config.value(("plugins", "slots", "memory"))
    if isinstance(slot, str) and slot:
        return "" if slot == "none" else slot
    return "" if left_on(config) == PRO or not host_of(config).indexed else CORE


def other_owner(config: Configuration) -> str:
    """The plugin that has the slot where it is another than memory-lancedb-pro; else empty."""
    owner = slot_owner(config)
    return "" if owner == PRO else owner


def left_on(config: Configuration) -> str:
    """The first memory plugin with settings that is not switched off; empty where there is none."""
    entries = config.loaded.mapping("plugins", "entries", raw=True)
    return next((name for name in OWNERS if _is_on(entries.get(name))), "")


def _is_on(entry: Any) -> bool:
    """Whether an entry has settings and is not switched off."""
    return isinstance(entry, dict) and entry.get("enabled") is not False and bool(entry.get("config"))


def owner_problems(config: Configuration, owner: str, environ: Mapping[str, str]) -> Iterator[Said]:
    """What is wrong with the settings of `owner`, by its own rules; nothing for a plugin that memtui does not know."""
    block = config.expanded(("plugins", "entries", owner, "config"))
    settings = block if isinstance(block, Mapping) else {}
    if owner == BUILTIN:
        if refused := builtin_refusal(settings):
            path, sentence, remedy = refused
            yield (
                "required" if path == ("embedding",) else "unknown",
                "error",
                ".".join(path),
                sentence,
                remedy,
            )
    elif owner == ENGINE:
        yield from _engine_keys(settings)
        yield from _engine_values(settings)
        yield from _engine_embedding(settings, environ)
        if settings.get("autoRecall") is False:
            yield (
                "auto-recall-off", "warning", "autoRecall", "autoRecall is off: nothing is injected",
                "Set autoRecall to true, unless the agent is meant to call the tool on its own.",
            )  # fmt: skip


def builtin_refusal(block: Mapping[str, Any]) -> tuple[tuple[str, ...], str, str] | None:
    """(key below the settings, sentence, remedy) of what memory-lancedb's own reader refuses; None for nothing."""
    given = block.get("embedding")
    if not isinstance(given, Mapping) or not given:
        return (
            ("embedding",),
            "no embedding model is set",
            "Set embedding.apiKey and embedding.model in the settings of memory-lancedb.",
        )
    unknown = sorted({*block} - BUILTIN_KEYS) or [
        f"embedding.{key}" for key in sorted({*given} - BUILTIN_EMBEDDING_KEYS)
    ]
    if unknown:
        name = one_line(unknown[0])
        return (
            tuple(unknown[0].split(".")),
            f"{name} is no setting that it knows",
            f"Remove {name} from the settings of memory-lancedb.",
        )
    model, size = given.get("model") or KNOWN_MODELS[0], given.get("dimensions")
    remedy = "Set embedding.dimensions to the length of the model's vectors."
    if size is not None and not (isinstance(size, int) and not isinstance(size, bool) and size >= 1):
        return ("embedding", "dimensions"), "embedding.dimensions is no whole number of 1 or more", remedy
    if model not in KNOWN_MODELS and size is None:
        why = f"embedding.dimensions is unset, and it does not know the length of vectors of {one_line(str(model))}"
        return ("embedding", "model"), why, remedy
    return None


# ---------------------------------------------------------------------- openclaw-mem-engine

_OLD = {"contextBudget": "budget", "todoGuardrails": "autoCapture"}
"""Names that documents give to blocks of openclaw-mem-engine, and the names that it reads."""


def _engine_keys(block: Mapping[str, Any]) -> Iterator[Said]:
    for key, value in block.items():
        if key not in ALL_KEYS:
            yield _unknown(key, ALL_KEYS)
        elif key in BLOCK_KEYS and isinstance(value, Mapping):
            known = (*BLOCK_KEYS[key], *(SERVICE_KEYS if key == "embedding" else ()))
            for name in value:
                if name not in known:
                    yield _unknown(f"{key}.{name}", known)


def _unknown(path: str, known: Collection[str]) -> Said:
    name = path.rpartition(".")[2]
    near = [_OLD[name]] if name in _OLD else get_close_matches(name, known, 1, 0.6)
    sentence = f"openclaw-mem-engine has no setting {one_line(path)}, so nothing reads it"
    return "unknown", "error", path, sentence, f"Did you mean {near[0]}?" if near else "Take it out."


def _engine_values(block: Mapping[str, Any]) -> Iterator[Said]:
    for path, (low, high) in RANGES.items():
        name, _, key = path.partition(".")
        part = block.get(name)
        value = part.get(key) if isinstance(part, Mapping) else None
        if value is None or (isinstance(value, str) and "${" in value):
            continue
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            sentence = f"{path} is no number: openclaw-mem-engine takes its default"
            yield "range", "warning", path, sentence, f"Allowed: {low:,} to {high:,}."
        elif not low <= number <= high:
            sentence = (
                f"{path} {number:g} is outside {low:,} to {high:,}: openclaw-mem-engine takes the nearer end"
            )
            yield "range", "warning", path, sentence, f"Give {low:,} to {high:,}."


def _engine_embedding(block: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[Said]:
    part = block.get("embedding")
    given = part if isinstance(part, Mapping) else {}
    model = given.get("model")
    if model is not None and model not in KNOWN_MODELS:
        yield (
            "model", "error", "embedding.model", f"openclaw-mem-engine embeds with no model {one_line(str(model))}",
            f"Allowed: {' or '.join(KNOWN_MODELS)}.",
        )  # fmt: skip
    if not given.get("apiKey") and not environ.get("OPENAI_API_KEY", "").strip():
        yield (
            "variable", "warning", "embedding.apiKey",
            "no key is set, and OPENAI_API_KEY is not set here: openclaw-mem-engine then refuses to store",
            "Name a variable: ${OPENAI_API_KEY}, and set it for the gateway's service; memtui cannot see that one.",
        )  # fmt: skip
