"""The reflection at a session's end, its files and rows, and what of it goes back into prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from memtui.engine.access import agent_of_session
from memtui.engine.capture.chat import NoReplyError
from memtui.engine.capture.recipes.pro.admission import admit
from memtui.engine.capture.recipes.pro.extraction_call import ExtractionCall
from memtui.engine.capture.recipes.pro.learning_tools import log_entry
from memtui.engine.capture.recipes.pro.mirror import day
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages import reflection_rows, reflection_text
from memtui.engine.capture.stages.grounding import Proposal
from memtui.engine.capture.stages.learnings import file_token
from memtui.engine.capture.stages.matching import pattern
from memtui.engine.capture.stages.redaction import (
    error_signature,
    is_error_signal,
    redact_secrets,
    tool_result_text,
)
from memtui.engine.capture.stages.reflection_retry import reflection_retry
from memtui.engine.capture.stages.session_text import (
    messages_of,
    recovered,
    session_folders,
    source_line,
    summarize_messages,
)
from memtui.engine.capture.stages.transcript import utf16_tail
from memtui.engine.capture.stages.turns import (
    agent_excluded,
    invalid_agent_id,
    memory_subsession,
    source_from_session_key,
)
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import trim, utf16_slice
from memtui.engine.metadata.categories import storage_of

INTRO = "Kept from earlier reflections; weigh it against what is said now:"

FALLBACK = "No reflection could be written for this session: the model gave none."

SHOWN_LINES = 6

HOLD_MS = 120_000

EMPTY_MS = 120_000

SUMMARY_MS = 86_400_000

MAPPED_DUPLICATE, LEGACY_DUPLICATE = 0.95, 0.97

MOST_ERRORS, ERRORS_MS = 30, 1_800_000

SUMMARY_LENGTH, OUTPUT_LENGTH = 220, 8000

PROVENANCE = "memory-reflection-mapped"

_EXIT_ZERO = pattern(r"exit(?:ed)?(?: with)?(?: exit)? code:? 0\b")

_SPACE = pattern(r"\s+")


@dataclass(frozen=True, slots=True)
class ErrorSignal:
    """An error that a tool met: a summary on one line, and the hash of its signature."""

    tool: str
    summary: str
    hash: str
    at_ms: int


@dataclass(slots=True)
class Reflected:
    """What the hooks keep between reflections."""

    events: set[str] = field(default_factory=set)
    finished: dict[str, int] = field(default_factory=dict)
    empty: dict[str, int] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    errors: dict[str, list[ErrorSignal]] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    summaries: dict[str, int] = field(default_factory=dict)


# ---------------------------------------------------------------- errors


def tool_called(world: World, state: Reflected, event: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """Keep the error of a tool call, once for each signature of a session."""
    key = context.get("sessionKey")
    if not world.settings.reflection.enabled or not isinstance(key, str) or not key:
        return
    tool = str(event.get("toolName") or "tool")
    error = event.get("error")
    text = error if isinstance(error, str) and error else ""
    if not text:
        output = utf16_slice(tool_result_text(event.get("result")), OUTPUT_LENGTH)
        if (tool == "exec" and _EXIT_ZERO.search(output)) or not is_error_signal(output):
            return
        text = output
    known = [signal for signal in state.errors.get(key, []) if world.now_ms - signal.at_ms <= ERRORS_MS]
    digest = hashlib.sha256(error_signature(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if world.settings.reflection.dedupe_errors and any(signal.hash == digest for signal in known):
        return
    summary = utf16_slice(trim(_SPACE.sub(" ", redact_secrets(text))), SUMMARY_LENGTH)
    state.errors[key] = [*known, ErrorSignal(tool, summary, digest, world.now_ms)][-MOST_ERRORS:]


def prompt_blocks(
    world: World, state: Reflected, context: Mapping[str, Any]
) -> list[tuple[int, dict[str, Any]]]:
    """(priority, result) of what reflections put in front of a prompt."""
    settings = world.settings.reflection
    key, agent = str(context.get("sessionKey") or ""), context.get("agentId")
    if not settings.enabled or not isinstance(agent, str) or memory_subsession(key):
        return []
    if invalid_agent_id(agent, world.declared) or agent_excluded(agent, key, settings.exclude_agents):
        return []
    lines = load(world, agent)
    found: list[tuple[int, dict[str, Any]]] = []
    blocks: list[str] = []
    held = key in state.held and world.now_ms - state.held[key] < HOLD_MS
    if settings.inject_mode == "inheritance+derived" and lines["derived"] and not held:
        blocks.append(_block("derived-focus", lines["derived"]))
    if errors := _unseen_errors(world, state, key):
        listed = "\n".join(f"{at}. [{e.tool}] {e.summary}" for at, e in enumerate(errors, 1))
        blocks.append(f"<error-detected>\n{INTRO}\nRecent error signals:\n{listed}\n</error-detected>")
    if blocks:
        found.append((15, {"prependContext": "\n\n".join(blocks)}))
    if lines["invariants"]:
        found.append((12, {"prependContext": _block("inherited-rules", lines["invariants"])}))
    return found


def _block(tag: str, lines: Sequence[str]) -> str:
    listed = "\n".join(f"{at}. {line}" for at, line in enumerate(lines[:SHOWN_LINES], 1))
    return f"<{tag}>\n{INTRO}\n\n{listed}\n</{tag}>"


def _unseen_errors(world: World, state: Reflected, key: str) -> list[ErrorSignal]:
    known = [signal for signal in state.errors.get(key, []) if world.now_ms - signal.at_ms <= ERRORS_MS]
    seen = state.shown.get(key, 0)
    fresh = known[seen:][-world.settings.reflection.error_entries :]
    state.shown[key] = len(known)
    return fresh


def load(world: World, agent: str) -> dict[str, list[str]]:
    """The rules and changes that count now for an agent."""
    rows = [
        reflection_rows.ReflectionRow(row.text, row.timestamp, row.meta(world.now_ms).values)
        for row in world.draft.rows(world.policy.store_filter(agent))
        if row.category == "reflection"
    ]
    return reflection_rows.load_slices(rows, agent, world.now_ms)


# ---------------------------------------------------------------- a run


def session_command(world: World, state: Reflected, event: Mapping[str, Any]) -> None:
    """/new or /reset: reflect on the session that ends."""
    settings = world.settings.reflection
    key, context = event.get("sessionKey"), event.get("context") or {}
    stamp = event.get("timestamp")
    if not settings.enabled or not isinstance(key, str) or not key:
        return
    mark = f"{key}|{stamp}"
    if mark in state.events:
        return
    state.events.add(mark)
    agent = agent_of_session(key)
    if agent is None or not isinstance(context.get("cfg"), Mapping):
        return
    if invalid_agent_id(agent, world.declared) or agent_excluded(agent, key, settings.exclude_agents):
        return
    state.held[key] = world.now_ms
    session = context.get("previousSessionEntry") or context.get("sessionEntry") or {}
    session_id = str(session.get("sessionId") or "unknown")
    empty_mark = f"{key}|{session_id}"
    if empty_mark in state.empty and world.now_ms - state.empty[empty_mark] < EMPTY_MS:
        return
    if key in state.finished and world.now_ms - state.finished[key] < settings.cooldown_ms:
        return
    workspace = str(context.get("workspaceDir") or world.workspace(agent) or "<root>/ws")
    messages = event.get("messages")
    if isinstance(messages, list):  # a host that hands over what was said, not the file of its session
        said = summarize_messages(messages, settings.message_count)
        conversation = None if said is None else utf16_tail(said, settings.max_chars)
    else:
        file = str(session.get("sessionFile") or "")
        conversation = _conversation(world, _session_file(world, file, session_id, agent, workspace, context))
    if conversation is None:
        state.empty[empty_mark] = world.now_ms
        return
    at = int(stamp) if isinstance(stamp, int | float) else world.now_ms
    try:
        _reflect(
            world,
            state,
            _Run(
                key,
                session_id,
                agent,
                str(event.get("action") or "new"),
                workspace,
                conversation,
                at,
            ),
        )
    except EmbeddingError:
        pass  # the report is written; the rows after it are not
    finally:
        state.finished[key] = world.now_ms


@dataclass(frozen=True, slots=True)
class _Run:
    key: str
    session: str
    agent: str
    command: str
    workspace: str
    conversation: str
    at_ms: int


def _conversation(world: World, file: str) -> str | None:
    settings = world.settings.reflection
    found = _said_in(world, file, settings.message_count)
    return None if found is None else utf16_tail(found, settings.max_chars)


def _said_in(world: World, file: str, count: int) -> str | None:
    """The last messages of a session's file; of a file with none, those of its newest reset."""
    if not file:
        return None
    folder, _, name = file.rpartition("/")
    resets = [each for each, _ in world.files.listed(folder) if each.startswith(f"{name}.reset.")]
    for each in (name, *sorted(resets)[-1:]):
        text = world.files.read(f"{folder}/{each}")
        found = summarize_messages(messages_of(text.split("\n")), count) if text else None
        if found is not None:
            return found
    return None


