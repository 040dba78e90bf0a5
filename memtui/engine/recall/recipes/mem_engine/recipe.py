"""One recall by the recipe `mem-engine`: scope, tiers, fusion, selection, the hook's guards and budget, receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken
from memtui.engine.dialects.importance_labels import TIERS
from memtui.engine.recall.asker import by_own_rules, uncounted
from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.far_rows import whole_rows
from memtui.engine.recall.io_cache import IoCache, check_dims, question_vector
from memtui.engine.recall.recipe import Recipe, Resolved
from memtui.engine.recall.recipes.mem_engine import prompt_block, receipt, scope_rules, selection, trust
from memtui.engine.recall.recipes.mem_engine.knobs import KNOBS, idle
from memtui.engine.recall.recipes.mem_engine.prompt_block import BlockItem, PackedBlock, pack
from memtui.engine.recall.recipes.mem_engine.scope_rules import Scope
from memtui.engine.recall.recipes.mem_engine.searches import TierLanes, TierRow, tier_lanes
from memtui.engine.recall.recipes.mem_engine.selection import TierSelection
from memtui.engine.recall.recipes.mem_engine.settings import (
    BLOCK,
    MOST,
    TOOL_LIMIT,
    EngineSettings,
    configured,
    hook_limit,
    lane_limit,
    resolve_engine,
    unread_keys,
)
from memtui.engine.recall.recipes.mem_engine.stages import (
    StageAccount,
    StageRecorder,
    guard,
    prove_engine,
    reciprocal_ranks,
)
from memtui.engine.recall.record import Trace
from memtui.engine.recall.request import UNSET, RecallRequest, filters_of
from memtui.engine.recall.trace import Asker, OnStage, StageSummary
from memtui.engine.recall.word_matches import words_met_in

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory


# What a recall leaves behind beside its stages: receipt, log lines, the block for the prompt.

MARKER = "openclaw-mem-engine"


def extra(
    settings: EngineSettings,
    scope: Scope,
    chosen: TierSelection,
    story: receipt.ReceiptInput,
    packed: PackedBlock | None,
    *,
    hook: bool,
    limit: int,
) -> dict[str, Any]:
    """`receipt` (the tool's or the hook's), `markers`, and for the hook `injected`.

    `injected.text` is the block as the program sends it; where it lost its closing tag, `closed` is the same
    within the same budget with the tag kept. `imitating` names memories whose lines pass for lines of the block.
    """
    lifecycle = receipt.lifecycle(story, settings.receipts)
    validation = {
        "validationMode": settings.scopes.validation_mode,
        "invalid": scope.invalid,
        "normalized": scope.normalized,
    }
    tool = {
        "limit": limit,
        "ftsCount": len(story.fts),
        "vecCount": len(story.vector),
        "fusedCount": len(story.fused),
        "policyTier": story.tiers[-1].name if story.tiers else None,
        "ladder": chosen.policy_tier,
        "scopeMode": scope.mode,
        "scope": scope.scope,
        "scopeFilterApplied": True,
        "scopeValidation": validation,
        "fallback": chosen.fallback.as_json(),
        **({"lifecycle": lifecycle} if settings.receipts.enabled else {}),
    }
    out: dict[str, Any] = {
        "receipt": lifecycle if hook else tool,
        "markers": _markers(settings, scope, chosen, validation, packed),
    }
    if packed is not None:
        lost = packed.cut and not packed.text.endswith(prompt_block.CLOSE)
        out["injected"] = {
            "text": packed.text,
            "memories": [slot.id for slot in packed.kept],
            "cut": packed.cut,
            "closing_tag_lost": lost,
            "imitating": [slot.id for slot in packed.kept if prompt_block.imitates_lines(slot.text)],
            **({"closed": pack(packed.kept, settings.budget).text} if lost else {}),
        }
    return out


def _markers(
    settings: EngineSettings,
    scope: Scope,
    chosen: TierSelection,
    validation: dict[str, Any],
    packed: PackedBlock | None,
) -> list[dict[str, Any]]:
    """The log lines that the program writes for such a recall."""
    rules, fallback = settings.scopes, chosen.fallback
    markers: list[dict[str, Any]] = []
    if scope.invalid or scope.normalized:
        markers.append({"marker": f"{MARKER}:scopeValidation", "scope": scope.scope, **validation})
    if fallback.consulted and rules.fallback_marker:
        markers.append(
            {
                "marker": f"{MARKER}:scopeFallback",
                "scope": scope.scope,
                "consultedScopes": list(fallback.consulted),
                "usedScopes": list(fallback.used),
                "contributed": fallback.contributed,
            }
        )
    if fallback.suppressed == "invalid_scope":
        markers.append(
            {
                "marker": f"{MARKER}:scopeFallbackSuppressed",
                "scope": scope.scope,
                "reason": fallback.suppressed,
                "validationMode": rules.validation_mode,
            }
        )
    if packed is not None and packed.receipt["truncated"]:
        keys = ("beforeChars", "afterChars", "droppedIds", "droppedCount", "truncatedChars")
        markers.append({"marker": f"{MARKER}:contextBudget", **{key: packed.receipt[key] for key in keys}})
    return markers


NAME = "mem-engine"

HOOK = "auto-recall"

NO_AGENTS = "the policy of openclaw-mem-engine knows scopes and no agents"
"""Why naming an agent changes nothing."""

PACKINGS = 3
"""How often the block is packed: the receipt in front of it names how many memories it holds."""


def run(
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request` as the memory_recall tool, or as the hook when its source is auto-recall.

    Scopes: None lets the question's own tag or the default scope decide; the first of several is the primary
    one, the others are its fallbacks; none at all denies everything. Raises UsageError for a limit outside 1 to
    50 and a vector that does not fit, ConfigError for a setting.
    """
    asked = replace(request, config=_config(request, context))
    engine = _Engine(asked, outside, context.now_ms, on_stage, cancel)
    engine.findings += _unread(context)
    return replace(engine.trace(), request=request)


