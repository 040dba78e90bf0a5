"""The whole search: environment, configurations, plugins, default places, agents. Creates nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import DamagedStoreError, MemtuiError
from memtui.engine.core.text import counted, one_line
from memtui.engine.discovery import write_guard
from memtui.engine.discovery.agents import agent_ids
from memtui.engine.discovery.core_index import core_indexes, open_found_index
from memtui.engine.discovery.crewai_stores import crewai_stores
from memtui.engine.discovery.hermes_stores import hermes_stores
from memtui.engine.discovery.openclaw_config import LoadedConfig, load
from memtui.engine.discovery.places import (
    Environment,
    PathReading,
    PlaceFinder,
    default_states,
    read_environment,
    readings,
)
from memtui.engine.discovery.plugins import (
    PluginStore,
    agents_of,
    claims,
    embedding_of,
    rerank_of,
    retrieval_block,
    storage_options,
    workspaces_of,
)
from memtui.engine.discovery.types import (
    BUILTIN,
    PRO,
    Agent,
    ConfigFinding,
    Discovery,
    FoundStore,
    Lock,
    Workspace,
)
from memtui.engine.discovery.variables import SecretText, masked

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


def discover(environ: Mapping[str, str], *, cwd: Path) -> Discovery:
    """Find every store that the agents of this environment use, and the left-over ones at the default places.

    No store is opened, no lancedb imported, nothing written and nothing connected to; a few milliseconds.
    What is wrong with a configuration becomes a finding, never an exception.
    """
    look = PlaceFinder()
    where = read_environment(environ, cwd)
    used = readings(where, look)
    configs = [load(reading, environ, cwd) for reading in used]
    findings = [finding for config in configs for finding in config.findings]
    if where.config is not None and used[0].config is None:
        message = f"OPENCLAW_CONFIG_PATH names {where.config}, which does not exist."
        findings.append(ConfigFinding("config-missing", "error", message, path=str(where.config)))
    stores: dict[str, FoundStore] = {}
    agents: list[Agent] = []
    workspaces: list[Workspace] = []
    for config in configs:
        owned, problems = claims(config, look, cwd)
        findings += problems
        for claim in owned:
            if claim.path is not None and claim.why:
                _add(stores, claim, claim.path)
        people, problems = agents_of(config, owned, cwd)
        findings += problems
        agents += people
        workspaces += workspaces_of(config, people)
    unreadable = next((config for config in configs if not config.readable), None)
    for state in default_states(where, used):
        for plugin, folder in ((PRO, "lancedb-pro"), (BUILTIN, "lancedb")):
            place = state / "memory" / folder
            if look.store(place) and os.path.realpath(place) not in stores:
                stores[os.path.realpath(place)] = _left_over(place, plugin, configs, unreadable)
    for store in crewai_stores(environ, cwd, look):
        stores.setdefault(os.path.realpath(store.path), store)
    of_hermes, told = hermes_stores(environ, cwd, look)
    findings += told
    for store in of_hermes:
        stores.setdefault(os.path.realpath(store.path), store)
    return Discovery(
        looked_at=tuple(look.places.values()),
        configs=tuple(config.file for config in configs if config.file is not None),
        stores=_named(sorted(stores.values(), key=_order)),
        agents=tuple(agents),
        workspaces=tuple(workspaces),
        findings=tuple(findings),
        indexes=core_indexes(_with_left_states(configs, where, used, environ, cwd), cwd),
        conflict=_conflict(configs),
    )


def _with_left_states(
    configs: list[LoadedConfig],
    where: Environment,
    used: Sequence[PathReading],
    environ: Mapping[str, str],
    cwd: Path,
) -> list[LoadedConfig]:
    """The configurations, and what stands for one in default state folders that none of them uses."""
    known = {os.path.realpath(config.reading.state) for config in configs}
    others = [state for state in default_states(where, used) if os.path.realpath(state) not in known]
    return [
        *configs,
        *(load(PathReading("host", None, state, where.user_home), environ, cwd) for state in others),
    ]


def _add(stores: dict[str, FoundStore], claim: PluginStore, path: str) -> None:
    """Note the claimed store; of two plugins on one folder the active one is taken."""
    key = path if "://" in path else os.path.realpath(path)
    if key not in stores or (claim.active and not stores[key].active):
        stores[key] = _store(claim, path)


def _store(claim: PluginStore, path: str) -> FoundStore:
    config, block = claim.config, claim.block
    home, environ = config.reading.home, config.environ
    embedding, keys, problem = embedding_of(block, claim.raw, environ, home)
    given, raw = block.get("retrieval"), claim.raw.get("retrieval")
    rerank, rerank_keys = rerank_of(
        given if isinstance(given, dict) else {}, raw if isinstance(raw, dict) else {}, environ, home
    )
    lock = write_guard.lock_of(claim.plugin, block, path, environ)
    return FoundStore(
        name=os.path.basename(path.rstrip("/")),
        path=path,
        plugin=claim.plugin,
        table=claim.table,
        configured=True,
        active=claim.active,
        enabled=claim.enabled,
        why=f"{claim.why} of {claim.plugin}" + ("" if claim.enabled else ", which is switched off"),
        lock=lock if config.readable else Lock("unknown"),
        gate=write_guard.gate_of_builds(claim.plugin, lock, block, claim.manifests)
        if config.readable
        else write_guard.UNREADABLE,
        config="" if config.file is None else config.file.path,
        reader=config.reading.who,
        settings=masked(block),
        model=None if embedding is None else embedding.model,
        config_dims=None if embedding is None else embedding.expected_dimensions,
        keys=keys,
        embedding_problem=problem,
        retrieval=retrieval_block(block, rerank_keys),
        decay=_mapping(block, "decay"),
        tier=_mapping(block, "tier"),
        scopes=_mapping(block, "scopes"),
        agents=agent_ids(config.values),
        retention_days=write_guard.retention_days(block),
        rerank_keys=rerank_keys,
        hidden_embedding=SecretText(embedding),
        hidden_rerank=SecretText(rerank),
        hidden_storage=storage_options(block, environ),
    )


def _mapping(block: Mapping[str, object], name: str) -> dict[str, object] | None:
    value = block.get(name)
    return dict(value) if isinstance(value, dict) else None


def _left_over(
    place: Path, plugin: str, configs: list[LoadedConfig], unreadable: LoadedConfig | None
) -> FoundStore:
    """A store at a default place that no configuration names."""
    if unreadable is not None:
        why, problem = "default place; whether it is in use is unknown", "the configuration cannot be read"
    elif any(config.file is not None for config in configs):
        why, problem = (
            "left over: a default place that the configuration does not name",
            "no configuration names this store",
        )
    else:
        why, problem = "default place; there is no openclaw.json", "there is no openclaw.json"
    return FoundStore(
        name=place.name,
        path=str(place),
        plugin=plugin,
        table="memories",
        configured=False if unreadable is None else None,
        active=False,
        enabled=False,
        why=why,
        lock=Lock("file" if plugin == PRO else "none") if unreadable is None else Lock("unknown"),
        gate=write_guard.LEFT_OVER if unreadable is None else write_guard.UNREADABLE,
        embedding_problem=problem,
    )


def _order(store: FoundStore) -> tuple[bool, bool, bool]:
    """Active first, then configured, then switched off; discovery order (host before plugin) within."""
    return (not store.active, not store.configured, not store.enabled)


def _named(stores: list[FoundStore]) -> tuple[FoundStore, ...]:
    """Give every store a name of its own: its folder's, with its reading or a number where that is taken."""
    names = [one_line(store.name) or "store" for store in stores]
    out: list[FoundStore] = []
    for store, name in zip(stores, names, strict=True):
        if (
            names.count(name) > 1
            and store.reader
            and len({store.reader for store in stores if store.reader}) > 1
        ):
            name = f"{name}@{store.reader}"
        taken = {store.name for store in out}
        number = 2
        unique = name
        while unique in taken:
            unique = f"{name}-{number}"
            number += 1
        out.append(replace(store, name=unique))
    return tuple(out)


