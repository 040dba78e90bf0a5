"""A model on this machine that hosts talk to: it calls one tool once, says a word, and keeps all it was sent.

Three protocols by path: Anthropic's messages, OpenAI's responses and chat completions, each as a stream of events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Event = tuple[str, dict[str, Any]]

MOST_WAITS = 20


def _names(body: dict[str, Any]) -> Iterator[str]:
    """The names of the tools that a host offers, also of those in a namespace."""
    for tool in body.get("tools") or ():
        yield str(tool.get("name") or tool.get("function", {}).get("name") or "")
        for inner in tool.get("tools") or ():
            yield str(inner.get("name", ""))


class LoopbackModel:
    """Where it listens, what it calls, and the bodies that it was sent."""

    def __init__(self, tool: str, given: dict[str, Any]) -> None:
        self.tool, self.given = tool, given
        self.seen: list[dict[str, Any]] = []
        self.port = 0
        self.called, self.waited = False, 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call_in(self, body: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """(name, arguments) of what is called now; None where the tool was called, or a host does not offer it.

        A host whose servers are still on their way, or whose tools are found by a search, is asked for them first.
        """
        if self.called:
            return None
        names = list(_names(body))
        wanted = next((name for name in names if name.endswith(self.tool)), "")
        if wanted:
            self.called = True
            return wanted, self.given
        self.waited += 1
        if self.waited < MOST_WAITS and "WaitForMcpServers" in names:
            return "WaitForMcpServers", {}
        search = next((name for name in names if name in ("ToolSearch", "tool_search")), "")
        if self.waited < MOST_WAITS and search:
            return search, {"query": f"select:mcp__memtui__{self.tool}"}
        return None

    def space_of(self, body: dict[str, Any]) -> str | None:
        """The namespace that holds the tool, where a host groups them."""
        for tool in body.get("tools") or ():
            if any(str(inner.get("name", "")).endswith(self.tool) for inner in tool.get("tools") or ()):
                return str(tool["name"])
        return None


def messages(model: LoopbackModel, body: dict[str, Any]) -> Iterator[Event]:
    """An answer in the protocol of Anthropic's messages."""
    name, given = model.call_in(body) or ("", {})
    block = (
        {"type": "tool_use", "id": f"toolu_{len(model.seen)}", "name": name, "input": {}}
        if name
        else {"type": "text", "text": ""}
    )
    delta = (
        {"type": "input_json_delta", "partial_json": json.dumps(given)}
        if name
        else {"type": "text_delta", "text": "done"}
    )
    usage = {"input_tokens": 1, "output_tokens": 1}
    number = len(model.seen)
    whole = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", "m"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield "message_start", {"type": "message_start", "message": whole}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    reason = {"stop_reason": "tool_use" if name else "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": reason, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def responses(model: LoopbackModel, body: dict[str, Any]) -> Iterator[Event]:
    """An answer in the protocol of OpenAI's responses."""
    name, given = model.call_in(body) or ("", {})
    number = len(model.seen)
    item: dict[str, Any] = (
        {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name,
         "status": "completed", "arguments": json.dumps(given)}
        if name
        else {"type": "message", "id": f"msg_{len(model.seen)}", "role": "assistant", "status": "completed",
              "content": [{"type": "output_text", "text": "done", "annotations": []}]}
    )  # fmt: skip
    space = model.space_of(body)
    if name and space is not None:
        item["namespace"] = space
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    yield "response.created", {"type": "response.created", "response": {"id": "resp_1"}}
    yield (
        "response.output_item.added",
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    )
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    end = {"id": "resp_1", "status": "completed", "output": [item], "usage": usage}
    yield "response.completed", {"type": "response.completed", "response": end}


def completions(model: LoopbackModel, body: dict[str, Any]) -> Iterator[Event]:
    """An answer in the protocol of OpenAI's chat completions."""
    name, given = model.call_in(body) or ("", {})
    call = {"index": 0, "id": f"call_{len(model.seen)}", "type": "function"}
    function = {"name": name, "arguments": json.dumps(given)}
    delta: dict[str, Any] = {"role": "assistant", "content": "done"}
    if name:
        delta = {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]}
    chunk = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "m")}
    yield "", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if name else "stop"}
    yield (
        "",
        {**chunk, "choices": [end], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
    )


PROTOCOLS = {"/messages": messages, "/responses": responses, "/chat/completions": completions}


@contextmanager
def loopback_model(tool: str, given: dict[str, Any]) -> Iterator[LoopbackModel]:
    """A model that listens on this machine until the block ends."""
    model = LoopbackModel(tool, given)

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            path = self.path.partition("?")[0]
            protocol = next((each for end, each in PROTOCOLS.items() if path.endswith(end)), None)
            if protocol is None:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            model.seen.append(body)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for name, data in protocol(model, body):
                head = f"event: {name}\n" if name else ""
                self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
            if protocol is completions:
                self.wfile.write(b"data: [DONE]\n\n")

        def do_GET(self) -> None:
            answer = json.dumps({"object": "list", "data": [], "models": []}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    model.port = server.server_address[1]
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
