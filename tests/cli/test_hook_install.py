"""`memtui hook --install HOST`: what is written into a host's settings, what it then runs, and the way back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import which

import json5
import pytest

from memtui.cli.main import run
from memtui.engine.hosts import HOOK_HOSTS, PERMISSION
from tests.cli.test_hook import FACT, Host, shim, turn
from tests.cli.test_hook_hosts import host
from tests.conftest import ROOT

__all__ = ["host"]

SETTINGS = """{
  // mine
  "model": "big",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], // a person's own
    "BeforeAgent": [],
  },
}
"""
PLACES = {name: f".{name}/settings.json" for name in ("claude", "gemini", "qwen")} | {
    "codex": ".codex/hooks.json"
}
ASKS = {"gemini": "BeforeAgent"}
OPENCLAW = """{
  plugins: { // the list
    allow: ["memory-lancedb-pro"],
    entries: { "memory-lancedb-pro": { enabled: true } },
  },
}
"""


def memtui(host: Host, *words: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "memtui", "hook", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=host.folder, env=shim(host), check=False, timeout=300
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def below(folder: Path) -> dict[str, bytes]:
    kept = ("state", "store", "bin")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in kept
    }


@pytest.mark.parametrize("name", sorted(PLACES))
def test_the_hooks_stand_beside_those_of_a_person_and_go_again(name: str, host: Host) -> None:
    project = host.folder / "project"
    path = project / PLACES[name]
    path.parent.mkdir(parents=True)
    path.write_text(SETTINGS, encoding="utf-8")
    there = below(host.folder)
    words = ["--install", name, str(project), "--store", str(host.store), "--rw"]
    assert "hook prompt_build" in memtui(host, *words, code=3)
    assert "hook prompt_build" in memtui(host, *words, "--dry-run")
    assert below(host.folder) == there
    memtui(host, *words, "--yes")
    told = json5.loads(path.read_text(encoding="utf-8"))
    assert told["model"] == "big"
    assert "// a person's own" in path.read_text(encoding="utf-8")
    assert told["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    commands = {
        event: [hook["command"] for group in groups for hook in group["hooks"] if "memtui" in hook["command"]]
        for event, groups in told["hooks"].items()
    }
    asks = commands[ASKS.get(name, "UserPromptSubmit")]
    assert len(asks) == 1
    done = subprocess.run(
        ["/bin/sh", "-c", asks[0]],
        input=json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "hi", "session_id": "s"}),
        capture_output=True,
        text=True,
        env=shim(host),
        check=False,
    )
    assert (done.returncode, done.stdout.strip()[:1]) == (0, "{"), done.stderr
    assert "nothing to change" in memtui(host, *words, "--yes")
    memtui(host, *words, "--keep-texts", "--yes")
    again = json5.loads(path.read_text(encoding="utf-8"))["hooks"]
    assert {event: len(groups) for event, groups in again.items()} == {
        event: len(groups) for event, groups in told["hooks"].items()
    }, "other options replace the hook, and add no second one"
    for _ in range(2):
        memtui(host, "--install", name, str(project), "--undo", "--yes")
    assert below(host.folder) == there
    memtui(host, "--install", name, "--undo", "--yes", code=3)


def test_openclaw_gets_a_whole_plugin_and_its_permission(host: Host) -> None:
    config = host.folder / ".openclaw" / "openclaw.json"
    config.parent.mkdir()
    config.write_text(OPENCLAW, encoding="utf-8")
    there = below(host.folder)
    plugin = host.folder / "my plugin"
    words = ["--install", "openclaw", str(plugin), "--store", str(host.store), "--rw"]
    said = memtui(host, *words, code=3)
    assert "allowConversationAccess" in said
    assert below(host.folder) == there
    memtui(host, *words, "--yes")
    manifest = json.loads((plugin / "openclaw.plugin.json").read_text(encoding="utf-8"))
    package = json.loads((plugin / "package.json").read_text(encoding="utf-8"))
    assert manifest["configSchema"]["type"] == "object"
    entry = plugin / package["openclaw"]["extensions"][0]
    assert entry.is_file()
    plugins = json5.loads(config.read_text(encoding="utf-8"))["plugins"]
    permission = plugins["entries"][manifest["id"]]["hooks"]
    assert permission == {"allowConversationAccess": True}
    assert f"plugins.entries.{manifest['id']}.hooks.allowConversationAccess" == PERMISSION
    assert plugins["allow"] == ["memory-lancedb-pro", manifest["id"]]
    assert plugins["load"]["paths"] == [str(plugin)]
    assert "// the list" in config.read_text(encoding="utf-8")
    config.write_text(
        config.read_text(encoding="utf-8").replace("enabled: true }", "enabled: false }"), "utf-8"
    )
    memtui(host, "--install", "openclaw", str(plugin), "--undo", "--yes")
    assert not plugin.exists()
    assert json5.loads(config.read_text(encoding="utf-8")) == json5.loads(
        OPENCLAW.replace("enabled: true", "enabled: false")
    )


def test_without_a_configuration_the_permission_is_named_and_nothing_else_is_made(host: Host) -> None:
    said = memtui(host, "--install", "openclaw", "--yes")
    assert PERMISSION in said
    assert (host.folder / ".openclaw" / "extensions" / "memtui-hooks" / "index.js").is_file()
    assert not (host.folder / ".openclaw" / "openclaw.json").exists()
    memtui(host, "--install", "openclaw", "--undo", "--yes")
    assert not (host.folder / ".openclaw").exists()


@pytest.mark.slow
def test_the_plugin_captures_and_injects(host: Host) -> None:
    node = which("node")
    if node is None:
        pytest.skip("left out: node is not there")
    plugin = host.folder / "plugin"
    memtui(host, "--install", "openclaw", str(plugin), "--store", str(host.store), "--rw", "--yes")
    script = f"""
const {{ default: plugin }} = await import({json.dumps((plugin / "index.js").as_uri())});
const on = {{}};
plugin.register({{ on: (name, run) => {{ on[name] = run; }} }});
const ctx = {{ agentId: "main", sessionKey: "agent:main:one" }};
await on.agent_end({json.dumps(turn("one")["event"])}, ctx);
const next = {{ agentId: "main", sessionKey: "agent:main:two" }};
const told = await on.before_prompt_build({{ prompt: "How should the greenhouse report be printed?" }}, next);
console.log(JSON.stringify(told));
"""
    command = [node, "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, env=shim(host), check=True)
    assert FACT in json.loads(done.stdout)["prependContext"]


def test_no_wrong_option_ends_with_the_2_that_stops_a_turn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for words in (
        ["prompt_build", "--no-such-option"],
        ["prompt_build", "extra"],
        ["--store"],
        ["no_such_event"],
        [],
        ["--rw=yes", "agent_end"],
        ["prompt_build", "--as"],
        ["--install", "no-such-host"],
    ):
        try:
            code = run(["hook", *words])
        except SystemExit as end:
            code = end.code
        assert code == 1, words
        told = capsys.readouterr()
        assert told.err.strip(), words
        assert not told.out


def test_every_host_with_hooks_is_in_the_help() -> None:
    text = (ROOT / "memtui" / "help" / "agents.md").read_text(encoding="utf-8")
    assert "memtui hook --install" in text
    assert all(name in text.lower() for name in HOOK_HOSTS)
