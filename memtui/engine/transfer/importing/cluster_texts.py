"""The texts of an import whose vectors a cluster makes: the plan for it, and the vectors that come back."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.cluster.plan import PART_ROWS, ClusterPlan, Dataset, write_script
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.store.create import create_texts
from memtui.engine.transfer.reembed.build import ALIKE, SAMPLE
from memtui.engine.transfer.reembed.cluster import NamedEmbedder, embedding_work, take_parts
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.transfer.importing.import_plan import ImportPlan


_WINDOW = 10_000


def write_texts_plan(
    plan: ImportPlan,
    embedder: Embedder | NoEmbedder,
    dims: int | None,
    folder: Path,
    *,
    key_variables: str = "",
    parts: str = "",
    workers: int = 2,
    part_rows: int = PART_ROWS,
    cancel: CancelToken | None = None,
) -> ClusterPlan:
    """Write `import_ray.py` into `folder`: it embeds the texts that the import would have to; see `plan_embedding`."""
    named = _named(embedder, dims, key_variables)
    numbers = plan.to_embed().tolist()
    if not numbers:
        raise UsageError(
            "No memory of the source needs a vector made.", fix="Import it without a plan for a cluster."
        )

    def texts() -> Iterator[list[str]]:
        for start in range(0, len(numbers), _WINDOW):
            if cancel is not None:
                cancel.check()
            yield plan.texts(numbers[start : start + _WINDOW])

    place = parts or str(folder.absolute() / "parts")
    digest = blake2b(digest_size=8)
    for window in texts():
        for text in window:
            digest.update(blake2b(text.encode("utf-8", "surrogatepass")).digest())
    name = f"texts_{digest.hexdigest()}"
    address, version = create_texts(f"{place}/texts", name, texts(), len(numbers), part_rows)
    work = embedding_work("import", "text", named)
    dataset = Dataset(address, version, len(numbers), {})
    return write_script(work, dataset, folder, parts=place, workers=workers, part_rows=part_rows)


def _named(embedder: Embedder | NoEmbedder, dims: int | None, key_variables: str) -> NamedEmbedder:
    """The store's own model, as each worker finds it."""
    if isinstance(embedder, NoEmbedder):
        raise MemtuiError(embedder.reason, fix=embedder.fix)
    if not isinstance(embedder, OpenAIEmbedder):
        return NamedEmbedder(embedder.name)
    asked = embedder.settings
    return NamedEmbedder(asked.model, asked.url, key_variables, dims, asked.task_passage)


def take_embedding(
    plan: ImportPlan,
    embedder: Embedder | NoEmbedder,
    kept: Path,
    dims: int,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> int:
    """Keep the vectors of the parts that the request names below the folder `kept`; how many there were.

    A sample is made anew here: raises MemtuiError where the parts are of another model, and as `take_parts`.
    """
    import numpy as np

    if isinstance(embedder, NoEmbedder):
        raise MemtuiError(embedder.reason, fix=embedder.fix)
    cache = VectorCache(kept, embedder, dims)
    taken = take_parts(plan.request.parts, cache, dims, on_progress, cancel)
    numbers = plan.to_embed()
    sample = plan.texts(numbers[:: max(1, len(numbers) // SAMPLE)][:SAMPLE].tolist())
    missing = set(cache.missing(sample))
    texts = [text for at, text in enumerate(sample) if at not in missing]
    if sample and not texts:
        raise MemtuiError(
            f"The parts in {plan.request.parts} have no vector for these texts.",
            fix="They belong to another source: plan this one.",
        )
    if texts:
        made, anew = cache.get(texts), embedder.embed_passages(texts)
        lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(anew, axis=1)
        cosines = np.einsum("nd,nd->n", made, anew) / np.maximum(lengths, 1e-12)
        if float(cosines.min()) < ALIKE:
            cache.remove()
            raise MemtuiError(
                f"A vector of the parts and a new one of the same text differ (cosine {cosines.min():.3f}).",
                fix="They are of another model: plan it again. Nothing was imported.",
            )
    return taken
