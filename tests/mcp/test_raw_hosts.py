"""Calls as hosts really write them, as bytes over both ways: every tool, every habit of a host, each alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.server import input_schema
from memtui.mcp.tools.registry import all_tools
from tests.conftest import copied
from tests.mcp.stdio_host import stdio_host
from tests.mcp.test_http import ACCEPT, House

Wire = Callable[[str, Any], dict[str, Any]]
"""Sends one call and returns its result."""

STATEMENTS = (
    "The gateway of the Kelp office listens on port 8443",
    "[12:30] stand-up in the blue room",
    "[todo:home] buy milk",
    "[Thu 2026-11-26 18:21 UTC] call the plumber",
)

ADDED = {"toolCallId": "call_1", "session_id": "s-1", "reasoning": "because", "_meta": {"progressToken": 1}}

SCHEMAS = {
    kind: {tool.name: input_schema(tool.arguments) for tool in tools}
    for kind, tools in (("memtui", all_tools()), ("openclaw", openclaw_tools(Path(), {})))
}

TOOLS = [(kind, name) for kind, tools in SCHEMAS.items() for name in tools]


def message(tool: str, given: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"name": tool} if given is None else {"name": tool, "arguments": given}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


class Place:
    """A server of each set of tools by one way, and the ids of what was stored through it."""

    def __init__(self, wires: Mapping[str, Wire]) -> None:
        self.wires = wires
        self.ids = [self.done("memtui", "memory_store", {"text": text})["id"] for text in STATEMENTS]

    def done(self, kind: str, tool: str, given: Any) -> dict[str, Any]:
        """The data of a call that succeeds."""
        result = self.wires[kind](tool, given)
        assert not result.get("isError"), (tool, given, result["content"])
        return dict(result["structuredContent"])

    def new_id(self) -> str:
        """A memory of its own, for what changes or forgets it."""
        number = len(self.ids)
        text = f"Room {number} of the harbour office has {number * 7} chairs and a blue door number {number}"
        self.ids.append(self.done("memtui", "memory_store", {"text": text})["id"])
        return str(self.ids[-1])

    def needed(self, tool: str) -> dict[str, Any]:
        """Plain arguments with which a tool does something."""
        return {
            "memory_search": lambda: {"query": "which port does the Kelp gateway listen on"},
            "memory_recall": lambda: {"query": "which port does the Kelp gateway listen on"},
            "memory_explain_rank": lambda: {"query": "which port does the Kelp gateway listen on"},
            "memory_get": lambda: {"ids": self.ids[:2]},
            "memory_why": lambda: {"query": "parcel of umbrellas", "id": self.ids[0]},
            "memory_feedback": lambda: {"query": "parcel", "id": self.ids[0], "verdict": "wrong"},
            "memory_history": lambda: {"id": self.ids[0]},
            "memory_store": lambda: {"text": STATEMENTS[0]},
            "memory_update": lambda: {"id": self.ids[0], "importance": 0.3 + len(self.ids) / 1000},
            "memory_forget": lambda: {"id": self.new_id()},
        }.get(tool, dict)()

    def needed_by(self, kind: str, tool: str) -> dict[str, Any]:
        """The same by the names that a set of tools has."""
        if kind == "memtui":
            return self.needed(tool)
        if tool in ("memory_update", "memory_promote", "memory_archive"):
            return {"memoryId": self.new_id(), **({"importance": 0.4} if tool == "memory_update" else {})}
        if tool == "memory_forget":
            return {"memoryId": self.new_id()}
        if tool == "self_improvement_log":
            return {"type": "learning", "summary": f"Ask before number {len(self.ids)}"}
        if tool == "self_improvement_extract_skill":
            made = self.done(kind, "self_improvement_log", self.needed_by(kind, "self_improvement_log"))
            return {"learningId": made["id"], "skillName": f"ask-first-{len(made['id'])}"}
        return self.needed(tool)


@pytest.fixture(scope="module", params=["stdio", pytest.param("http", marks=pytest.mark.slow)])
def place(
    request: pytest.FixtureRequest, empty_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("raw")
    words = ["--rw", "--as", "main", "--workspace", str(folder)]
    if request.param == "stdio":
        store = copied(empty_store, folder / "store")
        with (
            stdio_host(store, *words) as own,
            stdio_host(store, *words, "--tools", "openclaw") as plugins,
        ):
            hosts = {"memtui": own, "openclaw": plugins}
            for host in hosts.values():
                host.begin()
            yield Place(
                {kind: lambda tool, given, to=host: to.ask(message(tool, given))["result"]
                 for kind, host in hosts.items()}
            )  # fmt: skip
        return
    house = House(folder)
    headers = {**ACCEPT, "Authorization": f"Bearer {house.token_of('host', '--as', 'main')}"}
    servers, urls = [], {}
    for kind in ("memtui", "openclaw"):
        servers.append(house.start(*words, "--tools", kind))
        urls[kind] = house.url

    def wire(url: str) -> Wire:
        def post(tool: str, given: Any) -> dict[str, Any]:
            answer = httpx.post(url, json=message(tool, given), headers=headers, timeout=120)
            assert answer.status_code == 200, answer.text
            return dict(answer.json()["result"])

        return post

    try:
        yield Place({kind: wire(url) for kind, url in urls.items()})
    finally:
        for server in servers:
            server.terminate()
            server.wait(120)
            assert server.stderr is not None
            server.stderr.close()


def left_out(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an answer without what every call has of its own: scores of the plugin rise with every use."""
    told = {
        name: value for name, value in data.items() if name not in ("notes", "confirm", "fenced", "debug")
    }
    if "count" in told and "memories" in told:
        told["memories"] = [{**memory, "score": 0, "sources": {}} for memory in told["memories"]]
    return told


