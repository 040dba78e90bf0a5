"""Which store is meant: a folder, a LanceDB URI, a discovered name, or the one that the agent uses."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from memtui.engine.core.errors import MemtuiError, StoreNotFoundError, UsageError
from memtui.engine.discovery.core_index import index_at, is_index_file
from memtui.engine.discovery.places import read_environment, storage_path
from memtui.engine.discovery.search import discover
from memtui.engine.discovery.types import Discovery, FoundStore, Lock, WriteGuard
from memtui.engine.discovery.variables import SecretText
from memtui.engine.store.locate import TABLE, find_place
from memtui.engine.store.manifests import sketch_table
from memtui.engine.store.storage_options import StorageProfile, profile_for

OBJECT_SCHEMES = ("s3", "gs", "az")
"""Services of objects where a store of memtui's own can be made."""

NOTHING_FOUND = "Name a store with --store, or open a demonstration store with: memtui demo."


class NamesStore(Protocol):
    """Settings that may name a store."""

    @property
    def store(self) -> str:
        """A folder, a URI or a discovered name; empty for the discovered store."""
        ...

    @property
    def storage(self) -> tuple[StorageProfile, ...]:
        """How stores on object storage are reached."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """A store to open. `found` is what discovery knows of it, None for one that it does not know."""

    uri: str
    """Absolute folder or URI."""
    name: str
    table: str | None = None
    """None lets the store decide."""
    found: FoundStore | None = None
    warnings: tuple[str, ...] = ()
    """What makes this choice less than certain; to be shown."""
    hidden_storage: SecretText[Mapping[str, str]] = field(default=SecretText({}), repr=False, compare=False)

    @property
    def storage_options(self) -> Mapping[str, str]:
        """Options for opening a remote store; may hold secrets."""
        return self.hidden_storage.reveal()


def resolve_target(
    store: str | None, settings: NamesStore | None, environ: Mapping[str, str], cwd: Path
) -> Target:
    """The store that a person means by `store`, else by the settings, else the one that their agent uses.

    Raises StoreNotFoundError (nothing there; says where it looked) and MemtuiError (several; lists them).
    """
    wanted = (store or "").strip() or (settings.store.strip() if settings is not None else "")
    profiles = settings.storage if settings is not None else ()
    wanted = next((profile.uri for profile in profiles if profile.uri and profile.name == wanted), wanted)
    found = discover(environ, cwd=cwd)
    return _reached(_named(wanted, found, environ, cwd) if wanted else _discovered(found), profiles)


def table_columns(target: str | None, table: str | None = None) -> tuple[str, ...] | None:
    """The columns of a table in a folder, without opening it; None where they cannot be told so."""
    if not target or "://" in target or not os.path.isdir(os.path.expanduser(target)):
        return None
    try:
        place = find_place(target, table)
    except MemtuiError:
        return None
    sketch = None if place.folder is None else sketch_table(place.folder / f"{place.table}.lance")
    return None if sketch is None else tuple(sketch.columns)


def configured_remotes(
    profiles: Sequence[StorageProfile], known: Sequence[FoundStore]
) -> tuple[FoundStore, ...]:
    """Return the `known` stores with the options of the user's profiles, and the stores that only profiles name."""
    usable = [profile for profile in profiles if not profile.missing]
    reached = tuple(
        replace(store, hidden_storage=SecretText({**profile.options, **store.storage_options}))
        if store.is_remote and (profile := profile_for(store.path, usable))
        else store
        for store in known
    )
    paths = {store.path.rstrip("/") for store in known}
    own = (
        FoundStore(
            name=profile.name,
            path=profile.uri,
            plugin="memtui",
            table=TABLE,
            configured=True,
            active=False,
            enabled=True,
            why=f"[storage.{profile.name}] of config.toml",
            lock=Lock("none"),
            gate=WriteGuard("ok", "memtui's own settings name it."),
            hidden_storage=SecretText(profile.options),
        )
        for profile in profiles
        if profile.uri and profile.uri.rstrip("/") not in paths
    )
    return (*reached, *own)


def new_place(
    wanted: str, profiles: Sequence[StorageProfile], cwd: Path
) -> tuple[Path | str, Mapping[str, str]]:
    """Where a new store is to be made: a folder, or a URI with the options that reach it.

    `wanted` may be the name of a profile. Raises UsageError for a scheme that no store can be made at.
    """
    wanted = next((profile.uri for profile in profiles if profile.uri and profile.name == wanted), wanted)
    if "://" not in wanted or wanted.lower().startswith("file://"):
        return storage_folder(wanted, cwd), {}
    scheme = wanted.partition("://")[0].lower()
    if scheme not in OBJECT_SCHEMES:
        raise UsageError(
            f"A store cannot be made at {scheme}://.", fix=f"Use a folder, or {', '.join(OBJECT_SCHEMES)}://."
        )
    profile = profile_for(wanted, profiles)
    return wanted.rstrip("/"), profile.options if profile else {}


