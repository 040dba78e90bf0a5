"""What a check is, what it sees, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.core.text import counted
from memtui.engine.dialects.base import Capabilities

if TYPE_CHECKING:
    from memtui.engine.access.policy import ScopePolicy
    from memtui.engine.alive import Aliveness
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.catalog.ids import PackedIds
    from memtui.engine.core.errors import DamagedStoreError, MemtuiError
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.engine import Engine
    from memtui.engine.health.light_rows import LightRows
    from memtui.engine.health.vector_pass import VectorPass
    from memtui.engine.store.table import Store
    from memtui.engine.store.table_facts import TableFacts
    from memtui.engine.store.table_files import TableFiles


Severity = Literal["S1", "S2", "S3", "S4"]
"""S1: data lost or leaked. S2: the agent answers wrongly. S3: slow or fat. S4: cosmetic."""

Cost = Literal["facts", "light", "deep"]
"""facts: no row is read. light: small columns. deep: vectors and texts, only when asked for."""

Group = Literal["wrong", "lost", "slow"]

GROUPS: Mapping[Group, str] = {"wrong": "wrong answers", "lost": "loss and leaks", "slow": "speed and size"}

How = Literal["safe", "restart", "stop", "by hand", "yours"]
"""How a remedy is applied: beside the agent; with a restart; with the agent stopped; by a person; a choice."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one check saw. `sentence` is for people; `ids` are the memories, `files` the files it is about."""

    sentence: str
    count: int
    ids: Sequence[str] = ()
    files: tuple[str, ...] = ()
    severity: Severity | None = None
    """Where it is another one than the check's own."""
    since_ms: int | None = None
    sure: float | None = None
    """0 to 1; None: it was counted, not estimated."""
    evidence: tuple[str, ...] = ()
    """More lines of what was seen."""
    remedy: str = ""
    """Where it is another one than the check's own."""
    by_hand: bool = False
    """Whether memtui knows nothing to write here: a person has to say what is right."""
    perhaps: bool = False
    """Whether it may be no fault at all: a person looks first, and nothing mends it with what is safe."""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of fault: how it is looked for, what it does to the agent, and what mends it."""

    kind: str
    title: str
    """What is looked at, for the line of what is fine."""
    cost: Cost
    severity: Severity
    group: Group
    effect: str
    """What it does to the agent."""
    remedy: str
    look: Callable[[Patient], Seen | None]
    how: How = "safe"
    safe: bool | None = True
    """Whether the remedy is safe beside a running agent; None where nothing is written."""
    reversible: bool | None = True
    back: str = ""
    """The way back after the remedy."""
    price: str = ""
    """What the remedy costs."""
    applies: Callable[[Patient], bool] = lambda patient: True
    """Whether the store has what the check looks at; where it has not, the check is neither passed nor failed."""


class CheckModule(Protocol):
    """What a module has that brings checks: ours in `checks`, and those of extensions (`memtui.checks`)."""

    PROTOCOL: int
    """The version of this protocol that the module was written for: 1."""
    CHECKS: tuple[Check, ...]
    """Its checks. The entry point of an extension is named like the dialect whose tables are looked at."""


FIRST_OF_EXTENSIONS = 1000
"""The number from which the kinds of extensions' checks are counted: D1000, D1001."""


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """A fault that was found."""

    check: Check
    seen: Seen

    @property
    def kind(self) -> str:
        """D1 to D61."""
        return self.check.kind

    @property
    def severity(self) -> Severity:
        """How grave it is in this store."""
        return self.seen.severity or self.check.severity

    @property
    def remedy(self) -> str:
        """What mends it."""
        return self.seen.remedy or self.check.remedy

    def as_json(self) -> dict[str, Any]:
        """The finding of the command line's contract."""
        about = {"files": list(self.seen.files)} if self.seen.files else {}
        rows = {"ids": list(self.seen.ids)} if self.seen.ids or not about else {}
        return {
            "kind": self.kind,
            "severity": self.severity,
            "count": self.seen.count,
            **rows,
            **about,
            "sentence": self.seen.sentence,
            "remedy": self.remedy,
            "safe_beside_agent": self.check.safe,
            "reversible": self.check.reversible,
            "group": self.check.group,
            "how": self.check.how,
            "effect": self.check.effect,
            "cost": self.check.price,
            "way_back": self.check.back,
            "sure": self.seen.sure,
            "since_ms": self.seen.since_ms,
            "evidence": list(self.seen.evidence),
            **dict(self.seen.detail),
        }


