"""Stores with one fault each, planted as another program would leave it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.engine.pro_store import row, schema, write_store

NOW_MS = time.time_ns() // 1_000_000
"""The clock of these stores: versions are written by the real one. An engine goes by it, too, or rows lie ahead."""
DAY_MS = 86_400_000
DIMS = 32
SUBJECTS = ("kiln", "ledger", "harbour", "lantern", "orchard", "pump", "archive", "bakery", "loom", "quarry")
VERBS = ("needs", "keeps", "replaced", "ordered", "measured", "painted", "sold", "moved")
THINGS = (
    "a door seal",
    "two copies",
    "the north gate",
    "an old motor",
    "twelve crates",
    "a blue valve",
    "the spare key",
)


def text_of(number: int) -> str:
    """A sentence of its own for each number."""
    return (
        f"The {SUBJECTS[number % 10]} {VERBS[number // 10 % 8]} {THINGS[number // 3 % 7]} "
        f"on day {number} of the {SUBJECTS[number // 7 % 10]} season."
    )


def vector_of(number: int, dims: int = DIMS) -> list[float]:
    """A unit vector of its own for each number."""
    made = np.random.default_rng(number).standard_normal(dims) + 0.5
    return [float(x) for x in made / np.linalg.norm(made)]


def word_vector(text: str, dims: int = DIMS) -> list[float]:
    """A unit vector made of the words of a text: texts that share words are near each other."""
    words = [
        np.random.default_rng(sum(word.encode()) * 7919 + len(word)).standard_normal(dims)
        for word in text.split()
    ]
    made = np.sum(words, axis=0)
    return [float(x) for x in made / np.linalg.norm(made)]


def key_of(number: int) -> str:
    """A UUID of its own for each number."""
    return f"{number * 0x9E3779B1 % 2**32:08x}-0000-4000-8000-{number:012x}"


def memory(number: int, **more: Any) -> dict[str, Any]:
    """One sound row."""
    given = {"timestamp": float(NOW_MS - (number + 1) * DAY_MS), **more}
    text = given.pop("text", text_of(number))
    vector = given.pop("vector", None) if "vector" in given else word_vector(text)
    return row(given.pop("key", key_of(number)), text, vector, **given)


def sound(folder: Path, count: int = 40, **more: Any) -> Path:
    """A store in which nothing is wrong: one fragment, every row in the index."""
    return write_store(folder, [memory(number, **more) for number in range(count)], dims=DIMS)


def open_table(folder: Path) -> Any:
    """The table for writing, as another program."""
    os.environ["LANCE_FTS_FORMAT_VERSION"] = "1"
    import lancedb

    return lancedb.connect(folder).open_table("memories")


def add(folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows in one commit."""
    open_table(folder).add(pa.Table.from_pylist([dict(each) for each in rows], schema=schema(DIMS)))


def _rows(*changes: dict[str, Any]) -> Callable[[Path], None]:
    """A store whose first rows are these, with the others sound."""

    def plant(folder: Path) -> None:
        odd = [memory(number, **change) for number, change in enumerate(changes)]
        write_store(folder, [*odd, *(memory(number) for number in range(len(odd), 40))], dims=DIMS)

    return plant


def _fragments(folder: Path) -> None:
    sound(folder)
    for number in range(40, 65):
        add(folder, [memory(number)])


def _manifests(folder: Path) -> None:
    write_store(folder, [], dims=DIMS)
    for number in range(70):
        add(folder, [memory(number)])


def _deletions(folder: Path) -> None:
    sound(folder, 60)
    ids = ", ".join(f"'{key_of(number)}'" for number in range(3))
    open_table(folder).delete(f"id IN ({ids})")


def _lag(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(number) for number in range(40, 65)])


def _no_words(folder: Path) -> None:
    write_store(folder, [memory(number) for number in range(40)], dims=DIMS, fts=False)


def _new_words(folder: Path) -> None:
    sound(folder)
    open_table(folder).drop_index("text_idx")
    import subprocess
    import sys

    code = (
        "import lancedb, sys; t = lancedb.connect(sys.argv[1]).open_table('memories');"
        "t.create_index('text', config=lancedb.index.FTS(with_position=True))"
    )
    environ = {**os.environ, "LANCE_FTS_FORMAT_VERSION": "2"}
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, env=environ)


def _rolled_back(folder: Path) -> None:
    sound(folder)
    open_table(folder).restore(2)


def _no_positions(folder: Path) -> None:
    sound(folder)
    from lancedb import index

    open_table(folder).create_index("text", config=index.FTS(with_position=False), replace=True)


def _tree_on_text(folder: Path) -> None:
    _no_words(folder)
    from lancedb import index

    open_table(folder).create_index("text", config=index.BTree())


