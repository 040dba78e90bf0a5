"""What can be done with the memories of a store as a whole: import, export, repairs, another form, another model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import RefusedError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.progress import CancelToken, OnProgress

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.cluster.plan import ClusterPlan
    from memtui.engine.engine import Engine
    from memtui.engine.providers.chat import ChatSettings
    from memtui.engine.transfer.detection import Detected
    from memtui.engine.transfer.exporting.export import Exports
    from memtui.engine.transfer.exporting.request import Exported, ExportRequest, FileStart
    from memtui.engine.transfer.importing.embedding_cost import Cost
    from memtui.engine.transfer.importing.import_plan import ImportPlan, ImportResult
    from memtui.engine.transfer.importing.planner import ImportPlanner
    from memtui.engine.transfer.importing.request import ImportRequest
    from memtui.engine.transfer.importing.unfinished import UnfinishedRuns
    from memtui.engine.transfer.migration import Form, Migrator
    from memtui.engine.transfer.reembed.job import ReembedJob
    from memtui.engine.transfer.reembed.switch import Switched
    from memtui.engine.transfer.repairs import Summarise
    from memtui.engine.transfer.sources.preview import SourcePreview


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What a source is, before anything is planned: format, evidence, columns with their roles, first rows."""

    format: str
    title: str
    evidence: tuple[str, ...]
    maps: bool
    """Whether its columns have to be mapped."""
    columns: tuple[str, ...] = ()
    mapping: tuple[tuple[str, str], ...] = ()
    """(role, column) as guessed."""
    samples: tuple[tuple[str, ...], ...] = ()
    """First rows, a text for each column."""
    glimpse: SourcePreview | None = None
    """The first memories as they will be read; None where the mapping does not say which column is the text."""


# ------------------------------------------------------------------ import


def store_receipts(engine: Engine, plan: ImportPlan, latency_ms: float) -> list[dict[str, Any]]:
    """A receipt of each memory that a plan of typed texts stored, in openclaw-mem-engine's form: no text, no vector."""
    from memtui.engine.providers.embedder import NoEmbedder
    from memtui.engine.recall.recipes.mem_engine.receipt import store_receipt

    info, named = engine.info, plan.request.scope
    receipt = store_receipt(
        place=str(info.uri),
        table=info.table,
        model=engine.model,
        latency_ms=latency_ms,
        scope=named or "global",
        scope_mode="explicit" if named else "global",
        skipped="provider_unavailable" if isinstance(engine.embedder, NoEmbedder) else None,
    )
    return [receipt] * plan.counts["new"]


def detect_sources(engine: Engine, sources: Sequence[Path], format: str = "auto") -> tuple[Detected, ...]:
    """What each source is; MemtuiError for what cannot be imported."""
    from memtui.engine.transfer.importing.draft import detect_all
    from memtui.engine.transfer.importing.request import ImportRequest

    return tuple(detect_all(ImportRequest(tuple(sources), format)))


def preview_import(engine: Engine, request: ImportRequest) -> ImportPreview:
    """The format of the sources, and for tables the guessed mapping with first rows."""
    from memtui.engine.transfer.importing.draft import detect_all
    from memtui.engine.transfer.sources.column_mapping import guess
    from memtui.engine.transfer.sources.options import ReadOptions
    from memtui.engine.transfer.sources.preview import glimpse, sample_of

    source = detect_all(request)[0]
    found, now = source.format, engine.now_ms
    options = ReadOptions(now_ms=now, encoding=request.encoding)
    columns, rows = sample_of(source, options) if found.maps else ([], [])
    if not columns:  # a known format, or bare texts: there is nothing to map
        first = glimpse(source, request, now)
        return ImportPreview(found.name, found.title, source.evidence, maps=False, glimpse=first)
    mapping = dict(request.mapping) or guess(columns, rows, now)
    samples = tuple(tuple(_shown(row.get(column)) for column in columns) for row in rows[:20])
    seen = glimpse(source, replace(request, mapping=mapping), now) if "text" in mapping else None
    roles = tuple(mapping.items())
    return ImportPreview(found.name, found.title, source.evidence, True, tuple(columns), roles, samples, seen)


