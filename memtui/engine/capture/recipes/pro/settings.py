"""The plugin's configuration of its write side, resolved as its code resolves it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.capture.stages.admission import Admission, admission_config
from memtui.engine.capture.stages.boundary import Boundary
from memtui.engine.core.errors import ConfigError
from memtui.engine.core.javascript import number, trim, whole
from memtui.engine.recall.prompt_lines import PromptBlockSettings, settings_of

DEFAULT_BATCH = 10

MOST_BATCH = 50

_VARIABLE = re.compile(r"\$\{([^}]+)\}")

_MODES = ("full", "summary", "adaptive", "off")

_STRATEGIES = ("memoryReflection", "systemSessionMemory", "none")

_INJECT = ("inheritance-only", "inheritance+derived")

_THINK = ("off", "minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class ReflectionSettings:
    """The `memoryReflection` block."""

    enabled: bool = False
    store: bool = False
    legacy: bool = False
    inject_mode: str = "inheritance+derived"
    agent: str | None = None
    model: str | None = None
    message_count: int = 120
    max_chars: int = 24_000
    timeout_ms: int = 20_000
    think_level: str = "medium"
    error_entries: int = 3
    dedupe_errors: bool = True
    cooldown_ms: int = 120_000
    most_runs: int = 1
    exclude_agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """The `selfImprovement` block."""

    enabled: bool = False
    before_reset_note: bool = True
    skip_subagents: bool = True
    ensure_files: bool = True
    max_entries: int = 500


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """The `memoryCompaction` block."""

    enabled: bool = False
    min_age_days: int = 7
    similarity: float = 0.88
    min_cluster: int = 2
    most_rows: int = 200
    cooldown_hours: int = 24


@dataclass(frozen=True, slots=True)
class ProSettings:
    """Everything that the write side reads."""

    auto_capture: bool = True
    auto_recall: bool = False
    smart_extraction: bool = True
    min_messages: int = 4
    max_chars: int = 8000
    batch_size: int | None = None
    capture_assistant: bool = False
    manual_supersede: bool = False
    strategy: str = "none"
    learning: LearningSettings | None = None
    reflection: ReflectionSettings = field(default_factory=ReflectionSettings)
    mirror: Mapping[str, Any] | None = None
    compaction: CompactionSettings | None = None
    compression: bool = False
    compression_score: float = 0.3
    skip_low_value: bool = False
    per_hour: int = 30
    admission: Admission = field(default_factory=lambda: admission_config(None))
    boundary: Boundary | None = None
    recall_mode: str = "full"
    recall_items: int = 3
    recall_chars: int = 600
    recall_item_chars: int = 180
    recall_repeat: int = 8
    recall_timeout_ms: int = 5000
    recall_per_turn: int = 10
    recall_query: int = 2000
    management_tools: bool = False
    session_messages: int = 15
    raw: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The settings under the plugin's own names."""
        reflection, learning, compaction = self.reflection, self.learning, self.compaction
        named = {
            "agentId": reflection.agent,
            "model": reflection.model,
            "excludeAgents": list(reflection.exclude_agents) or None,
        }
        return {
            "autoCapture": self.auto_capture,
            "autoRecall": self.auto_recall,
            "smartExtraction": self.smart_extraction,
            "extractMinMessages": self.min_messages,
            "extractMaxChars": self.max_chars,
            "batchChunkSize": self.batch_size,
            "captureAssistant": self.capture_assistant,
            "manualStoreSupersede": self.manual_supersede,
            "sessionStrategy": self.strategy,
            "selfImprovement": learning
            and {
                "enabled": learning.enabled,
                "beforeResetNote": learning.before_reset_note,
                "skipSubagentBootstrap": learning.skip_subagents,
                "ensureLearningFiles": learning.ensure_files,
                "maxEntries": learning.max_entries,
            },
            "memoryReflection": {
                "enabled": reflection.enabled,
                "storeToLanceDB": reflection.store,
                "writeLegacyCombined": reflection.legacy,
                "injectMode": reflection.inject_mode,
                "messageCount": reflection.message_count,
                "maxInputChars": reflection.max_chars,
                "timeoutMs": reflection.timeout_ms,
                "thinkLevel": reflection.think_level,
                "errorReminderMaxEntries": reflection.error_entries,
                "dedupeErrorSignals": reflection.dedupe_errors,
                "serialCooldownMs": reflection.cooldown_ms,
                "maxConcurrentRuns": reflection.most_runs,
                **{key: value for key, value in named.items() if value is not None},
            },
            "mdMirror": self.mirror,
            "memoryCompaction": compaction
            and {
                "enabled": compaction.enabled,
                "minAgeDays": compaction.min_age_days,
                "similarityThreshold": compaction.similarity,
                "minClusterSize": compaction.min_cluster,
                "maxMemoriesToScan": compaction.most_rows,
                "cooldownHours": compaction.cooldown_hours,
            },
            "sessionCompression": {"enabled": self.compression, "minScoreToKeep": self.compression_score},
            "extractionThrottle": {
                "skipLowValue": self.skip_low_value,
                "maxExtractionsPerHour": self.per_hour,
            },
            "recallMode": self.recall_mode,
            "autoRecallMaxItems": self.recall_items,
            "autoRecallMaxChars": self.recall_chars,
            "autoRecallPerItemMaxChars": self.recall_item_chars,
            "autoRecallMinRepeated": self.recall_repeat,
            "autoRecallTimeoutMs": self.recall_timeout_ms,
            "maxRecallPerTurn": self.recall_per_turn,
            "autoRecallMaxQueryLength": self.recall_query,
            "workspaceBoundary": self.boundary
            and {
                "userMdExclusive": {
                    "enabled": self.boundary.enabled,
                    "routeProfile": self.boundary.profile,
                    "routeCanonicalName": self.boundary.name,
                    "routeCanonicalAddressing": self.boundary.addressing,
                    "filterRecall": self.boundary.filter_recall,
                }
            },
        }

    @property
    def batch(self) -> int:
        """Items that one call to the model is about at most."""
        return self.batch_size or DEFAULT_BATCH

    @property
    def exclusive(self) -> Boundary:
        """The boundary, switched off where there is none."""
        return self.boundary or Boundary()

    @property
    def prompt(self) -> PromptBlockSettings:
        """What auto-recall asks for and puts into a prompt, within the plugin's own bounds."""
        return settings_of(
            {
                "recallMode": self.recall_mode,
                "autoRecallMaxItems": self.recall_items,
                "maxRecallPerTurn": self.recall_per_turn,
                "autoRecallMaxChars": self.recall_chars,
                "autoRecallPerItemMaxChars": self.recall_item_chars,
                "autoRecallMinRepeated": self.recall_repeat,
            }
        )


