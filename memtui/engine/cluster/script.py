"""The script that a cluster runs, before its values are filled in."""

from __future__ import annotations

SCRIPT = '''"""[MAKES], made by Ray. Written by `memtui [NAME] --plan ray`.

Run it where the table and PARTS can be reached, with memtui and its extra installed on every machine:

    pip install 'memtui[ray]'
    RAY_ADDRESS=auto python [NAME]_ray.py        without RAY_ADDRESS it starts Ray on this machine

Nothing is written but PARTS: one folder of Parquet files for each group of fragments. A part that is done is not made
again, so after a failure run it once more. Then, on the machine that holds the store:

    [THEN]

Keys are read from the variables that are named below, on each machine. Workers and batches may be changed here.
"""

import os

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray writes a token into the home folder
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import lance
import lance_ray
import pyarrow.fs
import ray

# WORKER

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
    """(ids of the fragments, rows) of each part: the same for the same version, whoever asks."""
    found, rows = [], PART_ROWS
    for fragment in lance.dataset(DATASET, version=VERSION, storage_options=OPTIONS or None).get_fragments():
        if rows >= PART_ROWS:
            found.append(([], 0))
            rows = 0
        ids, before = found[-1]
        rows = before + fragment.count_rows()
        found[-1] = ([*ids, fragment.fragment_id], rows)
    return found


def make(part, fragments, system, root):
    """What the workers make of some fragments, in a folder of its own."""
    folder = f"{root}/part-{part:05d}"
    system.create_dir(folder, recursive=True)
    system.delete_dir_contents(folder)  # what a run that was stopped left
    rows = lance_ray.read_lance(
        DATASET,
        columns=COLUMNS,
        filter=WHERE or None,
        fragment_ids=fragments,
        storage_options=OPTIONS or None,
        scanner_options={"with_row_id": True} if ROW_IDS else None,
        dataset_options={"version": VERSION},
        override_num_blocks=4 * WORKERS,
    )
    made = rows.map_batches(
        Worker,
        fn_constructor_kwargs=GIVEN,
        batch_format="pyarrow",
        batch_size=BATCH,
        compute=ray.data.ActorPoolStrategy(size=WORKERS),
    )
    made.write_parquet(folder, filesystem=system)


def main():
    system, root = place()
    start()
    done = 0
    for part, (fragments, count) in enumerate(groups()):
        mark = f"{root}/part-{part:05d}/done"
        if system.get_file_info(mark).type != pyarrow.fs.FileType.File:
            make(part, fragments, system, root)
            with system.open_output_stream(mark) as stream:
                stream.write(str(count).encode())
        done += count
        print(f"memtui: {done:,} of {ROWS:,} {UNIT}", flush=True)


if __name__ == "__main__":
    main()
'''
