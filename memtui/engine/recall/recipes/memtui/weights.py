"""Every number by which something counts in a score of the recipe `memtui`, declared once.

The plain signals are declared in `signals.SIGNALS`; here is what counts beside them. Settings sheet, knobs of What if,
why a knob does nothing, proof and confidence are made of these; what each weight is, stands in `weights.toml` and
`settings.OwnSettings`, how it enters the score in `stages`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Counts = Literal["always", "dialogue", "token_vectors", "never"]
"""When a weight belongs to all the weight that one memory can gather: in every recall, in dialogues, where the stage
ran; never, for what few questions ask for."""


@dataclass(frozen=True)
class Weight:
    """One number of the settings by which something counts."""

    key: str
    """Its name in the configuration."""
    meaning: str
    """What it is for: in the list of settings and in What if."""
    stage: str
    """The stage that has it among the inputs of its steps, or among its parameters."""
    needs: str = ""
    """The stage without which it does nothing; empty where that is told otherwise."""
    missing: str = ""
    """What it means that this stage did not run."""
    counts: Counts = "never"
    recorded: str = ""
    """Its name among those inputs, where that is not its own in small letters; `-` where only what it does is there."""
    knob: tuple[float, float, float] = (0.0, 2.0, 0.01)
    """Lowest, highest and step of its knob."""

    @property
    def field(self) -> str:
        """The name of the weight in `OwnSettings`."""
        return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", self.key).lower()

    @property
    def input(self) -> str:
        """The name of the weight among the inputs of its stage's steps; empty where it is none of them."""
        return "" if self.recorded == "-" else self.recorded or self.field


_NO_MODEL = "the bundled model is not at hand: there is no term matching"

ALONE = "no candidate has another memory of its session beside it"

_NOTHING_NEW = "the question does not ask for what is new"

WEIGHTS = (
    Weight("vectorWeight", "of the cosine, stretched over the candidates", "fused", counts="always"),
    Weight(
        "lateWeight",
        "of how well each word of the question is met",
        "late_interaction",
        needs="late_interaction",
        missing=_NO_MODEL,
        counts="always",
    ),
    Weight(
        "tokenWeight",
        "of how well token vectors meet the question, where there are any",
        "token_vectors",
        needs="token_vectors",
        missing="the store has no token vectors: memtui context build makes them",
        counts="token_vectors",
    ),
    Weight(
        "contextWeight",
        "of what the memory before meets, same session",
        "late_interaction",
        needs="neighbours",
        missing=ALONE,
        knob=(0.0, 1.0, 0.01),
    ),
    Weight(
        "rarity",
        "how far a rare word of the question counts more",
        "late_interaction",
        needs="late_interaction",
        missing=_NO_MODEL,
        recorded="-",
        knob=(0.0, 3.0, 0.05),
    ),
    Weight("bm25Weight", "of the keyword score, as a share of the best", "fused", counts="always"),
    Weight(
        "identifierWeight",
        "of exact matches of identifiers",
        "fused",
        needs="identifier_ranked",
        missing="the question holds no identifier",
    ),
    Weight(
        "speakerWeight",
        "for what the named speaker has said",
        "speaker",
        needs="speaker",
        missing="the question names no speaker",
        counts="dialogue",
    ),
    Weight(
        "dateWeight",
        "for memories of the time that is named",
        "date",
        needs="date",
        missing="the question names no time",
        counts="always",
    ),
    Weight(
        "recencyWeight",
        "most that the newest gains",
        "recency",
        needs="recency",
        missing=_NOTHING_NEW,
    ),
    Weight(
        "recencyHalfLifeDays",
        "days after which half of that is left",
        "recency",
        needs="recency",
        missing=_NOTHING_NEW,
        recorded="half_life_days",
        knob=(1.0, 365.0, 1.0),
    ),
)
"""In the order in which they are shown."""


def weight_words() -> Mapping[str, str]:
    """What each weight of the recipe `memtui` is for, by its name in a configuration."""
    return {weight.key: weight.meaning for weight in WEIGHTS}
