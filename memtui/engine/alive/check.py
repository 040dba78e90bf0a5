"""One answer to "is my agent's memory alive?", from what lies on disk: nothing is written, nothing is asked."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from memtui.engine.alive.core_rules import default_notes, dreaming_causes, index_causes
from memtui.engine.alive.hermes_check import HOST as HERMES_HOST
from memtui.engine.alive.hermes_check import judge_hermes
from memtui.engine.alive.home import CORE, Home, LanceTable, homes_here
from memtui.engine.alive.index_facts import CoreIndex, CoreState, read_core_state, read_index
from memtui.engine.alive.model import PARTS, AgentMemory, Aliveness, Cause, Note, State, parts_of
from memtui.engine.alive.place_rules import form_causes, memory_files, place_causes
from memtui.engine.alive.plugin_rules import ALL, PACKAGES, agent_causes, owner_causes
from memtui.engine.alive.store_rules import owner_cause, store_causes
from memtui.engine.core.text import counted, one_line
from memtui.engine.discovery.agents import AgentPlace, configured_ids, normalized_agent_id
from memtui.engine.discovery.hermes_stores import hermes_stores
from memtui.engine.discovery.places import PlaceFinder
from memtui.engine.discovery.plugins import PluginStore
from memtui.engine.discovery.types import OWNERS

HOST = "OpenClaw"

_NOT_RUNNING = frozenset(("A3", "A4", "A5"))

_NO_RECORD = "The host left no record of its plugins here: start its gateway once, and ask again."

_NOT_ASKED = "No turn on disk shows that the embedding service answers: memtui alive --try asks it."


def check_alive(environ: Mapping[str, str], cwd: Path, *, now_ms: int) -> Aliveness:
    """Judge the memory of every agent of this environment's configuration, of the owners of rows, and of Hermes' homes.

    Reads files and databases without a byte changed and without any service. LanceDB is imported only to count the
    owners of rows. What cannot be read becomes a remark.
    """
    homes = homes_here(environ, cwd, now_ms)
    agents: list[AgentMemory] = []
    remarks: list[str] = []
    for home in homes:
        agents += _judge(home)
        remarks += _remarks(home)
    judged, unread = judge_hermes(hermes_stores(environ, cwd, PlaceFinder())[0])
    remarks += unread
    first = homes[0] if homes else None
    return Aliveness(
        HERMES_HOST if judged and not agents else HOST,
        "" if first is None else first.host.version,
        first is not None and first.host_known,
        (*agents, *judged),
        tuple(dict.fromkeys(remarks)),
        {} if first is None else {"config": first.file, "state": str(first.state)},
    )


def _judge(home: Home) -> list[AgentMemory]:
    forms = form_causes(home)
    indexes = {place.id: read_index(place.database) for place in home.agents}
    state = read_core_state(home.host.database)
    out: list[AgentMemory] = []
    judged = [claim for claim in home.claims if _is_judged(home, claim)]
    for claim in judged:
        out += _judge_store(home, claim, forms, indexes, state)
    if home.slot == CORE:
        out += [_judge_core(home, place, forms, indexes[place.id], state) for place in home.agents]
    elif not any(claim.plugin == home.slot for claim in judged):
        out += [
            _judge_slot(home, place, forms, indexes[place.id], state, bool(judged)) for place in home.agents
        ]
    return [memory for memory in out if memory.parts]


def _is_judged(home: Home, claim: PluginStore) -> bool:
    """Whether a configured plugin's store is one that a person expects to work.

    The owner of the slot always; another one where its entry is left switched on, and no LanceDB plugin that is
    installed has the slot in its place.
    """
    if claim.plugin == home.slot:
        return True
    if home.slot in OWNERS and home.is_installed(home.slot) is not False:
        return False
    return bool(claim.block) and home.config.at("plugins", "entries", claim.plugin, "enabled") is not False


def _judge_store(
    home: Home,
    claim: PluginStore,
    forms: Sequence[Cause],
    indexes: Mapping[str, CoreIndex],
    state: CoreState,
) -> list[AgentMemory]:
    owner = owner_causes(home, claim)
    runs = not any(cause.code in _NOT_RUNNING for cause in owner)
    table = home.table(claim)
    store = store_causes(home, claim, table) if runs else ()
    dreams = tuple(dreaming_causes(home)) if runs else ()
    out = []
    for place in home.agents:
        causes = [*forms, *owner]
        if runs:
            causes += [
                *agent_causes(home, claim, place),
                *store,
                *owner_cause(home, claim, table, place.id),
                *dreams,
            ]
        causes += place_causes(home, place, indexes[place.id])
        base = _base_of_store(home, claim, table, place, state)
        notes = tuple(default_notes(home, place, indexes[place.id], state, claim.plugin))
        out.append(AgentMemory(place.id, claim.path or "", claim.plugin, parts_of(base, causes), notes))
    known = set(configured_ids(home.agents))
    strange = [owner for owner in (table.owners if table is not None else ()) if owner and owner not in known]
    for name in strange if runs else ():
        causes = list(owner_cause(home, claim, table, name))
        base = {part: _unknown("The configuration does not name this agent.") for part in PARTS}
        out.append(AgentMemory(name, claim.path or "", claim.plugin, parts_of(base, causes)))
    return out


def _unknown(said: str) -> tuple[State, str]:
    return "unknown", said


def _base_of_store(
    home: Home, claim: PluginStore, table: LanceTable | None, place: AgentPlace, state: CoreState
) -> dict[str, tuple[State, str]]:
    """The state of each part where no cause is known."""
    activity = home.activity(place.id)
    turns = [turn for turn in activity.turns if turn.time_ms >= home.changed_ms]
    injected = [turn for turn in turns if turn.injected]
    told = home.is_installed(claim.plugin) is not None and home.modern
    running: tuple[State, str] = ("ok", "") if told or injected else _unknown(_NO_RECORD)
    recall, capture = running, running
    if running[0] == "ok":
        recall = (
            "ok",
            f"{len(injected)} of the last {counted(len(turns), 'recorded turn')} got memories."
            if turns
            else "",
        )
        own = table.owners.get(normalized_agent_id(place.id), 0) if table is not None else 0
        if len(turns) >= 5 and not injected and own:
            recall = _unknown(
                f"None of the last {len(turns)} recorded turns got memories, although the store holds some of this "
                "agent: the gateway's log at debug level would tell why."
            )
    if table is not None and table.sketch is not None and capture[0] == "ok":
        capture = ("ok", f"The store was last written {_when(table.sketch.time_ms)}.")
    worked = bool(injected) or home.log.last("injected", "captured", plugin=claim.plugin) is not None
    index: tuple[State, str] = _unknown("There is no table yet.")
    if table is None:
        index = _unknown("The store is not on this machine, or its place cannot be told.")
    elif table.sketch is not None:
        index = ("ok", f"{counted(table.sketch.rows, 'memory', 'memories')}.")
    elif table.there:
        index = _unknown("The newest version of the table cannot be read: memtui doctor looks into it.")
    return {
        "recall": recall,
        "capture": capture,
        "tools": running,
        "embedding": ("ok", "") if worked else _unknown(_NOT_ASKED),
        "index": index,
        "workspace": ("ok", "") if place.workspace is not None else _unknown("The workspace cannot be told."),
        "dreaming": _dreaming(state),
    }


def _dreaming(state: CoreState) -> tuple[State, str]:
    job = state.job
    if job is None or not job.last_run_ms:
        return _unknown("Dreaming did not run yet.")
    return "ok", f"Dreaming last ran {_when(job.last_run_ms)}."


def _when(time_ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(time_ms / 1000))


def _judge_core(
    home: Home, place: AgentPlace, forms: Sequence[Cause], index: CoreIndex, state: CoreState
) -> AgentMemory:
    """An agent whose memory is memory-core's: Markdown in its workspace, and the index made of it."""
    causes = [
        *forms,
        *index_causes(home, place, index, state),
        *place_causes(home, place, index),
        *dreaming_causes(home),
    ]
    activity = home.activity(place.id)
    base: dict[str, tuple[State, str]] = {}
    if not place.search_enabled:
        base = {
            part: _unknown("memory.search.enabled is false for this agent: it has no memory.")
            for part in PARTS
        }
    else:
        there = bool(index.chunks or index.files or memory_files(place.workspace))
        used = activity.last_ms > 0
        known: tuple[State, str] = (
            ("ok", "") if there or used else _unknown("No memory file and no turn yet.")
        )
        turns = [turn for turn in activity.turns if turn.injected]
        said = f"{len(turns)} of the last {counted(len(activity.turns), 'recorded turn')} got something injected."
        searched: tuple[State, str] = ("ok", f"{counted(index.chunks, 'piece')} indexed.")
        base = {
            "recall": (known[0], said if activity.turns else known[1]),
            "capture": known,
            "tools": known,
            "embedding": ("ok", "") if index.meta is not None else _unknown(_NOT_ASKED),
            "index": searched if index.meta is not None else _unknown("There is no index yet."),
            "workspace": ("ok", "")
            if place.workspace is not None
            else _unknown("The workspace cannot be told."),
            "dreaming": _dreaming(state),
        }
    denied = _core_off(home)
    database = str(place.database) if place.database.is_file() else ""
    return AgentMemory(
        place.id, database, CORE, parts_of(base, [*causes, *denied]),
        tuple(default_notes(home, place, index, state, CORE)),
    )  # fmt: skip


