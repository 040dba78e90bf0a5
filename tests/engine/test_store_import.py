"""The import of lancedb: quiet, in old formats, and without the models that a local table never needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

USE = """
import json, sys
{first}
from memtui.engine.store.lancedb_import import import_lancedb
lancedb = import_lancedb()
import os
import pyarrow as pa
from lancedb.index import FTS

def models():
    return sum("lance_namespace_urllib3_client.models." in name for name in sys.modules)

schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), 2))])
rows = [{{"id": "a", "text": "oat milk", "vector": [1.0, 0.0]}}, {{"id": "b", "text": "door", "vector": [0.0, 1.0]}}]
table = lancedb.connect(sys.argv[1]).create_table("t", pa.Table.from_pylist(rows, schema))
table.create_index("text", config=FTS(with_position=True))
version = table.list_indices()[0].index_version
table.add(pa.Table.from_pylist([{{"id": "c", "text": "milk", "vector": [1.0, 1.0]}}], schema))
table.update(where="id = 'a'", values={{"text": "oat"}})
table.merge_insert("id").when_matched_update_all().execute(pa.Table.from_pylist(rows[:1], schema))
table.delete("id = 'b'")
table.optimize()
found = {{
    "fts": sorted(row["id"] for row in table.search("milk", query_type="fts").select(["id", "_score"]).to_list()),
    "near": [row["id"] for row in table.search([1.0, 1.0]).select(["id", "_distance"]).limit(1).to_list()],
    "rows": table.count_rows(),
    "index_version": version,
    "log": os.environ["LANCEDB_LOG"],
    "models_after_use": models(),
}}
answer = lancedb.connect(sys.argv[1]).list_tables()
from lance_namespace_urllib3_client.models import ListTablesResponse
import lance_namespace
found["tables"] = answer.tables
found["same_class"] = type(answer) is ListTablesResponse
found["instance"] = isinstance(answer, lance_namespace.ListTablesResponse)
found["models_in_the_end"] = models() > 100
print(json.dumps(found))
"""
EXPECTED = {
    "fts": ["a", "c"],
    "near": ["c"],
    "rows": 2,
    "index_version": 1,
    "log": "error",
    "tables": ["t"],
    "same_class": True,
    "instance": True,
    "models_in_the_end": True,
}


def use(folder: Path, first: str = "") -> dict[str, Any]:
    command = [sys.executable, "-c", USE.format(first=first), str(folder)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_everything_works_without_the_models_and_they_come_when_they_are_used(tmp_path: Path) -> None:
    assert use(tmp_path) == {**EXPECTED, "models_after_use": 0}


@pytest.mark.slow
def test_another_release_is_imported_as_it_is(tmp_path: Path) -> None:
    other = "import importlib.metadata as m; m.version = lambda name: '0.41.0'"
    found = use(tmp_path, other)
    assert found.pop("models_after_use") > 100
    assert found == EXPECTED


@pytest.mark.slow
def test_a_stand_in_that_fails_is_not_noticed(tmp_path: Path) -> None:
    broken = (
        "import memtui.patches.lancedb_import as late\n"
        "def fail(self, name): raise RuntimeError(name)\n"
        "late._StandIn.__getattr__ = fail"
    )
    found = use(tmp_path, broken)
    assert found.pop("models_after_use") > 100
    assert found == EXPECTED


@pytest.mark.slow
def test_lancedb_that_is_there_already_is_taken(tmp_path: Path) -> None:
    found = use(tmp_path, "import os; os.environ['LANCEDB_LOG'] = 'error'; import lancedb")
    assert found.pop("models_after_use") > 100
    assert found == EXPECTED


def test_importing_the_engine_and_finding_a_place_needs_no_library(tmp_path: Path) -> None:
    script = """
import sys
import memtui.engine
from memtui.engine.core.errors import MemtuiError
from memtui.engine.store.open import open_store
try:
    open_store(sys.argv[1])
except MemtuiError as error:
    print(error.message)
heavy = {"lancedb", "pyarrow", "numpy", "pydantic", "httpx", "textual", "rich"}
print(sorted(heavy & set(sys.modules)))
"""
    command = [sys.executable, "-c", script, str(tmp_path / "nowhere")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.stdout.splitlines() == [f"{tmp_path / 'nowhere'} does not exist.", "[]"]


def test_the_methods_of_others_are_checked_again_once_it_is_imported() -> None:
    code = (
        "import overrides; real = overrides.override\n"
        "from memtui.engine.store.lancedb_import import import_lancedb; import_lancedb()\n"
        "assert overrides.override is real\n"
        "import lancedb.db; assert lancedb.db.LanceDBConnection.open_table.__override__"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
