"""`memory_update`: change a memory in two steps, a preview and its confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from memtui.engine import MemtuiError, changes, clean
from memtui.mcp.door import Door, ToolError, allowed_by, shown, untrusted, usage
from memtui.mcp.fence import fenced
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool

if TYPE_CHECKING:
    from memtui.engine import Memory


SHOWN = ("text", "category", "importance", "confidence")
"""The fields that a preview and an answer show."""


class Update(Arguments):
    """What changes; without `confirm` only a preview is made."""

    id: Annotated[str, Field(min_length=1, description="the memory's id")]
    text: Annotated[str | None, Field(min_length=1, max_length=20_000, description="the new statement")] = (
        None
    )
    category: Literal["preference", "fact", "decision", "entity", "event", "other"] | None = None
    importance: Annotated[float | None, Field(ge=0, le=1)] = None
    confirm: Annotated[str | None, Field(description="the token of the preview, to apply it")] = None


class Updated(Answer):
    """The preview, or what was done, with the id that lives on."""

    action: Literal["preview", "updated", "superseded"]
    id: str
    confirm: str | None = None
    before: Annotated[dict[str, Any], Field(default_factory=dict)]
    after: Annotated[dict[str, Any], Field(default_factory=dict)]


def run(door: Door, given: Update) -> Reply:
    """Plan; apply with a token."""
    from memtui.engine.capture import refusal_of

    memory = door.own(door.memory(given.id))
    wanted = {
        name: value
        for name in ("text", "category", "importance")
        if (value := getattr(given, name)) is not None
    }
    if not wanted:
        raise ToolError(
            "confirm: repeat the arguments of the preview beside it."
            if given.confirm is not None
            else "text, category or importance: name one or more to change."
        )
    if memory.superseded_by is not None and door.readable([memory.superseded_by]):
        raise ToolError(f"id: this memory was superseded by {memory.superseded_by}. Update that one.")
    alike = [name for name, value in wanted.items() if value == _fields_of(memory)[name]]
    wanted = {name: value for name, value in wanted.items() if name not in alike}
    if not wanted:
        raise ToolError(f"{', '.join(alike)}: the memory says so already. Nothing would change.")
    refusal = refusal_of(" ".join(given.text.split())) if given.text else None
    if refusal is not None:
        raise ToolError(f"text: {refusal[1]}.")
    arguments = given.model_dump()
    with door.lock:
        engine = door.engine
        asks = "update" not in door.allowed and given.confirm is None
        try:
            with engine.sending_nothing() if asks else nullcontext():
                planned = changes.plan_edit(engine, [memory.id], wanted)
                unsent = engine.withheld if asks else ""
        except MemtuiError as error:
            raise usage(error) from None
        if planned.conflicts:
            raise ToolError(f"id: {planned.conflicts[0].sentence}")
        before: dict[str, Any] = {}
        after: dict[str, Any] = {}
        for change in planned.changes:
            if change.op == "edit" and change.id == memory.id:
                before, after = told(change.before), told(change.after)
        if "text" in wanted:  # where a new version takes its place, the old row keeps its text
            before.setdefault("text", fenced(shown(memory)))
            after.setdefault("text", fenced(clean(str(wanted["text"]))))
        if asks:
            token = door.token("memory_update", arguments)
            data = Updated(action="preview", id=memory.id, confirm=token, before=before, after=after)
            lines = [*asked_lines(memory, wanted), *([f"If it is done, {unsent}"] if unsent else [])]
            sent = f"If it is done, {unsent}. " if unsent else ""
            note = f"Nothing was changed. {sent}To apply it, repeat this call with confirm={token}"
            return Reply(
                data,
                untrusted([clean(line) for line in lines], note),
                notes=(note,),
                asks=("An agent wants to change a memory.", *lines),
                confirm=token,
            )
        if given.confirm is not None and "update" not in door.allowed:
            door.take_token(given.confirm, "memory_update", arguments)
        else:
            planned = replace(planned, allowed_by=allowed_by("update"))
        try:
            changes.apply(engine, planned)
            engine.refresh()
        except MemtuiError as error:
            raise usage(error) from None
    made = next((change.id for change in planned.changes if change.op == "add"), None)
    done = Updated(
        action="superseded" if made else "updated", id=made or memory.id, before=before, after=after
    )
    note = f"{done.action}, the memory is now {done.id}"
    return Reply(done, f"untrusted update answer: {note}", notes=(note,))


def told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a memory as they go out, texts in their fence.

    What the store keeps beside them is left out: the id and the time of a new version are only known once it is made.
    """
    return {
        name: fenced(clean(value)) if isinstance(value, str) and any(map(str.isspace, value)) else value
        for name, value in fields.items()
        if name in SHOWN
    }


def asked_lines(memory: Memory, wanted: Mapping[str, Any]) -> list[str]:
    """What a person is asked to agree to: the memory, and each field that changes."""
    was = _fields_of(memory)
    about = [] if "text" in wanted else [f"It says: {memory.title}"]
    return [*about, *(f"{name}: {was[name]} becomes {value}" for name, value in wanted.items())]


def _fields_of(memory: Memory) -> dict[str, Any]:
    """What the tool can change, as it is."""
    return {"text": memory.raw_text, "category": memory.category, "importance": memory.importance}


TOOL = Tool(
    "memory_update",
    "Update a memory",
    "Call this when a stored memory is wrong or out of date. First a preview; repeat with its confirm token.",
    Update,
    Updated,
    run,
    writes=True,
    destructive=True,
    order=7,
)
