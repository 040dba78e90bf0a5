"""What stops memory-core and active-memory, and the defaults that surprise (B5, B6, D1 to D13)."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtui.engine.alive.home import CORE, Home
from memtui.engine.alive.index_facts import CoreIndex, CoreState
from memtui.engine.alive.model import Cause, CauseEvidence, Note
from memtui.engine.alive.place_rules import memory_files
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.core.text import counted, one_line, quoted
from memtui.engine.discovery.agents import AgentPlace, search_key, system_agent

ACTIVE = ("plugins", "entries", "active-memory")

BOOTSTRAP_FILE, BOOTSTRAP_ALL = 20_000, 60_000
"""Characters of a bootstrap file, and of all of them, that reach the prompt."""

_BOOTSTRAP = ("MEMORY.md", "USER.md")

_SYSTEM = ("memory/dreaming/", "memory/.dreams/", "memory/events/", "DREAMS.md")


def index_causes(home: Home, place: AgentPlace, index: CoreIndex, state: CoreState) -> tuple[Cause, ...]:
    """What is wrong with an agent's index and with what is injected from it."""
    if not place.search_enabled:
        return ()
    return (
        *_service(home, place, index),
        *_identity(home, place, index),
        *_dirty(home, place, index),
        *_tables(home, place, index),
        *_untrusted(home, place, index),
        *_trusted_by_mistake(home, place, index, state),
        *_too_long(home, place),
        *_lane(home, place),
    )


def active_agents(home: Home) -> tuple[str, ...]:
    """The agents for which triggers are injected; empty where the plugin that does it is off."""
    named = home.config.at(*ACTIVE, "config", "agents")
    off = home.config.at(*ACTIVE, "enabled") is False or home.config.at(*ACTIVE, "config", "mode") == "off"
    return (
        () if off or not isinstance(named, list) else tuple(name for name in named if isinstance(name, str))
    )


def _service(home: Home, place: AgentPlace, index: CoreIndex) -> Iterator[Cause]:
    failed = home.log.last("core-degraded")
    key = home.key(*search_key(home.config.values, "remote", agent=place.id))
    if failed is not None:
        worked = home.log.last("core-embedded", "lane-injected")
        over = (worked is not None and worked.line > failed.line) or failed.time_ms < home.changed_ms
        yield Cause(
            "B5", ("embedding", "index"), "weak" if over else "dead",
            "The embedding service of memory-core failed"
            + (" for a while." if over else ": search is degraded and the index is not updated."),
            (CauseEvidence(home.log.path, failed.text), key),
            "openclaw memory status, then: openclaw memory index --force",
        )  # fmt: skip
    elif index.there and index.meta is None and (index.chunks or index.files) and _explicit(place):
        yield Cause(
            "B5", ("embedding", "index"), "dead",
            "The index has no record of its model although a remote service is configured: it was never finished.",
            (CauseEvidence(str(place.database), "memory_index_meta: memory_index_meta_v1"), key),
            "openclaw memory index --force",
        )  # fmt: skip


def _explicit(place: AgentPlace) -> bool:
    return place.search.get("provider") not in (None, "auto", "local", "none")


