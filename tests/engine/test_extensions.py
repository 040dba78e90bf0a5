"""Extensions of other packages: found when they are needed, run when they are chosen, named when they are broken."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from memtui.engine import MemtuiError, UnknownDialectError, UsageError, open_engine
from memtui.engine.core.extensions import Extension, load
from memtui.engine.demo import build_demo
from memtui.engine.dialects.registry import MODULES, dialect_named
from memtui.engine.extensions import PROTOCOLS, ExtensionError, check_extensions
from memtui.testing import GoldenRecall, StoreSample, check_dialect
from tests.cli.every_command import call
from tests.conftest import NOW_MS, ROOT, SHARED
from tests.engine.extension_world import documented_example, install, on_path
from tests.engine.pro_store import row, write_store
from tests.engine.tables import pro_row, write_table

S, F, VECTOR = pa.string(), pa.float64(), pa.list_(pa.float32(), 2)
NOTES = pa.schema([("note", S), ("body", S), ("vec", VECTOR), ("shelf", S), ("weight", F), ("made", S)])

DIALECT = """
from pathlib import Path
from memtui.engine.extensions import Capabilities, Columns, Dialect, TimeForm, nearest_recipe, Check, Seen

PROTOCOL = 1
Path(__file__).with_suffix(".ran").touch()
COLUMNS = Columns(id="note", text="body", vector="vec", scope="shelf", importance="weight", timestamp="made")

class Notes(Dialect):
    def row_id(self, row):
        if row["note"] == "poison":
            raise ZeroDivisionError("poison")
        return Dialect.row_id(self, row)

def recognise(schema):
    if "broken" in schema.names:
        raise RuntimeError("no\\nlines")
    if "odd" in schema.names:
        return 7
    return Notes("notes", "Notes", COLUMNS, can=Capabilities(writable=True, default_recipe="notes"),
                 times=TimeForm(unit="iso"))

RECIPES = (nearest_recipe("notes", "Notes", "The nearest notes."),)
CHECKS = (Check("D1000", "blank shelves", "facts", "S3", "wrong", "none", "none",
          lambda patient: Seen("a blank shelf", 1)),)
