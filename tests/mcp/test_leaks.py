"""What a client with one scope is told is the same, byte for byte, whether other scopes hold anything or not."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from mcp import MCPError
from mcp.client import Client

from memtui.cli import open_store
from memtui.cli.main import run
from memtui.engine import Engine, open_engine
from memtui.engine.capture import play, read_event
from memtui.engine.cases import CaseBook
from memtui.engine.discovery import create_empty
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.store import word_matrix
from memtui.mcp.door import Door
from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.server import make_server
from tests.conftest import NOW_MS, thinned
from tests.engine.loopback import loopback, text_vector
from tests.engine.pro_store import row, write_store

DIMS = 4

MINE = [f"{letter * 8}-0000-4000-8000-00000000000{at}" for at, letter in enumerate("abc")]
"""Memories of the client's own scope."""
FOREIGN = [f"{at:08d}-0000-4000-8000-0000000dead0" for at in range(7)]
"""Memories that it may not read."""
CANARY = "canaryword"
SHARED_TEXT = "The ferry to Skye leaves at seven"

TEXTS = (
    SHARED_TEXT,
    "The harbour office keeps the spare keys in the blue drawer",
    "Deployments of the tide service happen on Thursdays",
)
FOREIGN_TEXTS = (
    SHARED_TEXT,
    f"The {CANARY} vault stands behind the harbour office",
    f"The ferry {CANARY} is called Marigold",
    f"Deployments of {CANARY} happen on Thursdays, as those of the tide service do",
    f"Where is the {CANARY} drawer? It is blue.",
    f"The spare {CANARY} keys are with the harbour master",
    f"The ferry to Skye leaves at seven, says {CANARY}",
)
MANY = 60
"""Foreign memories of the same words beside those: what is rare among the client's own is not rare in the table."""
CROWD = tuple(
    f"Ferry {at}: the harbour office keeps the keys of the tide service in a drawer, and "
    + "deployments to Skye happen at seven on Thursdays; " * (at % 5)
    for at in range(MANY)
)
STRANGERS = (
    *zip(FOREIGN, FOREIGN_TEXTS, strict=True),
    *((f"{at:08d}-0000-4000-8000-00000000feed", text) for at, text in enumerate(CROWD)),
)
"""Ids and texts of all foreign memories."""


def pro_store(
    folder: Path, *, foreign: bool, elsewhere: Sequence[str] = ("project:secretscope", "agent:secretscope")
) -> Path:
    """A table of memory-lancedb-pro; the client's scope is agent:ops, and canaries are in others."""
    links = {"superseded_by": FOREIGN[1], "memory_category": "fact"}
    rows = [
        row(id, text, text_vector(text, DIMS), scope="agent:ops", metadata=links if at == 2 else {}, age=1)
        for at, (id, text) in enumerate(zip(MINE, TEXTS, strict=True))
    ]
    if foreign:
        rows += [
            row(id, text, text_vector(text, DIMS), scope=elsewhere[at % 2], metadata={"canary_key": CANARY})
            for at, (id, text) in enumerate(STRANGERS)
        ]
    return write_store(folder, rows, dims=DIMS)


def owned_store(folder: Path, *, foreign: bool) -> Path:
    """A table of the built-in program, whose rows have an owner; the client acts for ops."""
    import lancedb

    schema = pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), DIMS)),
            ("importance", pa.float64()),
            ("category", pa.string()),
            ("createdAt", pa.float64()),
            ("agentId", pa.string()),
        ]
    )

    def made(id: str, text: str, at: int, agent: str) -> dict[str, Any]:
        told = {"importance": 0.7, "category": "fact", "createdAt": float(NOW_MS - at * 1000)}
        return {"id": id, "text": text, "vector": text_vector(text, DIMS), "agentId": agent, **told}

    rows = [made(id, text, at * 3, "ops") for at, (id, text) in enumerate(zip(MINE, TEXTS, strict=True))]
    if foreign:
        rows += [made(id, text, at, "secretscope") for at, (id, text) in enumerate(STRANGERS)]
    table = lancedb.connect(folder).create_table("memories", schema=schema)
    table.add(pa.Table.from_pylist(rows, schema=schema))
    return folder


