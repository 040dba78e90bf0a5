"""The plugin's jobs as changes to agree to: compaction, dreaming, reflection on a transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture import job_faults
from memtui.engine.capture.chat import Chat, NoReplyError
from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.pipeline import folded
from memtui.engine.capture.recipes.base import CaptureContext
from memtui.engine.capture.recipes.pro import jobs
from memtui.engine.capture.recipes.pro.reflection import reflect_on
from memtui.engine.capture.recipes.pro.settings import (
    CompactionSettings,
    ProSettings,
    dreaming_config,
    plugin_config,
)
from memtui.engine.capture.recipes.pro.world import Files, World
from memtui.engine.capture.stages.compaction import clusters
from memtui.engine.capture.stages.session_text import summarize_messages
from memtui.engine.capture.stages.transcript import utf16_tail
from memtui.engine.capture.trace import Message
from memtui.engine.changes.change_set import ChangeSet
from memtui.engine.core.errors import EmbeddingError, MemtuiError, RefusedError, UsageError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """What a job would write: rows as one change set, files beside the store, and what it counted."""

    change_set: ChangeSet
    counts: Mapping[str, Any]
    files: Files
    report: str = ""
    """Of a reflection: what the model wrote."""


def world_of(context: CaptureContext, settings: ProSettings, folder: Path, reflect: Any = None) -> World:
    """The plugin's surroundings over an opened store. Raises RefusedError for a table of another program."""
    store = context.draft.store
    if not store.dialect.reads_metadata or store.dialect.columns.scope is None:
        raise RefusedError(
            f"{store.dialect.title} has no tiers, states and scopes for this job.",
            fix="It works on tables of memory-lancedb-pro and of memtui.",
        )
    return World(
        settings=settings,
        draft=context.draft,
        embed_texts=context.embed,
        chat=context.chat,
        new_id=context.new_id,
        policy=context.policy if isinstance(context.policy, ScopePolicy) else ScopePolicy(),
        files=Files(folder),
        now_ms=context.now_ms,
        reflect=reflect,
    )


def plan_compaction(
    context: CaptureContext, config: Mapping[str, Any] | None = None, *, sound: bool = True
) -> PlannedJob:
    """Plan to merge old memories that say nearly the same.

    `sound` leaves out what the plugin takes along by mistake: rows that are no longer valid, archived ones, rows made
    from files or reflections; and it never merges across scopes or categories. Raises EmbeddingError where there are
    groups and none of them gets a vector.
    """
    given = plugin_config({"memoryCompaction": {**(config or {}), "enabled": True}}, {})
    settings = given.compaction or CompactionSettings()
    world = world_of(context, given, Path())
    failed: list[EmbeddingError] = []
    groups = jobs.compact(world, settings, force=True, groups=_sound_groups if sound else None, failed=failed)
    if failed and not groups:
        raise failed[0]
    warnings = [note for group in groups for note in job_faults.of_cluster(group, context.now_ms)]
    if failed:
        stay = counted(len(failed), "group stays as it is", "groups stay as they are")
        warnings.append(f"{stay}: {failed[0].message}")
    merged = sum(len(group) for group in groups)
    made = [write.row.id for write in world.draft.writes if write.op == "add"]  # one of each group, in order
    decisions = [{fresh, *(row.id for row in group)} for fresh, group in zip(made, groups, strict=True)]
    return _planned(
        world,
        "compact",
        f"{counted(len(groups), 'memory', 'memories')} compacted: {merged} merged",
        {"groups": len(groups), "merged": merged},
        tuple(dict.fromkeys(warnings)),
        decisions,
    )


