"""A new text for a memory: its vector, its summaries, and the versions of preferences and entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import Change, Conflict
from memtui.engine.changes.edit_row import EditableRow, FieldEdit, RowPatch, change_of
from memtui.engine.core.errors import EmbeddingError, RefusedError
from memtui.engine.decay.validity import infer_expiry, temporal_type
from memtui.engine.metadata.categories import TEMPORAL_VERSIONED
from memtui.engine.metadata.json_patch import REMOVED, patch
from memtui.engine.metadata.patch import FIRST_RELATIONS, append_relation
from memtui.engine.metadata.read import fact_key
from memtui.engine.providers.embedder import Embedder, NoEmbedder
from memtui.engine.providers.held_embedder import HeldEmbedder
from memtui.engine.store.row_values import ID, with_values

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.core.memory import Memory
    from memtui.engine.dialects.base import Dialect


OTHER_MODEL = 0.35
"""Below this cosine between a stored vector and the one made anew of the same text, it is another model's."""

SAME_MODEL = 0.9
"""Above this it is the same model's; in between the vector may have been made of more than the text."""

_VERSION_LINKS = ("supersedes", "superseded_by")


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """New vectors [n, dims] for new texts, and what is doubtful about them."""

    new: NDArray[np.float32]
    warnings: tuple[str, ...]


def embed(
    embedder: Embedder | NoEmbedder, texts: Sequence[str], old: Sequence[tuple[str, Any]], dims: int
) -> TextVectors:
    """The vectors of `texts`, after a look whether this is the model that made the store's.

    `old` are (text, stored vector) of the same memories: the stored vectors should come out again. Raises
    RefusedError when there is no embedder, EmbeddingError when it gives no usable vector.
    """
    import numpy as np

    if isinstance(embedder, NoEmbedder):
        raise RefusedError(
            f"The text cannot be changed, since its vector would not follow: {embedder.reason}",
            fix=embedder.fix,
        )
    known = [(text, vector) for text, vector in old if vector is not None and np.any(vector)][:4]
    if isinstance(embedder, HeldEmbedder):  # a preview: what the vector will be is not known
        embedder.withhold([*texts, *(text for text, _ in known)])
        return TextVectors(
            np.zeros((len(texts), dims), np.float32), (f"The new vector is not known: {embedder.sentence}",)
        )
    made = np.asarray(embedder.embed_passages([*texts, *(text for text, _ in known)]), dtype=np.float32)
    if made.shape != (len(texts) + len(known), dims) or not np.isfinite(made).all():
        raise EmbeddingError(
            f"{embedder.name} gave vectors of shape {made.shape}, this table needs {dims} finite numbers each.",
            fix="Configure the model that made the store's vectors; nothing was changed.",
        )
    new, again = made[: len(texts)], made[len(texts) :]
    if not np.any(new, axis=1).all():
        raise EmbeddingError(f"{embedder.name} gave a zero vector.", fix="Try again; nothing was changed.")
    cosines = [_cosine(vector, remade) for (_, vector), remade in zip(known, again, strict=True)]
    return TextVectors(new, _doubt(embedder.name, min(cosines, default=1.0)))


def _doubt(name: str, cosine: float) -> tuple[str, ...]:
    if cosine < OTHER_MODEL:
        return (
            f"{name} is probably not the model that made this store's vectors: of the same text it makes another "
            f"one (cosine {cosine:.2f}), so this memory would be found among the wrong neighbours",
        )
    if cosine < SAME_MODEL:
        return (f"the stored vector and a new one of the old text differ (cosine {cosine:.2f})",)
    return ()


def text_patch(
    row: EditableRow, text: str, vector: Any, setting: FieldEdit, dialect: Dialect, patch: RowPatch
) -> None:
    """Put a new text into `patch`, in place: what is made from the text follows it."""
    patch.columns[dialect.columns.text] = text
    patch.vector = vector
    if not dialect.reads_metadata:
        return
    memory = row.memory
    given = setting.values
    if "l2_content" not in given and len(memory.l2_content) > len(memory.text) + len("- "):
        patch.warnings.append("the longer content behind the old text is replaced by the new text")
    l0 = given.get("l0_abstract", text)
    category = given["category"][0] if "category" in given else str(memory.memory_category)
    rebuilt = {
        "l0_abstract": l0,
        "l1_overview": given.get("l1_overview", f"- {l0}"),
        "l2_content": given.get("l2_content", text),
        "memory_temporal_type": temporal_type(text),
    }
    if key := fact_key(category, l0):
        rebuilt["fact_key"] = key
    patch.metadata |= rebuilt
    if "valid_until" not in given:
        until = infer_expiry(text, setting.now_ms)
        patch.metadata["valid_until"] = REMOVED if until is None else until
        if until is not None:
            patch.warnings.append("a word of time in the text makes it expire, as the agent's program would")