def plugin_config(given: Any, environ: Mapping[str, str] | None = None) -> ProSettings:
    """The settings of a plugin configuration; what is missing or unusable has the code's default."""
    block = given if isinstance(given, Mapping) else {}
    read = _Reader(environ if environ is not None else os.environ)
    count = read.whole
    session = _block(block, "sessionMemory")
    strategy = block.get("sessionStrategy")
    if strategy not in _STRATEGIES:
        old = isinstance(session, Mapping) and session.get("enabled") is True
        strategy = "systemSessionMemory" if old else "none"
    throttle = _block(block, "extractionThrottle") or {}
    compression = _block(block, "sessionCompression") or {}
    per_hour = throttle.get("maxExtractionsPerHour")
    numeric = isinstance(per_hour, int | float) and not isinstance(per_hour, bool) and per_hour > 0
    score = compression.get("minScoreToKeep")
    numeric_score = isinstance(score, int | float) and not isinstance(score, bool)
    batch = count(block.get("batchChunkSize"), None)
    mirror = _block(block, "mdMirror")
    mode = block.get("recallMode")
    return ProSettings(
        auto_capture=block.get("autoCapture") is not False,
        auto_recall=block.get("autoRecall") is True,
        smart_extraction=block.get("smartExtraction") is not False,
        min_messages=count(block.get("extractMinMessages"), 4),
        max_chars=count(block.get("extractMaxChars"), 8000),
        batch_size=None if batch is None else min(MOST_BATCH, batch),
        capture_assistant=block.get("captureAssistant") is True,
        manual_supersede=block.get("manualStoreSupersede") is True,
        strategy=strategy,
        learning=_learning(_block(block, "selfImprovement"), read),
        reflection=_reflection(_block(block, "memoryReflection"), strategy == "memoryReflection", read),
        mirror=None if mirror is None else {**_mirror(mirror)},
        compaction=_compaction(_block(block, "memoryCompaction"), read),
        compression=compression.get("enabled") is True,
        compression_score=min(1.0, max(0.0, float(score))) if numeric_score and score is not None else 0.3,
        skip_low_value=throttle.get("skipLowValue") is True,
        per_hour=int(per_hour) if numeric and per_hour is not None else 30,
        admission=admission_config(block.get("admissionControl")),
        boundary=_boundary(_block(block, "workspaceBoundary")),
        recall_mode=mode if mode in _MODES else "full",
        recall_items=count(block.get("autoRecallMaxItems"), 3),
        recall_chars=count(block.get("autoRecallMaxChars"), 600),
        recall_item_chars=count(block.get("autoRecallPerItemMaxChars"), 180),
        recall_repeat=count(block.get("autoRecallMinRepeated"), 8),
        recall_timeout_ms=count(block.get("autoRecallTimeoutMs"), 5000),
        recall_per_turn=count(block.get("maxRecallPerTurn"), 10),
        recall_query=min(10_000, max(100, count(block.get("autoRecallMaxQueryLength"), 2000))),
        management_tools=block.get("enableManagementTools") is True,
        session_messages=count((session or {}).get("messageCount"), 15),
        raw=block,
    )


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def whole(self, value: Any, default: Any) -> Any:
        """A whole number above 0, from a number or a text that may name variables."""
        if isinstance(value, bool):
            return default
        if isinstance(value, str):
            text = trim(_VARIABLE.sub(lambda match: self._environ.get(match[1], ""), value))
            n = number(text) if text else math.nan
        elif isinstance(value, int | float):
            n = float(value)
        else:
            return default
        return int(n) if math.isfinite(n) and n >= 1 else default


