"""The hooks of each host: what its settings say so that it runs memtui for an event, and OpenClaw's plugin."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.hosts.formats import edited, read_text
from memtui.engine.hosts.piece import HOOK, ITEM, ConfigPiece, value_in
from memtui.engine.hosts.places import openclaw_file
from memtui.engine.hosts.written import HostPlan, PlannedFile, plan_pieces, read_file

HOOK_HOSTS = ("claude", "codex", "gemini", "qwen", "openclaw")

PLUGIN = "memtui-hooks"
"""The id of the plugin, in its manifest and in OpenClaw's configuration."""

PERMISSION = f"plugins.entries.{PLUGIN}.hooks.allowConversationAccess"
"""What OpenClaw asks for before it runs a plugin's hooks on a conversation."""

END_S = 60
"""Seconds that Claude Code gives the end of a session; without them it cancels the hook after 1.5."""

_ASKS = {"UserPromptSubmit": "prompt_build", "Stop": "agent_end", "PreCompact": "pre_compaction"}

_EVENTS: Mapping[str, Mapping[str, str]] = {
    "claude": {**_ASKS, "SessionEnd": "session_end"},
    "codex": _ASKS,
    "gemini": {
        "BeforeAgent": "prompt_build",
        "AfterAgent": "agent_end",
        "PreCompress": "pre_compaction",
        "SessionEnd": "session_end",
    },
    "qwen": {**_ASKS, "SessionEnd": "session_end"},
}
"""The events of each host and memtui's name of them."""

_PLUGIN_EVENTS = {
    "before_prompt_build": "prompt_build",
    "agent_end": "agent_end",
    "before_compaction": "pre_compaction",
    "session_end": "session_end",
}


def hook_file(host: str, folder: Path) -> Path:
    """The settings file of a project that names the hooks of a host. UsageError for another host."""
    if host not in HOOK_HOSTS:
        raise UsageError(f"memtui knows no hooks of {host!r}.", fix=f"Name one of {', '.join(HOOK_HOSTS)}.")
    return folder / f".{host}" / ("hooks.json" if host == "codex" else "settings.json")


def hook_pieces(host: str, command: str, options: Sequence[str]) -> tuple[ConfigPiece, ...]:
    """The groups of hooks that one of `HOOK_HOSTS` but OpenClaw needs to run `command` with `options`."""
    pieces = []
    for event, name in _EVENTS[host].items():
        hook: dict[str, Any] = {"type": "command", "command": shlex.join([command, "hook", name, *options])}
        if host == "claude" and name == "session_end":
            hook["timeout"] = END_S
        pieces.append(ConfigPiece(("hooks", event), {"hooks": [hook]}, key=HOOK))
    return tuple(pieces)


def plan_hooks(
    host: str,
    folder: Path | None,
    command: str,
    options: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path,
) -> HostPlan:
    """Plan the hooks of a host in a project's settings; for OpenClaw a plugin in `folder` and its permission.

    `folder` None is the project at `cwd`, and OpenClaw's own folder of extensions. Raises UsageError for another host.
    """
    if host != "openclaw":
        path = hook_file(host, folder or cwd)
        return plan_pieces(host, "hooks", path, hook_pieces(host, command, options))
    config = openclaw_file(environ, cwd)
    place = folder or config.parent / "extensions" / PLUGIN
    files = [
        PlannedFile(path, read_file(path), text.encode("utf-8"))
        for path, text in (
            (place / "openclaw.plugin.json", _manifest()),
            (place / "package.json", _package()),
            (place / "index.js", _code(command, options)),
        )
    ]
    config = Path(os.path.realpath(config))
    before = read_file(config)
    if before is None:
        return HostPlan(host, "hooks", tuple(files))
    _, tree = read_text(config, before)
    pieces = [ConfigPiece(("plugins", "entries", PLUGIN), _permission(), ours=("enabled", "hooks"))]
    if place.resolve().parent != (config.parent / "extensions").resolve():
        pieces.append(ConfigPiece(("plugins", "load", "paths"), str(place), key=ITEM))
    if value_in(tree, ("plugins", "allow")):  # a plugin that a list leaves out is not loaded
        pieces.append(ConfigPiece(("plugins", "allow"), PLUGIN, key=ITEM))
    after = before
    for piece in pieces:
        after = edited(config, after, piece)
    return HostPlan(host, "hooks", (*files, PlannedFile(config, before, after, tuple(pieces))))


def _permission() -> dict[str, Any]:
    return {"enabled": True, "hooks": {"allowConversationAccess": True}}


def permission_block() -> str:
    """What stands in openclaw.json for the plugin, to paste."""
    return json.dumps({"plugins": {"entries": {PLUGIN: _permission()}}}, indent=2)


def _manifest() -> str:
    schema = {"type": "object", "additionalProperties": False, "properties": {}}
    told = {
        "id": PLUGIN,
        "name": "Hooks of memtui",
        "description": "Injects memories into each prompt and captures after each answer, through memtui.",
        "version": "1.0.0",
        "configSchema": schema,
    }
    return json.dumps(told, indent=2) + "\n"


def _package() -> str:
    told = {
        "name": PLUGIN,
        "version": "1.0.0",
        "private": True,
        "type": "module",
        "openclaw": {"extensions": ["./index.js"]},
    }
    return json.dumps(told, indent=2) + "\n"


def _code(command: str, options: Sequence[str]) -> str:
    listed = ",\n".join(f"  {host}: {json.dumps(name)}" for host, name in _PLUGIN_EVENTS.items())
    return f"""// Written by memtui hook --install openclaw. OpenClaw runs these hooks only with
// {PERMISSION}: true in openclaw.json.
import {{ spawn }} from "node:child_process";

const COMMAND = {json.dumps(command)};
const OPTIONS = {json.dumps(list(options))};
const EVENTS = {{
{listed},
}};
// OpenClaw gives up a prompt's hook after 15 seconds.
const PROMPT_MS = 14_000;
const OTHER_MS = 60_000;

function ask(name, event, ctx) {{
  return new Promise((resolve) => {{
    let said = "";
    const timeout = name === "prompt_build" ? PROMPT_MS : OTHER_MS;
    const run = spawn(COMMAND, ["hook", name, ...OPTIONS], {{ timeout, stdio: ["pipe", "pipe", "inherit"] }});
    run.on("error", () => resolve({{}}));
    run.stdin.on("error", () => {{}});
    run.stdout.setEncoding("utf8").on("data", (part) => {{ said += part; }});
    run.on("close", () => {{
      try {{ resolve(JSON.parse(said)); }} catch {{ resolve({{}}); }}
    }});
    run.stdin.end(JSON.stringify({{ event, ctx }}));
  }});
}}

export default {{
  id: {json.dumps(PLUGIN)},
  name: "Hooks of memtui",
  description: "Injects memories into each prompt and captures after each answer, through memtui.",
  register(api) {{
    for (const [hook, name] of Object.entries(EVENTS)) {{
      api.on(hook, async (event, ctx) => {{
        const told = await ask(name, event, ctx);
        if (name === "prompt_build" && told.prependContext) return {{ prependContext: told.prependContext }};
      }});
    }}
  }},
}};
"""
