"""`memtui inject` and `memtui hook` as a host calls them: real processes, JSON in, JSON out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.recall.recipes.registry import all_recipes, recipe_named
from tests.conftest import ROOT, copied, tree_hash

FACT = "I prefer the greenhouse report as a printed weekly grid on yellow card"


class Host:
    """A store, and the program called on it."""

    def __init__(self, folder: Path, empty_store: Path) -> None:
        self.store = copied(empty_store, folder / "store")
        self.environ = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        self.environ |= {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        self.folder = folder

    def call(self, *arguments: str, event: Any = None, code: int = 0) -> subprocess.CompletedProcess[str]:
        text = event if isinstance(event, str) else json.dumps(event or {})
        done = subprocess.run(
            [sys.executable, "-m", "memtui", *arguments],
            input=text,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=self.environ,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def hook(self, name: str, event: Any, *more: str) -> dict[str, Any]:
        arguments = ("hook", name, "--store", str(self.store), "--workspace", str(self.folder), *more)
        found: dict[str, Any] = json.loads(self.call(*arguments, event=event).stdout)
        return found


@pytest.fixture
def host(tmp_path: Path, empty_store: Path) -> Host:
    return Host(tmp_path, empty_store)


def turn(session: str) -> dict[str, Any]:
    """A turn of OpenClaw's agent."""
    said = [{"role": "user", "content": FACT}, {"role": "assistant", "content": "Noted."}]
    return {"event": {"messages": said}, "ctx": {"agentId": "main", "sessionKey": f"agent:main:{session}"}}


@pytest.mark.slow
def test_what_a_turn_said_is_captured_and_comes_before_the_next_sessions_prompt(host: Host) -> None:
    assert host.hook("agent_end", turn("one"), "--rw")["written"] == 1
    assert host.hook("session_end", {"ctx": turn("one")["ctx"], "event": {"reason": "new"}}, "--rw")
    entry = json.loads(host.call("journal", "--store", str(host.store), "--json").stdout)
    assert "hook:main" in json.dumps(entry)
    asked = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "two",
        "prompt": "How should the greenhouse report be printed every week?",
    }
    first = host.hook("prompt_build", asked, "--rw")
    assert set(first) == {"hookSpecificOutput"}  # Codex refuses any key beside it
    assert set(first["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert FACT in first["hookSpecificOutput"]["additionalContext"]
    assert "{{" not in first["hookSpecificOutput"]["additionalContext"]
    assert host.hook("prompt_build", asked, "--rw") == {}  # this session has it already
    other = host.hook("prompt_build", {**asked, "session_id": "three"}, "--rw")
    assert FACT in other["hookSpecificOutput"]["additionalContext"]
    assert host.hook("prompt_build", {**asked, "agentId": "someone"}) == {}


@pytest.mark.slow
def test_before_a_compaction_what_was_said_is_kept(host: Host) -> None:
    assert host.hook("pre_compaction", turn("long"), "--rw")["written"] == 1
    assert host.hook("pre_compaction", turn("long"), "--rw")["written"] == 0


@pytest.mark.slow
def test_without_leave_to_write_no_byte_changes(host: Host) -> None:
    before = tree_hash(host.store)
    told = host.hook("agent_end", turn("one"))
    assert told["written"] == 0
    assert "--rw" in told["note"]
    assert tree_hash(host.store) == before


@pytest.mark.slow
def test_what_is_no_event_is_refused_with_what_to_give(host: Host) -> None:
    for wrong in ("", "[1]", "{broken"):
        done = host.call("hook", "agent_end", "--store", str(host.store), event=wrong, code=1)
        assert "JSON" in done.stderr
    wrong_messages = {"messages": "hello"}
    done = host.call("hook", "agent_end", "--store", str(host.store), event=wrong_messages, code=1)
    assert "messages" in done.stderr


@pytest.mark.slow
def test_whatever_fails_in_an_event_is_one_sentence_and_never_stops_the_host(host: Host) -> None:
    """Claude Code takes 2 for an order: it throws the prompt away, or lets the agent not end."""
    broken = host.folder / "broken.json"
    broken.write_text("{oops", encoding="utf-8")
    store = ("--store", str(host.store))
    for arguments in (
        ("--store", str(host.folder / "gone")),
        ("--store", str(broken)),
        ("--store", str(host.folder)),
        (*store, "--config", str(broken)),
        (*store, "--config", str(host.folder / "gone.json")),
        (*store, "--table", "nowhere"),
    ):
        done = host.call("hook", "prompt_build", *arguments, event={"prompt": "Which port is it?"})
        assert json.loads(done.stdout)["failed"]
        assert done.stderr.startswith("warning: ")
        named = {"hook_event_name": "UserPromptSubmit", "prompt": "Which port is it?"}
        done = host.call("hook", "prompt_build", *arguments, event=named)
        assert set(json.loads(done.stdout)) == {"systemMessage"}
        assert done.stderr == ""
    gone = {"transcript_path": str(host.folder / "gone.jsonl")}  # not written yet, as each new session's
    done = host.call("hook", "agent_end", "--rw", *store, event={**gone, "hook_event_name": "Stop"})
    assert (done.stdout.strip(), done.stderr) == ("{}", "")
    closed = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m memtui hook prompt_build --store "{host.store}" <&-'],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=host.environ,
        check=False,
    )
    assert (closed.returncode, closed.stdout) == (1, "")
    assert closed.stderr.startswith("error: Standard input holds no event.")


@pytest.mark.slow
def test_a_prompt_gets_its_block_where_nothing_can_be_kept_and_a_change_is_refused(host: Host) -> None:
    assert host.hook("agent_end", turn("one"), "--rw")["written"] == 1
    host.environ["XDG_STATE_HOME"] = "/dev/null/state"
    asked = {"session_id": "two", "prompt": "How should the greenhouse report be printed every week?"}
    for more in ((), ("--rw",)):
        assert FACT in host.hook("prompt_build", asked, *more)["prependContext"]
    said = {
        "messages": [{"role": "user", "content": "I prefer the boiler report as a daily list on blue card"}]
    }
    refused = host.call("hook", "agent_end", "--rw", "--store", str(host.store), event=said)
    assert "journal" in refused.stderr


@pytest.mark.slow
def test_sessions_whose_events_are_under_way_at_once_keep_what_each_of_them_knows(host: Host) -> None:
    """Four sessions get the same memory at once; then none of them gets it again."""
    host.hook("agent_end", turn("one"), "--rw")
    asked = "How should the greenhouse report be printed every week?"
    command = [sys.executable, "-m", "memtui", "hook", "prompt_build", "--rw", "--store", str(host.store)]
    for shown in (True, False):
        running = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=host.environ
            )
            for _ in range(4)
        ]
        for at, process in enumerate(running):
            assert process.stdin is not None
            process.stdin.write(json.dumps({"session_id": f"s{at}", "prompt": asked}))
            process.stdin.close()
        for process in running:
            assert process.stdout is not None
            told = json.loads(process.stdout.read())
            process.stdout.close()
            assert process.wait(120) == 0
            assert (FACT in told["prependContext"]) == shown


