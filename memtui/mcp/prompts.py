"""The server's prompts and resources: what a person picks in a host, beside the tools that a model calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple

import mcp_types as types
from mcp import MCPError

from memtui.engine import MemtuiError, mask
from memtui.mcp.door import Door, ToolError, shown, untrusted
from memtui.mcp.tools.health import Health
from memtui.mcp.tools.health import run as run_health

MEMORIES_FOR = "memories_for"

PREFIX = "memory://"

ABOUT = "memtui://"

_ABOUT = {
    "stats": "How many memories you may read",
    "scopes": "The scopes that you read and write",
    "health": "What is wrong with the store",
}

PAGE = 500

_ARGUMENT = {"question": "what was asked", "scope": "which scope, for example agent:main"}

_OPTIONS = {
    "session": "the session that asks: what its last prompts got is held back",
    "usage": "count: count the use of each memory in the store, for a session",
}
"""Of `memories_for`; both may be left out, and what writes is for those who may."""


class _Prompt(NamedTuple):
    """A prompt; in its text `{search}` stands for the client's own tool that searches."""

    argument: str
    description: str
    text: str = ""
    needs: tuple[str, ...] = ()
    """The tools that its text names: a client without one of them is not offered it."""


_SEARCHES = ("memory_search", "memory_recall")

_PROMPTS: Mapping[str, _Prompt] = {
    MEMORIES_FOR: _Prompt("question", "The memories for a question, formatted as the injected block"),
    "weekly_review": _Prompt(
        "",
        "Look through what was learnt lately",
        "List the newest memories with memory_list. Name those that are wrong, double or out of date, say why, and "
        "ask me before you change any of them.",
        ("memory_list",),
    ),
    "why_did_you_say_that": _Prompt(
        "question",
        "Which memories an answer came from",
        "Search the memory with {search} for the question below. Tell me which memories the answer rests on, "
        "with their ids, and what else was found.\n\nQuestion: {question}",
    ),
    "clean_up": _Prompt(
        "scope",
        "Find what could go from a scope",
        "List the memories of the scope below with memory_list. Propose which to update or to forget, with the reason "
        "for each, and wait for my yes.\n\nScope: {scope}",
        ("memory_list", "memory_update", "memory_forget"),
    ),
}


def prompts(door: Door) -> list[types.Prompt]:
    """What can be picked: the prompts whose tools this client has."""
    return [
        types.Prompt(name=name, description=made.description, arguments=_arguments(door, name, made.argument))
        for name, made in _prompts_for(door).items()
    ]


def _prompts_for(door: Door) -> Mapping[str, _Prompt]:
    offered = door.offered
    return {name: made for name, made in _PROMPTS.items() if offered.keys() >= set(made.needs)}


def _arguments(door: Door, name: str, argument: str) -> list[types.PromptArgument]:
    needed = {argument: _ARGUMENT[argument]} if argument else {}
    optional = _OPTIONS if name == MEMORIES_FOR else {}
    optional = {option: words for option, words in optional.items() if option != "usage" or door.writable}
    return [
        types.PromptArgument(name=each, description=words, required=each in needed)
        for each, words in (*needed.items(), *optional.items())
    ]


