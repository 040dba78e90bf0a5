"""The plugin's own tools over the server: every recorded call, and what the journal holds of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from memtui.engine import Engine, changes, open_engine
from memtui.engine.capture.replays import NEW_ID, TICK_MS, RecordingReplay, marked, read_recordings
from memtui.engine.changes.files_beside import PreparedFiles
from memtui.engine.changes.journal import Journal
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.mcp.door import Door
from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.server import make_server
from tests.conformance.capture_compare import differences
from tests.conftest import thinned, tree_hash
from tests.engine.loopback import Loopback, loopback
from tests.mcp.plugin_details import plugins_own

FILE = (
    Path(os.environ.get("MEMTUI_FIXTURES") or Path(__file__).parents[3] / "shared" / "fixtures")
    / "capture"
    / "scenarios.jsonl.gz"
)
RECORDED: dict[str, dict[str, Any]] = (
    {each["id"]: each for each in read_recordings(FILE) if each["id"].startswith("tool-")}
    if FILE.is_file()
    else {}
)
if not RECORDED:
    pytest.skip(f"left out: no recorded scenarios at {FILE}", allow_module_level=True)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.fixture
def service() -> Iterator[Loopback]:
    """A server that embeds."""
    with loopback() as running:
        yield running


class Stage:
    """One recording's store, and doors to it."""

    def __init__(self, recorded: dict[str, Any], folder: Path, service: Loopback) -> None:
        self.recorded, self.folder = recorded, folder
        self.replay = RecordingReplay(recorded, {}, (), folder)
        service.vectors = dict(recorded.get("embeddings") or {})
        service.dims = self.replay.vectors.dims
        self.url = f"{service.url}/v1"
        self.now = int(recorded["now"])

    def opened(self, *, writable: bool) -> Engine:
        return open_engine(
            self.folder / "db",
            now=lambda: self.now,
            environ={},
            cwd=self.folder,
            embedding=EmbeddingSettings(model="recorded", base_url=self.url),
            writable=writable,
            state=self.folder / "state",
        )

    def door(self, agent: str = "", *, writable: bool = True) -> Door:
        return Door(
            lambda: self.opened(writable=writable), agent=agent, writable=writable, client=f"mcp:{agent}"
        )

    @asynccontextmanager
    async def connected(self, door: Door) -> Any:
        door.tools = openclaw_tools(self.folder / "files" / "ws", self.recorded.get("config") or {})
        async with Client(make_server(door)) as client:
            yield client
        door.close()


def as_recorded(found: dict[str, Any], known: set[str], folder: Path) -> dict[str, Any]:
    """With new ids counted in the order in which they were answered, and paths from the recording's root."""
    text = json.dumps(found, ensure_ascii=False).replace(str(folder / "files"), "<root>")
    made = [each for each in dict.fromkeys(_UUID.findall(text)) if each not in known]
    for number, each in enumerate(made, 1):
        text = text.replace(each, f"{NEW_ID}{number:012d}").replace(each[:8], NEW_ID[:8])
    result: dict[str, Any] = json.loads(text)
    for key in ("rows_created", "rows_changed"):
        result[key].sort(key=lambda row: row["id"])
    return result


@pytest.mark.parametrize("name", thinned(RECORDED, 3))
async def test_every_recorded_call_is_answered_alike(name: str, tmp_path: Path, service: Loopback) -> None:
    recorded = RECORDED[name]
    stage = Stage(recorded, tmp_path, service)
    agents = {(step.get("ctx") or {}).get("agentId", "") for step in recorded["steps"]}
    assert len(agents) == 1
    steps = []
    async with stage.connected(stage.door(agents.pop())) as client:
        for step in recorded["steps"]:
            result = await client.call_tool(step["name"], step.get("params") or {})
            assert not result.is_error, result.content
            answer = marked(
                {"text": result.content[0].text, "details": plugins_own(result.structured_content)}
            )
            steps.append({**step, "answer": answer})
            stage.now += TICK_MS
    stage.replay.draft.store.refresh()
    known = {row["id"] for row in recorded["rows_before"]}
    ours = as_recorded({"steps": steps, **stage.replay.left()}, known, tmp_path)
    different = differences(ours, recorded)
    assert not different, "\n".join(different[:20])


