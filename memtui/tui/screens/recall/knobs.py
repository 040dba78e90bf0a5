"""What every setting of a recall means, in one line, grouped by the stage that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtui.engine import one_line
from memtui.tui.dialogs.sheet import Line, Section
from memtui.tui.screens.recall.rules import figure

_GROUPS: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "SEARCH",
        "retrieval",
        {
            "mode": "hybrid asks both lanes, vector only the first",
            "candidatePoolSize": "hits wanted of each lane; each stops at 20",
            "queryExpansion": "synonyms for the keyword lane, only for manual and cli",
            "tagPrefixes": "a word prefix:value in the question searches by tag only",
            "disableNativeCosine": "scan every row instead of asking the index",
        },
    ),
    (
        "FUSION",
        "retrieval",
        {
            "vectorWeight": "share of the vector score",
            "bm25Weight": "share of the keyword score; alone it counts whole",
            "minScore": "a fused score below this is dropped",
        },
    ),
    (
        "RERANK",
        "retrieval",
        {
            "rerank": "cross-encoder asks a service, lightweight blends the cosine, none",
            "rerankProvider": "whose request format",
            "rerankModel": "which model",
            "rerankEndpoint": "where it answers",
            "rerankApiKey": "without one the cosine blend is used",
            "rerankTimeoutMs": "milliseconds to wait for it",
        },
    ),
    (
        "AGE, LENGTH",
        "retrieval",
        {
            "recencyWeight": "most that a fresh memory gains",
            "recencyHalfLifeDays": "days after which .37 of that gain is left",
            "lengthNormAnchor": "characters up to which length costs nothing",
            "timeDecayHalfLifeDays": "days after which .37 of the losable half is left",
            "reinforcementFactor": "how much use stretches that time",
            "maxHalfLifeMultiplier": "and at most by this",
        },
    ),
    (
        "CUT",
        "retrieval",
        {
            "hardMinScore": "a final score below this is dropped",
            "filterNoise": "drop greetings, refusals and boilerplate by their words",
            "neighborEnrichment": "attach memories with similar words to each result",
        },
    ),
    (
        "WEIGHTS",
        "memtui",
        {
            "vectorWeight": "of the cosine, stretched over the candidates",
            "lateWeight": "of how well each word of the question is met",
            "contextWeight": "of what the memory before meets, same session",
            "rarity": "how far a rare word of the question counts more",
            "bm25Weight": "of the keyword score, as a share of the best",
            "identifierWeight": "of identifiers that stand in the text to the letter",
            "speakerWeight": "for what the named speaker has said",
            "dateWeight": "for memories of the time that is named",
            "following": "best ones whose next memory becomes a candidate",
            "previousWeight": "of the score of the memory before, same session",
            "nextWeight": "of the score of the memory after, same session",
            "recency": "newer ones gain when asked for, always, never",
            "recencyWeight": "most that the newest gains",
            "recencyHalfLifeDays": "days after which half of that is left",
            "pool": "candidates of each search",
            "minScore": "a score below this is not returned",
        },
    ),
    (
        "LIFECYCLE DECAY",
        "decay",
        {
            "recencyHalfLifeDays": "days to half, for importance 0",
            "importanceModulation": "how much importance stretches that",
            "recencyWeight": "share of recency in the composite",
            "frequencyWeight": "share of use",
            "intrinsicWeight": "share of importance and confidence",
            "searchBoostMin": "the least that decay leaves of a score",
            "staleThreshold": "composite below this is called stale",
            "betaCore": "shape of the curve for core memories",
            "betaWorking": "for working ones",
            "betaPeripheral": "for peripheral ones",
            "coreDecayFloor": "a core memory never counts as less",
            "workingDecayFloor": "a working one",
            "peripheralDecayFloor": "a peripheral one",
        },
    ),
)


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return figure(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(str(k))} {_value(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value(v) for v in value)
    return one_line(str(value))


def sections(config: Mapping[str, Any]) -> list[Section]:
    """The resolved configuration as sections; keys that nobody described are listed at the end."""
    out: list[Section] = []
    told: set[tuple[str, str]] = set()
    for heading, block, meanings in _GROUPS:
        values = config.get(block)
        if not isinstance(values, Mapping):
            continue
        lines = tuple(Line(key, _value(values[key]), meanings[key]) for key in meanings if key in values)
        told |= {(block, key) for key in meanings}
        if lines:
            out.append(Section(heading, lines))
    if config.get("decay", ...) is None:
        out.append(
            Section("LIFECYCLE DECAY", (Line("decay", "off", "this caller runs without a decay engine"),))
        )
    rest = [
        Line(key, _value(value)) for key, value in config.items() if not isinstance(value, Mapping | None)
    ]
    for block, values in config.items():
        if isinstance(values, Mapping):
            rest += [
                Line(f"{block}.{key}", _value(v)) for key, v in values.items() if (block, key) not in told
            ]
    if rest:
        out.append(Section("OTHER" if out else "SETTINGS", tuple(rest)))
    return out
