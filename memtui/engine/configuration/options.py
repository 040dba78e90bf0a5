"""The settings that memory-lancedb-pro knows: their form, range, default and meaning.

The installed plugin's own manifest wins where it is found; this copy serves where it is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from memtui.engine.core.errors import UsageError

Kind = Literal["text", "number", "whole", "yes-no", "choice", "texts", "key", "object"]


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """One setting. `low` and `high` are its range; `note` says what a person would not expect."""

    path: str
    kind: Kind
    default: Any = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    meaning: str = ""
    note: str = ""

    @property
    def range(self) -> str:
        """The values that the option may have, in words."""
        if self.choices:
            return ", ".join(self.choices)
        if self.low is None and self.high is None:
            return {"yes-no": "true, false", "texts": "a list of texts", "whole": "a whole number"}.get(
                self.kind, self.kind
            )
        return f"{self.low:g} to {self.high:g}" if self.high is not None else f"{self.low:g} or more"

    def read(self, text: str) -> Any:
        """A typed value: `REMOVED` for nothing (the default counts), else of the option's kind and in its range.

        Raises UsageError that names the range.
        """
        from memtui.engine.configuration.file import REMOVED

        words = text.strip()
        if not words:
            return REMOVED
        fix = f"{self.path}, allowed: {self.range}." + (
            f" Default: {self.default}." if self.default is not None else ""
        )
        wrong = UsageError(f"{words!r} is no value for {self.path}.", fix=fix)
        if self.kind == "yes-no":
            if words.lower() not in ("true", "false"):
                raise wrong
            return words.lower() == "true"
        if self.kind == "choice":
            if words not in self.choices:
                raise wrong
            return words
        if self.kind in ("number", "whole"):
            try:
                number = int(words) if self.kind == "whole" else float(words)
            except ValueError:
                raise wrong from None
            low, high = self.low, self.high
            if (
                not isfinite(number)
                or (low is not None and number < low)
                or (high is not None and number > high)
            ):
                raise wrong
            return int(number) if number == int(number) else number
        if self.kind == "texts":
            return [part for each in words.split(",") if (part := each.strip())]
        if self.kind == "object":
            return _read_object(words, wrong)
        return words


def _read_object(words: str, wrong: UsageError) -> Any:
    from memtui.engine.configuration.json5_text import Json5Error, parse

    try:
        value = parse(words).plain()
    except Json5Error:
        raise wrong from None
    if not isinstance(value, dict):
        raise wrong
    return value


_NEVER = "agents never read it: only the plugin's own command line does"

_DREAM = "read only while dreaming is on"


def _number(
    path: str, default: Any, low: float | None, high: float | None, meaning: str = "", note: str = ""
) -> ConfigOption:
    return ConfigOption(path, "number", default, low, high, meaning=meaning, note=note)


def _whole(
    path: str, default: Any, low: float | None, high: float | None, meaning: str = "", note: str = ""
) -> ConfigOption:
    return ConfigOption(path, "whole", default, low, high, meaning=meaning, note=note)


def _yes(path: str, default: Any, meaning: str = "", note: str = "") -> ConfigOption:
    return ConfigOption(path, "yes-no", default, meaning=meaning, note=note)


def _text(path: str, default: Any = None, meaning: str = "", note: str = "") -> ConfigOption:
    return ConfigOption(path, "text", default, meaning=meaning, note=note)


def _choice(
    path: str, default: Any, choices: tuple[str, ...], meaning: str = "", note: str = ""
) -> ConfigOption:
    return ConfigOption(path, "choice", default, choices=choices, meaning=meaning, note=note)


_REDIS = "memtui only reads a store whose writers lock by Redis"

_PRESENT = "only where the block is there: without it nothing is kept"

_REFLECT = "read only with sessionStrategy memoryReflection"

_ONLY_TRUE = "read only with sessionStrategy memoryReflection, and only when it says true"

_BOUNDARY = "read only while userMdExclusive is enabled"

_ADMIT = "read only while admissionControl is enabled"

_HINT = "agents never act on it: above or below, the candidate is compared and stored the same way"

_BLOCK = (
    "its inner settings are not known here: an installed plugin's own schema names them; else a JSON5 object"
)


def _execution(lead: str) -> tuple[ConfigOption, ...]:
    """How a phase of dreaming asks its model."""
    return (
        _choice(f"{lead}.speed", None, ("fast", "balanced", "slow"), "how much haste", _DREAM),
        _choice(f"{lead}.thinking", None, ("low", "medium", "high"), "how hard the model thinks", _DREAM),
        _choice(f"{lead}.budget", None, ("cheap", "medium", "expensive"), "what it may cost", _DREAM),
        _text(f"{lead}.model", None, "the model", _DREAM),
        _whole(f"{lead}.maxOutputTokens", None, 1, None, "length of its reply", _DREAM),
        _number(f"{lead}.temperature", None, 0, 2, "how free it is", _DREAM),
        _whole(f"{lead}.timeoutMs", None, 1_000, None, "milliseconds for a request", _DREAM),
    )


def _sources(phase: str, names: tuple[str, ...]) -> ConfigOption:
    meaning = f"fields compared: {', '.join(names)}"
    return ConfigOption(f"dreaming.phases.{phase}.sources", "texts", meaning=meaning, note=_DREAM)


OPTIONS: tuple[ConfigOption, ...] = (
    _choice(
        "embedding.provider", None, ("openai-compatible", "azure-openai"), "form of the embedding service"
    ),
    ConfigOption(
        "embedding.apiKey", "key", meaning="key of the embedding service, or several that take turns"
    ),
    _text("embedding.model", "text-embedding-3-small", "the model that makes the vectors"),
    _text("embedding.baseURL", None, "address of the embedding service, with its /v1"),
    _whole("embedding.dimensions", None, 1, None, "numbers in a vector: must be the table's"),
    _whole("embedding.requestDimensions", None, 1, None, "numbers to ask the service for"),
    _yes("embedding.omitDimensions", None, "never name a length to the service"),
    _text("embedding.taskQuery", None, "task named with questions"),
    _text("embedding.taskPassage", None, "task named with memories"),
    _yes("embedding.normalized", None, "ask for vectors of length 1"),
    _yes("embedding.chunking", True, "long texts become the mean of their pieces"),
    _yes("embedding.astChunking", False, "code is cut at its parts"),
    _whole("embedding.maxInputChars", None, 100, None, "longest text that is sent in one piece"),
    _whole("embedding.clientTimeoutMs", 30_000, 1, None, "milliseconds for one request"),
    _text("embedding.apiVersion", None, "Azure's version of its interface"),
    _text("dbPath", None, "folder of the store"),
    _yes("enableManagementTools", False, "tools to list, count and archive"),
    _yes("manualStoreSupersede", False, "a memory stored by hand may replace another"),
    _choice(
        "sessionStrategy",
        "none",
        ("memoryReflection", "systemSessionMemory", "none"),
        "what is made of a session's end",
    ),
    _yes("autoCapture", True, "memories are taken from conversations"),
    _yes(
        "autoRecall",
        False,
        "memories are injected into prompts",
        "off unless it is set: nothing is injected",
    ),
    _whole("autoRecallMinLength", 15, 1, 200, "shorter messages are not answered"),
    _whole("autoRecallMinRepeated", 8, 0, 100, "turns before a memory comes again", "0 is read as 8"),
    _whole("autoRecallTimeoutMs", 5_000, 500, 60_000, "milliseconds for the whole recall"),
    _whole("autoRecallMaxItems", 3, 1, 20, "memories injected in a turn"),
    _whole("autoRecallMaxChars", 600, 64, 8_000, "characters injected in a turn"),
    _whole(
        "autoRecallPerItemMaxChars", 180, 32, 1_000, "characters of one memory", "above 300 has no effect"
    ),
    _whole("autoRecallMaxQueryLength", 2_000, 100, 10_000, "characters of the question"),
    _whole("autoRecallBadRecallDecayMs", 86_400_000, 0, None, "how long a bad recall counts"),
    _whole("autoRecallSuppressionDurationMs", 1_800_000, 0, None, "how long a memory is held back"),
    _whole("maxRecallPerTurn", 10, 1, 50, "most memories in a turn, whatever else is set"),
    _choice("recallMode", "full", ("full", "summary", "adaptive", "off"), "how much of a memory is injected"),
    ConfigOption("autoRecallExcludeAgents", "texts", meaning="agents that are given nothing"),
    ConfigOption(
        "autoRecallIncludeAgents",
        "texts",
        meaning="the only agents that are given something",
        note="wins over the other list",
    ),
    _yes("captureAssistant", False, "the agent's own words are captured, too"),
    _yes("smartExtraction", True, "a language model finds the memories"),
    _whole("extractMinMessages", 4, 1, 100, "messages before something is extracted"),
    _whole("extractMaxChars", 8_000, 256, 100_000, "characters of a conversation sent to the model"),
    _choice("retrieval.mode", "hybrid", ("hybrid", "vector"), "words and meaning, or meaning alone"),
    _number("retrieval.vectorWeight", 0.7, 0, 1, "weight of meaning"),
    _number("retrieval.bm25Weight", 0.3, 0, 1, "weight of words"),
    _number("retrieval.minScore", 0.3, 0, 1, "lowest score before the other stages"),
    _number("retrieval.hardMinScore", 0.35, 0, 1, "lowest score at the end"),
    _choice(
        "retrieval.rerank",
        "cross-encoder",
        ("cross-encoder", "lightweight", "none"),
        "a second look at the candidates",
        "without a key cross-encoder is lightweight",
    ),
    ConfigOption("retrieval.rerankApiKey", "key", meaning="key of the reranking service"),
    _text(
        "retrieval.rerankModel",
        "jina-reranker-v3",
        "the model that reranks",
        "the same default for every provider",
    ),
    _text(
        "retrieval.rerankEndpoint",
        "https://api.jina.ai/v1/rerank",
        "address of the reranking service",
        "the same default for every provider",
    ),
    _whole("retrieval.rerankTimeoutMs", 5_000, 500, None, "milliseconds for reranking"),
    _choice(
        "retrieval.rerankProvider",
        "jina",
        ("jina", "siliconflow", "voyage", "pinecone", "dashscope", "tei"),
        "form of the reranking service",
    ),
    _whole("retrieval.candidatePoolSize", 20, 10, 100, "candidates considered", "above 20 has no effect"),
    _number("retrieval.recencyHalfLifeDays", 14, 0, 365, "age at which newness counts half", _NEVER),
    _number("retrieval.recencyWeight", 0.1, 0, 0.5, "weight of newness", _NEVER),
    _yes("retrieval.filterNoise", True, "empty phrases are left out"),
    _whole("retrieval.lengthNormAnchor", 500, 0, 5_000, "characters above which a memory loses score"),
    _number("retrieval.timeDecayHalfLifeDays", 60, 0, 365, "age at which a score is half", _NEVER),
    _number("retrieval.reinforcementFactor", 0.5, 0, 2, "how much use slows decay", _NEVER),
    _number("retrieval.maxHalfLifeMultiplier", 3, 1, 10, "how much at most", _NEVER),
    _yes("retrieval.disableNativeCosine", False, "likeness is worked out outside of the store"),
    _yes("retrieval.neighborEnrichment.enabled", False, "neighbours of a memory come with it"),
    _whole("retrieval.neighborEnrichment.maxPerResult", 2, 1, 5, "how many"),
    _number("decay.recencyHalfLifeDays", 30, 1, 365, "age at which recency is half"),
    _number("decay.recencyWeight", 0.4, 0, 1, "weight of recency"),
    _number("decay.frequencyWeight", 0.3, 0, 1, "weight of use"),
    _number("decay.intrinsicWeight", 0.3, 0, 1, "weight of importance"),
    _number("decay.staleThreshold", 0.3, 0, 1, "score below which a memory is stale", "nothing reads it"),
    _number("decay.searchBoostMin", 0.3, 0, 1, "lowest factor on a score"),
    _number("decay.importanceModulation", 1.5, 0, 10, "how much importance slows decay"),
    _number("decay.betaCore", 0.8, 0.1, 5, "steepness for core"),
    _number("decay.betaWorking", 1, 0.1, 5, "steepness for working"),
    _number("decay.betaPeripheral", 1.3, 0.1, 5, "steepness for peripheral"),
    _number("decay.coreDecayFloor", 0.9, 0, 1, "floor for core"),
    _number("decay.workingDecayFloor", 0.7, 0, 1, "floor for working"),
    _number("decay.peripheralDecayFloor", 0.5, 0, 1, "floor for peripheral"),
    _whole("tier.coreAccessThreshold", 10, 1, 1_000, "uses that make a memory core", _DREAM),
    _number("tier.coreCompositeThreshold", 0.7, 0, 1, "score that makes it core", _DREAM),
    _number("tier.coreImportanceThreshold", 0.8, 0, 1, "importance that makes it core", _DREAM),
    _number("tier.peripheralCompositeThreshold", 0.15, 0, 1, "score that makes it peripheral", _DREAM),
    _whole("tier.peripheralAgeDays", 60, 1, 3_650, "age that makes it peripheral", _DREAM),
    _whole("tier.workingAccessThreshold", 3, 1, 1_000, "uses that make it working", _DREAM),
    _number("tier.workingCompositeThreshold", 0.4, 0, 1, "score that makes it working", _DREAM),
    _yes(
        "sessionMemory.enabled",
        False,
        "older name for sessionStrategy",
        "sessionStrategy is the one that counts",
    ),
    _whole("sessionMemory.messageCount", 15, 1, 100, "messages of a session that are summed up"),
    ConfigOption("scopes.default", "text", "global", meaning="where a memory without a scope goes"),
    ConfigOption("scopes.definitions", "object", meaning="scopes that are known"),
    ConfigOption("scopes.agentAccess", "object", meaning="what each agent may read: it replaces the usual"),
    _choice("llm.auth", "api-key", ("api-key", "oauth"), "how the language model is asked"),
    ConfigOption("llm.apiKey", "key", meaning="key of the language model's service"),
    _text("llm.model", "openai/gpt-oss-120b", "the language model"),
    _text("llm.baseURL", None, "address of its service"),
    _text("llm.oauthProvider", None, "who signs in, with auth oauth"),
    _text(
        "llm.oauthPath", "~/.openclaw/.memory-lancedb-pro/oauth.json", "file of the token, with auth oauth"
    ),
    _whole("llm.timeoutMs", 30_000, 500, None, "milliseconds for one request"),
    _text("llm.thinkLevel", None, "how hard the model thinks, where it can"),
    _yes("mdMirror.enabled", False, "memories are written into Markdown files, too"),
    _text("mdMirror.dir", None, "folder of these files"),
    _yes("memoryCompaction.enabled", False, "similar old memories are made one"),
    _whole("memoryCompaction.minAgeDays", 7, 1, None, "days after which a memory is old enough"),
    _number("memoryCompaction.similarityThreshold", 0.88, 0, 1, "likeness from which they are one"),
    _whole("memoryCompaction.minClusterSize", 2, 2, None, "memories that it takes"),
    _whole("memoryCompaction.maxMemoriesToScan", 200, 1, None, "memories considered"),
    _whole("memoryCompaction.cooldownHours", 24, 1, None, "hours between two runs"),
    _yes("sessionCompression.enabled", False, "the less telling parts of a conversation are left out"),
    _number("sessionCompression.minScoreToKeep", 0.3, 0, 1, "score below which a part is"),
    _yes("extractionThrottle.skipLowValue", False, "conversations that say little are passed over"),
    _whole("extractionThrottle.maxExtractionsPerHour", 30, 1, 200, "extractions in an hour"),
    _whole(
        "storageMaintenance.readConsistencyIntervalSeconds",
        0,
        0,
        None,
        "seconds for which the agent may see an old version",
    ),
    _yes("storageMaintenance.autoCleanup.enabled", False, "old versions are removed daily"),
    _whole("storageMaintenance.autoCleanup.retentionDays", 7, 1, 3_650, "days of versions that are kept"),
    _text("redisUrl", None, "address of the Redis lock", _REDIS),
    _yes("locking.redis.enabled", None, "writers wait for each other by Redis", _REDIS),
    _text("locking.redis.url", None, "address of Redis; counts before redisUrl", _REDIS),
    _text("locking.redis.keyPrefix", "memory-lancedb-pro:write-lock", "how the keys of the lock begin"),
    _whole("locking.redis.ttlMs", 60_000, 1, None, "milliseconds for which a lock is held without a word"),
    _whole("locking.redis.acquireTimeoutMs", 5_000, 1, None, "milliseconds that a writer waits for it"),
    _whole("locking.redis.retryDelayMs", 50, 1, None, "milliseconds between two tries"),
    _whole("locking.redis.connectTimeoutMs", 1_000, 1, None, "milliseconds to reach Redis"),
    _whole("batchChunkSize", None, 1, 50, "candidates that one call to the model is about", "unset is 10"),
    _yes("selfImprovement.enabled", True, "lessons and errors are kept in files", _PRESENT),
    _yes("selfImprovement.beforeResetNote", True, "a reminder to write them down before a reset"),
    _yes("selfImprovement.skipSubagentBootstrap", True, "agents of agents are not reminded"),
    _yes("selfImprovement.ensureLearningFiles", True, "the files are made where they are missing"),
    _whole("selfImprovement.maxEntries", 500, 1, None, "entries of a file after which none is added"),
    _yes("memoryReflection.storeToLanceDB", True, "reflections become memories", _REFLECT),
    _yes("memoryReflection.writeLegacyCombined", True, "one more row in the older form", _ONLY_TRUE),
    _choice(
        "memoryReflection.injectMode",
        "inheritance+derived",
        ("inheritance-only", "inheritance+derived"),
        "which reflections are injected into prompts",
        _REFLECT,
    ),
    _text("memoryReflection.agentId", None, "the agent that reflects", _REFLECT),
    _text("memoryReflection.model", None, "the model that it reflects with", _REFLECT),
    _whole(
        "memoryReflection.messageCount", 120, 1, 500, "messages of a session that are reflected on", _REFLECT
    ),
    _whole("memoryReflection.maxInputChars", 24_000, 1_000, 200_000, "characters of them", _REFLECT),
    _whole("memoryReflection.timeoutMs", 20_000, 1_000, 120_000, "milliseconds for a reflection", _REFLECT),
    _choice(
        "memoryReflection.thinkLevel",
        "medium",
        ("off", "minimal", "low", "medium", "high"),
        "how hard the model thinks",
        _REFLECT,
    ),
    _whole("memoryReflection.errorReminderMaxEntries", 3, 1, 20, "errors that the agent is reminded of"),
    _yes("memoryReflection.dedupeErrorSignals", True, "the same error is said once in a session"),
    _whole(
        "memoryReflection.serialCooldownMs",
        120_000,
        0,
        None,
        "milliseconds between two reflections",
        _REFLECT,
    ),
    _whole("memoryReflection.maxConcurrentRuns", 1, 1, None, "reflections at the same time", _REFLECT),
    ConfigOption(
        "memoryReflection.excludeAgents",
        "texts",
        meaning="agents whose sessions are left alone",
        note=_REFLECT,
    ),
    _yes("workspaceBoundary.userMdExclusive.enabled", False, "what belongs in USER.md is not stored"),
    _yes("workspaceBoundary.userMdExclusive.routeProfile", True, "profiles belong there", _BOUNDARY),
    _yes(
        "workspaceBoundary.userMdExclusive.routeCanonicalName",
        True,
        "the person's name belongs there",
        _BOUNDARY,
    ),
    _yes(
        "workspaceBoundary.userMdExclusive.routeCanonicalAddressing",
        True,
        "how the person is addressed belongs there",
        _BOUNDARY,
    ),
    _yes(
        "workspaceBoundary.userMdExclusive.filterRecall",
        True,
        "what belongs there is left out of recall",
        _BOUNDARY,
    ),
    _yes("admissionControl.enabled", False, "candidates are judged before they are stored"),
    _choice(
        "admissionControl.preset",
        "balanced",
        ("balanced", "conservative", "high-recall"),
        "a set of the values below",
        "the defaults of the schema count before the preset's limits",
    ),
    _choice(
        "admissionControl.utilityMode",
        "standalone",
        ("standalone", "batch", "off"),
        "how the model is asked what a candidate is good for",
        _ADMIT,
    ),
    _number(
        "admissionControl.utilityVetoThreshold",
        0.25,
        0,
        1,
        "usefulness up to which a candidate is refused",
        "the schema's default; without the host it is 0, which is off",
    ),
    _number(
        "admissionControl.rejectThreshold", 0.45, 0, 1, "score below which a candidate is refused", _ADMIT
    ),
    _number("admissionControl.admitThreshold", 0.6, 0, 1, "score from which it may be new", _HINT),
    _whole(
        "admissionControl.noveltyCandidatePoolSize", 8, 1, 20, "memories that it is compared with", _ADMIT
    ),
    _yes("admissionControl.auditMetadata", True, "the judgement is kept with the memory", _ADMIT),
    _yes("admissionControl.persistRejectedAudits", True, "what was refused is kept in a file", _ADMIT),
    _text("admissionControl.rejectedAuditFilePath", None, "that file", _ADMIT),
    _text("admissionControl.model", None, "the model that judges", _ADMIT),
    _choice(
        "admissionControl.modelAffinity",
        "global",
        ("global", "lane"),
        "whether reflections are judged by their own",
        _ADMIT,
    ),
    _whole(
        "admissionControl.recency.halfLifeDays",
        14,
        1,
        365,
        "days after which a like memory counts half",
        _ADMIT,
    ),
    *(
        _number(f"admissionControl.weights.{name}", value, 0, 1, f"weight of {meaning}", _ADMIT)
        for name, value, meaning in (
            ("utility", 0.1, "usefulness"),
            ("confidence", 0.1, "what the conversation says"),
            ("novelty", 0.1, "newness"),
            ("recency", 0.1, "the time since a like one"),
            ("typePrior", 0.6, "the kind of memory"),
        )
    ),
    *(
        _number(
            f"admissionControl.typePriors.{name}",
            value,
            0,
            1,
            f"what being one of the {name} is worth",
            _ADMIT,
        )
        for name, value in (
            ("profile", 0.95),
            ("preferences", 0.9),
            ("entities", 0.75),
            ("events", 0.45),
            ("cases", 0.8),
            ("patterns", 0.85),
        )
    ),
    _yes("canonicalCorpus.enabled", True, "the agent's Markdown files and sessions are indexed, too"),
    _yes("canonicalCorpus.syncOnSearch", True, "they are read anew before a search"),
    _whole("canonicalCorpus.syncIntervalMs", 60_000, 0, None, "milliseconds between two readings"),
    _yes("canonicalCorpus.includeMemoryDir", True, "MEMORY.md and the memory folder"),
    _yes("canonicalCorpus.includeSessionTranscripts", True, "recent sessions"),
    _yes("canonicalCorpus.includeDreamingArtifacts", True, "reports of dreaming"),
    _whole("canonicalCorpus.maxSessionFilesPerAgent", 25, 0, None, "sessions of each agent"),
    _whole("canonicalCorpus.maxFileBytes", 1_000_000, 1, None, "larger files are left out"),
    _yes("dreaming.enabled", False, "memories are tidied and raised while the agent is idle"),
    _text("dreaming.frequency", "0 3 * * *", "when: @daily, or minute and hour as cron writes them", _DREAM),
    _text("dreaming.model", None, "the model that shows it", _DREAM),
    _text("dreaming.timezone", None, "the time zone of its hour", _DREAM),
    _yes("dreaming.verboseLogging", None, "more lines in the log", _DREAM),
    _choice("dreaming.storage.mode", None, ("inline", "separate", "both"), "where its reports go", _DREAM),
    _yes("dreaming.storage.separateReports", None, "a file for each report", _DREAM),
    *_execution("dreaming.execution.defaults"),
    _yes("dreaming.phases.light.enabled", None, "look-alikes of the last days are archived", _DREAM),
    _whole("dreaming.phases.light.lookbackDays", 2, 0, None, "days", _DREAM),
    _whole("dreaming.phases.light.limit", 100, 0, None, "memories considered", _DREAM),
    _number("dreaming.phases.light.dedupeSimilarity", 0.92, 0, 1, "likeness from which two are one", _DREAM),
    _sources("light", ("daily", "sessions", "recall")),
    *_execution("dreaming.phases.light.execution"),
    _yes("dreaming.phases.deep.enabled", None, "what is recalled often is raised", _DREAM),
    _whole("dreaming.phases.deep.limit", 10, 0, None, "memories that are raised", _DREAM),
    _number("dreaming.phases.deep.minScore", 0.6, 0, 1, "score from which", _DREAM),
    _whole("dreaming.phases.deep.minRecallCount", 3, 0, None, "recalls from which", _DREAM),
    _whole("dreaming.phases.deep.minUniqueQueries", None, 0, None, "different questions from which", _DREAM),
    _whole(
        "dreaming.phases.deep.recencyHalfLifeDays",
        14,
        0,
        None,
        "days after which newness counts half",
        _DREAM,
    ),
    _whole("dreaming.phases.deep.maxAgeDays", 90, 1, None, "older ones are left alone", _DREAM),
    _sources("deep", ("daily", "memory", "sessions", "logs", "recall")),
    _yes(
        "dreaming.phases.deep.recovery.enabled",
        None,
        "considers more while memory is in a poor state",
        _DREAM,
    ),
    _number("dreaming.phases.deep.recovery.triggerBelowHealth", None, 0, 1, "state below which", _DREAM),
    _whole(
        "dreaming.phases.deep.recovery.lookbackDays", None, 0, None, "days considered in recovery", _DREAM
    ),
    _whole(
        "dreaming.phases.deep.recovery.maxRecoveredCandidates", None, 0, None, "memories brought back", _DREAM
    ),
    _number(
        "dreaming.phases.deep.recovery.minRecoveryConfidence", None, 0, 1, "how sure one must be", _DREAM
    ),
    _number(
        "dreaming.phases.deep.recovery.autoWriteMinConfidence", None, 0, 1, "to write it unasked", _DREAM
    ),
    *_execution("dreaming.phases.deep.execution"),
    _yes("dreaming.phases.rem.enabled", None, "patterns of the week become a reflection", _DREAM),
    _whole("dreaming.phases.rem.lookbackDays", 7, 0, None, "days", _DREAM),
    _whole("dreaming.phases.rem.limit", 10, 0, None, "memories considered", _DREAM),
    _number("dreaming.phases.rem.minPatternStrength", 0.6, 0, 1, "share from which it is a pattern", _DREAM),
    _sources("rem", ("memory", "daily", "deep")),
    *_execution("dreaming.phases.rem.execution"),
    ConfigOption("telemetry", "object", meaning="what the plugin counts of itself", note=_BLOCK),
    ConfigOption(
        "feedbackLoop", "object", meaning="how answers that were used or not change memories", note=_BLOCK
    ),
    _whole(
        "dimensions",
        None,
        1,
        None,
        "older name for embedding.dimensions",
        "embedding.dimensions counts before it",
    ),
)
"""Every setting of the plugin; of `telemetry` and `feedbackLoop` an installed plugin's own schema tells more."""

BLOCKS = frozenset((*(each.path.partition(".")[0] for each in OPTIONS if "." in each.path), "config"))
"""Names at the top that hold something of their own."""

STRICT_BLOCKS = (
    "embedding", "retrieval", "decay", "tier", "scopes", "llm", "mdMirror", "sessionMemory", "selfImprovement",
    "memoryReflection", "workspaceBoundary", "admissionControl", "canonicalCorpus", "dreaming", "memoryCompaction",
    "sessionCompression", "extractionThrottle",
)  # fmt: skip
"""Blocks in which a name that is not listed is refused by the plugin."""


def option(path: str) -> ConfigOption | None:
    """The setting with this dotted path."""
    return _BY_PATH.get(path)


_BY_PATH: Mapping[str, ConfigOption] = {each.path: each for each in OPTIONS}


def known_names(block: str) -> frozenset[str]:
    """The names directly in a block ("" for the top)."""
    lead = f"{block}." if block else ""
    found = {each.path[len(lead) :].partition(".")[0] for each in OPTIONS if each.path.startswith(lead)}
    return frozenset(found) | (BLOCKS if not block else frozenset())
