"""The same faults in other clothes: other values, other files, several at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.health.doctor import examine
from tests.engine import planted_faults as planted
from tests.engine.planted_faults import NOW_MS, _rows, add, key_of, memory, open_table, sound
from tests.engine.pro_store import write_store
from tests.engine.test_doctor import look, patient

HOUR_MS = 3_600_000
SECRET = "The deploy key is sk-abcdefghijklmnop1234567890 for now."


def _manifest(folder: Path) -> Path:
    return min((folder / "memories.lance" / "_versions").glob("*.manifest"))


def _largest(folder: Path) -> Path:
    return max((folder / "memories.lance" / "data").glob("*.lance"), key=lambda each: each.stat().st_size)


def _noise_in(path: Path, start: int, stop: int) -> None:
    content = bytearray(path.read_bytes())
    content[start : len(content) + stop] = os.urandom(len(content) + stop - start)
    path.write_bytes(bytes(content))


def _manifest_overwritten(folder: Path) -> None:
    sound(folder)
    _noise_in(_manifest(folder), 0, -4)


def _manifest_of_noise(folder: Path) -> None:
    sound(folder)
    path = _manifest(folder)
    path.write_bytes(os.urandom(path.stat().st_size))


def _data_overwritten(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(100)])
    _noise_in(_largest(folder), 200, -2_500)


def _data_emptied(folder: Path) -> None:
    sound(folder)
    _largest(folder).write_bytes(b"")


def _injected_late(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(90, metadata={"last_injected_at": NOW_MS + 2 * HOUR_MS})])
    for number in range(91, 95):
        add(folder, [memory(number)])


def _masked_since(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(90, text="password: hunter2secret!9")])
    open_table(folder).update(where=f"id = '{key_of(90)}'", values={"text": "password: [REDACTED]"})


def _metadata_since(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(90, metadata={"l0_abstract": SECRET})])
    open_table(folder).delete(f"id = '{key_of(90)}'")


def _chained(folder: Path) -> None:
    """A memory whose archived winner was replaced itself, by one that counts."""
    links: tuple[dict[str, Any], ...] = (
        {"superseded_by": key_of(1)},
        {"supersedes": key_of(0), "superseded_by": key_of(2), "state": "archived"},
        {"supersedes": key_of(1)},
    )
    _rows(*({"metadata": each} for each in links))(folder)


def _told_again(folder: Path) -> None:
    """A secret that still stands in the newest text of its memory."""
    sound(folder)
    add(folder, [memory(90, text=SECRET)])
    open_table(folder).update(where=f"id = '{key_of(90)}'", values={"text": f"{SECRET} Again."})


def _beside(name: str) -> Callable[[Path], None]:
    def plant(folder: Path) -> None:
        sound(folder)
        path = folder.parent.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"text": SECRET}) + "\n")

    return plant


def _index_folder(folder: Path) -> None:
    sound(folder)
    place = folder / "memories.lance" / "_indices" / "11111111-2222-4333-8444-555555555555"
    place.mkdir()
    (place / "part.lance").write_bytes(b"x" * 100)


def _spikes() -> list[float]:
    return [1.0 if at == 3 else 0.0 for at in range(planted.DIMS)]


def _dates(**fields: Any) -> Callable[[Path], None]:
    return _rows({"metadata": fields})


def _twenty_minutes_ahead(folder: Path) -> None:
    """Ahead of the clock as it is when the store is made: on a busy machine, long after this file was read."""
    _rows({"timestamp": time.time_ns() // 1_000_000 + HOUR_MS / 3})(folder)


def _groups() -> Callable[[Path], None]:
    first, second = planted.vector_of(500), planted.vector_of(501)
    return _rows(*({"vector": each} for each in (first, second, first, second, second)))


VARIANTS: dict[str, tuple[str, str, Callable[[Path], None], tuple[int, ...] | None]] = {
    "a clock that is three days ahead": (
        "D25", "S3", _rows({"timestamp": NOW_MS + 72.0 * HOUR_MS}), (0,),
    ),
    "a clock that is twenty minutes ahead": ("D25", "S3", _twenty_minutes_ahead, (0,)),
    "an injection of tomorrow": ("D25", "S3", _dates(last_injected_at=NOW_MS + 2 * HOUR_MS), (0,)),
    "an injection of tomorrow, and writes after it": ("D25", "S3", _injected_late, (90,)),
    "a masked password": ("D28", "S1", _masked_since, (90,)),
    "rejections": ("D29", "S1", _beside("memory/admission-audit/rejections.jsonl"), None),
    "a trajectory": ("D29", "S1", _beside("agents/main/sessions/one.trajectory.jsonl"), None),
    "an export of trajectories": ("D29", "S1", _beside("trajectory-exports/one/events.jsonl"), None),
    "a folder of an index": ("D30", "S3", _index_folder, None),
    "a newest version overwritten": ("D35", "S1", _manifest_overwritten, None),
    "a newest version of noise": ("D35", "S1", _manifest_of_noise, None),
    "a data file overwritten": ("D36", "S1", _data_overwritten, None),
    "a data file emptied": ("D36", "S1", _data_emptied, None),
    "one number in a vector": ("D16", "S2", _rows({"vector": _spikes()}), (0,)),
    "a vector next to nothing": ("D14", "S2", _rows({"vector": [1e-9] * planted.DIMS}), (0,)),
    "two groups of equal vectors": ("D17", "S2", _groups(), (0, 1, 2, 3, 4)),
    "two that replace each other": (
        "D27", "S2",
        _rows({"metadata": {"superseded_by": key_of(1)}}, {"metadata": {"superseded_by": key_of(0)}}), (0, 1),
    ),
    "an archived layer": (
        "D27", "S2",
        _rows(
            {"metadata": {"superseded_by": key_of(1)}},
            {"metadata": {"supersedes": key_of(0), "memory_layer": "archive"}},
        ),
        (1,),
    ),
    "a winner that is archived and says nothing of what it replaced": (
        "D27", "S2", _rows({"metadata": {"superseded_by": key_of(1)}}, {"metadata": {"state": "archived"}}), (1,),
    ),
    "a replaced memory that is gone": ("D27", "S2", _rows({"metadata": {"supersedes": key_of(900)}}), (0,)),
    "a memory that replaces itself": ("D27", "S2", _rows({"metadata": {"superseded_by": key_of(0)}}), (0,)),
    "a secret in the metadata of a removed row": ("D28", "S1", _metadata_since, (90,)),
    "a group of three with one vector": (
        "D17", "S2", _rows(*({"vector": planted.vector_of(500)} for _ in range(3))), (0, 1, 2),
    ),
    "metadata of other kinds": (
        "D26", "S1", _rows({"metadata": "null"}, {"metadata": '"x"'}, {"metadata": '{"a":'}), (0, 1, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_each_fault_is_found_in_other_clothes(name: str, tmp_path: Path) -> None:
    kind, severity, plant, rows = VARIANTS[name]
    folder = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    plant(folder)
    found = {each.kind: each for each in look(folder).findings}
    one = found[kind]
    assert one.severity == severity
    if kind == "D35":
        assert set(found) == {kind}, "of a list that cannot be read nothing is told about the other files"
    if rows is not None:
        assert sorted(one.seen.ids) == sorted(key_of(number) for number in rows)
    else:
        assert one.seen.files
        assert all(Path(each).exists() for each in one.seen.files)


@pytest.mark.parametrize(("plant", "kind"), [(_chained, "D27"), (_told_again, "D28")])
def test_what_only_looks_like_a_fault_is_none(
    plant: Callable[[Path], None], kind: str, tmp_path: Path
) -> None:
    plant(tmp_path / "lancedb-pro")
    assert kind not in {each.kind for each in look(tmp_path / "lancedb-pro").findings}


def test_the_spoilt_file_is_named_and_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "lancedb-pro"
    _data_overwritten(folder)
    one = {each.kind: each for each in look(folder).findings}["D36"]
    assert one.seen.files == (str(_largest(folder)),)


def test_secrets_of_older_versions_are_found_without_the_deep_pass(tmp_path: Path) -> None:
    folder = tmp_path / "lancedb-pro"
    planted.PLANTED["D28"][1](folder)
    found = examine(patient(folder), passes=("facts", "light"))
    assert "D28" in {each.kind for each in found.findings}


def test_several_faults_at_once_are_all_found(tmp_path: Path) -> None:
    folder = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    write_store(
        folder,
        [
            memory(0, vector=[0.0] * planted.DIMS),
            memory(1, scope=" global"),
            memory(2, timestamp=1_700_000_000.0),
            memory(3, metadata="[]"),
            memory(4, key=key_of(9)),
            memory(5, timestamp=NOW_MS + 2.0 * HOUR_MS),
            *(memory(number) for number in range(6, 40)),
        ],
        dims=planted.DIMS,
        fts=False,
    )
    _held = folder / ".memory-write.lock.lock"
    _held.mkdir()
    os.utime(_held, (1_700_000_000, 1_700_000_000))
    open_table(folder).tags.create("kept", 1)
    found = {each.kind for each in look(folder).findings}
    assert found == {"D14", "D23", "D24", "D26", "D21", "D25", "D5", "D34", "D32"}


BUILT_IN: dict[str, tuple[str, Callable[[Any, list[str]], Any]]] = {
    "D14": ("S2", lambda table, ids: table.update(where=f"id = '{ids[0]}'", values={"vector": [0.0] * 384})),
    "D21": ("S2", lambda table, ids: table.add(table.to_arrow().slice(0, 1))),
    "D23": ("S2", lambda table, ids: table.update(where=f"id = '{ids[0]}'", values={"agentId": ""})),
    "D24": ("S2", lambda table, ids: table.update(where=f"id = '{ids[0]}'", values={"createdAt": 1_700_000_000})),
    "D25": ("S3", lambda table, ids: table.update(where=f"id = '{ids[0]}'", values={"createdAt": NOW_MS + HOUR_MS})),
    "D28": (
        "S1",
        lambda table, ids: [
            table.update(where=f"id = '{ids[0]}'", values={"text": SECRET}),
            table.delete(f"id = '{ids[0]}'"),
        ],
    ),
    "D32": ("S3", lambda table, ids: table.tags.create("kept", 1)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", BUILT_IN)
def test_the_built_in_programs_tables_have_them_too(kind: str, shared: Path, unpack: Any) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "builtin-new.tar.gz")
    table = open_table(folder)
    ids = table.to_arrow().column("id").to_pylist()
    BUILT_IN[kind][1](table, ids)
    one = {each.kind: each for each in look(folder).findings}[kind]
    assert one.severity == BUILT_IN[kind][0]
    if kind not in ("D32",):
        assert ids[0] in one.seen.ids