def _identity(home: Home, place: AgentPlace, index: CoreIndex) -> Iterator[Cause]:
    meta, search = index.meta, place.search
    if meta is None:
        return
    wanted: list[tuple[str, tuple[str, ...], Any, Any]] = []
    provider = search.get("provider")
    if isinstance(provider, str) and provider not in ("auto", "local"):
        wanted.append(("provider", ("provider",), provider, meta.get("provider")))
    if isinstance(search.get("model"), str) and provider != "none":
        wanted.append(("model", ("model",), search["model"], meta.get("model")))
    size = search.get("outputDimensionality")
    if isinstance(size, int) and meta.get("vectorDims"):
        wanted.append(("vector_dims", ("outputDimensionality",), size, meta.get("vectorDims")))
    tokenizer = _at(search, "store", "fts", "tokenizer")
    if isinstance(tokenizer, str):
        wanted.append(("fts_tokenizer", ("store", "fts", "tokenizer"), tokenizer, meta.get("ftsTokenizer")))
    for name, ours in (("chunkTokens", "tokens"), ("chunkOverlap", "overlap")):
        given = _at(search, "chunking", ours)
        if isinstance(given, int):
            wanted.append(("chunking", ("chunking", ours), given, meta.get(name)))
    sources = _sources(home, search)
    if isinstance(meta.get("sources"), list):
        wanted.append(("sources", ("sources",), sources, sorted(map(str, meta["sources"]))))
    strange = _extra_paths(home, place, index)
    if strange:
        wanted.append(("scope", ("extraPaths",), strange, None))
    differing = [(code, keys, now, then) for code, keys, now, then in wanted if now != then]
    if differing:
        code, keys, now, then = differing[0]
        what = (
            f"extra path {now}" if code == "scope" else f"{'.'.join(keys)} {_shown(now)}, not {_shown(then)}"
        )
        proof = [
            home.key(*search_key(home.config.values, *names, agent=place.id)) for _, names, _, _ in differing
        ]
        yield Cause(
            "B6", ("index", "tools"), "dead",
            f"The index was made under other settings ({code}): the configuration says {what}. Vector search is "
            "paused, and memory_search answers with nothing.",
            (*proof, CauseEvidence(str(place.database), "memory_index_meta: memory_index_meta_v1")),
            f"openclaw memory index --force --agent {quoted(place.id)}",
        )  # fmt: skip


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else one_line(str(value))


def _sources(home: Home, search: Mapping[str, Any]) -> list[str]:
    """The sources that the index holds under these settings."""
    given = search.get("sources")
    named = {str(item) for item in given} if isinstance(given, list) and given else {"memory"}
    if "sessions" in named and _at(search, "experimental", "sessionMemory") is not True:
        named.discard("sessions")
    if remembers(home, search):
        named.add("sessions")
    return sorted(named or {"memory"})


def remembers(home: Home, search: Mapping[str, Any]) -> bool:
    """rememberAcrossConversations, on by itself where all direct talks share one session."""
    given = search.get("rememberAcrossConversations")
    if isinstance(given, bool):
        return given
    scope = home.config.at("session", "dmScope")
    bindings = home.config.at("bindings")
    bound = any(
        isinstance(item, Mapping) and _at(item, "session", "dmScope") for item in bindings or ()
    ) if isinstance(bindings, list) else False  # fmt: skip
    return scope in (None, "main") and not bound


def _extra_paths(home: Home, place: AgentPlace, index: CoreIndex) -> str:
    """An indexed file outside of the workspace that no extra path covers, or an extra path without an indexed file."""
    from memtui.engine.discovery.places import user_path

    given = place.search.get("extraPaths")
    folders = []
    for item in given if isinstance(given, list) else ():
        text = item.get("path") if isinstance(item, Mapping) else item
        base = place.workspace or home.cwd
        found = user_path(text, home.user_home, base) if isinstance(text, str) and text.strip() else None
        if found is not None:
            folders.append(found)
    if place.workspace is None:
        return ""
    outside = [
        Path(os.path.normpath(place.workspace / path)) for path in index.files if path.startswith("..")
    ]
    left = next(
        (path for path in outside if not any(path.is_relative_to(folder) for folder in folders)), None
    )
    if left is not None:
        return f"does not cover {left}"
    for folder in folders:
        inside = folder.is_relative_to(place.workspace)
        if not inside and _has_notes(folder) and not any(path.is_relative_to(folder) for path in outside):
            return f"{folder} is not indexed"
    return ""


def _has_notes(folder: Path) -> bool:
    try:
        return folder.suffix == ".md" or any(folder.glob("*.md"))
    except OSError:
        return False


