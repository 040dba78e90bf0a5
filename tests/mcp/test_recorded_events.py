"""Every recording of injection, reflection, learnings, mirror, summaries and jobs through the door itself.

Each step is one event as a host hands it to `memtui hook`, or one call of a tool over the server, on the same store;
the store is opened anew for each, so what lives between events lives in files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from memtui.engine import Engine, open_engine
from memtui.engine.capture import play, read_event
from memtui.engine.capture.chat import ModelReply, NoReplyError
from memtui.engine.capture.replays import TICK_MS, RecordingReplay, marked, read_recordings
from memtui.engine.clients import CallJournal
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.mcp.door import Door
from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.server import make_server
from tests.conformance.capture_compare import differences
from tests.conftest import thinned
from tests.engine.loopback import Loopback, loopback
from tests.mcp.plugin_details import plugins_own

KINDS = (
    "inject-",
    "reflect-",
    "learnings-",
    "mirror-",
    "compaction",
    "dreaming",
    "summary-",
    "session-story",
)
FILE = (
    Path(os.environ.get("MEMTUI_FIXTURES") or Path(__file__).parents[3] / "shared" / "fixtures")
    / "capture"
    / "scenarios.jsonl.gz"
)
RECORDED: dict[str, dict[str, Any]] = (
    {each["id"]: each for each in read_recordings(FILE) if each["id"].startswith(KINDS)}
    if FILE.is_file()
    else {}
)
if not RECORDED:
    pytest.skip(f"left out: no recorded scenarios at {FILE}", allow_module_level=True)

EVENTS = {
    "agent:bootstrap": "session_start",
    "after_tool_call": "tool_end",
    "command:new": "session_reset",
    "command:reset": "session_reset",
    "before_reset": "session_reset",
}
"""The host's own names of its hooks, and the event that each is."""


