"""The commands that change memories: their JSON, their exit codes, and that a preview writes nothing."""

from __future__ import annotations

import json
import shlex
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.main import run
from memtui.engine import RecallRequest, explain, open_engine
from memtui.engine.explain import History
from memtui.paths import questions_file, state_dir
from tests.conftest import NOW_MS, tree_hash
from tests.engine.curate_world import row_of, rows_of, same_rows
from tests.engine.tables import pro_row, uuid, write_table

Capture = pytest.CaptureFixture[str]
SHAPE = {"entry", "changed", "rows", "conflicts", "warnings"}


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five memories; state, settings and home of their own."""
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"MEMTUI_{name}_DIR", str(tmp_path / name.lower()))
    rows = [
        pro_row(
            n, text=f"Fact {n} about the kiln.", scope="agent:main" if n < 4 else "global", metadata='{"a":1}'
        )
        for n in range(1, 5)
    ]
    rows.append(pro_row(9, id=uuid(1)[:8] + "-0000-4000-8000-00000000ffff", text="A near namesake."))
    write_table(tmp_path / "db", rows)
    return tmp_path / "db"


def call(capsys: Capture, db: Path, *words: str) -> tuple[int, Any, str]:
    """Exit code, the JSON document (None when nothing was printed) and standard error."""
    capsys.readouterr()
    code = run([*words, "--store", str(db), "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out.strip() else None, err


def test_edit_prints_the_agreed_document_and_undo_takes_it_back(db: Path, capsys: Capture) -> None:
    before = rows_of(db)
    code, document, _ = call(capsys, db, "edit", uuid(2), "--set", "importance=0.9", "tier=core")
    assert code == 0
    assert document.keys() >= SHAPE
    assert (document["entry"], document["changed"]) == (1, 1)
    assert document["rows"][0]["id"] == uuid(2)
    assert document["rows"][0]["before"] == {"importance": 0.5, "confidence": 0.7, "tier": "working"}
    assert document["rows"][0]["after"] == {"importance": 0.9, "confidence": 0.9, "tier": "core"}
    assert row_of(db, uuid(2))["metadata"] == '{"a":1,"confidence":0.9,"tier":"core"}'
    code, journal, _ = call(capsys, db, "journal")
    (entry,) = journal["entries"]
    assert {key: entry[key] for key in ("entry", "action", "rows", "state")} == {
        "entry": 1,
        "action": "edit",
        "rows": 1,
        "state": "applied",
    }
    assert entry["time_ms"] > 1_700_000_000_000
    code, undone, _ = call(capsys, db, "undo")
    assert (code, undone["changed"], undone["entry"]) == (0, 1, 2)
    assert same_rows(rows_of(db), before)
    assert [each["state"] for each in call(capsys, db, "journal")[1]["entries"]] == ["applied", "undone"]
    assert call(capsys, db, "undo", "--redo")[0] == 0
    assert row_of(db, uuid(2))["importance"] == 0.9
    assert call(capsys, db, "journal", "1")[1]["changes"][0]["after"]["importance"] == 0.9


@pytest.mark.parametrize(
    "words",
    [
        ("edit", uuid(2), "--set", "scope=global"),
        ("edit", "--where", "scope:agent:main", "--set", "importance=1"),
        ("forget", uuid(2)),
        ("forget", uuid(2), "--hard"),
        ("forget", uuid(2), "--hard", "--shrink-history"),
        ("forget", uuid(2), "--past"),
        ("merge", uuid(2), uuid(3)),
        ("merge", uuid(2), uuid(3), "--losers", "delete"),
    ],
)
def test_a_dry_run_shows_the_same_and_writes_nothing(
    db: Path, capsys: Capture, words: tuple[str, ...]
) -> None:
    before = tree_hash(db.parent)
    code, preview, _ = call(capsys, db, *words, "--dry-run")
    assert (code, preview["entry"]) == (0, None)
    assert preview["changed"] == len(preview["rows"]) > 0
    assert tree_hash(db.parent) == before
    code, done, _ = call(capsys, db, *words, "--yes")
    assert code == 0
    assert [(each["id"], each["op"]) for each in done["rows"]] == [
        (each["id"], each["op"]) for each in preview["rows"]
    ]


def test_what_destroys_needs_a_yes(db: Path, capsys: Capture) -> None:
    before = tree_hash(db)
    merge = ("merge", uuid(2), uuid(3), "--losers", "delete")
    for words in (("forget", uuid(2), "--hard"), ("forget", uuid(2), "--past"), merge):
        code, document, err = call(capsys, db, *words)
        assert code == 3
        assert document["entry"] is None
        assert "--yes" in err
    assert tree_hash(db) == before


def test_forget_restore_and_the_trash(db: Path, capsys: Capture) -> None:
    before = rows_of(db)
    code, done, _ = call(capsys, db, "forget", uuid(2), "--hard", "--yes")
    assert (code, done["changed"]) == (0, 1)
    assert "kiln" not in json.dumps(done["receipt"])
    assert Path(done["receipt"]["file"]).is_file()
    code, trash, _ = call(capsys, db, "restore")
    assert [each["id"] for each in trash["rows"]] == [uuid(2)]
    code, back, _ = call(capsys, db, "restore", uuid(2)[:9])
    assert (code, back["changed"]) == (0, 1)
    assert same_rows(rows_of(db), before)
    code, gone, _ = call(capsys, db, "forget", uuid(3), "--hard", "--shrink-history", "--yes")
    assert (code, gone["receipt"]["clean"]) == (0, True)
    assert call(capsys, db, "undo", str(gone["entry"]))[0] == 3


def test_a_filter_chooses_and_a_wrong_one_is_wrong_usage(db: Path, capsys: Capture) -> None:
    code, document, _ = call(
        capsys, db, "edit", "--where", "scope:agent:main kiln", "--set", "scope=agent:ops"
    )
    assert (code, document["changed"]) == (0, 3)
    for words in (
        ("--where", "tier:"),
        ("--where", "scop:x"),
        ("--where", "/(a+)+$(/"),
        ("--where", ""),
        ("--where", "id:nothing-like-it"),
        (),
        (uuid(2), "--where", "kiln"),
    ):
        code, document, err = call(capsys, db, "edit", *words, "--set", "importance=1")
        assert code == 2, words
        assert document is None
        assert err.startswith("error:")


def test_prefixes(db: Path, capsys: Capture) -> None:
    assert call(capsys, db, "edit", uuid(2)[:8], "--set", "importance=1")[1]["changed"] == 1
    code, _, err = call(capsys, db, "edit", uuid(1)[:8], "--set", "importance=1")
    assert code == 2
    assert uuid(1) in err
    assert "ffff" in err
    for word in (uuid(2)[:5], "00000000-none"):
        assert call(capsys, db, "edit", word, "--set", "importance=1")[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("importance=7",),
        ("tier=gold",),
        ("text=",),
        ("colour=red",),
        ("importance",),
        ("importance=1", "importance=0"),
    ],
)
def test_bad_values_are_wrong_usage(db: Path, capsys: Capture, words: tuple[str, ...]) -> None:
    before = tree_hash(db)
    code, document, err = call(capsys, db, "edit", uuid(2), "--set", *words)
    assert (code, document) == (2, None)
    assert "Traceback" not in err
    assert tree_hash(db) == before


def test_a_text_without_an_embedder_is_refused_with_the_reason(db: Path, capsys: Capture) -> None:
    code, _, err = call(capsys, db, "edit", uuid(2), "--set", "text=Another kiln.")
    assert code == 3
    assert "No embedding provider is configured" in err


def test_undo_of_a_row_changed_since_shows_the_conflict(db: Path, capsys: Capture) -> None:
    import lancedb

    call(capsys, db, "edit", uuid(2), "--set", "scope=agent:ops")
    lancedb.connect(db).open_table("memories").update(
        where=f"id = '{uuid(2)}'", values={"scope": "agent:third"}
    )
    code, document, _ = call(capsys, db, "undo")
    assert (code, document["entry"]) == (3, None)
    (conflict,) = document["conflicts"]
    assert conflict["fields"] == [
        {"field": "scope", "before": "agent:ops", "mine": "agent:main", "theirs": "agent:third"}
    ]
    assert call(capsys, db, "undo", "--force", uuid(2))[0] == 0
    assert row_of(db, uuid(2))["scope"] == "agent:main"
    assert call(capsys, db, "undo", "99")[0] == 2


def test_duplicates_and_scan(db: Path, capsys: Capture) -> None:
    key = "sk-" + "A1b2C3d4E5f6G7h8I9j0"
    write_table(
        db.parent / "more",
        [
            pro_row(1, text="Same text."),
            pro_row(2, text="Same text."),
            pro_row(3, text=f"The key is {key} for now.", vector=[-1.0, 0.0]),
            pro_row(4, text="Hi", vector=[0.0, -1.0]),
        ],
    )
    code, found, _ = call(capsys, db.parent / "more", "duplicates")
    assert code == 0
    assert [[each["id"] for each in cluster["rows"]] for cluster in found["clusters"]] == [[uuid(1), uuid(2)]]
    code, scanned, _ = call(capsys, db.parent / "more", "scan")
    assert {(each["id"], each["kind"]) for each in scanned["rows"]} == {
        (uuid(3), "secret"),
        (uuid(4), "noise"),
    }
    assert key not in json.dumps(scanned)
    assert call(capsys, db.parent / "more", "scan", "--kind", "gold")[0] == 2


def editor(folder: Path, body: str) -> str:
    """A program that stands in for an editor, as a shell takes it: the folder's name may have blanks."""
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return shlex.quote(str(path))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("exit 3", 1),
        ('rm "$1"', 1),
        ("printf '\\377\\376' > \"$1\"", 2),
        (': > "$1"', 2),
        ("printf 'a\\000b' > \"$1\"", 2),
        ("head -c 300000 /dev/zero | tr '\\000' 'x' > \"$1\"", 2),
    ],
)
def test_an_editor_that_fails_or_leaves_nonsense(
    db: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, body: str, code: int
) -> None:
    before = tree_hash(db)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor(db.parent, body))
    assert call(capsys, db, "edit", uuid(2), "--editor")[0] == code
    monkeypatch.setenv("EDITOR", "no-such-editor-anywhere")
    assert call(capsys, db, "edit", uuid(2), "--editor")[0] == 1
    assert tree_hash(db) == before


