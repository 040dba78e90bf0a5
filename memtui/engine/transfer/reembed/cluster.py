"""A re-embedding that a cluster does: a script for Ray, the vectors that it makes, and the way of them to this machine.

Ray reads the store and embeds; nothing of it writes a table. The second table is made here of the cluster's vectors
by `reembed`, in the data format of the store, verified, switched to and taken back as ever.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import Cancelled, MemtuiError, RefusedError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.answer_cache import key_of
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.store.table import Store

PART_ROWS = 200_000
"""Rows of one part, at least, unless it is the last: whole fragments, so after a failure so much is made again."""

DONE = "done"
"""File in the folder of a part whose vectors are all there."""

_BATCH = 1_024
_SAID = re.compile(r"^memtui: ([\d,]+) of ([\d,]+) texts$")


@dataclass(frozen=True, slots=True)
class NamedEmbedder:
    """How each worker finds the model: as `embedder_named` takes it. Keys are named by their variables only."""

    model: str
    base_url: str = ""
    key_variables: str = ""
    dimensions: int | None = None
    task: str | None = None

    def found(self, environ: Mapping[str, str]) -> Embedder:
        """The embedder. Raises UsageError as `embedder_named` does."""
        from memtui.engine.providers.embedder import embedder_named

        return embedder_named(
            self.model,
            environ,
            base_url=self.base_url,
            key_variables=self.key_variables,
            dimensions=self.dimensions,
            task=self.task,
        )


class EmbedTexts:
    """Makes vectors of one batch of texts: what each worker of the cluster holds once and calls for every batch."""

    def __init__(self, text: str, embedder: Mapping[str, Any]) -> None:
        self._text = text
        self._embedder = NamedEmbedder(**embedder).found(os.environ)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Columns `key` (16 bytes that stand for the text) and `vector` (float32); blank texts have no vector."""
        import numpy as np
        import pyarrow as pa

        texts = dict.fromkeys(text for text in batch.column(self._text).to_pylist() if trim(text or ""))
        vectors = self._embedder.embed_passages(list(texts)) if texts else np.zeros((0, 0), np.float32)
        keys = pa.array([key_of(text) for text in texts], pa.binary(16))
        lists = pa.array([np.asarray(one, np.float32) for one in vectors], pa.list_(pa.float32()))
        return pa.table({"key": keys, "vector": lists})


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A script that was written, and where what it makes will lie."""

    script: Path
    parts: str
    """Folder or address of the parts."""
    rows: int
    version: int


def write_plan(
    store: Store,
    embedder: NamedEmbedder,
    folder: Path,
    *,
    parts: str = "",
    workers: int = 2,
    part_rows: int = PART_ROWS,
) -> ClusterPlan:
    """Write `reembed_ray.py` into `folder`: it embeds the texts of the store as it is now, on `workers` workers.

    `parts` is where the vectors go, a folder or an address that all machines of the cluster reach; by default beside
    the script. Raises UsageError for a model that cannot be found or less than one worker, RefusedError when the
    folder holds a script of another store, version or model.
    """
    if workers < 1:
        raise UsageError("A cluster has at least one worker.", fix="Give --workers 2, or more.")
    if store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="There is nothing to embed anew.")
    embedder.found(os.environ)
    place = parts or str(folder.absolute() / "parts")
    dataset, options = store.dataset_place()
    values = {
        "DATASET": dataset,
        "VERSION": store.version,
        "OPTIONS": options,
        "TEXT": store.dialect.columns.text,
        "EMBEDDER": asdict(embedder),
        "PARTS": place,
        "PART_ROWS": part_rows,
        "ROWS": store.count(),
        "WORKERS": workers,
        "BATCH": _BATCH,
    }
    script = folder / "reembed_ray.py"
    written = _SCRIPT.replace(
        "# VALUES\n", "".join(f"{name} = {value!r}\n" for name, value in values.items())
    )
    if script.exists() and _settled(script.read_text(encoding="utf-8")) != _settled(written):
        raise RefusedError(
            f"{script} was written for another version of the store, or another model.",
            fix="Remove that folder, or name another one; vectors that are there would not fit.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    script.write_text(written, encoding="utf-8")
    return ClusterPlan(script, place, store.count(), store.version)


def _settled(script: str) -> list[str]:
    """The lines of a script that decide which vectors it makes: workers and batches may be changed by hand."""
    names = ("DATASET =", "VERSION =", "TEXT =", "EMBEDDER =", "PARTS =", "PART_ROWS =")
    return [line for line in script.splitlines() if line.startswith(names)]


def run_plan(
    script: Path, python: str, *, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> None:
    """Run a script on this machine with the interpreter `python`; what it says of its progress is handed on.

    Raises MemtuiError with its last words when it fails; its parts stay, and the next run goes on after them.
    """
    last: list[str] = []
    with subprocess.Popen(
        [python, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if found := _SAID.match(line.strip()):
                    done, total = (int(number.replace(",", "")) for number in found.groups())
                    if on_progress:
                        on_progress(Progress("embedding on the cluster", done, total, "texts"))
                elif line.strip():
                    last = [*last[-4:], line.strip()]
                if cancel is not None:
                    cancel.check()
        except Cancelled:
            running.terminate()
            raise
    if running.returncode:
        raise MemtuiError(
            f"The script stopped with code {running.returncode}: {last[-1] if last else 'it said nothing'}",
            fix="Parts that are done stay done: mend the cause and run it again.",
            details="\n".join(last),
        )


def take_parts(
    parts: str,
    cache: VectorCache,
    dims: int,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> int:
    """Keep the vectors of all finished parts in `cache`; how many vectors there were.

    Raises MemtuiError where no part is there, one is not finished, or its vectors have another length.
    """
    import numpy as np
    import pyarrow.dataset as ds
    import pyarrow.fs as fs

    try:
        system, root = fs.FileSystem.from_uri(parts) if "://" in parts else (fs.LocalFileSystem(), parts)
        entries = system.get_file_info(fs.FileSelector(root, allow_not_found=True))
    except (OSError, ValueError) as error:
        raise MemtuiError(
            f"The parts in {parts} cannot be read: {error}.",
            fix="Check the address, and the variables of its keys.",
        ) from error
    folders = sorted(each.path for each in entries if each.type == fs.FileType.Directory)
    ended = [each for each in folders if system.get_file_info(f"{each}/{DONE}").type == fs.FileType.File]
    if not ended or len(ended) < len(folders):
        raise MemtuiError(
            f"{len(ended)} of {len(folders)} parts in {parts} are finished.",
            fix="Run the script again: it goes on where it stopped.",
        )
    taken = 0
    for at, folder in enumerate(ended):
        files = [
            each.path
            for each in system.get_file_info(fs.FileSelector(folder))
            if each.path.endswith(".parquet")
        ]
        for batch in ds.dataset(files, filesystem=system, format="parquet").to_batches(
            columns=["key", "vector"]
        ):
            if not batch.num_rows:
                continue
            lists = batch.column("vector")
            flat = np.asarray(lists.flatten(), dtype="<f4")
            if len(flat) != batch.num_rows * dims or not np.isfinite(flat).all():
                raise MemtuiError(
                    f"Vectors in {folder} are not {dims} numbers each.",
                    fix="The model of the script and this one differ; make the parts anew.",
                )
            keys = batch.column("key").to_pylist()
            cache.take(dict(zip(keys, (row.tobytes() for row in flat.reshape(-1, dims)), strict=True)))
            taken += batch.num_rows
            if cancel is not None:
                cancel.check()
        if on_progress:
            on_progress(Progress("taking the cluster's vectors", at + 1, len(ended), "parts"))
    return taken


_SCRIPT = '''"""Vectors of another model for a memtui store, made by Ray. Written by `memtui reembed --plan ray`.