def _dirty(home: Home, place: AgentPlace, index: CoreIndex) -> Iterator[Cause]:
    failed = home.log.last("sync-failed")
    if failed is not None:
        ran = home.log.last("sync-ran", "core-embedded")
        over = ran is not None and ran.line > failed.line
        stale = _stale(place, index)
        dead = bool(stale) and not over
        yield Cause(
            "D10", ("index",), "dead" if dead else "weak",
            "A sync of the index failed"
            + (f", and {stale[0]} differs from what is indexed." if stale else "; the index matches the files now."),
            (CauseEvidence(home.log.path, failed.text),), f"openclaw memory index --agent {quoted(place.id)}",
        )  # fmt: skip
        return
    if index.there and index.meta is not None and (stale := _stale(place, index)):
        yield Cause(
            "D10", ("index",), "weak",
            f"The index is not up to date: {stale[0]} differs from what is indexed"
            + (f", and {len(stale) - 1} more." if len(stale) > 1 else "."),
            (CauseEvidence(str(place.database), f"memory_index_sources: {stale[0]}"),),
            f"openclaw memory index --agent {quoted(place.id)}",
        )  # fmt: skip


def _stale(place: AgentPlace, index: CoreIndex) -> list[str]:
    """Files of the workspace that are indexed otherwise, or not at all."""
    if place.workspace is None or not place.workspace.is_dir():
        return []
    out = []
    for path, known in list(index.files.items())[:2_000]:
        file = place.workspace / path
        try:
            if file.is_file() and file.stat().st_size <= 8 << 20:
                if hashlib.sha256(file.read_bytes()).hexdigest() != known:
                    out.append(path)
            elif not path.startswith(".."):
                out.append(path)
        except OSError:
            out.append(path)
    indexed = set(index.files)
    for file in memory_files(place.workspace):
        name = file.relative_to(place.workspace).as_posix()
        if name not in indexed and not name.startswith(_SYSTEM) and file.stat().st_size:
            lower = {path.lower() for path in indexed}
            if name.lower() not in lower:
                out.append(name)
    return out


def _tables(home: Home, place: AgentPlace, index: CoreIndex) -> Iterator[Cause]:
    told = home.log.last("search-missing")
    if (index.there and index.chunks and not index.keyword_tables) or told is not None:
        proof = (
            CauseEvidence(home.log.path, told.text) if told is not None
            else CauseEvidence(str(place.database), "memory_index_chunks_fts")
        )  # fmt: skip
        yield Cause(
            "D11", ("index",), "weak",
            "A part of search is not available (keyword tables or vector extension): results come from the other.",
            (proof,), "openclaw memory status --deep, then: openclaw memory index --force",
        )  # fmt: skip


def _untrusted(home: Home, place: AgentPlace, index: CoreIndex) -> Iterator[Cause]:
    if index.untrusted:
        more = f" and {len(index.untrusted) - 1} more" if len(index.untrusted) > 1 else ""
        yield Cause(
            "D5", ("index",), "weak",
            f"{index.untrusted[0]}{more} was written in a turn of somebody else than the owner, or of a tainted one: "
            "it is never injected and never promoted.",
            (CauseEvidence(str(place.database), f"memory_index_chunk_provenance: {index.untrusted[0]}"),),
            f"Read {index.untrusted[0]}; what is right in it belongs into MEMORY.md by the owner's own turn.",
        )  # fmt: skip


def _trusted_by_mistake(home: Home, place: AgentPlace, index: CoreIndex, state: CoreState) -> Iterator[Cause]:
    """A note that counts as trusted because no write of it was recorded, while a stranger's turn wrote it."""
    if place.workspace is None:
        return
    unrecorded = [
        path for path in index.trusted_notes if path not in state.written and not path.startswith(_SYSTEM)
    ]
    if not unrecorded or not (found := _written_by_stranger(place.database, unrecorded)):
        return
    path, key = found
    yield Cause(
        "D5b", ("index",), "weak",
        f"{path} was written in a turn of somebody else than the owner and counts as trusted: the host recorded no "
        "write of it.",
        (CauseEvidence(str(place.database), key), CauseEvidence(str(place.workspace / path), path)),
        f"Read {path}, and move what is not yours out of the workspace.",
    )  # fmt: skip


_MOST_EVENTS = 4_000