def versioned(memory: Memory, dialect: Dialect) -> bool:
    """Whether a new text makes a new version of this memory instead of changing it."""
    return dialect.reads_metadata and memory.active and memory.memory_category in TEMPORAL_VERSIONED


def superseding(
    row: EditableRow,
    whole: pa.Table,
    patch_of_new: RowPatch,
    setting: FieldEdit,
    dialect: Dialect,
    new_id: Callable[[], str],
) -> tuple[Change | Conflict, ...]:
    """The two changes by which a new version takes a memory's place: the new row, then the old one's end.

    `whole` is the old row with all its columns; what we do not know in it goes over into the new one.
    """
    memory, fresh = row.memory, new_id()
    if not memory.metadata_valid:
        refused = change_of(row, patch_of_new, dialect)
        return (refused,) if refused is not None else ()
    old_relations = memory.metadata_values.get("relations")
    link = {"type": "supersedes", "targetId": memory.id}
    others = [each for each in append_relation(old_relations, link) if each["type"] not in _VERSION_LINKS]
    metadata: dict[str, Any] = {
        "access_count": 0,
        "last_accessed_at": setting.now_ms,
        "valid_from": setting.now_ms,
        "supersedes": memory.id,
        "relations": [link, *others][:FIRST_RELATIONS],
        "source": "manual",
        "last_confirmed_use_at": setting.now_ms,
        "injected_count": 0,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        "superseded_by": REMOVED,
        "invalidated_at": REMOVED,
        "last_injected_at": REMOVED,
        "suppressed_until_ms": REMOVED,
        **patch_of_new.metadata,
    }
    stored = row.values.get(str(dialect.columns.metadata))
    columns: dict[str, Any] = {
        ID: fresh,
        **_beginning(dialect, whole, setting.now_ms),
        **patch_of_new.columns,
        str(dialect.columns.metadata): patch(stored, metadata),
    }
    new_row = with_values(
        whole,
        {name: [value] for name, value in columns.items()},
        {} if patch_of_new.vector is None else {0: patch_of_new.vector},
        dialect.columns.vector,
    )
    added = Change(
        id=fresh,
        op="add",
        before={},
        after=_shown_new(columns, metadata, dialect),
        title=" ".join(str(columns[dialect.columns.text]).split()),
        why=f"replaces {memory.id}",
        group=memory.id,
        scope=columns.get(str(dialect.columns.scope), memory.scope),
        row=new_row,
    )
    relation = {"type": "superseded_by", "targetId": fresh}
    ended = RowPatch(
        metadata={
            "invalidated_at": setting.now_ms,
            "superseded_by": fresh,
            "relations": append_relation(old_relations, relation)[-FIRST_RELATIONS:],
        }
    )
    old = change_of(row, ended, dialect, why=f"replaced by {fresh}", group=memory.id)
    return (added,) if old is None else (added, old)


def _beginning(dialect: Dialect, whole: pa.Table, now_ms: int) -> dict[str, Any]:
    """Times and counters of a row that begins now, in the columns that this table has for them."""
    columns = dialect.columns
    fresh: Mapping[str | None, Any] = {
        columns.timestamp: float(now_ms),
        columns.last_accessed: float(now_ms),
        columns.access_count: 0,
    }
    found = {name: value for name, value in fresh.items() if name}
    if columns.created and whole.schema.field(columns.created).nullable:
        found[columns.created] = None  # the program that made that column leaves it empty in its new rows
    return found


def _shown_new(columns: Mapping[str, Any], metadata: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    each = dialect.columns
    names = [name for name in (each.text, each.scope, each.category, each.importance) if name in columns]
    keys = [key for key in ("supersedes", "valid_from", "fact_key") if key in metadata]
    return {str(name): columns[str(name)] for name in names} | {key: metadata[key] for key in keys}


def _cosine(left: Any, right: Any) -> float:
    import numpy as np

    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(np.dot(left, right)) / norms if norms else 0.0