class Stage:
    """One recording's store and files, and the events of its host."""

    def __init__(self, recorded: Mapping[str, Any], folder: Path, service: Loopback) -> None:
        self.recorded, self.folder, self.service = recorded, folder, service
        text = json.dumps(recorded, ensure_ascii=False)
        self.here = json.loads(text.replace("<root>", str(folder / "files")))
        self.replay = RecordingReplay(recorded, {}, (), folder)
        service.vectors = dict(recorded.get("embeddings") or {})
        service.dims = self.replay.vectors.dims
        self.now = int(recorded["now"])
        self.reflections = list(recorded.get("reflection_replies") or [])
        self.agents = ((self.here.get("host_config") or {}).get("agents") or {}).get("list") or []
        self.config = {"extractMinMessages": 1, **(self.here.get("config") or {})}

    @contextmanager
    def opened(self) -> Iterator[Engine]:
        with open_engine(
            self.folder / "db",
            now=lambda: self.now,
            environ={},
            cwd=self.folder,
            embedding=EmbeddingSettings(model="recorded", base_url=f"{self.service.url}/v1"),
            writable=True,
            state=self.folder / "state",
        ) as engine:
            yield engine

    def chat(self, purpose: str, parts: Mapping[str, Any], **more: Any) -> Any:
        """The recorded replies in place of a model."""
        if purpose != "reflect":
            return self.replay.replies(purpose, parts, **more)
        if not self.reflections:
            raise NoReplyError("no reply was recorded")
        reply = self.reflections.pop(0)
        if "error" in reply:
            raise NoReplyError(str(reply["error"]))
        return ModelReply(str(reply["text"]))

    def event(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Play one event of the host."""
        name = EVENTS.get(str(step.get("name")), str(step["do"]))
        inner = {**(step.get("event") or {})}
        inner |= {key: step[key] for key in ("messages", "channelId", "content", "success") if key in step}
        text = json.dumps({"event": inner, "ctx": step.get("ctx") or {}})
        self.service.late_s = float(step.get("embed_delay_ms") or 0) / 1000
        with self.opened() as engine:
            told = read_event(name, text)
            return play(engine, told, self.config, self.folder / "files" / "ws", self.chat, self.agents)

    def with_ids(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with the ids of rows that were made here in place of the recorded ones."""
        self.replay.draft.store.refresh()
        ours = {(each["timestamp"], each["text"]): each["id"] for each in self.replay.left()["rows_created"]}
        text = json.dumps(params)
        for row in self.recorded["rows_created"]:
            text = text.replace(row["id"], ours.get((row["timestamp"], row["text"]), row["id"]))
        found: dict[str, Any] = json.loads(text)
        return found

    async def tool(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Call one tool over the server."""
        params = self.with_ids(step.get("params") or {})
        with self.opened() as engine:
            agent = str((step.get("ctx") or {}).get("agentId") or "main")
            door = Door(lambda: engine, agent=agent, writable=True, client=f"mcp:{agent}")
            door.tools = openclaw_tools(self.folder / "files" / "ws", self.config, self.agents)
            async with Client(make_server(door)) as client:
                result = await client.call_tool(step["name"], params)
                assert not result.is_error, result.content
                return {"text": result.content[0].text, "details": plugins_own(result.structured_content)}


def blocks(answer: Sequence[Mapping[str, Any]]) -> str:
    """What the recorded handlers put before a prompt, in their order."""
    return "\n\n".join(
        text for each in answer if (text := (each.get("result") or {}).get("prependContext", ""))
    )


def expected(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The recording as the door tells it: answers and what is left, not the traces in between."""
    steps = []
    for step in recorded["steps"]:
        kept = {key: value for key, value in step.items() if key not in ("trace", "queues", "answer")}
        if step["do"] == "prompt_build":
            kept["answer"] = blocks(step["answer"])
        elif step["do"] == "tool" or step.get("name") == "agent:bootstrap":
            kept["answer"] = step["answer"]
        steps.append(kept)
    return {**recorded, "steps": steps}


def renamed(found: Mapping[str, Any], recorded: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """With new rows in the order in which the plugin made them, under the ids that it counted."""
    wanted = [(each["timestamp"], each["text"]) for each in recorded["rows_created"]]
    rows = sorted(
        found["rows_created"],
        key=lambda row: next(
            (at for at, key in enumerate(wanted) if key == (row["timestamp"], row["text"])), len(wanted)
        ),
    )
    text = json.dumps({**found, "rows_created": rows}, ensure_ascii=False)
    text = text.replace(str(folder / "files"), "<root>")
    for row, of in zip(rows, recorded["rows_created"], strict=False):
        text = text.replace(row["id"], of["id"]).replace(row["id"][:8], of["id"][:8])
    result: dict[str, Any] = json.loads(text)
    return result


@pytest.fixture
def service() -> Iterator[Loopback]:
    """A server that embeds."""
    with loopback() as running:
        yield running


@pytest.mark.parametrize("name", thinned(RECORDED, 6))
async def test_the_recording_is_equal_through_the_door(name: str, tmp_path: Path, service: Loopback) -> None:
    recorded = RECORDED[name]
    stage = Stage(recorded, tmp_path, service)
    steps: list[dict[str, Any]] = []
    played = 0
    for step, wanted in zip(stage.here["steps"], expected(recorded)["steps"], strict=True):
        told = {key: value for key, value in wanted.items() if key != "answer"}
        if step["do"] == "advance":
            stage.now += int(step["ms"])
        elif step["do"] == "tool":
            told["answer"] = marked(await stage.tool(step))
            stage.now += TICK_MS
        elif step["do"] == "reflection_slices":
            stage.now += TICK_MS  # the loader alone: what it loads stands in the prompts before
        else:
            answer = stage.event(step)
            played += 1
            if "answer" in wanted:
                told["answer"] = marked(answer["files" if "files" in answer else "prependContext"])
            stage.now += TICK_MS
        steps.append(told)
    stage.replay.draft.store.refresh()
    left = stage.replay.left()
    state = stage.folder / "state"
    left["files_after"] |= {
        f"state/{file.name}": file.read_text() for file in state.rglob(".compaction-state.json")
    }
    different = differences(renamed({**left, "steps": steps}, recorded, tmp_path), expected(recorded))
    assert not different, "\n".join(different[:20])
    with stage.opened() as engine:
        place = engine.state_place
    assert place is not None
    assert len([each for each in CallJournal(place).read() if each.via == "hook"]) == played