READING = (
    "memory_search",
    "memory_recall",
    "memory_list",
    "memory_get",
    "memory_stats",
    "memory_health",
    "memory_history",
)


@pytest.mark.parametrize(("kind", "tool"), TOOLS)
def test_keys_that_a_host_adds_are_ignored_and_named_in_the_data(kind: str, tool: str, place: Place) -> None:
    data = place.done(kind, tool, {**place.needed_by(kind, tool), **ADDED})
    (note,) = [note for note in data["notes"] if "ignored" in note]
    assert all(name in note for name in ADDED)
    assert "call_1" not in json.dumps(data["notes"]), "the values are not repeated"


RARELY = [
    pytest.param(nothing, marks=pytest.mark.slow) for nothing in (" ", "null", "None", "undefined", [], {})
]


@pytest.mark.parametrize("nothing", [None, "", *RARELY])
@pytest.mark.parametrize(("kind", "tool"), TOOLS)
def test_what_is_optional_may_be_sent_as_nothing(kind: str, tool: str, nothing: Any, place: Place) -> None:
    schema, needed = SCHEMAS[kind][tool], place.needed_by(kind, tool)
    empty = {name: nothing for name in schema["properties"] if name not in needed}
    data = place.done(kind, tool, {**empty, **needed})
    if tool in READING:
        assert left_out(data) == left_out(place.done(kind, tool, needed))


def as_hosts_write(kind: Mapping[str, Any], value: Any) -> list[Any]:
    """Other ways in which hosts write a value of this kind."""
    match kind.get("type"):
        case "array":
            return [
                json.dumps(value),
                json.dumps(json.dumps(value)),
                str(value),
                ", ".join(value),
                "\n".join(value),
                [*value, None, ""],
                *([value[0], json.dumps(value[0])] if len(value) == 1 else []),
            ]
        case "integer":
            return [str(value), float(value), f"{value}.0"]
        case "number":
            return [str(value)]
        case "boolean":
            return [str(value).lower(), int(value), str(value)]
        case "string" if "enum" in kind:
            return [value.title(), f" {value} ", [value]]
        case "string":
            return [[value], f" {value}\n"]
    return []


