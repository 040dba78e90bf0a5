"""The settings of the recipe `memtui`: what each signal is worth, and how many candidates it looks at."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model
from pydantic.alias_generators import to_camel

from memtui.engine.core.errors import ConfigError, EmbeddingError
from memtui.engine.providers.multilingual_embedder import MULTILINGUAL
from memtui.engine.recall.recipes.memtui.scripts import (
    NOTHING,
    Coverage,
    HasVocabulary,
    coverage,
    unknown_language,
)
from memtui.engine.recall.recipes.memtui.signals import RETIRED, SIGNALS
from memtui.engine.recall.recipes.pro.settings import SettingsBlock, resolve_block

BLOCK = "memtui"
"""The block's name in a configuration."""


if TYPE_CHECKING:
    SignalWeights = SettingsBlock
else:
    SignalWeights = create_model(
        "SignalWeights",
        __base__=SettingsBlock,
        **{signal.name: (float, Field(default=0, ge=-2, le=2)) for signal in SIGNALS},
    )
"""What each signal of `signals.SIGNALS` adds to the score where it is 1; less than 0 takes away."""


class OwnSettings(SettingsBlock):
    """Weights add up, they do not share out: a memory that every signal speaks for has the sum of all.

    The weights are those of the profile in `weights.toml`, fitted with vectors of the bundled model; `GIVEN` is what
    differs for a transformer's.
    """

    profile: Literal["auto", "dialogue", "notes"] = "auto"
    """Whose weights: of rows that mostly have a speaker, or of notes; by the rows unless it is said."""

    vector_weight: float = Field(default=0.3, ge=0, le=10)
    """Of the cosine between the vectors, stretched from the pool's lowest to its highest."""
    late_weight: float = Field(default=0.8, ge=0, le=10)
    """Of the late interaction (how well each word of the question is met), stretched the same way."""
    token_weight: float = Field(default=0.8, ge=0, le=10)
    """Of how well the question is met by token vectors, stretched the same way; only where there are any. Then this
    weight and `late_weight` are those of `[PROFILE.context]` in `weights.toml`."""
    rarity: float = Field(default=1.0, ge=0, le=3)
    """How far a question's word counts by its rarity in the scope: the exponent of `Survey.rarity`, 0 not at all."""
    context_weight: float = Field(default=0.8, ge=0, le=1)
    """What a word of the question counts that only the memory before meets, in the same session."""
    bm25_weight: float = Field(default=0.2, ge=0, le=10)
    """Of the keyword score as a share of the best one; more for a long question, see `for_question`."""
    identifier_weight: float = Field(default=1.0, ge=0, le=10)
    """Of the share of the question's identifiers that stand in the memory to the letter."""
    speaker_weight: float = Field(default=0.5, ge=0, le=10)
    """For what was said by the only speaker that the question names."""
    date_weight: float = Field(default=0.6, ge=0, le=10)
    """For a time within a span that the question names."""
    signals: SignalWeights = SignalWeights()
    """Of the plain signals about a memory and the one before it."""
    following: int = Field(default=20, ge=0, le=200)
    """The memories said after the best ones become candidates too, after so many of them; 0 for none."""
    recency: Literal["asked", "on", "off"] = "asked"
    """Whether newer memories gain: when the question asks for what is new, always, never."""
    recency_weight: float = Field(default=0.3, ge=0, le=10)
    recency_half_life_days: float = Field(default=30, gt=0)
    pool: int = Field(default=100, ge=1, le=1000)
    """Candidates from each search."""
    min_score: float = Field(default=0, ge=0)
    """Memories below are not returned; 0 returns the best there are."""

    def as_block(self) -> dict[str, Any]:
        """The resolved block under its key names."""
        block: dict[str, Any] = self.model_dump(by_alias=True)
        return block


GIVEN: Mapping[str, float] = {"vectorWeight": 0.3, "dateWeight": 0.8, "pool": 50}
"""What differs where the vectors are another model's (fitted with MiniLM's)."""

MULTILINGUAL_KNOWN: Mapping[str, float] = {"vectorWeight": 0.5}
"""What differs with vectors of the extra's model where the bundled one knows the language.

On eight English dialogues of other hands (../shared/fixtures/recall-tuning, 316 questions) nDCG@10 rises by .036 [.020,
.052] with it and recall@10 from .786 to .822; with .18 by .019, without by -.008."""

