"""What `config.yaml` of a Hermes home says of LanceDB's plugin, read as the plugin reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.discovery.json5_file import UnreadableFileError, read_text

PROVIDER = "lancedb"

FILE = "config.yaml"

DEFAULTS: Mapping[str, Any] = {
    "embedding": {
        "provider": "openai",
        "model": "text-embedding-3-small",
        "base_url": None,
        "api_key_env": "OPENAI_API_KEY",
        "dimensions": None,
        "max_batch": 100,
    },
    "retrieval": {
        "mode": "vector",
        "top_k": 10,
        "search_kinds": ["fact"],
        "reranker": {
            "type": "rrf",
            "weight": 0.7,
            "model": "cross-encoder/ettin-reranker-17m-v1",
            "rerank_top_n": 50,
        },
    },
    "extraction": {"enabled": True, "min_turns": 3},
    "maintenance": {"enabled": True, "optimize_every_commits": 50, "cleanup_older_than_days": 7},
}
"""The plugin's defaults."""


@dataclass(frozen=True, slots=True)
class HermesConfig:
    """The settings of the plugin in one home: its defaults with the file's values over them."""

    path: str
    """The file; empty where there is none."""
    settings: Mapping[str, Any] = field(default_factory=lambda: DEFAULTS)
    given: Mapping[str, Any] = field(default_factory=dict)
    """What the file itself says of the plugin."""
    provider: str | None = None
    """The memory provider that the file chooses; None where it says nothing."""
    problem: str = ""
    """Why the plugin goes on with its defaults: the file cannot be read."""


def read_config(home: Path) -> HermesConfig:
    """The plugin's settings in `home`. A file that cannot be read leaves the defaults, as the plugin does."""
    path = home / FILE
    if not path.is_file():
        return HermesConfig("")
    try:
        tree = _tree(read_text(path).removeprefix("\ufeff"))
    except (UnreadableFileError, ValueError) as error:
        return HermesConfig(str(path), problem=str(error))
    given: Any = _at(tree, "plugins", "lancedb")
    chosen = _at(tree, "memory", "provider")
    provider = chosen.strip() if isinstance(chosen, str) and chosen.strip() else None
    if not given:
        return HermesConfig(str(path), provider=provider)
    if not isinstance(given, Mapping):
        return HermesConfig(str(path), provider=provider, problem="plugins.lancedb is no block of settings")
    block: Mapping[str, Any] = given
    return HermesConfig(str(path), over(DEFAULTS, block), block, provider)


def _tree(text: str) -> Any:
    """The values of YAML; ValueError for what is none."""
    import yaml  # only where there is such a file

    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        raise ValueError(f"{getattr(error, 'problem', None) or type(error).__name__}{where}") from None


def _at(tree: Any, *names: str) -> Any:
    """The value below these names; None where there is none."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` laid over `below`, block by block."""
    out = dict(below)
    for key, value in above.items():
        known = out.get(key)
        if isinstance(value, Mapping) and isinstance(known, Mapping):
            value = over(known, value)
        out[str(key)] = value
    return out