def prompt(door: Door, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """One prompt with its argument filled in; `memories_for` is the block of memories itself.

    Raises MCPError for an unknown name, a missing argument, and a store that cannot answer.
    """
    known_prompts = _prompts_for(door)
    if name not in known_prompts:
        raise MCPError(
            code=-32602, message=f"There is no prompt {mask(name)[0][:64]!r}: {', '.join(known_prompts)}."
        )
    argument, description, text, _ = known_prompts[name]
    known = [each.name for each in _arguments(door, name, argument)]
    if unknown := [item for item in given if item not in known]:
        raise MCPError(
            code=-32602,
            message=f"{mask(unknown[0])[0][:64]}: {name} takes {', '.join(known) or 'no arguments'}.",
        )
    if argument and not given.get(argument, "").strip():
        raise MCPError(code=-32602, message=f"{argument}: say {_ARGUMENT[argument]}.")
    text = text.replace("{search}", door.named_tools(*_SEARCHES))
    filled = text.replace(f"{{{argument}}}", given[argument]) if argument else text
    if name == MEMORIES_FOR:
        filled = _block(door, given[argument], given.get("session", ""), given.get("usage", ""))
    content = types.TextContent(type="text", text=filled)
    return types.GetPromptResult(
        description=description, messages=[types.PromptMessage(role="user", content=content)]
    )


def _block(door: Door, question: str, session: str, usage: str) -> str:
    """The block for a question, written into the journal of calls; in words why there is none."""
    began = monotonic()
    try:
        if door.paused:
            raise ToolError("A person paused this client.")
        if usage not in ("", "count") or (usage and not session):
            raise ToolError("usage: say count, and name the session; or leave it out.")
        text, ids, why, failed = door.block(question, session, count=usage == "count")
    except (ToolError, MemtuiError) as error:
        why = mask(str(error))[0]
        door.record(MEMORIES_FOR, {"query": question}, {}, began, why)
        raise MCPError(code=-32603, message=why) from None
    outcome = "injected" if text else "failed" if failed else "silent"
    told = {"action": outcome, "results": [{"id": memory_id} for memory_id in ids]}
    door.record(MEMORIES_FOR, {"query": question}, told, began)
    if text:
        return text
    return (
        f"The memories could not be searched: {why}"
        if failed
        else f"No memory belongs to this question: {why}"
    )


def template() -> types.ResourceTemplate:
    """Each memory by its id."""
    return types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=PREFIX + "{id}",
        description="One memory by its id, as untrusted data.",
        mime_type="text/plain",
    )


def resources() -> list[types.Resource]:
    """What is known of the store as a whole, as far as the client may read it."""
    return [
        types.Resource(name=name, title=title, uri=f"{ABOUT}{name}", mime_type="application/json")
        for name, title in _ABOUT.items()
    ]


def _about(door: Door, name: str) -> str:
    """The store in numbers, its scopes with what is in each, or what is wrong with it, as JSON."""
    if name == "health":
        return run_health(door, Health()).data.model_dump_json()
    engine, reach = door.engine, door.reach
    scopes: dict[str, int] = {}
    view = door.listed()
    for start in range(0, view.total, PAGE):
        for memory in engine.page(view, start, PAGE):
            if reach.may_read(memory):
                scope = reach.scope_of(memory) or ""
                scopes[scope] = scopes.get(scope, 0) + 1
    if name == "scopes":
        return json.dumps({"reads": reach.scopes, "writes": reach.home, "memories": scopes})
    info = engine.info
    told = {"memories": sum(scopes.values()), "program": info.dialect_title}
    if not reach.limited:  # it counts what others write, too
        told["version"] = info.version
    return json.dumps(told)


def resource(door: Door, uri: str) -> types.ReadResourceResult:
    """One memory, or one of `resources`.

    Raises MCPError for an address that is none, and for a memory that the client may not read.
    """
    about = uri.removeprefix(ABOUT)
    if uri.startswith(ABOUT) and about in _ABOUT:
        told = types.TextResourceContents(uri=uri, mime_type="application/json", text=_about(door, about))
        return types.ReadResourceResult(contents=[told])
    if not uri.startswith(PREFIX):
        raise MCPError(code=-32602, message=f"uri: write {PREFIX} and the id of a memory.")
    try:
        memory = door.memory(uri.removeprefix(PREFIX), "uri")
    except ToolError as error:
        raise MCPError(code=-32602, message=mask(str(error))[0]) from None
    line = json.dumps(
        {"id": memory.id, "scope": door.scope_of(memory), "text": shown(memory)}, ensure_ascii=False
    )
    content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=untrusted([line]))
    return types.ReadResourceResult(contents=[content])