def _conflict(configs: list[LoadedConfig]) -> str:
    files = [config.file for config in configs if config.file is not None]
    if len(files) < 2:
        return ""
    host, plugin = files[0], files[1]
    return (
        f"OPENCLAW_HOME can be read in two ways: OpenClaw takes it for a home and uses {host.path}, "
        f"memory-lancedb-pro's own command takes it for the state folder and uses {plugin.path}."
    )


# One store opened: rows, dimensions, full-text index, scopes, and its health in a word.


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """What opening a found store told; when it could not be opened, `error` says why and numbers are None."""

    found: FoundStore
    word: str
    """ok, empty, left over, orphans, index v2, dims differ, damaged, unreadable, remote: the gravest one."""
    notes: tuple[str, ...] = ()
    """What stands behind the word, a sentence each."""
    dialect: str = ""
    dialect_title: str = ""
    rows: int | None = None
    """Memories, the sentinel not counted."""
    dims: int | None = None
    dims_match: bool | None = None
    """Whether the configured model gives vectors of the table's length; None when either is unknown."""
    fts: str = ""
    """The full-text index in a phrase: "version 1, positions, ...", "none"."""
    columns: tuple[str, ...] = ()
    time_column: str | None = None
    scopes: Mapping[str | None, int] = field(default_factory=dict)
    """Rows by stored scope; empty where the table has no scope column."""
    agents: Mapping[str | None, int] = field(default_factory=dict)
    """Rows by `agentId`, where the table has that column."""
    orphan_rows: int = 0
    """Rows that no agent can see: their scope is null, blank or padded with spaces."""
    error: str = ""

    def visible_rows(self, scopes: Iterable[str] | None) -> int | None:
        """Rows that a reader of `scopes` sees (None reads everything); None when the rows are unknown."""
        if self.rows is None or scopes is None:
            return self.rows
        return sum(self.scopes.get(scope, 0) for scope in set(scopes))