def own_store(folder: Path, *, foreign: bool) -> Path:
    """A store of memtui's own kind; the client's scope is agent:ops, and canaries are in others."""
    import lancedb

    create_empty(folder, DIMS)
    table = lancedb.connect(folder).open_table("memories")

    def made(id: str, text: str, at: int, scope: str, kept: Mapping[str, Any]) -> dict[str, Any]:
        told = {"importance": 0.7, "category": "fact", "timestamp": NOW_MS - at * 1000, "scope": scope}
        return {
            "id": id,
            "text": text,
            "vector": text_vector(text, DIMS),
            "metadata": json.dumps(kept),
            **told,
        }

    rows = [
        made(id, text, at * 3, "agent:ops", {}) for at, (id, text) in enumerate(zip(MINE, TEXTS, strict=True))
    ]
    if foreign:
        rows += [
            made(id, text, at, ("project:secretscope", "agent:secretscope")[at % 2], {"canary_key": CANARY})
            for at, (id, text) in enumerate(STRANGERS)
        ]
    table.add(pa.Table.from_pylist(rows, schema=table.schema))
    return folder


def engine_store(folder: Path, *, foreign: bool) -> Path:
    """A table of openclaw-mem-engine, whose words are searched row by row; the client's scope is agent:ops."""
    import lancedb

    schema = pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), DIMS)),
            ("createdAt", pa.float64()),
            ("category", pa.string()),
            ("importance", pa.float64()),
            ("importance_label", pa.string()),
            ("scope", pa.string()),
            ("trust_tier", pa.string()),
        ]
    )
    labels = {
        "importance_label": "must_remember",
        "trust_tier": "user",
        "importance": 0.9,
        "category": "fact",
    }

    def made(id: str, text: str, at: int, scope: str) -> dict[str, Any]:
        told = {"createdAt": float(NOW_MS - at * 1000), "scope": scope, **labels}
        return {"id": id, "text": text, "vector": text_vector(text, DIMS), **told}

    rows = [
        made(id, text, at * 3, "agent:ops") for at, (id, text) in enumerate(zip(MINE, TEXTS, strict=True))
    ]
    if foreign:
        rows += [made(id, text, at, "agent:secretscope") for at, (id, text) in enumerate(STRANGERS)]
    table = lancedb.connect(folder).create_table("memories", schema=schema)
    table.add(pa.Table.from_pylist(rows, schema=schema))
    return folder


MAKERS = {"pro": pro_store, "owned": owned_store, "own": own_store, "engine": engine_store}


@pytest.fixture(params=[pytest.param("by words", marks=pytest.mark.slow), "by meaning"])
def embedding(request: pytest.FixtureRequest) -> Iterator[EmbeddingSettings | None]:
    """No service that makes vectors, or one, which has to be asked: then words count as well."""
    if request.param == "by words":
        yield None
        return
    with loopback() as service:
        service.dims = DIMS
        yield EmbeddingSettings(model="recorded", base_url=f"{service.url}/v1")
        assert service.requests


def door_to(store: Path, state: Path, embedding: EmbeddingSettings | None, **rights: Any) -> Door:
    """A door with a clock that stands still."""

    def opened() -> Engine:
        engine = open_engine(
            store,
            now=lambda: NOW_MS,
            environ={},
            cwd=state,
            writable=True,
            state=state / "state",
            embedding=embedding,
        )
        engine.load_catalog()
        return engine

    return Door(opened, writable=True, cases=lambda engine: CaseBook(state / "cases.json"), **rights)


@asynccontextmanager
async def client_of(door: Door) -> AsyncIterator[Client]:
    async with Client(make_server(door)) as client:
        yield client
    door.close()


CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("memory_health", {}),
    ("memory_search", {"query": "when does the ferry to Skye leave?", "limit": 20}),
    ("memory_search", {"query": f"{CANARY} vault harbour", "limit": 1}),
    ("memory_search", {"query": "keys", "scope": "agent:secretscope"}),
    ("memory_search", {"query": "keys", "category": "nothing"}),
    ("memory_search", {"query": "keys of the harbour office", "category": "fact", "scope": "agent:ops"}),
    ("memory_list", {"limit": 1}),
    ("memory_list", {"limit": 2}),
    ("memory_list", {"limit": 50}),
    ("memory_list", {"limit": 1, "cursor": "1"}),
    ("memory_list", {"limit": 1, "cursor": "2"}),
    ("memory_list", {"limit": 1, "cursor": "5"}),
    ("memory_list", {"filter": CANARY}),
    ("memory_list", {"filter": "is:duplicate"}),
    ("memory_list", {"filter": "-is:duplicate"}),
    ("memory_list", {"filter": "(is:duplicate | age>0d)"}),
    ("memory_list", {"filter": "scope:agent:secretscope"}),
    ("memory_list", {"filter": "scope:project:*"}),
    ("memory_list", {"filter": "scopee:x"}),
    ("memory_list", {"filter": f"~{CANARY}"}),
    ("memory_list", {"filter": f"id:{FOREIGN[0]}"}),
    ("memory_list", {"filter": f"id:{FOREIGN[0][:6]}"}),
    ("memory_list", {"filter": "meta:superseded_by"}),
    ("memory_list", {"filter": "meta:canary_key"}),
    ("memory_list", {"filter": f"meta:canary_key={CANARY}"}),
    ("memory_list", {"filter": "meta:canary_kex"}),
    ("memory_list", {"filter": "source:nowhere"}),
    ("memory_list", {"filter": "cat:secretcategory"}),
    ("memory_get", {"ids": [*MINE]}),
    ("memory_get", {"ids": [FOREIGN[0]]}),
    ("memory_get", {"ids": [FOREIGN[0][:8]]}),
    ("memory_history", {"id": MINE[0]}),
    ("memory_history", {"id": FOREIGN[0]}),
    ("memory_why", {"query": "ferry to Skye", "id": MINE[0]}),
    ("memory_why", {"query": "parcel of umbrellas", "id": MINE[1]}),
    ("memory_why", {"query": f"{CANARY} vault harbour master drawer", "id": MINE[1]}),
    ("memory_why", {"query": "ferry", "id": FOREIGN[0]}),
    ("memory_feedback", {"query": "ferry", "id": MINE[0], "verdict": "right"}),
    ("memory_feedback", {"query": "ferry", "id": FOREIGN[0], "verdict": "right"}),
    ("memory_update", {"id": MINE[1], "importance": 0.4}),
    ("memory_update", {"id": FOREIGN[1], "importance": 0.4}),
    ("memory_forget", {"id": MINE[1]}),
    ("memory_forget", {"id": FOREIGN[1]}),
    ("memory_forget", {"id": FOREIGN[1], "confirm": "x"}),
    ("memory_store", {"text": "It rains in Oban", "scope": "agent:secretscope"}),
    ("memory_store", {"text": f"The {CANARY} vault stands behind the harbour office", "category": "fact"}),
    ("memory_store", {"text": f"The ferry {CANARY} is called Petunia", "category": "fact"}),
    ("nothing", {}),
)

PLUGIN_CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("memory_stats", {}),
    ("memory_stats", {"scope": "agent:secretscope"}),
    ("memory_list", {"limit": 50}),
    ("memory_list", {"scope": "agent:secretscope"}),
    ("memory_recall", {"query": f"{CANARY} ferry harbour", "limit": 6}),
    ("memory_recall", {"query": "keys", "scope": "agent:secretscope"}),
    ("memory_fact_query", {"query": f"{CANARY} ferry"}),
    ("memory_fact_query", {"factKey": "ferry"}),
    ("memory_recall", {"query": "when does the ferry to Skye leave?", "limit": 20, "includeFullText": True}),
    ("memory_explain_rank", {"query": f"{CANARY} ferry harbour"}),
    ("memory_explain_rank", {"query": "keys in the harbour drawer", "limit": 20}),
    ("memory_compact", {}),
    ("memory_reflection_resolve", {"query": CANARY}),
    ("memory_forget", {"memoryId": FOREIGN[0]}),
    ("memory_forget", {"query": f"{CANARY} vault"}),
    ("memory_archive", {"memoryId": FOREIGN[0]}),
    ("memory_promote", {"memoryId": FOREIGN[0]}),
    ("memory_update", {"memoryId": FOREIGN[0], "text": "It snows in Oban"}),
    ("memory_update", {"memoryId": FOREIGN[0][:8], "text": "It snows in Oban"}),
    ("memory_store", {"text": f"The {CANARY} vault stands behind the harbour office"}),
    ("memory_store", {"text": "It snows in Oban", "scope": "agent:secretscope"}),
)

