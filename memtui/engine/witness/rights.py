"""The access matrix of one store: agents and rules from the configuration, counts from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.access import DEFAULT_AGENT, Access, access_of, agents_in
from memtui.engine.access.matrix import (
    NO_ID,
    SHELL,
    AccessMatrix,
    AgentRow,
    CellChange,
    ScopeCount,
    build_matrix,
    difference,
)
from memtui.engine.core.column_sieves import suspected_of_secrets
from memtui.engine.core.errors import ConfigError
from memtui.engine.core.memory import LAYERS, STATES
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.secrets import find_secrets
from memtui.engine.decay.validity import AUTO_RECALL_LAYERS
from memtui.engine.recall.prompt_lines import is_injected
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.engine import Engine
    from memtui.engine.store.table import Store


OWNER = "agentId"
"""The column that says whose a row is, in tables of the built-in program."""


@dataclass(frozen=True, slots=True)
class Rights:
    """The matrix with the rules that it was made by; `access` None where the configuration throws."""

    matrix: AccessMatrix
    access: Access | None
    source: str
    """The configuration file that the rules are of; empty where there is none."""


def read_rights(
    engine: Engine,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    access: Access | None = None,
    secrets: bool = True,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Rights:
    """Who reads and writes which scope of this store, and why.

    `access` replaces the configured rules (a planned change). `secrets` also looks into the texts of scopes that
    every agent reads. One pass over the columns; a cell costs no reading.
    """
    error: tuple[str, str] | None = None
    found = configured_store(engine, environ, cwd)
    if access is None:
        try:
            access = rules_of(engine, found, environ)
        except ConfigError as refused:
            error = (refused.path or "scopes", refused.message)
    counts = count_scopes(engine)
    if access is not None:
        for scope in access.named_scopes():
            counts.setdefault(scope, ScopeCount())
    agents = agent_rows(found, environ, cwd, access, counts)
    if access is not None and secrets:
        there = [agent.id for agent in agents if agent.exists and not agent.pseudo]
        shared = [
            scope
            for scope, count in counts.items()
            if count.rows and there and all(_reads(access, agent, scope, count) for agent in there)
        ]
        for place, number in count_secrets(engine.store, shared, on_progress, cancel).items():
            counts[place] = replace(counts[place], secrets=number)
    return Rights(build_matrix(access, agents, counts, error=error), access, found.config if found else "")


def rights_under(
    engine: Engine, rights: Rights, access: Access, cancel: CancelToken | None = None
) -> tuple[Rights, list[CellChange]]:
    """The matrix under other rules over the same rows, and the cells that differ, those with most rows first.

    The texts of the scopes that somebody gains are looked at for secrets.
    """
    counts = dict(rights.matrix.counts)
    for scope in access.named_scopes():
        counts.setdefault(scope, ScopeCount())
    known = {agent.id for agent in rights.matrix.agents}
    agents = [*(AgentRow(agent, False) for agent in access.named_agents() if agent not in known)]
    agents = sorted([*rights.matrix.agents, *agents], key=lambda each: each.pseudo)
    before = rights.matrix
    if rights.access is not None:
        before = build_matrix(rights.access, agents, counts)
    changed = difference(before, build_matrix(access, agents, counts))
    gained = list(dict.fromkeys(change.after.scope for change in changed if change.after.read))
    for place, number in count_secrets(engine.store, gained, cancel=cancel).items():
        counts[place] = replace(counts[place], secrets=number)
    after = build_matrix(access, agents, counts)
    return Rights(after, access, rights.source), difference(before, after)


def configured_store(engine: Engine, environ: Mapping[str, str], cwd: Path) -> FoundStore | None:
    """What the configuration says of this store; where it names another one, the only one of the same program."""
    from memtui.engine.discovery import discover
    from memtui.engine.discovery.types import PRO

    if engine.found is not None:
        return engine.found
    if not engine.store.dialect.can.versioned_text:
        return None
    others = [
        store for store in discover(environ, cwd=cwd).stores if store.plugin == PRO and store.configured
    ]
    return others[0] if len(others) == 1 else None


def rules_of(engine: Engine, found: FoundStore | None, environ: Mapping[str, str]) -> Access:
    """The store's own rules, or those of the configuration that stands in. Raises ConfigError as the plugin does."""
    if found is None or found is engine.found:
        return engine.access
    return access_of(engine.store.dialect.name, block=found.scopes, environ=environ)


