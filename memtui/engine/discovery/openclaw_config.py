"""One `openclaw.json`: read, its parts included, its variables filled in. Errors become findings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.core.text import counted
from memtui.engine.discovery.json5_file import UnreadableFileError, read_json5, read_text
from memtui.engine.discovery.places import PathReading, user_path
from memtui.engine.discovery.types import OWNERS, ConfigFile, ConfigFinding
from memtui.engine.discovery.variables import HERE, EnvironmentLayers, Expansion, KeyPath, environment, expand

# `$include`: parts of a configuration that live in their own files, merged as OpenClaw merges them.

KEY = "$include"

MAX_DEPTH = 10


@dataclass(slots=True)
class Includes:
    """The files that were read, in order, and the ones that could not be; a failed one counts as empty."""

    root: Path
    """Folder of the main file: nothing outside of it and of `roots` is read, as in OpenClaw."""
    roots: tuple[Path, ...] = ()
    """Folders that OPENCLAW_INCLUDE_ROOTS allows too."""
    files: list[Path] = field(default_factory=list)
    failures: list[UnreadableFileError] = field(default_factory=list)

    def resolve(self, tree: Any, file: Path) -> Any:
        """`tree`, parsed from `file`, with every `$include` replaced.

        Objects merge deeply, arrays are joined, later files and then the sibling keys win.
        """
        return self._walk(tree, file, (Path(os.path.realpath(file)),))

    def _walk(self, node: Any, file: Path, chain: tuple[Path, ...]) -> Any:
        if isinstance(node, list):
            return [self._walk(item, file, chain) for item in node]
        if not isinstance(node, dict):
            return node
        own = {key: self._walk(value, file, chain) for key, value in node.items() if key != KEY}
        if KEY not in node:
            return own
        wanted = node[KEY]
        if isinstance(wanted, str):
            included = self._load(wanted, file, chain)
        elif isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
            included = {}
            for name in wanted:
                included = merge(included, self._load(name, file, chain))
        else:
            self.failures.append(
                UnreadableFileError(file, f"{KEY} must be a file name or a list of file names")
            )
            return own
        if not own:
            return included
        if not isinstance(included, dict):
            self.failures.append(UnreadableFileError(file, f"{KEY} beside other keys must name an object"))
            return own
        return merge(included, own)

    def _load(self, name: str, file: Path, chain: tuple[Path, ...]) -> Any:
        path = Path(os.path.normpath(file.parent / name))
        try:
            real = Path(os.path.realpath(path))
            if not any(real.is_relative_to(os.path.realpath(root)) for root in (self.root, *self.roots)):
                raise UnreadableFileError(path, "is outside the folder of the configuration")
            if real in chain:
                raise UnreadableFileError(path, "includes itself")
            if len(chain) > MAX_DEPTH:
                raise UnreadableFileError(path, f"is included more than {MAX_DEPTH} levels deep")
            tree = read_json5(path)
        except UnreadableFileError as error:
            self.failures.append(error)
            return {}
        except ValueError:
            self.failures.append(UnreadableFileError(file, f"{KEY} names an impossible path"))
            return {}
        self.files.append(path)
        return self._walk(tree, path, (*chain, real))


def merge(base: Any, over: Any) -> Any:
    """`over` laid upon `base`: objects key by key, arrays one after the other, anything else replaced."""
    if isinstance(base, list) and isinstance(over, list):
        return [*base, *over]
    if isinstance(base, dict) and isinstance(over, dict):
        return {
            **base,
            **{key: merge(base[key], value) if key in base else value for key, value in over.items()},
        }
    return over


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A configuration with everything that is needed to look something up in it."""

    reading: PathReading
    file: ConfigFile | None
    """None when there is no configuration file."""
    raw: Any
    """Includes resolved, variables not."""
    values: Any
    missing: Mapping[KeyPath, tuple[str, ...]]
    environ: EnvironmentLayers
    findings: tuple[ConfigFinding, ...] = field(default=())

    @property
    def readable(self) -> bool:
        """Whether everything that the configuration says is known."""
        return self.file is None or self.file.parse == "ok"

    def at(self, *path: str, raw: bool = False) -> Any:
        """The value at a path of keys, None where there is none."""
        node = self.raw if raw else self.values
        for key in path:
            if not isinstance(node, dict) or key not in node:
                return None
            node = node[key]
        return node

    def mapping(self, *path: str, raw: bool = False) -> dict[str, Any]:
        """The object at a path of keys, {} where there is none."""
        node = self.at(*path, raw=raw)
        return node if isinstance(node, dict) else {}


