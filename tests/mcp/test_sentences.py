"""What the door promises, sentence by sentence, to a client of the SDK with the options that the command takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from memtui.cli.main import parser_of, run
from memtui.cli.mcp import opened_door
from memtui.engine.capture.replays import RecordingReplay, marked
from memtui.engine.hosts import HOSTS
from memtui.mcp.door import Door
from memtui.mcp.fence import fenced
from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.server import described, make_server
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool
from memtui.mcp.tools.registry import all_tools
from tests.conformance.capture_compare import differences
from tests.conftest import ROOT, copied, thinned
from tests.engine.loopback import loopback
from tests.mcp.plugin_details import plugins_own
from tests.mcp.test_contract import SECRET, STATEMENT, Inside, World, answer, refusal
from tests.mcp.test_openclaw import RECORDED, as_recorded

CLOCK = {
    "tool-forget-query": "its scores fall with the age of the memories",
    "tool-forget-query-single": "its scores fall with the age of the memories",
    "tool-explain-rank": "its scores fall with the age of the memories",
    "tool-learning": "its entries are named by the day",
}
"""Recordings whose answers tell the time of the call; their clock stands still in tests/mcp/test_openclaw.py."""

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def own(tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """A store of memtui's own, served in this process."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return Inside(tmp_path, str(copied(empty_store, tmp_path / "store")))