MULTILINGUAL_UNKNOWN: Mapping[str, float] = {"vectorWeight": 2.0, "bm25Weight": 0.9, "lateWeight": 0.0}
"""And where it does not: the vectors lead, with the keywords beside them."""

Profile = Literal["dialogue", "notes"]

PROFILES: tuple[Profile, ...] = ("dialogue", "notes")

SPOKEN = 0.5
"""From this share of rows with a speaker on a scope is a dialogue."""


def profile_of(spoken: float) -> Profile:
    """The profile for rows of which the share `spoken` has a speaker."""
    return "dialogue" if spoken >= SPOKEN else "notes"


@lru_cache(maxsize=2)
def fitted(profile: Profile) -> Mapping[str, Any]:
    """The weights of a profile under their keys in a configuration: `weights.toml` without errors and ablations."""
    told = _told(profile)
    plain = {key: value["weight"] for key, value in told.items() if "weight" in value}
    return {**plain, "signals": {key: value["weight"] for key, value in told["signals"].items()}}


@lru_cache(maxsize=2)
def fitted_read(profile: Profile) -> Mapping[str, float]:
    """What differs of a profile's weights where the store has token vectors, under the same keys."""
    return {key: value["weight"] for key, value in _told(profile)["context"].items()}


def _told(profile: Profile) -> Mapping[str, Any]:
    told: Mapping[str, Any] = tomllib.loads(
        Path(__file__).with_name("weights.toml").read_text(encoding="utf-8")
    )[profile]
    return told


SHORT, LONG = 12, 40
"""Words of a question: up to the first the keywords have their least weight, from the second on their most."""

LONGER = 0.2
"""What a long question adds to the keywords' weight; fitted on `tests/quality/tuning`."""

UNCOVERED = {"bm25Weight": 1.0, "lateWeight": 0.3, "vectorWeight": 0.1}
"""The weights for a question in a script that the bundled model never learned: keywords lead."""

FULL = 0.5
"""From this share of such words on these weights count whole; below in proportion."""


def for_question(
    question: str,
    covered: Coverage,
    *,
    bundled: bool,
    multilingual: float | None = None,
    profile: Profile = "notes",
    read: Coverage | None = None,
) -> dict[str, Any]:
    """The weights of the profile, with those that hang on the question.

    Where the vectors are another model's, what the bundled one never learned is no reason to distrust them: then
    only the word by word comparison, which is always the bundled model's, counts less. Where they are those of the
    multilingual model, `multilingual` is how surely the bundled one does not know the language, 0 to 1. `read` is what
    the model of the token vectors never learned, None without any: of what it did they take over from that comparison.
    """
    length = min(1.0, max(0.0, (len(question.split()) - SHORT) / (LONG - SHORT)))
    differs = {} if bundled else GIVEN if multilingual is None else MULTILINGUAL_KNOWN
    plain = {**fitted(profile), **differs}
    plain["bm25Weight"] = round(plain["bm25Weight"] + length * LONGER, 4)
    if multilingual is not None:
        gated = {**plain, **_between(plain, MULTILINGUAL_UNKNOWN, multilingual)}
    else:
        share = min(1.0, covered.uncovered / FULL)
        changed = UNCOVERED if bundled else {"lateWeight": UNCOVERED["lateWeight"]}
        gated = {**plain, **_between(plain, changed, share)}
    if read is None:
        return gated
    context = {
        key: fitted_read(profile)[key] for key in fitted_read(profile) if bundled or key != "vectorWeight"
    }
    known = 1.0 - min(1.0, read.uncovered / FULL)
    return {**gated, **_between({**gated, "tokenWeight": 0.0}, context, known)}


def _between(low: Mapping[str, Any], high: Mapping[str, float], share: float) -> dict[str, float]:
    """Of the keys of `high` the weights that lie at `share` of the way there from `low`."""
    return {key: round(low[key] + share * (value - low[key]), 4) for key, value in high.items()}


def covered_by_model(text: str, model: HasVocabulary | None = None) -> Coverage:
    """How much of a text is of scripts that a model, else the bundled one, never learned; nothing if none is read."""
    if text.isascii():
        return NOTHING  # Latin, without a look at the vocabulary
    from memtui.engine.providers.static_embedder import bundled

    try:
        return coverage(text, bundled() if model is None else model)
    except EmbeddingError:
        return NOTHING


