"""One opened store and everything that can be asked of it: what the screen and the command line call."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.catalog.held import HeldCatalog
from memtui.engine.catalog.types import ListQuery, ListView, Stats, StoreInfo
from memtui.engine.core.memory import Memory
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.recall.request import RecallRequest, RecipeInfo

if TYPE_CHECKING:
    from memtui.engine.access import Access
    from memtui.engine.capture.chat import Chat
    from memtui.engine.capture.recipes.base import CaptureContext
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.catalog.similar import Neighbour
    from memtui.engine.changes.fields import Field
    from memtui.engine.changes.write_state import WriteState
    from memtui.engine.discovery.target import NamesStore, Target
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.lifecycle.reading import Reading
    from memtui.engine.providers.embedder import Embedder, NoEmbedder
    from memtui.engine.providers.embedding_services import EmbeddingSettings
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.recipes.memtui.token_vectors import TokensAtHand
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.trace import OnStage
    from memtui.engine.store.table import Store


Clock = Callable[[], int]
"""Milliseconds since the epoch, now."""


def open_engine(
    target: str | Path | None,
    *,
    now: Clock,
    environ: Mapping[str, str],
    cwd: str | Path,
    settings: NamesStore | None = None,
    table: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    column_maps: Mapping[str, Mapping[str, str]] | None = None,
    embedding: EmbeddingSettings | None = None,
    timer: Callable[[], float] = time.perf_counter,
    writable: bool = False,
    state: Path | None = None,
) -> Engine:
    """Open the store that `target` names: a folder, a LanceDB URI, a discovered name, or None for the discovered one.

    `settings` may name the store where `target` does not. `columns` maps roles to column names for tables of
    other programs, or names an extension's dialect; `column_maps` are maps kept for tables, by
    `place_key`. `embedding` overrides what the store's agent uses. `timer` (seconds) measures durations.
    `writable` lets `memtui.engine.changes` apply what it plans, journalled below `state`, memtui's state folder.
    Opening never writes. Raises StoreNotFoundError, UnknownDialectError, DamagedStoreError or UsageError, each
    with what to do.
    """
    from memtui.engine.dialects.kept_maps import kept_for
    from memtui.engine.discovery import resolve_target
    from memtui.engine.discovery.core_index import open_found_index
    from memtui.engine.store.open import open_store

    wanted = None if target is None else str(target)
    cwd = Path(cwd)
    found = resolve_target(wanted, settings, environ, cwd)
    if columns is None and column_maps:
        table, columns = kept_for(column_maps, found.uri, table or found.table)
    store = (
        open_found_index(found.found)
        if found.found is not None and found.found.is_index
        else open_store(
            found.uri, table=table or found.table, columns=columns, storage_options=found.storage_options
        )
    )
    return Engine(
        store,
        now=now,
        target=found,
        embedding=embedding,
        timer=timer,
        environ=environ,
        writable=writable,
        state=state,
        resolve=lambda place: resolve_target(place or wanted, settings, environ, cwd),
    )


class Engine:
    """An opened store. Reads may come from several threads; the catalog is swapped whole, never changed.

    `embedder` makes the vectors in place of what the configuration names; `new_id` makes the ids of new memories.
    `close` it, or use it in a `with` block, before the same store is opened again.
    """

    def __init__(
        self,
        store: Store,
        *,
        now: Clock,
        target: Target | None = None,
        embedding: EmbeddingSettings | None = None,
        timer: Callable[[], float] = time.perf_counter,
        environ: Mapping[str, str] | None = None,
        writable: bool = False,
        state: Path | None = None,
        resolve: Callable[[str], Target] | None = None,
        embedder: Embedder | NoEmbedder | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._store = store
        self._now = now
        self._timer = timer
        self._environ = environ or {}
        self._writable, self._state = writable, state
        self._resolve, self._embedding, self._given_embedder = resolve, embedding, embedder
        self.new_id = new_id
        """What makes the ids of new memories."""
        self._target = target
        self._found = target.found if target else None
        self._elsewhere = ""
        self._sends = True
        self._quiet = threading.local()
        self._configured = self._configuration_files()
        self._held = HeldCatalog(store, None if state is None else state / "catalogs", now)
        if state is not None and store.is_far:
            store.keep_vectors(state)
        if store.dialect.can.edits_files and self.state_place is not None:
            from memtui.engine.notes.index_store import remember_places

            remember_places(store, self.state_place / "note-places.json")
        self._embed_words = lru_cache(8)(self._vector_of)  # a filter is asked again for every other term
        self._embedder: Embedder | NoEmbedder = self._configured_embedder()

    def _configured_embedder(self) -> Embedder | NoEmbedder:
        from memtui.engine.providers.embedder import NoEmbedder, resolve_embedder
        from memtui.engine.providers.held_embedder import HeldEmbedder
        from memtui.engine.providers.local_models import runs_here

        settings = self._embedding or (self._found.embedding if self._found else None)
        if settings is not None and self._store.dialect.can.clips_texts:
            from memtui.engine.providers.clip import clip_rules

            given = self._found.settings.get("embedding") if self._found else None
            settings = replace(settings, clip=clip_rules(given))
        found = self._given_embedder or resolve_embedder(
            settings,
            own_store=self._store.dialect.can.own_store,
            dims=self._store.dims,
            model_hint=self.model,
        )
        if self._sends or isinstance(found, NoEmbedder) or runs_here(found.name):
            return found
        return HeldEmbedder(found)

    def close(self) -> None:
        """Let go of the store and of its journal; what was staged is gone. A second call does nothing."""
        self._held.drop()
        if (held := self.__dict__.get("write_state")) is not None:
            held.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        """The store itself, for the engine's other parts."""
        return self._store

    @property
    def found(self) -> FoundStore | None:
        """What discovery knows of the store; None for one that no configuration names."""
        return self._found

    @cached_property
    def state_place(self) -> Path | None:
        """The folder of what memtui keeps of this store beside its journal; None where nothing is kept."""
        from memtui.engine.changes.journal import journal_of

        store = self._store
        return None if self._state is None else journal_of(self._state, store.uri, store.table_name).parent

    @property
    def token_place(self) -> Path | None:
        """The folder of this store's token vectors, whether or not there are any; None where nothing is kept."""
        from memtui.engine.store.token_table import FOLDER

        place = self.state_place
        return None if place is None else place / FOLDER

    @cached_property
    def _tokens(self) -> TokensAtHand:
        """The store's token vectors with their model."""
        from memtui.engine.recall.recipes.memtui.token_vectors import TokensAtHand

        return TokensAtHand(self.token_place)

    @property
    def is_remote(self) -> bool:
        """Whether the store is not in a folder of this machine: each look at it is a request."""
        return self._store.is_far

    def reach(self, uri: str) -> Mapping[str, str]:
        """The options that reach an address on object storage: of the profile that fits it, else the store's own."""
        found = self._resolve(uri).storage_options if self._resolve is not None else {}
        return found or self._store.reached_with

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment that the engine was opened in."""
        return self._environ

    @property
    def timer(self) -> Callable[[], float]:
        """The clock that measures durations, in seconds."""
        return self._timer

    @property
    def state(self) -> Path | None:
        """memtui's state folder; None without one."""
        return self._state

    @property
    def embedder(self) -> Embedder | NoEmbedder:
        """What makes vectors for this store: its agent's model, or the bundled one where the vectors are its own."""
        return self._recall_embedder()

    @property
    def embeds_here(self) -> bool:
        """Whether making vectors for this store asks no service: it may be done without a person's yes."""
        from memtui.engine.providers.embedder import NoEmbedder
        from memtui.engine.providers.static_embedder import StaticEmbedder

        return isinstance(self.embedder, StaticEmbedder | NoEmbedder)

    @property
    def configured_embedder(self) -> Embedder | NoEmbedder:
        """What the configuration names to make vectors; `embedder` looks at the vectors where it names nothing."""
        return getattr(self._quiet, "embedder", None) or self._embedder

    def send_nothing(self) -> None:
        """From now on no text or question goes to an embedding service, as in a preview; `withheld` says what would."""
        self._sends = False
        self._embedder = self._configured_embedder()
        self._embed_words.cache_clear()

    @property
    def withheld(self) -> str:
        """What a preview has not sent, as a sentence without its end; empty where nothing was to be sent."""
        from memtui.engine.providers.held_embedder import HeldEmbedder

        embedder = self.configured_embedder
        return embedder.sentence if isinstance(embedder, HeldEmbedder) else ""

    @property
    def sends(self) -> bool:
        """Whether texts and questions go to a service when vectors are made of them."""
        from memtui.engine.providers.embedder import NoEmbedder
        from memtui.engine.providers.static_embedder import BUNDLED

        found = self._recall_embedder()
        return not isinstance(found, NoEmbedder) and found.name != BUNDLED

    @contextmanager
    def sending_nothing(self) -> Iterator[None]:
        """Within it nothing that this thread asks for goes to a service; `withheld` says what would."""
        from memtui.engine.providers.embedder import NoEmbedder
        from memtui.engine.providers.held_embedder import HeldEmbedder

        found = self._recall_embedder()
        if not self.sends or isinstance(found, NoEmbedder | HeldEmbedder):
            yield
            return
        self._quiet.embedder = HeldEmbedder(found)
        try:
            yield
        finally:
            self._quiet.embedder = None

    @property
    def model(self) -> str | None:
        """The model of the vectors: what the table says, else what its agent is configured with."""
        return self._store.model or (self._found.model if self._found else None)

    @property
    def info(self) -> StoreInfo:
        """What is known of the store without reading its rows."""
        from memtui.engine.catalog.select import sort_keys

        store = self._store
        index = store.fts_status()
        return StoreInfo(
            name=self._target.name if self._target else store.name,
            uri=store.uri,
            table=store.table_name,
            dialect=store.dialect.name,
            dialect_title=store.dialect.title,
            rows=store.pin().written if self._held.early else store.count(),
            dims=store.dims,
            version=store.version,
            read_only=self.locked,
            columns=store.columns,
            fts=index.code,
            full_text=index.phrase,
            embedder=self._embedder_phrase(),
            size_bytes=store.size_bytes(),
            warnings=(*(self._target.warnings if self._target else ()), *store.warnings),
            sorts=sort_keys(store.dialect, store.schema),
        )

    def _embedder_phrase(self) -> str:
        from memtui.engine.providers.embedder import NoEmbedder

        return (
            f"none: {self._embedder.reason}"
            if isinstance(self._embedder, NoEmbedder)
            else self._embedder.describe()
        )

    @property
    def now_ms(self) -> int:
        """The clock that decides what is active, expired or stale."""
        return self._now()

    # ------------------------------------------------------------------ browsing

    def load_first_page(self) -> bool:
        """Read what was written last, for `view(partly=True)` before the catalog is there; False where that is near.

        Of a store far away, whose columns are not kept on this machine. Eight requests, however many rows there are.
        """
        return self._held.load_first_page()

    def load_catalog(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Read the light columns of all rows at the pinned version, where that was not done.

        Call from a worker: 0.1 s a million rows. Where the metadata was read at another version, it is read with them.
        """
        self._held.load(on_progress, cancel)

    def load_metadata(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Read tier, access count, state and validity of all rows behind the list, where that was not done.

        Call from a worker. One thread reads at a time: another that asks waits for it, and reads where it stopped.
        """
        self._held.load_metadata(on_progress, cancel)

    @property
    def catalog(self) -> Catalog:
        """The columns of all rows; loads them when that was not done yet."""
        return self._held.whole()

    def newer(self, shown: StoreInfo | None = None) -> int | None:
        """How many memories more the newest version has; None while the open one is the newest. Cheap: ask it often.

        `shown`: what a screen last read of the store, where the engine may have gone on for another one since.
        """
        version, rows = (shown.version, shown.rows) if shown else (self._held.version, None)
        if self._store.newest_version() == version:
            return None
        return self._store.newest_rows() - (self._store.count() if rows is None else rows)

    @property
    def reconfigured(self) -> bool:
        """Whether a file of the agent's configuration was written since its rules were read. Cheap: ask it often."""
        return self._configuration_files() != self._configured

    @property
    def elsewhere(self) -> str:
        """The store that the configuration means since it was changed, where that is another one; else empty."""
        return self._elsewhere

    def _configuration_files(self) -> tuple[tuple[str, int, int], ...]:
        from memtui.engine.discovery.openclaw_config import files_beside

        return files_beside(self._found.config) if self._found is not None else ()

    def configure(self) -> bool:
        """Read the agent's configuration anew and go by it: settings, access, keys, lock; whether anything differs.

        The store stays the same, whatever the configuration names now; see `elsewhere`. A configuration that
        cannot be read changes nothing. What is staged goes on being planned as it was.
        """
        from memtui.engine.core.errors import MemtuiError

        if self._resolve is None or not self.reconfigured:
            return False
        files = self._configuration_files()
        try:
            target = self._resolve(self._store.uri)
            meant = self._resolve("").uri
        except MemtuiError:
            return False
        differs = target.found != self._found
        self._target = target if self._target is None else replace(target, name=self._target.name)
        self._found, self._configured = target.found, files
        self._elsewhere = "" if meant == self._store.uri else meant
        self._embedder = self._configured_embedder()
        self._embed_words.cache_clear()
        self.__dict__.pop("access", None)
        if (held := self.__dict__.get("write_state")) is not None:
            held.configure(self._found, self._environ)
        return differs

    def refresh(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Go to the newest version and read it, by the rules that the agent's configuration has now."""
        self.configure()
        self._store.refresh()
        self._held.load_anew(on_progress, cancel)
        self.load_metadata(on_progress, cancel)

    def view(
        self,
        query: ListQuery,
        cancel: CancelToken | None = None,
        on_progress: OnProgress | None = None,
        *,
        partly: bool = False,
    ) -> ListView:
        """The rows that `query` keeps, in its order or by similarity to its ~words, with exact counts.

        `partly`: rather what was written last at once (`load_first_page`) than all rows later, where `query` asks for
        all in the order of time. Raises UsageError with the span of the error for a filter that does not parse.
        """
        from memtui.engine.catalog.views import make_view

        if partly and (first := self._held.first_view(query)) is not None:
            return first

        def make(catalog: Catalog) -> ListView:
            now_ms, embed = self._now(), self._embed_words
            return make_view(
                self._store,
                catalog,
                query,
                now_ms=now_ms,
                embed=embed,
                on_progress=on_progress,
                cancel=cancel,
            )

        return self._held.view(query, make, on_progress, cancel)

    def _vector_of(self, words: str) -> Any:
        from memtui.engine.providers.embedder import question_vector

        return question_vector(self._recall_embedder(), words)

    def neighbours(self, id: str, k: int = 5) -> tuple[Neighbour, ...]:
        """The `k` memories nearest in meaning to this one, by the store's own vectors; see `similar.neighbours`."""
        from memtui.engine.catalog.similar import neighbours

        return neighbours(self._store, self.catalog, id, k, now_ms=self._now())

    def page(self, view: ListView, offset: int, limit: int) -> list[Memory]:
        """The memories at places `offset` to `offset + limit` of `view`, read at the view's version."""
        from memtui.engine.catalog.views import page_of

        return page_of(self._store, view, offset, limit, now_ms=self._now())

    def place(self, view: ListView, id: str) -> int | None:
        """Where the memory with this id stands in `view`; None where it is not in it."""
        from memtui.engine.catalog.views import place_of

        return place_of(view, id)

    def get(self, id_or_prefix: str) -> Memory:
        """The memory with this id, or whose id begins with it (8 characters or more).

        Raises UsageError when none or several match; several are listed.
        """
        from memtui.engine.catalog.views import find_one

        return find_one(self._store, self.catalog, id_or_prefix, now_ms=self._now())

    def memories(self, ids: Sequence[str], *, newest: bool = False) -> dict[str, Memory]:
        """Memories by id; ids that do not exist are left out. `newest`: as other programs have left them by now."""
        pin = self._store.pin(self._store.newest_version() if newest else None)
        table = pin.rows_by_id(list(ids), self._store.row_columns)
        return {memory.id: memory for memory in self._store.dialect.to_memories(table, self._now())}

    def stats(self) -> Stats:
        """Counts, mix, growth and findings over the whole table."""
        from memtui.engine.health.store_findings import make_stats

        return make_stats(self._store, self.catalog, now_ms=self._now())

    @cached_property
    def population(self) -> Reading:
        """What is read of the store for its lifecycle, kept as long as the catalog is the present one."""
        from memtui.engine.lifecycle.reading import Reading

        def whole(cancel: CancelToken | None) -> Catalog:
            self.load_metadata(None, cancel)
            return self.catalog

        return Reading(self._store, whole, self._now)

    # ------------------------------------------------------------------ changes

    @cached_property
    def write_state(self) -> WriteState:
        """Whether the store may be written, what is staged, its journal and locks; `memtui.engine.changes` uses it."""
        from memtui.engine.changes.write_state import WriteState

        return WriteState(
            self._store,
            now=self._now,
            state=self._state,
            writable=self._writable,
            found=self._found,
            environ=self._environ,
        )

    @property
    def locked(self) -> bool:
        """Whether the store is open for reading only, until `unlock` (which some stores never allow)."""
        return not self.write_state.writable

    def unlock(self) -> None:
        """Let changes be applied from now on: a person agreed. Raises RefusedError where that can never be."""
        self.write_state.unlock()

    @property
    def editable(self) -> tuple[Field, ...]:
        """The fields that memories of this store have and a person may set."""
        from memtui.engine.changes.fields import editable

        return editable(self._store.dialect)

    def ids(self, view: ListView, start: int = 0, stop: int | None = None) -> list[str]:
        """The ids at places `start` to `stop` of `view`, in its order; rows without an id are left out."""
        chosen = view.positions
        return [
            memory_id for memory_id in chosen.catalog.ids.texts(chosen.positions[start:stop]) if memory_id
        ]

    # ------------------------------------------------------------------ recall

    @property
    def default_recipe(self) -> str:
        """The recipe of the program that owns the store; our own for tables of memtui and of nobody."""
        return self._store.dialect.can.default_recipe

    def recipes(self) -> tuple[RecipeInfo, ...]:
        """Every recipe, in the order to show them; first that of an extension, where the store's dialect is its own."""
        from memtui.engine.core.errors import UsageError
        from memtui.engine.core.extensions import ExtensionError
        from memtui.engine.recall.recipes.registry import all_recipes, recipe_named

        known = all_recipes()
        if self.default_recipe in {recipe.name for recipe in known}:
            return known
        try:
            return (recipe_named(self.default_recipe), *known)
        except (ExtensionError, UsageError):
            return known

    def recall(
        self, request: RecallRequest, on_stage: OnStage | None = None, cancel: CancelToken | None = None
    ) -> Trace:
        """Ask the store; the trace is the complete account. `on_stage` hears of each stage as it ends."""
        from memtui.engine.recall.answer import recall

        if not request.recipe:
            request = replace(request, recipe=self.default_recipe)
        return recall(request, self.recall_context(), on_stage=on_stage, cancel=cancel)

    def read_ahead(self, request: RecallRequest, cancel: CancelToken) -> None:
        """Load what the first question like `request` would wait for. No model is asked, nothing is written."""
        from memtui.engine.recall.answer import read_ahead

        if not request.recipe:
            request = replace(request, recipe=self.default_recipe)
        read_ahead(request, self.recall_context(), cancel)

    def recall_context(self) -> RecallContext:
        """Return what a recall works with as of now: store, embedder, settings, access."""
        from memtui.engine.providers.embedder import NoEmbedder, question_vector
        from memtui.engine.providers.multilingual_embedder import MULTILINGUAL
        from memtui.engine.providers.static_embedder import BUNDLED
        from memtui.engine.recall.context import RecallContext

        embedder = self._recall_embedder()
        misfit = isinstance(embedder, NoEmbedder) and embedder.misfit
        model = "" if isinstance(embedder, NoEmbedder) else embedder.name
        return RecallContext(
            self._store,
            self._now(),
            partial(question_vector, embedder)
            if misfit
            else None
            if isinstance(embedder, NoEmbedder)
            else embedder.embed_query,
            no_embedder=f"{embedder.reason} {embedder.fix}" if isinstance(embedder, NoEmbedder) else "",
            base_retrieval=self._base_retrieval(),
            base_decay=self._found.decay if self._found else None,
            bundled=model == BUNDLED,
            multilingual=model == MULTILINGUAL,
            tokens=self._tokens,
            clock=self._timer,
            access=lambda: self.access,
            agent=self.agents[0],
            auto_recall=self._found.settings if self._found else {},
        )

    @cached_property
    def access(self) -> Access:
        """Who reads and writes which scope here, as the store's agents are configured; see `access`.

        Raises ConfigError for a `scopes` block that the plugin itself refuses.
        """
        from memtui.engine.access import access_of

        found, dialect = self._found, self._store.dialect
        one_scope = None
        if dialect.can.visibility == "policy":
            from memtui.engine.recall.recipes.mem_engine.scope_rules import rules_from

            rules = rules_from(found.settings.get("scopePolicy") or {} if found else {})
            one_scope = (rules.default_scope, rules.fallback_scopes)
        return access_of(
            dialect.name, block=found.scopes if found else None, environ=self._environ, one_scope=one_scope
        )

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that the store's configuration names, the default one first; `main` where it names none."""
        from memtui.engine.access import DEFAULT_AGENT

        return (self._found.agents if self._found else ()) or (DEFAULT_AGENT,)

    def askers(self, scopes: Sequence[str | None] = ()) -> tuple[str, ...]:
        """Every agent that is known here: configured, with an access list of its own, or named by one of `scopes`."""
        from memtui.engine.access import agents_in

        return tuple(dict.fromkeys((*self.agents, *self.access.named_agents(), *agents_in(scopes))))

    # ------------------------------------------------------------------ capture

    def capture_context(self, chat: Chat | None = None) -> CaptureContext:
        """What a capture works with: the store as of now with nothing on top, its embedder, and a model or none."""
        from memtui.engine.capture.draft import Draft
        from memtui.engine.capture.recipes.base import CaptureContext
        from memtui.engine.core.errors import EmbeddingError, WithheldError
        from memtui.engine.providers.embedder import NoEmbedder

        embedder = self._recall_embedder()

        def embed(texts: Sequence[str]) -> Any:
            if isinstance(embedder, NoEmbedder):
                raise EmbeddingError(embedder.reason, fix=embedder.fix)
            try:
                return embedder.embed_passages(list(texts))
            except (
                WithheldError
            ) as held:  # as with a service that is down: what was said is told by its words
                raise EmbeddingError(held.message, fix=held.fix) from held

        return CaptureContext(Draft(self._store), embed, self._now(), self.new_id, chat, self.access)

    def _recall_embedder(self) -> Embedder | NoEmbedder:
        """The store's embedder; where it has none, the bundled model if the vectors prove to be its own."""
        from memtui.engine.providers.embedder import NoEmbedder
        from memtui.engine.providers.recognise import made_by_bundled
        from memtui.engine.providers.static_embedder import bundled

        if (quiet := getattr(self._quiet, "embedder", None)) is not None:
            return quiet  # type: ignore[no-any-return]
        if isinstance(self._embedder, NoEmbedder) and made_by_bundled(self._store.pin()):
            self._embedder = bundled()
        return self._embedder

    def _base_retrieval(self) -> dict[str, Any] | None:
        """The agent's own retrieval settings, with the reranker's real key in place of the masked one."""
        if self._found is None or self._found.retrieval is None:
            return None
        block = {key: value for key, value in self._found.retrieval.items() if key != "rerankApiKey"}
        rerank = self._found.rerank
        if rerank is None or not rerank.api_key:
            return block
        return {**block, "rerankApiKey": rerank.api_key, "rerankEndpoint": rerank.endpoint}