def _config(request: RecallRequest, context: RecallContext) -> Mapping[str, Any] | None:
    """What was asked for over what the store's own plugin is configured with; another plugin's keys are not read."""
    return configured(request.config, context.auto_recall) if _is_own(context) else request.config


def _is_own(context: RecallContext) -> bool:
    return context.store.dialect.can.default_recipe == NAME


def _unread(context: RecallContext) -> tuple[str, ...]:
    """What the plugin's configuration says in vain."""
    return unread_keys(context.auto_recall) if _is_own(context) else ()


def prompt_gate(request: RecallRequest, context: RecallContext) -> str:
    """The rule by which the hook does not recall for a prompt, under the program's settings; empty where it does."""
    rules = resolve_engine(_config(request, context))[0].hook
    skip = prompt_block.skip_reason(
        request.query, skip_trivial=rules.skip_trivial, min_chars=rules.trivial_min_chars
    )
    return skip or ""


def resolve(request: RecallRequest, context: RecallContext) -> Resolved:
    """The settings as the program clamps them, and findings. ConfigError for one that does not exist."""
    rules, findings = resolve_engine(_config(request, context))
    return {BLOCK: rules.as_block()}, (*findings, *_unread(context))


def _asker(request: RecallRequest, context: RecallContext) -> tuple[RecallRequest, Asker]:
    return by_own_rules(request, "asked by the tool: the scope of its policy")


