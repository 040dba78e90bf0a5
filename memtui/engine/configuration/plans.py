"""Plans for the configuration: A full, B budget, C OpenAI alone, D on this machine, and the person's own."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.configuration.file import CONFIG, ENTRY, REMOVED, Configuration, Path_
from memtui.engine.configuration.options import option
from memtui.engine.configuration.owner_rules import host_of, other_owner
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.core.text import one_line
from memtui.engine.discovery.json5_file import UnreadableFileError, read_json5
from memtui.engine.discovery.types import PRO
from memtui.engine.discovery.variables import MASK, expand_field, is_secret_name, mask_text, names_in

JINA, OPENAI, SILICONFLOW = (
    "https://api.jina.ai/v1",
    "https://api.openai.com/v1",
    "https://api.siliconflow.com/v1",
)

OLLAMA = "http://localhost:11434/v1"

_ABSENT = object()

_ACCESS, _DEFINED = "scopes.agentAccess.", "scopes.definitions."


@dataclass(frozen=True, slots=True)
class ConfigPlan:
    """Settings below the plugin's `config`, by dotted path; `REMOVED`: the default counts, what else is set goes."""

    name: str
    title: str
    settings: Mapping[str, Any]
    reasons: Mapping[str, str]
    keys: tuple[str, ...] = ()
    """Variables that must be set in the gateway's environment."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that becomes another. `path` is from the root of the configuration."""

    path: Path_
    before: Any
    after: Any
    reason: str
    file: Path
    there: bool

    @property
    def dotted(self) -> str:
        """The path for people."""
        return ".".join(self.path)

    @property
    def short(self) -> str:
        """The path below the plugin's settings, which may stand in a second `config` inside."""
        if self.path[: len(CONFIG)] != CONFIG:
            return self.dotted
        below = self.path[len(CONFIG) :]
        return ".".join(below[1:] if below[:1] == CONFIG[-1:] and len(below) > 1 else below)

    def as_json(self) -> dict[str, Any]:
        """For the command line; a key that is written out is masked."""
        return {
            "path": list(self.path),
            "from": shown(self.path, self.before),
            "to": None if self.after is REMOVED else shown(self.path, self.after),
            "removed": self.after is REMOVED,
            "reason": self.reason,
            "file": str(self.file),
            "existing": self.there,
        }


def shown(path: Sequence[str], value: Any) -> Any:
    """A value as it may be printed: keys by name only, never by value."""
    if isinstance(value, str):
        if is_secret_name(path[-1]) and not names_in(value) and value not in ("", "ollama"):
            return MASK
        return mask_text(value)
    if isinstance(value, list):
        return [shown(path, item) for item in value]
    if isinstance(value, dict) and "source" not in value:
        return {key: shown((*path, key), each) for key, each in value.items()}
    return value


_COMMON: dict[str, Any] = {
    "autoCapture": True,
    "autoRecall": True,
    "captureAssistant": False,
    "smartExtraction": True,
    "extractMinMessages": 2,
    "extractMaxChars": 8_000,
    "retrieval.mode": "hybrid",
    "retrieval.vectorWeight": 0.7,
    "retrieval.bm25Weight": 0.3,
    "retrieval.filterNoise": True,
    "sessionMemory.enabled": False,
}

_JINA_VECTORS: dict[str, Any] = {
    "embedding.apiKey": "${JINA_API_KEY}",
    "embedding.model": "jina-embeddings-v5-text-small",
    "embedding.baseURL": JINA,
    "embedding.dimensions": 1024,
    "embedding.taskQuery": "retrieval.query",
    "embedding.taskPassage": "retrieval.passage",
    "embedding.normalized": True,
    "embedding.requestDimensions": REMOVED,
}

_NO_TASKS: dict[str, Any] = {
    "embedding.taskQuery": REMOVED,
    "embedding.taskPassage": REMOVED,
    "embedding.normalized": REMOVED,
    "embedding.requestDimensions": REMOVED,
}

_OPENAI_LLM: dict[str, Any] = {
    "llm.auth": REMOVED,
    "llm.apiKey": "${OPENAI_API_KEY}",
    "llm.model": "gpt-4o-mini",
    "llm.baseURL": OPENAI,
}

