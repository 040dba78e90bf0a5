"""The configuration file of the agent's host, with the files that it includes, and where each setting stands."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.configuration.json5_text import Json5Error, Node, parse, remove_value, set_value
from memtui.engine.core.errors import MemtuiError, RefusedError, StoreNotFoundError, UsageError
from memtui.engine.discovery.openclaw_config import KEY as INCLUDE
from memtui.engine.discovery.openclaw_config import MAX_DEPTH, LoadedConfig, load
from memtui.engine.discovery.places import PathReading, PlaceFinder, read_environment, readings
from memtui.engine.discovery.types import PRO

Path_ = tuple[str, ...]

ENTRY: Path_ = ("plugins", "entries", PRO)

CONFIG: Path_ = (*ENTRY, "config")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a setting stands, or would be put: in which file, under which keys of that file."""

    file: Path
    keys: Path_
    there: bool
    node: Node | None = None


@dataclass(frozen=True)
class Configuration:
    """The files of one configuration as they were read; editing gives another one, and writes nothing."""

    loaded: LoadedConfig
    main: Path
    texts: Mapping[Path, str]
    """The text of each file, a byte order mark included."""
    trees: Mapping[Path, Node] = field(repr=False)
    broken: tuple[str, ...] = ()
    """Files that cannot be read, in sentences."""

    @property
    def plugin(self) -> dict[str, Any]:
        """The plugin's settings with variables as they are written."""
        block = self.loaded.mapping(*CONFIG, raw=True)
        inner = block.get("config")
        return (
            {**{key: each for key, each in block.items() if key != "config"}, **inner}
            if isinstance(inner, dict)
            else block
        )

    @property
    def config_path(self) -> Path_:
        """Where the plugin's settings are; a second `config` inside counts where there is one."""
        block = self.loaded.mapping(*CONFIG, raw=True)
        return (*CONFIG, "config") if isinstance(block.get("config"), dict) else CONFIG

    def setting_path(self, below: Sequence[str]) -> Path_:
        """Where a setting of the plugin stands: outside of a second `config` that lacks its block."""
        block = self.loaded.mapping(*CONFIG, raw=True)
        inner = block.get("config")
        outside = isinstance(inner, dict) and below[0] not in inner and below[0] in block
        return (*(CONFIG if outside else self.config_path), *below)

    def value(self, path: Sequence[str]) -> Any:
        """What counts at a path from the root, variables as they are written; None where nothing stands."""
        return self.loaded.at(*path, raw=True)

    def expanded(self, path: Sequence[str]) -> Any:
        """The same with variables filled in."""
        return self.loaded.at(*path)

    def spot(self, path: Sequence[str]) -> Spot:
        """Where the setting at `path` stands; where it does not, the deepest object that it would go into."""
        wanted = tuple(path)
        found = self._find(self.main, self.trees[self.main], (), wanted, 0)
        if found is not None:
            return found
        for depth in range(len(wanted) - 1, 0, -1):
            parent = self._find(self.main, self.trees[self.main], (), wanted[:depth], 0)
            if parent is not None and parent.node is not None and parent.node.kind == "object":
                return Spot(parent.file, (*parent.keys, *wanted[depth:]), False)
        return Spot(self.main, wanted, False)

    def _find(self, file: Path, node: Node, keys: Path_, left: Path_, depth: int) -> Spot | None:
        """The place that counts: a key beside an include before the included ones, of those the last."""
        if not left:
            own = (
                node.kind != "object"
                or any(member.key != INCLUDE for member in node.members)
                or not node.members
            )
            if own or depth > MAX_DEPTH:
                return Spot(file, keys, True, node)
            inside = [
                self._find(path, self.trees[path], (), (), depth + 1) for path in self._included(file, node)
            ]
            return next((spot for spot in reversed(inside) if spot is not None), Spot(file, keys, True, node))
        if node.kind != "object" or depth > MAX_DEPTH:
            return None
        member = node.member(left[0])
        if member is not None:
            found = self._find(file, member.node, (*keys, left[0]), left[1:], depth)
            if found is not None:
                return found
        for included in reversed(self._included(file, node)):
            found = self._find(included, self.trees[included], (), left, depth + 1)
            if found is not None:
                return found
        return None

    def _included(self, file: Path, node: Node) -> list[Path]:
        member = node.member(INCLUDE)
        if member is None:
            return []
        named = member.node.plain()
        names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
        places = [Path(os.path.normpath(file.parent / name)) for name in names if isinstance(name, str)]
        return [place for place in places if place in self.trees]

    def with_settings(self, settings: Sequence[tuple[Path_, Any]]) -> dict[Path, str]:
        """The text of each file that changes, once all settings are made; `REMOVED` takes one out."""
        texts, now = dict(self.texts), self

        def put(file: Path, made: str) -> Configuration:
            mark = "\ufeff" if texts[file].startswith("\ufeff") else ""
            texts[file] = mark + made
            return Configuration(self.loaded, self.main, texts, {**now.trees, file: parse(made)}, self.broken)

        for path, value in settings:
            place = now.spot(path)
            if value is REMOVED:
                while place.there:  # a key that stands twice, or in an included file, too
                    now = put(place.file, remove_value(texts[place.file].removeprefix("\ufeff"), place.keys))
                    place = now.spot(path)
                continue
            try:
                made = set_value(
                    texts[place.file].removeprefix("\ufeff"), place.keys, self._own_part(path, place, value)
                )
            except KeyError as error:
                raise UsageError(
                    f"{error.args[0]} in {place.file} is no object, so {path[-1]} cannot be set in it.",
                    fix="Make it one, or take it out; nothing was changed.",
                ) from None
            now = put(place.file, made)
        return {file: text for file, text in texts.items() if text != self.texts[file]}

    def _own_part(self, path: Path_, place: Spot, value: Any) -> Any:
        """What is to be written at `place`: of a list that other files begin, the part that stands there."""
        own = place.node.plain() if place.node is not None else None
        whole = self.value(path)
        if not isinstance(value, list) or not isinstance(own, list) or not isinstance(whole, list):
            return value
        others = whole[: len(whole) - len(own)]
        if value[: len(others)] != others:
            raise UsageError(
                f"{'.'.join(path)} begins in another file that {place.file.name} includes.",
                fix="Change it there; nothing was changed.",
            )
        return value[len(others) :]


