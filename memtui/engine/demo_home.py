"""The demo as a whole home: its store with a journal that can be undone, a configuration, clients and their calls.

All of it lies below the demo's folder, and none of it in the state of the person who looks at it. The memories end
as `build_demo` makes them, with a few to-dos beside them: what the journal tells of was really changed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from memtui.engine.changes import apply, plan_edit, plan_undo
from memtui.engine.changes.journal import journal_of
from memtui.engine.clients import Call, CallJournal, ClientRegister
from memtui.engine.clients.calls import asked_of
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.demo.build import build_demo
from memtui.engine.demo.folder import demo_home, demo_state
from memtui.engine.demo.host_state import HOST_FOLDER, write_host_state
from memtui.engine.demo.rows import memory_id
from memtui.engine.demo.sessions import Sessions, write_sessions
from memtui.engine.discovery.types import PRO
from memtui.engine.engine import Engine, open_engine

_HOUR_MS = 3_600_000

_MINUTE_MS = 60_000

_CONFIGURATION = """{
  // the agents of the demo
  agents: {
    ownership: "explicit",
    entries: {
      main: {},
      ops: {},
      scribe: {},
      research: { workspace: "~/.openclaw/workspace-reading" }, // moved: its notes stayed behind
      reviewer: {},
    },
  },
  plugins: {
    slots: { memory: "memory-lancedb-pro" },
    entries: {
      "memory-lancedb-pro": {
        enabled: true,
        hooks: { allowConversationAccess: true },
        config: {
          dbPath: "~/..", // the demo's folder: this home lies in it
          embedding: {
            apiKey: "local",
            baseURL: "http://127.0.0.1:11434/v1",
            model: "static-minilm-256",
            dimensions: 256,
          },
          autoRecall: true,
          autoCapture: true,
          retrieval: {
            candidatePoolSize: 5, // the mistake: fewer than the plugin takes
          },
          scopes: {
            agentAccess: {
%s
            },
          },
        },
      },
    },
  },
}
"""

_PROJECTS = ("project:atlas", "project:mango", "project:quill", "project:tidewater")

_PEOPLE = (
    "user:ines",
    "user:mei",
    "user:jun",
    "user:leonie",
    "user:tomas",
    "user:priya",
    "user:obi",
    "user:ana",
)

_ACCESS = {
    "main": ("global", "agent:main", "reflection:agent:main", *_PROJECTS, *_PEOPLE, "custom:finance", "custom:hiring"),
    "ops": ("global", "agent:ops", "reflection:agent:ops", "project:atlas", "custom:oncall"),
    "scribe": ("global", "agent:scribe", "project:quill"),
    "research": ("global", "agent:research", "project:tidewater"),
    "reviewer": ("global", "agent:reviewer", "reflection:agent:reviewer", "project:atlas", "project:mango"),
}  # fmt: skip

_NOTES = """# Depot

- The label printer of the depot takes rolls of 57 mm.
- The gate of the yard opens at 05:30 from Monday to Saturday.
- Returned parcels wait on shelf R until noon of the next day.
"""

_TODOS = """# To-dos