async def test_a_call_is_one_entry_of_the_journal_and_can_be_taken_back(
    tmp_path: Path, service: Loopback
) -> None:
    stage = Stage(RECORDED["tool-promote-archive"], tmp_path, service)
    target = "aaaa0001-1111-4222-8333-000000000001"
    before = stage.replay.draft.get(target)
    async with stage.connected(stage.door("main")) as client:
        await client.call_tool("memory_forget", {"memoryId": target})
    with stage.opened(writable=True) as engine:
        engine.load_catalog()
        entry = engine.write_state.journal.entries()[0]
        assert (entry.as_json()["client"], entry.title) == ("mcp:main", "memory_forget by main")
        changes.apply(engine, changes.plan_undo(engine), confirmed=True)
    stage.replay.draft.store.refresh()
    after = stage.replay.draft.get(target)
    assert before is not None
    assert after is not None
    assert (after.text, after.metadata) == (before.text, before.metadata)


async def test_for_reading_only_no_byte_changes_and_recall_answers(tmp_path: Path, service: Loopback) -> None:
    stage = Stage(RECORDED["tool-explain-rank"], tmp_path, service)
    before = tree_hash(tmp_path / "db")
    query = RECORDED["tool-explain-rank"]["steps"][0]["params"]["query"]
    async with stage.connected(stage.door("main", writable=False)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"memory_recall", "memory_list", "memory_fact_query"} <= names
        assert not {"memory_store", "memory_forget", "memory_compact", "self_improvement_log"} & names
        refused = await client.call_tool("memory_store", {"text": "The gate code changed in May"})
        assert refused.is_error
        assert "--rw" in refused.content[0].text
        said = await client.call_tool("memory_recall", {"query": query})
        assert said.structured_content["count"] == 1
        row = said.structured_content["memories"][0]
        assert said.content[0].text.startswith(
            "<relevant-memories>\n<mode:summary>\nFound 1 memories:\n\n1. ["
        )
        assert f"1. [{row['id']}] [{row['category']}] " in said.content[0].text
    assert tree_hash(tmp_path / "db") == before


async def test_a_recall_counts_as_a_use_where_it_may_be_written(tmp_path: Path, service: Loopback) -> None:
    stage = Stage(RECORDED["tool-explain-rank"], tmp_path, service)
    query = RECORDED["tool-explain-rank"]["steps"][0]["params"]["query"]
    async with stage.connected(stage.door("main")) as client:
        said = await client.call_tool("memory_recall", {"query": query, "scope": "agent:other"})
    assert said.structured_content["ignoredScope"] == "agent:other"
    target = said.structured_content["memories"][0]["id"]
    counts = [stage.replay.before[target].meta(stage.now).access_count]
    stage.replay.draft.store.refresh()
    row = stage.replay.draft.get(target)
    assert row is not None
    meta = row.meta(stage.now)
    assert (meta.access_count, meta.last_accessed_at) == (counts[0] + 1, stage.now)


async def test_a_fact_is_told_as_it_was_at_a_time(tmp_path: Path, service: Loopback) -> None:
    recorded = RECORDED["tool-update-supersede"]
    stage = Stage(recorded, tmp_path, service)
    async with stage.connected(stage.door("main")) as client:
        done = await client.call_tool("memory_update", recorded["steps"][0]["params"])
        old, new = done.structured_content["oldId"], done.structured_content["newId"]
        stage.replay.draft.store.refresh()
        row = stage.replay.draft.get(new)
        assert row is not None
        key = row.meta(stage.now).fact_key
        stage.now += 1000
        now = await client.call_tool("memory_fact_query", {"factKey": key, "includeHistory": True})
        fact = now.structured_content["facts"][0]
        assert fact["current"]["id"] == new
        assert [each["id"] for each in fact["history"]] == [old, new]
        then = await client.call_tool(
            "memory_fact_query", {"factKey": key, "at": fact["history"][0]["validFrom"]}
        )
        assert then.structured_content["facts"][0]["current"]["id"] == old
        nothing = await client.call_tool("memory_fact_query", {})
        assert nothing.structured_content == {"error": "missing_selector", "untrusted": True}