def _session_file(
    world: World, file: str, session: str, agent: str, workspace: str, context: Mapping[str, Any]
) -> str:
    """The file of a session: as given, else looked for where sessions are kept; empty for none."""
    if file and ".reset." not in file:
        return file
    for folder in session_folders(file, agent, workspace, context):
        found = recovered(world.files.listed(folder), file.rpartition("/")[2], session)
        if found is not None:
            return f"{folder}/{found}"
    return file


def reflect_on(
    world: World, *, agent: str, session: str, key: str, conversation: str, workspace: str
) -> tuple[str, str, bool]:
    """Reflect on a conversation outside a session; (path of the report's file, the report, nobody wrote one)."""
    run = _Run(key, session, agent, "new", workspace, conversation, world.now_ms)
    return _reflect(world, Reflected(), run)


def _reflect(world: World, state: Reflected, run: _Run) -> tuple[str, str, bool]:
    settings = world.settings.reflection
    known = [signal for signal in state.errors.get(run.key, []) if world.now_ms - signal.at_ms <= ERRORS_MS]
    errors = known[-settings.error_entries :]
    report, fallback = _report(world, run, errors)
    hashes = tuple(error.hash for error in errors)
    path = _write_report(world, run, report, hashes)
    scope = world.write_scope(run.agent)
    if world.settings.learning is not None and world.settings.learning.enabled and not fallback:
        _learn(world, run, report, path)
    about = reflection_rows.ReflectionRun(
        run.at_ms, run.key, run.session, run.agent, run.command, scope, fallback, hashes, path
    )
    _store_mapped(world, run, about, report)
    if settings.store:
        _store_slices(world, run, about, report)
    daily = f"{run.workspace}/memory/{day(run.at_ms)}.md"
    known_text = world.files.read(daily)
    head = f"# {day(run.at_ms)}\n\n" if known_text is None else ""
    clock = datetime.fromtimestamp(run.at_ms / 1000, UTC)
    world.files.append(daily, f"{head}- [{clock:%H:%M:%S} UTC] Reflection generated: `{path}`\n")
    return path, report, fallback


