"""`memtui stores`: what was discovered, and whether it is well."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.output import error, print_json, print_table, print_text, warning
from memtui.paths import settings_file, state_dir
from memtui.settings import load_settings

if TYPE_CHECKING:
    from memtui.engine.discovery import Discovery, StoreHealth


SCHEMA = "memtui.stores.v1"


def add_arguments(parser: ArgumentParser) -> None:
    """Look only, or also remove what is kept here of stores elsewhere."""
    parser.add_argument(
        "--drop-vectors",
        action="store_true",
        help="delete the cached vectors of stores on object storage",
    )


def run(args: Namespace) -> int:
    """Discover, open each store, print; 1 when there is none."""
    from memtui.engine import (
        StoreNotFoundError,
        UsageError,
    )
    from memtui.engine.discovery import (
        NOTHING_FOUND,
        configured_remotes,
        discover,
        drop_kept_vectors,
        inspect,
        kept_vector_bytes,
    )

    if args.store:
        raise UsageError(
            "memtui stores lists every store; it takes no --store.", fix="For one: memtui stats --store."
        )
    if args.drop_vectors:
        drop_kept_vectors(state_dir(os.environ))
    found = discover(os.environ, cwd=Path.cwd())
    storage = load_settings(settings_file(), os.environ).storage
    healths = [
        inspect(store, reach=any(each.fits(store.path) and not each.missing for each in storage))
        for store in (*configured_remotes(storage, found.stores), *found.indexes)
    ]
    if args.json:
        print_json({**as_json(found, healths), "kept_vectors": _kept()})
    elif healths:
        _print(healths)
        if kept := kept_vector_bytes(state_dir(os.environ)):
            print_text(
                f"Vectors of stores far away are kept on this machine: {kept / 1e6:,.0f} MB in "
                f"{_kept()['folder']}. They go with --drop-vectors; keep_vectors = false in [storage.NAME] keeps none."
            )
    _tell(found)
    if healths:
        return 0
    places = [f"searched {place}" for place in found.looked_at] or ["HOME is not set"]
    error(StoreNotFoundError("No memory store was found.", fix=NOTHING_FOUND), places)
    return 1


def _kept() -> dict[str, Any]:
    """What is kept here of stores on object storage, and where."""
    from memtui.engine.discovery import kept_folder, kept_vector_bytes

    state = state_dir(os.environ)
    return {"bytes": kept_vector_bytes(state), "folder": str(kept_folder(state))}


def _print(healths: list[StoreHealth]) -> None:
    rows = [
        (
            "*" if health.found.active else "",
            health.found.name,
            health.dialect_title or health.found.plugin,
            "?" if health.rows is None else f"{health.rows:,}",
            health.word,
            health.found.path,
        )
        for health in healths
    ]
    print_table(rows, ("", "NAME", "DIALECT", "ROWS", "HEALTH", "PATH"), right_aligned=(3,))
    for health in healths:
        for note in health.notes:
            print_text(f"{health.found.name}: {note}")


def _tell(found: Discovery) -> None:
    if found.conflict:
        warning(f"{found.conflict} Choose a store with --store.")
    for finding in found.findings:
        if finding.severity != "note":
            warning(f"{finding.message} {finding.fix}".strip())


def as_json(found: Discovery, healths: list[StoreHealth]) -> dict[str, Any]:
    """The document of `memtui stores --json`; no secret is in it."""
    return {
        "schema": SCHEMA,
        "stores": [_store(health) for health in healths],
        "active_plugin": found.active_plugin,
        "conflict": found.conflict or None,
        "configs": [asdict(config) for config in found.configs],
        "agents": [
            {
                **asdict(agent),
                "rows": {
                    health.found.name: health.visible_rows(agent.scopes)
                    for health in healths
                    if health.found.config == agent.config and health.scopes and agent.scopes is not None
                },
            }
            for agent in found.agents
        ],
        "workspaces": [asdict(workspace) for workspace in found.workspaces],
        "findings": [asdict(finding) for finding in found.findings],
        "looked_at": [asdict(place) for place in found.looked_at],
    }


def _store(health: StoreHealth) -> dict[str, Any]:
    found = health.found
    redis = found.lock.redis
    return {
        "name": found.name,
        "path": found.path,
        "agent": found.agent or None,
        "workspace": found.workspace or None,
        "plugin": found.plugin,
        "dialect": health.dialect or None,
        "dialect_title": health.dialect_title or None,
        "rows": health.rows,
        "dims": health.dims,
        "fts": health.fts or None,
        "health": health.word,
        "notes": health.notes,
        "configured": found.configured,
        "active": found.active,
        "enabled": found.enabled,
        "why": found.why,
        "config": found.config or None,
        "reader": found.reader or None,
        "model": found.model,
        "config_dims": found.config_dims,
        "dims_match": health.dims_match,
        "embedding": {
            "base_url": found.base_url or None,
            "available": found.model is not None and not found.embedding_problem,
            "problem": found.embedding_problem or None,
            "keys": [str(key) for key in found.keys],
        },
        "lock": found.lock.kind,
        "redis": None
        if redis is None
        else {
            "host": redis.host,
            "port": redis.port,
            "db": redis.db,
            "key_prefix": redis.key_prefix,
            "key": redis.key,
            "ttl_ms": redis.ttl_ms,
        },
        "edit_gate": asdict(found.gate),
        "retention_days": found.retention_days,
        "columns": health.columns,
        "time_column": health.time_column,
        # A null scope has no name of its own in JSON; it cannot be mistaken for the empty one.
        "scopes": {"(null)" if scope is None else scope: rows for scope, rows in health.scopes.items()},
        "agents": {"(null)" if agent is None else agent: rows for agent, rows in health.agents.items()},
        "orphan_rows": health.orphan_rows,
        "settings": found.settings,
    }
