"""One `openclaw.json`: read, its parts included, its variables filled in. Errors become findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.discovery.found import OWNERS, ConfigFile, Finding
from memtui.engine.discovery.include import Includes
from memtui.engine.discovery.jsonfile import UnreadableFileError, read_json5, read_text
from memtui.engine.discovery.places import Reading
from memtui.engine.discovery.variables import HERE, Expansion, KeyPath, Layers, environment, expand


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration with everything that is needed to look something up in it."""

    reading: Reading
    file: ConfigFile | None
    """None when there is no configuration file."""
    raw: Any
    """Includes resolved, variables not."""
    values: Any
    missing: Mapping[KeyPath, tuple[str, ...]]
    environ: Layers
    findings: tuple[Finding, ...] = field(default=())

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


def load(reading: Reading, environ: Mapping[str, str], cwd: Path) -> Loaded:
    """Read the configuration of `reading`; never raises for what a file may hold."""
    if reading.config is None:
        return Loaded(reading, None, {}, {}, {}, environment(environ, cwd, reading.state, {}))
    path = reading.config
    try:
        tree = read_json5(path)
        if not isinstance(tree, dict):
            raise UnreadableFileError(path, "must hold an object", 1, 1)
    except UnreadableFileError as error:
        finding = _unreadable(error, "the default places were looked at instead")
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
        return Loaded(reading, file, {}, {}, {}, layers, (finding, *_named_anyway(path)))
    includes = Includes(path.parent)
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
    return Loaded(reading, file, raw, expansion.values, expansion.missing, layers, tuple(findings))


def _named_anyway(path: Path) -> list[Finding]:
    """The lines of an unreadable file that name a store: it is not looked for, but it should be known of."""
    try:
        lines = read_text(path).splitlines()
    except UnreadableFileError:
        return []
    message = "Line {} of the unreadable configuration names a dbPath; the store there is not listed."
    return [
        Finding("store-not-found", "warning", message.format(number), path=str(path), line=number)
        for number, line in enumerate(lines, 1)
        if "dbPath" in line
    ]


def _unreadable(error: UnreadableFileError, then: str) -> Finding:
    where = f" at line {error.line}, column {error.column}" if error.line else ""
    return Finding(
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
    ("plugins", "slots"),
    ("plugins", "load"),
    *(("plugins", "entries", each) for each in OWNERS),
)
"""Parts of a configuration that memtui uses; the agent's own environment may well have what others need."""


def _about_variables(expansion: Expansion, layers: Layers, path: Path) -> list[Finding]:
    ours = {place: names for place, names in expansion.missing.items() if _is_ours(place)}
    findings = [
        Finding(
            "variable-missing",
            "warning",
            f"{_dotted(place)} names {', '.join(names)}, which is not set here.",
            fix="Set it in the environment or in the .env of the state folder.",
            path=str(path),
        )
        for place, names in ours.items()
    ]
    if others := len(expansion.missing) - len(ours):
        message = f"{others} setting(s) outside of memory name variables that are not set here."
        findings.append(Finding("variable-missing", "note", message, path=str(path)))
    near = sorted(name for name in expansion.used if layers.origin(name) == HERE)
    if near:
        message = f"{', '.join(near)} comes from the .env of the current folder; the agent may run elsewhere."
        findings.append(Finding("variable-from-folder", "note", message, path=str(path)))
    return findings


def _is_ours(place: KeyPath) -> bool:
    return any(place[: len(part)] == part for part in _OURS)


def _dotted(path: KeyPath) -> str:
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out