- TODO: order two disks for kelp before the array is rebuilt
- TODO: tell Mei which templates still use the old preview route
- TODO: move the smoke test of heron to the new runner
"""

_WORKSPACES = {
    "main": "# Memory\n\n- Ines decides about deploys.\n- Answers are short, with the command that was run.\n",
    "ops": "# On call\n\n1. Look at the metrics on heron.\n2. Write in #ops before anything is restarted.\n",
    "scribe": "# Notes\n\n- Dates are written as 14 October.\n",
    "research": "# Reading\n\n- Every claim gets a source and the date it was read.\n",
    "reviewer": "# Review\n\n- Name the worst problem first and mark it must.\n",
}
"""Agent: the text of the MEMORY.md in its workspace. That of `research` lies where its configuration points no more."""

_SESSIONS: Sessions = (
    (
        "research",
        "2f90c7ab-lockers-d2",
        0.6,
        (
            (
                "is there something on locker networks in Portugal?",
                "Four networks, one API that works; the contract needs 500 parcels a week.",
                ("ec065510", "acca599b"),
            ),
            ("thanks", "The sources are in attic/Reading.", ()),
        ),
    ),
    (
        "reviewer",
        "71d5e3c4-cursor-e9",
        0.8,
        (
            (
                "review the cursor rewrite",
                "must: the test passes only because the fake clock never moves.",
                ("c922dfe1", "d7b39970"),
            ),
        ),
    ),
    (
        "ops",
        "nightly-f7",
        0.3,
        (("Check the backups and report.", "All backups of the night are complete.", ("780031ec",)),),
    ),
    (
        "reviewer",
        "5be2a1d6-0c47-4f3e-9b1a-77d0f2c8e614",
        0.79,
        (("List every use of time.After in the diff.", "Two, both in select loops.", ("4599d7aa",)),),
    ),
)

_KEYS = {
    "nightly-f7": "agent:ops:cron:nightly-f7",
    "5be2a1d6-0c47-4f3e-9b1a-77d0f2c8e614": "agent:reviewer:subagent:5be2a1d6-0c47-4f3e-9b1a-77d0f2c8e614",
}
"""Sessions that no person began: a job of the night, and a part that an agent gave to another."""


def build_demo_home(
    folder: Path,
    *,
    now_ms: int,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Path:
    """Make the demo store in `folder` with a home around it, and return it; a complete one is left as it is.

    `now_ms` as in `build_demo`, which says what is raised.
    """

    def furnish(making: Path, midnight_ms: int) -> None:
        write_home(making, folder, midnight_ms, on_progress or (lambda progress: None))

    return build_demo(folder, now_ms=now_ms, on_progress=on_progress, cancel=cancel, furnish=furnish)


def write_home(store: Path, place: Path, now_ms: int, on_progress: OnProgress) -> None:
    """Write the home around the demo store in the folder `store`, which is going to be renamed to `place`."""
    steps = ("sessions", "earlier values", "changes", "calls of clients")

    def begin(step: str) -> None:
        on_progress(Progress(f"adding the demo's {step}", steps.index(step), len(steps), "step"))

    home, state = demo_home(store), demo_state(store)
    begin("sessions")
    _write_configuration(home, now_ms - 50 * _HOUR_MS)
    folders = {agent: f"{HOST_FOLDER}/workspace-{agent}" for agent in _WORKSPACES}
    write_sessions(home, now_ms, _SESSIONS, keys=_KEYS, folders=folders)
    ran_ms = now_ms - 21 * _HOUR_MS
    _set_age(write_host_state(home / ".openclaw", PRO, ran_ms), ran_ms)
    begin("earlier values")
    _rehearse(store, now_ms)
    begin("changes")
    clock = _Clock(now_ms - 30 * _HOUR_MS)
    with _opened(store, state, clock) as engine:
        _make_journal(engine, clock, store)
        assert engine.state_place is not None
        kept, uri, table = engine.state_place, engine.store.uri, engine.store.table_name
    begin("calls of clients")
    _write_calls(kept, ClientRegister(home / "clients.json"), now_ms)
    _rename(kept, journal_of(state, str(place), table).parent)
    _rename(state / "transfer" / _digest(uri), state / "transfer" / _digest(str(place)))
    shutil.rmtree(state / "catalogs", ignore_errors=True)  # by a place that is no more


class _Clock:
    """A clock that is moved by hand."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def _opened(store: Path, state: Path, clock: _Clock) -> Engine:
    engine = open_engine(store, now=clock, environ={}, cwd=store, writable=True, state=state)
    engine.load_catalog()
    engine.load_metadata()
    return engine


_IMPORTANCE = {"port-old": "0.7", "false-noise-1": "0.6", "peripheral-back": "0.5"}
"""Key of a memory: the importance that it had before the journal begins."""


def _rehearse(store: Path, now_ms: int) -> None:
    """Bring a few memories to what they were before: the entries of the journal then make them what they are."""
    scratch = store / ".before"
    with _opened(store, scratch, _Clock(now_ms - 40 * _HOUR_MS)) as engine:
        for key, importance in _IMPORTANCE.items():
            apply(engine, plan_edit(engine, [memory_id(key)], {"importance": importance}))
    shutil.rmtree(scratch, ignore_errors=True)


