"""Why the plugin that keeps the memories does nothing: slot, place, permission, settings, policy (A1 to A12)."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any

from memtui.engine.alive.home import CORE, Home
from memtui.engine.alive.model import Cause, CauseEvidence, ConfigEdit
from memtui.engine.configuration.owner_rules import builtin_refusal
from memtui.engine.core.text import one_line
from memtui.engine.discovery.agents import AgentPlace, search_key
from memtui.engine.discovery.plugins import PluginStore
from memtui.engine.discovery.types import BUILTIN, ENGINE, PRO
from memtui.engine.discovery.variables import expand_field, names_in

ALL = ("recall", "capture", "tools")

PACKAGES = {BUILTIN: "@openclaw/memory-lancedb", PRO: PRO, ENGINE: ENGINE}


def entry_path(plugin: str) -> tuple[str, ...]:
    """Where a plugin's entry stands."""
    return ("plugins", "entries", plugin)


def settings_path(home: Home, plugin: str) -> tuple[str, ...]:
    """Where a plugin's settings stand; a second `config` inside counts where there is one."""
    path = (*entry_path(plugin), "config")
    return (*path, "config") if isinstance(home.config.at(*path, "config"), dict) else path


def owner_causes(home: Home, claim: PluginStore) -> tuple[Cause, ...]:
    """Why a LanceDB plugin does not run, or not its conversation hooks; what concerns all agents alike."""
    gone = tuple(_not_running(home, claim))
    if any(cause.state == "dead" for cause in gone):
        return gone
    return (
        *gone,
        *_permissions(home, claim),
        *_settings(home, claim),
        *_allow_list(home, claim),
        *_conflicts(home, claim),
        *_timeouts(home, claim),
    )


def agent_causes(home: Home, claim: PluginStore, place: AgentPlace) -> Iterator[Cause]:
    """Why a running plugin leaves one agent out."""
    if claim.plugin == BUILTIN and not place.search_enabled:
        path = search_key(home.config.values, "enabled", agent=place.id)
        yield Cause(
            "A9", ALL, "dead",
            f"{'.'.join(map(str, path))} is false: it takes tools, recall and capture of {claim.plugin} from agent "
            f"{one_line(place.id)}, although the key belongs to {CORE} by its name.",
            (home.key(*path),),
            *_edit("A9", *((path, True),)),
        )  # fmt: skip
    yield from _policy(home, claim, place)


def _edit(code: str, *pairs: tuple[tuple[str | int, ...], Any]) -> tuple[str, tuple[ConfigEdit, ...]]:
    """The fix of an edit as a command, and the edit itself; a person makes it where a path leads through a list."""
    if any(isinstance(part, int) for path, _ in pairs for part in path):
        dotted = " and ".join(f"{'.'.join(map(str, path))} to {value!r}" for path, value in pairs)
        return f"Set {dotted}.", ()
    edits = tuple(ConfigEdit(tuple(str(part) for part in path), value) for path, value in pairs)
    return f"memtui alive --fix {code}", edits


def _not_running(home: Home, claim: PluginStore) -> Iterator[Cause]:
    plugin, at = claim.plugin, home.config.at
    slot, entry = home.slot, entry_path(claim.plugin)
    if at("plugins", "enabled") is False:
        yield Cause(
            "A5", ALL, "dead", "plugins.enabled is false: no plugin is loaded.", (home.key("plugins", "enabled"),),
            *_edit("A5", (("plugins", "enabled"), True)),
        )  # fmt: skip
        return
    if slot != plugin:
        named = (
            f"The memory slot names {one_line(slot)}"
            if at("plugins", "slots", "memory")
            else "The memory slot is unset, so memory-core has it"
        )
        yield Cause(
            "A3", ALL, "dead", f"{named}: {plugin} is configured and not active.",
            (home.key("plugins", "slots", "memory"), home.key(*entry)),
            *_edit("A3", (("plugins", "slots", "memory"), plugin)),
        )  # fmt: skip
        return
    if home.is_installed(plugin) is False:
        yield Cause(
            "A4", ALL, "dead",
            f"The memory slot names {plugin}, which is not installed: turns run without memory.",
            (home.key("plugins", "slots", "memory"), home.index_row(plugin)),
            f"openclaw plugins install {PACKAGES.get(plugin, plugin)}",
        )  # fmt: skip
        return
    denied = at("plugins", "deny")
    if isinstance(denied, list) and plugin in denied:
        kept = [name for name in denied if name != plugin]
        yield Cause(
            "A5", ALL, "dead", f"plugins.deny names {plugin}: it is not loaded.", (home.key("plugins", "deny"),),
            *_edit("A5", (("plugins", "deny"), kept)),
        )  # fmt: skip
        return
    if at(*entry, "enabled") is False:
        yield Cause(
            "A5", ALL, "dead", f"{plugin} has the memory slot and is switched off.", (home.key(*entry, "enabled"),),
            *_edit("A5", ((*entry, "enabled"), True)),
        )  # fmt: skip
        return
    failed = home.log.last("load-failed", plugin=plugin)
    loaded = home.log.last("registered", "injected", "captured", plugin=plugin)
    told = [line for line in home.host.diagnostics if plugin in line and "failed" in line.lower()]
    if failed is not None or told:
        over = loaded is not None and (failed is None or loaded.line > failed.line)
        proof = (
            (CauseEvidence(home.log.path, failed.text),) if failed is not None else (home.index_row(told[0]),)
        )
        state = "The gateway loaded it later." if over else "The gateway runs on without memory."
        yield Cause(
            "A6", ALL, "weak" if over else "dead", f"{plugin} failed during load. {state}", proof,
            f"openclaw plugins inspect {plugin} --runtime, then reinstall it: openclaw plugins install "
            f"{PACKAGES.get(plugin, plugin)}",
        )  # fmt: skip


