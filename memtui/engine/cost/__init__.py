"""What memory costs: tokens, use, the prompt cache, and what would change it. Reads only; estimates say so.

`rules.toml` holds what the providers publish, `cache` computes with it, `turns` makes the requests, `figures` sums,
`what_if` plays other forms of the block. Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.cost.cache import CacheFigures, PromptPart, PromptRequest, make_part, play_cache
    from memtui.engine.cost.figures import (
        ESTIMATOR,
        NEVER_COMPARED,
        CostDay,
        CostlyMemory,
        CostReport,
        CostSum,
    )
    from memtui.engine.cost.read import read_cost
    from memtui.engine.cost.rules import CacheRule, named_rule, rule_names, rule_of
    from memtui.engine.cost.turns import CostTurn, split_block, stable_order
    from memtui.engine.cost.what_if import CostVariant, WhatIfCost, measure_what_if, play_variants

__all__ = [
    "ESTIMATOR",
    "NEVER_COMPARED",
    "CacheFigures",
    "CacheRule",
    "CostDay",
    "CostReport",
    "CostSum",
    "CostTurn",
    "CostVariant",
    "CostlyMemory",
    "PromptPart",
    "PromptRequest",
    "WhatIfCost",
    "make_part",
    "measure_what_if",
    "named_rule",
    "play_cache",
    "play_variants",
    "read_cost",
    "rule_names",
    "rule_of",
    "split_block",
    "stable_order",
]

__getattr__ = lazy_names(
    __name__,
    {
        "CacheFigures": "memtui.engine.cost.cache",
        "CacheRule": "memtui.engine.cost.rules",
        "CostDay": "memtui.engine.cost.figures",
        "CostReport": "memtui.engine.cost.figures",
        "CostSum": "memtui.engine.cost.figures",
        "CostTurn": "memtui.engine.cost.turns",
        "CostVariant": "memtui.engine.cost.what_if",
        "CostlyMemory": "memtui.engine.cost.figures",
        "ESTIMATOR": "memtui.engine.cost.figures",
        "NEVER_COMPARED": "memtui.engine.cost.figures",
        "PromptPart": "memtui.engine.cost.cache",
        "PromptRequest": "memtui.engine.cost.cache",
        "WhatIfCost": "memtui.engine.cost.what_if",
        "make_part": "memtui.engine.cost.cache",
        "measure_what_if": "memtui.engine.cost.what_if",
        "named_rule": "memtui.engine.cost.rules",
        "play_cache": "memtui.engine.cost.cache",
        "play_variants": "memtui.engine.cost.what_if",
        "read_cost": "memtui.engine.cost.read",
        "rule_names": "memtui.engine.cost.rules",
        "rule_of": "memtui.engine.cost.rules",
        "split_block": "memtui.engine.cost.turns",
        "stable_order": "memtui.engine.cost.turns",
    },
)
