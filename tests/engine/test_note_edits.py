"""Edits of the Markdown behind an index of memory-core: exactly the entry's bytes, beside whoever else writes."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from memtui.engine import ConflictError, RefusedError, UsageError, changes, open_engine
from memtui.engine.engine import Engine
from memtui.engine.notes.entry_edit import edit_entry
from memtui.engine.notes.line_merge import merge_lines
from memtui.engine.notes.note_file import merge_into_file
from tests.engine.core_home import AT_MS, CoreHome, make_core_home

MEMORY = (
    "# Memory\n\n"
    "- The gateway binds to loopback. <!-- trigger: gateway bind; safety --> <!-- importance: 9 -->\n"
    "- Deploys run at 14:00.\n"
    "- Two lines of one entry,\n  the second of them here. <!-- importance: 4 -->\n\n"
    "## Promoted\n\n"
    "<!-- openclaw-memory-promotion:memory:memory/x.md:1:2 -->\n"
    "- Shard three is slow. <!-- trigger: shard --> <!-- importance: 5 -->\n"
    "<!-- openclaw-memory-promotion:memory:memory/y.md:1:2 -->\n"
    "- The last entry <!-- project: github.com/heron/loom -->\n"
)


def opened(home: CoreHome) -> Engine:
    return open_engine(
        home.database,
        now=lambda: AT_MS,
        environ=home.environ,
        cwd=home.path,
        writable=True,
        state=home.path / "memtui-state",
    )


def chunk(engine: Engine, text: str) -> str:
    rows = engine.store.scan(["id", "text"])
    found = [row["id"] for batch in rows for row in batch.to_pylist() if text in row["text"]]
    assert len(found) == 1, found
    return found[0]


def change(engine: Engine, about: str, **values: str) -> int:
    outcome = changes.apply(engine, changes.plan_edit(engine, [chunk(engine, about)], values))
    assert outcome.entry is not None
    return outcome.entry


@pytest.mark.parametrize(
    ("text", "values", "old", "new"),
    [
        ("gateway", {"importance": "3"}, "importance: 9", "importance: 3"),
        ("gateway", {"triggers": "a, b"}, "gateway bind; safety", "a, b"),
        ("gateway", {"importance": ""}, " <!-- importance: 9 -->", ""),
        ("gateway", {"text": "- It binds nowhere."}, "The gateway binds to loopback.", "It binds nowhere."),
        ("Deploys", {"importance": "6"}, "at 14:00.", "at 14:00. <!-- importance: 6 -->"),
        ("Deploys", {"project": "a/b"}, "at 14:00.", "at 14:00. <!-- project: a/b -->"),
        ("Deploys", {"text": "Deploys stop."}, "- Deploys run at 14:00.", "- Deploys stop."),
        ("Deploys", {"text": "- A\n  B"}, "- Deploys run at 14:00.", "- A\n  B"),
        ("Two lines", {"importance": "10"}, "importance: 4", "importance: 10"),
        (
            "Two lines",
            {"text": "- One line now."},
            "- Two lines of one entry,\n  the second of them here.",
            "- One line now.",
        ),
        ("Shard", {"text": "- Shard four."}, "Shard three is slow.", "Shard four."),
        ("last entry", {"importance": "1"}, "loom -->", "loom --> <!-- importance: 1 -->"),
        (
            "gateway",
            {"text": "- X <!-- importance: 2 -->"},
            MEMORY.split("\n")[2],
            "- X <!-- importance: 2 -->",
        ),
    ],
)
@pytest.mark.parametrize("form", ["plain", "windows", "no last end", "shifted"])
def test_an_edit_changes_exactly_its_bytes(
    tmp_path: Path, text: str, values: dict[str, str], old: str, new: str, form: str
) -> None:
    source = MEMORY
    if form == "windows":
        source, old, new = (part.replace("\n", "\r\n") for part in (source, old, new))
    if form == "no last end":
        source = source.removesuffix("\n")
    home = make_core_home(tmp_path, {"MEMORY.md": source})
    file = home.workspace / "MEMORY.md"
    if form == "shifted":  # the agent wrote above it since the index was made
        source = source.replace("# Memory\n", "# Memory\n\n- An entry that the index does not know.\n")
        file.write_bytes(source.encode())
    engine = opened(home)
    index = home.database.read_bytes()
    entry = change(engine, text, **values)
    assert file.read_bytes().decode() == source.replace(old, new, 1)
    assert home.database.read_bytes() == index
    changes.apply(engine, changes.plan_undo(engine, entry))
    assert file.read_bytes().decode() == source
    changes.apply(engine, changes.plan_redo(engine))
    assert file.read_bytes().decode() == source.replace(old, new, 1)
    assert sorted(path.name for path in home.database.parent.iterdir()) == [home.database.name]
    assert sorted(path.name for path in home.workspace.iterdir()) == ["MEMORY.md"]


def test_a_row_is_shown_from_the_file_and_marked(tmp_path: Path) -> None:
    engine = opened(make_core_home(tmp_path, {"MEMORY.md": MEMORY}))
    change(engine, "gateway", text="- It binds to 127.0.0.1.", importance="2")
    engine.refresh()
    memory = engine.get(chunk(engine, "127.0.0.1"))
    assert (memory.importance, memory.extra["triggers"]) == (2.0, "gateway bind; safety")
    assert memory.extra["index_state"] == "index not updated"
    other = engine.get(chunk(engine, "Deploys"))
    assert other.extra["index_state"] == "indexed"
    assert other.importance is None


def test_forget_removes_the_entry_and_leaves_the_mark_of_the_next(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    engine = opened(home)
    shard = chunk(engine, "Shard")
    with pytest.raises(RefusedError, match="no archive"):
        changes.plan_forget(engine, [shard])
    planned = changes.plan_forget(engine, [shard], hard=True)
    with pytest.raises(RefusedError):
        changes.apply(engine, planned)
    done = changes.apply(engine, planned, confirmed=True)
    line = "- Shard three is slow. <!-- trigger: shard --> <!-- importance: 5 -->\n"
    assert (home.workspace / "MEMORY.md").read_text() == MEMORY.replace(line, "")
    engine.refresh()
    assert "no longer in the file" in engine.get(shard).extra["index_state"]
    assert changes.plan_forget(engine, [shard], hard=True).conflicts
    with (home.workspace / "MEMORY.md").open("a") as file:  # the agent goes on
        file.write("- A new line.\n")
    changes.apply(engine, changes.plan_undo(engine, done.entry))
    assert (home.workspace / "MEMORY.md").read_text() == MEMORY + "- A new line.\n"


@pytest.mark.parametrize("end", ["\n", ""])
def test_what_the_agent_adds_behind_the_last_entry_is_not_part_of_it(tmp_path: Path, end: str) -> None:
    source = "# Memory\n\n- First.\n- Last." + end
    home = make_core_home(tmp_path, {"MEMORY.md": source})
    file = home.workspace / "MEMORY.md"
    file.write_text("# Memory\n\n- First.\n- Last.\n- Added.\n")
    engine = opened(home)
    change(engine, "Last", text="- Changed.")
    change(engine, "First", importance="3")
    with file.open("a") as there:
        there.write("- Added again.\n")
    change(engine, "Changed", importance="4")
    first, last = "- First. <!-- importance: 3 -->\n", "- Changed. <!-- importance: 4 -->\n"
    assert file.read_text() == f"# Memory\n\n{first}{last}- Added.\n- Added again.\n"
    planned = changes.plan_forget(engine, [chunk(engine, "Changed")], hard=True)
    changes.apply(engine, planned, confirmed=True)
    assert file.read_text() == f"# Memory\n\n{first}- Added.\n- Added again.\n"


def test_a_text_with_the_mark_below_it_does_not_double_it(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    engine = opened(home)
    mark = "<!-- openclaw-memory-promotion:memory:memory/y.md:1:2 -->"
    change(engine, "Shard", text=f"- Shard four is slow.\n{mark}")
    assert (home.workspace / "MEMORY.md").read_text() == MEMORY.replace("three", "four")


def test_undo_refuses_where_the_same_line_changed(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    engine = opened(home)
    entry = change(engine, "Deploys", importance="6")
    file = home.workspace / "MEMORY.md"
    theirs = file.read_text().replace("at 14:00.", "at 15:00.")
    file.write_text(theirs)
    planned = changes.plan_undo(engine, entry)
    assert planned.conflicts
    with pytest.raises(ConflictError):
        changes.apply(engine, planned)
    assert file.read_text() == theirs


def test_a_line_that_changed_after_the_preview_is_a_conflict(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    engine = opened(home)
    planned = changes.plan_edit(engine, [chunk(engine, "Deploys")], {"text": "- Mine."})
    file = home.workspace / "MEMORY.md"
    theirs = MEMORY.replace("at 14:00.", "at 15:00.")
    file.write_text(theirs)
    with pytest.raises(ConflictError):
        changes.apply(engine, planned)
    assert file.read_text() == theirs
    assert changes.find_interrupted(engine) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"importance": "0"}, "1 to 10"),
        ({"importance": "0.5"}, "1 to 10"),
        ({"importance": "eleven"}, "1 to 10"),
        ({"triggers": "a --> b"}, "comment"),
        ({"text": "  "}, "empty"),
        ({"tier": "core"}, "no field"),
    ],
)
def test_values_that_make_no_sense(tmp_path: Path, values: dict[str, str], said: str) -> None:
    engine = opened(make_core_home(tmp_path, {"MEMORY.md": MEMORY}))
    with pytest.raises(UsageError) as caught:
        changes.plan_edit(engine, [chunk(engine, "Deploys")], values)
    assert said in f"{caught.value.message} {caught.value.fix}"


def test_what_is_read_only_says_why(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": MEMORY,
        "memory/2026-11-01.md": "# Day\n\n- A note.\n",
        "../other/x.md": "# Outside\n",
    }
    home = make_core_home(tmp_path, files, extra=[str(tmp_path / "other")])
    engine = opened(home)

    def why(text: str, values: dict[str, str]) -> str:
        planned = changes.plan_edit(engine, [chunk(engine, text)], values)
        return planned.conflicts[0].sentence if planned.conflicts else ""

    assert "outside the agent's workspace" in why("Outside", {"text": "# X"})
    assert "reads importance in MEMORY.md" in why("A note", {"importance": "3"})
    assert why("A note", {"text": "# Day\n\n- Another note."}) == ""
    assert "heading" in why("Promoted", {"importance": "3"})
    (tmp_path / "elsewhere.md").write_text(MEMORY)
    (home.workspace / "MEMORY.md").unlink()
    (home.workspace / "MEMORY.md").symlink_to(tmp_path / "elsewhere.md")
    assert "link that leaves" in why("Deploys", {"text": "- X"})
    (home.workspace / "MEMORY.md").unlink()
    assert "gone" in why("Deploys", {"text": "- X"})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    home = make_core_home(tmp_path, {"MEMORY.md": MEMORY})
    (home.workspace / "MEMORY.md").write_bytes(MEMORY.encode() + b"\xff\xfe")
    engine = opened(home)
    planned = changes.plan_edit(engine, [chunk(engine, "Deploys")], {"text": "- X"})
    assert "UTF-8" in planned.conflicts[0].sentence


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\nb", "a\nB", "a\nb\nc", "a\nB\nc"),
        ("a\nb\n", "a\n", "a\nb\nc\n", "a\nc\n"),
        ("a\n", "a\nb\n", "a\nc\n", "a\nb\nc\n"),
        ("a\nb\nc\n", "a\nB\nc\n", "A\nb\nC\n", "A\nB\nC\n"),
        ("a\nb\n", "a\nB\n", "a\nX\n", None),
        ("a\nb\n", "a\n", "a\nX\n", None),
        ("a\nb\nc\n", "", "a\nb\nx\nc\n", None),
    ],
)
def test_two_changes_of_one_text(base: str, ours: str, theirs: str, merged: str | None) -> None:
    assert merge_lines(base, ours, theirs).text == merged


WORDS = ["relay", "shard", "heron", "port", "14:00", "loom", "queue", "émile", "端口"]

KEYS = (("triggers", "trigger"), ("importance", "importance"), ("project", "project"))


class Appender:
    """Another program that adds lines at the end of a file while it lives."""

    def __init__(self, file: Path, end: str, pause_s: float) -> None:
        self.file, self.end, self.pause_s = file, end, pause_s
        self.added: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        while not self._stop.wait(self.pause_s):
            line = f"- Added {len(self.added)}"
            with self.file.open("a", encoding="utf-8", newline="") as there:
                there.write(line + self.end)
            self.added.append(line)

    def __enter__(self) -> Appender:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()


def rendered(entries: list[dict[str, str]], end: str) -> str:
    lines = [
        entry["text"] + "".join(f" <!-- {key}: {entry[name]} -->" for name, key in KEYS) for entry in entries
    ]
    return end.join(["# Memory", "", *lines, ""])


def drawn(draw: random.Random, at: int) -> tuple[str, str]:
    field = draw.choice(["text", "importance", "triggers", "project"])
    value = {
        "text": f"- Entry {at} {' '.join(draw.choices(WORDS, k=3))}",
        "importance": str(draw.randint(1, 10)),
        "triggers": ", ".join(draw.choices(WORDS, k=2)),
        "project": draw.choice(WORDS),
    }[field]
    return field, value


def first_entries(count: int) -> list[dict[str, str]]:
    return [
        {"text": f"- Entry {n} relay", "triggers": "t", "importance": "5", "project": "p"}
        for n in range(count)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_1000_random_edits_beside_a_writer(tmp_path: Path, end: str) -> None:
    """Fields of random entries change while another writer adds lines at the end; no byte of either is lost."""
    draw = random.Random(32)
    entries = first_entries(12)
    file = tmp_path / "MEMORY.md"
    file.write_bytes(rendered(entries, end).encode())
    with Appender(file, end, 0.015) as writer:
        for _ in range(500):
            at = draw.randrange(12)
            field, value = drawn(draw, at)
            text = file.read_bytes().decode()
            lines = text.split("\n")
            lines[at + 2 : at + 3] = edit_entry(lines[at + 2 : at + 3], {field: value})
            merge_into_file(file, text, "\n".join(lines))
            entries[at][field] = value
            assert file.read_bytes().decode().startswith(rendered(entries, end))
    assert writer.added
    assert file.read_bytes().decode() == rendered(entries, end) + "".join(line + end for line in writer.added)
    assert [path.name for path in tmp_path.iterdir()] == ["MEMORY.md"]


@pytest.mark.slow
def test_random_edits_and_undos_beside_a_writer(tmp_path: Path) -> None:
    """By plan, journal and undo: the entries are known however often they and the file were changed."""
    draw = random.Random(5)
    entries = first_entries(8)
    home = make_core_home(tmp_path, {"MEMORY.md": rendered(entries, "\n")})
    file = home.workspace / "MEMORY.md"
    engine = opened(home)
    ids = [chunk(engine, f"Entry {n} ") for n in range(8)]
    with Appender(file, "\n", 0.2) as writer:
        for _ in range(80):
            at = draw.randrange(8)
            before = dict(entries[at])
            field, value = drawn(draw, at)
            done = changes.apply(engine, changes.plan_edit(engine, [ids[at]], {field: value}))
            entries[at][field] = value
            if done.entry is not None and draw.random() < 0.3:
                changes.apply(engine, changes.plan_undo(engine, done.entry))
                entries[at] = before
            assert file.read_bytes().decode().startswith(rendered(entries, "\n"))
    assert writer.added
    assert file.read_text() == rendered(entries, "\n") + "".join(line + "\n" for line in writer.added)
