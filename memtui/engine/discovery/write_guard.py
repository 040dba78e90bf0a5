"""How the agent guards its writes, and whether editing beside it is safe: lock, build of the plugin."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memtui.engine.discovery.agents import agent_entries, workspace_of
from memtui.engine.discovery.json5_file import UnreadableFileError, read_json5
from memtui.engine.discovery.openclaw_config import LoadedConfig
from memtui.engine.discovery.places import user_path
from memtui.engine.discovery.types import BUILTIN, PRO, Lock, Redis, WriteGuard
from memtui.engine.discovery.variables import SecretText, expand_field

DEFAULT_KEY_PREFIX = "memory-lancedb-pro:write-lock"

DEFAULT_TTL_MS = 60_000

MANIFESTS = ("openclaw.plugin.json", "clawdbot.plugin.json", "moltbot.plugin.json")

_HOST = re.compile(r"[A-Za-z0-9._:-]+")


def lock_of(plugin: str, block: Mapping[str, Any], path: str, environ: Mapping[str, str]) -> Lock:
    """The lock that the plugin takes on the store at `path`, from its settings; nothing is connected to."""
    if plugin != PRO:
        return Lock("none")
    redis = block.get("locking")
    redis = redis.get("redis") if isinstance(redis, Mapping) else None
    redis = redis if isinstance(redis, Mapping) else {}
    urls = (redis.get("url"), block.get("redisUrl"), environ.get("MEMORY_LANCEDB_REDIS_URL"))
    url = next((url.strip() for url in urls if isinstance(url, str) and url.strip()), "")
    enabled = redis.get("enabled")
    if enabled is not True and (not url or enabled is False):
        return Lock("file")
    host, port, db = _redis_place(expand_field(url, environ) or "")
    prefix = redis.get("keyPrefix")
    prefix = prefix if isinstance(prefix, str) and prefix else DEFAULT_KEY_PREFIX
    ttl = redis.get("ttlMs")
    resource = os.path.realpath(path) if os.path.islink(path) else path
    key = f"{prefix}:{hashlib.sha256(resource.encode('utf-8', 'surrogatepass')).hexdigest()}"
    ttl_ms = int(ttl) if isinstance(ttl, int | float) and 0 < ttl < 1e12 else DEFAULT_TTL_MS
    return Lock("redis", Redis(host, port, db, prefix, key, ttl_ms, SecretText(url)))


def _redis_place(url: str) -> tuple[str, int, int]:
    """Host, port and database of a Redis URL; ("", 6379, 0) when part of a password might be in them."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 6379
    except ValueError:
        return "", 6379, 0
    rest = parts.path + parts.query + parts.fragment
    if "@" in rest or not _HOST.fullmatch(host):
        return "", 6379, 0
    db = parts.path.strip("/")
    return host, port, int(db) if db.isascii() and db.isdigit() and len(db) < 6 else 0


def find_manifests(plugin: str, config: LoadedConfig, cwd: Path) -> tuple[Path, ...]:
    """The manifests of every installed build of the plugin, each once.

    From `plugins.load.paths`, its install record, packages of npm and git, `extensions`, and the workspaces.
    """
    found: dict[str, Path] = {}
    for path in _manifest_places(plugin, config, cwd):
        if _manifest_id(path) == plugin:
            found.setdefault(os.path.realpath(path), path)
    return tuple(found.values())