"""
POINTS = {
    "memtui.dialects": {"notes": "notes_ext [note,body,shelf,made]"},
    "memtui.recipes": {"notes": "notes_ext"},
    "memtui.checks": {"notes": "notes_ext"},
}


def notes(folder: Path, *extra: str, ids: tuple[str, ...] = ("a", "b", "c")) -> Path:
    schema = pa.schema([*NOTES, *((name, S) for name in extra)])
    rows = [
        {"note": row, "body": f"note {row}", "vec": [1.0, number], "shelf": f"s{number % 2}", "weight": 0.5}
        | {"made": f"2026-05-0{number + 1}T10:00:00"} | dict.fromkeys(extra, "x")
        for number, row in enumerate(ids)
    ]  # fmt: skip
    write_table(folder, rows, schema)
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "site"
    install(place, "notes-memtui", {"notes_ext": DIALECT}, POINTS)
    with on_path(place):
        yield place


def opened(folder: Path, **options: object) -> object:
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, **options)  # type: ignore[arg-type]


def test_a_table_of_an_extension_opens_without_a_flag_and_is_searched_by_its_recipe(
    site: Path, tmp_path: Path
) -> None:
    place = notes(tmp_path / "store")
    with opened(place) as engine:  # type: ignore[attr-defined]
        assert engine.store.dialect.name == engine.default_recipe == "notes"
        assert engine.recipes()[0].name == "notes"
    said = call("doctor", "--store", place, "--json")
    assert "D1000" in [finding["kind"] for finding in json.loads(said.out)["findings"]]


def test_the_kit_passes_on_an_extension_and_fails_where_a_property_does_not_hold(
    site: Path, tmp_path: Path
) -> None:
    report = check_dialect(StoreSample("notes", notes(tmp_path / "store")), tmp_path / "kit")
    assert report.passed, report.page()
    assert report.page().endswith("8 properties, 0 failed")
    assert "left out  an edit" in report.page(), "its id is not named id, so memtui only reads it"
    bad = check_dialect(StoreSample("another", tmp_path / "store"), tmp_path / "bad")
    assert not bad.passed
    assert "the table was read as notes" in bad.page()


def test_code_of_an_extension_runs_only_for_its_own_table(site: Path, tmp_path: Path) -> None:
    ran = site / "notes_ext.ran"
    ours = tmp_path / "ours"
    write_table(ours, [pro_row(1)])
    assert call("ls", "--store", ours).code == 0
    other = tmp_path / "other"
    write_table(other, [{"note": "a", "body": "b"}], pa.schema([("note", S), ("body", S)]))
    said = call("ls", "--store", other)
    assert said.code == 1
    assert "not a table of memories that memtui knows" in said.err
    assert not ran.exists(), "neither at start, nor for a table that lacks one of its marks"
    assert call("ls", "--store", notes(tmp_path / "own")).code == 0
    assert ran.exists()


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named"),
        ("def recognise(schema): ...", "states no PROTOCOL"),
        ("PROTOCOL = 99\ndef recognise(schema): ...", "written for protocol 99"),
        ("PROTOCOL = 1", "lacks recognise"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_broken_extension_is_named_and_left_out(tmp_path: Path, module: str, reason: str) -> None:
    place = tmp_path / "site"
    install(place, "bad-ext", {"bad_ext": module}, {"memtui.dialects": {"bad": "bad_ext [note]"}})
    store = notes(tmp_path / "store")
    with on_path(place):
        (found,) = check_extensions()
        assert (found.state, found.kind) == ("broken", "dialect")
        assert reason in found.reason
        assert "bad (bad-ext 0.1)" in found.reason
        with pytest.raises(UnknownDialectError, match="bad-ext"):
            opened(store)
        for arguments in (("ls", "--store", store), ("extensions",), ("extensions", "--json")):
            said = call(*arguments)
            assert said.code == 1
            assert said.faults == []
            assert "bad" in said.out + said.err
        write_table(tmp_path / "ours", [pro_row(1)])
        assert call("ls", "--store", tmp_path / "ours").code == 0


@pytest.mark.parametrize("column", ["broken", "odd"])
def test_a_dialect_that_fails_on_a_table_is_an_error_that_names_it(
    site: Path, tmp_path: Path, column: str
) -> None:
    with pytest.raises(UnknownDialectError, match="extension notes"):
        opened(notes(tmp_path / "store", column))


def test_what_a_dialect_raises_on_a_row_is_an_error_that_names_it(site: Path, tmp_path: Path) -> None:
    said = call("ls", "--store", notes(tmp_path / "store", ids=("a", "poison")))
    assert said.faults == []
    assert said.code == 1
    assert "extension notes (notes-memtui 0.1) failed: ZeroDivisionError: poison" in said.err


def test_a_name_of_ours_and_a_name_taken_are_left_out(tmp_path: Path) -> None:
    place = tmp_path / "site"
    points = {"memtui.recipes": {"memtui": "x"}, "memtui.readers": {"csv": "x", "new": "x"}}
    install(place, "one", {"x": "PROTOCOL = 1"}, points)
    install(place, "two", {}, {"memtui.readers": {"new": "x"}})
    with on_path(place):
        found = {(one.extension.package, one.extension.name): one for one in check_extensions()}
    states = {key: one.state for key, one in found.items()}
    assert states[("one", "memtui")] == "left out"
    assert sorted(states[(package, "new")] for package in ("one", "two")) == ["broken", "left out"]


def test_every_kind_is_reached_by_its_name(tmp_path: Path) -> None:
    place = tmp_path / "site"
    module = """
PROTOCOL = 1
from memtui.engine.extensions import Format, Sighting, Record
def read(path, options):
    yield Record(text=path.read_text().strip(), where="1")
    raise KeyError("torn")
