"""What is wrong with a configuration: ranges, names that the plugin refuses, and settings that do not fit together."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.configuration.file import ENTRY, Configuration
from memtui.engine.configuration.options import (
    OPTIONS,
    STRICT_BLOCKS,
    ConfigOption,
    Kind,
    known_names,
    option,
)
from memtui.engine.configuration.owner_rules import CORE, host_of, left_on, other_owner, owner_problems
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line
from memtui.engine.discovery.json5_file import UnreadableFileError, read_json5
from memtui.engine.discovery.types import OWNERS, PRO
from memtui.engine.discovery.variables import names_in
from memtui.engine.discovery.write_guard import find_manifests
from memtui.engine.store.table_files import list_table

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `path` is from the root; `file` is where it stands."""

    rule: str
    severity: Literal["error", "warning", "note"]
    path: str
    sentence: str
    remedy: str
    file: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "path": self.path,
            "sentence": self.sentence,
            "remedy": self.remedy,
            "file": self.file or None,
        }


def problems_of(
    config: Configuration, settings: Mapping[str, Any] | None = None, store: Store | None = None
) -> tuple[Problem, ...]:
    """Everything that is wrong with the plugin's settings, the gravest first.

    `settings` stand for the plugin's block where a plan has changed it. `store` is the table that it is meant for.
    """
    order = ("error", "warning", "note")
    if settings is None and (owner := other_owner(config)):
        told = [*_of_owner(config, owner), *slot_problems(config)]
        return tuple(sorted(told, key=lambda each: order.index(each.severity)))
    if settings is None and not concerns_pro(config):
        return tuple(slot_problems(config))
    check = _Checker(config, config.plugin if settings is None else settings)
    found = [
        *check.unreadable(),
        *check.form(),
        *check.ranges(),
        *check.embedding(store),
        *check.retrieval(),
        *check.scopes(),
        *check.recall(),
        *slot_problems(config),
        *check.place(store),
        *check.variables(),
    ]
    return tuple(sorted(found, key=lambda each: order.index(each.severity)))


def _of_owner(config: Configuration, owner: str) -> Iterator[Problem]:
    """What is wrong with the settings of the slot's owner; a plan of memory-lancedb-pro's would only take the slot."""
    lead = ("plugins", "entries", owner, "config")
    for message in config.broken:
        yield Problem("unreadable", "error", "", message, "Correct the file.", str(config.main))
    for rule, severity, path, sentence, remedy in owner_problems(config, owner, config.loaded.environ):
        keys = (*lead, *path.split("."))
        yield Problem(rule, severity, ".".join(keys), sentence, remedy, str(config.spot(keys).file))
    for path_of_text, names in config.loaded.missing.items():
        below = tuple(str(each) for each in path_of_text)
        searches = owner == CORE and ("memory", "search") in pairwise(below)
        if below[: len(lead)] == lead or searches:
            yield Problem(
                "variable", "warning", ".".join(below), f"{', '.join(names)} is not set here",
                "Set it for the gateway's service; memtui cannot see that environment.",
                str(config.spot(below).file),
            )  # fmt: skip


def concerns_pro(config: Configuration) -> bool:
    """Whether memory-lancedb-pro is the plugin to judge.

    It has an entry or the slot, or nothing tells that the host is one of today, where another owner is as good.
    """
    slot = config.value(("plugins", "slots", "memory"))
    named = PRO in config.loaded.mapping("plugins", "entries", raw=True) or slot == PRO
    return slot != "none" and (named or not host_of(config).indexed)


def rows_in(folder: Path, table: str = "memories") -> int | None:
    """How many memories the store in `folder` holds, 0 where none is there; None where it cannot be read."""
    from memtui.engine.store.open import open_store

    try:
        if not list_table(folder / f"{table}.lance").data:
            return 0
        return open_store(folder, table=table).count()
    except MemtuiError:
        return None


