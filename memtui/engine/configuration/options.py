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
class Option:
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
        """Its values in words."""
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
        fix = f"{self.path} takes: {self.range}." + (
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
) -> Option:
    return Option(path, "number", default, low, high, meaning=meaning, note=note)


def _whole(
    path: str, default: Any, low: float | None, high: float | None, meaning: str = "", note: str = ""
) -> Option:
    return Option(path, "whole", default, low, high, meaning=meaning, note=note)


def _yes(path: str, default: Any, meaning: str = "", note: str = "") -> Option:
    return Option(path, "yes-no", default, meaning=meaning, note=note)


def _text(path: str, default: Any = None, meaning: str = "", note: str = "") -> Option:
    return Option(path, "text", default, meaning=meaning, note=note)


def _choice(path: str, default: Any, choices: tuple[str, ...], meaning: str = "", note: str = "") -> Option:
    return Option(path, "choice", default, choices=choices, meaning=meaning, note=note)


OPTIONS: tuple[Option, ...] = (
    _choice(
        "embedding.provider", None, ("openai-compatible", "azure-openai"), "form of the embedding service"
    ),
    Option("embedding.apiKey", "key", meaning="key of the embedding service, or several that take turns"),
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
        "memories are put before the agent's eyes",
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
    Option("autoRecallExcludeAgents", "texts", meaning="agents that are given nothing"),
    Option(
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
    Option("retrieval.rerankApiKey", "key", meaning="key of the reranking service"),
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
    _whole(
        "retrieval.candidatePoolSize", 20, 10, 100, "candidates that are looked at", "above 20 has no effect"
    ),
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
    _whole("sessionMemory.messageCount", 15, 1, 100, "older setting"),
    Option("scopes.default", "text", "global", meaning="where a memory without a scope goes"),
    Option("scopes.definitions", "object", meaning="scopes that are known"),
    Option("scopes.agentAccess", "object", meaning="what each agent may read: it replaces the usual"),
    _choice("llm.auth", "api-key", ("api-key", "oauth"), "how the language model is asked"),
    Option("llm.apiKey", "key", meaning="key of the language model's service"),
    _text("llm.model", "openai/gpt-oss-120b", "the language model"),
    _text("llm.baseURL", None, "address of its service"),
    _text("llm.oauthProvider"),
    _text("llm.oauthPath"),
    _whole("llm.timeoutMs", 30_000, 500, None, "milliseconds for one request"),
    _yes("mdMirror.enabled", False, "memories are written into Markdown files, too"),
    _text("mdMirror.dir", None, "folder of these files"),
    _yes("memoryCompaction.enabled", False, "similar old memories are made one"),
    _whole("memoryCompaction.minAgeDays", 7, 1, None),
    _number("memoryCompaction.similarityThreshold", 0.88, 0, 1),
    _whole("memoryCompaction.minClusterSize", 2, 2, None),
    _whole("memoryCompaction.maxMemoriesToScan", 200, 1, None),
    _whole("memoryCompaction.cooldownHours", 24, 1, None),
    _yes("sessionCompression.enabled", False),
    _number("sessionCompression.minScoreToKeep", 0.3, 0, 1),
    _yes("extractionThrottle.skipLowValue", False),
    _whole("extractionThrottle.maxExtractionsPerHour", 30, 1, 200),
    _whole(
        "storageMaintenance.readConsistencyIntervalSeconds",
        0,
        0,
        None,
        "seconds for which the agent may see an old version",
    ),
    _yes("storageMaintenance.autoCleanup.enabled", False, "old versions are removed daily"),
    _whole("storageMaintenance.autoCleanup.retentionDays", 7, 1, 3_650, "days of versions that are kept"),
    _text("redisUrl", None, "address of the Redis lock"),
)
"""Every setting with a form of its own; the blocks below are checked by their name alone."""

BLOCKS = frozenset(
    (
        "embedding", "retrieval", "decay", "tier", "scopes", "llm", "sessionMemory", "mdMirror", "memoryCompaction",
        "sessionCompression", "extractionThrottle", "storageMaintenance", "locking", "selfImprovement",
        "memoryReflection", "workspaceBoundary", "admissionControl", "dreaming", "canonicalCorpus", "telemetry",
        "feedbackLoop", "dimensions", "config",
    )
)  # fmt: skip
"""Names at the top that hold something of their own."""

STRICT_BLOCKS = ("embedding", "retrieval", "decay", "tier", "scopes", "llm", "mdMirror", "sessionMemory")
"""Blocks in which a name that is not listed is refused by the plugin."""


def option(path: str) -> Option | None:
    """The setting with this dotted path."""
    return _BY_PATH.get(path)


_BY_PATH: Mapping[str, Option] = {each.path: each for each in OPTIONS}


def known_names(block: str) -> frozenset[str]:
    """The names directly in a block ("" for the top)."""
    lead = f"{block}." if block else ""
    found = {each.path[len(lead) :].partition(".")[0] for each in OPTIONS if each.path.startswith(lead)}
    return frozenset(found) | (BLOCKS if not block else frozenset())
