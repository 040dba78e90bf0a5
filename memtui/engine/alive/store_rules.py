"""Why a LanceDB store gives or takes nothing: embedding service, width of vectors, owners, place (B, C1, C5, C6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from memtui.engine.alive.home import Home, LanceTable
from memtui.engine.alive.model import Cause, CauseEvidence
from memtui.engine.alive.plugin_rules import entry_path
from memtui.engine.core.text import counted, one_line, quoted
from memtui.engine.discovery.agents import configured_ids, normalized_agent_id
from memtui.engine.discovery.plugins import PluginStore, embedding_of
from memtui.engine.discovery.types import BUILTIN
from memtui.engine.discovery.variables import expand_field


def store_causes(home: Home, claim: PluginStore, table: LanceTable | None) -> tuple[Cause, ...]:
    """What is the matter with a store, alike for all agents."""
    return (
        *_service(home, claim),
        *_width(home, claim, table),
        *_place(home, claim),
        *_generation(home, claim, table),
    )


def _service(home: Home, claim: PluginStore) -> Iterator[Cause]:
    """The embedding service failed: named as weak once a later turn got over it."""
    plugin = claim.plugin
    worked = home.log.last("injected", "captured", "embedding-ok", plugin=plugin)
    for kind, part, what in (
        ("recall-failed", "recall", "injected"),
        ("capture-failed", "capture", "captured"),
    ):
        failed = home.log.of(kind, plugin=plugin)
        if not failed:
            continue
        last = failed[-1]
        later = worked is not None and worked.line > last.line
        over = later or last.time_ms < home.changed_ms or _injected_since(home, last.time_ms)
        turns = counted(len(failed), "turn")
        end = "Later turns worked." if over else "No later turn worked."
        yield Cause(
            "B1", ("embedding", part), "weak" if over else "dead",
            f"The embedding service failed in {turns}: nothing was {what} there. {end}",
            (CauseEvidence(home.log.path, last.text), home.key(*entry_path(plugin), "config", "embedding")),
            "memtui alive --try",
        )  # fmt: skip
    cooled = home.log.last("cool-down", plugin=plugin)
    if cooled is not None:
        over = (worked is not None and worked.line > cooled.line) or cooled.time_ms < home.changed_ms
        yield Cause(
            "B2", ("embedding", "recall"), "weak" if over else "dead",
            "The embedding service took too long: recall answered as unavailable for a minute.",
            (CauseEvidence(home.log.path, cooled.text),), "memtui alive --try",
        )  # fmt: skip


def _injected_since(home: Home, time_ms: int) -> bool:
    return any(
        turn.injected and turn.time_ms > time_ms
        for activity in home.activities.values()
        for turn in activity.turns
    )


def configured_width(home: Home, claim: PluginStore) -> int | None:
    """Length of the vectors that the configured model gives; None where it is not known."""
    settings, _, _ = embedding_of(claim.block, claim.raw, home.config.environ, home.user_home)
    return None if settings is None else settings.expected_dimensions


def _width(home: Home, claim: PluginStore, table: LanceTable | None) -> Iterator[Cause]:
    wanted = configured_width(home, claim)
    stored = None if table is None or table.sketch is None else table.sketch.dims
    if table is None or wanted is None or stored is None or wanted == stored:
        return
    key = (*entry_path(claim.plugin), "config", "embedding", "dimensions")
    yield Cause(
        "B3", ("embedding", "recall", "capture"), "dead",
        f"The configured model gives vectors of {wanted} dimensions, the table holds {stored}: every recall and every "
        "capture fails.",
        (home.key(*key), CauseEvidence(table.manifest, "vector")),
        f"memtui reembed --store {quoted(claim.path)}, or set {'.'.join(key)} to {stored} for a model that gives "
        f"{stored}",
    )  # fmt: skip


def _place(home: Home, claim: PluginStore) -> Iterator[Cause]:
    given = claim.block.get("dbPath")
    text = (expand_field(given, home.config.environ) or given) if isinstance(given, str) else ""
    text = text.strip()
    if not text or "://" in text or text.startswith(("~", "/", "\\", "${")) or Path(text).is_absolute():
        return
    yield Cause(
        "C5", ("index",), "weak",
        f"dbPath {one_line(text)} is relative, so the store lies in the folder of {claim.plugin} and goes when the "
        "plugin is installed again.",
        (home.key(*entry_path(claim.plugin), "config", "dbPath"),),
        "Move the store out of the plugin's folder and write dbPath from the root or with ~.",
    )  # fmt: skip


def _generation(home: Home, claim: PluginStore, table: LanceTable | None) -> Iterator[Cause]:
    sketch = None if table is None else table.sketch
    if table is None or sketch is None or claim.plugin != BUILTIN or not home.modern:
        return
    if "agentId" in sketch.columns or "vector" not in sketch.columns or "metadata" in sketch.columns:
        return
    yield Cause(
        "C6", ("recall", "capture", "tools", "index"), "dead",
        "The table has no column agentId: this release of memory-lancedb refuses it at each operation.",
        (CauseEvidence(table.manifest, "agentId"),), "openclaw doctor --fix",
    )  # fmt: skip


def owner_cause(home: Home, claim: PluginStore, table: LanceTable | None, agent: str) -> Iterator[Cause]:
    """The rows of an agent that no configuration names, and the agent whose rows carry an older id."""
    owners: Mapping[str, int] = {} if table is None else table.owners
    known = set(configured_ids(home.agents))
    strange = {owner: rows for owner, rows in owners.items() if owner and owner not in known}
    if table is None or not strange or not known:
        return
    used = any(owners.get(name) for name in known)
    name = normalized_agent_id(agent)
    column = "agentId" if table.sketch is not None and "agentId" in table.sketch.columns else "scope"
    listed = home.agents[0].entry
    key = listed.path[:2] if listed is not None else ("agents", "entries")
    if name in strange:
        left = home.activity(agent).there
        yield Cause(
            "C1", ("recall",), "dead" if left or not used else "weak",
            f"{counted(strange[name], 'memory', 'memories')} belong to agent {one_line(agent)}, which the "
            f"configuration does not name ({', '.join(sorted(known))}): no agent recalls them.",
            (CauseEvidence(table.manifest, f"{column} = {one_line(agent)}"), home.key(*key)),
            f"Name the agent {one_line(agent)} again in {'.'.join(map(str, key))}, or give its memories to another "
            "agent.",
        )  # fmt: skip
    elif not used and not owners.get(name):
        most = max(strange, key=lambda owner: strange[owner])
        yield Cause(
            "C1", ("recall",), "dead",
            f"Agent {one_line(agent)} owns no memory: {counted(strange[most], 'memory', 'memories')} belong to agent "
            f"{one_line(most)}, which the configuration does not name.",
            (CauseEvidence(table.manifest, f"{column} = {one_line(most)}"), home.key(*key)),
            f"Name the agent {one_line(most)} again, or give its memories to {one_line(agent)}.",
        )  # fmt: skip