_WHY: dict[str, str] = {
    "autoRecall": "off unless it is set: nothing would be injected",
    "captureAssistant": "the agent's own words are not worth remembering",
    "extractMinMessages": "short conversations hold facts, too",
    "sessionMemory.enabled": "summaries of sessions would crowd recall",
    "sessionStrategy": "summaries of sessions would crowd recall",
    "embedding.requestDimensions": "the model gives as many as it gives",
    "llm.auth": "the key that the plan names would not be read",
    "retrieval.candidatePoolSize": "as many as the reranker is given",
    "embedding.dimensions": "as many numbers as the model gives; the table must hold as many",
    "embedding.taskQuery": "questions and memories are embedded for their task",
    "embedding.taskPassage": "questions and memories are embedded for their task",
    "retrieval.minScore": "fits scores of this way to rank",
    "retrieval.hardMinScore": "fits scores of this way to rank",
}

PLANS: dict[str, ConfigPlan] = {
    "A": ConfigPlan(
        "A",
        "full: Jina embeds and reranks, OpenAI extracts",
        {
            **_COMMON, **_JINA_VECTORS, **_OPENAI_LLM,
            "retrieval.rerank": "cross-encoder",
            "retrieval.rerankProvider": "jina",
            "retrieval.rerankModel": "jina-reranker-v3",
            "retrieval.rerankEndpoint": f"{JINA}/rerank",
            "retrieval.rerankApiKey": "${JINA_API_KEY}",
            "retrieval.candidatePoolSize": 12,
            "retrieval.minScore": 0.6,
            "retrieval.hardMinScore": 0.62,
        },
        {**_WHY, "retrieval.minScore": "fits reranked scores; without the reranker it silences recall"},
        ("JINA_API_KEY", "OPENAI_API_KEY"),
    ),
    "B": ConfigPlan(
        "B",
        "budget: Jina embeds, SiliconFlow reranks for nothing, OpenAI extracts",
        {
            **_COMMON, **_JINA_VECTORS, **_OPENAI_LLM,
            "retrieval.rerank": "cross-encoder",
            "retrieval.rerankProvider": "siliconflow",
            "retrieval.rerankModel": "BAAI/bge-reranker-v2-m3",
            "retrieval.rerankEndpoint": f"{SILICONFLOW}/rerank",
            "retrieval.rerankApiKey": "${SILICONFLOW_API_KEY}",
            "retrieval.candidatePoolSize": 12,
            "retrieval.minScore": 0.5,
            "retrieval.hardMinScore": 0.55,
        },
        _WHY,
        ("JINA_API_KEY", "SILICONFLOW_API_KEY", "OPENAI_API_KEY"),
    ),
    "C": ConfigPlan(
        "C",
        "simple: OpenAI alone, no reranker",
        {
            **_COMMON, **_NO_TASKS, **_OPENAI_LLM,
            "embedding.apiKey": "${OPENAI_API_KEY}",
            "embedding.model": "text-embedding-3-small",
            "embedding.baseURL": OPENAI,
            "embedding.dimensions": 1536,
            "retrieval.rerank": "none",
            "retrieval.candidatePoolSize": REMOVED,
            "retrieval.minScore": 0.3,
            "retrieval.hardMinScore": 0.35,
        },
        {
            **_WHY,
            "retrieval.rerank": "without a key the default would still blend scores",
            "retrieval.candidatePoolSize": "the plan keeps the default",
        },
        ("OPENAI_API_KEY",),
    ),
    "D": ConfigPlan(
        "D",
        "local: Ollama on this machine, no key, no reranker",
        {
            **{key: value for key, value in _COMMON.items() if key != "sessionMemory.enabled"},
            **_NO_TASKS,
            "sessionStrategy": "none",
            "extractMaxChars": 4_000,
            "embedding.apiKey": "ollama",
            "embedding.model": "mxbai-embed-large",
            "embedding.baseURL": OLLAMA,
            "embedding.dimensions": 1024,
            "llm.auth": REMOVED,
            "llm.apiKey": "ollama",
            "llm.model": "qwen3:8b",
            "llm.baseURL": OLLAMA,
            "retrieval.rerank": "none",
            "retrieval.candidatePoolSize": REMOVED,
            "retrieval.minScore": 0.25,
            "retrieval.hardMinScore": 0.28,
        },
        {
            **_WHY,
            "retrieval.rerank": "without a key the default would still blend scores",
            "retrieval.candidatePoolSize": "the plan keeps the default",
        },
    ),
}  # fmt: skip