def stores_around(config: Configuration, folder: Path) -> tuple[Path, ...]:
    """Where the plugins keep a store by default: beside `folder`, and below the folder of the configuration."""
    state = config.main.parent / "memory"
    return tuple(
        dict.fromkeys(root / name for root in (folder.parent, state) for name in ("lancedb", "lancedb-pro"))
    )


class _Checker:
    def __init__(self, config: Configuration, block: Mapping[str, Any]) -> None:
        self.config, self.block = config, block
        self.lead = ".".join(config.config_path)

    def get(self, path: str, default: Any = None) -> Any:
        node: Any = self.block
        for key in path.split("."):
            if not isinstance(node, Mapping) or key not in node:
                return default
            node = node[key]
        return node

    def say(
        self,
        rule: str,
        path: str,
        sentence: str,
        remedy: str,
        severity: Literal["error", "warning", "note"] = "error",
    ) -> Problem:
        keys = self.config.setting_path(path.split(".")) if path else self.config.config_path
        return Problem(rule, severity, ".".join(keys), sentence, remedy, str(self.config.spot(keys).file))

    def unreadable(self) -> Iterator[Problem]:
        for message in self.config.broken:
            yield Problem("unreadable", "error", "", message, "Correct the file.", str(self.config.main))

    def form(self) -> Iterator[Problem]:
        """Names that the plugin's strict schema refuses; the installed plugin's own list where it is found."""
        yield from _unknown(self, self.block, installed_schema(self.config), "")

    def ranges(self) -> Iterator[Problem]:
        for each in options_of(self.config):
            value = self.get(each.path, _ABSENT)
            if value is _ABSENT or (isinstance(value, str) and "${" in value):
                continue
            problem = _wrong(each, value)
            if problem:
                yield self.say("range", each.path, f"{each.path} {problem}", f"Allowed: {each.range}.")

    def embedding(self, store: Store | None) -> Iterator[Problem]:
        given = self.get("embedding")
        if not isinstance(given, Mapping):
            deep = _too_deep(self.block)
            yield self.say(
                "required",
                "embedding",
                f"no embedding model is set: {one_line(deep)} stands too deep"
                if deep
                else "no embedding model is set",
                f"Move the settings in {one_line(deep.rpartition('.')[0])} up to the plugin's own settings."
                if deep
                else "Choose a plan: memtui config plan A.",
            )
            return
        if not given.get("apiKey"):
            yield self.say(
                "required",
                "embedding.apiKey",
                "embedding.apiKey is missing, and the plugin demands it",
                "Name a variable: ${NAME}.",
            )
        if "baseUrl" in given:
            yield self.say("base-url", "embedding.baseUrl", "the name is baseURL, not baseUrl", "Rename it.")
        for path in ("embedding.baseURL", "llm.baseURL"):
            address = self.get(path)
            if isinstance(address, str) and address and "${" not in address and not _ends_in_version(address):
                yield self.say(
                    "base-url", path, f"{path} does not end in /v1", "Add /v1 to the address.", "warning"
                )
        wanted = _dims(given, self.block)
        if store is not None and store.dims is not None and wanted is not None and wanted != store.dims:
            yield self.say(
                "dims", "embedding.dimensions",
                f"the model gives {wanted} numbers, the store holds {store.dims}: the plugin stops at its start",
                "Embed the store again (memtui reembed), or name the model that made it.",
            )  # fmt: skip

    def retrieval(self) -> Iterator[Problem]:
        low, hard = (
            _float(self.get("retrieval.minScore", 0.3)),
            _float(self.get("retrieval.hardMinScore", 0.35)),
        )
        if low is not None and hard is not None and hard < low:
            yield self.say(
                "scores", "retrieval.hardMinScore",
                f"hardMinScore {hard:g} is below minScore {low:g}: the last cut never cuts",
                "Raise hardMinScore to minScore or above.", "warning",
            )  # fmt: skip
        rerank = self.get("retrieval.rerank", "cross-encoder")
        key = self.get("retrieval.rerankApiKey")
        provider = self.get("retrieval.rerankProvider", "jina")
        if (
            rerank == "cross-encoder"
            and any(name.startswith("rerank") for name in self.get("retrieval") or {})
            and not key
            and provider != "tei"
        ):
            yield self.say(
                "rerank-key", "retrieval.rerankApiKey",
                "a reranker is set without a key: the plugin blends scores instead",
                'Name its key, or set rerank to "none".', "warning",
            )  # fmt: skip
        if provider == "vllm":
            yield self.say(
                "rerank-provider",
                "retrieval.rerankProvider",
                "vllm is no provider that the plugin knows",
                "Use tei or jina.",
            )
        elif key and rerank == "cross-encoder" and provider != "jina":
            for name in ("rerankEndpoint", "rerankModel"):
                if not self.get(f"retrieval.{name}"):
                    yield self.say(
                        "rerank-defaults", f"retrieval.{name}",
                        f"{name} is not set: the plugin takes Jina's, and asks {provider} for it",
                        f"Set {name} to {provider}'s.",
                    )  # fmt: skip

    def scopes(self) -> Iterator[Problem]:
        from memtui.engine.access.policy import ScopePolicy
        from memtui.engine.core.errors import ConfigError

        given = self.get("scopes")
        try:
            policy = ScopePolicy.from_config(given, self.config.loaded.environ)
        except ConfigError as error:
            rule = "default-scope" if error.path == "scopes.default" else "agent-access"
            yield self.say(
                rule,
                error.path if error.path.startswith("scopes") else "scopes",
                error.message.rstrip("."),
                error.fix,
            )
            return
        except MemtuiError:
            return
        for agent, scopes in policy.access.items():
            if f"agent:{agent}" not in scopes:
                yield self.say(
                    "own-scope", f"scopes.agentAccess.{agent}",
                    f"the list of {one_line(agent)} leaves out its own scope: it cannot read its own memories",
                    f"Add agent:{one_line(agent)} to the list.", "warning",
                )  # fmt: skip

    def recall(self) -> Iterator[Problem]:
        if self.get("autoRecall", False) is not True:
            yield self.say(
                "auto-recall-off", "autoRecall", "autoRecall is off: nothing is injected",
                "Set autoRecall to true, unless the agent is meant to call the tool on its own.", "warning",
            )  # fmt: skip
        include, exclude = (
            _texts(self.get("autoRecallIncludeAgents")),
            _texts(self.get("autoRecallExcludeAgents")),
        )
        if both := sorted(include & exclude):
            yield self.say(
                "include-exclude", "autoRecallExcludeAgents",
                f"{', '.join(both)} stands in both lists of agents: the one that includes wins",
                "Take it out of one.", "warning",
            )  # fmt: skip
        if "sessionMemory" in self.block and "sessionStrategy" in self.block:
            yield self.say(
                "legacy", "sessionMemory", "sessionMemory is the older name of sessionStrategy, and both are set",
                "Keep sessionStrategy.", "note",
            )  # fmt: skip
        if self.get("autoRecallMinRepeated") == 0:
            yield self.say(
                "no-effect",
                "autoRecallMinRepeated",
                "autoRecallMinRepeated 0 is read as 8",
                "Set 1 or more.",
                "note",
            )
        redis = self.get("locking.redis")
        if self.get("redisUrl") or (
            isinstance(redis, Mapping) and redis.get("enabled") is not False and redis.get("url")
        ):
            yield self.say(
                "redis", "locking", "the Redis lock takes the place of the file lock: memtui only reads the store",
                "Leave it so, or use the file lock.", "note",
            )  # fmt: skip

    def place(self, store: Store | None) -> Iterator[Problem]:
        """The configured store is empty while another one beside it holds memories."""
        if store is None or store.folder is None or store.count():
            return
        for other in stores_around(self.config, store.folder):
            if other != store.folder and rows_in(other):
                yield self.say(
                    "db-path-empty", "dbPath", f"the configured store is empty, {one_line(str(other))} is not",
                    "Set dbPath to the one that is meant, or bring the memories over.",
                )  # fmt: skip

    def variables(self) -> Iterator[Problem]:
        lead: tuple[str | int, ...] = self.config.config_path
        for path, names in self.config.loaded.missing.items():
            if path[: len(ENTRY)] == ENTRY:
                below = ".".join(str(each) for each in path[len(lead) :])
                kept = self.get(below)
                if isinstance(kept, str) and not set(names) & set(names_in(kept)):
                    continue  # a plan has put another value there
                yield self.say(
                    "variable", below, f"{', '.join(names)} is not set here",
                    "Set it for the gateway's service; memtui cannot see that environment.", "warning",
                )  # fmt: skip