def _sound_groups(
    rows: Sequence[StoredRow], settings: CompactionSettings, now_ms: int
) -> list[list[StoredRow]]:
    parts: dict[tuple[str, str], list[StoredRow]] = {}
    for row in rows:
        meta = row.meta(now_ms)
        usable = meta.active(now_ms) and not meta.expired(now_ms) and meta.state == "confirmed"
        if usable and meta.memory_layer not in ("archive", "reflection") and row.category != "reflection":
            parts.setdefault((str(row.scope), meta.memory_category), []).append(row)
    return [
        group
        for part in parts.values()
        for group in clusters(part, settings.similarity, settings.min_cluster)
    ]


def plan_dream(context: CaptureContext, config: Mapping[str, Any] | None = None) -> PlannedJob:
    """Plan one sweep of dreaming: duplicates archived, tiers moved, memories promoted, a row of patterns."""
    settings = replace(dreaming_config(config or {}), enabled=True)
    world = world_of(context, plugin_config({}, {}), Path())
    before = {row.id: row for row in world.draft.rows()}
    counts = jobs.dream(world, settings)
    phases = counts["phases"]
    changed = sum(phase["changed"] for phase in phases.values())
    return _planned(
        world,
        "dream",
        f"{counted(changed, 'memory', 'memories')} changed by dreaming",
        phases,
        (
            *("{phase} in {scope}: {message}".format(**error) for error in counts["errors"]),
            *job_faults.of_dream(world, settings.light, before),
        ),
    )


def plan_reflection(
    context: CaptureContext,
    messages: Sequence[Message],
    folder: Path,
    *,
    agent: str = "main",
    session: str = "",
    config: Mapping[str, Any] | None = None,
) -> PlannedJob:
    """Plan a reflection on a conversation: its rows, and its files below `folder`, the agent's workspace.

    Raises UsageError where there is nothing to reflect on or no model, MemtuiError when the model gives no report.
    """
    block = {**(config or {}), "sessionStrategy": "memoryReflection"}
    settings = plugin_config(block, {})
    said = summarize_messages([message.as_json() for message in messages], settings.reflection.message_count)
    if said is None:
        raise UsageError("There is nothing in it to reflect on.", fix="Name a conversation.")
    if context.chat is None:
        raise UsageError(
            "A reflection is written by a language model.", fix="Name a model first (--llm in the shell)."
        )
    failures: list[str] = []
    world = world_of(context, settings, folder, reflector(context.chat, failures))
    text, report, fallback = reflect_on(
        world,
        agent=agent,
        session=session or "unknown",
        key=f"agent:{agent}:{session or 'unknown'}",
        conversation=utf16_tail(said, settings.reflection.max_chars),
        workspace="<root>",
    )
    if fallback:
        raise MemtuiError(
            f"The model gave no reflection: {failures[-1].rstrip('.') if failures else 'it said nothing'}.",
            fix="Try again, or name another model; nothing was written.",
        )
    rows = len(world.draft.writes)
    return replace(
        _planned(
            world,
            "reflect",
            f"{counted(rows, 'memory', 'memories')} of a reflection",
            {"rows": rows, "file": text},
            tuple(job_faults.of_reflection(world, report)),
        ),
        report=report,
    )


def reflector(chat: Chat, failures: list[str] | None = None) -> Callable[[Mapping[str, Any]], str]:
    """What asks a model for a reflection: the conversation and the errors of a request in, the report out.

    Why it failed is added to `failures`; it raises NoReplyError then.
    """

    def reflect(request: Mapping[str, Any]) -> str:
        parts = {key: request[key] for key in ("conversation", "error_hints")}
        try:
            return chat("reflect", parts).text
        except NoReplyError as error:
            if failures is not None:
                failures.append(str(error))
            raise

    return reflect


def _planned(
    world: World,
    action: str,
    title: str,
    counts: Mapping[str, Any],
    warnings: tuple[str, ...],
    decisions: Sequence[set[str]] = (),
) -> PlannedJob:
    store = world.draft.store
    changes = folded(world.draft.writes, store, decisions)
    change_set = ChangeSet(action, title, changes, store.version, warnings=warnings)
    return PlannedJob(change_set, counts, world.files)