def test_an_editor_that_changes_nothing_changes_nothing(
    db: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(db.parent, 'cat "$1" > seen; echo >> "$1"'))
    monkeypatch.chdir(db.parent)
    (db.parent / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(db.parent / "temporary"))
    code, document, _ = call(capsys, db, "edit", uuid(2), "--editor")
    assert (code, document["changed"], document["entry"]) == (0, 0, None)
    assert (db.parent / "seen").read_text(encoding="utf-8") == "Fact 2 about the kiln."
    assert list((db.parent / "temporary").iterdir()) == []


def test_for_people_the_change_is_told_in_lines(db: Path, capsys: Capture) -> None:
    assert run(["edit", uuid(2), "--set", "scope=agent:ops", "--store", str(db)]) == 0
    out = capsys.readouterr().out
    assert "    scope: agent:main -> agent:ops" in out
    assert "undo with: memtui undo 1" in out
    assert run(["journal", "--store", str(db)]) == 0
    assert "scope agent:main to agent:ops" in capsys.readouterr().out


def test_a_dry_run_says_which_questions_get_other_answers(db: Path, capsys: Capture) -> None:
    engine = open_engine(db, now=lambda: NOW_MS, environ={}, cwd=db)
    trace = engine.recall(RecallRequest("Fact 2 about the kiln.", recipe="memtui"))
    first = trace.returned[0]
    explain.remember(engine, trace, History(questions_file()))
    before = tree_hash(db)
    code, document, _ = call(capsys, db, "edit", first, "--set", "state=archived", "--dry-run", "--effect")
    (changed,) = document["effect"]["changed"]
    assert (code, document["effect"]["asked"], changed["query"]) == (0, 1, "Fact 2 about the kiln.")
    assert first in changed["before"]
    assert first not in changed["after"]
    assert run(["forget", first, "--hard", "--dry-run", "--effect", "--store", str(db)]) == 0
    out = capsys.readouterr().out
    assert "effect on recall: 1 of 1 question answered differently" in out
    assert f"    1 -> -  leaves {first}" in out
    assert call(capsys, db, "edit", first, "--set", "state=archived", "--effect")[0] == 2
    assert tree_hash(db) == before


