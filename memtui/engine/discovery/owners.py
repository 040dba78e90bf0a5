"""The memory plugins that keep a LanceDB store, and which store each of them uses under a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.discovery.config import Loaded
from memtui.engine.discovery.found import BUILTIN, ENGINE, OWNERS, PRO, Finding
from memtui.engine.discovery.gate import find_manifest
from memtui.engine.discovery.places import Looker, Reading, storage_path
from memtui.engine.discovery.secret import mask_text
from memtui.engine.discovery.variables import expand_field

DEFAULT_FOLDERS: Mapping[str, str] = {PRO: "lancedb-pro", BUILTIN: "lancedb", ENGINE: "lancedb"}
"""Folder below `<state>/memory` that a plugin uses when no `dbPath` is set."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A plugin's entry in a configuration, and the store that it uses."""

    plugin: str
    config: Loaded
    block: Mapping[str, Any]
    raw: Mapping[str, Any]
    enabled: bool
    active: bool
    manifest: Path | None
    path: str | None
    """Where the store is, None when that cannot be told."""
    why: str
    table: str = "memories"


def claims(config: Loaded, look: Looker, cwd: Path) -> tuple[list[Claim], list[Finding]]:
    """Every memory plugin that `config` names, in the memory slot or among the entries."""
    out, findings = [], []
    active = config.at("plugins", "slots", "memory")
    off = config.at("plugins", "enabled") is False
    for plugin in OWNERS:
        entry = config.at("plugins", "entries", plugin)
        if not isinstance(entry, dict) and active != plugin:
            continue
        enabled = not off and not (isinstance(entry, dict) and entry.get("enabled") is False)
        block = _block(config.mapping("plugins", "entries", plugin, "config"))
        raw = _block(config.mapping("plugins", "entries", plugin, "config", raw=True))
        manifest = find_manifest(plugin, config, cwd)
        table = block.get("tableName") if plugin == ENGINE else None
        table = table if isinstance(table, str) and table else "memories"
        path, why, problem = _place(plugin, block, config, manifest, look, table)
        if active == plugin and not enabled:
            findings.append(_finding(config, f"{plugin} has the memory slot but is switched off."))
        if problem:
            findings.append(_finding(config, problem))
        claim = Claim(
            plugin, config, block, raw, enabled, enabled and active == plugin, manifest, path, why, table
        )
        out.append(claim)
    return out, findings


def _block(config: dict[str, Any]) -> dict[str, Any]:
    """A plugin's settings; a second `config` inside is tolerated, as by the plugin itself, and wins."""
    inner = config.get("config")
    return (
        {**{key: config[key] for key in config if key != "config"}, **inner}
        if isinstance(inner, dict)
        else config
    )


def _place(
    plugin: str, block: Mapping[str, Any], config: Loaded, manifest: Path | None, look: Looker, table: str
) -> tuple[str | None, str, str]:
    """Path of the store, why it is there, and what is wrong (empty when nothing is)."""
    reading = config.reading
    given = block.get("dbPath")
    if not isinstance(given, str) or not given.strip():
        return _default(plugin, reading, look, table)
    text = expand_field(given, config.environ)
    if text is None or "${" in text:
        return None, "", f"dbPath of {plugin} names a variable that is not set, so its store cannot be found."
    if "://" in text and mask_text(text) != text:
        return None, "", f"dbPath of {plugin} carries a password; such an address is not opened."
    relative = (
        not text.strip().startswith(("~", "/", "\\")) and "://" not in text and not Path(text).is_absolute()
    )
    if relative and manifest is None:
        return (
            None,
            "",
            f"dbPath of {plugin} is relative ({text.strip()}) and the plugin's folder is unknown.",
        )
    anchor = manifest.parent if manifest is not None else reading.state
    place = storage_path(text, reading.home, anchor)
    if place is None:
        return None, "", f"dbPath of {plugin} starts with ~ and no home is set."
    if isinstance(place, Path) and not look.store(place, table):
        return str(place), "", f"dbPath of {plugin} is {place}, where there is no store (yet)."
    return str(place), "dbPath", ""


def _default(plugin: str, reading: Reading, look: Looker, table: str) -> tuple[str | None, str, str]:
    folder = DEFAULT_FOLDERS[plugin]
    here = reading.state / "memory" / folder
    # Builds differ: older ones always take ~/.openclaw, newer ones the state folder that is in use.
    fixed = None if reading.home is None else reading.home / ".openclaw" / "memory" / folder
    if look.store(here, table):
        both = fixed is not None and fixed != here and look.store(fixed, table)
        problem = f"{plugin} may use {here} or {fixed}, by its build: set dbPath to be sure." if both else ""
        return str(here), "default dbPath", problem
    if fixed is not None and look.store(fixed, table):
        return str(fixed), "default dbPath", ""
    return str(here), "", f"{plugin} is configured, but there is no store at {here} (yet)."


def _finding(config: Loaded, message: str) -> Finding:
    path = "" if config.file is None else config.file.path
    return Finding("store-not-found" if "store" in message else "plugin-off", "warning", message, path=path)
