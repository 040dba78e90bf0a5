"""Receipts: a recall's whole trace as a document, with or without texts; reading one back, and checking its sums."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import UsageError
from memtui.engine.core.named_file import real_place, written_whole
from memtui.engine.core.secrets import mask
from memtui.engine.explain.radar import find_disagreements
from memtui.engine.recall.request import UNSET, RecallRequest
from memtui.engine.recall.trace import Candidate, StageSummary, Step

if TYPE_CHECKING:
    from memtui.engine.catalog.types import StoreInfo
    from memtui.engine.recall.record import Trace


SCHEMA = "memtui.receipt.v1"

_TEXTS = ("text", "query", "bm25_query", "embedded", "words", "question")
"""Keys whose values are words of a question or a memory; left out of a receipt without texts."""

_MASKED = "rerankApiKey"


@dataclass(frozen=True, slots=True)
class Receipt:
    """A recall read back from a document: what a comparison and a replay need of it."""

    document: Mapping[str, Any]
    """The trace, as `recall --json --explain` prints it."""
    store: Mapping[str, Any]
    """name, table, dialect, version and rows at the time."""
    saved_ms: int
    texts: bool
    request: RecallRequest | None
    """None in a receipt without texts: it does not hold the question."""
    stages: tuple[StageSummary, ...]
    candidates: tuple[Candidate, ...]

    @property
    def query(self) -> str:
        """The question, empty in a receipt without texts."""
        return str(self.document.get("query") or "")

    @property
    def recipe(self) -> str:
        """The recipe that answered."""
        return str(self.document["recipe"])

    @property
    def source(self) -> str | None:
        """Who asked."""
        value = self.document.get("source")
        return None if value is None else str(value)

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings as they were resolved."""
        config: Mapping[str, Any] = self.document["config"]
        return config

    @property
    def now_ms(self) -> int:
        """The clock."""
        return int(self.document["now_ms"])

    @property
    def limit(self) -> int:
        """Results wanted."""
        return int(self.document["limit"])

    @property
    def filters(self) -> Mapping[str, Any]:
        """Scopes, category, agent."""
        filters: Mapping[str, Any] = self.document["filters"]
        return filters

    @property
    def table_version(self) -> int:
        """The version of the table that was searched."""
        return int(self.document["table_version"])

    @property
    def returned(self) -> tuple[str, ...]:
        """The ids that came back, in order."""
        ranked = [candidate for candidate in self.candidates if candidate.rank is not None]
        return tuple(c.id for c in sorted(ranked, key=lambda c: c.rank or 0))

    def texts_by_id(self) -> dict[str, str]:
        """The texts of what came back; empty in a receipt without texts."""
        return {result["id"]: result["text"] for result in self.document["results"] if "text" in result}


def receipt_of(trace: Trace, info: StoreInfo, *, saved_ms: int, texts: bool = True) -> dict[str, Any]:
    """The document to save. Without `texts` it holds ids, numbers and settings only: safe to show around.

    With texts it also holds the question's vector, so that it can be replayed without an embedder.
    """
    document = trace.as_json(explain=True)
    request = None
    if texts and trace.request is not None:
        request = _request_json(trace)
    return {
        "schema": SCHEMA,
        "saved_ms": saved_ms,
        "texts": texts,
        "store": {
            "name": info.name if texts else "",
            "table": info.table,
            "dialect": info.dialect,
            "version": trace.table_version,
            "rows": info.rows,
        },
        "request": request,
        "trace": document if texts else _without_texts(document),
        "disagreements": [
            {name: value for name, value in disagreement.as_json().items() if texts or name not in _SAID}
            for disagreement in find_disagreements(trace)
        ],
    }


def _request_json(trace: Trace) -> dict[str, Any]:
    request = trace.request
    assert request is not None
    vector = trace.query_vector
    return {
        "query": request.query,
        "recipe": request.recipe,
        "config": _without_key(trace.config),
        "source": None if request.source is UNSET else request.source,
        "source_given": request.source is not UNSET,
        "scopes": None if request.scopes is None else list(request.scopes),
        "category": request.category,
        "limit": request.limit,
        "now_ms": trace.now_ms,
        "agent": request.agent,
        "rerank_timeout_ms": request.rerank_timeout_ms,
        "query_vector": None if vector is None else [float(x) for x in vector],
        "lanes": None
        if request.lanes is None
        else {k: [list(hit) for hit in v] for k, v in request.lanes.items()},
    }