_OWN = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def _plain(told: str) -> str:
    """Without what differs between two runs of one store: fresh ids and tokens. Every number stays."""
    known = {*MINE, *FOREIGN}
    told = _OWN.sub(lambda found: found[0] if found[0] in known else "ID", told)
    told = re.sub(r"confirm(=|\": \")[\w-]+", "confirm=TOKEN", told)
    return re.sub(r"\[[0-9a-f]{8}\]", "[ID]", told)


async def told_of(
    store: Path,
    state: Path,
    embedding: EmbeddingSettings | None,
    calls: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    plugin: bool,
    **rights: Any,
) -> dict[str, str]:
    """Every answer, error and resource that the client gets, by call."""
    state.mkdir()
    door = door_to(store, state, embedding, **rights)
    door.tools = openclaw_tools(state, {}) if plugin else None
    told: dict[str, str] = {}
    async with client_of(door) as client:
        for tool, given in calls:
            result = await client.call_tool(tool, dict(given))
            texts = [part.text for part in result.content if part.type == "text"]
            said = json.dumps([result.is_error, texts, result.structured_content], ensure_ascii=False)
            told[f"{tool} {json.dumps(given)}"] = _plain(said)
        listed = await client.list_resources()
        for uri in (
            *(str(each.uri) for each in listed.resources),
            *(f"memory://{id}" for id in (*MINE, FOREIGN[0])),
        ):
            try:
                found = await client.read_resource(uri)
                told[uri] = _plain("".join(getattr(each, "text", "") for each in found.contents))
            except MCPError as error:
                told[uri] = _plain(str(error))
        for question in ("when does the ferry to Skye leave?", f"{CANARY} vault"):
            made = await client.get_prompt("memories_for", {"question": question})
            told[f"prompt {question}"] = _plain(str(made.messages[0].content))
    return told


def differing(without: Mapping[str, str], among: Mapping[str, str]) -> str:
    """The calls that are answered otherwise where other scopes hold something, with both answers."""
    return "\n".join(
        f"{name}\n  alone:  {without[name]}\n  beside: {told}"
        for name, told in among.items()
        if told != without[name]
    )


@pytest.mark.parametrize("kind", thinned(["own", "owned", "pro"], 3))
@pytest.mark.parametrize(
    "rights",
    [
        {"agent": "ops"},
        pytest.param({"reads": ("agent:ops",), "writes": "agent:ops"}, marks=pytest.mark.slow),
    ],
)
async def test_a_client_of_one_scope_learns_nothing_of_the_others(
    kind: str, rights: Mapping[str, Any], embedding: EmbeddingSettings | None, tmp_path: Path
) -> None:
    alone = MAKERS[kind](tmp_path / "alone", foreign=False)
    beside = MAKERS[kind](tmp_path / "beside", foreign=True)
    without = await told_of(alone, tmp_path / "a", embedding, CALLS, plugin=False, **rights)
    among = await told_of(beside, tmp_path / "b", embedding, CALLS, plugin=False, **rights)
    person = await told_of(
        beside, tmp_path / "c", embedding, [("memory_list", {"filter": "Marigold"})], plugin=False
    )
    assert "Marigold" in "\n".join(person.values())
    assert not differing(without, among)
    said = "\n".join(among.values())
    assert 'secretscope"' not in said
    assert "Marigold" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "rights",
    [
        {"agent": "ops"},
        pytest.param({"reads": ("agent:ops",), "writes": "agent:ops"}, marks=pytest.mark.slow),
    ],
)
async def test_the_plugins_tools_tell_a_client_of_one_scope_nothing_of_the_others(
    rights: Mapping[str, Any], embedding: EmbeddingSettings | None, tmp_path: Path
) -> None:
    alone = pro_store(tmp_path / "alone", foreign=False)
    elsewhere = (
        ("agent:secretscope", "project:secretscope") if "agent" in rights else ("agent:main", "global")
    )
    beside = pro_store(tmp_path / "beside", foreign=True, elsewhere=elsewhere)
    without = await told_of(alone, tmp_path / "a", embedding, PLUGIN_CALLS, plugin=True, **rights)
    among = await told_of(beside, tmp_path / "b", embedding, PLUGIN_CALLS, plugin=True, **rights)
    assert not differing(without, among)


