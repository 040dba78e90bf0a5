"""What a cluster left: finished parts of Parquet files, and a note of what they were made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    import pyarrow as pa

DONE = "done"
"""File in the folder of a part that is all there; it holds the number of rows that the part was made of."""

NOTE = "memtui.json"
"""File beside the parts: what they are made of."""


def read_parts(
    parts: str,
    columns: Sequence[str],
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(folder of its part, a batch) of all finished parts, in their order.

    Raises MemtuiError where no part is there, or one is not finished.
    """
    import pyarrow.dataset as ds
    import pyarrow.fs as fs

    system, root = _place(parts)
    with_names = fs.FileSelector(root, allow_not_found=True)
    try:
        entries = system.get_file_info(with_names)
    except OSError as error:
        raise _unreadable(parts, error) from error
    folders = sorted(
        entry.path
        for entry in entries
        if entry.type == fs.FileType.Directory and entry.base_name.startswith("part-")
    )
    ended = [
        folder for folder in folders if system.get_file_info(f"{folder}/{DONE}").type == fs.FileType.File
    ]
    if not ended or len(ended) < len(folders):
        raise MemtuiError(
            f"{len(ended)} of {counted(len(folders), 'part')} in {parts} are finished.",
            fix="Run the script again: it goes on where it stopped.",
        )
    for at, folder in enumerate(ended):
        files = [
            entry.path
            for entry in system.get_file_info(fs.FileSelector(folder))
            if entry.path.endswith(".parquet")
        ]
        read = ds.dataset(files, filesystem=system, format="parquet")
        for batch in read.to_batches(columns=list(columns)) if files else ():
            if cancel is not None:
                cancel.check()
            if batch.num_rows:
                yield folder, batch
        if on_progress:
            on_progress(Progress("taking what the cluster made", at + 1, len(ended), "parts"))


def rows_of_parts(parts: str) -> int:
    """How many rows the finished parts were made of."""
    import pyarrow.fs as fs

    system, root = _place(parts)
    found = 0
    for entry in system.get_file_info(fs.FileSelector(root)):
        mark = f"{entry.path}/{DONE}"
        if entry.type == fs.FileType.Directory and system.get_file_info(mark).type == fs.FileType.File:
            with system.open_input_stream(mark) as stream:
                found += int(stream.read())
    return found


def write_note(parts: str, note: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
    """Say beside the parts to be what they are made of, with the tables that all workers need.

    Raises RefusedError where another note is there.
    """
    import pyarrow as pa

    system, root = _place(parts)
    there = read_note(parts)
    if there is not None and there != dict(note):
        raise RefusedError(
            f"{parts} belongs to another plan.", fix="Name another place for the parts, or empty that one."
        )
    try:
        system.create_dir(root, recursive=True)
        for name, table in tables.items():
            with (
                system.open_output_stream(f"{root}/{name}.arrow") as sink,
                pa.ipc.new_file(sink, table.schema) as writer,
            ):
                writer.write_table(table)
        with system.open_output_stream(f"{root}/{NOTE}") as stream:
            stream.write(json.dumps(dict(note), sort_keys=True).encode())
    except OSError as error:
        raise MemtuiError(
            f"{parts} cannot be written: {error}.", fix="Check the address, and the variables of its keys."
        ) from error


def read_note(parts: str) -> dict[str, Any] | None:
    """What `write_note` said; None where nothing does."""
    import pyarrow.fs as fs

    system, root = _place(parts)
    try:
        if system.get_file_info(f"{root}/{NOTE}").type != fs.FileType.File:
            return None
        with system.open_input_stream(f"{root}/{NOTE}") as stream:
            found = json.loads(stream.read())
    except (OSError, ValueError) as error:
        raise _unreadable(parts, error) from error
    return found if isinstance(found, dict) else None


def read_table(parts: str, name: str) -> pa.Table:
    """A table that `write_note` left for the workers."""
    import pyarrow as pa

    system, root = _place(parts)
    with system.open_input_file(f"{root}/{name}.arrow") as source:
        return pa.ipc.open_file(source).read_all()


def expect_note(parts: str, note: Mapping[str, Any]) -> None:
    """Raise RefusedError unless the parts were made of exactly this."""
    there = read_note(parts)
    if there != dict(note):
        differs = sorted(key for key in note if (there or {}).get(key) != note[key])
        what = "nothing says what they were made of" if there is None else f"other: {', '.join(differs)}"
        raise RefusedError(
            f"The parts in {parts} were not made of this ({what}).",
            fix="Ask as the plan was asked, on the version of the store that it was made of; else plan again.",
        )


def _place(parts: str) -> tuple[Any, str]:
    import pyarrow.fs as fs

    try:
        return fs.FileSystem.from_uri(parts) if "://" in parts else (fs.LocalFileSystem(), parts)
    except (OSError, ValueError) as error:
        raise _unreadable(parts, error) from error


def _unreadable(parts: str, error: Exception) -> MemtuiError:
    return MemtuiError(
        f"The parts in {parts} cannot be read: {error}.",
        fix="Check the address, and the variables of its keys.",
    )
