"""The silent deaths of Hermes' memory, and the doctor's checks of its traps: each on a store that has it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest

from memtui.engine import health, open_engine
from memtui.engine.alive import Aliveness, check_alive
from memtui.engine.dialects.hermes import text_hash
from tests.conftest import tree_hash
from tests.engine.hermes_store import NOW_MS, unpack
from tests.engine.tables import pro_row, write_table

START = datetime(2026, 8, 1, 10, tzinfo=UTC)

TRAPS = ("D56", "D57", "D58", "D59")

CONFIG = """\
memory: {provider: lancedb}
plugins:
  lancedb:
    embedding: {model: words-2, base_url: "http://127.0.0.1:9/v1", dimensions: 2}
"""


def schema() -> pa.Schema:
    """The table as the plugin makes it."""
    fields = [pa.field(name, pa.string(), nullable=False) for name in ("id", "kind", "content")]
    fields.append(pa.field("vector", pa.list_(pa.float32(), 2), nullable=False))
    fields += [pa.field(name, pa.string()) for name in ("abstract", "category")]
    fields += [pa.field(name, pa.list_(pa.string())) for name in ("tags", "provenance_turn_ids")]
    fields += [pa.field("session_id", pa.string()), pa.field("turn_index", pa.int64())]
    texts = ("role", "user_id", "agent_identity", "agent_workspace", "platform", "source")
    fields += [pa.field(name, pa.string()) for name in texts]
    fields += [pa.field("created_at", pa.timestamp("us", tz="UTC")), pa.field("schema_version", pa.int64())]
    return pa.schema([*fields, pa.field("content_hash", pa.string())])


def row(kind: str, number: int, content: str, **more: Any) -> dict[str, Any]:
    """A row as the plugin writes it."""
    return {
        "id": f"{kind}_{number:032x}",
        "kind": kind,
        "content": content,
        "vector": [math.cos(number), math.sin(number)],
        "abstract": "",
        "category": "general" if kind == "fact" else "",
        "tags": [],
        "provenance_turn_ids": [],
        "session_id": "s",
        "turn_index": 0,
        "role": "",
        "user_id": "",
        "agent_identity": "default",
        "agent_workspace": "hermes",
        "platform": "cli",
        "source": "remember",
        "created_at": START + timedelta(minutes=number),
        "schema_version": 1,
        "content_hash": text_hash(kind, "hermes", content),
        **more,
    }


def session(name: str, start: int, turns: int, without: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Questions and answers of one session; those at the places `without` were never written."""
    out = []
    for place in range(2 * turns):
        role = "assistant" if place % 2 else "user"
        text = f"{role} {name} {place}"
        mark = sha256(f"{name}\0{role}\0{text}".encode()).hexdigest()[:24]
        told = {"session_id": name, "turn_index": place, "role": role, "source": "sync_turn"}
        if place not in without:
            out.append(row("turn", start + place, text, id=f"turn_{mark}", **told))
    return out


def drawn(number: int, name: str) -> dict[str, Any]:
    return row("fact", number, f"Drawn {number}.", session_id=name, source="session_end")