def slot_problems(config: Configuration) -> Iterator[Problem]:
    """What is wrong with the memory slot, the entry that it names, and the lists of plugins that are loaded."""

    def at_root(rule: str, path: tuple[str, ...], sentence: str, remedy: str) -> Problem:
        return Problem(rule, "error", ".".join(path), sentence, remedy, str(config.spot(path).file))

    slot = config.value(("plugins", "slots", "memory"))
    entries = config.loaded.mapping("plugins", "entries", raw=True)
    path = ("plugins", "slots", "memory")
    host = host_of(config)
    left = left_on(config)
    if slot is None and (left or not host.indexed):  # memory-core has it by default in a host of today
        yield at_root(
            "slot",
            path,
            "no memory plugin has the slot",
            f'Set plugins.slots.memory to "{left or PRO}".',
        )
    elif slot not in (None, "none", "memory-core") and slot not in entries:
        yield at_root(
            "slot",
            path,
            f"the memory slot names {one_line(str(slot))}, which has no entry",
            "Name a plugin that is installed.",
        )
    entry = entries.get(slot) if isinstance(slot, str) else None
    plugin = host.plugins.get(slot) if isinstance(slot, str) else None
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    allowed = isinstance(hooks, dict) and hooks.get("allowConversationAccess") is True
    if host.indexed and slot in OWNERS and not allowed and not (plugin is not None and plugin.bundled):
        yield at_root(
            "permission",
            ("plugins", "entries", str(slot), "hooks", "allowConversationAccess"),
            f"the host runs no conversation hook of {slot}: nothing is injected and nothing is captured",
            "Set it to true: memtui alive --fix A1",
        )
    yield from _host_types(config, at_root, slot)
    all_off = config.value(("plugins", "enabled")) is False
    if isinstance(entry, dict) and (all_off or entry.get("enabled") is False):
        yield at_root(
            "off",
            ("plugins", "entries", str(slot), "enabled"),
            f"{one_line(str(slot))} has the memory slot but is switched off",
            "Switch it on.",
        )
    allow, paths = (
        config.value(("plugins", "allow")),
        config.value(("plugins", "load", "paths")),
    )
    if slot == PRO and isinstance(allow, list) and PRO not in allow:
        yield at_root(
            "allow",
            ("plugins", "allow"),
            f"plugins.allow leaves out {PRO}: it is not loaded",
            "Add it.",
        )
    deny = config.value(("plugins", "deny"))
    if isinstance(slot, str) and isinstance(deny, list) and slot in deny:
        yield at_root(
            "deny",
            ("plugins", "deny"),
            f"plugins.deny names {one_line(slot)}: it is not loaded",
            "Take it out of the list.",
        )
    for text in paths if isinstance(paths, list) else ():
        if isinstance(text, str) and "${" not in text and not (os.path.isabs(text) or text.startswith("~")):
            yield at_root(
                "load-paths",
                ("plugins", "load", "paths"),
                f"the load path {one_line(text)} is relative",
                "Write it from the root.",
            )