def _manifest_places(plugin: str, config: LoadedConfig, cwd: Path) -> Iterable[Path]:
    paths = config.at("plugins", "load", "paths")
    install = config.at("plugins", "installs", plugin, "installPath")
    for text in [*(paths if isinstance(paths, list) else []), install]:
        if isinstance(text, str) and text and (path := user_path(text, config.reading.home, cwd)) is not None:
            folder = path.parent if path.suffix in (".json", ".js", ".ts", ".mjs") else path
            yield from _in_folder(folder)
            yield from _in_folder(folder / plugin)
    state = config.reading.state
    for packages in (*_folders_in(state / "npm" / "projects"), state / "npm"):
        for folder in _folders_in(packages / "node_modules"):
            yield from _in_folder(folder)
            for scoped in _folders_in(folder) if folder.name.startswith("@") else ():
                yield from _in_folder(scoped)
    for folder in _folders_in(state / "git"):
        yield from _in_folder(folder)
    spaces = dict.fromkeys(workspace_of(config, entry, cwd) for entry in agent_entries(config.values))
    places = [state / "extensions", *(space / ".openclaw" / "extensions" for space in spaces if space)]
    for extensions in places:
        yield from _in_folder(extensions / plugin)
        for folder in _folders_in(extensions):
            yield from _in_folder(folder)


def _folders_in(place: Path) -> list[Path]:
    try:
        return sorted(entry for entry in place.iterdir() if os.path.isdir(entry))
    except OSError:
        return []


def _in_folder(folder: Path) -> Iterable[Path]:
    return (folder / name for name in MANIFESTS if os.path.isfile(folder / name))


def _manifest_id(path: Path) -> str:
    try:
        tree = read_json5(path)
    except UnreadableFileError:
        return ""
    return str(tree.get("id", "")) if isinstance(tree, dict) else ""


def knows_consistency(manifest: Path) -> bool:
    """Whether this build has `readConsistencyIntervalSeconds`; its version string says nothing of it."""
    try:
        node = read_json5(manifest)
    except UnreadableFileError:
        return False
    for key in ("configSchema", "properties", "storageMaintenance", "properties"):
        node = node.get(key) if isinstance(node, dict) else None
    return isinstance(node, dict) and "readConsistencyIntervalSeconds" in node


_STRICT = ("ok", "stop-agent", "read-only")


def gate_of_builds(
    plugin: str, lock: Lock, block: Mapping[str, Any], manifests: Sequence[Path]
) -> WriteGuard:
    """The strictest verdict on the builds that are installed: which of them the gateway runs cannot be told."""
    gates = [gate_of(plugin, lock, block, path) for path in manifests] or [gate_of(plugin, lock, block, None)]
    strictest = max(gates, key=lambda gate: _STRICT.index(gate.verdict))
    if len({(gate.verdict, gate.read_consistency_s) for gate in gates}) == 1:
        return strictest
    judged = "; ".join(f"{gate.manifest}: {gate.verdict}" for gate in gates)
    reason = f"{len(gates)} builds of the plugin are installed and differ ({judged}). {strictest.reason}"
    return replace(strictest, reason=reason)


def gate_of(plugin: str, lock: Lock, block: Mapping[str, Any], manifest: Path | None) -> WriteGuard:
    """Whether another program may edit beside the agent that uses `plugin` with these settings."""
    shown = "" if manifest is None else str(manifest)
    if plugin == BUILTIN and manifest is not None and _release(manifest) >= FRESH_READS:
        reason = "memory-lancedb reads the newest version before each operation: the agent sees every edit at once."
        return WriteGuard("ok", reason, shown, 0.0)
    if plugin != PRO:
        reason = f"{plugin} takes no lock: stop the agent first, or restart it afterwards."
        return WriteGuard("stop-agent", reason, shown)
    known = manifest is not None and knows_consistency(manifest)
    seconds = _consistency(block) if known else None
    if lock.kind == "redis":
        reason = (
            "Redis locking is configured and memtui does not speak it; the file lock would protect nothing."
        )
        return WriteGuard("read-only", reason, shown, seconds)
    if manifest is None:
        reason = "The plugin's build is not known (no manifest found), so the agent may work on a stale copy."
        return WriteGuard("stop-agent", reason, shown)
    if seconds is None:
        reason = (
            "This build of the plugin keeps a stale copy: it could undo an edit. Stop or restart the agent."
        )
        return WriteGuard("stop-agent", reason, shown)
    if seconds > 0:
        reason = f"The agent may see an edit up to {seconds:g} s late and could undo it. Stop or restart it."
        return WriteGuard("stop-agent", reason, shown, seconds)
    return WriteGuard("ok", "The agent sees every edit at once; the file lock is taken.", shown, seconds)