VALUES = {
    "limit": 3,
    "offset": 0,
    "importance": 0.5,
    "delete": False,
    "includeFullText": True,
    "maxCharsPerItem": 300,
}
VALUES |= {"includeHistory": True, "dryRun": True, "force": True, "category": "fact", "verdict": "wrong"}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tool"), TOOLS)
def test_a_value_is_read_in_whatever_kind_a_host_writes_it(kind: str, tool: str, place: Place) -> None:
    for name, told in SCHEMAS[kind][tool]["properties"].items():
        needed = place.needed_by(kind, tool)
        value = needed.get(name, VALUES.get(name))
        if value is None:
            continue
        for written in as_hosts_write(told, value):
            needed = place.needed_by(kind, tool)
            data = place.done(kind, tool, {**needed, name: written})
            if tool in READING:
                assert left_out(data) == left_out(place.done(kind, tool, {**needed, name: value})), written


@pytest.mark.parametrize(
    ("kind", "tool"),
    [(kind, tool) for kind, tool in TOOLS if "query" in SCHEMAS[kind][tool].get("required", ())],
)
def test_a_question_may_be_a_number(kind: str, tool: str, place: Place) -> None:
    given = place.needed_by(kind, tool)
    for number in (8443, 84.5):
        place.done(kind, tool, {**given, "query": number})


@pytest.mark.parametrize(
    ("kind", "tool"), [(kind, tool) for kind, tool in TOOLS if not SCHEMAS[kind][tool].get("required")]
)
def test_arguments_may_be_left_out_whole(kind: str, tool: str, place: Place) -> None:
    result = place.wires[kind](tool, None)
    said = json.dumps(result["content"])
    assert not result.get("isError") or "emoryId" in said or "factKey" in said, said


@pytest.mark.parametrize("kind", ["memtui", "openclaw"])
def test_arguments_may_come_as_json_text_or_as_an_empty_list(kind: str, place: Place) -> None:
    for written in (json.dumps({"limit": 1}), "", "{}", "null", []):
        data = place.done(kind, "memory_list", written)
        assert data["untrusted"] is True
        assert "notes" not in data or "ignored" not in json.dumps(data["notes"])
    data = place.done(kind, "memory_list", json.dumps({"limit": 1, "sessionKey": "a"}))
    assert any("sessionKey" in note for note in data["notes"])


def test_the_space_around_a_memory_is_its_own(place: Place) -> None:
    text = "    indented: the first line of a listing"
    id = place.new_id()
    asked = place.done("memtui", "memory_update", {"id": f" {id} ", "text": text})
    assert text in json.dumps(asked["after"])


def test_a_preview_names_only_what_will_happen(place: Place) -> None:
    for asked, happens, never in (
        ({}, "archived", "delete"),
        ({"delete": False}, "archived", "delete"),
        ({"delete": True}, "deleted", "archive"),
    ):
        id = place.new_id()
        result = place.wires["memtui"]("memory_forget", {"id": id, **asked})
        told = json.dumps(result)
        assert result["structuredContent"]["action"] == "preview"
        assert happens in told
        assert never not in told
        done = place.done(
            "memtui", "memory_forget", {"id": id, **asked, "confirm": result["structuredContent"]["confirm"]}
        )
        assert done["action"] == happens


def test_texts_that_begin_with_a_bracket_come_back_as_they_are(place: Place) -> None:
    for text, id in zip(STATEMENTS[1:], place.ids[1:], strict=False):
        record = place.done("memtui", "memory_get", {"ids": [id]})["memories"][0]
        assert text in record["text"]
        found = place.done("openclaw", "memory_recall", {"query": text, "limit": 5})
        assert id in {memory["id"] for memory in found["memories"]}
