"""Each tool called as a model does that errs: what comes back says which argument is wrong, and what to do next."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from tests.conftest import copied
from tests.mcp.test_contract import SECRET, STATEMENT, Inside, answer, refusal
from tests.mcp.test_offered import named_in

OF_A_LIBRARY = (
    "Input should",
    "Field required",
    "validation",
    "Traceback",
    "pydantic",
    "Error:",
)

ABSENT = "6bf44c78-a56c-4237-939b-ecb1e19e5e58"


@pytest.fixture
def own(tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Inside(tmp_path, str(copied(empty_store, tmp_path / "store")))


def plain(name: str, kind: Mapping[str, Any]) -> Any:
    """A value of the right kind that names nothing which is there."""
    if "enum" in kind:
        return kind["enum"][0]
    match kind.get("type"):
        case "array":
            return [ABSENT]
        case "integer" | "number":
            return 1
        case "boolean":
            return True
    return ABSENT if name in ("id", "memoryId") else "2026-11-01" if name == "since" else "text of some words"


def wrong_values(name: str, kind: Mapping[str, Any], needed: bool) -> Iterator[Any]:
    """Values that no reading makes right."""
    yield {"a": 1}
    if needed:
        yield from (None, "", [])
    if "enum" in kind:
        yield "neither of them"
    match kind.get("type"):
        case "integer":
            yield from ("many", 2.5, [3, 4])
        case "number":
            yield from ("high", [1, 2])
            if "maximum" in kind:
                yield from (kind["maximum"] + 6, kind["minimum"] - 6)
        case "boolean":
            yield "perhaps"
        case "array":
            yield [f"{number}" for number in range(kind.get("maxItems", 20) + 1)]
        case "string":
            yield ["x", "y"]
            if "maxLength" in kind:
                yield "x" * (kind["maxLength"] + 1)


@pytest.mark.parametrize("words", [(), ("--rw", "--as", "main")], ids=["reading", "writing"])
@pytest.mark.parametrize("kind", ["memtui", "openclaw"])
async def test_every_wrong_argument_is_named_in_our_words(
    kind: str, words: tuple[str, ...], own: Inside
) -> None:
    async with own.serve("--tools", kind, *words) as client:
        tools = (await client.list_tools()).tools
        names = {tool.name for tool in tools}
        for tool in tools:
            schema = tool.input_schema
            required = set(schema.get("required", ()))
            full = {
                name: plain(name, told) for name, told in schema["properties"].items() if name in required
            }
            # what the plugin answers to an empty text is its own, word for word
            needed = required if kind == "memtui" else set()
            wrong: list[tuple[str, dict[str, Any]]] = [
                (name, {**full, name: value})
                for name, told in schema["properties"].items()
                for value in wrong_values(name, told, name in needed)
            ]
            wrong += [
                (name, {other: value for other, value in full.items() if other != name}) for name in required
            ]
            for name, given in wrong:
                result = await client.call_tool(tool.name, given)
                said = result.content[0].text  # type: ignore[union-attr]
                at = (tool.name, name, str(given.get(name))[:40], said)
                assert result.is_error, at
                assert name in said, at
                assert not any(phrase in said for phrase in OF_A_LIBRARY), at
                assert said.rstrip().endswith("."), at
                assert named_in(said) <= names, at
                if (described := schema["properties"][name].get("description")) and "takes" in said:
                    assert described in said, at


@pytest.mark.parametrize("kind", ["memtui", "openclaw"])
async def test_an_argument_by_another_name_is_told_beside_the_one_that_is_missing(
    kind: str, own: Inside
) -> None:
    async with own.serve("--tools", kind) as client:
        for tool in (await client.list_tools()).tools:
            if not tool.input_schema.get("required"):
                continue
            said = await refusal(client, tool.name, by_another_name=SECRET)
            assert "missing" in said
            assert "by_another_name" in said


async def first_of(client: Client, text: str = STATEMENT) -> str:
    return str((await answer(client, "memory_store", text=text))["id"])


async def test_what_is_not_there_is_told_with_the_next_step(own: Inside) -> None:
    async with own.serve("--rw", "--as", "main") as client:
        id = await first_of(client)
        for tool, given in (
            ("memory_get", {"ids": [id[:8]]}),
            ("memory_history", {"id": ABSENT}),
            ("memory_why", {"query": "port", "id": ABSENT}),
            ("memory_update", {"id": ABSENT, "text": "other words"}),
            ("memory_forget", {"id": ABSENT}),
            ("memory_feedback", {"query": "port", "id": ABSENT, "verdict": "right"}),
        ):
            assert "Take a whole id from memory_search or memory_list" in await refusal(client, tool, **given)


async def test_an_empty_answer_says_why(own: Inside) -> None:
    async with own.serve("--rw", "--as", "main") as client:
        assert (await answer(client, "memory_list"))["notes"] == ["No memory is stored."]
        await first_of(client)
        found = await answer(client, "memory_search", query="which port", since="2999-01-01")
        assert found["results"] == []
        assert found["answers"] is None, "what came back is left out: it answers nothing"
        assert any("older than 2999-01-01" in note for note in found["notes"])
        found = await answer(client, "memory_search", query="which port", category="colour")
        assert any(
            "no memory has the category 'colour'" in note and "fact" in note for note in found["notes"]
        )
        listed = await answer(client, "memory_list", filter="umbrellas")
        assert listed["notes"] == ["No memory matches the filter."]
        listed = await answer(client, "memory_list", cursor="50")
        assert "it has 1 memory" in listed["notes"][0]


async def test_a_model_that_holds_an_old_id_is_led_to_the_memory_that_holds(own: Inside) -> None:
    async with own.serve("--rw", "--as", "main") as client:
        old = await first_of(client)
        wanted = {"id": old, "text": f"{STATEMENT}, and 9443 since Monday"}
        preview = await answer(client, "memory_update", **wanted)
        assert set(preview["after"]) <= {"text", "category", "importance", "confidence"}
        assert "the arguments of the preview" in await refusal(
            client, "memory_update", id=old, confirm=preview["confirm"]
        )
        preview = await answer(client, "memory_update", **wanted)
        done = await answer(client, "memory_update", **wanted, confirm=preview["confirm"])
        assert done["action"] == "superseded"
        assert done["id"] != old
        said = await refusal(client, "memory_update", id=old, text="The gateway is gone")
        assert f"superseded by {done['id']}" in said
        preview = await answer(client, "memory_forget", id=done["id"])
        await answer(client, "memory_forget", id=done["id"], confirm=preview["confirm"])
        assert "archived already" in await refusal(client, "memory_forget", id=done["id"])
        preview = await answer(client, "memory_forget", id=done["id"], delete=True)
        assert "deleted" in json.dumps(preview["notes"])