def _without_key(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without the masked key: the store's own is used again."""
    out = {key: value for key, value in config.items() if key in ("retrieval", "decay", "memtui")}
    if isinstance(out.get("retrieval"), Mapping):
        out["retrieval"] = {k: v for k, v in out["retrieval"].items() if k != _MASKED}
    return out


_SAID = ("value", "newer_value", "text", "newer_text")
"""What of a disagreement is out of the memories."""


def _without_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_texts(item) for key, item in value.items() if key not in _TEXTS}
    if isinstance(value, list | tuple):
        return [_without_texts(item) for item in value]
    return value


def read_receipt(text: str) -> Receipt:
    """Read a saved receipt. Raises UsageError when it is not one, or of a version that is not known."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise UsageError(
            f"The receipt is not JSON: {failure}.", fix="Name a file that recall --save wrote."
        ) from None
    if not isinstance(value, dict) or not str(value.get("schema", "")).startswith("memtui.receipt."):
        raise UsageError("This file is no receipt.", fix="Name a file that recall --save wrote.")
    if value["schema"] != SCHEMA:
        raise UsageError(
            f"This receipt is of the form {value['schema']}, known is {SCHEMA}.", fix="Use a newer memtui."
        )
    try:
        return _receipt(value)
    except (KeyError, TypeError, ValueError, AttributeError) as failure:
        raise UsageError(
            "The receipt is damaged: a part of it is missing or of another kind.",
            fix="Save it again.",
            details=repr(failure),
        ) from None


def _receipt(value: Mapping[str, Any]) -> Receipt:
    document = value["trace"]
    results = {result["id"]: result for result in document["results"]}
    return Receipt(
        document=document,
        store=dict(value["store"]),
        saved_ms=int(value["saved_ms"]),
        texts=bool(value["texts"]),
        request=None if value.get("request") is None else _request(value["request"]),
        stages=tuple(
            StageSummary(
                stage["name"],
                stage["name"].replace("_", " "),
                "filter",
                stage["in"],
                stage["out"],
                stage["ms"],
                dict(stage.get("dropped") or {}),
                stage.get("note") or "",
            )
            for stage in document["stages"]
        ),
        candidates=tuple(
            _candidate(candidate, results.get(candidate["id"])) for candidate in document["candidates"]
        ),
    )


def _candidate(each: Mapping[str, Any], result: Mapping[str, Any] | None) -> Candidate:
    return Candidate(
        id=each["id"],
        disposition=each["disposition"],
        reason=each["reason"],
        score=each["score"],
        limit=each["limit"],
        rank=result["rank"] if result else None,
        sources=dict(result["sources"]) if result else {},
        steps=tuple(Step(**{**step, "inputs": dict(step["inputs"])}) for step in each["steps"]),
    )


def _request(given: Mapping[str, Any]) -> RecallRequest:
    fields = {key: value for key, value in given.items() if key not in ("source", "source_given")}
    source = given["source"] if given["source_given"] else UNSET
    return RecallRequest(**fields, source=source)


# Receipts as files: written whole or not at all, and read back.


def save_receipt(document: Mapping[str, Any], path: Path, *, show_secrets: bool = False) -> Path:
    """Write a receipt (readable by its owner only) and say where; UsageError when that cannot be done.

    A receipt is made to be shared: secrets in its texts are masked unless they are to be shown.
    """
    if not show_secrets:
        document = _masked(document)
    path = path.expanduser()
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    try:
        with written_whole(real_place(path)) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as failure:
        raise UsageError(
            f"{path} cannot be written: {failure.strerror or failure}.",
            fix="Name a file in a folder of yours.",
        ) from None
    return path


def _masked(value: Any) -> Any:
    """A document with the secrets in its texts masked, keys and numbers as they are."""
    if isinstance(value, str):
        return mask(value)[0]
    if isinstance(value, Mapping):
        return {key: _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list | tuple) else value


def open_receipt(path: Path) -> Receipt:
    """The receipt in a file; UsageError when it cannot be read or is none."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is not text"
        raise UsageError(
            f"{path} cannot be read: {why}.", fix="Name a file that was saved as a receipt."
        ) from None
    return read_receipt(text)