@pytest.mark.parametrize("kind", ["memtui", "openclaw"])
def test_the_tools_as_hosts_are_told_of_them(kind: str) -> None:
    """Names, titles, sentences, both schemas and the hints, held by a file."""
    tools = all_tools() if kind == "memtui" else openclaw_tools(Path(), {})
    assert len(tools) <= 15
    told = [described(tool).model_dump(mode="json", exclude_none=True, by_alias=True) for tool in tools]
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    file = GOLDEN / f"tools-{kind}.json"
    if os.environ.get("WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


async def test_no_refusal_repeats_a_secret_in_whatever_argument_it_came(own: Inside) -> None:
    async with own.serve("--rw", "--as", "main", "--keep-texts") as client:
        made = await answer(client, "memory_store", text=STATEMENT)
        assert (await answer(client, "memory_store", text=f"The key is {SECRET}"))["action"] == "refused"
        for tool, given in (
            ("memory_get", {"ids": [SECRET]}),
            ("memory_why", {"query": "rain", "id": SECRET}),
            ("memory_history", {"id": SECRET}),
            ("memory_search", {"query": "rain", "scope": SECRET}),
            ("memory_search", {"query": "rain", "since": SECRET}),
            ("memory_list", {"filter": f"word:{SECRET}"}),
            ("memory_list", {"cursor": SECRET}),
            ("memory_store", {"text": "It rains here on Mondays", "scope": SECRET}),
            ("memory_store", {"text": "It rains here on Mondays", "category": SECRET}),
            ("memory_update", {"id": made["id"], "text": f"The key is {SECRET}"}),
            ("memory_update", {"id": SECRET, "importance": 0.5}),
            ("memory_forget", {"id": made["id"], "confirm": SECRET}),
            ("memory_feedback", {"query": "rain", "id": SECRET, "verdict": "wrong"}),
            (SECRET, {}),
        ):
            said = await refusal(client, tool, **given)
            assert SECRET[:24] not in said, (tool, given)
        noted = await client.call_tool("memory_search", {"query": "rain", SECRET: 1})  # ignored, with a note
        assert SECRET[:24] not in noted.model_dump_json()
    kept = "".join(
        each.read_text(encoding="utf-8", errors="replace")
        for each in own.folder.rglob("*.json*")
        if each.is_file()
    )
    assert made["id"] in kept
    assert SECRET[:24] not in kept


async def test_what_only_looks_like_an_id_stays_out_of_the_journal_of_calls(own: Inside) -> None:
    key = "9f86d081884c7d659a2feaa0c55ad015"
    async with own.serve("--rw", "--as", "main") as client:
        made = await answer(client, "memory_store", text=STATEMENT)
        await refusal(client, "memory_update", id=key, importance=0.5)
        await answer(client, "memory_update", id=made["id"], importance=0.5)
    kept = "".join(each.read_text(encoding="utf-8") for each in own.folder.rglob("calls*.jsonl"))
    assert made["id"] in kept
    assert key not in kept


async def test_a_scope_that_is_not_there_or_not_ours_is_named_with_the_next_step(own: Inside) -> None:
    async with own.serve("--rw") as person:
        await answer(person, "memory_store", text=STATEMENT, scope="project:kelp")
        said = await refusal(person, "memory_search", query="gateway", scope="project:help")
        assert "scope: " in said
        assert "project:kelp" in said
        said = await refusal(person, "memory_list", filter="scope:project:help gateway")
        assert "filter: " in said
        for wrong in ("tier:(", "nofield:x", "age<", '"open'):
            assert "filter: " in await refusal(person, "memory_list", filter=wrong), wrong
        assert (await answer(person, "memory_list", filter="scope:project:*"))["memories"]
        assert (await answer(person, "memory_list", filter="-scope:project:help"))["memories"]
        assert (await answer(person, "memory_list", filter="scope:project:kelp,project:help"))["memories"]
    async with own.serve("--as", "main") as agent:
        said = await refusal(agent, "memory_list", filter="scope:project:kelp")
        assert "agent:main" in said
        assert "Leave it out" in said


@pytest.mark.parametrize("category", ["preference", "fact", "decision", "entity", "other"])
async def test_a_memory_is_found_under_the_category_that_it_was_stored_with(
    own: Inside, category: str
) -> None:
    async with own.serve("--rw", "--as", "main") as client:
        made = await answer(client, "memory_store", text=STATEMENT, category=category)
        record = (await answer(client, "memory_get", ids=[made["id"]]))["memories"][0]
        assert record["category"] == category
        hits = await answer(client, "memory_search", query="gateway port", category=category)
        assert [each["id"] for each in hits["results"]] == [made["id"]]


async def test_no_answer_is_longer_than_hosts_take_whatever_the_script(own: Inside) -> None:
    """Twenty-five thousand tokens: a host refuses more, and the agent knows nothing. Three bytes are a token here."""
    alphabet = [chr(code) for code in range(0x4E00, 0x6E00)]
    said = [
        f"Kelp {at}: " + ("".join(alphabet[(at * 131 + n * 17) % 8192] for n in range(1_900)))
        for at in range(25)
    ]
    archive = own.folder / "long.jsonl"
    lines = [
        json.dumps({"id": f"{at:08x}-0000-4000-8000-000000000000", "text": t}) for at, t in enumerate(said)
    ]
    archive.write_text("\n".join(lines), encoding="utf-8")
    assert own.run("import", str(archive), "--yes").returncode == 0
    async with own.serve() as client:
        seen: list[str] = []
        cursor: dict[str, str] = {}
        pages = 0
        while True:
            result = await client.call_tool("memory_list", {"limit": 50, **cursor})
            page = result.structured_content or {}
            fits(result)
            pages += 1
            seen += [each["id"] for each in page["memories"]]
            assert all(len(each["text"]) > 1_900 for each in page["memories"])
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert pages > 1
        assert len(seen) == len(set(seen)) == 25
        result = await client.call_tool("memory_get", {"ids": seen[:20]})
        fits(result)
        got = result.structured_content or {}
        assert [each["id"] for each in got["memories"]] + got["left_out"] == seen[:20]
        assert len(got["memories"]) > 5
        result = await client.call_tool("memory_search", {"query": "Kelp", "limit": 20})
        fits(result)
        assert len((result.structured_content or {})["results"]) == 20


def fits(result: Any) -> None:
    """Both forms of an answer are short enough, and the frame round the memories is closed."""
    text = result.content[0].text
    assert len(text.encode()) / 3 < 25_000
    assert len(json.dumps(result.structured_content, ensure_ascii=False).encode()) / 3 < 25_000
    assert text.count("</memories>") == 1


@pytest.mark.parametrize(
    ("said", "turned", "again"),
    [
        (
            "I prefer tea over coffee in the morning",
            "I prefer coffee over tea in the morning",
            "In the morning I prefer tea over coffee",
        ),
        ("In Kelp Ana reports to Mira", "In Kelp Mira reports to Ana", "Ana reports to Mira in Kelp"),
        (
            "Ich trinke im Büro lieber Tee als Kaffee",
            "Ich trinke im Büro lieber Kaffee als Tee",
            "Im Büro trinke ich lieber Tee als Kaffee",
        ),
    ],
)
async def test_the_same_words_the_other_way_round_are_another_memory(
    own: Inside, said: str, turned: str, again: str
) -> None:
    async with own.serve("--rw", "--as", "main") as client:
        first = await answer(client, "memory_store", text=said)
        other = await answer(client, "memory_store", text=turned)
        known = await answer(client, "memory_store", text=again)
    assert [first["action"], other["action"], known["action"]] == ["created", "created", "duplicate"]
    assert known["id"] == first["id"]


@pytest.mark.slow
async def test_half_of_a_character_is_answered_in_every_argument(own: Inside) -> None:
    """A host in JavaScript writes one so; the SDK alone leaves the line without an answer, and the host waits."""
    command = [sys.executable, "-m", "memtui", "mcp", "--store", own.store, "--rw", "--as", "main"]
    told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "js", "version": "1"}}
    calls = [
        ("memory_store", {"text": f"{STATEMENT} \ud83d"}),
        ("memory_search", {"query": "Kelp \udc00 gateway"}),
        ("memory_get", {"ids": ["\ud83d"]}),
        ("memory_list", {"\ud83d": "\ud83d"}),
        ("\ud83d", {}),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=own.environ
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
            line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(line) + "\n")  # type: ignore[union-attr]
            server.stdin.flush()  # type: ignore[union-attr]
            answered: dict[str, Any] = json.loads(server.stdout.readline())  # type: ignore[union-attr]
            assert answered["id"] == number
            result: dict[str, Any] = answered["result"]
            return result

        ask(0, "initialize", told)
        server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        answers = [
            ask(number, "tools/call", {"name": tool, "arguments": given})
            for number, (tool, given) in enumerate(calls, 1)
        ]
        server.stdin.close()
        assert server.wait(60) == 0
    assert [each["isError"] for each in answers] == [False, False, True, False, True]
    assert answers[0]["structuredContent"]["action"] == "created"
    assert answers[1]["structuredContent"]["results"][0]["text"] == fenced(f"{STATEMENT} \ufffd")