def count_scopes(engine: Engine) -> dict[str | None, ScopeCount]:
    """The rows of each scope, by the catalog; the largest scope first."""
    import numpy as np

    engine.load_catalog()
    engine.load_metadata()
    catalog, now_ms = engine.catalog, engine.now_ms
    size = len(catalog.scopes)
    rows = np.bincount(catalog.scope_codes, minlength=size)
    if catalog.meta is None:
        active = can = rows
    else:
        meta = catalog.meta
        is_active = meta.active(now_ms)
        layers = np.isin(meta.layer, [LAYERS.index(layer) for layer in AUTO_RECALL_LAYERS])
        ready = is_active & ~meta.expired(now_ms) & ~meta.suppressed(now_ms) & layers
        ready &= meta.state == STATES.index("confirmed")
        active = np.bincount(catalog.scope_codes[is_active], minlength=size)
        can = np.bincount(catalog.scope_codes[ready], minlength=size)
    owners = _owners(engine)
    found = {
        scope: ScopeCount(int(rows[at]), int(active[at]), int(can[at]), owners.get(at, ()))
        for at, scope in enumerate(catalog.scopes)
        if rows[at]
    }
    return dict(sorted(found.items(), key=lambda each: (-each[1].rows, each[0] is None, each[0] or "")))


def agent_rows(
    found: FoundStore | None,
    environ: Mapping[str, str],
    cwd: Path,
    access: Access | None,
    scopes: Iterable[str | None],
) -> list[AgentRow]:
    """The agents of the matrix: configured, granted, spoken of by scopes, with sessions; then the pseudo-agents."""
    from memtui.engine.discovery import discover
    from memtui.engine.discovery.agents import find_agent_places

    configured = [agent.id for agent in discover(environ, cwd=cwd).agents]
    configured += list(found.agents) if found else []
    working = [place.id for place in find_agent_places(environ, cwd) if not place.configured]
    there = dict.fromkeys((*configured, *working))
    if not there and access is not None and access.named_agents():
        there = {DEFAULT_AGENT: None}
    named = dict.fromkeys((*there, *(access.named_agents() if access else ()), *agents_in(scopes)))
    if not named:
        named = {DEFAULT_AGENT: None}
        there = named
    settings = found.settings if found else {}
    rows = [AgentRow(name, name in there, injected=is_injected(name, settings)) for name in named]
    return [*rows, *(AgentRow(name, pseudo=True, injected=False) for name in (NO_ID, SHELL))]


def _owners(engine: Engine) -> dict[int, tuple[str | None, ...]]:
    """The owners of the rows of each scope, by the scope's code, where rows have owners."""
    import numpy as np

    catalog = engine.catalog
    coded = catalog.labels.get(OWNER)
    if coded is None:
        return {}
    pairs = np.unique(np.stack([catalog.scope_codes, coded.codes]).astype(np.int64), axis=1)
    out: dict[int, tuple[str | None, ...]] = {}
    for scope, owner in pairs.T.tolist():
        out[scope] = (*out.get(scope, ()), coded.values[owner])
    return out


def _reads(access: Access, agent: str, scope: str | None, count: ScopeCount) -> bool:
    return any(access.reads(agent, scope, owner).allowed for owner in count.owners or (None,))


def count_secrets(
    store: Store,
    scopes: Sequence[str | None],
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> dict[str | None, int]:
    """How many rows of each scope hold a secret; the texts of these scopes are read once."""
    import pyarrow as pa

    column = store.dialect.columns.scope
    text = store.dialect.columns.text
    if not scopes or column is None:
        return {}
    found: dict[str | None, int] = {}
    done = 0
    for batch in store.scan([column, text], where=sql.is_in(column, list(scopes)), batch_size=8_192):
        if cancel is not None:
            cancel.check()
        kept = batch.take(pa.array(suspected_of_secrets(batch.column(text)), pa.int64()))
        for scope, words in zip(kept.column(column).to_pylist(), kept.column(text).to_pylist(), strict=True):
            if find_secrets(words):
                found[scope] = found.get(scope, 0) + 1
        done += batch.num_rows
        if on_progress is not None:
            on_progress(Progress("looking for secrets", done, 0))
    return found
