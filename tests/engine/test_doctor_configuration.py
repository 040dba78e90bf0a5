"""Where the agent's configuration and the store contradict each other, for each of the plugins."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import open_engine
from memtui.engine.core.errors import MemtuiError
from memtui.engine.discovery import resolve_target
from memtui.engine.health.doctor import Examination, examine, patient_of, patient_without_table
from tests.engine import planted_faults as planted

PRO, BUILT_IN, ENGINE = "memory-lancedb-pro", "memory-lancedb", "openclaw-mem-engine"
MODEL = "embedding: { apiKey: '${KEY}', model: 'own', dimensions: 32 }"
SOUND = f"{MODEL}, autoRecall: true"


def configure(home: Path, settings: str, store: Path | None, *, plugin: str = PRO) -> Path:
    """Write the configuration of `home`."""
    place = "" if store is None else f"dbPath: '{store}',"
    path = home / ".openclaw" / "openclaw.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"{{ plugins: {{ slots: {{ memory: '{plugin}' }}, entries: {{ '{plugin}': "
        f"{{ enabled: true, config: {{ {place} {settings} }} }} }} }} }}"
    )
    return path


def look(home: Path, store: Path | None = None, kinds: tuple[str, ...] | None = None) -> Examination:
    """What the doctor sees of a store, or of the one that the configuration leads to."""
    environ = {"HOME": str(home), "KEY": "k"}
    now_ms = time.time_ns() // 1_000_000
    target = str(store) if store is not None else None
    try:
        engine = open_engine(target, now=lambda: now_ms, environ=environ, cwd=home, state=home / "state")
    except MemtuiError as error:
        found = resolve_target(target, None, environ, home)
        outside = patient_without_table(
            found.uri, found.table, error, now_ms=now_ms, found=found.found, environ=environ
        )
        assert outside is not None
        return examine(outside, kinds=kinds)
    return examine(patient_of(engine, now_ms=now_ms), kinds=kinds)


def rules(found: Examination) -> set[str]:
    """The rules of what D37 found."""
    return {rule for each in found.findings if each.kind == "D37" for rule in each.seen.detail["rules"]}


CONTRADICTIONS = {
    "dims": SOUND.replace("32", "64"),
    "default-scope": f"{SOUND}, scopes: {{ default: 'work' }}",
    "auto-recall-off": MODEL,
    "include-exclude": f"{SOUND}, autoRecallIncludeAgents: ['a', 'b'], autoRecallExcludeAgents: ['b']",
    "rerank-key": f"{SOUND}, retrieval: {{ rerankProvider: 'jina', rerankModel: 'm' }}",
}


@pytest.mark.parametrize("rule", CONTRADICTIONS)
@pytest.mark.parametrize("nested", [False, True])
def test_each_contradiction_is_found(rule: str, nested: bool, tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "data" / "memories")
    settings = CONTRADICTIONS[rule]
    config = configure(tmp_path, f"config: {{ {settings} }}" if nested else settings, store)
    found = look(tmp_path, store)
    assert rules(found) == {rule}
    one = next(each for each in found.findings if each.kind == "D37")
    assert (one.severity, one.seen.files) == ("S2", (str(config),))
    assert ("D18" in {each.kind for each in found.findings}) == (rule == "dims")


@pytest.mark.parametrize("place", ["data/memories", ".openclaw/memory/lancedb-pro"])
def test_nothing_is_said_of_a_configuration_that_fits(place: str, tmp_path: Path) -> None:
    store = planted.sound(tmp_path / place)
    configure(tmp_path, SOUND, store)
    assert look(tmp_path, store).findings == ()
    assert look(tmp_path).findings == ()


def test_the_included_file_that_holds_the_setting_is_named_beside_the_configuration(tmp_path: Path) -> None:
    store = planted.sound(tmp_path / "data" / "memories")
    config = configure(tmp_path, "$include: './memory.json5'", store)
    more = config.with_name("memory.json5")
    more.write_text("{ " + CONTRADICTIONS["dims"] + " }")
    found = {each.kind: each for each in look(tmp_path, store).findings}
    assert found["D18"].seen.files == found["D37"].seen.files == (str(config), str(more))


@pytest.mark.parametrize(
    ("archive", "plugin", "dims"),
    [("builtin-new", BUILT_IN, 384), ("builtin-old", BUILT_IN, 1536), ("engine", ENGINE, 1536)],
)
def test_the_other_plugins_are_judged_by_their_own_settings(
    archive: str, plugin: str, dims: int, tmp_path: Path, shared: Path, unpack: Any
) -> None:
    """They recall unless they are told not to: what memory-lancedb-pro demands is nothing to them."""
    store = unpack(shared / "fixtures" / "stores" / f"{archive}.tar.gz")
    model = f"embedding: {{ apiKey: '${{KEY}}', model: 'own', dimensions: {dims} }}"
    configure(tmp_path, model, store, plugin=plugin)
    assert rules(look(tmp_path, store, ("D37",))) == set()
    configure(tmp_path, f"{model.replace(str(dims), '768')}, autoRecall: false", store, plugin=plugin)
    assert rules(look(tmp_path, store, ("D37",))) == {"dims", "auto-recall-off"}


@pytest.mark.parametrize("there", ["no folder", "a folder", "an empty table", "a sentinel that went"])
def test_an_empty_configured_store_beside_a_full_one(there: str, tmp_path: Path) -> None:
    """Whichever of the two is looked at, the other one is named."""
    memory = tmp_path / ".openclaw" / "memory"
    full, own = planted.sound(memory / "lancedb"), memory / "lancedb-pro"
    if there == "a folder":
        own.mkdir()
    elif there == "an empty table":
        planted.write_store(own, [], dims=planted.DIMS)
    elif there == "a sentinel that went":
        planted.write_store(own, [planted.memory(0)], dims=planted.DIMS)
        planted.open_table(own).delete("id IS NOT NULL")
    configure(tmp_path, SOUND, None)
    assert rules(look(tmp_path, full)) == {"db-path-empty"}
    if there.startswith(("an empty", "a sentinel")):
        assert rules(look(tmp_path, own)) == {"db-path-empty"}


def test_a_store_elsewhere_that_is_empty_while_the_default_one_is_full(tmp_path: Path) -> None:
    planted.sound(tmp_path / ".openclaw" / "memory" / "lancedb-pro")
    empty = planted.write_store(tmp_path / "data" / "new", [], dims=planted.DIMS)
    configure(tmp_path, SOUND, empty)
    assert rules(look(tmp_path, empty)) == {"db-path-empty"}


def test_two_empty_stores_contradict_nothing(tmp_path: Path) -> None:
    memory = tmp_path / ".openclaw" / "memory"
    for name in ("lancedb", "lancedb-pro"):
        planted.write_store(memory / name, [planted.memory(0)], dims=planted.DIMS)
        planted.open_table(memory / name).delete("id IS NOT NULL")
    configure(tmp_path, SOUND, None)
    assert rules(look(tmp_path, memory / "lancedb-pro")) == set()


def test_the_configuration_is_looked_at_when_the_table_cannot_be_opened(tmp_path: Path) -> None:
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    planted.PLANTED["D35"][1](store)
    configure(tmp_path, MODEL, store)
    found = look(tmp_path, store)
    assert {"D35", "D37"} <= {each.kind for each in found.findings}
    assert found.error