FRESH_READS = (2026, 8)
"""First release line of memory-lancedb that reads the newest version before each operation."""


def _release(manifest: Path) -> tuple[int, int]:
    """Year and month of the release line in the package beside a manifest; (0, 0) where it is not told."""
    try:
        package = read_json5(manifest.parent / "package.json")
    except UnreadableFileError:
        return (0, 0)
    version = str(package.get("version", "")) if isinstance(package, dict) else ""
    match = re.match(r"(\d{4})\.(\d{1,2})\.", version)
    return (0, 0) if match is None else (int(match[1]), int(match[2]))


def _consistency(block: Mapping[str, Any]) -> float:
    maintenance = block.get("storageMaintenance")
    value = maintenance.get("readConsistencyIntervalSeconds") if isinstance(maintenance, Mapping) else None
    return float(value) if isinstance(value, int | float) and 0 < value < 1e9 else 0.0


def retention_days(block: Mapping[str, Any]) -> float | None:
    """Days of history that the plugin's clean-up leaves (1 to 3650, 7 unless set); None when it is off."""
    maintenance = block.get("storageMaintenance")
    cleanup = maintenance.get("autoCleanup") if isinstance(maintenance, Mapping) else None
    if not isinstance(cleanup, Mapping) or cleanup.get("enabled") is not True:
        return None
    days = cleanup.get("retentionDays")
    return min(3650.0, max(1.0, float(days))) if isinstance(days, int | float) and days == days else 7.0


UNREADABLE = WriteGuard(
    "read-only", "The configuration cannot be read, so lock and build of the agent are unknown."
)

LEFT_OVER = WriteGuard("stop-agent", "No configuration names this store: make sure that no agent uses it.")


# Whether an agent runs on this machine now: its gateway is a process whose command line says so.

_HOSTS = ("openclaw", "clawdbot", "moltbot")

_RUNTIMES = ("node", "bun", "deno")


def is_gateway(words: Sequence[str]) -> bool:
    """Whether a process with this command line is an agent's gateway, and not a command that speaks to one."""
    if not words:
        return False
    title = words[0].split()  # a process that names itself has one word with spaces in it
    words = [*title, *words[1:]]
    program = os.path.basename(words[0])
    if any(program == f"{host}-gateway" for host in _HOSTS):
        return True
    if program in _RUNTIMES:
        words = [word for word in words[1:] if not word.startswith("-")]
    at = next((i for i, word in enumerate(words[:1]) if any(host in word for host in _HOSTS)), None)
    rest = [word for word in words[1:] if not word.startswith("-")]
    return at is not None and rest[:1] == ["gateway"] and rest[1:2] in ([], ["run"], ["start"])


def running_gateways() -> tuple[int, ...] | None:
    """Ids of the processes of agents' gateways on this machine; None where processes cannot be listed."""
    processes = list(_processes())
    return tuple(pid for pid, words in processes if is_gateway(words)) if processes else None


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Id and command line of every process that can be seen."""
    if os.path.isdir("/proc/self"):
        for name in filter(str.isdecimal, os.listdir("/proc")):
            try:
                line = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue  # it ended meanwhile, or is not ours to see
            yield int(name), [part.decode(errors="replace") for part in line.split(b"\0") if part]
        return
    try:
        listed = subprocess.run(
            ["ps", "-axww", "-o", "pid=,args="], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return
    for each in listed.stdout.splitlines():
        pid, _, words = each.strip().partition(" ")
        if pid.isdecimal():
            yield int(pid), words.split()