def plan_named(name: str, cwd: Path) -> ConfigPlan:
    """Plan A, B, C or D, or the person's own: a JSON5 file with the plugin's settings, a null takes one out.

    Raises UsageError for a name that is neither, and for a key that is written out.
    """
    if name.upper() in PLANS:
        return PLANS[name.upper()]
    path = cwd / Path(name).expanduser()
    if not path.is_file():
        raise UsageError(f"There is no plan {name!r}.", fix="Choose A, B, C or D, or name a JSON5 file.")
    try:
        tree = read_json5(path)
    except UnreadableFileError as error:
        raise UsageError(
            f"{path} {error.reason}.", fix="A plan is an object of the plugin's settings."
        ) from error
    if not isinstance(tree, dict):
        raise UsageError(f"{path} is no plan.", fix="A plan is an object of the plugin's settings.")
    settings = dict(_flat(tree, ()))
    for key, value in settings.items():
        check_no_literal(key, value)
    variables = tuple(
        dict.fromkeys(
            name for value in settings.values() if isinstance(value, str) for name in names_in(value)
        )
    )
    return ConfigPlan(path.name, f"your own: {path.name}", settings, {}, variables)


def _misspelt(config: Configuration, path: Path_) -> list[str]:
    """Names beside a setting that are its own in other letters, as `baseUrl` is of `baseURL`."""
    block = _value(config, path[:-1])
    names = block if isinstance(block, Mapping) else ()
    return [name for name in names if name != path[-1] and name.casefold() == path[-1].casefold()]


def check_no_literal(key: str, value: Any) -> None:
    """Raise UsageError for a key that is written out: only names of variables and references are written."""
    if not is_secret_name(key.rpartition(".")[2]) or value is REMOVED or not value:
        return
    values = value if isinstance(value, list) else [value]
    for each in values:
        if (
            isinstance(each, str)
            and not names_in(each)
            and each != "ollama"
            and not re.fullmatch(r"none|dummy|x+", each)
        ):
            raise UsageError(
                f"{key} holds a key that is written out.",
                fix="Name a variable instead: ${NAME}. Nothing was changed.",
            )


def _flat(tree: Mapping[str, Any], lead: tuple[str, ...]) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for key, value in tree.items():
        path = (*lead, str(key))
        if isinstance(value, Mapping) and value and "source" not in value:
            out += _flat(value, path)
        else:
            out.append((".".join(path), REMOVED if value is None else value))
    return out


def plan_changes(config: Configuration, plan: ConfigPlan) -> tuple[SettingChange, ...]:
    """What would become of the configuration under a plan: one entry for each setting that differs.

    Beside the plugin's own settings: its entry is switched on, and the memory slot names it. Where it is installed
    by hand, or an allow list is kept, that list names it, too. Raises RefusedError where another plugin has the slot.
    """
    if owner := other_owner(config):
        raise RefusedError(
            f"{one_line(owner)} has the memory slot, and plan {plan.name} holds settings of {PRO}.",
            fix=f'To change the plugin, first set plugins.slots.memory to "{PRO}"; no plan does that. '
            "Nothing was changed.",
        )
    out: list[SettingChange] = []
    wanted: list[tuple[Path_, Any, str]] = [
        (("plugins", "slots", "memory"), PRO, "the slot decides which memory plugin runs"),
        ((*ENTRY, "enabled"), True, "a plugin that is switched off does nothing"),
    ]
    if host_of(config).indexed:
        wanted.append(
            (
                (*ENTRY, "hooks", "allowConversationAccess"),
                True,
                "without it the host runs no recall and no capture",
            )
        )
    allow = config.value(("plugins", "allow"))
    by_hand = bool(config.value(("plugins", "load", "paths")))
    if (isinstance(allow, list) and PRO not in allow) or (allow is None and by_hand):
        names = [*(allow if isinstance(allow, list) else []), PRO]
        wanted.append(
            (("plugins", "allow"), names, "a plugin installed by hand loads only when it is allowed")
        )
    lead = config.config_path
    for key, value in plan.settings.items():
        path = (*lead, *setting_path(key))
        known = option(key)
        default = None if known is None else known.default
        if value is REMOVED and default is not None and _value(config, path) == default:
            continue  # it says what the default says
        wanted.append((path, value, plan.reasons.get(key, "")))
        wanted += [
            ((*path[:-1], name), REMOVED, f"the plugin knows {path[-1]} alone, and refuses the whole file")
            for name in _misspelt(config, path)
        ]
    for path, value, reason in wanted:
        change = None if _counts_already(config, path, value) else change_to(config, path, value, reason)
        if change is not None:
            out.append(change)
    return tuple(out)