Run it where the store and PARTS can be reached, with memtui and its extra installed on every machine:

    pip install 'memtui[ray]'
    RAY_ADDRESS=auto python reembed_ray.py        without RAY_ADDRESS it starts Ray on this machine

Nothing is written but PARTS: one folder of Parquet files for each group of fragments. A part that is done is not made
again, so after a failure run it once more. Then, on the machine that holds the store:

    memtui reembed --model MODEL --parts PARTS    makes, verifies and, with --switch, uses the second table

Keys are read from the variables that are named below, on each machine. Workers and batches may be changed here.
"""

import os

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray writes a token into the home folder
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import lance
import lance_ray
import pyarrow.fs
import ray

from memtui.engine.transfer import EmbedTexts

# VALUES


def place():
    """The file system of PARTS, and the path in it."""
    if "://" in PARTS:
        return pyarrow.fs.FileSystem.from_uri(PARTS)
    return pyarrow.fs.LocalFileSystem(), PARTS


def start():
    """Join the cluster of RAY_ADDRESS, or start Ray here with an object store that leaves the machine its memory."""
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
    else:
        cores = max(2, WORKERS + 1)  # one more for reading and writing
        ray.init(num_cpus=cores, include_dashboard=False, object_store_memory=512 * 1024**2, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False


def groups():
    """Ids of the fragments of each part: the same for the same version, whoever asks."""
    found, rows = [], PART_ROWS
    for fragment in lance.dataset(DATASET, version=VERSION, storage_options=OPTIONS or None).get_fragments():
        if rows >= PART_ROWS:
            found.append([])
            rows = 0
        found[-1].append(fragment.fragment_id)
        rows += fragment.count_rows()
    return found


def make(part, fragments, system, root):
    """Embed the texts of some fragments into a folder of its own; how many rows were read."""
    folder = f"{root}/part-{part:05d}"
    system.create_dir(folder, recursive=True)
    system.delete_dir_contents(folder)  # what a run that was stopped left
    rows = lance_ray.read_lance(
        DATASET,
        columns=[TEXT],
        fragment_ids=fragments,
        storage_options=OPTIONS or None,
        dataset_options={"version": VERSION},
        override_num_blocks=4 * WORKERS,
    )
    vectors = rows.map_batches(
        EmbedTexts,
        fn_constructor_kwargs={"text": TEXT, "embedder": EMBEDDER},
        batch_format="pyarrow",
        batch_size=BATCH,
        compute=ray.data.ActorPoolStrategy(size=WORKERS),
    )
    vectors.write_parquet(folder, filesystem=system)
    return rows.count()


def main():
    system, root = place()
    start()
    done = 0
    for part, fragments in enumerate(groups()):
        mark = f"{root}/part-{part:05d}/done"
        if system.get_file_info(mark).type != pyarrow.fs.FileType.File:
            count = make(part, fragments, system, root)
            with system.open_output_stream(mark) as stream:
                stream.write(str(count).encode())
        with system.open_input_stream(mark) as stream:
            done += int(stream.read())
        print(f"memtui: {done:,} of {ROWS:,} texts", flush=True)


if __name__ == "__main__":
    main()
'''