def storage_folder(wanted: str, cwd: Path) -> Path:
    """A folder as a person writes it: `~`, a `file://` URL, or relative to `cwd`."""
    if wanted.lower().startswith("file://"):
        wanted = unquote(urlsplit(wanted).path)
    return cwd / Path(wanted).expanduser()


def _reached(target: Target, profiles: tuple[StorageProfile, ...]) -> Target:
    """The target with the options of the person's own profile; what the agent's configuration says goes first."""
    profile = profile_for(target.uri, profiles) if "://" in target.uri else None
    if profile is None:
        return target
    return replace(target, hidden_storage=SecretText({**profile.options, **target.storage_options}))


def _of(found: FoundStore, discovery: Discovery) -> Target:
    broken = [finding.message for finding in discovery.findings if finding.kind == "config-unreadable"]
    return Target(found.path, found.name, found.table, found, tuple(broken), found.hidden_storage)


def _named(wanted: str, discovery: Discovery, environ: Mapping[str, str], cwd: Path) -> Target:
    if "://" in wanted and not wanted.lower().startswith("file://"):
        same = next(
            (store for store in discovery.stores if store.path.rstrip("/") == wanted.rstrip("/")), None
        )
        return _of(same, discovery) if same else Target(wanted, wanted.rstrip("/").rsplit("/", 1)[-1])
    by_name = discovery.named(wanted)
    place = storage_path(wanted, read_environment(environ, cwd).user_home, cwd)
    here = place if isinstance(place, Path) and os.path.exists(place) else None
    if len(by_name) > 1:
        raise MemtuiError(
            f"{wanted} is the name of several stores: {_list(by_name)}.", fix="Give the folder instead."
        )
    if by_name and here is not None and not _same(by_name[0].path, here) and _looks_like_store(here):
        raise MemtuiError(
            f"{wanted} is both a discovered store ({by_name[0].path}) and a folder here ({here}).",
            fix=f"Write {os.path.join('.', wanted)} for the folder, or the whole path of the other.",
        )
    if by_name:
        return _of(by_name[0], discovery)
    if here is None:
        names = [store.name for store in (*discovery.stores, *discovery.indexes)]
        near = get_close_matches(wanted, names, 1, 0.5)
        known = (
            f"Did you mean {near[0]}?"
            if near
            else f"Discovered: {', '.join(names)}."
            if names
            else "Give the folder of a store, or make one: memtui new FOLDER."
        )
        if isinstance(place, Path) and os.path.islink(place):
            raise StoreNotFoundError(f"{wanted} is a link that leads to nothing.", fix=known)
        raise StoreNotFoundError(
            f"There is no store {wanted}: no such folder, no discovered store of that name.", fix=known
        )
    if is_index_file(here):
        return _of(index_at(here, discovery.indexes, environ, cwd), discovery)
    folder, table = (
        (here.parent, here.stem)
        if here.suffix == ".lance" and os.path.isdir(here / "_versions")
        else (here, None)
    )
    same = next((store for store in discovery.stores if _same(store.path, folder)), None)
    if same is not None and table in (None, same.table):
        return _of(same, discovery)
    return Target(str(folder), folder.name or str(folder), table)


def _discovered(discovery: Discovery) -> Target:
    stores = discovery.stores or tuple(index for index in discovery.indexes if index.active)
    if not stores:
        looked = ", ".join(discovery.folders)
        hints = "".join(f" {finding.message}" for finding in discovery.findings if finding.severity != "note")
        raise StoreNotFoundError(
            f"No memory store was found; looked in {looked or 'nothing, since HOME is not set'}.{hints}",
            fix=NOTHING_FOUND,
        )
    if discovery.conflict:
        raise MemtuiError(
            f"{discovery.conflict} The stores: {_list(stores)}.", fix="Choose one with --store."
        )
    for tier in (
        [store for store in stores if store.active],
        [store for store in stores if store.configured and store.enabled],
        list(stores),
    ):
        if len(tier) == 1:
            return _of(tier[0], discovery)
        if tier:
            raise MemtuiError(
                f"There are {len(tier)} stores to choose from: {_list(tier)}.",
                fix="Choose one with --store.",
            )
    raise AssertionError("a store is in one of the tiers")


def _list(stores: tuple[FoundStore, ...] | list[FoundStore]) -> str:
    return "; ".join(f"{store.name} at {store.path} ({store.why})" for store in stores)


def _same(path: str, folder: Path) -> bool:
    return "://" not in path and os.path.realpath(path) == os.path.realpath(folder)


def _looks_like_store(folder: Path) -> bool:
    return any(folder.glob("*.lance"))
