"""Explaining a recall: why not, what if, which is better, what the agent would see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.explain.comparison import Effect, RankFlow, ScoreAccount, StagePair, effects
    from memtui.engine.explain.prompt_block import BlockPart, Mode, injected, reaches_prompt, settings_of
    from memtui.engine.explain.radar import Disagreement
    from memtui.engine.explain.receipts import open_receipt, save_receipt
    from memtui.engine.explain.remedies import MemoryRemedy
    from memtui.engine.explain.variation import changed_request
    from memtui.engine.explain.verdict import TIMES

__all__ = [
    "TIMES",
    "BlockPart",
    "Disagreement",
    "Effect",
    "MemoryRemedy",
    "Mode",
    "RankFlow",
    "ScoreAccount",
    "StagePair",
    "changed_request",
    "effects",
    "injected",
    "open_receipt",
    "reaches_prompt",
    "save_receipt",
    "settings_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "BlockPart": "memtui.engine.explain.prompt_block",
        "Disagreement": "memtui.engine.explain.radar",
        "Effect": "memtui.engine.explain.comparison",
        "MemoryRemedy": "memtui.engine.explain.remedies",
        "Mode": "memtui.engine.explain.prompt_block",
        "RankFlow": "memtui.engine.explain.comparison",
        "ScoreAccount": "memtui.engine.explain.comparison",
        "StagePair": "memtui.engine.explain.comparison",
        "TIMES": "memtui.engine.explain.verdict",
        "changed_request": "memtui.engine.explain.variation",
        "effects": "memtui.engine.explain.comparison",
        "injected": "memtui.engine.explain.prompt_block",
        "open_receipt": "memtui.engine.explain.receipts",
        "reaches_prompt": "memtui.engine.explain.prompt_block",
        "save_receipt": "memtui.engine.explain.receipts",
        "settings_of": "memtui.engine.explain.prompt_block",
    },
)
