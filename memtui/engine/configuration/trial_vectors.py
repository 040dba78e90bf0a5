"""What a plan's own embedding model would find: the memories embedded again, in a copy that is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.configuration.plans import block_under
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.discovery.plugins import embedding_of
from memtui.engine.providers.embedder import embedder_of

if TYPE_CHECKING:
    from memtui.engine.configuration.file import Configuration
    from memtui.engine.configuration.plans import SettingChange
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.recall.context import RecallContext


MOST = 5_000
"""Memories that are embedded for a trial; more would cost what the plan itself costs."""

_PART = 128

_NAMES = (
    "model",
    "baseURL",
    "dimensions",
    "requestDimensions",
    "taskQuery",
    "taskPassage",
    "normalized",
    "provider",
)


def changes_vectors(changes: Sequence[SettingChange]) -> bool:
    """Whether the plan's vectors are others than those of today."""
    return any(change.path[-2:-1] == ("embedding",) and change.path[-1] in _NAMES for change in changes)


def planned_embedder(config: Configuration, changes: Sequence[SettingChange]) -> Embedder:
    """The embedder that the plugin would have under the plan; asks no server. Raises RefusedError without a key."""
    block = block_under(config, changes)
    loaded = config.loaded
    settings, keys, problem = embedding_of(block, block, loaded.environ, None)
    if settings is None or problem:
        raise RefusedError(
            f"The plan's model cannot be asked: {problem}.", fix="Set what is missing, and try again."
        )
    found = tuple(key for ref in keys if (key := ref.read()))
    return embedder_of(replace(settings, api_keys=found))


@contextmanager
def embedded_again(
    context: RecallContext,
    embedder: Embedder,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[RecallContext]:
    """What a recall works with once every memory has a vector of `embedder`; the store is not touched.

    All texts are sent to the embedder. Raises RefusedError for more than `MOST` memories, what the embedder raises,
    and Cancelled.
    """
    import numpy as np
    import pyarrow as pa

    from memtui.engine.providers.multilingual_embedder import MULTILINGUAL
    from memtui.engine.providers.static_embedder import BUNDLED
    from memtui.engine.transfer.importing.embedding_cost import embedded
    from memtui.engine.transfer.make_store import create_table, open_like

    store = context.store
    count = store.count()
    if count > MOST:
        raise RefusedError(
            f"{counted(count, 'memory', 'memories')} would have to be embedded for the trial, more than {MOST:,}.",
            fix="Try it on a part of them, in a store of its own.",
        )
    columns = store.dialect.columns
    dims = len(embedder.embed_passages(["test"])[0])
    place = store.schema.names.index(str(columns.vector))
    field = pa.field(str(columns.vector), pa.list_(pa.float32(), dims))
    schema = store.schema.set(place, field)
    done = 0

    def again(batch: Any) -> Any:
        nonlocal done
        texts = [text or "" for text in batch.column(columns.text).to_pylist()]
        vectors = np.zeros((len(texts), dims), np.float32)  # of no text: near nothing
        said = [at for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(said), _PART):
            if cancel is not None:
                cancel.check()
            part = said[start : start + _PART]
            vectors[part] = embedded(embedder, [texts[at] for at in part], dims)
            done += len(part)
            if on_progress is not None:
                on_progress(Progress("embedding for the trial", done, count, "memories"))
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dims)
        arrays = [column if at == place else batch.column(at) for at in range(batch.num_columns)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    with tempfile.TemporaryDirectory(prefix="memtui-trial-") as name:
        scanned = store.pin().scan(store.schema.names, batch_size=1_024)
        create_table(Path(name), store.dialect.name, schema, map(again, scanned))
        yield replace(
            context,
            store=open_like(Path(name), store),
            embed=embedder.embed_query,
            no_embedder="",
            bundled=embedder.name == BUNDLED,
            multilingual=embedder.name == MULTILINGUAL,
            tokens=lambda: None,
        )