def plan_import(
    engine: Engine,
    request: ImportRequest,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ImportPlan:
    """Decide what becomes of every record; see `planner.make_plan`. Close the plan when done with it."""
    from memtui.engine.transfer.importing.planner import make_plan

    return make_plan(request, import_planner(engine), on_progress, cancel)


def plan_memory(
    engine: Engine,
    fields: Mapping[str, Any],
    rules_off: frozenset[str] = frozenset(),
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """The change that adds one memory, of text, scope, category and importance; see `adding.plan_memory`."""
    from memtui.engine.transfer.importing import adding

    return adding.plan_memory(engine, import_planner(engine), dict(fields), rules_off, cancel)


def plan_embedding(
    engine: Engine,
    request: ImportRequest,
    folder: Path,
    *,
    key_variables: str = "",
    parts: str = "",
    workers: int = 2,
    part_rows: int | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ClusterPlan:
    """Write `import_ray.py` into `folder`: it embeds the texts that the import would have to, with the store's model.

    The import is planned as ever, but for near copies; its texts lie beside the parts, for the workers to read. Keys
    of a service are named by `key_variables`, which each worker has. Nothing is written to the store. Raises
    UsageError where there is nothing to embed, MemtuiError where no model is known.
    """
    from memtui.engine.cluster.plan import PART_ROWS
    from memtui.engine.transfer.importing.cluster_texts import write_texts_plan
    from memtui.engine.transfer.importing.planner import make_plan

    shop = import_planner(engine)
    plan = make_plan(replace(request, find_near=False, parts=""), shop, on_progress, cancel)
    try:
        return write_texts_plan(
            plan,
            shop.embedder,
            shop.store.dims,
            folder,
            key_variables=key_variables,
            parts=parts,
            workers=workers,
            part_rows=part_rows or PART_ROWS,
            cancel=cancel,
        )
    finally:
        plan.close()


def measure_import(engine: Engine, plan: ImportPlan) -> Cost:
    """What embedding will cost, its time measured by asking for a few texts."""
    from memtui.engine.transfer.importing.planner import measure

    return measure(plan, import_planner(engine))


def tried_import(
    engine: Engine, plan: ImportPlan, cancel: CancelToken | None = None, *, send: bool = False
) -> ChangeSet:
    """What a plan would write as a change set that is not applied; see `importing.run.tried_out`."""
    from memtui.engine.transfer.importing.run import tried_out

    return tried_out(engine, plan, import_planner(engine), cancel, send=send)


def run_import(
    engine: Engine,
    plan: ImportPlan,
    *,
    confirmed: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ImportResult:
    """Write what a plan says, in one commit and one entry of the journal; see `run.run_plan`.

    Token vectors are made of what came in, where the store has them.
    """
    from memtui.engine.token_vectors import keep_up
    from memtui.engine.transfer.importing.run import run_plan
    from memtui.engine.transfer.importing.unfinished import as_asked

    shop = import_planner(engine)
    with unfinished_runs(engine).running("import", as_asked(plan.request)):
        done = run_plan(engine, plan, shop, confirmed=confirmed, on_progress=on_progress, cancel=cancel)
    engine.store.refresh()
    came = done.added + done.replaced
    said = keep_up(engine, came, on_progress=on_progress, cancel=cancel) if came else ""
    return replace(done, warnings=(*done.warnings, said)) if said else done


def settle_imports(engine: Engine) -> tuple[str, ...]:
    """Put right what killed imports left in the journal; one sentence for each. Ask before a new import.

    An import is one commit: it is wholly there, then its entry is completed, or not at all, then it goes.
    """
    from memtui.engine.transfer.importing.unfinished import settle

    return settle(engine)


# ------------------------------------------------------------------ export


def export_memories(
    engine: Engine,
    request: ExportRequest,
    *,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Exported:
    """Write memories to a file or a folder, and remember where; see `export.export`."""
    from memtui.engine.transfer.exporting.export import PastExport, export

    done = export(
        request,
        engine.store,
        engine.catalog,
        now_ms=engine.now_ms,
        model=model_name(engine),
        dry_run=dry_run,
        on_progress=on_progress,
        cancel=cancel,
    )
    if not dry_run and engine.state is not None:
        past_exports(engine).add(
            PastExport(engine.now_ms, str(done.path.absolute()), request.format, done.rows)
        )
    return done


def estimate_export(engine: Engine, request: ExportRequest) -> int:
    """About how many bytes an export takes; see `export.estimated_bytes`."""
    from memtui.engine.transfer.exporting.export import estimated_bytes

    return estimated_bytes(
        request, engine.store, engine.catalog, now_ms=engine.now_ms, model=model_name(engine)
    )


def first_files(engine: Engine, request: ExportRequest) -> tuple[FileStart, ...]:
    """How the files of an export will begin, of its first memories; see `export.first_files`."""
    from memtui.engine.transfer.exporting.export import first_files as started

    return started(request, engine.store, engine.catalog, now_ms=engine.now_ms, model=model_name(engine))


# ------------------------------------------------------------------ mending, in place


def plan_upgrade(
    engine: Engine,
    chat: ChatSettings | None = None,
    *,
    limit: int | None = None,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Plan to bring rows of the old form up to date; `changes.apply` writes it. See `repairs.plan_upgrade`.

    Summaries are beginnings of the texts, or made by `chat`; what it answered is kept, so that a plan that
    failed or was cancelled goes on where it stopped. `dry_run` asks nobody: the same rows, with beginnings.
    """
    from memtui.engine.transfer import repairs

    def plan(summarise: Summarise) -> ChangeSet:
        return repairs.plan_upgrade(
            engine.store,
            now_ms=engine.now_ms,
            summarise=summarise,
            limit=limit,
            on_progress=on_progress,
            cancel=cancel,
        )

    if chat is None or dry_run:
        return plan(repairs.by_truncation)
    from memtui.engine.transfer.summaries import ChatSummariser

    with ChatSummariser(chat, import_planner(engine).cache) as summarise:
        return plan(summarise)


def plan_repair(
    engine: Engine,
    kinds: Sequence[str],
    *,
    target_scope: str = "global",
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Plan repairs, `kinds` of `repairs.REPAIRS`; `changes.apply` writes them. See `repairs.plan_repair`."""
    from memtui.engine.transfer import repairs

    return repairs.plan_repair(
        engine.store,
        kinds,
        now_ms=engine.now_ms,
        target_scope=target_scope,
        on_progress=on_progress,
        cancel=cancel,
    )


def plan_missing_vectors(
    engine: Engine,
    *,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Plan vectors for rows without one; `changes.apply` writes it. See `repairs.plan_missing`."""
    from memtui.engine.transfer.repairs import plan_missing

    return plan_missing(
        engine.store,
        engine.configured_embedder,
        work=import_planner(engine).cache,
        dry_run=dry_run,
        on_progress=on_progress,
        cancel=cancel,
    )


def forget_answers(engine: Engine, action: str) -> None:
    """Forget what services made for a plan with this action: it was applied, and is in the store."""
    from memtui.engine.transfer.importing.run import forget_vectors

    if action == "reembed":
        forget_vectors(import_planner(engine))
    elif action == "upgrade":
        for path in import_planner(engine).cache.glob("*.summaries"):
            path.unlink(missing_ok=True)


# ------------------------------------------------------------------ another form, another model


def make_migrator(
    engine: Engine, form: Form, *, scope: str | None = None, source: Path | None = None
) -> Migrator:
    """Return what makes a store of another form (`migrate.FORMS`) of this one, or of that in the folder `source`."""
    from memtui.engine.transfer.migration import Migrator, request_for

    source = source or engine.store.folder
    if source is None:
        raise RefusedError(f"{engine.store.name} is not on this machine.", fix="Export it, and import that.")
    return Migrator(
        request_for(source, scope), form, engine.now_ms, import_planner(engine).cache, engine.timer
    )


def reembed_job(engine: Engine) -> ReembedJob:
    """Return the job of re-embedding: its cost, a rehearsal, the run, the switch and the way back."""
    from memtui.engine.transfer.reembed.job import ReembedJob

    return ReembedJob(engine, import_planner(engine).cache)


def switch_to_take_back(engine: Engine) -> Switched | None:
    """The switch to another model that can be taken back."""
    return reembed_job(engine).last_switch


# ------------------------------------------------------------------ parts


def unfinished_runs(engine: Engine) -> UnfinishedRuns:
    """Imports and re-embeddings that were begun and not finished."""
    from memtui.engine.transfer.importing.unfinished import UnfinishedRuns

    return UnfinishedRuns(_own_folder(engine) / "runs", lambda: engine.now_ms)


def past_exports(engine: Engine) -> Exports:
    """Where memories of this store were written lately."""
    from memtui.engine.transfer.exporting.export import Exports

    return Exports(_own_folder(engine) / "exports.jsonl")


def keep_pasted(engine: Engine, text: str) -> Path:
    """A file with a text that was pasted, to import from; the same text is the same file."""
    from hashlib import blake2b

    data = text.encode("utf-8", "surrogatepass")
    path = _own_folder(engine) / f"pasted-{blake2b(data, digest_size=6).hexdigest()}.txt"
    make_private_folder(path.parent)
    path.touch(0o600)
    path.write_bytes(data)
    return path


def _own_folder(engine: Engine) -> Path:
    """Where work on this store is kept."""
    from hashlib import blake2b

    digest = blake2b(engine.store.uri.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return work_folder(engine) / digest


def work_folder(engine: Engine) -> Path:
    """Where work in progress is kept, of every store; RefusedError where nothing can be kept."""
    if engine.state is None:
        raise RefusedError("There is no folder for work in progress.", fix="Set MEMTUI_STATE_DIR.")
    return engine.state / "transfer"


def import_planner(engine: Engine) -> ImportPlanner:
    """What planning works with."""
    from memtui.engine.transfer.importing.planner import ImportPlanner

    return ImportPlanner(
        engine.store,
        engine.catalog,
        engine.configured_embedder,
        engine.now_ms,
        work_folder(engine),
        engine.timer,
        model_name(engine),
        engine.found.settings.get("scopePolicy") if engine.found is not None else None,
    )


def model_name(engine: Engine) -> str | None:
    """The model of the store: as known, else the one that it is embedded with."""
    from memtui.engine.providers.embedder import NoEmbedder

    embedder = engine.configured_embedder
    return engine.model or (None if isinstance(embedder, NoEmbedder) else embedder.name)


def _shown(value: object) -> str:
    from memtui.engine.core.text import one_line

    return "" if value is None else one_line(str(value))[:200]
