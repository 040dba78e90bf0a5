"""Asking the person behind a client before a memory is changed or forgotten: both ways of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import is_version_at_least

from memtui.engine import clean, mask

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

KEY = "confirm"
"""The question's name among those of a call, and its one field."""

IN_ANSWERS = "2026-07-28"
"""The protocol since which a question is the answer of a call, which is then repeated; before it is a request back."""

LONGEST = 400
"""Characters of one line of a question."""


def may_ask(context: ServerRequestContext[Any]) -> bool:
    """Whether the person behind this client can be asked: it said so, and there is a way back to it."""
    declared = context.session.client_capabilities
    how = declared.elicitation if declared is not None else None
    if how is None or (how.form is None and how.url is not None):
        return False
    return asks_by_answer(context) or context.session.can_send_request


def asks_by_answer(context: ServerRequestContext[Any]) -> bool:
    """Whether a question goes out as the answer of the call itself."""
    return is_version_at_least(context.protocol_version, IN_ANSWERS)


def question(lines: tuple[str, ...]) -> types.ElicitRequest:
    """What the person sees: what would change, in words of the store without secrets, and a box to tick."""
    told = [mask(clean(line))[0] for line in lines]
    message = "\n".join(line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in told)
    field = {
        "type": "boolean",
        "title": "Do it",
        "description": "It stands in the journal and can be undone.",
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message=message,
            requested_schema={"type": "object", "properties": {KEY: field}, "required": [KEY]},
        )
    )


def by_answer(lines: tuple[str, ...], token: str) -> types.InputRequiredResult:
    """The question as the answer of a call; its repetition brings `token` back, which is good for this call alone."""
    return types.InputRequiredResult(input_requests={KEY: question(lines)}, request_state=token)


async def by_request(context: ServerRequestContext[Any], lines: tuple[str, ...]) -> types.ElicitResult | None:
    """The answer of the person to a request back; None where the client cannot ask after all."""
    try:
        return await context.session.send_request(
            question(lines),
            types.ElicitResult,
            metadata=ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (MCPError, ValueError):  # it refuses the request, or answers with what is no answer
        return None


def refusal_in(answer: Any) -> str:
    """Why an answer is no consent, in words for the model; empty where the person said yes."""
    if not isinstance(answer, types.ElicitResult):
        return "confirm: no person answered. Nothing was changed."
    if answer.action == "accept":
        said = (answer.content or {}).get(KEY)
        return "" if said is True else "The person said no. Nothing was changed. Ask what they want instead."
    if answer.action == "decline":
        return "The person said no. Nothing was changed. Ask what they want instead."
    return "The person closed the question without an answer. Nothing was changed. Ask them before you try again."