def setting_path(key: str) -> Path_:
    """A dotted setting as a path; names of agents and scopes may have dots of their own."""
    block, name = key[: len(_ACCESS)], key[len(_ACCESS) :]
    if block == _ACCESS:
        return ("scopes", "agentAccess", name)
    if key.startswith(_DEFINED):
        name, dot, last = key[len(_DEFINED) :].rpartition(".description")
        return (
            "scopes",
            "definitions",
            *((name, "description") if dot and not last else (key[len(_DEFINED) :],)),
        )
    return tuple(key.split("."))


def change_to(config: Configuration, path: Path_, value: Any, reason: str = "") -> SettingChange | None:
    """The change that makes the setting at `path` (from the root) this value; None where it is so already."""
    before = _value(config, path)
    if value is REMOVED:
        if before is _ABSENT:
            return None
    elif before is not _ABSENT and _same(path, before, value):
        return None
    spot = config.spot(path)
    return SettingChange(path, None if before is _ABSENT else before, value, reason, spot.file, spot.there)


def value_at(config: Configuration, path: Path_) -> tuple[bool, Any]:
    """Whether the setting at `path` (from the root) is set, and its value with variables as they are written."""
    found = _value(config, path)
    return found is not _ABSENT, None if found is _ABSENT else shown(path, found)


def _value(config: Configuration, path: Path_) -> Any:
    node = config.loaded.raw
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return _ABSENT
        node = node[key]
    return node


def _same(path: Path_, before: Any, after: Any) -> bool:
    """Whether a setting is already as wanted; a reference to a variable is as good as its name in the text."""
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if before == after:
        return True
    if is_secret_name(path[-1]) and isinstance(after, str):
        wanted = set(names_in(after))
        values = before if isinstance(before, list) else [before]
        named = {
            name
            for value in values
            for name in (
                names_in(value)
                if isinstance(value, str)
                else (str(value.get("id")),)
                if isinstance(value, dict) and value.get("source") == "env"
                else ()
            )
        }
        return bool(wanted) and wanted <= named
    return False


def _counts_already(config: Configuration, path: Path_, after: Any) -> bool:
    """Whether variables, as they are set here, already give what is wanted: on either side of the comparison.

    A key goes by its name: what it holds here says nothing of the gateway, and one that is written out is to go.
    """
    before = _value(config, path)
    if before is _ABSENT or after is REMOVED:
        return False
    if is_secret_name(path[-1]) and any(map(names_in, after if isinstance(after, list) else [str(after)])):
        return False
    there, wanted = (_filled(each, config.loaded.environ) for each in (before, after))
    return there is not None and type(there) is type(wanted) and there == wanted


def _filled(value: Any, environ: Mapping[str, str]) -> Any:
    """A value with its variables filled in, as the plugin does it; None where one is not set."""
    if isinstance(value, str):
        return expand_field(value, environ)
    if isinstance(value, list):
        filled = [_filled(item, environ) for item in value]
        return None if any(each is None for each in filled) else filled
    return value


def block_under(config: Configuration, changes: Sequence[SettingChange]) -> dict[str, Any]:
    """The plugin's settings once the changes are made, as a tree, variables as they are written."""
    tree = copy.deepcopy(config.plugin)
    lead = config.config_path
    for change in changes:
        if change.path[: len(lead)] != lead or len(change.path) == len(lead):
            continue
        *above, last = change.path[len(lead) :]
        node = tree
        for key in above:
            if not isinstance(node.get(key), dict):
                node[key] = {}
            node = node[key]
        if change.after is REMOVED:
            node.pop(last, None)
        else:
            node[last] = change.after
    return tree


def settings_under(config: Configuration, changes: Sequence[SettingChange]) -> dict[str, Any]:
    """Return the plugin's settings once the changes are made, by dotted path."""
    out: dict[str, Any] = {}

    def walk(node: Mapping[str, Any], path: tuple[str, ...]) -> None:
        for key, value in node.items():
            if isinstance(value, dict) and "source" not in value:
                walk(value, (*path, key))
            else:
                out[".".join((*path, key))] = value

    walk(block_under(config, changes), ())
    return out