class _Engine:
    """The state of one recall while it is made."""

    def __init__(
        self,
        request: RecallRequest,
        outside: IoCache,
        now_ms: int,
        on_stage: OnStage | None,
        cancel: CancelToken | None,
    ) -> None:
        self.request, self.outside, self.pin = request, outside, outside.pin
        self.hook = request.source == HOOK
        if not trim(request.query) and not request.lanes and not self.hook:
            raise UsageError("The question is empty.", fix="Type what the agent would ask.")
        self.now_ms = now_ms if request.now_ms is None else request.now_ms
        self.settings, self.findings = resolve_engine(request.config)
        usual = self.settings.hook.max_items if self.hook else TOOL_LIMIT
        self.limit = usual if request.limit is None else request.limit
        if not 1 <= self.limit <= MOST:
            raise UsageError(f"A limit of {self.limit} makes no sense.", fix=f"Ask for 1 to {MOST} memories.")
        multiplier = self.settings.hook.multiplier
        self.lane_limit = hook_limit(self.limit, multiplier) if self.hook else lane_limit(self.limit)
        self.on_stage = on_stage or (lambda summary: None)
        self.cancel = cancel or CancelToken()
        self.warnings: list[str] = []
        self.operations: list[StageSummary] = []
        self.provider_down = False
        self.vector: Floats | None = None
        self.trust_mode: trust.Mode = self.settings.trust_mode
        self.searched: list[tuple[TierLanes, list[tuple[str, float]]]] = []
        self.lane_ms = 0.0
        self.started = outside.clock()
        self.scope = self._scope()

    def trace(self) -> Trace:
        """Decide whether to ask, search tier by tier, select, pack, tell."""
        rules = self.settings.hook
        skip = (
            prompt_block.skip_reason(
                self.request.query, skip_trivial=rules.skip_trivial, min_chars=rules.trivial_min_chars
            )
            if self.hook
            else None
        )
        if skip:
            self.warnings.append(f"the hook does not recall for this prompt ({skip.replace('_', ' ')})")
        denied = self.request.scopes is not None and not self.request.scopes
        chosen = selection.TierSelection() if skip or denied else self._select()
        if self.provider_down:
            rejected = {*chosen.rejected, "provider_unavailable"}
            chosen = replace(chosen, rejected=tuple(r for r in selection.REASONS if r in rejected))
        stored = {each: row for lanes, _ in self.searched for each, row in lanes.stored.items()}
        guarded = self._guarded(chosen, stored)
        final = [each for each in chosen.taken if each.hit.id not in guarded]
        story = self._story(chosen, final, stored, skip)
        packed, story = self._packed(final, stored, story, skip)
        admitted = frozenset(each for each in stored if self._admits(stored[each]))
        told = StageRecorder(
            self.searched,
            chosen,
            self.trust_mode,
            admitted,
            guarded,
            packed,
            self.limit,
            self.lane_limit,
        )
        account = StageAccount(
            told,
            now_ms=self.now_ms,
            table_rows=self.pin.rows,
            lane_ms=self.lane_ms,
            clock=self.outside.clock,
        )
        records = account.stages()
        for record in records:
            self.on_stage(record.summary())
        return Trace(
            query=self.request.query,
            recipe=NAME,
            mode="keyword" if self.provider_down else "hybrid",
            source=HOOK if self.hook else None if self.request.source is UNSET else self.request.source,
            config={BLOCK: self.settings.as_block()},
            now_ms=self.now_ms,
            limit=self.limit,
            filters=filters_of(self.request),
            bm25_query=self.request.query,
            pool=account.pool,
            records=tuple(records),
            operations=tuple(self.operations),
            warnings=tuple(dict.fromkeys(self.warnings)),
            findings=self.findings,
            total_ms=(self.outside.clock() - self.started) * 1000,
            load_memories=self._memories,
            table_version=self.pin.version,
            request=self.request,
            query_vector=self.vector,
            outside=self.outside.live(),
            prover=prove_engine,
            matcher=words_met_in,
            asker=self._asker(),
            extra=extra(self.settings, self.scope, chosen, story, packed, hook=self.hook, limit=self.limit),
        )

    def _asker(self) -> Asker:
        """The scopes that the policy makes of the call, the primary one first, and how to ask another."""
        scopes = () if self.request.scopes is not None and not self.request.scopes else self._scopes()[0]
        how = {
            "explicit": "named",
            "inferred": "by the tag in the question",
            "global": "the policy's default",
        }
        then = f", then {', '.join(scopes[1:])}" if len(scopes) > 1 else ""
        words = (
            f"scope {scopes[0]} ({how[self.scope.mode]}){then}; name another to search it" if scopes else ""
        )
        asker = Asker("", "own-rules", scopes, words or "no scope may be searched")
        agent = self.request.agent.strip()
        return uncounted(asker, agent, NO_AGENTS) if agent else asker

    def _scope(self) -> scope_rules.Scope:
        scopes = self.request.scopes
        return scope_rules.resolve(scopes[0] if scopes else None, self.request.query, self.settings.scopes)

    def _scopes(self) -> tuple[tuple[str, ...], str | None]:
        """The scopes in the order in which they are asked, and why no fallback is among them."""
        if self.request.scopes and len(self.request.scopes) > 1:
            return scope_rules.plan(self.scope.scope, self.request.scopes[1:]), None
        return scope_rules.searched(self.scope.scope, self.settings.scopes, invalid=self.scope.invalid)

    def _select(self) -> selection.TierSelection:
        vector = self.vector = self._vector()
        scopes, suppressed = self._scopes()
        chosen = self._selected(scopes, suppressed, vector)
        if self.trust_mode == "prefer_trusted" and not chosen.taken:
            self.trust_mode, self.searched = "exclude_quarantined", []  # nothing trusted was found
            chosen = self._selected(scopes, suppressed, vector)
        return chosen

    def _selected(
        self, scopes: Sequence[str], suppressed: str | None, vector: Floats | None
    ) -> selection.TierSelection:
        tiers = list(TIERS)
        rules = self.settings.hook
        if self.hook:
            tiers = tiers[: 3 if rules.include_unknown else 2]

        def search(scope: str, wanted: Sequence[str]) -> list[selection.TierHit]:
            return self._tier(scope, wanted, vector)

        if self.hook and rules.mode == "tier_quota_v1":
            return selection.tier_quota(
                search, scopes, tiers, self.limit, rules.quotas, suppressed=suppressed
            )
        return selection.tier_first(search, scopes, tiers, self.limit, suppressed=suppressed)

    def _tier(self, scope: str, wanted: Sequence[str], vector: Floats | None) -> list[selection.TierHit]:
        """Both searches of one tier, fused."""
        self.cancel.check()
        start = self.outside.clock()
        recorded = self.request.lanes
        lanes = tier_lanes(
            self.outside,
            self.request.query,
            vector,
            scope=scope,
            wanted=wanted,
            limit=self.lane_limit,
            recorded=None
            if recorded is None
            else {name: [(item[0], float(item[1])) for item in items] for name, items in recorded.items()},
        )
        self.lane_ms += (self.outside.clock() - start) * 1000
        self.warnings += lanes.failed
        ids = [[hit.row.id for hit in lane] for lane in (lanes.words, lanes.vector)]
        fused = reciprocal_ranks(ids, limit=self.lane_limit)
        self.searched.append((lanes, fused))
        return [
            selection.TierHit(each, score, float(lanes.stored[each].row.timestamp_ms))
            for each, score in fused
            if self._admits(lanes.stored[each])
        ]

    def _admits(self, stored: TierRow) -> bool:
        return trust.passes(trust.tier_of(stored.trust), self.trust_mode)

    def _vector(self) -> Floats | None:
        if self.request.lanes is not None:
            self.provider_down = "vector" not in self.request.lanes
            return None
        asked = replace(self.request, query=self.settings.clip.clip(self.request.query))
        if asked.query != self.request.query:
            self.warnings.append(
                f"only the first and last of the question are embedded: {len(asked.query):,} characters"
            )
        answer = question_vector(asked, self.outside, needed=False)
        self.warnings += answer.warnings
        if answer.operation is not None:
            self.operations.append(answer.operation)
            self.on_stage(answer.operation)
        check_dims(answer.vector, self.pin.dims)
        self.provider_down = answer.vector is None
        return answer.vector

    def _guarded(self, chosen: selection.TierSelection, stored: dict[str, TierRow]) -> dict[str, str]:
        """What the hook leaves out of the prompt, with the reason; nothing for the tool."""
        if not self.hook:
            return {}
        days = self.settings.todo_days
        why = {
            each.hit.id: guard(
                each.hit.id,
                stored[each.hit.id].row.category,
                each.hit.created_ms,
                now_ms=self.now_ms,
                ttl_days=days,
            )
            for each in chosen.taken
        }
        return {each: reason for each, reason in why.items() if reason}

    def _story(
        self,
        chosen: selection.TierSelection,
        final: Sequence[selection.SelectedTier],
        stored: dict[str, TierRow],
        skip: str | None,
    ) -> receipt.ReceiptInput:
        rules = self.settings.hook
        reason = None if skip is None else "no_query" if skip == "no_query" else "trivial_prompt"
        quota = None
        if self.hook and not skip and rules.mode == "tier_quota_v1":
            q = rules.quotas
            quota = {
                "mustMax": q.must_max,
                "niceMin": q.nice_min,
                "unknownMax": q.unknown_max,
                "wildcardUsed": chosen.wildcards,
            }
        parts: dict[str, Any] = {} if skip else {"fallback": chosen.fallback.as_json()}
        if self.hook and not skip:
            parts["workingSet"] = receipt.NO_WORKING_SET
        tiers = [receipt.ReceiptTier(c.tier, c.labels, c.candidates, c.selected) for c in chosen.counts]
        return receipt.ReceiptInput(
            scope=self.scope.scope,
            scope_mode=self.scope.mode,
            skip_reason=reason,
            rejected=(*chosen.rejected, *([reason] if reason else [])),
            tiers=tiers,
            fts=[(hit.row.id, hit.score) for lanes, _ in self.searched for hit in lanes.words],
            vector=[
                (hit.row.id, hit.score, hit.raw or 0.0) for lanes, _ in self.searched for hit in lanes.vector
            ],
            fused=[receipt.Fused(each.hit.id, stored[each.hit.id].label, each.scope) for each in final],
            injected=len(final),
            selection_mode=rules.mode if self.hook and not skip else None,
            quota=quota,
            parts=parts,
        )

    def _packed(
        self,
        final: Sequence[selection.SelectedTier],
        stored: dict[str, TierRow],
        story: receipt.ReceiptInput,
        skip: str | None,
    ) -> tuple[PackedBlock | None, receipt.ReceiptInput]:
        """The block as the program sends it, and the story with what really went in."""
        if not self.hook or skip:
            return None, story
        slots = [
            BlockItem(
                each.hit.id,
                each.hit.created_ms,
                stored[each.hit.id].row.category or "other",
                stored[each.hit.id].label,
                stored[each.hit.id].row.text,
            )
            for each in final
        ]
        rules = self.settings.receipts
        packed = pack(slots, self.settings.budget, close_tag=False)
        for _ in range(PACKINGS):
            shown = rules.enabled and rules.verbosity == "high"
            comment = receipt.comment(receipt.lifecycle(story, rules)) if shown else ""
            packed = pack(slots, self.settings.budget, comment=comment, close_tag=False)
            if len(packed.kept) == story.injected:
                break
            story = replace(story, injected=len(packed.kept))
        return packed, replace(story, parts={**story.parts, "budget": packed.receipt})

    def _memories(self, pool: CandidatePool) -> dict[str, Memory]:
        table = whole_rows(self.pin, [row.id for row in pool.rows])
        return {memory.id: memory for memory in self.pin.dialect.to_memories(table, self.now_ms)}


PROTOCOL = 1

RECIPES = (
    Recipe(
        NAME,
        "openclaw-mem-engine",
        "Tier by tier of importance, meaning and words fused by rank; scopes with fallback, receipts, no decay.",
        TOOL_LIMIT,
        run=run,
        asker=_asker,
        resolve=resolve,
        prompt_gate=prompt_gate,
        knobs=KNOBS,
        idle=idle,
        block=BLOCK,
        own_scale=True,
        hook="auto-recall",
        family=NAME,
        scope_by_scope=True,
        unfiltered="its policy's: the question's tag or default",
        prompt="its own",
        prompt_block=prompt_block.hook_block,
        prompt_gates=("prompt_chars",),
    ),
)
