"""The server as a host meets it: over standard input and output, on the stores of five programs."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from memtui.cli.main import parser_of, run
from memtui.cli.mcp import opened_door
from memtui.mcp.fence import fenced
from memtui.mcp.server import make_server
from tests.conftest import ROOT, copied

SECRET = "sk-proj-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCD"
STATEMENT = "The gateway of the Kelp office listens on port 8443"

ARCHIVES = {
    "pro": "peer/store-clean",
    "engine": "stores/engine",
    "builtin-g1": "stores/builtin-old",
    "builtin-g2": "stores/builtin-mixed",
    "builtin-g3": "stores/builtin-new",
}
KINDS = ("memtui", "demo", *ARCHIVES)
WRITTEN = tuple(kind for kind in KINDS if kind not in ("engine", "pro"))
"""Where a memory can be stored: not in the plugin's table without an embedding model (`test_service_down`)."""
HOME = {"builtin-g1": "global"}
"""All agents share the pool of the built-in program's first generation; elsewhere an agent has its own scope."""


class World:
    """One store and an environment of its own."""

    def __init__(self, folder: Path, store: str) -> None:
        self.folder, self.store = folder, store
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command beside the server."""
        return subprocess.run(
            [sys.executable, "-m", "memtui", *words, "--store", self.store],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=self.environ,
            check=False,
        )

    @asynccontextmanager
    async def serve(self, *words: str) -> AsyncIterator[Client]:
        """A client of `memtui mcp`."""
        started = ["-m", "memtui", "mcp", "--store", self.store, *words]
        server = StdioServerParameters(command=sys.executable, args=started, cwd=ROOT, env=self.environ)
        async with Client(stdio_client(server)) as client:
            yield client


class Inside(World):
    """The same commands with the same options, run by this process: what a server says, not how it is reached."""

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run([*words, "--store", self.store])
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    @asynccontextmanager
    async def serve(self, *words: str) -> AsyncIterator[Client]:
        async with self.serve_as(["mcp", "--store", self.store, *words]) as client:
            yield client

    @asynccontextmanager
    async def serve_as(self, command: list[str]) -> AsyncIterator[Client]:
        """A client of the server that `memtui` with these words would start."""
        door = opened_door(parser_of(command[0]).parse_args(command[1:]))
        try:
            async with Client(make_server(door)) as client:
                yield client
        finally:
            door.close()


@pytest.fixture
def world(
    request: pytest.FixtureRequest, tmp_path: Path, unpack: Callable[[Path], Path], empty_store: Path
) -> World:
    kind = request.param
    if kind in ARCHIVES:
        shared: Path = request.getfixturevalue("shared")
        return World(tmp_path, str(unpack(shared / "fixtures" / f"{ARCHIVES[kind]}.tar.gz")))
    if kind == "memtui":
        return World(tmp_path, str(copied(empty_store, tmp_path / "store")))
    return World(tmp_path, "demo")


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that succeeds; its text says that it is untrusted."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]
    assert not result.is_error, text
    assert "untrusted" in text
    assert SECRET not in text + json.dumps(result.structured_content)
    return dict(result.structured_content or {})


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a call that is refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    text = str(result.content[0].text)  # type: ignore[union-attr]
    assert SECRET not in text
    return text


def one_now(kinds: Iterable[str]) -> list[Any]:
    """The kinds of stores as parameters: memtui's own now, the others with what is slow."""
    return [pytest.param(kind, marks=() if kind == "memtui" else pytest.mark.slow) for kind in kinds]


@pytest.mark.slow
@pytest.mark.parametrize("world", ["pro"], indirect=True)
async def test_without_a_model_nothing_is_stored_that_the_plugin_fails_on(world: World) -> None:
    async with world.serve("--rw", "--as", "main") as client:
        assert "no vector" in await refusal(client, "memory_store", text=STATEMENT, category="fact")