class Patient:
    """Everything that checks may look at, each part read once and only when it is asked for.

    `engine` is None for a table that cannot be opened; `error` then says why.
    """

    def __init__(
        self,
        engine: Engine | None,
        folder: Path | None,
        *,
        now_ms: int,
        table: str = "memories",
        error: MemtuiError | None = None,
        found: FoundStore | None = None,
        environ: Mapping[str, str] | None = None,
        state: Path | None = None,
        cwd: Path | None = None,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
        questions: Callable[[], Any] | None = None,
        parts: str = "",
    ) -> None:
        self.engine, self.folder, self.now_ms, self.error = engine, folder, now_ms, error
        self.table, self.found, self.environ, self.state = table, found, environ or {}, state
        self.cwd = cwd or Path.cwd()
        self.on_progress, self.cancel = on_progress, cancel
        self._questions = questions
        self.parts = parts
        """Where a cluster left its pass over the vectors; empty: it is made here."""
        self.deep = False
        """Whether vectors and texts may be read, however many there are."""
        self.unreadable: DamagedStoreError | None = None
        """Why rows could not be read, where a check met that."""

    @property
    def store(self) -> Store | None:
        """The open table."""
        return None if self.engine is None else self.engine.store

    @property
    def dialect(self) -> str:
        """The machine name of the store's dialect; empty for a table that cannot be opened."""
        return "" if self.engine is None else self.engine.store.dialect.name

    @property
    def can(self) -> Capabilities:
        """What may be done to the table; nothing for one that cannot be opened."""
        return Capabilities() if self.engine is None else self.engine.store.dialect.can

    @property
    def is_pro(self) -> bool:
        """Whether memory-lancedb-pro reads the table."""
        return self.can.versioned_text

    @property
    def uses_l2(self) -> bool:
        """Whether the store's own program compares vectors by distance, so that their length matters."""
        return self.can.compares_l2

    @cached_property
    def alive(self) -> Aliveness:
        """Whether the agents' memory works, of every agent of this environment."""
        from memtui.engine.alive import check_alive

        return check_alive(self.environ, self.cwd, now_ms=self.now_ms)

    @property
    def table_folder(self) -> Path | None:
        """The folder of the table's files; None for a remote store."""
        return None if self.folder is None else self.folder / f"{self.table}.lance"

    @cached_property
    def files(self) -> TableFiles | None:
        """The table's files; None for a remote store."""
        from memtui.engine.store.table_files import list_table

        return None if self.table_folder is None else list_table(self.table_folder)

    @cached_property
    def facts(self) -> TableFacts | None:
        """What the table says without a row being read; None when it cannot be opened."""
        from memtui.engine.store.table_facts import table_facts

        if self.store is None:
            return None
        nothing = self.files is not None and not self.files.deletions
        return table_facts(self.store.pin(), (0, 0) if nothing else None)

    @cached_property
    def catalog(self) -> Catalog:
        """The columns of all rows, metadata included."""
        assert self.engine is not None
        if self.engine.catalog.version != self.engine.store.version:
            self.engine.load_catalog(self.on_progress, self.cancel)
        if self.engine.catalog.metadata_pending:
            self.engine.load_metadata(self.on_progress, self.cancel)
        return self.engine.catalog

    @cached_property
    def light(self) -> LightRows:
        """Times as stored, and the links between memories."""
        from memtui.engine.health.light_rows import read_light_rows

        assert self.store is not None
        newest = self.store.versions()[-1:]
        return read_light_rows(self.store, newest[0][1] if newest else self.now_ms, self.cancel)

    @cached_property
    def vectors(self) -> VectorPass:
        """One pass over the vectors: what is wrong with each, and the sum of their directions."""
        from memtui.engine.health.vector_pass import read_vectors

        assert self.store is not None
        if self.parts:
            from memtui.engine.health.cluster_work import take_doctor

            return take_doctor(self.store, self.parts, self.on_progress, self.cancel)
        return read_vectors(self.store, self.on_progress, self.cancel)

    @cached_property
    def questions(self) -> Any:
        """The vectors of the person's own questions, float32 [n, dims]; None where none were given."""
        return None if self._questions is None else self._questions()

    @cached_property
    def policy(self) -> ScopePolicy | None:
        """Which scopes each agent reads; None where no configuration names the store, or it cannot be read."""
        from memtui.engine.core.errors import MemtuiError

        if self.engine is None or self.found is None or not self.found.configured:
            return None
        from memtui.engine.access.policy import ScopePolicy

        try:
            return ScopePolicy.from_config(self.found.scopes, self.engine.environ)
        except MemtuiError:
            return None

    def ids_at(self, positions: Any) -> Sequence[str]:
        """The ids of rows by their places in the catalog; rows without one are left out, each id once."""
        ids = self.catalog.ids
        if len(positions) > MANY_IDS and not ids.odd_at.size:
            return ManyIds(ids, positions)
        return distinct(ids.texts(positions))

    def ids_of_rows(self, row_ids: Any) -> Sequence[str]:
        """The ids of rows by their row ids."""
        from memtui.engine.catalog.select import positions_of

        return self.ids_at(positions_of(self.catalog, row_ids))


MANY_IDS = 100_000
"""More ids than this are made as they are asked for: as texts those of ten million rows take two gigabytes."""


class ManyIds(Sequence[str]):
    """The ids of rows, each once, as texts only when they are asked for; a slice is a tuple."""

    def __init__(self, ids: PackedIds, positions: Any) -> None:
        import numpy as np

        positions = np.asarray(positions, np.int64)
        high, low = ids.high[positions], ids.low[positions]
        order = np.lexsort((low, high))  # of equal ones the first stays first
        again = np.zeros(len(positions), bool)
        same = (high[order[1:]] == high[order[:-1]]) & (low[order[1:]] == low[order[:-1]])
        again[order[1:][same]] = True
        self._ids, self._positions = ids, positions[~again]

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return distinct(self._ids.texts(self._positions[index]))
        return str(self._ids.texts([self._positions[index]])[0])

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _IDS_AT_ONCE):
            yield from self[start : start + _IDS_AT_ONCE]


_IDS_AT_ONCE = 65_536


def distinct(texts: Sequence[str | None]) -> tuple[str, ...]:
    """Each text once, in order, without the absent ones."""
    return tuple(dict.fromkeys(text for text in texts if text))


def memories(count: int) -> str:
    """ "1 memory", "2 memories"."""
    return counted(count, "memory", "memories")