def files_beside(config: str) -> tuple[tuple[str, int, int], ...]:
    """(name, time, size) of every file beside a configuration that may be a part of it, its own among them."""
    out = []
    folder = Path(config).parent if config else None
    for path in (*folder.glob("*.json*"), folder / ".env") if folder is not None else ():
        try:
            status = path.stat()
        except OSError:
            continue
        if ".memtui-" not in path.name:  # our backups
            out.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(sorted(out))


def load(reading: PathReading, environ: Mapping[str, str], cwd: Path) -> LoadedConfig:
    """Read the configuration of `reading`; never raises for what a file may hold."""
    if reading.config is None:
        return LoadedConfig(reading, None, {}, {}, {}, environment(environ, cwd, reading.state, {}))
    path = reading.config
    try:
        tree = read_json5(path)
        if not isinstance(tree, dict):
            raise UnreadableFileError(path, "must hold an object", 1, 1)
    except UnreadableFileError as error:
        finding = _unreadable(error, "the default places were searched instead")
        file = ConfigFile(
            str(path),
            reading.who,
            str(reading.state),
            "error",
            message=finding.message,
            line=error.line,
            column=error.column,
        )
        layers = environment(environ, cwd, reading.state, {})
        return LoadedConfig(reading, file, {}, {}, {}, layers, (finding, *_named_anyway(path)))
    named = environ.get("OPENCLAW_INCLUDE_ROOTS", "").split(os.pathsep)
    roots = (user_path(text, reading.home, cwd) for text in named if text.strip())
    includes = Includes(path.parent, tuple(root for root in roots if root is not None))
    raw = includes.resolve(tree, path)
    raw = raw if isinstance(raw, dict) else {}
    layers = environment(environ, cwd, reading.state, raw)
    expansion = expand(raw, layers)
    findings = [_unreadable(error, "its settings count as absent") for error in includes.failures]
    findings += _about_variables(expansion, layers, path)
    slot = expansion.values.get("plugins", {})
    slot = slot.get("slots", {}) if isinstance(slot, dict) else {}
    active = slot.get("memory") if isinstance(slot, dict) else None
    file = ConfigFile(
        str(path),
        reading.who,
        str(reading.state),
        "incomplete" if includes.failures else "ok",
        message=findings[0].message if includes.failures else "",
        includes=tuple(dict.fromkeys(str(part) for part in includes.files)),
        active_plugin=active if isinstance(active, str) else None,
    )
    return LoadedConfig(reading, file, raw, expansion.values, expansion.missing, layers, tuple(findings))


def _named_anyway(path: Path) -> list[ConfigFinding]:
    """The lines of an unreadable file that name a store: it is not looked for, but it should be known of."""
    try:
        lines = read_text(path).splitlines()
    except UnreadableFileError:
        return []
    message = "Line {} of the unreadable configuration names a dbPath; the store there is not listed."
    return [
        ConfigFinding("store-not-found", "warning", message.format(number), path=str(path), line=number)
        for number, line in enumerate(lines, 1)
        if "dbPath" in line
    ]


def _unreadable(error: UnreadableFileError, then: str) -> ConfigFinding:
    where = f" at line {error.line}, column {error.column}" if error.line else ""
    return ConfigFinding(
        "config-unreadable",
        "error",
        f"{error.path} {error.reason}{where}; {then}.",
        fix=f"Correct line {error.line}." if error.line else "Correct the file.",
        path=str(error.path),
        line=error.line,
        column=error.column,
    )


_OURS = (
    ("agents",),
    ("memory",),
    ("memorySearch",),
    ("plugins", "slots"),
    ("plugins", "load"),
    *(("plugins", "entries", owner) for owner in OWNERS),
)
"""Parts of a configuration that memtui uses; the agent's own environment may well have what others need."""


def _about_variables(expansion: Expansion, layers: EnvironmentLayers, path: Path) -> list[ConfigFinding]:
    ours = {place: names for place, names in expansion.missing.items() if _is_ours(place)}
    findings = [
        ConfigFinding(
            "variable-missing",
            "warning",
            f"{_dotted(place)} names {', '.join(names)}, which is not set here.",
            fix="Set it in the environment or in the .env of the state folder.",
            path=str(path),
        )
        for place, names in ours.items()
    ]
    if others := len(expansion.missing) - len(ours):
        message = f"{counted(others, 'setting')} outside of memory: a variable that is not set here."
        findings.append(ConfigFinding("variable-missing", "note", message, path=str(path)))
    near = sorted(name for name in expansion.used if layers.origin(name) == HERE)
    if near:
        message = f"{', '.join(near)} comes from the .env of the current folder; the agent may run elsewhere."
        findings.append(ConfigFinding("variable-from-folder", "note", message, path=str(path)))
    return findings


def _is_ours(place: KeyPath) -> bool:
    return any(place[: len(part)] == part for part in _OURS)


def _dotted(path: KeyPath) -> str:
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out