def _make_journal(engine: Engine, clock: _Clock, store: Path) -> None:
    """Edits and an import that were applied, and an import that was undone again: each can be undone or redone."""
    from memtui.engine.demo.content import records

    _import(engine, demo_home(store) / "depot-notes.md", _NOTES, "project:atlas")
    clock.now_ms += 20 * _MINUTE_MS
    apply(engine, plan_undo(engine), confirmed=True)
    engine.refresh()
    _import(engine, demo_home(store) / "to-do.md", _TODOS, "agent:ops")
    today = {record.key: str(record.importance) for record in records()}
    for key in _IMPORTANCE:
        clock.now_ms += 95 * _MINUTE_MS
        apply(engine, plan_edit(engine, [memory_id(key)], {"importance": today[key]}))
        engine.refresh()


def _import(engine: Engine, file: Path, text: str, scope: str) -> None:
    from memtui.engine import transfer

    _write_aged(file, text, engine.now_ms)
    plan = transfer.plan_import(engine, transfer.ImportRequest((file,), scope=scope))
    try:
        transfer.run_import(engine, plan, confirmed=True)
    finally:
        plan.close()
    engine.refresh()


def _write_configuration(home: Path, time_ms: int) -> None:
    access = "\n".join(f"              {agent}: {json.dumps(scopes)}," for agent, scopes in _ACCESS.items())
    state = home / ".openclaw"
    _write_aged(state / "openclaw.json", _CONFIGURATION % access, time_ms)
    for agent, text in _WORKSPACES.items():
        workspace = state / f"workspace-{agent}"
        workspace.mkdir()
        _write_aged(workspace / "MEMORY.md", text, time_ms)
    (state / "workspace-reading").mkdir()


def _write_aged(path: Path, text: str, time_ms: int) -> None:
    path.write_text(text, encoding="utf-8")
    _set_age(path, time_ms)


def _set_age(path: Path, time_ms: int) -> None:
    """Make a file as old as what it tells: screens show its age, and the same day must give the same picture."""
    os.utime(path, (time_ms / 1000, time_ms / 1000))


_CALLS: tuple[tuple[int, str, str, str, tuple[str, ...], Mapping[str, str], str], ...] = (
    (
        620,
        "claude",
        "memory_recall",
        "ok",
        ("port-old", "port-new"),
        {"query": "which port has the bastion"},
        "",
    ),
    (615, "claude", "memory_why", "ok", ("port-new",), {"query": "which port has the bastion"}, ""),
    (350, "cursor", "memory_recall", "ok", ("port-old",), {"query": "how do I reach the bastion"}, ""),
    (
        300,
        "cursor",
        "memory_store",
        "refused",
        (),
        {"text": "Reviews end at 18:00.", "scope": "user:ines"},
        "scope",
    ),
    (
        290,
        "cursor",
        "memory_store",
        "refused",
        (),
        {"text": "Reviews end at 18:00.", "scope": "global"},
        "scope",
    ),
    (210, "claude", "memory_recall", "ok", ("drift-1",), {"query": "may I deploy with a red smoke test"}, ""),
    (
        205,
        "claude",
        "memory_update",
        "preview",
        ("drift-1",),
        {"text": "Never deploy with a red smoke test."},
        "",
    ),
    (
        120,
        "claude",
        "memory_recall",
        "ok",
        ("drift-2", "drift-3"),
        {"query": "production data for tests"},
        "",
    ),
    (60, "claude", "memory_list", "ok", ("port-new", "drift-1", "drift-2"), {"scope": "global"}, ""),
)
"""(minutes before midnight, client, tool, what became of it, keys of the memories, what was asked, what refused it)."""


def _write_calls(kept: Path, register: ClientRegister, now_ms: int) -> None:
    """A day of two clients over standard input and output: one of them was refused, and then paused.

    Neither has a token: the first token of a register asks every caller for one, and nobody could know the demo's.
    """
    journal = CallJournal(kept)
    for minutes, client, tool, outcome, keys, arguments, gate in _CALLS:
        agent = "main" if client == "claude" else "reviewer"
        time_ms = now_ms - minutes * _MINUTE_MS
        took = 4.0 + minutes % 9
        journal.add(
            Call(
                time_ms,
                client,
                agent,
                tool,
                outcome,
                _ids(keys),
                took,
                asked_of(arguments),
                arguments,
                gate=gate,
            )
        )
    register.pause("cursor")


def _ids(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(memory_id(key) for key in keys)


def _rename(old: Path, new: Path) -> None:
    if old.exists() and old != new:
        old.rename(new)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