async def test_where_the_library_counts_the_words_no_score_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_matrix, "MOST_ROWS", len(MINE) - 1)  # more than so many are left to the library
    calls = (
        ("memory_search", {"query": "where are the spare keys of the harbour office?"}),
        ("memory_why", {"query": "parcel of umbrellas", "id": MINE[1]}),
        ("memory_why", {"query": "where are the spare keys of the harbour office?", "id": MINE[2]}),
    )
    for name, make in (("own", own_store), ("person", own_store)):
        rights = {} if name == "person" else {"agent": "ops"}
        (tmp_path / f"{name}-state").mkdir()
        door = door_to(make(tmp_path / name, foreign=True), tmp_path / f"{name}-state", None, **rights)
        async with client_of(door) as client:
            found = [(await client.call_tool(tool, given)).structured_content for tool, given in calls]
        hits = found[0]["results"]
        assert hits
        if name == "person":
            assert all(hit["score"] for hit in hits)
            assert "words" in hits[0]["why"]
            continue
        assert hits[0]["id"] == MINE[1]
        assert [hit["why"] for hit in hits] == [f"number {at}" for at in range(1, len(hits) + 1)]
        assert {hit["score"] for hit in hits} == {None}
        assert found[0]["probability"] is None
        assert {each["smallest_change"] for each in found[1:]} == {None}
        assert not re.search(r"\d\.\d", json.dumps(found))


@pytest.mark.parametrize("kind", thinned(["own", "pro", "engine"], 3))
def test_inject_and_hook_tell_an_agent_nothing_of_the_others(
    kind: str,
    embedding: EmbeddingSettings | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command with what it prints, and the events of a host; by words alone and by meaning."""
    questions = (
        "when does the ferry to Skye leave?",
        f"{CANARY} vault, keys of the harbour office",
        "Thursdays or ferry or blue",  # whose words are as rare among its own, and not in the table
    )
    for name, value in (("MODEL", "model"), ("BASE_URL", "base_url")) if embedding else ():
        monkeypatch.setenv(f"MEMTUI_EMBEDDING_{name}", str(getattr(embedding, value)))
    monkeypatch.setattr(open_store.open_for, "__defaults__", (lambda: NOW_MS,))  # the command's clock
    told: dict[str, list[str]] = {}
    for name in ("alone", "beside"):
        store = MAKERS[kind](tmp_path / name, foreign=name == "beside")
        for each in ("STATE", "CONFIG", "CACHE"):
            monkeypatch.setenv(f"MEMTUI_{each}_DIR", str(tmp_path / f"{name}-{each}"))
        answers = told[name] = []
        for question in questions:
            for more in ([], ["--json"], ["--pack", "900"], ["--session", "one", "--json"]):
                code = run(["inject", question, "--store", str(store), "--as", "ops", *more])
                out, err = capsys.readouterr()
                assert code == 0, err
                answers.append(f"{out}\n{err}".replace(str(store), "STORE"))
        if kind == "engine":  # the plugin's jobs do not work on such a table
            continue
        state = tmp_path / f"{name}-hook"
        state.mkdir()
        with door_to(store, state, embedding).engine as engine:
            for question in questions:
                event = json.dumps({"prompt": question, "agentId": "ops", "sessionKey": "agent:ops:one"})
                answers.append(_plain(json.dumps(play(engine, read_event("prompt_build", event), {}, state))))
    for alone, beside in zip(told["alone"], told["beside"], strict=True):
        assert alone == beside
    assert "Skye" in "".join(told["beside"])
    assert "Marigold" not in "".join(told["beside"])