@pytest.mark.parametrize("world", one_now(WRITTEN), indirect=True)
async def test_an_agent_stores_finds_changes_and_forgets(
    world: World, request: pytest.FixtureRequest
) -> None:
    home = HOME.get(request.node.callspec.params["world"], "agent:main")
    async with world.serve("--rw", "--as", "main") as client:
        made = await answer(client, "memory_store", text=STATEMENT, category="fact")
        assert (made["action"], made["scope"]) == ("created", home)
        again = await answer(client, "memory_store", text=STATEMENT)
        assert (again["action"], again["id"]) == ("duplicate", made["id"])
        hits = (await answer(client, "memory_search", query="Which port does the Kelp gateway listen on?"))[
            "results"
        ]
        assert {"id", "text", "scope", "score", "why"} <= set(hits[0])
        assert made["id"] in {hit["id"] for hit in hits}
        record = (await answer(client, "memory_get", ids=[made["id"]]))["memories"][0]
        assert (record["text"], record["scope"]) == (fenced(STATEMENT), home)
        listed = await answer(client, "memory_list", limit=50)
        assert made["id"] in {each["id"] for each in listed["memories"]}
        why = await answer(client, "memory_why", query="quarterly parcel of blue umbrellas", id=made["id"])
        assert why["id"] == made["id"]
        assert bool(why["gate"]) == (
            made["id"]
            not in {
                hit["id"]
                for hit in (
                    await answer(client, "memory_search", query="quarterly parcel of blue umbrellas")
                )["results"]
            }
        )
        refused = await answer(client, "memory_store", text=f"The deploy key is {SECRET}")
        assert refused["action"] == "refused"
        told = json.loads(world.run("journal", "--json").stdout)["entries"][0]
        assert told["client"] == "mcp:main"

        preview = await answer(client, "memory_update", id=made["id"], importance=0.9)
        assert preview["action"] == "preview"
        token = preview["confirm"]
        assert "confirm" in await refusal(
            client, "memory_update", id=made["id"], importance=0.8, confirm=token
        )
        assert "confirm" in await refusal(
            client, "memory_update", id=made["id"], importance=0.9, confirm=token
        )
        token = (await answer(client, "memory_update", id=made["id"], importance=0.9))["confirm"]
        done = await answer(client, "memory_update", id=made["id"], importance=0.9, confirm=token)
        assert done["action"] in ("updated", "superseded")
        assert (await answer(client, "memory_get", ids=[done["id"]]))["memories"][0]["importance"] == 0.9

        token = (await answer(client, "memory_forget", id=done["id"]))["confirm"]
        assert (await answer(client, "memory_get", ids=[done["id"]]))["memories"][0]["active"]
        gone = await answer(client, "memory_forget", id=done["id"], confirm=token)
        assert gone["action"] in ("archived", "deleted")
        assert world.run("undo", "--yes").returncode == 0
        assert (await answer(client, "memory_get", ids=[done["id"]]))["memories"][0]["active"]


@pytest.fixture
def inside(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """That store in this process."""
    monkeypatch.setenv("HOME", str(world.folder))
    return Inside(world.folder, world.store)


@pytest.mark.parametrize("world", one_now(KINDS), indirect=True)
async def test_foreign_and_unknown_ids_and_scopes_name_the_argument_and_the_next_step(inside: World) -> None:
    async with inside.serve("--as", "main") as client:
        said = await refusal(client, "memory_get", ids=["00000000-0000-4000-8000-00000000dead"])
        assert "ids" in said
        assert "memory_search" in said
        said = await refusal(client, "memory_search", query="rain", scope="agent:other")
        assert "scope" in said
        assert "Leave it out" in said
        assert "--rw" in await refusal(client, "memory_store", text=STATEMENT)
    async with inside.serve() as client:
        every = (await answer(client, "memory_list", limit=50))["memories"]
    foreign = [each for each in every if str(each["scope"]).startswith(("agent:", "project:", "user:"))]
    foreign = [each for each in foreign if each["scope"] != "agent:main"]
    async with inside.serve("--as", "main") as client:
        for each in foreign[:3]:
            assert "memory_search" in await refusal(client, "memory_get", ids=[each["id"]])
        page = await answer(client, "memory_list", limit=50)
        assert not {each["id"] for each in page["memories"]} & {each["id"] for each in foreign}


@pytest.mark.slow
@pytest.mark.parametrize("world", ["builtin-g2", "builtin-g3", "pro"], indirect=True)
async def test_pages_hold_only_what_the_client_may_read_and_all_of_it(world: World) -> None:
    async def ids(*words: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        async with world.serve(*words) as client:
            cursor = None
            while True:
                page = await answer(client, "memory_list", limit=7, **({"cursor": cursor} if cursor else {}))
                found += [(each["id"], each["scope"]) for each in page["memories"]]
                cursor = page["next_cursor"]
                if cursor is None:
                    return found

    every = await ids()
    mine = await ids("--as", "ops")
    assert len(mine) == len(set(mine))
    wanted = {each for each in every if each[1] in ("global", "agent:ops")}
    assert wanted <= set(mine)
    assert mine
    assert len(mine) < len(every)


@pytest.mark.parametrize("world", ["engine"], indirect=True)
async def test_a_store_of_mem_engine_takes_a_row_in_its_programs_form(inside: World) -> None:
    async with inside.serve("--rw", "--as", "main") as client:
        made = await answer(client, "memory_store", text=STATEMENT)
    import lancedb

    rows = lancedb.connect(Path(inside.store)).open_table("memories").to_arrow().to_pylist()
    (row,) = [each for each in rows if each["id"] == made["id"]]
    assert row["importance_label"] in ("must_remember", "nice_to_have", "ignore", "unknown")
    assert row["trust_tier"]
    assert row["createdAt"] > 1e12