def _report(world: World, run: _Run, errors: Sequence[ErrorSignal]) -> tuple[str, bool]:
    settings = world.settings.reflection
    hints = [f"{at}. [{e.tool}] {e.summary} (sig:{e.hash[:8]})" for at, e in enumerate(errors, 1)]
    provider, _, model = (settings.model or "").partition("/")
    request = {
        "session_key": f"temp:memory-reflection:{settings.agent or run.agent}",
        "error_hints": "\n".join(hints) or "- (none)",
        "conversation": run.conversation,
        "think_level": settings.think_level,
        "provider": provider if model else None,
        "model": model or settings.model,
    }
    retries = 0
    while True:
        world.records.append({"kind": "reflection", **request})
        try:
            if world.reflect is None:
                raise NoReplyError("nobody reflects here")
            report = trim(world.reflect(request))
            if report:
                return report, False
            error = "empty report"
        except NoReplyError as failed:
            error = str(failed)
        again, _ = reflection_retry(error, retries, 0)
        if not again:
            return FALLBACK, True
        retries += 1


def _write_report(world: World, run: _Run, report: str, hashes: Sequence[str]) -> str:
    when = datetime.fromtimestamp(run.at_ms / 1000, UTC)
    name = f"{when:%H%M%S}{run.at_ms % 1000:03d}-{file_token(run.agent, 'agent')}-{file_token(run.session, 'session')}"
    folder = f"memory/reflections/{day(run.at_ms)}"
    path = f"{folder}/{name}.md"
    number = 2
    while world.files.read(f"{run.workspace}/{path}") is not None:
        path = f"{folder}/{name}-{number}.md"
        number += 1
    head = (
        f"# Reflection: {when:%Y-%m-%d} {when:%H:%M:%S} UTC\n\n- Session Key: {run.key}\n- Session ID: {run.session}\n"
        f"- Command: {run.command}\n- Error Signatures: {', '.join(hashes) or '(none)'}\n"
    )
    world.files.write(f"{run.workspace}/{path}", f"{head}{report}\n")
    return str(PurePosixPath(path))


def _learn(world: World, run: _Run, report: str, path: str) -> None:
    for entry in reflection_text.governance(report):
        log_entry(
            world,
            run.workspace,
            kind="learning",
            summary=entry["summary"],
            details=entry.get("details", ""),
            action=entry.get("suggestedAction", ""),
            category="best_practice",
            area=entry.get("area", "config"),
            priority=entry.get("priority", "medium"),
            status=entry.get("status", "pending"),
            source=f"memory-lancedb-pro/reflection:{path}",
        )


