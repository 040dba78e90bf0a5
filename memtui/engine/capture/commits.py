"""Writing what a capture run decided: one commit and one entry of the journal, which can be taken back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.draft import Write, table_of
from memtui.engine.capture.pipeline import folded, last_writes
from memtui.engine.capture.trace import CaptureCandidate, CaptureTrace
from memtui.engine.changes.applied_state import AppliedState, whereabouts
from memtui.engine.changes.change_set import ChangeSet, Outcome
from memtui.engine.changes.commit import apply, fold_words
from memtui.engine.changes.journal import RowImages
from memtui.engine.changes.materialize import refuse_bare_rows
from memtui.engine.core.errors import EmbeddingError, MemtuiError, RefusedError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.capture.recipes.base import CaptureContext
    from memtui.engine.engine import Engine
    from memtui.engine.store.table import Store


ACTION = "capture"

SMALL = 2_000
"""Up to so many rows a run is an ordinary change set; more new ones are written as one stream."""

_BATCH = 4_096


def chosen(trace: CaptureTrace, candidates: Collection[int] | None) -> CaptureTrace:
    """The trace with these candidates only (places in it); what one of them builds on comes along."""
    if candidates is None:
        return trace
    wanted = set(candidates)
    made = {
        write.row.id: at
        for at, candidate in enumerate(trace.candidates)
        for write in candidate.writes
        if write.op == "add"
    }
    while needed := {
        made[row]
        for at in wanted
        for write in trace.candidates[at].writes
        if (row := write.row.id) in made and made[row] not in wanted
    }:
        wanted |= needed
    return replace(
        trace, candidates=tuple(candidate for at, candidate in enumerate(trace.candidates) if at in wanted)
    )


def with_vectors(engine: Engine, trace: CaptureTrace) -> CaptureTrace:
    """The trace with a vector for each new row that has none, made of its text; one batch is asked for.

    For a run that was decided while nothing was to be sent: it is the same, so its ids and decisions stay. Where
    still nothing is sent, it stays as it is, and `engine.withheld` says what would be. Raises EmbeddingError where the
    service does not answer.
    """
    bare = [
        write.row for write in last_writes(trace.writes) if write.op == "add" and write.row.vector is None
    ]
    if not bare or not engine.sends:
        return trace
    try:
        vectors = engine.capture_context().embed([row.text for row in bare])
    except EmbeddingError:
        if engine.withheld:
            return trace
        raise
    made = {row.id: vector for row, vector in zip(bare, vectors, strict=True)}

    def filled(write: Write) -> Write:
        vector = made.get(write.row.id)
        return write if vector is None else replace(write, row=replace(write.row, vector=vector))

    return replace(
        trace,
        candidates=tuple(
            replace(candidate, writes=tuple(map(filled, candidate.writes))) if candidate.writes else candidate
            for candidate in trace.candidates
        ),
    )


def plan(trace: CaptureTrace, store: Store) -> ChangeSet:
    """Everything that a run writes, as one change set: whole decisions or none."""
    decisions = [{write.row.id for write in candidate.writes} for candidate in trace.candidates]
    changes = folded(trace.writes, store, decisions)
    return ChangeSet(ACTION, title(trace), changes, store.version)


def together(traces: Sequence[CaptureTrace], store: Store) -> ChangeSet:
    """Everything that several runs on the same version would write, as one change set; to try, not to apply: none of
    them has seen what the others add."""
    writes = [write for trace in traces for write in trace.writes]
    return ChangeSet(
        ACTION, f"{counted(len(traces), 'conversation')} captured", folded(writes, store), store.version
    )


def title(trace: CaptureTrace) -> str:
    """One line for the journal: how many memories, and what became of them."""
    made = [candidate for candidate in trace.candidates if candidate.writes]
    if len(made) == 1:
        return f"captured ({made[0].decision}): {_line(made[0])}"
    parts = [
        f"{count} {word}"
        for decision, word in (("create", "new"), ("supersede", "replaced"), ("merge", "merged"))
        if (count := sum(candidate.decision == decision for candidate in made))
    ]
    return f"{counted(len(made), 'memory', 'memories')} captured" + (f": {', '.join(parts)}" if parts else "")


def _line(candidate: CaptureCandidate) -> str:
    return " ".join(candidate.abstract.split())


def commit(engine: Engine, trace: CaptureTrace, *, confirmed: bool = False) -> Outcome:
    """Write a run; the words of a long one are taken into the index of a store of our own.

    Raises RefusedError when the store may not be written, ConflictError when a row has changed.
    """
    writes = last_writes(trace.writes)
    if not writes:
        return Outcome(None, ACTION, ())
    bare = sum(write.op == "add" and write.row.vector is None for write in writes)
    harm = engine.store.dialect.can.bare_rows
    why = next((warning for warning in trace.warnings if harm and harm in warning), "")
    refuse_bare_rows(bare, engine.store.dialect, why)
    if len(writes) > SMALL and all(write.op == "add" for write in writes):
        outcome = _streamed(engine, trace, writes, confirmed=confirmed)
        fold_words(engine)
        return outcome
    return apply(engine, plan(trace, engine.store), confirmed=confirmed)


def _streamed(engine: Engine, trace: CaptureTrace, writes: Sequence[Write], *, confirmed: bool) -> Outcome:
    """Many new rows as one stream and one commit; the journal keeps id, text and scope of each."""
    import pyarrow as pa

    writing, store = engine.write_state, engine.store
    if not writing.writable:
        writing.access.require(confirmed=confirmed)
        raise RefusedError("The store is open for reading only.", fix="Open it for writing.")
    applier = writing.applier
    applier.access.require(confirmed=confirmed)
    writer, journal, schema = applier.writer, applier.journal, store.schema
    columns = store.dialect.columns
    kept = pa.schema(
        [schema.field(name) for name in (columns.id, columns.text, columns.scope) if name is not None]
    )

    def reader(wanted: Any) -> Any:
        return pa.RecordBatchReader.from_batches(wanted, _batches(writes, wanted))

    with applier.gatekeeper.hold() as hold:
        before = writer.newest()
        if writer.schema != schema:
            raise RefusedError(f"{writer.where} has other columns than before.", fix="Capture it again.")
        rows = writer.count()
        hold.check()
        entry = journal.intend(
            time_ms=applier.now(),
            action=ACTION,
            title=title(trace),
            changes=(),
            images=RowImages(None, None, None),
            version_before=before,
            count=len(writes),
            added=reader(kept),
        )
        try:
            after = writer.commit(None, reader(schema), ())
        except MemtuiError:
            found = whereabouts(journal.images(entry), writer)
            if found is AppliedState.NOTHING:
                journal.drop(entry)
                raise
            if found is not AppliedState.WHOLE:
                journal.mark(entry, "interrupted")
                raise
            after = writer.newest()
        if after == before + 1 and writer.count() != rows + len(writes):
            raise MemtuiError(
                f"{writer.where} has {counted(writer.count(), 'row')}, not {rows + len(writes):,}.",
                fix="Look at the journal: memtui journal; it can take the capture back.",
            )
        journal.applied(entry, after)
        hold.check()
    journal.tidy()
    writing.behind = True
    return Outcome(entry, ACTION, (), version_before=before, version_after=after)


def _batches(writes: Sequence[Write], schema: Any) -> Iterator[Any]:
    for start in range(0, len(writes), _BATCH):
        part = [write.row for write in writes[start : start + _BATCH]]
        yield from table_of(part, schema).combine_chunks().to_batches()


def reworded(trace: CaptureTrace, at: int, text: str, context: CaptureContext) -> CaptureTrace:
    """The trace with candidate `at` in a person's words; one that wrote nothing becomes a new row.

    Raises RefusedError for words that hold a secret or give an agent orders.
    """
    from memtui.engine.capture.recipes.memtui.rows import new_row
    from memtui.engine.capture.recipes.memtui.texts import without_secrets
    from memtui.engine.core.content_rules import instruction_like

    words = " ".join(text.split())
    if not words or without_secrets(words)[1] or instruction_like(words):
        raise RefusedError(
            "These words cannot be stored: they hold a secret, give orders, or are empty.", fix="Change them."
        )
    candidate = trace.candidates[at]
    old = next((write for write in candidate.writes if write.op in ("add", "change")), None)
    scope = (old.row.scope if old is not None else None) or str(trace.facts.get("scope") or "global")
    fresh = new_row(
        old.row.id if old is not None else context.new_id(),
        words,
        candidate.category or "entities",
        scope,
        now_ms=trace.now_ms,
        at_ms=old.row.timestamp if old is not None else None,
        vector=context.embed([words])[0],
    )
    writes: tuple[Write, ...]
    if old is None:
        writes = (Write("add", fresh, None, "accepted"),)
    else:
        kept = old.row.metadata if words == old.row.text else _with_text(old.row.metadata, words)
        row = replace(old.row, text=words, vector=fresh.vector, metadata=kept)
        writes = tuple(replace(write, row=row) if write is old else write for write in candidate.writes)
    decision = "create" if old is None else candidate.decision
    changed = replace(candidate, abstract=words, content=words, decision=decision, writes=writes, gate="")
    listed = list(trace.candidates)
    listed[at] = changed
    return replace(trace, candidates=tuple(listed))


def _with_text(metadata: str, text: str) -> str:
    from memtui.engine.metadata.patch import stringify
    from memtui.engine.metadata.read import fact_key, parse_object

    values = parse_object(metadata)[0]
    values |= {"l0_abstract": text, "l1_overview": f"- {text}", "l2_content": text}
    if "supersedes" not in values:
        key = fact_key(str(values.get("memory_category")), text)
        values.pop("fact_key", None)
        if key is not None:
            values["fact_key"] = key
    return stringify(values)