def _many(folder: Path) -> None:
    count = 50_100
    vectors = np.random.default_rng(1).standard_normal((count, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    table = pa.table(
        {
            "id": [key_of(number) for number in range(count)],
            "text": [f"row {number}" for number in range(count)],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 4),
            "category": ["fact"] * count,
            "scope": ["global"] * count,
            "importance": [0.5] * count,
            "timestamp": [float(NOW_MS - DAY_MS)] * count,
            "metadata": ["{}"] * count,
        },
        schema=schema(4),
    )
    write_store(folder, [], dims=4, fts=False)
    import lancedb
    from lancedb import index

    lancedb.connect(folder).open_table("memories").add(table)
    lancedb.connect(folder).open_table("memories").create_index("text", config=index.FTS(with_position=True))


def _dishonest(folder: Path) -> None:
    rows = [memory(number, vector=[float(x) for x in _noise(number)]) for number in range(600)]
    write_store(folder, rows, dims=DIMS)
    from lancedb import index

    open_table(folder).create_index(
        "vector", config=index.IvfPq(distance_type="cosine", num_partitions=16, num_sub_vectors=2)
    )


def _noise(number: int) -> Any:
    made = np.random.default_rng(10_000 + number).standard_normal(DIMS)
    return made / np.linalg.norm(made)


def _orphan(folder: Path) -> None:
    sound(folder)
    data = folder / "memories.lance" / "data"
    shutil.copy(next(data.glob("*.lance")), data / ("0101" * 9 + "abcdefabcdefab.lance"))


def _tag(folder: Path) -> None:
    sound(folder)
    open_table(folder).tags.create("keep", 1)


def _lock(folder: Path) -> None:
    sound(folder)
    held = folder / ".memory-write.lock.lock"
    held.mkdir()
    os.utime(held, (1_700_000_000, 1_700_000_000))


def _cut_manifest(folder: Path) -> None:
    sound(folder)
    newest = min((folder / "memories.lance" / "_versions").glob("*.manifest"))
    newest.write_bytes(newest.read_bytes()[:200])


def _missing_file(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(number) for number in range(40, 45)])
    newest = max(
        (folder / "memories.lance" / "data").glob("*.lance"), key=lambda each: each.stat().st_mtime_ns
    )
    newest.unlink()


def _secret(folder: Path) -> None:
    sound(folder)
    add(folder, [memory(90, text="The deploy key is sk-abcdefghijklmnop1234567890 for now.")])
    table = open_table(folder)
    table.delete(f"id = '{key_of(90)}'")
    from datetime import timedelta

    table.optimize(cleanup_older_than=timedelta(days=36_500))


def _secret_beside(folder: Path) -> None:
    sound(folder)
    backups = folder.parent / "backups"
    backups.mkdir(parents=True)
    line = {"id": "1", "text": "token: sk-abcdefghijklmnop1234567890"}
    (backups / "memory-backup-2026-11-01.jsonl").write_text(json.dumps(line) + "\n")


def _new_format(folder: Path) -> None:
    import lancedb
    from lancedb import index

    table = lancedb.connect(folder).create_table("memories", schema=schema(DIMS))
    table.add(pa.Table.from_pylist([dict(memory(number)) for number in range(40)], schema=schema(DIMS)))
    table.create_index("text", config=index.FTS(with_position=True))


SPOILED = 200


def spoiled(folder: Path, spoil: Callable[[Any], None]) -> None:
    """A store with vectors of the bundled model, some of which `spoil` sets otherwise."""
    from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled

    texts = [text_of(number) for number in range(SPOILED)]
    vectors = [[float(x) for x in each] for each in bundled().embed_passages(texts)]
    spoil(vectors)
    write_store(folder, [memory(n, vector=vectors[n]) for n in range(SPOILED)], dims=BUNDLED_DIMS)


TURNED, MOVED = tuple(range(60, 70)), tuple(range(20, 180, 8))


def _turned(vectors: Any) -> None:
    """Ten vectors as another model of the same length would have them."""
    dims = len(vectors[0])
    turn, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((dims, dims)))
    for number in TURNED:
        vectors[number] = [float(x) for x in np.asarray(vectors[number]) @ turn]


def _moved(vectors: Any) -> None:
    """Twenty vectors that belong to each other's texts."""
    first = [vectors[each] for each in MOVED]
    for at, number in enumerate(MOVED):
        vectors[number] = first[(at + 7) % len(MOVED)]


def config_of(folder: Path) -> Path:
    """Where the configuration of a planted store is."""
    return folder.parent.parent / "openclaw.json"