def _host_types(
    config: Configuration, at_root: Callable[[str, tuple[str, ...], str, str], Problem], slot: object
) -> Iterator[Problem]:
    """Switches and lists of the host that are written in another type: it refuses the file, nothing is loaded."""
    switches = [
        ("plugins", "enabled"),
        *([("plugins", "entries", slot, "enabled")] if isinstance(slot, str) else []),
    ]
    for path in switches:
        value = config.expanded(path)
        if value is not None and not isinstance(value, bool):
            yield at_root(
                "type", path, f"{path[-1]} is {_said(value)}, not true or false", "Allowed: true, false."
            )
    for name in ("allow", "deny"):
        value = config.expanded(("plugins", name))
        listed = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if value is not None and not listed:
            sentence = f"plugins.{name} is {_said(value)}, no list of texts"
            yield at_root("type", ("plugins", name), sentence, "Write a list.")


def _unknown(
    check: _Checker, block: Mapping[str, Any], schema: Mapping[str, Any] | None, lead: str
) -> Iterator[Problem]:
    if schema is not None:
        names = schema.get("properties")
        if not isinstance(names, Mapping):
            return
        for key, value in block.items():
            path = f"{lead}.{key}" if lead else key
            if key not in names:
                if schema.get("additionalProperties") is False:
                    yield _refused(check, path)
            elif isinstance(value, Mapping) and isinstance(names[key], Mapping):
                yield from _unknown(check, value, names[key], path)
        return
    for key in block:
        if key not in known_names(""):
            yield _refused(check, key)
    for name in STRICT_BLOCKS:
        yield from _unknown_in(check, name, block.get(name))


