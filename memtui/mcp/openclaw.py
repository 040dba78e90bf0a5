"""The plugin's own tools: its names, its arguments, its answers word for word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import create_model

from memtui.engine.access import DEFAULT_AGENT, ScopePolicy
from memtui.mcp.door import Door
from memtui.mcp.elsewhere import OF_ANY_STORE, call_elsewhere
from memtui.mcp.fence import fenced_texts
from memtui.mcp.tools.base import Arguments, Details, Reply, Tool

Number = int | float

_TEXT, _NUMBER, _FLAG = (str | None, None), (Number | None, None), (bool | None, None)

_NEEDED = (str, ...)

_BY_QUERY = {"memoryId": _TEXT, "query": _TEXT}


Kind = Literal["read", "write", "destroy"]

_ALWAYS: Mapping[str, tuple[str, str, Kind, Mapping[str, Any]]] = {
    "memory_recall": (
        "Recall memories",
        "Call this before answering when earlier conversations may matter.",
        "read",
        {
            "query": _NEEDED,
            "limit": _NUMBER,
            "includeFullText": _FLAG,
            "maxCharsPerItem": _NUMBER,
            "scope": _TEXT,
            "category": _TEXT,
        },
    ),
    "memory_store": (
        "Store a memory",
        "Call this when the user states a lasting preference, fact or decision. Never store secrets.",
        "write",
        {"text": _NEEDED, "importance": _NUMBER, "category": _TEXT, "scope": _TEXT, "force": _FLAG},
    ),
    "memory_update": (
        "Update a memory",
        "Call this when a stored memory is no longer right: new text, importance or category.",
        "destroy",
        {"memoryId": _NEEDED, "text": _TEXT, "importance": _NUMBER, "category": _TEXT},
    ),
    "memory_forget": (
        "Forget a memory",
        "Call this when the user wants something forgotten: an id, or a query that one memory answers well.",
        "destroy",
        {**_BY_QUERY, "scope": _TEXT},
    ),
    "self_improvement_log": (
        "Log a learning",
        "Call this after a mistake or a correction, so that it is not repeated.",
        "write",
        {
            "type": (Literal["learning", "error"], ...),
            "summary": _NEEDED,
            "details": _TEXT,
            "suggestedAction": _TEXT,
            "category": _TEXT,
            "area": _TEXT,
            "priority": _TEXT,
        },
    ),
}

_MANAGEMENT: Mapping[str, tuple[str, str, Kind, Mapping[str, Any]]] = {
    "memory_list": (
        "List memories",
        "Call this to look through the newest memories.",
        "read",
        {"limit": _NUMBER, "offset": _NUMBER, "scope": _TEXT, "category": _TEXT},
    ),
    "memory_stats": (
        "Count memories",
        "Call this to see how many memories there are by scope and category.",
        "read",
        {"scope": _TEXT},
    ),
    "memory_fact_query": (
        "Ask what was true",
        "Call this to learn what held at a time, and what it was before.",
        "read",
        {
            "query": _TEXT,
            "factKey": _TEXT,
            "at": _TEXT,
            "includeHistory": _FLAG,
            "limit": _NUMBER,
            "scope": _TEXT,
        },
    ),
    "memory_explain_rank": (
        "Explain a ranking",
        "Call this to see why memories rank as they do for a question.",
        "read",
        {"query": _NEEDED, "limit": _NUMBER},
    ),
    "memory_promote": (
        "Promote a memory",
        "Call this when a memory has proved right: it counts, and lasts.",
        "write",
        {**_BY_QUERY, "state": _TEXT, "layer": _TEXT},
    ),
    "memory_archive": (
        "Archive a memory",
        "Call this to put a memory away that should no longer come up.",
        "destroy",
        {**_BY_QUERY, "reason": _TEXT},
    ),
    "memory_compact": (
        "Compact duplicates",
        "Call this to archive memories that say the same; a dry run unless dryRun is false.",
        "destroy",
        {"dryRun": _FLAG, "limit": _NUMBER, "scope": _TEXT},
    ),
    "memory_reflection_resolve": (
        "Resolve a reflection",
        "Call this when a line of a reflection is done with.",
        "write",
        {**_BY_QUERY, "note": _TEXT, "limit": _NUMBER, "dryRun": _FLAG},
    ),
    "self_improvement_review": (
        "Review learnings",
        "Call this to see what waits in the learning files.",
        "read",
        {},
    ),
    "self_improvement_extract_skill": (
        "Extract a skill",
        "Call this to make a skill's file of a learning.",
        "write",
        {"learningId": _NEEDED, "skillName": _NEEDED, "sourceFile": _TEXT, "outputDir": _TEXT},
    ),
}


def openclaw_tools(
    workspace: Path,
    config: Mapping[str, Any],
    agents: Sequence[Mapping[str, Any]] = (),
    columns: Collection[str] | None = None,
) -> tuple[Tool, ...]:
    """The tools in the plugin's order; its block can leave the management tools out (enableManagementTools).

    `agents` are the host's, with `id` and `workspace`. `columns` are those of the store's table, where they are known
    already: a table of another program has no tiers, states and scopes, and gets the tools that need none.
    """
    shown = {**_ALWAYS, **({} if config.get("enableManagementTools") is False else _MANAGEMENT)}
    if columns is not None and not {"metadata", "scope"} <= set(columns):
        shown = {name: told for name, told in shown.items() if name in OF_ANY_STORE}
    return tuple(
        Tool(
            name,
            title,
            description,
            create_model(name, __base__=Arguments, **dict(arguments)),
            Details,
            partial(_call, name, kind, workspace, config, agents),
            writes=kind != "read",
            destructive=kind == "destroy",
            idempotent=kind == "read",
        )
        for name, (title, description, kind, arguments) in shown.items()
    )


def _call(
    name: str,
    kind: Kind,
    workspace: Path,
    config: Mapping[str, Any],
    agents: Sequence[Mapping[str, Any]],
    door: Door,
    given: Arguments,
) -> Reply:
    """Call the plugin's tool for the door's agent; what it changed is one entry of the journal."""
    from memtui.engine.capture import Live

    dialect = door.engine.store.dialect
    if not dialect.reads_metadata or dialect.columns.scope is None:
        return call_elsewhere(door, name, given.model_dump(exclude_unset=True, exclude_none=True))
    agent, granted = door.agent or DEFAULT_AGENT, None
    if door.reads is not None or door.writes is not None:  # a person's grant stands above the plugin's rules
        agent, reach = door.client.replace(":", "-"), door.reach
        granted = ScopePolicy.granting(agent, (reach.home,) if kind != "read" else reach.scopes or ())
    with door.lock:
        live = Live(door.engine, config, workspace, agents=agents, granted=granted)
        answer = live.call(name, agent, given.model_dump(exclude_unset=True, exclude_none=True))
    told = dict(answer.details)  # the plugin's own keys stay as they are
    if texts := fenced_texts(told):
        told.setdefault("fenced", texts)
    return Reply(Details(**told), answer.text)