def _store_mapped(world: World, run: _Run, about: reflection_rows.ReflectionRun, report: str) -> None:
    items: list[tuple[dict[str, Any], Any]] = []
    for item in reflection_text.mapped_items(report):
        vector = world.embed(item["text"])
        near = world.search(vector, 1, 0.1, [about.scope])
        if near and near[0].score > MAPPED_DUPLICATE:
            continue
        items.append((item, vector))
    proposals = [
        Proposal(
            reflection_rows.mapped_category(item["mappedKind"]),
            item["text"],
            f"## {item['heading']}",
            item["text"],
            "",
            "",
        )
        for item, _ in items
    ]
    call = ExtractionCall(run.key, run.agent, about.scope, [about.scope], run.conversation, ())
    gates = admit(
        world,
        call,
        proposals,
        [vector for _, vector in items],
        lane="reflection",
        marks={"provenance": PROVENANCE},
    )
    for (item, vector), proposal, gate in zip(items, proposals, gates, strict=True):
        if gate is not None and gate.rejected:
            continue
        metadata = reflection_rows.mapped_metadata(about, item, None)
        if gate is not None:
            metadata["admission_audit"] = gate.audit_text
        column = str(storage_of(proposal.category))
        world.add(
            text=item["text"],
            vector=vector,
            category=column,
            scope=about.scope,
            importance=0.85 if item["mappedKind"] == "decision" else 0.8,
            metadata=metadata,
        )
        world.mirror(
            item["text"], column, about.scope, agent=run.agent, source=f"reflection:{item['heading']}"
        )


def _store_slices(world: World, run: _Run, about: reflection_rows.ReflectionRun, report: str) -> None:
    lines = reflection_text.slices(report, injectable=True)
    for payload in reflection_rows.store_payloads(about, lines, legacy=world.settings.reflection.legacy):
        vector = world.embed(payload.text)
        if payload.kind == "combined-legacy":
            near = world.search(vector, 1, 0.1, [about.scope])
            if near and near[0].score > LEGACY_DUPLICATE:
                continue
        world.add(
            text=payload.text,
            vector=vector,
            category="reflection",
            scope=about.scope,
            importance=payload.importance,
            metadata=payload.metadata,
        )
        if payload.kind.startswith("item-"):
            kind = payload.kind.removeprefix("item-")
            world.mirror(
                payload.text,
                "reflection",
                about.scope,
                agent=run.agent,
                source=f"reflection-slice:{kind}",
            )


# ---------------------------------------------------------------- session summary


def before_reset(
    world: World, state: Reflected, event: Mapping[str, Any], context: Mapping[str, Any]
) -> None:
    """Keep a summary of the session that /new ends, where the plugin is set to."""
    if world.settings.strategy != "systemSessionMemory" or event.get("reason") != "new":
        return
    key, session = str(context.get("sessionKey") or ""), str(context.get("sessionId") or "unknown")
    agent = context.get("agentId") or agent_of_session(key)
    if not isinstance(agent, str) or invalid_agent_id(agent, world.declared):
        return
    messages = event.get("messages")
    count = world.settings.session_messages
    said = summarize_messages(messages, count) if isinstance(messages, list) else None
    if said is None:
        said = _said_in(world, str(event.get("sessionFile") or ""), count)
    if said is None:
        return
    scope = world.write_scope(agent)
    mark = f"{scope}|{key}|{session}"
    if mark in state.summaries and world.now_ms - state.summaries[mark] < SUMMARY_MS:
        return
    state.summaries[mark] = world.now_ms
    when = datetime.fromtimestamp(world.now_ms / 1000, UTC)
    text = source_line(f"{when:%Y-%m-%d %H:%M:%S} UTC", source_from_session_key(key), said)
    date = day(world.now_ms)
    patch = {
        "l0_abstract": f"Session summary for {date}",
        "l1_overview": f"- Session summary saved for {session}",
        "l2_content": text,
        "memory_category": "patterns",
        "tier": "peripheral",
        "access_count": 0,
        "confidence": 0.5,
        "last_accessed_at": world.now_ms,
        "valid_from": world.now_ms,
        "state": "confirmed",
        "source": "legacy",
        "memory_layer": "working",
        "injected_count": 0,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        "type": "session-summary",
        "sessionKey": key,
        "sessionId": session,
        "date": date,
        "agentId": agent,
        "scope": scope,
    }
    try:
        vector = world.embed(text)
    except EmbeddingError:
        return
    world.add(
        text=text,
        vector=vector,
        category="fact",
        scope=scope,
        importance=0.5,
        metadata=patch,
    )