def _unknown_in(check: _Checker, lead: str, block: Any) -> Iterator[Problem]:
    """Names in a block, and in the blocks in it, that no option has; a block that is an option itself is free."""
    if not isinstance(block, Mapping) or option(lead) is not None:
        return
    for key, value in block.items():
        if key not in known_names(lead):
            if (lead, key) != ("embedding", "baseUrl"):
                yield _refused(check, f"{lead}.{key}")
        else:
            yield from _unknown_in(check, f"{lead}.{key}", value)


def _refused(check: _Checker, path: str) -> Problem:
    from difflib import get_close_matches

    block, _, name = path.rpartition(".")
    near = get_close_matches(name, known_names(block), 1, 0.7)
    value = check.get(path)
    if block and (name in known_names("")):
        remedy = f"Move it out of {one_line(block)}, up to the plugin's own settings."
    elif isinstance(value, Mapping) and value and all(key in known_names(block) for key in value):
        remedy = f"Move what is in it up by one level, to {one_line(block) or 'the settings of the plugin'}."
    else:
        remedy = f"Did you mean {near[0]}?" if near else "Take it out."
    return check.say(
        "unknown", path, f"the plugin does not know {one_line(path)} and refuses the whole file", remedy
    )


def _too_deep(block: Mapping[str, Any], lead: str = "") -> str:
    """The path of an `embedding` block that stands below the level it belongs to; empty where there is none."""
    for key, value in block.items():
        path = f"{lead}.{key}" if lead else str(key)
        if lead and key == "embedding" and isinstance(value, Mapping):
            return path
        if isinstance(value, Mapping) and (found := _too_deep(value, path)):
            return found
    return ""


def installed_schema(config: Configuration) -> Mapping[str, Any] | None:
    """The schema of the installed plugin; None where none is found, or it says nothing of the settings we know."""
    manifests = find_manifests(PRO, config.loaded, Path(config.main).parent)
    if not manifests:
        return None
    try:
        tree = read_json5(manifests[0])
    except UnreadableFileError:
        return None
    schema = tree.get("configSchema") if isinstance(tree, Mapping) else None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return (
        schema if isinstance(properties, Mapping) and {"embedding", "retrieval"} <= set(properties) else None
    )


def options_of(config: Configuration) -> tuple[ConfigOption, ...]:
    """Every setting that can be made: those of the installed plugin where it is found, else the ones we know."""
    schema = installed_schema(config)
    return OPTIONS if schema is None else options_in(schema)


