"""How a store on object storage is reached: named profiles of options, and time limits that end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from memtui.engine.core.errors import ConfigError

LIMITS: Mapping[str, str] = MappingProxyType(
    {"connect_timeout": "5s", "timeout": "60s", "client_max_retries": "3", "client_retry_timeout": "15"}
)
"""What is laid under the options of every remote store: without it the engine tries for three minutes."""

JOURNAL = "journal"
""""local" keeps the journal on this machine, "store" beside the store, for all."""

KEEP = "keep_vectors"
"""false: vectors are fetched by each program that searches them, and never kept on this machine."""

OURS = frozenset({JOURNAL, KEEP})
"""The options that are ours, and no business of the engine."""

_SECRET = re.compile(r"(secret|password|token|sas|credential|(^|_)key($|_id$))|access_key")

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class StorageProfile:
    """One `[storage.NAME]` of the settings: the place it is for, and the options to reach it with."""

    name: str
    uri: str
    """The store itself, or what the addresses of its stores begin with; empty for every remote store."""
    options: Mapping[str, str] = field(repr=False)
    """By LanceDB's own names, variables filled in; may hold secrets."""
    missing: tuple[str, ...] = ()
    """Variables that are named and not set: the profile cannot be used, and nothing else is in the way."""

    def fits(self, uri: str) -> bool:
        """Whether `uri` is the profile's place or lies below it."""
        place = self.uri.rstrip("/")
        return not place or uri == place or uri.startswith(f"{place}/")


def read_profiles(
    tables: Mapping[str, Any], environ: Mapping[str, str], origin: str
) -> tuple[StorageProfile, ...]:
    """The profiles of the tables `[storage.NAME]` in the file `origin`.

    Raises ConfigError for a value of another type and a key that is written out.
    """
    return tuple(_profile(name, table, environ, origin) for name, table in tables.items())


def _profile(name: str, table: Any, environ: Mapping[str, str], origin: str) -> StorageProfile:
    path = f"storage.{name}"
    if not isinstance(table, Mapping):
        raise ConfigError(
            f"{path} in {origin} must be a table.", path=path, fix=f"Write [{path}] and its options below."
        )
    options: dict[str, str] = {}
    missing: list[str] = []
    for key, value in table.items():
        if key == "uri":
            continue
        text = _option(f"{path}.{key}", key, value, origin)
        missing += [match for match in _REFERENCE.findall(text) if not environ.get(match, "")]
        options[key] = _REFERENCE.sub(lambda match: environ.get(match[1], ""), text)
    if options.get(JOURNAL, "local") not in ("local", "store"):
        raise ConfigError(
            f"{path}.{JOURNAL} in {origin} is {options[JOURNAL]!r}.",
            path=f"{path}.{JOURNAL}",
            fix="Use local, or store for a journal that every console sees.",
        )
    if options.get(KEEP, "true") not in ("true", "false"):
        raise ConfigError(
            f"{path}.{KEEP} in {origin} is {options[KEEP]!r}.",
            path=f"{path}.{KEEP}",
            fix="Use true or false.",
        )
    uri = table.get("uri", "")
    if not isinstance(uri, str) or (uri and "://" not in uri):
        raise ConfigError(
            f"{path}.uri in {origin} is not an address.",
            path=f"{path}.uri",
            fix="Write one such as s3://bucket/store.",
        )
    return StorageProfile(name, uri.strip(), MappingProxyType(options), tuple(dict.fromkeys(missing)))


def _option(path: str, key: str, value: Any, origin: str) -> str:
    """The option as text, its variables still named."""
    if not _NAME.fullmatch(key):
        raise ConfigError(
            f"{path} in {origin} is not the name of an option.",
            path=path,
            fix="Options are lower case: endpoint.",
        )
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise ConfigError(
            f"{path} in {origin} must be text, a number or true.", path=path, fix="Put it in quotes."
        )
    variables = _REFERENCE.findall(value)
    if _SECRET.search(key) and not (variables and not _REFERENCE.sub("", value).strip()):
        raise ConfigError(
            f"{path} in {origin} would keep a secret in a plain file.",
            path=path,
            fix=f'Name a variable that holds it: {key} = "${{NAME}}".',
        )
    return value


def profile_for(uri: str, profiles: Sequence[StorageProfile]) -> StorageProfile | None:
    """The profile whose place is the longest beginning of `uri`; None where none fits.

    Raises ConfigError when it names a variable that is not set.
    """
    fitting = [profile for profile in profiles if profile.fits(uri)]
    found = max(fitting, key=lambda each: len(each.uri), default=None)
    if found is not None and found.missing:
        raise ConfigError(
            f"[storage.{found.name}] of config.toml names {', '.join(found.missing)}, which is not set.",
            path=f"storage.{found.name}",
            fix="Set it, then open the store again.",
        )
    return found


def with_limits(options: Mapping[str, str]) -> dict[str, str]:
    """`options` over the time limits, for the engine."""
    return {**LIMITS, **{key: value for key, value in options.items() if key not in OURS}}