def _permissions(home: Home, claim: PluginStore) -> Iterator[Cause]:
    plugin, entry = claim.plugin, entry_path(claim.plugin)
    hooks = home.config.at(*entry, "hooks")
    hooks = hooks if isinstance(hooks, Mapping) else {}
    path = (*entry, "hooks", "allowConversationAccess")
    bundled = home.is_bundled(plugin)
    given = hooks.get("allowConversationAccess")
    if home.modern and (given is False if bundled else given is not True):
        how = "unset" if given is None else "false" if given is False else "not true"
        yield Cause(
            "A1", ("recall", "capture"), "dead",
            f"{'.'.join(path)} is {how}: the host runs neither before_prompt_build nor agent_end of {plugin}, so "
            "nothing is injected and nothing is captured; its tools work.",
            (home.key(*path), home.index_row(plugin)),
            *_edit("A1", (path, True)),
        )  # fmt: skip
    path = (*entry, "hooks", "allowPromptInjection")
    if hooks.get("allowPromptInjection") is False:
        yield Cause(
            "A2", ("recall",), "dead",
            f"{'.'.join(path)} is false: nothing is injected, while capture goes on and the store grows unused.",
            (home.key(*path),),
            *_edit("A2", (path, True)),
        )  # fmt: skip


def _settings(home: Home, claim: PluginStore) -> Iterator[Cause]:
    block, lead = claim.block, settings_path(home, claim.plugin)
    worked = home.log.last("registered", "injected", "captured", plugin=claim.plugin)
    refused = home.log.last("refused", plugin=claim.plugin)
    why = _refusal(home, claim)
    if why is not None:
        key, sentence, fix = why
        yield Cause(
            "A7",
            ALL,
            "dead",
            f"{claim.plugin} refuses its settings: {sentence}.",
            (home.key(*lead, *key),),
            fix,
        )
    elif (
        refused is not None
        and (worked is None or worked.line < refused.line)
        and refused.time_ms >= home.changed_ms
    ):
        yield Cause(
            "A7", ALL, "dead", f"{claim.plugin} refused its settings at its last start: it is disabled.",
            (CauseEvidence(home.log.path, refused.text), home.key(*lead)), "memtui config check",
        )  # fmt: skip
    recall = block.get("autoRecall")
    if recall is False or (recall is None and claim.plugin == PRO):
        yield Cause(
            "A8", ("recall",), "dead",
            f"autoRecall is {'false' if recall is False else 'unset, and off by default'}: nothing is injected.",
            (home.key(*lead, "autoRecall"),), *_edit("A8", ((*lead, "autoRecall"), True)),
        )  # fmt: skip
    capture = block.get("autoCapture")
    if capture is False or (capture is None and claim.plugin == BUILTIN):
        yield Cause(
            "A8", ("capture",), "dead",
            f"autoCapture is {'false' if capture is False else 'unset, and off by default'}: nothing is captured.",
            (home.key(*lead, "autoCapture"),), *_edit("A8", ((*lead, "autoCapture"), True)),
        )  # fmt: skip


def _refusal(home: Home, claim: PluginStore) -> tuple[tuple[str, ...], str, str] | None:
    """(key below the settings, sentence, fix) of what memory-lancedb's own reader refuses."""
    block, raw = claim.block, claim.raw
    if claim.plugin == BUILTIN and (refused := builtin_refusal(block)):
        return refused
    for path, text in _texts(raw):
        missing = [
            name
            for name in names_in(text)
            if not home.environ.get(name) and not home.config.environ.get(name)
        ]
        if missing and expand_field(text, home.config.environ) is None and not _set_elsewhere(home, claim):
            return (
                path,
                f"{'.'.join(path)} refers to {', '.join(missing)}, which is not set",
                (f"Set {', '.join(missing)} in {home.state / '.env'}."),
            )
    return None


def _set_elsewhere(home: Home, claim: PluginStore) -> bool:
    """Whether a gateway that runs now has the plugin: then the variable is set in the gateway's own environment."""
    ran = home.log.last("registered", "injected", "captured", plugin=claim.plugin)
    return ran is not None and home.gateway_runs


