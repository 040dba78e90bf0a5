"""Explaining a recall: why not, what if, which is better, what the agent would see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.explain.comparison import Effect, RankFlow, ScoreAccount, StagePair, compare, effects
    from memtui.engine.explain.effective_settings import parameters
    from memtui.engine.explain.knobs import bounds
    from memtui.engine.explain.prompt_block import BlockPart, Mode, injected, reaches_prompt, settings_of
    from memtui.engine.explain.questions import (
        LaterAnswer,
        again,
        agent_scopes,
        asked_again,
        asked_last,
        bisect,
        by_own_words,
        effect_on_recall,
        flips,
        more_like,
        pair,
        receipt,
        remember,
        replay,
        resolve,
        settings,
        versions,
        what_if,
        why_not,
        why_not_in,
        with_kept_vector,
    )
    from memtui.engine.explain.radar import Disagreement, corrected_text, find_disagreements
    from memtui.engine.explain.receipts import open_receipt, save_receipt
    from memtui.engine.explain.remedies import MemoryRemedy, find_remedies
    from memtui.engine.explain.sentences import explain
    from memtui.engine.explain.variation import changed_request
    from memtui.engine.explain.verdict import DROP, TIMES
    from memtui.engine.explain.word_tree import KeywordTree, keyword_tree
    from memtui.engine.recall.recipes.memtui.signals import signal_words
    from memtui.engine.recall.recipes.memtui.weights import weight_words

__all__ = [
    "DROP",
    "TIMES",
    "BlockPart",
    "Disagreement",
    "Effect",
    "KeywordTree",
    "LaterAnswer",
    "MemoryRemedy",
    "Mode",
    "RankFlow",
    "ScoreAccount",
    "StagePair",
    "again",
    "agent_scopes",
    "asked_again",
    "asked_last",
    "bisect",
    "bounds",
    "by_own_words",
    "changed_request",
    "compare",
    "corrected_text",
    "effect_on_recall",
    "effects",
    "explain",
    "find_disagreements",
    "find_remedies",
    "flips",
    "injected",
    "keyword_tree",
    "more_like",
    "open_receipt",
    "pair",
    "parameters",
    "reaches_prompt",
    "receipt",
    "remember",
    "replay",
    "resolve",
    "save_receipt",
    "settings",
    "settings_of",
    "signal_words",
    "versions",
    "weight_words",
    "what_if",
    "why_not",
    "why_not_in",
    "with_kept_vector",
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
        "DROP": "memtui.engine.explain.verdict",
        "TIMES": "memtui.engine.explain.verdict",
        "again": "memtui.engine.explain.questions",
        "agent_scopes": "memtui.engine.explain.questions",
        "asked_again": "memtui.engine.explain.questions",
        "asked_last": "memtui.engine.explain.questions",
        "bisect": "memtui.engine.explain.questions",
        "bounds": "memtui.engine.explain.knobs",
        "changed_request": "memtui.engine.explain.variation",
        "compare": "memtui.engine.explain.comparison",
        "by_own_words": "memtui.engine.explain.questions",
        "effect_on_recall": "memtui.engine.explain.questions",
        "effects": "memtui.engine.explain.comparison",
        "explain": "memtui.engine.explain.sentences",
        "LaterAnswer": "memtui.engine.explain.questions",
        "KeywordTree": "memtui.engine.explain.word_tree",
        "keyword_tree": "memtui.engine.explain.word_tree",
        "corrected_text": "memtui.engine.explain.radar",
        "find_disagreements": "memtui.engine.explain.radar",
        "find_remedies": "memtui.engine.explain.remedies",
        "flips": "memtui.engine.explain.questions",
        "injected": "memtui.engine.explain.prompt_block",
        "more_like": "memtui.engine.explain.questions",
        "open_receipt": "memtui.engine.explain.receipts",
        "pair": "memtui.engine.explain.questions",
        "parameters": "memtui.engine.explain.effective_settings",
        "reaches_prompt": "memtui.engine.explain.prompt_block",
        "receipt": "memtui.engine.explain.questions",
        "remember": "memtui.engine.explain.questions",
        "replay": "memtui.engine.explain.questions",
        "resolve": "memtui.engine.explain.questions",
        "save_receipt": "memtui.engine.explain.receipts",
        "settings": "memtui.engine.explain.questions",
        "settings_of": "memtui.engine.explain.prompt_block",
        "signal_words": "memtui.engine.recall.recipes.memtui.signals",
        "versions": "memtui.engine.explain.questions",
        "weight_words": "memtui.engine.recall.recipes.memtui.weights",
        "what_if": "memtui.engine.explain.questions",
        "why_not": "memtui.engine.explain.questions",
        "why_not_in": "memtui.engine.explain.questions",
        "with_kept_vector": "memtui.engine.explain.questions",
    },
)
