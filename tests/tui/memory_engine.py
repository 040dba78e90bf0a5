"""A store in memory with the engine's methods, for tests of widgets: rows are computed when they are read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from types import SimpleNamespace

from memtui.engine import CancelToken, ListQuery, ListView, Memory, MemtuiError, StoreInfo, UsageError
from memtui.engine.catalog import Facets
from memtui.engine.catalog.similar import Neighbour
from memtui.engine.catalog.types import Finding, Stats
from memtui.engine.changes import JournalEntry
from memtui.engine.core.progress import OnProgress
from memtui.engine.query import ast
from memtui.engine.query.parser import parse
from memtui.engine.query.render import top_terms
from tests.conftest import NOW_MS

DAY = 86_400_000
SCOPES = (
    "global",
    "agent:main",
    "agent:research",
    "project:atlas",
    "project:mango",
    "user:ines",
    "custom:ops",
)
CATEGORIES = ("preference", "fact", "decision", "entity", "reflection", "other")
TIERS = ("core", "working", "working", "peripheral")
TEXTS = (
    "Deploy only behind a feature flag on Fridays",
    "Deploy window is Tue and Thu, 10 to 15 CET",
    "Ines owns the deploy rota since October; ask her before moving a window.",
    "Wants a dry run printed before any deploy",
    "Staging deploys take about 11 minutes",
    "会议记录：部署窗口在星期二和星期四",
    "Roll back rather than hotfix a bad deploy",
    "Summarise each deploy in three lines",
)


def memory(index: int) -> Memory:
    """Row number `index`, always the same."""
    created = NOW_MS - (index * 7 + 1) * 3_600_000 % (300 * DAY)
    return Memory(
        id=f"{index:08x}-0000-4000-8000-{index:012x}",
        text=f"{TEXTS[index % len(TEXTS)]} #{index}",
        raw_text=f"{TEXTS[index % len(TEXTS)]} #{index}",
        dialect="pro",
        scope=SCOPES[index % len(SCOPES)],
        category=CATEGORIES[index % len(CATEGORIES)],
        memory_category="preferences",
        tier=TIERS[index % len(TIERS)],
        importance=(index % 11) / 10,
        confidence=(index % 7) / 6,
        access_count=index % 50,
        timestamp_ms=created,
        last_accessed_ms=created + 3_600_000 if index % 50 else 0,
        state="confirmed",
        layer="durable",
        source="auto-capture",
        supersedes=f"{index - 1:08x}-0000-4000-8000-{index - 1:012x}" if index % 10 == 1 else None,
        metadata='{"tier": "core"}',
        metadata_values={"tier": TIERS[index % len(TIERS)], "made_by": {"model": "test", "run": index}},
    )


class MemoryEngine:
    """As `memtui.engine.Engine`, over `rows` generated memories (or the given ones)."""

    def __init__(self, rows: int | Iterable[Memory] = 1_000, *, name: str = "test") -> None:
        given = None if isinstance(rows, int) else tuple(rows)
        self._given = given
        self._rows = len(given) if given is not None else int(rows)  # type: ignore[call-overload]
        self.name = name
        self.version = 412
        self.pages: list[tuple[int, int]] = []
        """Every page that was asked for."""
        self.gate: threading.Event | None = None
        """When given, `page` waits for it: the screen is then seen while rows are on their way."""
        self.page_error: MemtuiError | None = None
        self.grown = 0
        """Rows that another writer has added, not seen before `refresh`."""

    @property
    def info(self) -> StoreInfo:
        return StoreInfo(
            name=self.name,
            uri=f"/stores/{self.name}",
            table="memories",
            dialect="pro",
            dialect_title="memory-lancedb-pro",
            rows=self._rows,
            dims=1024,
            version=self.version,
            read_only=True,
            columns=("id", "text", "vector", "category", "scope", "importance", "timestamp", "metadata"),
            fts=f"version 1, positions, {self._rows:,} of {self._rows:,} rows",
            full_text=f"{self._rows:,} of {self._rows:,} rows, format 1",
            embedder="static-minilm-256, bundled",
            size_bytes=214_000_000,
            warnings=("This store was written a minute ago by another program.",),
        )

    @property
    def population(self) -> object:
        """Nothing here decays."""
        raise MemtuiError("This engine has no lifecycle.")

    environ: dict[str, str] = {}  # noqa: RUF012 -- an engine without an environment has no sessions

    def load_catalog(self, on_progress: object = None, cancel: CancelToken | None = None) -> None:
        """Nothing to read."""

    load_metadata = load_catalog

    def close(self) -> None:
        """Nothing is held."""

    reconfigured = False
    elsewhere = ""

    def newer(self, shown: object = None) -> int | None:
        return self.grown or None

    def refresh(self, on_progress: object = None, cancel: CancelToken | None = None) -> None:
        self._rows, self.grown, self.version = self._rows + self.grown, 0, self.version + 1

    def row(self, index: int) -> Memory:
        return self._given[index] if self._given is not None else memory(index)

    def view(
        self,
        query: ListQuery,
        cancel: CancelToken | None = None,
        on_progress: OnProgress | None = None,
        *,
        partly: bool = False,
    ) -> ListView:
        keep = _predicate(query)
        if keep is None:
            positions: range | list[int] = range(self._rows)
        else:
            positions = [i for i in range(self._rows) if keep(self.row(i))]
        if query.sort == "timestamp":
            positions = positions[::-1]
        sample = [self.row(i) for i in positions[:5_000]]
        return ListView(query, self.version, len(positions), self._rows, _facets(sample), positions)

    is_remote = False
    locked = True
    state = None
    now_ms = NOW_MS
    store = SimpleNamespace(
        dialect=SimpleNamespace(lacking=frozenset(), can=SimpleNamespace(writable=True)),
        row_columns=(),
        rows_by_id=lambda ids, columns: SimpleNamespace(num_rows=0),  # a memory without a past
    )
    never_because = "This store is made up."
    access = SimpleNamespace(verdict="read-only", reason=never_because, warning="")

    @property
    def write_state(self) -> MemoryEngine:
        return self

    @property
    def journal(self) -> MemoryEngine:
        return self

    def entries(self, limit: int = -1) -> list[JournalEntry]:
        """What was done here: the newest cut off, the one before taken back."""
        made = [("archive", "3 memories: state", "interrupted"), ("edit", "1 memory: text", "undone")]
        made += [("import", "1,204 memories from mango-notes.jsonl", "applied")]
        return [
            JournalEntry(3 - i, NOW_MS - (i + 1) * 5 * 3_600_000, action, title, state, 3 - i, 410 - i)
            for i, (action, title, state) in enumerate(made)
        ]

    def neighbours(self, id: str, k: int = 5) -> tuple[Neighbour, ...]:
        """The rows that follow it, ever less alike."""
        at = int(id.split("-", 1)[0], 16)
        return tuple(Neighbour(self.row((at + i) % self._rows), 1 - i / 20) for i in range(1, k + 1))

    def page(self, view: ListView, offset: int, limit: int) -> list[Memory]:
        if self.gate is not None:
            self.gate.wait(120)
        if self.page_error is not None:
            raise self.page_error
        self.pages.append((offset, limit))
        return [self.row(i) for i in view.positions[offset : offset + limit]]

    def get(self, id_or_prefix: str) -> Memory:
        for index in range(min(self._rows, 5_000)):
            if self.row(index).id.startswith(id_or_prefix):
                return self.row(index)
        raise UsageError(f"There is no memory {id_or_prefix}.", fix="Look for it with / on Browse.")

    def stats(self) -> Stats:
        facets = _facets(self.row(i) for i in range(min(self._rows, 5_000)))
        daily = tuple((i * 13) % 9 + i // 10 for i in range(90))
        return Stats(
            rows=self._rows,
            scopes=facets.scopes,
            categories=facets.categories,
            memory_categories=(("preferences", self._rows),),
            tiers=facets.tiers,
            states=facets.states,
            labels=(),
            trust_tiers=(),
            added_7d=sum(daily[-7:]),
            daily=daily,
            daily_by_tier=tuple((tier, daily) for tier in ("core", "working", "peripheral")),
            oldest_ms=NOW_MS - 300 * DAY,
            newest_ms=NOW_MS,
            findings=(
                Finding("error", "memories without a scope", 3, 'scope:""', "Give them a scope."),
                Finding("warning", "stale memories", 118, "is:stale", "Look whether they are still wanted."),
                Finding(
                    "info", "rows not in the full-text index", 40, "", "The agent's next optimise adds them."
                ),
            ),
        )


def _predicate(query: ListQuery) -> Callable[[Memory], bool] | None:
    """As much of the filter language as the widget tests need: words, tier, scope and category."""
    wanted = top_terms(parse(query.filter))
    if not wanted and query.scopes is None:
        return None

    def keep(row: Memory) -> bool:
        if query.scopes is not None and row.scope not in query.scopes:
            return False
        return all(_matches(row, term) for term in wanted)

    return keep


def _matches(row: Memory, term: ast.Node) -> bool:
    if isinstance(term, ast.Not):
        return not _matches(row, term.term)
    if isinstance(term, ast.FieldTerm):
        stored = {"tier": row.tier, "scope": row.scope, "cat": row.category}.get(term.name)
        values = [value.text for value in term.values if isinstance(value, ast.Text)]
        if term.name == "id":
            return any(row.id.startswith(value) for value in values)
        return stored in values
    return isinstance(term, ast.Word | ast.Phrase) and term.text.lower() in row.text.lower()


def _facets(rows: Iterable[Memory]) -> Facets:
    rows = list(rows)

    def counted(values: Iterable[str | None]) -> tuple[tuple[str | None, int], ...]:
        return tuple(Counter(values).most_common())

    return Facets(
        scopes=counted(row.scope for row in rows),
        categories=counted(row.category for row in rows),
        tiers=tuple((t, n) for t, n in counted(row.tier for row in rows) if t),
        states=tuple((s, n) for s, n in counted(row.state for row in rows) if s),
    )
