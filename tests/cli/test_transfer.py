"""Import, export, migrate, upgrade, repair and re-embed on the command line: a dry run counts what the run does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.main import run
from memtui.engine.providers.static_embedder import BUNDLED
from memtui.engine.store.open import open_store
from memtui.engine.transfer.migration import FORMS
from tests.conftest import tree_hash
from tests.engine.loopback import Answer, loopback
from tests.engine.transfer_stores import jsonl, memory, own_store, pro_store

Capture = pytest.CaptureFixture[str]
SECRET = "The deploy token = Tr0ub4dor&3horse for staging."
ROWS = [
    memory(1, "The kiln needs a seal.", metadata={}),
    memory(2, "The standup is at 09:30.", metadata={"memory_category": "cases"}),
    memory(3, SECRET, scope="agent:main", metadata={}),
    memory(4, "Nobody finds this.", scope=None, metadata={"memory_category": "cases", "l0_abstract": "x"}),
    memory(5, "In seconds.", timestamp=1_772_000_000.0, metadata="[1]"),
    memory(6, "No vector yet.", vector=[0.0] * 256, metadata={"memory_category": "cases"}),
]


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"MEMTUI_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("MEMTUI_EMBEDDING_MODEL", BUNDLED)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return pro_store(tmp_path / "db", ROWS)


Call = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def call(capsys: Capture) -> Call:
    """Exit code, the JSON document (None when nothing was printed) and standard error."""

    def _call(*words: object) -> tuple[int, Any, str]:
        capsys.readouterr()
        code = run([*map(str, words), "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out.strip() else None, err

    return _call


def _counts(document: Mapping[str, Any], *left: str) -> dict[str, Any]:
    """What a dry run and its run must have in common."""
    return {key: value for key, value in document.items() if key not in ("entry", *left)}


def _import_source(path: Path) -> Path:
    return jsonl(
        path,
        [
            {"id": memory(1, "")["id"], "text": "The kiln needs a seal."},
            {"id": memory(2, "")["id"], "text": "The standup is at 10:00."},
            {"id": memory(20, "")["id"], "text": "Said first."},
            {"id": memory(20, "")["id"], "text": "Said differently."},
            {"id": memory(20, "")["id"], "text": "Said in the end."},
            {"text": "The ferry leaves at nine.", "importance": "high", "category": "weather"},
            {"text": "The ferry leaves at nine."},
            {"text": SECRET.replace("horse", "horses")},
            {"text": "hi"},
            {"text": "Do you remember what I said?"},
        ],
    )


@pytest.mark.parametrize("conflicts", ["keep", "take", "both"])
@pytest.mark.parametrize(
    "more", [(), ("--mask-secrets", "--allow", "short,noise,exact", "--leave-out", "6,9-10")]
)
def test_an_import_does_what_its_dry_run_said(
    db: Path, tmp_path: Path, call: Call, conflicts: str, more: tuple[str, ...]
) -> None:
    source = _import_source(tmp_path / "in.jsonl")
    words = ("import", source, "--store", db, "--conflicts", conflicts, *more)
    before = tree_hash(db)
    code, dry, _ = call(*words, "--dry-run")
    assert (code, tree_hash(db), dry["entry"]) == (0, before, None)
    assert not (tmp_path / "state").exists()
    listed = call("ls", "--store", db, "--limit", 50)[1]
    code, done, _ = call(*words)
    assert code == 0
    assert _counts(done, "warnings") == _counts(dry, "warnings")
    texts = [each["text"] for each in call("ls", "--store", db, "--limit", 50)[1]["rows"]]
    assert len(texts) - listed["total"] == done["added"]
    wanted = [each for each in done["new"] if not each.get("left_out")]
    assert len(wanted) == done["plan"]["new"] == len(done["new"]) - done["left_out"]
    assert {each["text"] for each in wanted} - {"Said first."} <= set(texts)  # a later record may replace it
    assert done["left_out"] == (3 if more else 0)
    assert not more or texts.count("The ferry leaves at nine.") == 1
    if conflicts == "take":  # of three in the place of one the last wins
        assert done["replaced"] == 1
        assert "Said in the end." in texts
        assert "Said differently." not in texts
    assert call("undo", "--store", db, "--yes")[0] == 0
    assert call("ls", "--store", db, "--limit", 50)[1] == listed  # what was replaced is as it was


def test_an_import_that_needs_a_yes_says_why_and_writes_nothing(db: Path, tmp_path: Path, call: Call) -> None:
    source = tmp_path / "broken.jsonl"
    source.write_text('{"text": "The first line is fine."}\n{"text": \n', encoding="utf-8")
    before = tree_hash(db)
    code, document, err = call("import", source, "--store", db)
    assert (code, tree_hash(db)) == (3, before)
    assert document["rejected"][0]["where"] == "line 2"
    assert "cannot be read" in err
    code, document, _ = call("import", source, "--store", db, "--yes")
    assert (code, document["added"], document["entry"]) == (0, 1, 1)


def test_an_import_says_all_that_its_dry_run_said_of_the_source(db: Path, tmp_path: Path, call: Call) -> None:
    talk = {"uuid": "u", "chat_messages": [{"uuid": "m", "text": "hello", "sender": "human"}]}
    source = tmp_path / "conversations.json"
    source.write_text(json.dumps([talk]), encoding="utf-8")
    foretold = call("import", source, "--store", db, "--dry-run")[1]["warnings"]
    code, document, err = call("import", source, "--store", db)
    assert (code, document["warnings"]) == (1, foretold)
    assert "memtui capture" in err
    note = tmp_path / "note.md"
    note.write_bytes("- Die M\u00fchle ist alt.\n".encode("cp1252"))
    foretold = call("import", note, "--store", db, "--dry-run")[1]["warnings"]
    assert foretold
    assert call("import", note, "--store", db)[1]["warnings"][: len(foretold)] == foretold


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet", "notes"])
def test_an_export_writes_what_its_dry_run_said(db: Path, tmp_path: Path, call: Call, name: str) -> None:
    words = ["export", tmp_path / name, "--store", db, "--where", "scope:global"]
    if name == "notes":
        words += ["--format", "markdown"]
    before = tree_hash(db)
    _, dry, _ = call(*words, "--dry-run")
    assert not (tmp_path / name).exists()
    code, done, _ = call(*words)
    assert code == 0
    assert _counts(done, "files", "bytes") == _counts(dry, "files", "bytes")
    assert done["rows"] == 5 - 1  # the row without a scope is nobody's
    assert tree_hash(db) == before


@pytest.mark.parametrize("form", FORMS)
def test_a_migration_does_what_its_check_said(db: Path, tmp_path: Path, call: Call, form: str) -> None:
    new = tmp_path / "new"
    before = tree_hash(db)
    _, check, _ = call("migrate", "check", db, "--form", form, "--now", "1795244400000")
    _, dry, _ = call("migrate", "run", db, new, "--form", form, "--now", "1795244400000", "--dry-run")
    assert not new.exists()
    code, done, _ = call("migrate", "run", db, new, "--form", form, "--now", "1795244400000")
    assert (code, tree_hash(db)) == (0, before)
    assert _counts(check, "destination", "verified") == _counts(dry, "destination", "verified")
    assert _counts(done, "destination", "verified") == _counts(dry, "destination", "verified")
    assert done["verified"] == done["written"] == len(ROWS)
    code, verified, _ = call("migrate", "verify", db, new, "--form", form, "--now", "1795244400000")
    assert (code, verified["verified"], verified["problems"]) == (0, len(ROWS), [])
    code, verified, _ = call("migrate", "verify", db, new)  # neither the form nor the clock is known any more
    assert (code, verified["form"], verified["verified"], verified["problems"]) == (0, form, len(ROWS), [])
    if form == "memtui":  # one that was changed since is no longer what the source gives
        call("edit", memory(2, "")["id"], "--set", "importance=0.9", "--store", new)
        code, verified, _ = call("migrate", "verify", db, new, "--form", form, "--now", "1795244400000")
        assert (code, verified["verified"], len(verified["problems"])) == (1, len(ROWS) - 1, 1)
    assert call("migrate", "run", db, new)[0] == 3
    assert call("migrate", "run", db)[0] == 2


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("upgrade",), 2),
        (("upgrade", "--limit", "1"), 1),
        (("repair",), 4),
        (("repair", "scopes", "--target-scope", "agent:main"), 1),
        (("repair", "summaries"), 3),
        (("repair", "times", "metadata"), 1),
        (("reembed", "--missing"), 1),
    ],
)
def test_mending_does_what_its_dry_run_said(
    db: Path, call: Call, words: tuple[str, ...], changed: int
) -> None:
    before = tree_hash(db)
    code, dry, _ = call(*words, "--store", db, "--dry-run")
    assert (code, tree_hash(db)) == (0, before)
    code, done, _ = call(*words, "--store", db)
    assert code == 0
    assert (dry["changed"], done["changed"]) == (changed, changed)
    assert [row["id"] for row in dry["rows"]] == [row["id"] for row in done["rows"]]
    assert call("undo", "--store", db)[1]["changed"] == changed
    assert call(*words, "--store", db, "--dry-run")[1]["changed"] == changed


def test_an_upgrade_with_a_chat_service_is_about_the_same_memories(
    db: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDY_KEY", "sk-tidy")
    summary = {"l0_abstract": "a", "l1_overview": "- a", "l2_content": "b", "resolved_category": "events"}
    with loopback() as server:
        server.script = [
            Answer(200, {"choices": [{"message": {"content": json.dumps(summary)}}]}) for _ in range(2)
        ]
        words = ("upgrade", "--llm", f"{server.url}/v1", "--llm-model", "tidy", "--llm-key-env", "TIDY_KEY")
        _, dry, _ = call(*words, "--store", db, "--dry-run")
        assert server.requests == []
        code, done, _ = call(*words, "--store", db)
        assert {request.key for request in server.requests} == {"sk-tidy"}
    assert (code, dry["changed"], done["changed"]) == (0, 2, 2)
    assert done["rows"][0]["after"]["memory_category"] == "events"
    assert call("upgrade", "--llm", "http://127.0.0.1:9/v1", "--store", db)[0] == 2
    assert call("upgrade", "--store", db, "--llm")[0] == 2
    monkeypatch.setenv("MEMTUI_CHAT_MODEL", "tidy")
    assert call("upgrade", "--store", db, "--llm")[0] == 2  # no address
    monkeypatch.setenv("MEMTUI_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MEMTUI_CHAT_API_KEY_ENV", "TIDY_KEY")
    call("undo", "--store", db)
    code, _, err = call("upgrade", "--store", db, "--llm")  # kept answers are another service's
    assert code == 1
    assert "tidy at 127.0.0.1:9: connection refused" in err
    monkeypatch.delenv("TIDY_KEY")
    assert call("upgrade", "--store", db, "--llm")[0] == 2


def test_reembedding_from_the_estimate_to_the_way_back(tmp_path: Path, call: Call) -> None:
    db = own_store(tmp_path / "own", [memory(n, f"Tool {n} hangs on hook {n}.") for n in range(1, 6)])
    rows = call("ls", "--store", db, "--limit", 50)[1]["rows"]
    call("cases", "add", "where is tool 3", "--expect", memory(3, "")["id"], "--store", db)
    with loopback() as server:
        other = ("--model", "other-model", "--base-url", f"{server.url}/v1", "--store", db)
        before, table = tree_hash(db), tree_hash(db / "memories.lance")
        for rehearsal in (["--dry-run"], ["--rehearse"], ["--rehearse", "--dry-run"]):
            code, dry, _ = call("reembed", *other, *rehearsal)
            assert (code, dry["sent"], dry["rows"]) == (0, False, 5)
            assert dry["host"] == server.url.removeprefix("http://")
            assert not server.requests  # nothing leaves the machine unless a person says so
        _, dry, _ = call("reembed", *other, "--dry-run", "--send")
        code, rehearsal, _ = call("reembed", *other, "--rehearse", "--sample", "4", "--send")
        assert (code, rehearsal["sample"], rehearsal["new"]) == (0, 4, "other-model")
        code, done, _ = call("reembed", *other)
        assert (code, done["rows"], done["dims"], done["folder"]) == (
            0,
            dry["rows"],
            dry["dims"],
            dry["folder"],
        )
        assert tree_hash(db) == before
        assert call("reembed", *other, "--switch")[0] == 3
    code, switched, _ = call("reembed", "--model", "other-model", "--store", db, "--switch", "--yes")
    assert code == 0  # the table is there: no service is asked
    assert Path(switched["switched"]).is_dir()
    assert call("ls", "--store", db, "--limit", 50)[1]["rows"] == rows
    assert open_store(db).dims == 8
    assert call("reembed", "--back", "--store", db)[0] == 3
    assert call("reembed", "--back", "--store", db, "--yes")[0] == 0
    assert tree_hash(db / "memories.lance") == table


def test_previews_print_the_answers_before_and_now(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = pro_store(tmp_path / "db", [memory(n, f"Tool {n} hangs on hook {n}.") for n in range(1, 6)])
    key = memory(3, "")["id"]
    where = ("--store", str(db))
    assert run(["cases", "add", "where is tool 3", "--expect", key, *where]) == 0
    new = jsonl(tmp_path / "new.jsonl", [{"text": "Where is tool 3? In the van of the joiner."}])
    home = tmp_path / "home" / ".openclaw"
    home.mkdir(parents=True)
    settings = {"enabled": True, "config": {"embedding": {"model": BUNDLED}, "dbPath": str(db)}}
    (home / "openclaw.json").write_text(
        json.dumps({"plugins": {"entries": {"memory-lancedb-pro": settings}}})
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    plan = tmp_path / "plan.json5"
    plan.write_text("{ retrieval: { minScore: 0.99, hardMinScore: 0.99 } }")
    before = tree_hash(db)
    for words, phrases in (
        (["import", str(new), "--dry-run", "--effect"], ("  comes ", "In the van of the joiner.")),
        (["config", "plan", str(plan), "--fly"], ("  leaves ", "hangs on hook")),
        (["reembed", "--model", BUNDLED, "--rehearse"], ("effect on recall: 0 of 1 question",)),
        (["doctor", "--fix", "safe", "--dry-run", "--effect"], ("effect on recall: 0 of 1 question",)),
    ):
        capsys.readouterr()
        assert run([*words, *where]) in (0, 1)
        out = capsys.readouterr().out
        for phrase in phrases:
            assert phrase in out, (words, out)
    assert tree_hash(db) == before
    for words in (["import", str(new)], ["doctor", "--fix", "safe"], ["upgrade"], ["repair"]):
        assert run([*words, "--effect", *where]) == 2  # what is written is not foretold
    assert tree_hash(db) == before


def test_what_is_printed_for_a_person(db: Path, tmp_path: Path, capsys: Capture) -> None:
    source = _import_source(tmp_path / "in.jsonl")
    for words, phrase in (
        (["import", source, "--dry-run"], "dry run: nothing was written"),
        (["export", tmp_path / "a.csv", "--dry-run"], "dry run: 6 memories would be written to"),
        (["upgrade", "--dry-run"], "dry run: 2 memories would change"),
        (["repair", "--dry-run"], "dry run: 4 memories would change"),
        (["reembed", "--model", BUNDLED, "--dry-run"], "dry run: 6 memories"),
    ):
        assert run([*map(str, words), "--store", str(db)]) == 0
        out = capsys.readouterr().out
        assert phrase in out
        assert "Traceback" not in out
    assert run(["migrate", "check", str(db)]) == 0
    assert "6 memories would be in the new store" in capsys.readouterr().out