def _configured(*, dims: int = DIMS, more: str = "autoRecall: true") -> Callable[[Path], None]:
    """A sound store, and a configuration that names it."""

    def plant(folder: Path) -> None:
        sound(folder)
        config_of(folder).write_text(
            "{ plugins: { slots: { memory: 'memory-lancedb-pro' }, entries: { 'memory-lancedb-pro': { enabled: true,"
            f" config: {{ dbPath: '{folder}', {more}, // mine\n"
            f" embedding: {{ apiKey: '${{KEY}}', model: 'own', dimensions: {dims} }} }} }} }} }} }}"
        )

    return plant


def _two_stores(folder: Path) -> None:
    sound(folder)
    sound(folder.parent / "lancedb")


def _journal(folder: Path) -> None:
    """A change of ours, and somebody who made another one of it in the journal."""
    import sqlite3

    from memtui.engine.changes.journal import Journal, journal_of
    from tests.engine.journal_child import write

    sound(folder)
    path = journal_of(folder.parent / "state", str(folder), "memories")
    journal = Journal(path)
    write(journal, key_of(3))
    journal.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE entries SET title = 'another'")
    db.close()


PLANTED: dict[str, tuple[str, Callable[[Path], None], int | tuple[int, ...] | None]] = {
    "D1": ("S3", _fragments, None),
    "D2": ("S3", _manifests, None),
    "D3": ("S3", _deletions, None),
    "D4": ("S3", _lag, None),
    "D5": ("S2", _no_words, None),
    "D6": ("S2", _new_words, None),
    "D7": ("S2", _rolled_back, None),
    "D8": ("S4", _no_positions, None),
    "D9": ("S2", _tree_on_text, None),
    "D10": ("S3", _many, None),
    "D11": ("S2", _dishonest, None),
    "D12": ("S1", _rows({"vector": None}, {"vector": None}), (0, 1)),
    "D13": ("S2", _rows({"vector": [float("inf"), *vector_of(0)[1:]]}), (0,)),
    "D14": ("S2", _rows({"vector": [0.0] * DIMS}), (0,)),
    "D15": ("S4", _rows(*({"vector": [2 * x for x in vector_of(n)]} for n in range(3))), (0, 1, 2)),
    "D16": ("S2", _rows({"vector": [DIMS**-0.5] * DIMS}), (0,)),
    "D17": ("S2", _rows({"vector": vector_of(500)}, {}, {"vector": vector_of(500)}), (0, 2)),
    "D18": ("S2", _configured(dims=2 * DIMS), None),
    "D19": ("S2", lambda folder: spoiled(folder, _turned), TURNED),
    "D20": ("S2", lambda folder: spoiled(folder, _moved), MOVED),
    "D21": ("S2", _rows({"key": key_of(7)}), (7,)),
    "D23": (
        "S2",
        _rows(
            {"scope": None},
            {"scope": ""},
            {"scope": " global"},
            {"scope": "agent:undefined"},
            {"scope": "nowhere"},
        ),
        (0, 1, 2, 3, 4),
    ),
    "D24": (
        "S2",
        _rows(
            {"timestamp": 1_700_000_000.0},
            {"timestamp": NOW_MS + 9e10},
            {"timestamp": 1.7e15},
            {"timestamp": 0.0},
            {"timestamp": None},
        ),
        (0, 1, 2, 3, 4),
    ),
    "D25": ("S3", _rows({"timestamp": NOW_MS + 7_200_000.0}), (0,)),
    "D26": ("S1", _rows({"metadata": "not json"}, {"metadata": "[1]"}, {"metadata": "17"}), (0, 1, 2)),
    "D27": (
        "S2",
        _rows(
            {"metadata": {"superseded_by": key_of(900)}},
            {"metadata": {"superseded_by": key_of(2)}},
            {"metadata": {"supersedes": key_of(1), "state": "archived"}},
        ),
        (0, 2),
    ),
    "D28": ("S1", _secret, (90,)),
    "D29": ("S1", _secret_beside, None),
    "D30": ("S3", _orphan, None),
    "D32": ("S3", _tag, None),
    "D34": ("S2", _lock, None),
    "D35": ("S1", _cut_manifest, None),
    "D36": ("S1", _missing_file, None),
    "D37": ("S2", _configured(more="autoRecall: false"), None),
    "D38": ("S2", _two_stores, None),
    "D40": ("S1", _new_format, None),
    "D60": (
        "S2",
        _rows(
            {"text": 'Sender (untrusted metadata):\n```json\n{"id": 4}\n```'},
            {"text": 'Sticker (untrusted metadata):\n```json\n{"id": 4}\n```\n\nThe harbour opens at nine.'},
        ),
        (0, 1),
    ),
    "D61": ("S2", _journal, None),
}
"""(severity, how it is planted, numbers of the rows that must be named) by kind: every one that there is."""