def resolve_own(
    config: Mapping[str, Any] | None,
    *,
    bundled: bool,
    multilingual: bool = False,
    question: str = "",
    profile: Profile = "notes",
    found: str = "",
    reader: HasVocabulary | None = None,
) -> tuple[OwnSettings, tuple[str, ...]]:
    """The settings of `config` ({"memtui": {...}}) over those for `question`, and findings about what has no effect.

    `profile` is that of the rows, which `config` may overrule; `found` the texts that the keywords find best;
    `reader` the model of the store's token vectors.

    Raises ConfigError with the path of the first key that is unknown or ill-typed.
    """
    config = config or {}
    unknown = [key for key in config if key not in (BLOCK, "retrieval", "decay")]
    if unknown:
        raise ConfigError(f"{unknown[0]} is not a known block.", path=unknown[0], fix=f"Use {BLOCK}.")
    findings = tuple(
        f"{key} has no effect: those are the plugin's settings, this recipe reads the block {BLOCK}."
        for key in ("retrieval", "decay")
        if config.get(key)
    )
    given, retired = _without_retired(config.get(BLOCK, {}))
    findings += retired
    wanted = given.get("profile") if isinstance(given, Mapping) else None
    chosen: Profile = wanted if wanted in ("dialogue", "notes") else profile
    asked, met = covered_by_model(question), covered_by_model(found)
    covered = max(asked, met, key=lambda each: each.uncovered)
    read = None
    if reader is not None:
        unread = (covered_by_model(text, reader) for text in (question, found))
        read = max(unread, key=lambda each: each.uncovered)
    unknown_share = max(map(_unknown_language, (question, found))) if multilingual else None
    base = for_question(
        question, covered, bundled=bundled, multilingual=unknown_share, profile=chosen, read=read
    )
    settings: OwnSettings = resolve_block(BLOCK, OwnSettings, given, base)
    settings = settings.model_copy(update={"profile": chosen})
    if unknown_share is not None:
        return settings, (*findings, *_led(unknown_share, settings))
    of = "question's words" if covered is asked else "words that the keywords find"
    return settings, (*findings, *_gate(covered, settings, of, read))


def _without_retired(given: Any) -> tuple[Any, tuple[str, ...]]:
    """The block without the signals that count no more, and what to say of those that had a weight."""
    weights = given.get("signals") if isinstance(given, Mapping) else None
    if not isinstance(weights, Mapping):
        return given, ()
    gone = {to_camel(name) for name in RETIRED}
    findings = tuple(
        f"{BLOCK}.signals.{key} has no effect: that signal was taken out, it did not help on others' dialogues."
        for key, weight in weights.items()
        if key in gone and weight
    )
    kept = {key: weight for key, weight in weights.items() if key not in gone}
    return {**given, "signals": kept}, findings


def _unknown_language(text: str) -> float:
    """How surely the bundled model does not know the language of a text; 0 where it cannot be read."""
    from memtui.engine.providers.static_embedder import bundled

    try:
        return unknown_language(text, bundled().common_words())
    except EmbeddingError:
        return 0.0


def _led(unknown: float, settings: OwnSettings) -> tuple[str, ...]:
    """What to say of a question whose language only the multilingual model knows."""
    if not unknown:
        return ()
    return (
        f"{unknown:.0%} sure that the bundled model does not know this language: the vectors of {MULTILINGUAL} count "
        f"{settings.vector_weight:g}, keywords {settings.bm25_weight:g}, term matching {settings.late_weight:g}.",
    )


def _gate(covered: Coverage, settings: OwnSettings, of: str, read: Coverage | None) -> tuple[str, ...]:
    """What to say of texts that the bundled model cannot tell apart."""
    if not covered.uncovered:
        return ()
    scripts = ", ".join(script.capitalize() if script != "CJK" else script for script in covered.scripts)
    tokens = "" if read is None else f", token vectors {settings.token_weight:g}"
    return (
        f"{covered.uncovered:.0%} of the {of} are {scripts}, which the bundled model never learned: "
        f"keywords count {settings.bm25_weight:g}, term matching {settings.late_weight:g}, "
        f"meaning {settings.vector_weight:g}{tokens}.",
    )