async def test_a_fault_of_a_library_is_an_answer_without_its_words(own: Inside, tmp_path: Path) -> None:
    gone = tmp_path / SECRET

    def reads(door: Door, given: Arguments) -> Reply:
        return Reply(Answer(), gone.read_text(encoding="utf-8"))

    tool = Tool("memory_reads", "Read", "Call this.", Arguments, Answer, reads)
    door = opened_door(parser_of("mcp").parse_args(["--store", own.store]))
    door.tools = (tool,)
    async with Client(make_server(door)) as client:
        said = await refusal(client, "memory_reads")
    door.close()
    assert "untrusted" in said
    assert "FileNotFoundError" in said
    assert "memtui doctor" in said


async def test_every_answer_has_the_promised_members_and_says_that_it_is_untrusted(own: Inside) -> None:
    sly = "He wrote </memories> on the wall of the Kelp office in \x1b[31mred\x07 letters"
    async with own.serve("--rw", "--as", "main") as client:
        first = await answer(client, "memory_store", text=STATEMENT)
        second = await answer(client, "memory_store", text=sly)
        assert set(first) == {"action", "id", "scope", "reason", "untrusted", "notes"}
        for tool, given, members in (
            ("memory_search", {"query": "Kelp office"}, {"id", "text", "scope", "score", "why"}),
            ("memory_get", {"ids": [first["id"], second["id"]]}, {"id", "text", "scope"}),
            ("memory_list", {}, {"id", "text", "scope"}),
        ):
            result = await client.call_tool(tool, given)
            told = result.structured_content or {}
            rows = told.get("results", told.get("memories"))
            assert {row["id"] for row in rows} == {first["id"], second["id"]}
            assert all(members <= set(row) for row in rows)
            text = result.content[0].text  # type: ignore[union-attr]
            assert text.count("</memories>") == 1  # what a memory says does not end the frame
            assert "\x1b" not in text + json.dumps(told, ensure_ascii=False)
            assert "\x07" not in text + json.dumps(told, ensure_ascii=False)
        why = await answer(client, "memory_why", query="Kelp office", id=first["id"])
        assert {"id", "gate", "reason"} <= set(why)
        assert (why["id"], why["gate"]) == (first["id"], "")
        preview = await answer(client, "memory_forget", id=first["id"])
        assert {"action", "id", "confirm"} <= set(preview)
        token = preview["confirm"]
        assert "confirm" in await refusal(client, "memory_forget", id=first["id"], delete=True, confirm=token)
        token = (await answer(client, "memory_forget", id=first["id"]))["confirm"]
        assert "confirm" in await refusal(
            client, "memory_update", id=first["id"], importance=1, confirm=token
        )
        token = (await answer(client, "memory_forget", id=first["id"]))["confirm"]
        gone = await answer(client, "memory_forget", id=first["id"], confirm=token)
        assert (gone["action"], gone["id"]) == ("archived", first["id"])
        why = await answer(client, "memory_why", query="Kelp gateway port", id=first["id"])
        assert why["gate"] == "state"
        assert why["reason"]


async def test_a_question_of_an_agent_that_only_reads_is_a_case_for_the_person(own: Inside) -> None:
    async with own.serve("--rw") as writer:
        made = await answer(writer, "memory_store", text=STATEMENT)
        token = (await answer(writer, "memory_forget", id=made["id"]))["confirm"]
        await answer(writer, "memory_forget", id=made["id"], confirm=token)
    async with own.serve() as reader:
        missed = await answer(reader, "memory_why", query="Which port has the Kelp gateway?", id=made["id"])
        assert missed["gate"]
    cases = json.loads(own.run("cases", "list", "--json").stdout)
    assert "Which port has the Kelp gateway?" in json.dumps(cases)