def test_a_client_known_by_its_name_alone_has_the_rights_that_it_started_with(host: Host) -> None:
    host.call("clients", "pause", "mcp:ops")
    host.call("clients", "add", "codex")
    told = host.call("clients").stdout
    assert "agent:mcp:ops" not in told
    assert "start options" in told
    assert "global, agent:codex" in told


@pytest.mark.slow
def test_a_prompt_waits_for_no_other_writer(host: Host) -> None:
    """A lock that a program holds or left would keep each prompt for a minute, and leave it without its block."""
    host.hook("agent_end", turn("one"), "--rw")
    held = host.store / ".memory-write.lock.lock"
    held.mkdir()
    asked = {"session_id": "two", "prompt": "How should the greenhouse report be printed every week?"}
    told = host.hook("prompt_build", asked, "--rw")
    assert FACT in told["prependContext"]
    assert "write lock" in told["note"]
    held.rmdir()
    again = host.hook("prompt_build", asked, "--rw")
    assert again["prependContext"] == ""  # this session has it already
    other = host.hook("prompt_build", {**asked, "session_id": "three"}, "--rw")
    assert FACT in other["prependContext"]
    assert "note" not in other


@pytest.mark.slow
def test_half_of_a_character_in_what_was_said_is_kept_as_a_mark(host: Host) -> None:
    """JavaScript cuts texts between the halves of a character, and its JSON holds them so."""
    half = FACT.replace("weekly", "weekly \ud83d")
    transcript = host.folder / "session.jsonl"
    said = {"role": "user", "content": half}
    transcript.write_text(json.dumps({"type": "user", "message": said}) + "\n", encoding="utf-8")
    for event in ({"messages": [said]}, {"transcript_path": str(transcript)}):
        host.hook("agent_end", event, "--rw")
    rows = json.loads(host.call("ls", "--store", str(host.store), "--json").stdout)["rows"]
    assert [each["text"] for each in rows] == [FACT.replace("weekly", "weekly \ufffd")]


