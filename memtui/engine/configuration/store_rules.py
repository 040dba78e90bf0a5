"""Where a configuration and a store contradict each other: the other plugins' settings, and the place of the store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.configuration.rules import Problem, rows_in, slot_problems, stores_around
from memtui.engine.core.text import one_line
from memtui.engine.discovery.places import PlaceFinder
from memtui.engine.discovery.plugins import claims

if TYPE_CHECKING:
    from memtui.engine.configuration.file import Configuration
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.store.table import Store


def problems_of_store(config: Configuration, found: FoundStore, store: Store | None) -> tuple[Problem, ...]:
    """What keeps the plugin that owns a store from working with it; of memory-lancedb-pro `problems_of` tells more.

    Only what is so in each of them: the slot, the switch, the length of the vectors, recall that is switched off.
    """
    lead = ("plugins", "entries", found.plugin, "config")

    def say(rule: str, path: tuple[str, ...], sentence: str, remedy: str) -> Problem:
        whole = (*lead, *path)
        return Problem(rule, "error", ".".join(whole), sentence, remedy, str(config.spot(whole).file))

    out = [problem for problem in slot_problems(config) if problem.rule in ("slot", "off")]
    if store is not None and store.dims is not None and found.config_dims not in (None, store.dims):
        out.append(
            say(
                "dims", ("embedding", "dimensions"),
                f"the model gives {found.config_dims} numbers, the store holds {store.dims}",
                "Embed the store again (memtui reembed), or name the model that made it.",
            )
        )  # fmt: skip
    recall = found.settings.get("autoRecall")
    off = recall.get("enabled") is False if isinstance(recall, Mapping) else recall is False
    if off:  # these plugins recall unless they are told not to
        out.append(
            say(
                "auto-recall-off", ("autoRecall",), "autoRecall is off: nothing is injected",
                "Set autoRecall to true, unless the agent is meant to call the tool on its own.",
            )
        )  # fmt: skip
    if store is not None and store.folder is not None and not store.count():
        out += [
            _empty(config, lead, other)
            for other in stores_around(config, store.folder)
            if other != store.folder and rows_in(other, found.table)
        ]
    return tuple(out)


def problem_of_place(config: Configuration, folder: Path, table: str, cwd: Path) -> Problem | None:
    """The store that the active plugin is configured for holds nothing, while the one in `folder` does.

    None where the plugin's own store has memories, or `folder` is nowhere a plugin keeps one.
    """
    if not rows_in(folder, table):
        return None
    for claim in claims(config.loaded, PlaceFinder(), cwd)[0]:
        if not claim.active or claim.path is None or "://" in claim.path:
            continue
        own = Path(claim.path)
        if own == folder or folder not in stores_around(config, own):
            continue
        if rows_in(own, claim.table) == 0:
            return _empty(config, ("plugins", "entries", claim.plugin, "config"), folder)
    return None


def _empty(config: Configuration, lead: tuple[str, ...], other: Path) -> Problem:
    path = (*lead, "dbPath")
    return Problem(
        "db-path-empty",
        "error",
        ".".join(path),
        f"the configured store is empty, {one_line(str(other))} is not",
        "Set dbPath to the one that is meant, or bring the memories over.",
        str(config.spot(path).file),
    )