def _written_by_stranger(database: Path, paths: list[str]) -> tuple[str, str] | None:
    """(note, row) of a write call for one of these notes that follows a message of no owner."""
    try:
        with open_unchanged(database) as db:
            columns = set(column_names(db, "transcript_events"))
            if not {"session_id", "seq", "event_json"} <= columns:
                return None
            compressed = {"event_zstd", "event_utf8_bytes"} <= columns
            extra = ", event_zstd, event_utf8_bytes" if compressed else ", NULL, 0"
            owner: dict[str, bool] = {}
            rows = db.execute(
                f"SELECT session_id, seq, event_json{extra} FROM transcript_events ORDER BY session_id, seq LIMIT ?",
                (_MOST_EVENTS,),
            )
            for session, seq, text, blob, size in rows:
                event = _decoded(text, blob, size)
                message = event.get("message")
                if not isinstance(message, Mapping):
                    continue
                if message.get("role") == "user":
                    facts = message.get("__openclaw")
                    facts = facts if isinstance(facts, Mapping) else {}
                    owner[session] = facts.get("senderIsOwner") is True or "senderId" not in facts
                elif owner.get(session) is False:
                    said = json.dumps(message.get("content"), ensure_ascii=False)
                    details = message.get("details")
                    said += json.dumps(details, ensure_ascii=False) if isinstance(details, Mapping) else ""
                    hit = next((path for path in paths if path in said and _is_write(said)), None)
                    if hit is not None:
                        return hit, f"transcript_events: {session}, {seq}"
    except (sqlite3.Error, OSError, ValueError):
        return None
    return None


def _is_write(said: str) -> bool:
    return any(f'"{word}"' in said for word in ("write", "edit", "apply_patch"))


def _decoded(text: Any, blob: Any, size: Any) -> Mapping[str, Any]:
    try:
        if isinstance(text, str):
            value = json.loads(text)
        elif isinstance(blob, bytes) and isinstance(size, int) and 0 < size <= 4 << 20:
            import pyarrow as pa

            value = json.loads(pa.decompress(blob, decompressed_size=size, codec="zstd").to_pybytes())
        else:
            return {}
    except Exception:  # pyarrow raises kinds of its own for a frame that lies about its size
        return {}
    return value if isinstance(value, Mapping) else {}


def _too_long(home: Home, place: AgentPlace) -> Iterator[Cause]:
    if place.workspace is None:
        return
    defaults = home.config.mapping("agents", "defaults")
    most = _number(defaults.get("bootstrapMaxChars"), BOOTSTRAP_FILE)
    total = _number(defaults.get("bootstrapTotalMaxChars"), BOOTSTRAP_ALL)
    sizes: dict[str, int] = {}
    for name in _BOOTSTRAP:
        try:
            sizes[name] = len((place.workspace / name).read_text("utf-8", "replace"))
        except OSError:
            continue
    long = next((name for name, size in sizes.items() if size > most), None)
    whole = sum(sizes.values())
    if long is None and whole <= total:
        return
    name = long or max(sizes, key=lambda each: sizes[each])
    limit, size = (most, sizes[name]) if long else (total, whole)
    key = "bootstrapMaxChars" if long else "bootstrapTotalMaxChars"
    yield Cause(
        "D6", ("recall",), "weak",
        f"{name} of {one_line(place.id)} has {size} characters, of which {limit} reach the prompt: the rest is never "
        "seen.",
        (CauseEvidence(str(place.workspace / name), name), home.key("agents", "defaults", key)),
        f"Shorten {name}, or raise agents.defaults.{key}.",
    )  # fmt: skip


