"""A request resolved: its recipe, settings and limits, before anything is searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import UsageError
from memtui.engine.core.javascript import trim, utf16_len, utf16_slice
from memtui.engine.metadata.categories import matches
from memtui.engine.recall import lanes
from memtui.engine.recall.context import WINDOW_FACTOR
from memtui.engine.recall.prompt_lines import settings_of
from memtui.engine.recall.recipes.pro import settings
from memtui.engine.recall.recipes.pro.question import (
    expand,
    max_query_of,
    min_length_of,
    skip_rule,
    tag_tokens,
)
from memtui.engine.recall.recipes.pro.stages import StagedRecipe
from memtui.engine.recall.request import SOURCES, UNSET, RecallRequest
from memtui.engine.recall.rows import CandidateRow

if TYPE_CHECKING:
    from memtui.engine.recall.context import Route
    from memtui.engine.recall.recipes.pro.settings import DecaySettings, RetrievalSettings


@dataclass(frozen=True)
class Plan:
    """What will be asked and how; `route` is decided later, when it is known what can be searched."""

    request: RecallRequest
    recipe: StagedRecipe
    retrieval: RetrievalSettings
    decay: DecaySettings | None
    source: str | None
    limit: int
    """Results wanted, clamped."""
    lane_limit: int
    """Hits wanted of each lane, clamped."""
    now_ms: int
    tags: tuple[str, ...]
    guarded: bool
    """Whether the caller's own filters (adaptive gate, governance) apply."""
    gate_rule: str | None
    """The rule by which the adaptive gate skips the question; None where it passes or is not asked."""
    gate_min_length: int
    """What the host passes to the gate: the configured autoRecallMinLength."""
    cut_to: int | None = None
    """UTF-16 units to which auto-recall cut the question; None where it is whole."""

    @property
    def plain(self) -> bool:
        """The built-in program: one vector search, a floor, a limit; none of the plugin's settings."""
        return self.recipe.plain

    def matches(self, row: CandidateRow) -> bool:
        """The category filter."""
        category = self.request.category
        return category is None or matches(row.category, category, row.metadata.values)

    def bm25_query(self, route: Route) -> str | None:
        """The text of the keyword lane; None when it does not run."""
        if route == "vector":
            return None
        asked_on_purpose = self.source in ("manual", "cli")
        if route in ("hybrid", "keyword") and self.retrieval.query_expansion and asked_on_purpose:
            return expand(self.request.query)
        return self.request.query

    def config_block(self) -> dict[str, Any]:
        """The settings as resolved, under the program's own key names, secrets masked."""
        if self.plain:
            return {**self.recipe.settings, "limit": self.limit}
        return {
            "retrieval": self.retrieval.as_block(),
            "decay": self.decay.as_block() if self.decay else None,
        }

    def notes(self) -> list[str]:
        """What was asked and is not done as it was asked."""
        asked = self.request.limit
        said = [f"a limit of {asked} is taken as {self.limit}"] if asked not in (None, self.limit) else []
        if self.cut_to is not None:
            said.append(
                f"auto-recall asks with the first {self.cut_to} characters (autoRecallMaxQueryLength)"
            )
        return said

    def findings(self) -> tuple[str, ...]:
        """Settings without effect, limits that reject nothing."""
        if self.plain:
            return ()
        unguarded = self.recipe.guarded and not self.guarded
        said = (
            ("a source was given: asked without the gate and the guards of auto-recall",) if unguarded else ()
        )
        return (*said, *settings.findings(self.retrieval, self.decay))


def make_plan(
    recipe: StagedRecipe,
    request: RecallRequest,
    *,
    now_ms: int,
    base_retrieval: Mapping[str, Any] | None = None,
    base_decay: Mapping[str, Any] | None = None,
    auto_recall: Mapping[str, Any] | None = None,
) -> Plan:
    """Resolve `request` over the store's own settings; raises UsageError for what cannot be asked.

    `auto_recall` are the plugin's settings of its hook: how many memories it asks for, the gate's length, the cut of
    the question.
    """
    source = recipe.source if request.source is UNSET else request.source
    if source is not None and source not in SOURCES:
        raise UsageError(f"There is no source {source!r}.", fix=f"Known sources: {', '.join(SOURCES)}.")
    if not trim(request.query) and not request.lanes:
        raise UsageError("The question is empty.", fix="Type what the agent would ask.")
    retrieval, decay = settings.resolve(
        request.config, base_retrieval=base_retrieval, base_decay=base_decay, decay_on=recipe.decay_on
    )
    plain = recipe.plain
    hook = auto_recall or {}
    usual = settings_of(hook).asked if recipe.guarded else recipe.limit
    wanted = usual if request.limit is None else request.limit
    limit = max(1, wanted) if plain else lanes.clamp_limit(wanted)
    pool_size = max(retrieval.candidate_pool_size, WINDOW_FACTOR * limit)
    guarded = recipe.guarded and request.source is UNSET
    shortest, longest = min_length_of(hook), max_query_of(hook)
    gate_rule = skip_rule(request.query, shortest) if guarded else None
    cut = guarded and utf16_len(request.query) > longest
    if cut:  # the gate has seen the whole message; what is searched with is its beginning
        request = replace(request, query=utf16_slice(request.query, longest))
    return Plan(
        request=request,
        recipe=recipe,
        retrieval=retrieval,
        decay=decay,
        source=source,
        limit=limit,
        lane_limit=limit if plain else lanes.clamp_limit(pool_size),
        now_ms=now_ms if request.now_ms is None else request.now_ms,
        tags=() if plain else tuple(tag_tokens(request.query, retrieval.tag_prefixes)),
        guarded=guarded,
        gate_rule=gate_rule,
        gate_min_length=shortest,
        cut_to=longest if cut else None,
    )