class _Removed:
    def __repr__(self) -> str:
        return "REMOVED"


REMOVED = _Removed()
"""In place of a value: the setting goes."""


def find_reading(environ: Mapping[str, str], cwd: Path) -> PathReading:
    """The one way to read the environment that leads to a configuration.

    Raises StoreNotFoundError where there is none, RefusedError where two claim to be it.
    """
    look = PlaceFinder()
    found = [
        reading for reading in readings(read_environment(environ, cwd), look) if reading.config is not None
    ]
    if not found:
        folders = dict.fromkeys(str(Path(place.path).parent) for place in look.places.values())
        looked = f"in {', '.join(folders)}" if folders else "at nothing, since HOME is not set"
        raise StoreNotFoundError(
            f"No configuration of an agent (openclaw.json) was found; looked {looked}.",
            fix="Name it with OPENCLAW_CONFIG_PATH.",
        )
    if len(found) > 1:
        named = " and ".join(str(reading.config) for reading in found)
        raise RefusedError(
            f"Two files claim to be the configuration: {named}.",
            fix="Name the one that is meant with OPENCLAW_CONFIG_PATH; nothing was changed.",
        )
    return found[0]


def open_config(environ: Mapping[str, str], cwd: Path, path: Path | None = None) -> Configuration:
    """Read the configuration and what it includes; `path` names the file, where it is known already.

    Raises MemtuiError for a file that cannot be read, with line and column.
    """
    if path is None:
        reading = find_reading(environ, cwd)
    else:
        state = read_environment(environ, cwd)
        reading = PathReading("host", path, path.parent, state.user_home)
    loaded = load(reading, environ, cwd)
    main = reading.config
    assert main is not None
    if loaded.file is not None and loaded.file.parse == "error":
        raise MemtuiError(loaded.file.message, fix="Correct the file; nothing was changed.")
    texts: dict[Path, str] = {}
    trees: dict[Path, Node] = {}
    included = [Path(include) for include in loaded.file.includes] if loaded.file is not None else []
    for file in (main, *included):
        try:
            text = file.read_bytes().decode("utf-8")
            trees[file] = parse(text.removeprefix("\ufeff"))
            texts[file] = text
        except (OSError, UnicodeDecodeError) as error:
            raise MemtuiError(f"{file} cannot be read: {error}.", fix="Nothing was changed.") from error
        except Json5Error as error:
            raise MemtuiError(f"{file} is not valid JSON5: {error}.", fix="Correct the file.") from error
    broken = tuple(finding.message for finding in loaded.findings if finding.kind == "config-unreadable")
    return Configuration(loaded, main, texts, trees, broken)
