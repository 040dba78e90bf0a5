"""Taking what was deleted out of a table's files for good: old versions, masked rows, index entries."""

from __future__ import annotations

import mmap
import os
import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.store.errors import CommitConflictError, writing

if TYPE_CHECKING:
    from memtui.engine.store.locate import TableLocation


_DELETION_FILE = re.compile(r"(\d+)-\d+-\d+\.(?:arrow|bin)")

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class RemainingTraces:
    """Where something was still found, and where it was looked for."""

    versions: tuple[int, ...]
    """Versions of the table that still hold one of the rows."""
    versions_searched: int
    files: tuple[str, ...]
    files_searched: int


def shrink(table: Any, place: TableLocation, where: str, *, stable_row_ids: bool, unverified: bool) -> int:
    """Leave only the newest version, without a byte of the rows that it does not hold; the version after it.

    A deleted row stays in its data file behind a mask until that file is rewritten, which compaction does only
    once a tenth of a file is masked: here every file with a mask is rewritten, and every index is built anew in
    the format it had. Readers that stand at an older version lose it: no agent may run. `unverified` also
    removes files that no version names: left by a program that was killed, or being written at this moment.
    """

    def optimize() -> None:
        table.checkout_latest()
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # it warns of readers at old versions; a person has confirmed that
            table.optimize(cleanup_older_than=timedelta(0), delete_unverified=unverified)

    _again(optimize, where)
    fragments = masked_fragments(place)
    if fragments or place.folder is None:
        with writing(where):
            table.checkout_latest()
            for condition in (
                ["true"] if stable_row_ids or not fragments else map(rows_of_fragment, sorted(fragments))
            ):
                name = table.schema.names[0]
                table.update(where=condition, values_sql={name: f"`{name}`"})
    for index in list(table.list_indices()):
        _again(lambda index=index: _rebuilt(table, index), where)  # type: ignore[misc]
    _again(optimize, where)
    table.checkout_latest()
    return int(table.version)


def _rebuilt(table: Any, index: Any) -> None:
    """Build an index anew as it was; raises when its format is newer than it was: its program may not read it.

    An older one is read by all: memtui asks for the oldest (`create.FTS_FORMAT`).
    """
    from lancedb import index as kinds

    column = index.columns[0]
    if index.index_type == "FTS":
        details = dict(getattr(index, "index_details", None) or {})
        config = kinds.FTS(
            with_position=bool(details.get("with_position")),
            base_tokenizer=details.get("base_tokenizer") or "simple",
            language=details.get("language") or "English",
            max_token_length=details.get("max_token_length"),
            lower_case=bool(details.get("lower_case", True)),
            stem=bool(details.get("stem", True)),
            remove_stop_words=bool(details.get("remove_stop_words", True)),
            ascii_folding=bool(details.get("ascii_folding", True)),
            ngram_min_length=details.get("min_ngram_length") or 3,
            ngram_max_length=details.get("max_ngram_length") or 3,
            prefix_only=bool(details.get("prefix_only")),
            custom_stop_words=details.get("custom_stop_words"),
        )
    elif index.index_type in ("BTree", "BTREE"):
        config = kinds.BTree()
    elif index.index_type in ("Bitmap", "BITMAP"):
        config = kinds.Bitmap()
    else:
        return  # an index of vectors holds neither ids nor words
    table.create_index(column, config=config, replace=True, name=index.name)
    now = next(each for each in table.list_indices() if each.name == index.name)
    if (getattr(now, "index_version", None) or 0) > (getattr(index, "index_version", None) or 0):
        raise MemtuiError(
            f"The index {index.name} was rebuilt in a newer format.",
            fix="Let the agent's program rebuild it before it is used.",
        )


def masked_fragments(place: TableLocation) -> set[int]:
    """Fragments with masked rows, of every version whose files are there."""
    if place.folder is None:
        return set()
    names = (path.name for path in (place.folder / f"{place.table}.lance" / "_deletions").glob("*"))
    return {int(match[1]) for name in names if (match := _DELETION_FILE.fullmatch(name))}


def rows_of_fragment(fragment: int) -> str:
    """A condition on row ids: the rows of one fragment, where row ids are places."""
    return f"_rowid >= {fragment << 32} AND _rowid < {(fragment + 1) << 32}"


def _again(work: Callable[[], None], where: str) -> None:
    """Maintenance gives way to writers: try again a little later."""
    for attempt in range(_ATTEMPTS):
        try:
            with writing(where):
                work()
            return
        except CommitConflictError:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.05 * 2**attempt)


def files_with(folder: Path, needles: Sequence[bytes]) -> tuple[list[str], int]:
    """Names of the files below `folder` in which one of `needles` stands byte for byte; how many were read."""
    found, searched = [], 0
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(root) / name
            try:
                if path.stat().st_size == 0:
                    continue
                with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    searched += 1
                    if any(content.find(needle) >= 0 for needle in needles):
                        found.append(str(path.relative_to(folder)))
            except OSError:  # another program cleaned up meanwhile, or a link leads nowhere
                continue
    return found, searched