FORMATS = (Format("plainest", "plainest", {"text": read}, lambda head: None, 1),)
"""
    install(place, "kinds", {"kinds_ext": module}, {"memtui.readers": {"plainest": "kinds_ext"}})
    source = tmp_path / "one.xyz"
    ours = tmp_path / "ours"
    write_table(ours, [pro_row(1)])
    source.write_text("The key of the shed hangs behind the door.")
    with on_path(place):
        (found,) = check_extensions()
        assert found.state == "works", found.reason
        said = call("import", source, "--format", "plainest", "--dry-run", "--store", ours)
        assert "extension plainest (kinds 0.1) failed: KeyError" in said.err
        assert said.faults == []
        for command, option in (("import", "--format"), ("recall", "--recipe"), ("export", "--format")):
            wrong = call(command, source, option, "no-such-name", "--store", ours)
            assert wrong.code == 2
            assert "no-such-name" in wrong.err


def test_a_dialect_is_chosen_by_name(site: Path) -> None:
    assert dialect_named("notes", NOTES, "x").name == "notes"
    with pytest.raises(UsageError, match="no dialect 'nothing'"):
        dialect_named("nothing", NOTES, "x")
    with pytest.raises(MemtuiError):
        dialect_named("notes", pa.schema([("note", S)]), "x")


def test_our_own_implement_the_protocols() -> None:
    from memtui.engine.capture.recipes.registry import capture_recipes
    from memtui.engine.recall.recipes.registry import all_recipes

    assert {module.PROTOCOL for module in MODULES} == {PROTOCOLS["memtui.dialects"]}
    assert all_recipes()
    assert capture_recipes()


def test_starting_reads_no_entry_points(tmp_path: Path) -> None:
    """Neither the first frame, nor --version, nor a command on a store of ours."""
    code = (
        "import sys, importlib.metadata as metadata\n"
        "read = metadata.entry_points\n"
        "def refuse(*given, **options):\n"
        "    by = sys._getframe(1).f_code.co_filename\n"  # pydantic looks for plugins of its own
        "    if 'pydantic' not in by:\n"
        "        raise SystemExit(f'entry points were read by {by}')\n"
        "    return read(*given, **options)\n"
        "metadata.entry_points = refuse\n"
        "from memtui.__main__ import main\n"
        "import memtui.tui.app, memtui.tui.startup.open_store\n"
        "assert 'memtui.engine.extensions' not in sys.modules\n"
        "assert main(['--version']) == 0\n"
        "assert main(['recall', 'port', '--query-vector', sys.argv[2], '--store', sys.argv[1]]) == 0\n"
    )
    store, vector = tmp_path / "store", tmp_path / "vector.json"
    write_table(store, [pro_row(1)])
    vector.write_text("[1.0, 0.0]")
    done = subprocess.run(
        [sys.executable, "-c", code, store, vector], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


MEMPALACE = SHARED / "fixtures" / "stores-other" / "mempalace-code"


@pytest.mark.skipif(not MEMPALACE.exists(), reason="the recorded stores are not here")
def test_the_example_of_the_docs_passes_the_kit_with_the_recorded_recalls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    module, points = documented_example()
    assert len(module.splitlines()) + 25 <= 100
    install(tmp_path / "site", "mempalace-memtui", {"mempalace_memtui": module}, points)
    with tarfile.open(MEMPALACE / "store.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    with gzip.open(MEMPALACE / "expected.json.gz", "rt") as file:
        expected = json.load(file)
    recalls = [
        GoldenRecall(
            one["query"],
            expected["queries"][one["query"]],
            [(hit["id"], hit["similarity"]) for hit in one["results"]],
            limit=one["limit"],
            scopes=None if one["wing"] is None else [one["wing"]],
            category=one["room"],
        )
        for one in expected["searches"]
    ]
    with on_path(tmp_path / "site"):
        assert [one.state for one in check_extensions()] == ["works", "works"]
        sample = StoreSample("mempalace", tmp_path / "palace" / "lance", "mempalace_drawers", recalls)
        report = check_dialect(sample, tmp_path / "kit")
    assert report.passed, report.page()


def test_an_extension_error_says_what_to_do() -> None:
    extension = Extension("memtui.dialects", "x", "no_such_module_at_all", "pack", "1")
    with pytest.raises(ExtensionError) as caught:
        load(extension, "recognise")
    assert "pack" in caught.value.fix


OURS = {
    "builtin-g3": ("stores/builtin-new.tar.gz", ()),
    "builtin-g1": ("stores/builtin-legacy.tar.gz", ()),
    "engine": ("stores/engine.tar.gz", ()),
    "crewai": ("crewai/store.tar.gz", ()),
    "hermes": ("hermes/store.tar.gz", ("content_hash",)),
}
"""Recorded stores of the real programs, and the columns that each writes anew with an edit."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "engine" else pytest.mark.slow) for name in OURS]
)
def test_our_own_dialects_pass_the_kit(name: str, shared: Path, tmp_path: Path) -> None:
    archive, follows = OURS[name]
    with tarfile.open(shared / "fixtures" / archive) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    (table, *_) = sorted((tmp_path / "unpacked").rglob("*.lance"))
    report = check_dialect(StoreSample(name, table.parent, table.stem, follows=follows), tmp_path / "kit")
    assert report.passed, report.page()
    assert "left out  an edit" not in report.page()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pro", "memtui"])
def test_the_dialects_that_memtui_makes_itself_pass_the_kit(name: str, tmp_path: Path) -> None:
    if name == "pro":
        rows = [row(f"row-{n}", f"The pump {n} listens on port 84{n}", (1.0, n / 10)) for n in range(6)]
        place = write_store(tmp_path / "store", rows, dims=2)
    else:
        place = build_demo(tmp_path / "store", now_ms=NOW_MS)
    with open_engine(place, now=lambda: NOW_MS, environ={}, cwd=tmp_path) as engine:
        dialect = engine.store.dialect.name
    assert name in dialect
    report = check_dialect(StoreSample(dialect, place), tmp_path / "kit")
    assert report.passed, report.page()