HEALTHY = [
    *session("one", 0, 4),
    drawn(20, "one"),
    *session("two", 100, 3),
    drawn(120, "two"),
    *session("three", 200, 5),
    *session("short", 300, 1),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Hermes' default home of a person, with the plugin chosen."""
    place = tmp_path / "home" / ".hermes"
    place.mkdir(parents=True)
    (place / "config.yaml").write_text(CONFIG, encoding="utf-8")
    return place


def store(home: Path, rows: list[dict[str, Any]]) -> Path:
    write_table(home / "lancedb", rows, schema())
    return home / "lancedb"


def alive(home: Path) -> Aliveness:
    before = tree_hash(home)
    found = check_alive({"HOME": str(home.parent)}, home.parent, now_ms=NOW_MS)
    assert tree_hash(home) == before
    return found


def codes(found: Aliveness) -> dict[str, str]:
    """Each cause with its state; all evidence lies there."""
    for _, _, cause in found.causes:
        assert all(Path(each.file).exists() and each.key for each in cause.evidence), cause
        assert cause.fix
        assert cause.sentence
    return {cause.code: cause.state for _, _, cause in found.causes}


def traps(folder: Path) -> dict[str, health.HealthFinding]:
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    examined = health.examine(health.patient_of(engine, now_ms=NOW_MS))
    assert not [each for each in examined.unlooked if each.kind in TRAPS]
    return {each.kind: each for each in examined.findings if each.kind in TRAPS}


def test_a_healthy_home_is_alive_and_has_no_trap(home: Path) -> None:
    folder = store(home, HEALTHY)
    found = alive(home)
    assert (found.host_name, found.verdict, codes(found)) == ("Hermes", "alive", {})
    assert traps(folder) == {}


def test_the_real_store_is_healthy(shared: Path, home: Path) -> None:
    (home / "config.yaml").write_text("memory: {provider: lancedb}\n" + DIMS_64, encoding="utf-8")
    unpack(shared, home)
    found = alive(home)
    assert (found.verdict, codes(found)) == ("alive", {})
    assert traps(home / "lancedb") == {}


DIMS_64 = "plugins: {lancedb: {embedding: {model: w, base_url: 'http://127.0.0.1:9', dimensions: 64}}}\n"


@pytest.mark.parametrize("before", [True, False])
def test_extraction_that_never_writes_a_fact_is_dead(home: Path, before: bool) -> None:
    rows = [*session("a", 0, 3), *([drawn(10, "a")] if before else [])]
    rows += [each for number in range(3) for each in session(f"later {number}", 100 * (number + 1), 3)]
    store(home, rows)
    found = alive(home)
    assert codes(found) == {"H1": "dead"}
    assert (found.verdict, "response_format" in found.causes[0][2].sentence) == ("dead", True)


def test_extraction_that_is_off_or_has_too_little_talk_is_no_death(home: Path) -> None:
    store(home, [each for number in range(9) for each in session(f"s{number}", 100 * number, 2)])
    assert codes(alive(home)) == {}
    (home / "config.yaml").write_text(CONFIG + "    extraction: {min_turns: 2}\n", encoding="utf-8")
    assert codes(alive(home)) == {"H1": "dead"}
    (home / "config.yaml").write_text(
        CONFIG + "    extraction: {enabled: false, min_turns: 2}\n", encoding="utf-8"
    )
    assert codes(alive(home)) == {}


def test_a_turn_lost_with_the_writer_is_told(home: Path) -> None:
    store(home, [*session("one", 0, 4, without=(2, 3)), drawn(50, "one")])
    assert codes(alive(home)) == {"H2": "weak"}


def test_a_question_lost_at_shutdown_is_told(home: Path) -> None:
    folder = store(home, [*session("one", 0, 4, without=(6,)), drawn(50, "one")])
    assert codes(alive(home)) == {"H3": "weak"}
    (found,) = traps(folder).values()
    assert (found.kind, found.seen.count) == ("D59", 1)


def test_a_column_that_may_not_be_null_breaks_every_write(home: Path) -> None:
    folder = store(home, HEALTHY)
    table = lancedb.connect(folder).open_table("memories")
    table.add_columns({"free": "cast(null as string)"})
    assert codes(alive(home)) == {}
    table.add_columns({"memtui_x": "1"})
    if table.schema.field("memtui_x").nullable:
        table.alter_columns({"path": "memtui_x", "nullable": False})
    found = alive(home)
    assert codes(found) == {"H4": "dead"}
    (trap,) = traps(folder).values()
    assert (trap.kind, "memtui_x" in trap.seen.sentence) == ("D57", True)


def test_a_model_of_other_dimensions_keeps_the_provider_from_starting(home: Path) -> None:
    (home / "config.yaml").write_text("memory: {provider: lancedb}\n", encoding="utf-8")
    store(home, HEALTHY)
    assert codes(alive(home)) == {"H5": "dead"}


def test_a_configuration_that_cannot_be_read_is_told(home: Path) -> None:
    store(home, HEALTHY)
    (home / "config.yaml").write_text("plugins: [", encoding="utf-8")
    assert "H6" in codes(alive(home))


def test_a_home_of_another_provider_is_not_judged(home: Path) -> None:
    store(home, session("one", 0, 4, without=(6,)))
    (home / "config.yaml").write_text("memory: {provider: mem0}\n", encoding="utf-8")
    assert alive(home).agents == ()


def test_a_home_that_says_nothing_is_unknown_and_never_dead(home: Path) -> None:
    store(home, HEALTHY)
    (home / "config.yaml").unlink()
    assert (alive(home).verdict, codes(alive(home))) == ("unknown", {})


def test_a_text_without_its_hash_and_a_fact_stored_twice_are_found(home: Path) -> None:
    rows = [
        row("fact", 1, "The hut."),
        row("fact", 2, " THE  hut."),
        row("fact", 3, "A"),
        row("fact", 4, "B"),
    ]
    rows[2]["content_hash"] = text_hash("fact", "hermes", "C")
    rows.append(row("fact", 5, "B", user_id="tg-1"))
    found = traps(store(home, rows))
    assert {kind: list(each.seen.ids) for kind, each in found.items()} == {
        "D56": [rows[2]["id"]],
        "D58": [rows[0]["id"], rows[1]["id"]],
    }


def test_tables_of_other_programs_are_not_looked_at_for_them(tmp_path: Path) -> None:
    write_table(tmp_path / "pro", [pro_row(1), pro_row(2)])
    assert traps(tmp_path / "pro") == {}
