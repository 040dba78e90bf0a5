"""The state database of the demo's host: the plugins that it found, and the nightly job that promotes memories."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMA = 18

VERSION = "2026.9.6"

HOST_FOLDER = "/home/fernhill/.openclaw"
"""Where the state folder was on the machine of the demo's user, as the host recorded it."""

_TABLES = """
CREATE TABLE config_machine_state (
  state_key TEXT NOT NULL PRIMARY KEY, value_json TEXT NOT NULL, updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE cron_jobs (
  store_key TEXT NOT NULL, job_id TEXT NOT NULL, declaration_key TEXT, name TEXT NOT NULL, enabled INTEGER NOT NULL,
  payload_kind TEXT NOT NULL, job_json TEXT NOT NULL, state_json TEXT NOT NULL DEFAULT '{}',
  updated_at INTEGER NOT NULL, PRIMARY KEY (store_key, job_id)
) STRICT;
"""

_DREAMING = "memory-core:memory-dreaming-promotion"


def write_host_state(state: Path, plugin: str, now_ms: int) -> Path:
    """Write the database of a host that loaded `plugin` and whose nightly job ran at `now_ms`; the database."""
    path = state / "state" / "openclaw.sqlite"
    path.parent.mkdir(parents=True)
    root = f"{HOST_FOLDER}/extensions/{plugin}"
    index = {
        "version": 1,
        "hostContractVersion": VERSION,
        "generatedAtMs": now_ms,
        "workspaceDir": f"{HOST_FOLDER}/workspace-main",
        "plugins": [
            {
                "pluginId": plugin,
                "manifestPath": f"{root}/openclaw.plugin.json",
                "rootDir": root,
                "origin": "global",
                "enabled": True,
            }
        ],
        "diagnostics": [],
    }
    ran = {"lastRunAtMs": now_ms, "lastRunStatus": "ok"}
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(_TABLES)
        db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.execute(
            "INSERT INTO config_machine_state VALUES ('plugins.installedIndex', ?, ?)",
            (json.dumps({"revision": now_ms, "index": index}), now_ms),
        )
        db.execute(
            "INSERT INTO cron_jobs VALUES (?, 'dreaming', ?, 'Memory Dreaming Promotion', 1, 'agentTurn', '{}', ?, ?)",
            (f"{HOST_FOLDER}/cron/jobs.json", _DREAMING, json.dumps(ran), now_ms),
        )
    return path
