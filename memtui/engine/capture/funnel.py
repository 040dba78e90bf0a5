"""The funnel: what became of every text of the conversations that were captured, and of what other settings would
have left."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.lost_text import what_if
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.recipes.registry import capture_recipe
from memtui.engine.capture.run_document import Again
from memtui.engine.capture.trace import CaptureTrace

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine


DAY_MS = 86_400_000

Run = tuple[CaptureRequest, CaptureTrace]
"""A conversation as it was given, and its trace."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One reason for which texts or candidates became no memory."""

    gate: str
    count: int
    example: str
    """One of them."""
    run: int
    """The first conversation that has one, by its place."""
    text: int
    """Its place there."""
    fault: str = ""
    """Which known fault of the plugin this is; empty for none."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """Counts from texts to rows; each number is at most as large as the one before, but for rows that replace."""

    texts: int
    candidates: int
    grounded: int
    """Candidates that grounding and a maybe did not stop."""
    admitted: int
    """Of those, the ones that neither admission nor a boundary stopped."""
    rows: int
    """Candidates that write."""
    decided: Mapping[str, int] = field(default_factory=dict)
    """How many of those by their decision."""
    losses: tuple[Loss, ...] = ()
    """The most frequent first."""


_UNGROUNDED = ("grounding", "unsure", "model failed", "not extracted", "too many")

_REFUSED = ("admission", "utility veto", "boundary")


def funnel_of(traces: Sequence[CaptureTrace]) -> Funnel:
    """The funnel of these runs together."""
    counts: Counter[str] = Counter()
    first: dict[str, tuple[str, int, int]] = {}
    faults: dict[str, str] = {}
    made = [candidate for trace in traces for candidate in trace.candidates]
    for number, trace in enumerate(traces):
        for gate, said, place in _lost(trace):
            counts[gate] += 1
            first.setdefault(gate, (said, number, place))
            if (fault := capture_recipe(trace.recipe).faults.get(gate)) is not None:
                faults[gate] = fault
    grounded = [candidate for candidate in made if candidate.gate not in _UNGROUNDED]
    admitted = [candidate for candidate in grounded if candidate.gate not in _REFUSED]
    writing = [candidate for candidate in made if candidate.writes]
    return Funnel(
        sum(len(trace.texts) for trace in traces),
        len(made),
        len(grounded),
        len(admitted),
        len(writing),
        dict(Counter(candidate.decision for candidate in writing)),
        tuple(
            Loss(gate, count, *first[gate], faults.get(gate, ""))
            for gate, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
    )


def _lost(trace: CaptureTrace) -> list[tuple[str, str, int]]:
    """(gate, words, place of the text) of every text that left nothing, and every such candidate of a kept one."""
    found = [
        (text.gate or text.fate, text.said, place)
        for place, text in enumerate(trace.texts)
        if text.fate != "kept"
    ]
    for candidate in trace.candidates:
        kept = [at for at in candidate.texts if trace.texts[at].fate == "kept"]
        if not candidate.writes and (kept or not candidate.texts):
            found.append((candidate.gate or candidate.decision, candidate.abstract, kept[0] if kept else 0))
    return found


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What one other setting would have left of the same conversations; None: a model would have to be asked."""

    setting: str
    value: Any
    rows: int | None
    copies: int = 0
    """Candidates that would have been told as stored already."""


SETTINGS: tuple[tuple[str, Any], ...] = (("captureAssistant", True), ("keepUnsure", True), ("minMessages", 4))
"""What is tried, in the words of our own recipe."""


def under_settings(
    runs: Sequence[Run], engine: Engine, settings: Mapping[str, Any], cancel: CancelToken | None = None
) -> tuple[tuple[Run, ...], int]:
    """The runs as these settings would leave them, by replays with the answers that were given.

    At the end how many questions a model would have to be asked anew.
    """
    made: list[Run] = []
    unknown = 0
    for request, trace in runs:
        if cancel is not None:
            cancel.check()
        answers = Again(trace.calls) if trace.calls else None
        again = what_if(settings, request, engine.capture_context(answers))
        unknown += answers.missing if answers is not None else 0
        made.append((replace(request, config={**request.config, **settings}), again))
    return tuple(made), unknown


def otherwise(
    runs: Sequence[Run],
    engine: Engine,
    settings: Sequence[tuple[str, Any]] = SETTINGS,
    cancel: CancelToken | None = None,
) -> tuple[Otherwise, ...]:
    """Replay all the runs under each setting, with the answers that were given; no new question is asked."""
    found = []
    for name, value in settings:
        again, unknown = under_settings(runs, engine, {name: value}, cancel)
        made = [candidate for _, trace in again for candidate in trace.candidates]
        copies = sum(candidate.gate == "duplicate" for candidate in made)
        rows = None if unknown else sum(bool(candidate.writes) for candidate in made)
        found.append(Otherwise(name, value, rows, 0 if unknown else copies))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FunnelDay:
    """One day as the store and the plugin's audit file tell of it. `at_ms` is its beginning, in UTC."""

    at_ms: int
    captured: int
    rejected: int


def days(engine: Engine, count: int) -> tuple[FunnelDay, ...]:
    """The last days, the oldest first: rows that a capture made, and candidates that the plugin's admission kept out.

    A table that does not tell how a row came to be gives every row that it got.
    """
    from memtui.engine.capture.inbox import Inbox

    today = engine.now_ms // DAY_MS
    made: Counter[int] = Counter()
    columns = engine.store.dialect.columns
    since, until = (today - count + 1) * DAY_MS, (today + 1) * DAY_MS
    if columns.timestamp:
        for times, metadata in _times_and_metadata(engine, columns.timestamp, columns.metadata, since, until):
            for time_ms, stored in zip(times, metadata, strict=True):
                if since <= time_ms < until and _captured(stored):
                    made[time_ms // DAY_MS] += 1
    out = Counter(item.at_ms // DAY_MS for item in Inbox(engine).items() if item.kind == "rejected")
    return tuple(FunnelDay(day * DAY_MS, made[day], out[day]) for day in range(today - count + 1, today + 1))


def _times_and_metadata(
    engine: Engine, column: str, metadata: str | None, since: int, until: int
) -> Iterator[tuple[list[int], list[Any]]]:
    """Time in milliseconds and metadata of rows, a batch at a time; where the table can, only those in the range."""
    import pyarrow as pa

    from memtui.engine.dialects.time_columns import stored_values
    from memtui.engine.store import sql

    dialect = engine.store.dialect
    kind = engine.store.schema.field(column).type
    numbers = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    where = None
    if numbers and not dialect.times.unit:
        where = f"{sql.name(column)} >= {since} AND {sql.name(column)} < {until}"
    names = [column, *([metadata] if metadata else [])]
    for batch in engine.store.scan(names, where=where):
        times = list(map(dialect.read_time, stored_values(batch.column(column), dialect.times)))
        yield times, batch.column(metadata).to_pylist() if metadata else [None] * batch.num_rows


def _captured(metadata: Any) -> bool:
    if not isinstance(metadata, str):
        return True
    try:
        value = json.loads(metadata)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("source") == "auto-capture"
