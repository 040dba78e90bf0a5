"""Envelopes in tables and in Markdown: found by the doctor and by a scan, taken out, undone byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memtui.engine import ListQuery, changes, open_engine
from memtui.engine.engine import Engine
from memtui.engine.health import examine, find_suspects, patient_of
from memtui.engine.health.remedies import carry_out_remedies, plan_remedy
from tests.engine import planted_faults as planted
from tests.engine.core_home import AT_MS, make_core_home
from tests.engine.crewai_store import crew_row
from tests.engine.crewai_store import schema as crew_schema
from tests.engine.curate_world import WordEmbedder, engine_at, row_of, rows_of, same_rows
from tests.engine.planted_faults import key_of, memory

ENVELOPE = 'Voice memo (untrusted metadata):\n```json\n{"message_id": "918", "sender": "Ines"}\n```'
ONLY = f"{ENVELOPE}\n\nSender (untrusted metadata):\n```json\n{{}}\n```"
MIXED = f"{ENVELOPE}\n\nThe bastion answers on port 48022."
TOLD = "The host writes Sender (untrusted metadata): before a message."


def store(folder: Path, *texts: str) -> Path:
    planted.sound(folder, 20)
    planted.add(folder, [memory(900 + at, text=text) for at, text in enumerate(texts)])
    return folder


def finding_of(engine: Engine) -> Any:
    engine.store.refresh()
    found = examine(patient_of(engine, now_ms=planted.NOW_MS), kinds=["D60"])
    assert not found.unlooked
    return found.findings[0] if found.findings else None


def test_found_and_taken_out_and_undone(tmp_path: Path) -> None:
    folder = store(tmp_path / "lancedb-pro", ONLY, MIXED, TOLD)
    engine = engine_at(folder, embedder=WordEmbedder(planted.DIMS))
    before = rows_of(folder)
    finding = finding_of(engine)
    assert sorted(finding.seen.ids) == sorted([key_of(900), key_of(901)])
    assert finding.seen.count == 2
    plan = plan_remedy(patient_of(engine, now_ms=planted.NOW_MS), finding)
    assert plan.writes, plan.refusal
    assert {each.op for each in plan.changes.changes} == {"delete", "edit"}  # type: ignore[union-attr]
    carry_out_remedies(engine, [plan], confirmed=True)
    assert row_of(folder, key_of(901))["text"] == "The bastion answers on port 48022."
    assert row_of(folder, key_of(901))["vector"] != before.to_pylist()[0]["vector"]
    assert key_of(900) not in rows_of(folder).column("id").to_pylist()
    assert finding_of(engine) is None
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(folder), before)


def test_without_a_model_only_what_needs_none_is_taken_out(tmp_path: Path) -> None:
    folder = store(tmp_path / "lancedb-pro", ONLY, MIXED)
    engine = engine_at(folder)
    finding = finding_of(engine)
    plan = plan_remedy(patient_of(engine, now_ms=planted.NOW_MS), finding)
    assert plan.changes is not None
    assert [each.op for each in plan.changes.changes] == ["delete"]
    assert any("keeps its envelope" in each for each in plan.changes.warnings)
    alone = engine_at(store(tmp_path / "other" / "lancedb-pro", MIXED))
    found = finding_of(alone)
    assert found.check.how == "by hand"
    assert plan_remedy(patient_of(alone, now_ms=planted.NOW_MS), found).refusal


def test_a_scan_and_a_filter_find_the_same_rows(tmp_path: Path) -> None:
    engine = engine_at(store(tmp_path / "lancedb-pro", ONLY, MIXED, TOLD))
    engine.load_catalog()
    found = find_suspects(engine, ["envelope"])
    assert {each.id: each.rule for each in found} == {
        key_of(900): "nothing else",
        key_of(901): "with a text",
    }
    assert len(engine.page(engine.view(ListQuery("is:envelope")), 0, 10)) == 2


@pytest.mark.parametrize("text", [ONLY, MIXED])
def test_a_table_of_another_program(text: str, tmp_path: Path) -> None:
    import lancedb
    import pyarrow as pa

    rows = [crew_row(1), crew_row(2, content=text)]
    lancedb.connect(tmp_path / "memory").create_table(
        "memories", pa.Table.from_pylist(rows, schema=crew_schema())
    )
    engine = engine_at(tmp_path / "memory", embedder=WordEmbedder(2))
    assert finding_of(engine).seen.count == 1
    plan = plan_remedy(patient_of(engine, now_ms=planted.NOW_MS), finding_of(engine))
    assert plan.writes, plan.refusal
    carry_out_remedies(engine, [plan], confirmed=True)
    assert finding_of(engine) is None


def test_markdown_of_an_agent(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- The relay port is 9443.\n",
        "memory/2026-11-25.md": f"{ENVELOPE}\n\n- Ines prefers tea.\n",
        "memory/2026-11-26.md": f"{ONLY}\n",
        "memory/2026-11-27.md": f"- {TOLD}\n",
    }
    home = make_core_home(tmp_path, files)
    engine = open_engine(
        home.database,
        now=lambda: AT_MS,
        environ=home.environ,
        cwd=home.path,
        writable=True,
        state=tmp_path / "state",
    )
    before = {name: (home.workspace / name).read_bytes() for name in files}
    finding = finding_of(engine)
    assert finding.seen.count == 2
    plan = plan_remedy(patient_of(engine, now_ms=AT_MS), finding)
    assert plan.writes, plan.refusal
    carry_out_remedies(engine, [plan], confirmed=True)
    assert (home.workspace / "memory/2026-11-25.md").read_text().strip() == "- Ines prefers tea."
    assert "untrusted" not in (home.workspace / "memory/2026-11-26.md").read_text()
    assert (home.workspace / "memory/2026-11-27.md").read_bytes() == before["memory/2026-11-27.md"]
    changes.apply(engine, changes.plan_undo(engine))
    assert {name: (home.workspace / name).read_bytes() for name in files} == before