async def test_a_call_that_changes_only_files_is_an_entry_that_can_be_taken_back_and_made_again(
    tmp_path: Path, service: Loopback
) -> None:
    recorded = RECORDED["tool-learning"]
    stage = Stage(recorded, tmp_path, service)
    workspace = tmp_path / "files" / "ws"

    def files() -> dict[str, str]:
        return {str(each): each.read_text() for each in sorted(workspace.rglob("*")) if each.is_file()}

    before, rows = files(), tree_hash(tmp_path / "db" / "memories.lance")
    async with stage.connected(stage.door("main")) as client:
        logged = await client.call_tool("self_improvement_log", recorded["steps"][0]["params"])
        assert not logged.is_error
    after = files()
    assert after != before
    assert tree_hash(tmp_path / "db" / "memories.lance") == rows
    with stage.opened(writable=True) as engine:
        entry = engine.write_state.journal.entries()[0]
        assert (entry.title, entry.rows, entry.state) == ("self_improvement_log by main", 0, "applied")
        assert entry.as_json()["client"] == "mcp:main"
        planned = changes.plan_undo(engine)
        assert planned.asides
        changes.apply(engine, planned)
        assert files() == before
        changes.apply(engine, changes.plan_redo(engine))
        assert files() == after
        assert [each.state for each in engine.write_state.journal.entries()] == [
            "applied",
            "undone",
            "applied",
        ]
        (changed,) = [each for each in after if after[each] != before.get(each)][:1]
        Path(changed).write_text("# a person wrote here\n")
        outcome = changes.apply(engine, changes.plan_undo(engine))
        assert any("changed since" in each for each in outcome.warnings)
        assert Path(changed).read_text() == "# a person wrote here\n"


async def test_files_of_a_call_that_was_cut_off_can_be_finished_or_taken_back(
    tmp_path: Path, service: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = RECORDED["tool-learning"]
    stage = Stage(recorded, tmp_path, service)
    log = "files/ws/.learnings"

    def texts() -> list[str]:
        return [each.read_text() for each in sorted((tmp_path / log).glob("*.md"))]

    before = texts()
    async with stage.connected(stage.door("main")) as client:
        with monkeypatch.context() as patched:

            def killed(self: Any, *given: Any, **more: Any) -> None:
                raise SystemExit

            patched.setattr(Journal, "applied", killed)
            patched.setattr(Journal, "drop", lambda self, entry: None)
            patched.setattr(PreparedFiles, "take", killed)
            with pytest.raises((SystemExit, BaseExceptionGroup)):
                await client.call_tool("self_improvement_log", recorded["steps"][0]["params"])
    assert texts() == before
    with stage.opened(writable=True) as engine:
        (cut,) = changes.find_interrupted(engine)
        assert cut.found.value == "not there"
        changes.finish_entry(engine, cut.entry.entry)
        assert texts() != before
        assert changes.find_interrupted(engine) == []
        changes.apply(engine, changes.plan_undo(engine))
        assert texts() == before


async def test_a_file_outside_of_the_workspace_is_refused(tmp_path: Path, service: Loopback) -> None:
    recorded = RECORDED["tool-learning"]
    stage = Stage(recorded, tmp_path, service)
    async with stage.connected(stage.door("main")) as client:
        logged = await client.call_tool("self_improvement_log", recorded["steps"][0]["params"])
        name = logged.structured_content["id"]
        wanted = {"learningId": name, "skillName": "drip-loop", "outputDir": "../../outside"}
        refused = await client.call_tool("self_improvement_extract_skill", wanted)
    assert refused.is_error
    assert "workspace" in refused.content[0].text
    assert not (tmp_path / "outside").exists()