def options_in(schema: Mapping[str, Any]) -> tuple[ConfigOption, ...]:
    """Every setting that a plugin's own schema knows, with its range and default; ours say what they mean.

    `schema` is the `configSchema` of an installed plugin. What it does not know is left out, what we do not know
    is there with the schema's own words.
    """
    return tuple(_of_schema(schema, ""))


def _of_schema(node: Mapping[str, Any], lead: str) -> Iterator[ConfigOption]:
    properties = node.get("properties")
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        path = f"{lead}.{name}" if lead else str(name)
        if not isinstance(each, Mapping):
            continue
        known = option(path)
        if isinstance(each.get("properties"), Mapping) and (known is None or known.kind != "key"):
            yield from _of_schema(each, path)
        else:
            yield _from_schema(path, each, known)


_KINDS: Mapping[str, Kind] = {
    "boolean": "yes-no", "integer": "whole", "number": "number", "string": "text", "array": "texts", "object": "object",
}  # fmt: skip


def _from_schema(path: str, node: Mapping[str, Any], known: ConfigOption | None) -> ConfigOption:
    choices = node.get("enum")
    kind: Kind = "choice" if isinstance(choices, list) else _KINDS.get(str(node.get("type")), "object")
    if known is not None and (known.kind == "key" or "type" not in node):
        kind = known.kind
    low, high = node.get("minimum"), node.get("maximum")
    said = node.get("description")
    meaning = (
        known.meaning
        if known is not None
        else said
        if isinstance(said, str)
        else "known to the installed plugin alone"
    )
    return ConfigOption(
        path,
        kind,
        node.get("default", None if known is None else known.default),
        float(low) if isinstance(low, int | float) else None,
        float(high) if isinstance(high, int | float) else None,
        tuple(map(str, choices)) if isinstance(choices, list) else (),
        one_line(meaning),
        known.note if known is not None else "",
    )


def _wrong(option: ConfigOption, value: Any) -> str:
    """Why a value is not what an option takes; empty when it is."""
    if option.kind == "yes-no":
        return "" if isinstance(value, bool) else f"is {_said(value)}, not true or false"
    if option.kind == "choice":
        return "" if value in option.choices else f"is {_said(value)}, none of {option.range}"
    if option.kind == "texts":
        return (
            ""
            if isinstance(value, list) and all(isinstance(item, str) for item in value)
            else "is no list of texts"
        )
    if option.kind == "text":
        return "" if isinstance(value, str) else f"is {_said(value)}, not a text"
    if option.kind in ("number", "whole"):
        number = _float(value)
        if number is None or (isinstance(value, str) and ".dreaming." not in f".{option.path}"):
            return f"is {_said(value)}, not a number"  # of the dreams alone a text is read as its number
        if not math.isfinite(number):
            return f"is {number}, not a number"
        if option.kind == "whole" and number != int(number):
            return f"is {_said(value)}, not a whole number"
        if (option.low is not None and number < option.low) or (
            option.high is not None and number > option.high
        ):
            return f"is {number:g}, outside of {option.range}"
    return ""


def _said(value: Any) -> str:
    if isinstance(value, str):
        return f'the text "{one_line(value)[:40]}"'
    return one_line(str(value))[:40]


def _float(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except ValueError:
        return None


def _texts(value: Any) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _ends_in_version(address: str) -> bool:
    last = address.rstrip("/").rpartition("/")[2]
    return last.startswith("v") or last == "openai"


def _dims(embedding: Mapping[str, Any], block: Mapping[str, Any]) -> int | None:
    from memtui.engine.providers.embedding_services import KNOWN_DIMENSIONS, bare_model

    for value in (
        None if embedding.get("omitDimensions") is True else embedding.get("requestDimensions"),
        embedding.get("dimensions"),
        block.get("dimensions"),
    ):
        number = _float(value)
        if number:
            return int(number)
    model = embedding.get("model", "text-embedding-3-small")
    return KNOWN_DIMENSIONS.get(bare_model(model)) if isinstance(model, str) else None