def _number(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def _lane(home: Home, place: AgentPlace) -> Iterator[Cause]:
    if place.id not in active_agents(home):
        return
    failed = home.log.of("lane-failed")
    if failed:
        yield Cause(
            "D3", ("recall",), "weak",
            f"The search for triggers ran out of time in {counted(len(failed), 'turn')}: nothing was injected there.",
            (CauseEvidence(home.log.path, failed[-1].text),),
            "Raise plugins.entries.active-memory.config.timeoutMs, if it happens beyond the first turn after a start.",
        )  # fmt: skip


def dreaming_causes(home: Home) -> Iterator[Cause]:
    """A sweep that failed while its job says ok."""
    failed = home.log.last("sweep-failed")
    if failed is None:
        return
    done = home.log.last("sweep-done")
    over = done is not None and done.line > failed.line
    yield Cause(
        "D7b", ("dreaming",), "weak" if over else "dead",
        "A dreaming sweep failed while its job said ok"
        + ("; a later one worked." if over else ", and none worked since."),
        (
            CauseEvidence(home.log.path, failed.text),
            CauseEvidence(home.index_evidence, "cron_jobs.state_json: memory-core:memory-dreaming-promotion"),
        ),
        "Stop other OpenClaw processes on this state folder, then: openclaw memory promote",
    )  # fmt: skip


def default_notes(
    home: Home, place: AgentPlace, index: CoreIndex, state: CoreState, owner: str
) -> Iterator[Note]:
    """The defaults that a person may not expect. Those of memory-core count only where it has the slot."""
    core = owner == CORE
    dotted = ".".join
    named = active_agents(home)
    if place.id not in named:
        yield Note(
            "D1",
            f"active-memory names no agent {one_line(place.id)}: no trigger of its memory files is injected unasked.",
            dotted((*ACTIVE, "config", "agents")),
        )
    if core:
        yield from _core_notes(home, place, index, state, named)
    if home.config.at("plugins", "entries", "memory-wiki", "enabled") is not True:
        yield Note(
            "D13", "memory-wiki is off: no wiki is made of the notes.", "plugins.entries.memory-wiki.enabled"
        )


def _core_notes(
    home: Home, place: AgentPlace, index: CoreIndex, state: CoreState, named: tuple[str, ...]
) -> Iterator[Note]:
    types = home.config.at(*ACTIVE, "config", "allowedChatTypes")
    if place.id in named and (not isinstance(types, list) or set(types) <= {"direct"}):
        yield Note(
            "D2",
            "Groups, CLI turns, jobs and sub-agents get nothing injected: active-memory serves direct chats alone.",
            ".".join((*ACTIVE, "config", "allowedChatTypes")),
        )  # fmt: skip
    if index.there and index.chunks and (not index.with_triggers or index.bad_projects):
        why = "a project comment is malformed" if index.bad_projects else "no entry has a trigger comment"
        yield Note("D4", f"Entries that nothing can trigger: {why}.", "memory_index_chunk_recall_metadata")
    yield from _dreaming_notes(home, state)
    if home.config.at("hooks", "internal", "entries", "session-memory", "enabled") is not True:
        yield Note(
            "D8", "The internal hook session-memory is off: /new leaves no note of the conversation.",
            "hooks.internal.entries.session-memory.enabled",
        )  # fmt: skip
    if "sessions" not in _sources(home, place.search):
        yield Note(
            "D9", "Conversations are not searchable: sources has no sessions.",
            ".".join(map(str, search_key(home.config.values, "sources", agent=place.id))),
        )  # fmt: skip
    if not state.recalls:
        yield Note(
            "D12", "No search was counted yet: dreaming has no candidates, and nothing is promoted.",
            "plugin_state_entries: short-term-recall",
        )  # fmt: skip


def _dreaming_notes(home: Home, state: CoreState) -> Iterator[Note]:
    key = "plugins.entries.memory-core.config.dreaming.enabled"
    row = "cron_jobs: memory-core:memory-dreaming-promotion"
    if home.config.at("plugins", "entries", CORE, "config", "dreaming", "enabled") is False:
        yield Note("D7", "Dreaming is switched off: nothing is promoted automatically.", key)
    elif len(home.agents) > 1 and not system_agent(home.config.values):
        yield Note("D7", "No agent owns dreaming in this fleet.", "agents.defaults.systemAgent.agentId")
    elif state.job is None:
        yield Note("D7", "Dreaming has no job yet: the gateway makes it at its start.", row)
    elif not state.job.enabled:
        yield Note("D7", "The dreaming job is disabled.", row)
    elif state.job.error:
        yield Note("D7", f"The last dreaming job failed: {one_line(state.job.error)[:200]}.", row)
    elif not state.job.last_run_ms:
        yield Note("D7", "Dreaming did not run yet: the gateway must run at its time (03:00).", row)


def _at(node: Any, *path: str) -> Any:
    for key in path:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node