def test_an_interrupted_entry_can_be_left_as_it_is(db: Path, capsys: Capture) -> None:
    from tests.engine.test_curate_bad import changed_again

    folder = db.parent / "again" / "db"
    engine, _ = changed_again(folder)
    state = engine.write_state.journal.path
    engine.close()
    there = state_dir() / "curate" / state.parent.name
    shutil.copytree(state.parent, there, dirs_exist_ok=True)
    code, journal, err = call(capsys, folder, "journal")
    assert code == 0
    assert [each["state"] for each in journal["entries"]] == ["interrupted"]
    code, said, _ = call(capsys, folder, "journal", "--leave", "1", "--dry-run")
    assert (code, said["left"]) == (0, False)
    code, said, _ = call(capsys, folder, "journal", "--leave", "1")
    assert (code, said) == (0, {"entry": 1, "found": "changed since by another program", "left": True})
    code, journal, err = call(capsys, folder, "journal")
    assert [each["state"] for each in journal["entries"]] == ["left"]
    assert err == ""
    code, _, err = call(capsys, folder, "journal", "--leave", "1")
    assert code == 3
    assert "was not interrupted" in err


def test_the_json_of_an_effect_shows_no_secret(db: Path, capsys: Capture) -> None:
    secret = "ghp_" + "aB3" * 12
    question = "Which key opens the kiln?"
    write_table(
        db.parent / "keys", [pro_row(1, text=f"The key of the kiln is {secret}."), pro_row(2, text="Fact 2")]
    )
    engine = open_engine(db.parent / "keys", now=lambda: NOW_MS, environ={}, cwd=db)
    trace = engine.recall(RecallRequest(question, recipe="memtui"))
    assert trace.returned[0] == uuid(1)
    explain.remember(engine, trace, History(questions_file()))
    change = ("edit", uuid(1), "--set", "state=archived", "--dry-run", "--effect")
    code, document, _ = call(capsys, db.parent / "keys", *change)
    (changed,) = document["effect"]["changed"]
    assert (code, changed["query"]) == (0, question)
    shown = json.dumps(document)
    assert "The key of the kiln" in shown
    assert secret not in shown