@pytest.mark.slow
def test_the_block_for_a_question_is_printed_alone(host: Host) -> None:
    host.hook("agent_end", turn("one"), "--rw")
    question = "How should the greenhouse report be printed every week?"
    said = host.call("inject", question, "--as", "main", "--store", str(host.store))
    assert said.stdout.startswith("<relevant-memories>")
    assert FACT in said.stdout
    told = json.loads(host.call("inject", question, "--json", "--store", str(host.store)).stdout)
    assert told["block"] == said.stdout.rstrip("\n")
    assert len(told["ids"]) == 1
    other = host.call("inject", question, "--as", "someone", "--store", str(host.store))
    assert other.stdout == ""
    assert "nothing is injected" in other.stderr


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [each.name for each in all_recipes() if each.prompt])
def test_nothing_is_injected_that_the_agent_may_not_read(host: Host, recipe: str) -> None:
    said = "The greenhouse report is printed every week"
    for scope in ("agent:main", "agent:ops", "user:eva"):
        host.call("add", f"{said} for {scope}.", "--scope", scope, "--store", str(host.store), "--yes")
    question = "How is the greenhouse report printed every week?"
    arguments = ("inject", question, "--recipe", recipe, "--as", "ops", "--json", "--store", str(host.store))
    told = json.loads(host.call(*arguments).stdout)
    info = recipe_named(recipe)
    if info.own_rows or info.scope_by_scope:
        return  # they know no scopes of an agent, and say so
    assert "agent:ops" in told["block"], told
    assert "agent:main" not in told["block"]
    assert "user:eva" not in told["block"]


@pytest.mark.slow
def test_before_a_compaction_the_calculator_says_whether_notes_are_due(host: Host) -> None:
    near = {"agentId": "main", "totalTokens": 176_000, "compactionCount": 1, "contextWindowTokens": 200_000}
    flush = host.hook("pre_compaction", near)["flush"]
    assert (flush["due"], flush["threshold"], flush["tokens"]) == (True, 176_000, 176_000)
    assert flush["file"].startswith("memory/20")
    assert not host.hook("pre_compaction", {**near, "memoryFlushCompactionCount": 1})["flush"]["due"]
    assert not host.hook("pre_compaction", {"agentId": "main"})["flush"]["due"]


def shim(host: Host) -> dict[str, str]:
    """An environment where `memtui` is this program on the host's store, as a person has it on the path."""
    place = host.folder / "bin" / "memtui"
    place.parent.mkdir(exist_ok=True)
    command = f'exec "{sys.executable}" -m memtui "$@" --store "{host.store}" --workspace "{host.folder}"'
    place.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    place.chmod(0o755)
    return {**host.environ, "PATH": f"{place.parent}:{host.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def shown_block(start: str) -> str:
    """The example of the help topic that begins with this."""
    text = (ROOT / "memtui" / "help" / "agents.md").read_text(encoding="utf-8")
    lines = text[text.index(f"    {start}") :].split("\n\n")[0]
    return "\n".join(line.removeprefix("    ") for line in lines.splitlines())


@pytest.mark.slow
def test_the_hooks_shown_for_claude_code_capture_and_inject(host: Host) -> None:
    settings = json.loads(shown_block('{"hooks"'))["hooks"]
    transcript = host.folder / "session.jsonl"
    said = [("user", FACT), ("assistant", "Noted.")]
    transcript.write_text(
        "".join(
            json.dumps(
                {
                    "type": role,
                    "sessionId": "s1",
                    "uuid": f"u{at}",
                    "timestamp": f"2026-02-10T10:00:0{at}Z",
                    "message": {"role": role, "content": text},
                }
            )
            + "\n"
            for at, (role, text) in enumerate(said)
        ),
        encoding="utf-8",
    )
    environ = shim(host)

    def call(event: str, **more: str) -> dict[str, Any]:
        told = {"session_id": "s1", "transcript_path": str(transcript), "hook_event_name": event, **more}
        command = settings[event][0]["hooks"][0]["command"]
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(told),
            capture_output=True,
            text=True,
            env=environ,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    assert call("Stop") == {}
    assert call("PreCompact") == {}
    assert call("SessionEnd", reason="clear") == {}
    assert (
        settings["SessionEnd"][0]["hooks"][0]["timeout"] >= 30
    )  # without it the host gives 1.5 s, and cancels
    rows = json.loads(host.call("ls", "--store", str(host.store), "--json").stdout)["rows"]
    assert [each["text"] for each in rows] == [FACT]
    answer = call("UserPromptSubmit", session_id="s2", prompt="How should the greenhouse report be printed?")
    assert FACT in answer["hookSpecificOutput"]["additionalContext"]


def test_the_journal_of_calls_holds_words_only_where_they_are_asked_for_and_masks_them(host: Host) -> None:
    said = {"messages": [{"role": "user", "content": f"{FACT} The key is {'sk-' + 'a1B2' * 8}."}]}

    def kept() -> str:
        return "".join(file.read_text(encoding="utf-8") for file in host.folder.rglob("calls.jsonl"))

    host.hook("agent_end", {"agentId": "main", **said})
    assert '"agent_end"' in kept()
    assert "content" not in kept()
    host.hook("agent_end", {"agentId": "main", **said}, "--keep-texts")
    assert FACT in kept()
    assert "sk-a1B2" not in kept()
