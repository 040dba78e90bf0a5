"""The embedding services that the configuration names, asked with one word: only when a person wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtui.engine.alive.home import Home, homes_here
from memtui.engine.alive.model import AgentMemory, Aliveness, Cause, MemoryPart
from memtui.engine.alive.plugin_rules import settings_path
from memtui.engine.configuration.key_checks import TIMEOUT_S, KeyResult, checks_for, run_checks

_TRIED = ("embedding", "recall", "capture")


def try_services(
    found: Aliveness, environ: Mapping[str, str], cwd: Path, *, timeout_s: float = TIMEOUT_S
) -> Aliveness:
    """The same answer with the embedding part of each LanceDB store decided by asking its service.

    One word is sent to each service, no memory. A service that does not answer is cause B1, dead.
    """
    agents = list(found.agents)
    for home in homes_here(environ, cwd, 0):
        for claim in home.claims:
            mine = [at for at, memory in enumerate(agents) if memory.owner == claim.plugin and memory.parts]
            settings = _flat(claim.block.get("embedding"), claim.raw.get("embedding"))
            if not mine or not settings:
                continue
            results = run_checks(checks_for(settings, home.config.environ), timeout_s=timeout_s)
            for at in mine:
                agents[at] = _decided(agents[at], home, results)
    return replace(found, agents=tuple(agents))


def _flat(block: Any, raw: Any) -> dict[str, Any]:
    """The settings of embedding by dotted path; a key as it is written, so that it goes by its variable's name."""
    if not isinstance(block, Mapping):
        return {}
    keys = raw if isinstance(raw, Mapping) else {}
    out = {f"embedding.{name}": value for name, value in block.items()}
    if "apiKey" in keys:
        out["embedding.apiKey"] = keys["apiKey"]
    return out


def _decided(memory: AgentMemory, home: Home, results: tuple[KeyResult, ...]) -> AgentMemory:
    failed = next((result for result in results if not result.ok), None)
    if not results or (failed is None and not any(part.part == "embedding" for part in memory.parts)):
        return memory
    lead = settings_path(home, memory.owner)
    parts = []
    for part in memory.parts:
        if failed is not None and part.part in _TRIED:
            cause = Cause(
                "B1", _TRIED, "dead",
                f"The embedding service at {failed.host} does not work now: {failed.sentence}. Nothing is injected and "
                "nothing is captured.",
                (home.key(*lead, "embedding"),), failed.remedy or "memtui config check --keys",
            )  # fmt: skip
            parts.append(MemoryPart(part.part, "dead", (cause, *part.causes)))
        elif failed is None and part.part == "embedding" and part.state == "unknown":
            parts.append(MemoryPart(part.part, "ok", (), f"The service answered: {results[0].sentence}."))
        else:
            parts.append(part)
    return replace(memory, parts=tuple(parts))
