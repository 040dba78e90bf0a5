"""What a recipe is: how it recalls, who asks by it, what can be turned of it, and how its steps are proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memtui.engine.core.progress import CancelToken
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.knob import Knob
from memtui.engine.recall.prompt_block import PromptBlock
from memtui.engine.recall.prompt_lines import PromptBlockSettings
from memtui.engine.recall.record import Trace
from memtui.engine.recall.request import RecallRequest, RecipeInfo
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.recall.trace import Asker, OnStage

if TYPE_CHECKING:
    from memtui.engine.recall.candidates import CandidatePool
    from memtui.engine.recall.context import StageContext
    from memtui.engine.recall.recipes.pro.plan import Plan
    from memtui.engine.recall.record import StageRecord
    from memtui.engine.store.snapshot import Snapshot

Resolved = tuple[Mapping[str, Any], tuple[str, ...]]
"""The configuration as resolved, secrets masked; and what a person should know of it."""

RunRecall = Callable[[RecallRequest, RecallContext, IoCache, OnStage | None, CancelToken | None], Trace]

PromptBlockMaker = Callable[[Trace, PromptBlockSettings, Mapping[str, int]], PromptBlock]
"""The trace, the plugin's settings, and how many turns ago a memory was injected in this session, to the block."""

Guard = Literal["inactive", "expired", "state"]
"""Superseded, past its validity, archived."""


class PlannedRun(Protocol):
    """One run by a plan, whose searches and stages are asked for one after the other."""

    @property
    def plan(self) -> Plan:
        """What was decided before anything was searched."""

    @property
    def outside(self) -> IoCache:
        """What it asks of the store and of services."""

    @property
    def pin(self) -> Snapshot:
        """The version of the table that it reads."""

    def search(self) -> StageContext:
        """Run the lanes. Raises MemtuiError when all of them failed."""

    def stages(
        self, setting: StageContext, pool: CandidatePool, *, keep: int | None = None
    ) -> Sequence[StageRecord]:
        """The stages over `pool`; the candidate `keep` passes every gate."""


@dataclass(frozen=True, slots=True)
class RowRule:
    """One thing that a program asks of a row before it searches, and whether the row has it."""

    gate: str
    passed: bool
    value: str | None
    wanted: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Recipe(RecipeInfo):
    """A named way to recall. A new one is a file or folder of `recipes`, and a line in the registry."""

    run: RunRecall
    """Answer a request whose scopes are decided."""
    asker: Callable[[RecallRequest, RecallContext], tuple[RecallRequest, Asker]]
    """The request with its scopes decided, and who asks. Deciding twice changes nothing."""
    resolve: Callable[[RecallRequest, RecallContext], Resolved]
    """The settings that a request, whose question may still be empty, would be asked with."""
    knobs: tuple[Knob, ...]
    """What can be turned, in the order of the stages that read it."""
    idle: Callable[[Trace, str], str]
    """Why turning the knob at a path cannot change this recall; empty where it can."""
    block: str
    """The block of the configuration in which its own settings stand."""
    prompt_gate: Callable[[RecallRequest, RecallContext], str] = lambda request, context: ""
    """The rule by which it looks nothing up for a message before a prompt, by the text alone; empty where it does."""
    read_ahead: Callable[[RecallRequest, RecallContext, IoCache, CancelToken], None] | None = None
    """Make ready what the first question of a version would wait for; None where there is nothing."""
    search_space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What a search for better settings tries of each; empty where there is nothing to search."""
    finding: frozenset[str] | None = None
    """Its own settings that decide what becomes a candidate, the others only weigh candidates; None: any may."""
    guards: tuple[Guard, ...] = ()
    """What it asks of every memory, whatever the question, in order."""
    row_rules: Callable[[Trace, CandidateRow], Iterable[RowRule]] = lambda trace, row: ()
    """What its program asks of a row beside the scope before it searches, for an account of one memory."""
    below_scopes: bool = False
    """Whether a scope that is named stands for all that begin with it; its asker then names those that are stored."""
    by_distance: bool = False
    """Whether it searches by squared L2, so that the length of a vector matters."""
    searches_held_vectors: bool = False
    """Whether it searches by cosine, and so finds vectors that are held in memory good enough."""
    double_encoded: bool = False
    """Whether it reads metadata that was encoded twice as what it holds."""
    counts_alike: bool = False
    """Whether its keyword scores are the same before and after rows are folded into the index."""
    rerun: Callable[[Trace, IoCache], PlannedRun] | None = None
    """The run of a trace with a plan once more, for the account of one memory; None where its traces have no plan."""
    floor: float | None = None
    """The least score of a result, where no setting decides it."""
    prompt_block: PromptBlockMaker | None = None
    """The block that what it found goes into a prompt with; None: as `prompt` has it for our own recipes."""
    signal_words: Callable[[], Mapping[str, str]] = dict
    """What each of its own rules says of a score, in words for a person."""
    weight_words: Callable[[], Mapping[str, str]] = dict
    """What each of its own weights counts, in words for a person."""
    replayable: bool = False
    """Whether the steps in a saved receipt can be computed again by the shared formulas."""
    own_scale: bool = False
    """Whether its scores are no share of 1: a weighted sum over a stretched pool, reciprocal ranks."""


class RecipeModule(Protocol):
    """What a module has that brings recipes: ours in `recipes`, and those of extensions (`memtui.recipes`)."""

    PROTOCOL: int
    """The version of this protocol that the module was written for: 1."""
    RECIPES: tuple[Recipe, ...]
    """Its recipes. The entry point of an extension is named like the recipe that it stands for."""
