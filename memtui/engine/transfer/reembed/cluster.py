"""A re-embedding that a cluster does: what its workers make of texts, and the way of the vectors to this machine.

Ray reads the store and embeds; nothing of it writes a table. The second table is made here of the cluster's vectors
by `reembed`, in the data format of the store, verified, switched to and taken back as ever.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.cluster.parts import read_parts
from memtui.engine.cluster.plan import PART_ROWS, ClusterPlan, ClusterWork, Dataset, write_script
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.core.text import quoted
from memtui.engine.transfer.answer_cache import key_of
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.store.table import Store


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

    See `write_script`. Raises UsageError for a model that cannot be found, and a store without vectors.
    """
    if store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="There is nothing to embed anew.")
    address, options = store.dataset_place()
    dataset = Dataset(address, store.version, store.count() + store.pin().sentinels, options)
    work = embedding_work("reembed", store.dialect.columns.text, embedder)
    return write_script(work, dataset, folder, parts=parts, workers=workers, part_rows=part_rows)


def embedding_work(name: str, text: str, embedder: NamedEmbedder) -> ClusterWork:
    """The work of making a vector of every text in the column `text`, for the command `name`.

    Raises UsageError for a model that cannot be found.
    """
    embedder.found(os.environ)
    named = quoted(embedder.model)
    takes = {
        "reembed": f"memtui reembed --model {named} --parts PARTS    makes and verifies the second table",
        "import": "memtui import FILES --parts PARTS    plans and writes it as ever, with these vectors",
    }
    return ClusterWork(
        name,
        "memtui.engine.transfer",
        "EmbedTexts",
        {"text": text, "embedder": asdict(embedder)},
        (text,),
        f"Vectors of {embedder.model} for a memtui store",
        takes[name],
        unit="texts",
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

    taken = 0
    for folder, batch in read_parts(parts, ("key", "vector"), on_progress, cancel):
        flat = np.asarray(batch.column("vector").flatten(), dtype="<f4")
        if len(flat) != batch.num_rows * dims or not np.isfinite(flat).all():
            raise MemtuiError(
                f"Vectors in {folder} are not {dims} numbers each.",
                fix="The model of the script and this one differ; make the parts anew.",
            )
        keys = batch.column("key").to_pylist()
        cache.take(dict(zip(keys, (row.tobytes() for row in flat.reshape(-1, dims)), strict=True)))
        taken += batch.num_rows
    return taken
