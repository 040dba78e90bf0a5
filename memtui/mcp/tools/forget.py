"""`memory_forget`: archive or delete a memory in two steps, a preview and its confirmation."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from memtui.engine import MemtuiError, changes, clean
from memtui.mcp.door import Door, ToolError, allowed_by, untrusted, usage
from memtui.mcp.fence import FencedText
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class Forget(Arguments):
    """Which memory; without `confirm` only a preview is made."""

    id: Annotated[str, Field(min_length=1, description="the memory's id")]
    delete: Annotated[bool, Field(description="delete it; without this it is archived")] = False
    confirm: Annotated[str | None, Field(description="the token of the preview, to apply it")] = None


class Forgotten(Answer):
    """The preview, or what was done."""

    action: Literal["preview", "archived", "deleted"]
    id: str
    confirm: str | None = None
    memories: int = 1
    texts: Annotated[list[FencedText], Field(default_factory=list)]
    """Of a preview: what would be forgotten, the first of it."""


MOST_ASKED = 10
"""Memories that a question to a person lists."""


def run(door: Door, given: Forget) -> Reply:
    """Plan; apply with a token."""
    memory = door.own(door.memory(given.id))
    arguments = given.model_dump()
    with door.lock:
        engine = door.engine
        try:
            hard = (
                given.delete or not engine.store.dialect.reads_metadata
            )  # else there is no state to archive by
            if not hard and memory.state == "archived":
                raise ToolError("id: this memory is archived already. To delete it, add delete=true.")
            planned = changes.plan_forget(engine, [memory.id], hard=hard)
        except MemtuiError as error:
            raise usage(error) from None
        if planned.conflicts:
            raise ToolError(f"id: {planned.conflicts[0].sentence}")
        touched = engine.memories([change.id for change in planned.changes if change.op != "add"])
        foreign = [each for each in touched.values() if not door.reach.may_write(each)]
        if foreign:
            raise ToolError(
                f"id: {len(foreign)} of its versions are not yours to forget. A person can do it."
            )
        count = sum(change.rows for change in planned.changes)
        deletes = any(change.op == "delete" for change in planned.changes)
        if "forget" in door.allowed:
            planned = replace(planned, allowed_by=allowed_by("forget"))
        elif given.confirm is None:
            token = door.token("memory_forget", arguments)
            verb = "deleted" if deletes else "archived"
            note = f"{count} would be {verb}; nothing was changed. To apply it, repeat this call with confirm={token}"
            titles = [each.title for each in touched.values()] or [memory.title]
            data = Forgotten(
                action="preview",
                id=memory.id,
                confirm=token,
                memories=count,
                texts=[clean(title) for title in titles[:MOST_ASKED]],
            )
            verb = "delete" if deletes else "archive"
            return Reply(
                data,
                untrusted(titles, note),
                asks=(
                    f"An agent wants to {verb} {'a memory' if count == 1 else f'{count} memories'}.",
                    *titles[:MOST_ASKED],
                ),
                notes=(note,),
                confirm=token,
            )
        else:
            door.take_token(given.confirm, "memory_forget", arguments)
        try:
            changes.apply(engine, planned, confirmed=True)
            engine.refresh()
        except MemtuiError as error:
            raise usage(error) from None
    done = Forgotten(action="deleted" if deletes else "archived", id=memory.id, memories=count, texts=[])
    note = f"{done.action} {count}; a person can undo it"
    return Reply(done, f"untrusted forget answer: {note}", notes=(note,))


TOOL = Tool(
    "memory_forget",
    "Forget a memory",
    "Call this when the user asks to forget something. First a preview; repeat with its confirm token.",
    Forget,
    Forgotten,
    run,
    writes=True,
    destructive=True,
    order=8,
)
