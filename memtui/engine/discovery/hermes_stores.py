"""Where LanceDB's plugin for Hermes keeps its memory: a store for each home, the default one and every profile."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memtui.engine.dialects.hermes import REQUIRED
from memtui.engine.discovery.hermes_config import FILE, PROVIDER, HermesConfig, read_config
from memtui.engine.discovery.json5_file import UnreadableFileError, read_text
from memtui.engine.discovery.places import PlaceFinder, user_path
from memtui.engine.discovery.types import HERMES, ConfigFinding, FoundStore, Lock, WriteGuard
from memtui.engine.discovery.variables import (
    EnvironmentLayers,
    KeyRef,
    SecretText,
    key_refs,
    masked,
    read_dotenv,
)
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.store.locate import TABLE
from memtui.engine.store.manifests import sketch_table

HOME_VARIABLE = "HERMES_HOME"

FOLDER, PROFILES = "lancedb", "profiles"

_GATE = WriteGuard("ok", "Hermes takes no lock: LanceDB itself puts writers one behind the other.")


def hermes_stores(
    environ: Mapping[str, str], cwd: Path, look: PlaceFinder
) -> tuple[tuple[FoundStore, ...], tuple[ConfigFinding, ...]]:
    """Every table of the plugin, that of the home in use first, and what is wrong with their settings."""
    found: dict[str, FoundStore] = {}
    findings: list[ConfigFinding] = []
    for home, name, why, in_use in _homes(environ, cwd):
        folder = home / FOLDER
        if os.path.realpath(folder) in found or not look.store(folder) or not _is_its_table(folder):
            continue
        look.config(home / FILE)
        config = read_config(home)
        if config.problem:
            message = (
                f"{config.path} cannot be read ({config.problem}): the plugin goes on with its defaults."
            )
            fix = "Correct the file; hermes config edit opens it."
            findings.append(ConfigFinding("config-unreadable", "warning", message, fix, path=config.path))
        found[os.path.realpath(folder)] = _store(folder, name, why, in_use, config, environ)
    return tuple(found.values()), tuple(findings)


def _homes(environ: Mapping[str, str], cwd: Path) -> Iterator[tuple[Path, str, str, bool]]:
    """Folder, name, why it is looked at, and whether Hermes would use it here."""
    default = default_home(environ, cwd)
    named = environ.get(HOME_VARIABLE, "").strip()
    given = user_path(named, default.parent if default is not None else None, cwd) if named else None
    root = given or default
    if root is None:
        return
    if root.parent.name == PROFILES:  # the variable names a profile: its siblings lie beside it
        root = root.parent.parent
    chosen = given or _chosen(root)
    homes = [(root, HERMES, "Hermes")]
    homes += [(root / PROFILES / name, name, f"profile {name} of Hermes") for name in _profiles(root)]
    homes.sort(key=lambda each: each[0] != chosen)
    for home, name, why in homes:
        by = f"{HOME_VARIABLE}: {why}" if home == given else why
        yield home, name, by, home == chosen


def default_home(environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The folder of Hermes where no variable names one, by the rules of this system; None without a home."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if sys.platform == "win32":
        local = environ.get("LOCALAPPDATA", "").strip()
        if local:
            return Path(local) / "hermes"
        return Path(home) / "AppData" / "Local" / "hermes" if home else None
    return Path(os.path.normpath(cwd / home)) / ".hermes" if home else None


def _chosen(root: Path) -> Path:
    """The home that the program's launcher takes: the profile that was switched to, else the root."""
    try:
        name = read_text(root / "active_profile").strip()
    except UnreadableFileError:
        return root
    profile = root / PROFILES / name
    return profile if name and name != "default" and profile.is_dir() else root


def _profiles(root: Path) -> list[str]:
    try:
        with os.scandir(root / PROFILES) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def _is_its_table(folder: Path) -> bool:
    """Whether the table has the plugin's columns; one that cannot be read says so when it is opened."""
    sketch = sketch_table(folder / f"{TABLE}.lance")
    return sketch is not None and set(REQUIRED) <= set(sketch.columns)


def _store(
    folder: Path, name: str, why: str, in_use: bool, config: HermesConfig, environ: Mapping[str, str]
) -> FoundStore:
    chosen = config.provider in (None, PROVIDER)
    other = "" if chosen else f", whose memory provider is {config.provider}"
    embedding = _embedding(config.settings.get("embedding")) if config.path else None
    key = {"source": "env", "id": _text(config.settings.get("embedding"), "api_key_env") or "OPENAI_API_KEY"}
    layers = EnvironmentLayers(
        (("environment", environ), (f".env of {name}", read_dotenv(folder.parent / ".env")))
    )
    keys = key_refs("embedding.api_key_env", None, key, layers, None) if embedding is not None else ()
    return FoundStore(
        name=name,
        path=str(folder),
        plugin=HERMES,
        table=TABLE,
        configured=config.provider == PROVIDER,
        active=in_use and chosen,
        enabled=chosen,
        why=why + other,
        lock=Lock("none"),
        gate=_GATE,
        settings=masked(config.settings),
        model=None if embedding is None else embedding.model,
        config_dims=None if embedding is None else embedding.expected_dimensions,
        keys=keys,
        embedding_problem=_problem(embedding, keys),
        hidden_embedding=SecretText(embedding),
    )


def _embedding(block: Any) -> EmbeddingSettings:
    """The service that the plugin's own client asks, as its block names it."""
    dimensions = block.get("dimensions") if isinstance(block, Mapping) else None
    asked = dimensions if isinstance(dimensions, int) and dimensions > 0 else None
    default = EmbeddingSettings()
    return EmbeddingSettings(
        model=_text(block, "model") or default.model,
        base_url=_text(block, "base_url"),
        request_dimensions=asked,
        provider="openai",
    )


def _problem(embedding: EmbeddingSettings | None, keys: Sequence[KeyRef]) -> str:
    if embedding is None:
        return f"there is no {FILE} in this home"
    missing = [ref.name for ref in keys if ref.state == "not set"]
    if missing and not embedding.base_url:
        return f"its key is not set here ({', '.join(missing)})"
    return ""


def _text(block: Any, name: str) -> str:
    value = block.get(name) if isinstance(block, Mapping) else None
    return value.strip() if isinstance(value, str) else ""