def inspect(found: FoundStore, *, reach: bool = False) -> StoreHealth:
    """Open the store read-only and look at it; a store that cannot be opened is reported, not raised.

    A remote store is looked at only to `reach` it, in a few requests: its scopes are not counted.
    """
    if found.is_remote and not reach:
        return StoreHealth(
            found,
            "remote",
            ("not searched: no [storage.NAME] of config.toml that can be used says how it is reached",),
        )
    try:
        return _look(found, _opened(found))
    except MemtuiError as error:
        word = "damaged" if isinstance(error, DamagedStoreError) else "unreadable"
        return StoreHealth(found, word, (str(error),), error=error.message)


def _opened(found: FoundStore) -> Store:
    if found.is_index:
        return open_found_index(found)
    from memtui.engine.store.open import open_store

    return open_store(found.path, table=found.table, storage_options=found.storage_options or None)


def _look(found: FoundStore, store: Store) -> StoreHealth:
    rows, dims, columns = store.count(), store.dims, store.columns
    fts = store.fts_status()
    of_plugin = store.dialect.can.versioned_text
    scopes = _counts(store, "scope")
    orphans = sum(n for scope, n in scopes.items() if is_orphan(scope)) if of_plugin else 0
    match = None if dims is None or found.config_dims is None else dims == found.config_dims
    notes = {
        "dims differ": ""
        if match is not False
        else f"search by meaning unavailable: {found.model} gives {found.config_dims}, the store has {dims}",
        "index v2": "the agent cannot read a full-text index of version 2 and will drop it"
        if of_plugin and found.plugin == PRO and fts.exists and fts.version not in (None, 1)
        else "",
        "orphans": f"{counted(orphans, 'row')} that no agent can see: scope null, blank or padded"
        if orphans
        else "",
        "left over": found.why if found.configured is False and found.why.startswith("left over") else "",
        "empty": "" if rows else "no memories yet",
    }
    said = {word: note for word, note in notes.items() if note}
    return StoreHealth(
        found,
        next(iter(said), "ok"),
        (*said.values(), *store.warnings),
        dialect=store.dialect.name,
        dialect_title=store.dialect.title,
        rows=rows,
        dims=dims,
        dims_match=match,
        fts=fts.code,
        columns=columns,
        time_column=store.dialect.columns.timestamp or store.dialect.columns.created,
        scopes=scopes,
        agents=_counts(store, "agentId"),
        orphan_rows=orphans,
    )


def is_orphan(scope: str | None) -> bool:
    """Whether a stored scope matches no agent's filter: null, blank, or padded with white space."""
    return scope is None or not scope or scope != scope.strip()


def _counts(store: Store, column: str) -> dict[str | None, int]:
    """Rows by value of a text column, largest first; {} when the table has no such column, or is far away."""
    if column not in store.columns or store.is_far:
        return {}
    counts: Counter[str | None] = Counter()
    for batch in store.scan((column,)):
        for pair in batch.column(0).value_counts():
            counts[pair["values"].as_py()] += pair["counts"].as_py()
    return dict(counts.most_common())
