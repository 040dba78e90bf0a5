"""Where OpenClaw may keep its configuration and its stores, by environment. Looks, never creates."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

STATE_FOLDERS = (".openclaw", ".clawdbot", ".moldbot", ".moltbot")
"""Names of the state folder in a home, today's first."""

_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

CONFIG_NAMES = ("openclaw.json", "clawdbot.json", "moldbot.json", "moltbot.json")


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A path that was looked at, and whether something was there."""

    path: str
    what: Literal["config", "store"]
    found: bool

    def __str__(self) -> str:
        return self.path


@dataclass(slots=True)
class PlaceFinder:
    """Checks existence and remembers every place it was asked about, once each."""

    places: dict[tuple[str, str], KnownPlace] = field(default_factory=dict)

    def config(self, path: Path) -> bool:
        """Whether there is a configuration file at `path`."""
        return self._note(path, "config", os.path.isfile)

    def store(self, folder: Path, table: str = "memories") -> bool:
        """Whether `folder` holds the table's folder `TABLE.lance`."""
        return self._note(folder, "store", lambda path: os.path.isdir(os.path.join(path, f"{table}.lance")))

    def _note(self, path: Path, what: Literal["config", "store"], exists: Callable[[str], bool]) -> bool:
        key = (str(path), what)
        if key not in self.places:
            self.places[key] = KnownPlace(str(path), what, exists(str(path)))
        return self.places[key].found


@dataclass(frozen=True, slots=True)
class PathReading:
    """One way to understand the environment: which configuration, which state folder, which `~`."""

    who: Literal["host", "plugin"]
    """host: OpenClaw itself. plugin: memory-lancedb-pro, which takes OPENCLAW_HOME for the state folder."""
    config: Path | None
    """None when there is no configuration file."""
    state: Path
    home: Path | None
    """What `~` means; None when no home is set."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables that decide where OpenClaw lives, as absolute paths."""

    config: Path | None
    state: Path | None
    openclaw_home: Path | None
    homes: tuple[Path, ...]
    """HOME, then USERPROFILE, where set and different."""
    profile: str = ""
    """OPENCLAW_PROFILE: the state folder is then `<home>/.openclaw-NAME`."""

    @property
    def user_home(self) -> Path | None:
        """What `~` means to everybody but the host under OPENCLAW_HOME."""
        return self.homes[0] if self.homes else None


def user_path(text: str, home: Path | None, cwd: Path) -> Path | None:
    """`text` as an absolute path: `~` is `home`, relative starts at `cwd`; None for `~` without a home."""
    text = text.strip()
    if text == "~" or text.startswith(("~/", "~\\")):
        if home is None:
            return None
        text = os.path.join(home, text[2:])
    return Path(os.path.normpath(os.path.join(cwd, text)))


def storage_path(text: str, home: Path | None, cwd: Path) -> Path | str | None:
    """A configured `dbPath`: a local path (also from a `file://` URL), or a remote store's URI unchanged."""
    text = text.strip()
    if "://" in text and not text.lower().startswith("file://"):
        return text
    if text.lower().startswith("file://"):
        text = unquote(urlsplit(text).path)
        text = text.lstrip("/") if os.name == "nt" else text
    return user_path(text, home, cwd)


def read_environment(environ: Mapping[str, str], cwd: Path) -> Environment:
    """Take the deciding variables out of `environ`; blank ones count as not set, old names as new ones."""

    def first(*names: str) -> str | None:
        return next((value for name in names if (value := environ.get(name, "").strip())), None)

    homes = tuple(
        dict.fromkeys(path for name in ("HOME", "USERPROFILE") if (path := _absolute(first(name), None, cwd)))
    )
    home = homes[0] if homes else None
    openclaw_home = _absolute(first("OPENCLAW_HOME"), home, cwd)
    base = openclaw_home or home
    profile = environ.get("OPENCLAW_PROFILE", "").strip()
    return Environment(
        config=_absolute(first("OPENCLAW_CONFIG_PATH", "CLAWDBOT_CONFIG_PATH"), base, cwd),
        state=_absolute(first("OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR"), base, cwd),
        openclaw_home=openclaw_home,
        homes=homes,
        profile=profile if profile and profile.lower() != "default" and _PROFILE.fullmatch(profile) else "",
    )


def _absolute(text: str | None, home: Path | None, cwd: Path) -> Path | None:
    return None if text is None else user_path(text, home, cwd)


def readings(where: Environment, look: PlaceFinder) -> tuple[PathReading, ...]:
    """Every way to read the environment that leads to a configuration; two of them are a conflict.

    Without any configuration there is one reading whose `config` is None.
    """
    host_home = where.openclaw_home or where.user_home
    if where.config is not None:
        found = where.config if look.config(where.config) else None
        state = where.state or _state_in(host_home) or where.config.parent
        return (PathReading("host", found, state, host_home),)
    if where.state is not None:
        inside = _first(look, [where.state])
        found = inside or _first(look, _state_folders([host_home]))
        return (PathReading("host", found, where.state, host_home),)
    if where.profile and host_home is not None:
        state = host_home / f"{STATE_FOLDERS[0]}-{where.profile}"
        return (PathReading("host", _first(look, [state]), state, host_home),)
    if where.openclaw_home is not None:
        host = _first(look, _state_folders([where.openclaw_home]))
        plugin = _first(look, [where.openclaw_home])
        out = []
        if host is not None:
            out.append(PathReading("host", host, host.parent, where.openclaw_home))
        if plugin is not None:
            out.append(PathReading("plugin", plugin, where.openclaw_home, where.user_home))
        if out:
            return tuple(out)
    for home in where.homes:
        if (config := _first(look, _state_folders([home]))) is not None:
            return (PathReading("host", config, config.parent, home),)
    likely = _state_in(host_home)
    return (PathReading("host", None, likely, host_home),) if likely is not None else ()


def default_states(where: Environment, used: Iterable[PathReading]) -> tuple[Path, ...]:
    """Every state folder whose default stores are worth a look, the ones in use first."""
    homes = [where.openclaw_home, *where.homes]
    states = [*(reading.state for reading in used), where.state, where.openclaw_home, *_state_folders(homes)]
    return tuple(dict.fromkeys(state for state in states if state is not None))


def _state_folders(homes: Iterable[Path | None]) -> list[Path]:
    return [home / name for home in homes if home is not None for name in STATE_FOLDERS]


def _state_in(home: Path | None) -> Path | None:
    folders = _state_folders([home])
    return next((folder for folder in folders if os.path.isdir(folder)), folders[0] if folders else None)


def _first(look: PlaceFinder, states: Iterable[Path]) -> Path | None:
    for state in states:
        for name in CONFIG_NAMES:
            if look.config(state / name):
                return state / name
    return None