def _texts(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _texts(value, (*path, str(key)))
    elif isinstance(node, str) and "${" in node:
        yield path, node


def _allow_list(home: Home, claim: PluginStore) -> Iterator[Cause]:
    allowed = home.config.at("plugins", "allow")
    if isinstance(allowed, list) and allowed and claim.plugin not in allowed:
        yield Cause(
            "A5b", ("recall", "capture"), "weak",
            f"plugins.allow leaves out {claim.plugin}: the gateway loads it as the slot's owner, while turns of "
            "openclaw agent --local get no memory and leave none.",
            (home.key("plugins", "allow"),),
            *_edit("A5b", (("plugins", "allow"), [*allowed, claim.plugin])),
        )  # fmt: skip


def _conflicts(home: Home, claim: PluginStore) -> Iterator[Cause]:
    found = home.log.of("conflict", plugin=claim.plugin)
    tools = sorted({event.tool for event in found if event.plugin == claim.plugin})
    if tools:
        yield Cause(
            "A11", ("tools",), "weak",
            f"Another plugin offers {' and '.join(tools)}, too: the host drops those of {claim.plugin}, and an agent "
            "that calls them searches elsewhere.",
            (CauseEvidence(home.log.path, found[-1].text),),
            f"Let the agent call memory_recall: {claim.plugin} keeps that one.",
        )  # fmt: skip


def _timeouts(home: Home, claim: PluginStore) -> Iterator[Cause]:
    found = home.log.of("timed-out", "hook-timeout", plugin=claim.plugin)
    if not found:
        return
    last = found[-1]
    later = home.log.last("injected", plugin=claim.plugin)
    over = later is not None and later.line > last.line
    many = len([event for event in found if later is None or event.line > later.line]) >= 3
    key = (*entry_path(claim.plugin), "config", "autoRecallTimeoutMs") if claim.plugin == PRO else (
        *entry_path(claim.plugin), "hooks", "timeoutMs")  # fmt: skip
    yield Cause(
        "A12", ("recall",), "dead" if many and not over else "weak",
        f"Recall of {claim.plugin} ran out of time in {len(found)} turn{'s' if len(found) > 1 else ''}: nothing was "
        f"injected there. {'Later turns got memories.' if over else 'No later turn got memories.'}",
        (CauseEvidence(home.log.path, last.text),),
        f"Raise {'.'.join(key)}, if it happens again.",
    )  # fmt: skip


RECALL_TOOL = "memory_recall"

_GROUPS = ("group:plugins", "group:memory")
"""Groups that an allow list may name instead; whether a denied group:memory means this tool is not sure."""


def _policy(home: Home, claim: PluginStore, place: AgentPlace) -> Iterator[Cause]:
    """The tool policies that keep memory_recall from an agent: memory-lancedb then skips recall, too."""
    if claim.plugin != BUILTIN:
        return
    blocks: list[tuple[tuple[str | int, ...], Any]] = [(("tools",), home.config.at("tools"))]
    if place.entry is not None:
        blocks.append(((*place.entry.path, "tools"), place.entry.values.get("tools")))
    for path, block in blocks:
        if not isinstance(block, Mapping):
            continue
        denied, allowed = block.get("deny"), block.get("allow")
        if isinstance(denied, list) and (
            names := [name for name in denied if _names_tool(name, claim.plugin, "group:plugins")]
        ):
            kept = [name for name in denied if name not in names]
            yield _denied(home, (*path, "deny"), f"names {', '.join(map(str, names))}", place, kept)
            return
        if (
            isinstance(allowed, list)
            and allowed
            and not any(_names_tool(name, claim.plugin, *_GROUPS) for name in allowed)
        ):
            also = block.get("alsoAllow")
            if not (
                isinstance(also, list) and any(_names_tool(name, claim.plugin, *_GROUPS) for name in also)
            ):
                yield _denied(home, (*path, "allow"), "leaves it out", place, [*allowed, RECALL_TOOL])
                return
    denial = home.log.last("recall-denied")
    if denial is not None:
        yield Cause(
            "A10", ("recall",), "weak", f"{claim.plugin} skipped recall in a turn without authority for its tools.",
            (CauseEvidence(home.log.path, denial.text),), "Allow memory_recall in tools, and to the sender.",
        )  # fmt: skip


def _denied(home: Home, path: tuple[str | int, ...], how: str, place: AgentPlace, kept: list[Any]) -> Cause:
    return Cause(
        "A10", ("recall", "tools"), "dead",
        f"{'.'.join(map(str, path))} {how}: agent {one_line(place.id)} may not call {RECALL_TOOL}, and "
        f"{BUILTIN} then injects nothing either.",
        (home.key(*path),),
        *_edit("A10", (path, kept)),
    )  # fmt: skip


def _names_tool(name: Any, plugin: str, *groups: str) -> bool:
    """Whether an entry of a tool policy means memory_recall: its name, a pattern, its plugin or one of `groups`."""
    if not isinstance(name, str):
        return False
    text = name.strip().lower()
    return text in (plugin, *groups) or fnmatch.fnmatchcase(RECALL_TOOL, text)