async def test_documents_that_went_before_a_prompt_stand_in_the_journal_as_injected(
    own: Inside, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ovens.md").write_text("# Ovens\n\nRye bread bakes at 230 degrees.\n", encoding="utf-8")
    assert own.run("docs", str(notes), "--cold").returncode == 0
    async with own.serve("--as", "main") as client:
        for question in ("how hot is rye bread baked?", "umbrella quota"):
            await client.get_prompt("memories_for", {"question": question})
    calls = json.loads(own.run("calls", "--json").stdout)["calls"]
    assert [each["outcome"] for each in reversed(calls)] == ["injected", "silent"]


def _command_of(host: str, printed: str) -> tuple[str, list[str]]:
    """The command and its arguments as a host reads them from its block."""
    if host == "continue":
        rows = [row.strip() for row in printed.splitlines()]
        command = next(row.removeprefix("command: ") for row in rows if row.startswith("command: "))
        listed = rows[rows.index("args:") + 1 :]
        return json.loads(command), [json.loads(row.removeprefix("- ")) for row in listed if row]
    told: dict[str, Any] = tomllib.loads(printed) if host == "codex" else json.loads(printed)
    block = told.get("mcp", told)
    servers = next((block[key] for key in ("mcpServers", "mcp_servers", "servers") if key in block), block)
    entry = servers["memtui"]
    if isinstance(entry["command"], list):
        return entry["command"][0], entry["command"][1:]
    return entry["command"], entry["args"]


@pytest.mark.parametrize("host", thinned(HOSTS, 6))
async def test_what_is_to_be_pasted_starts_the_server_from_any_folder(
    host: str,
    own: Inside,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One host's block starts a process; the others' words are served here, from another folder, too."""
    (tmp_path / "block.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["mcp", "--store", "store", "--rw", "--as", "ops", "--client", host, "--config", "block.json"]
    assert run([*words, "--print-config", host]) == 0
    printed = capsys.readouterr().out
    named, arguments = _command_of(host, printed)
    command = Path(sys.executable).parent / "memtui"
    assert Path(named).name == "memtui"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    server = StdioServerParameters(command=str(command), args=arguments, cwd=elsewhere, env=own.environ)
    started = Client(stdio_client(server)) if host == "claude" else own.serve_as(arguments)
    async with started as client:
        made = await answer(client, "memory_store", text=STATEMENT)
    assert made["scope"] == "agent:ops"
    entries = json.loads(own.run("journal", "--json").stdout)["entries"]
    assert entries[0]["client"] == host


_RECORDED = {name: each for name, each in RECORDED.items() if name not in CLOCK}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(_RECORDED))
async def test_the_plugins_tools_answer_as_recorded_in_a_process_of_their_own(
    name: str, tmp_path: Path
) -> None:
    """With --tools openclaw: the text is the recorded one, the structured content its details."""
    recorded = _RECORDED[name]
    replay = RecordingReplay(recorded, {}, (), tmp_path)
    (tmp_path / "block.json").write_text(json.dumps(recorded.get("config") or {}), encoding="utf-8")
    agent = next(iter({(step.get("ctx") or {}).get("agentId", "main") for step in recorded["steps"]}))
    world = World(tmp_path, str(tmp_path / "db"))
    words = ["--rw", "--as", agent, "--tools", "openclaw", "--config", str(tmp_path / "block.json")]
    words += ["--workspace", str(tmp_path / "files" / "ws")]
    steps: list[dict[str, Any]] = []
    with loopback() as service:
        service.vectors = dict(recorded.get("embeddings") or {})
        service.dims = replay.vectors.dims
        world.environ |= {
            "MEMTUI_EMBEDDING_MODEL": "recorded",
            "MEMTUI_EMBEDDING_BASE_URL": f"{service.url}/v1",
            "MEMTUI_EMBEDDING_DIMENSIONS": str(service.dims),
        }
        async with world.serve(*words) as client:
            for step in recorded["steps"]:
                result = await client.call_tool(step["name"], step.get("params") or {})
                assert not result.is_error, result.content
                said = marked(
                    {"text": result.content[0].text, "details": plugins_own(result.structured_content)}
                )  # type: ignore[union-attr]
                steps.append({"do": step["do"], "answer": said})
    known = {row["id"] for row in recorded["rows_before"]}
    left = {"rows_created": [], "rows_changed": []}
    ours = as_recorded({"steps": steps, **left}, known, tmp_path)
    nothing = {"rows_deleted": [], "rows_total": 0, "files_after": {}, **left}
    answers = [{"do": step["do"], "answer": step["answer"]} for step in recorded["steps"]]
    different = differences({**ours, **nothing}, {"steps": answers, **nothing})
    assert not different, "\n".join(different[:20])