def _core_off(home: Home) -> list[Cause]:
    """What takes memory-core itself out: no plugin is loaded, or it is denied or switched off."""
    at = home.config.at
    denied = at("plugins", "deny")
    for key, off in (
        (("plugins", "enabled"), at("plugins", "enabled") is False),
        (("plugins", "deny"), isinstance(denied, list) and CORE in denied),
        (("plugins", "entries", CORE, "enabled"), at("plugins", "entries", CORE, "enabled") is False),
    ):
        if off:
            dotted = ".".join(key)
            return [
                Cause(
                    "A5", (*ALL, "index"), "dead", f"{dotted} takes {CORE} out: nothing is indexed or searched.",
                    (home.key(*key),),
                    f"Remove {CORE} from {dotted}." if key[-1] == "deny" else f"Set {dotted} to true.",
                )
            ]  # fmt: skip
    return []


def _judge_slot(
    home: Home, place: AgentPlace, forms: Sequence[Cause], index: CoreIndex, state: CoreState, judged: bool
) -> AgentMemory:
    """An agent whose slot belongs to nobody, or to a plugin that memtui does not know or that is not there."""
    causes = [*forms, *place_causes(home, place, index)]
    said = "plugins.slots.memory is none: no plugin keeps memories." if home.slot == "none" else (
        f"memtui does not know how {one_line(home.slot)} works."
    )  # fmt: skip
    if home.slot != "none" and home.is_installed(home.slot) is False:
        causes.append(
            Cause(
                "A4", ALL, "dead",
                f"The memory slot names {one_line(home.slot)}, which is not installed: turns run without memory.",
                (home.key("plugins", "slots", "memory"), home.index_row(home.slot)),
                f"openclaw plugins install {PACKAGES.get(home.slot, one_line(home.slot))}",
            )
        )  # fmt: skip
    elif judged:
        return AgentMemory(place.id, "", home.slot, ())  # its configured store is judged already
    notes: tuple[Note, ...] = tuple(default_notes(home, place, index, state, home.slot))
    return AgentMemory(
        place.id, "", home.slot, parts_of({part: _unknown(said) for part in PARTS}, causes), notes
    )


def _remarks(home: Home) -> list[str]:
    out = [finding.message for finding in home.config.findings if finding.kind == "config-unreadable"]
    out += [home.host.problem] if home.host.problem else []
    for activity in home.activities.values():
        out += [activity.problem] if activity.problem else []
        if activity.newer:
            out.append(
                f"{activity.database} has schema {activity.schema}, newer than memtui knows: it is read as far as "
                "it goes."
            )
    if home.host.version and not home.host.known and not home.host.problem:
        out.append(f"memtui was not built against OpenClaw {home.host.version}: it judges what it knows.")
    return out
