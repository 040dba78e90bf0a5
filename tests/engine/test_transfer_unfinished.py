"""What was begun and not finished is known, can be asked for again, and is forgotten when it is done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memtui.engine import transfer
from memtui.engine.core.errors import Cancelled, UsageError
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.providers.embedder import embedder_named
from memtui.engine.transfer.exporting.export import MOST, Exports, PastExport
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.request import ImportRequest
from memtui.engine.transfer.importing.unfinished import as_asked
from tests.engine.transfer_stores import (
    jsonl,
    memory,
    opened,
    own_store,
    planned,
    pro_store,
    rows_of,
)

NAMES = ("id", "text", "category", "scope", "importance", "timestamp", "metadata")


def _source(path: Path, count: int) -> Path:
    rows = [memory(n, f"Kiln {n} in Uferweg has a door seal of type {n * 7}.") for n in range(count)]
    return jsonl(path, [{name: row[name] for name in NAMES} for row in rows])


def test_a_stopped_import_is_asked_for_again_as_it_was(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    source = _source(tmp_path / "rows.jsonl", 40)
    token = CancelToken()
    plan = planned(engine, source, scope="agent:ana", rules_off=frozenset(("noise",)), choices={3: "take"})
    token.cancel()
    with pytest.raises(Cancelled):
        transfer.run_import(engine, plan, cancel=token)
    plan.close()
    (left,) = transfer.unfinished_runs(engine).all()
    assert (left.kind, left.why) == ("import", "It was stopped.")
    assert left.request == replace(plan.request, sources=(source,))
    again = transfer.plan_import(engine, left.request)
    assert transfer.run_import(engine, again).added == 40
    again.close()
    assert transfer.unfinished_runs(engine).all() == []
    assert len(rows_of(engine)) == 40


def test_a_run_whose_program_lives_is_not_offered_and_a_killed_one_is(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    runs = transfer.unfinished_runs(engine)
    what = as_asked(ImportRequest((tmp_path / "x.jsonl",)))
    with runs.running("import", what):
        assert runs.all() == []
        (file,) = (tmp_path / "state").rglob("import-*.json")
        record = file.read_text("utf-8")
    file.write_text(json.dumps({**json.loads(record), "pid": 2**22 + 1}), "utf-8")
    (left,) = runs.all()
    assert left.why == ""
    assert left.request.sources == (tmp_path / "x.jsonl",)
    runs.forget(left.name)
    assert runs.all() == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "import", "what": {}}', "\ud800"])
def test_a_note_that_is_no_note_is_passed_over(tmp_path: Path, text: str) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    with transfer.unfinished_runs(engine).running("import", as_asked(ImportRequest((tmp_path / "x",)))):
        (file,) = (tmp_path / "state").rglob("import-*.json")
    file.write_text(text, "utf-8", "surrogatepass")
    assert transfer.unfinished_runs(engine).all() == []


def test_the_size_of_an_export_is_close_to_what_is_written(tmp_path: Path) -> None:
    rows = [memory(n, f"Kiln {n} in Uferweg " + "x" * (n % 50)) for n in range(1_000)]
    engine = opened(own_store(tmp_path / "store", rows), tmp_path / "state")
    for name in ("jsonl", "csv"):
        request = ExportRequest(tmp_path / f"out-{name}", name)
        guessed = transfer.estimate_export(engine, request)
        assert abs(guessed - transfer.export_memories(engine, request).size_bytes) < 0.1 * guessed
    few = ExportRequest(tmp_path / "few.jsonl", "jsonl", ids=tuple(row["id"] for row in rows[:5]))
    assert transfer.estimate_export(engine, few) == pytest.approx(
        transfer.export_memories(engine, few).size_bytes, rel=0.2
    )


def test_a_pasted_list_is_a_source(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    path = transfer.keep_pasted(
        engine, "[2026-01-02] - Ana paints boats.\n[2026-01-03] - The kiln is in Uferweg.\n"
    )
    assert transfer.keep_pasted(engine, path.read_text("utf-8")) == path
    with_progress: list[Progress] = []
    plan = transfer.plan_import(engine, ImportRequest((path,)), with_progress.append)
    assert plan.sources[0].format.name == "pasted"
    assert plan.counts["new"] == 2
    plan.close()


def test_a_model_is_named_with_the_variables_of_its_keys(tmp_path: Path) -> None:
    assert embedder_named("static-minilm-256", {}).dims == 256
    with pytest.raises(UsageError, match="no name"):
        embedder_named(" ", {})
    with pytest.raises(UsageError, match="JINA_KEY is not set"):
        embedder_named("jina-embeddings-v5-text-small", {"JINA_KEY": ""}, key_variables="JINA_KEY")
    made = embedder_named("bge-m3", {"A": "sk-aaaaaaaaaaaaaaaa"}, base_url="http://x/v1", key_variables="A")
    assert "aaaa" not in made.describe()


def test_an_export_without_texts_holds_none(tmp_path: Path) -> None:
    metadata = {"l0_abstract": "Kiln", "tier": "core", "note": "the door is blue", "source_session": "a-b-1"}
    rows = [memory(n, f"Kiln {n} in Uferweg", metadata=metadata) for n in range(3)]
    engine = opened(pro_store(tmp_path / "store", rows), tmp_path / "state")
    for name in ("jsonl", "json", "csv", "parquet", "markdown", "obsidian"):
        out = tmp_path / f"out-{name}"
        done = transfer.export_memories(engine, ExportRequest(out, name, redact=True))
        assert done.rows == 3
        assert any(loss.what.startswith("left out, as asked") for loss in done.loss)
        files = [out] if out.is_file() else [each for each in out.rglob("*") if each.is_file()]
        written = b"".join(each.read_bytes() for each in files)
        assert b"Uferweg" not in written
        assert b"door is blue" not in written
    assert b"a-b-1" in (tmp_path / "out-jsonl").read_bytes()


def test_the_last_exports_are_known_and_what_is_no_note_is_passed_over(tmp_path: Path) -> None:
    exports = Exports(tmp_path / "state" / "exports.jsonl")
    assert exports.all() == []
    for number in range(MOST + 3):
        exports.add(PastExport(number, f"/tmp/{number}.csv", "csv", number))
    with (tmp_path / "state" / "exports.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"path": 1}\nno json\n[]\n')
    assert [each.rows for each in exports.all()] == list(range(MOST + 2, 2, -1))