def _block(given: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    found = given.get(name)
    return found if isinstance(found, Mapping) else None


def _mirror(block: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"enabled": block.get("enabled") is True}
    if isinstance(block.get("dir"), str):
        found["dir"] = block["dir"]
    return found


def _learning(block: Mapping[str, Any] | None, read: _Reader) -> LearningSettings | None:
    if block is None:
        return None
    return LearningSettings(
        enabled=block.get("enabled") is True,
        before_reset_note=block.get("beforeResetNote") is not False,
        skip_subagents=block.get("skipSubagentBootstrap") is not False,
        ensure_files=block.get("ensureLearningFiles") is not False,
        max_entries=read.whole(block.get("maxEntries"), 500),
    )


def _reflection(block: Mapping[str, Any] | None, enabled: bool, read: _Reader) -> ReflectionSettings:
    given = block or {}
    excluded = given.get("excludeAgents")
    mode, think = given.get("injectMode"), given.get("thinkLevel")

    def text(name: str) -> str | None:
        value = given.get(name)
        return trim(value) or None if isinstance(value, str) else None

    return ReflectionSettings(
        enabled=enabled,
        store=enabled and given.get("storeToLanceDB") is not False,
        legacy=given.get("writeLegacyCombined") is True,
        inject_mode=mode if mode in _INJECT else "inheritance+derived",
        agent=text("agentId"),
        model=text("model"),
        message_count=read.whole(given.get("messageCount"), 120),
        max_chars=read.whole(given.get("maxInputChars"), 24_000),
        timeout_ms=read.whole(given.get("timeoutMs"), 20_000),
        think_level=think if think in _THINK else "medium",
        error_entries=read.whole(given.get("errorReminderMaxEntries"), 3),
        dedupe_errors=given.get("dedupeErrorSignals") is not False,
        cooldown_ms=read.whole(given.get("serialCooldownMs"), 120_000),
        most_runs=read.whole(given.get("maxConcurrentRuns"), 1),
        exclude_agents=tuple(each for each in excluded if isinstance(each, str))
        if isinstance(excluded, list)
        else (),
    )


def _compaction(block: Mapping[str, Any] | None, read: _Reader) -> CompactionSettings | None:
    if block is None:
        return None
    near = block.get("similarityThreshold")
    numeric = isinstance(near, int | float) and not isinstance(near, bool)
    return CompactionSettings(
        enabled=block.get("enabled") is True,
        min_age_days=read.whole(block.get("minAgeDays"), 7),
        similarity=min(1, max(0, near)) if numeric and near is not None else 0.88,
        min_cluster=read.whole(block.get("minClusterSize"), 2),
        most_rows=read.whole(block.get("maxMemoriesToScan"), 200),
        cooldown_hours=read.whole(block.get("cooldownHours"), 24),
    )


def _boundary(block: Mapping[str, Any] | None) -> Boundary | None:
    if block is None:
        return None
    given = _block(block, "userMdExclusive")
    if given is None:
        return Boundary()
    return Boundary(
        enabled=given.get("enabled") is True,
        profile=given.get("routeProfile") is not False,
        name=given.get("routeCanonicalName") is not False,
        addressing=given.get("routeCanonicalAddressing") is not False,
        filter_recall=given.get("filterRecall") is not False,
    )


# ---------------------------------------------------------------- dreaming

_CRON = re.compile(r"([0-9]{1,2})\s+([0-9]{1,2})\s+\*\s+\*\s+\*")

DEFAULT_CRON = "0 3 * * *"

_SOURCES = (
    "daily", "sessions", "recall", "logs", "memory", "deep", "manual", "auto-capture", "reflection",
    "dreaming-engine", "session-summary", "legacy", "profile", "preferences", "entities", "events", "cases",
    "patterns", "preference", "fact", "decision", "entity", "other",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DreamingSettings:
    """The `dreaming` block."""

    enabled: bool = False
    frequency: str = DEFAULT_CRON
    timezone: str | None = None
    verbose: bool = False
    light: Mapping[str, Any] = field(default_factory=dict)
    deep: Mapping[str, Any] = field(default_factory=dict)
    rem: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The settings under the plugin's own names."""
        zone = {} if self.timezone is None else {"timezone": self.timezone}
        return {
            "enabled": self.enabled,
            "frequency": self.frequency,
            **zone,
            "verboseLogging": self.verbose,
            "phases": {"light": dict(self.light), "deep": dict(self.deep), "rem": dict(self.rem)},
        }


def daily_cron(expression: str | None) -> tuple[int, int] | None:
    """(minute, hour) of a daily schedule; None for what is none. Empty is 03:00."""
    text = trim(expression or "") or DEFAULT_CRON
    if text == "@daily":
        return 0, 0
    match = _CRON.fullmatch(text)
    if match is None:
        return None
    minute, hour = int(match[1]), int(match[2])
    return (minute, hour) if minute < 60 and hour < 24 else None


def dreaming_delay_ms(expression: str, zone: str | None, now_ms: int) -> int:
    """Milliseconds until the schedule is due next; a day for a schedule that is none."""
    from datetime import UTC, datetime, timedelta
    from zoneinfo import ZoneInfo

    due = daily_cron(expression)
    if due is None:
        return 86_400_000
    try:
        here = ZoneInfo(zone) if zone else UTC
    except (ValueError, OSError, KeyError):
        here = UTC
    now = datetime.fromtimestamp(now_ms / 1000, here)
    today = now.replace(minute=due[0], hour=due[1], second=0, microsecond=0)
    wait = today - now
    if wait <= timedelta(0):
        wait += timedelta(days=1)
    return round(wait.total_seconds() * 1000)


def dreaming_config(given: Any) -> DreamingSettings:
    """The settings of a `dreaming` block. Raises ConfigError for a schedule, while it is on, or a source that is none.

    Numbers may be texts, as the plugin reads them here and nowhere else.
    """
    block = given if isinstance(given, Mapping) else {}
    frequency = block.get("frequency")
    frequency = trim(frequency) if isinstance(frequency, str) and trim(frequency) else DEFAULT_CRON
    if block.get("enabled") is True and daily_cron(frequency) is None:
        raise ConfigError(
            f"{frequency} is no daily schedule.", path="dreaming.frequency", fix="Write it as 0 3 * * *."
        )
    phases = _block(block, "phases") or {}
    light, deep, rem = (_block(phases, name) or {} for name in ("light", "deep", "rem"))
    zone = block.get("timezone")
    return DreamingSettings(
        enabled=block.get("enabled") is True,
        frequency=frequency,
        timezone=(trim(zone) or None) if isinstance(zone, str) else None,
        verbose=block.get("verboseLogging") is True,
        light={
            "enabled": light.get("enabled") is not False,
            "lookbackDays": _count(light.get("lookbackDays"), 2),
            "limit": _count(light.get("limit"), 100),
            "dedupeSimilarity": _share(light.get("dedupeSimilarity"), 0.92),
            **_sources(light, "light"),
        },
        deep={
            "enabled": deep.get("enabled") is not False,
            "limit": _count(deep.get("limit"), 10),
            "minScore": _share(deep.get("minScore"), 0.6),
            "minRecallCount": _count(deep.get("minRecallCount"), 3),
            "minUniqueQueries": _count(deep.get("minUniqueQueries"), 0),
            "recencyHalfLifeDays": _count(deep.get("recencyHalfLifeDays"), 14, above_zero=True),
            "maxAgeDays": _count(deep.get("maxAgeDays"), 90, above_zero=True),
            **_sources(deep, "deep"),
        },
        rem={
            "enabled": rem.get("enabled") is not False,
            "lookbackDays": _count(rem.get("lookbackDays"), 7),
            "limit": _count(rem.get("limit"), 10),
            "minPatternStrength": _share(rem.get("minPatternStrength"), 0.6),
            **_sources(rem, "rem"),
        },
    )


def _sources(block: Mapping[str, Any], phase: str) -> dict[str, list[str]]:
    listed = block.get("sources")
    if not isinstance(listed, list):
        return {}
    found = list(dict.fromkeys(trim(item).lower() for item in listed if isinstance(item, str) and trim(item)))
    for each in found:
        if each not in _SOURCES:
            raise ConfigError(
                f"{each} is no source of memories.",
                path=f"dreaming.phases.{phase}.sources",
                fix=f"Take from {', '.join(_SOURCES)}.",
            )
    return {"sources": found} if found else {}


def _count(value: Any, default: int, *, above_zero: bool = False) -> int:
    """The whole part of a number from 0 on; with `above_zero` 0 itself gives the default, and .5 does not."""
    n = _number(value)
    return whole(n) if n > 0 or (n == 0 and not above_zero) else default


def _share(value: Any, default: float) -> float:
    n = _number(value)
    return default if math.isnan(n) else min(1, max(0, n))


def _number(value: Any) -> float:
    """A finite number, given as one or as a text; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    if isinstance(value, str) and not trim(value):
        return math.nan
    n = number(value)
    return n if math.isfinite(n) else math.nan
