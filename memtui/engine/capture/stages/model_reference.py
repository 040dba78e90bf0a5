"""Names of models as the plugin reads them."""

from __future__ import annotations

import re

from memtui.engine.core.javascript import trim

_OPENROUTER = re.compile(r"openrouter\s*/\s*(\S[\s\S]*)", re.IGNORECASE)

_THINKING = re.compile(r"qwen3|deepseek.*r1|qwq", re.IGNORECASE)


def direct_model_ref(model: str) -> str:
    """The model's own name, without the router's prefix."""
    name = trim(model)
    match = _OPENROUTER.fullmatch(name)
    return trim(match[1]) if match else name


def reasoning_disabled(model: str) -> bool:
    """Whether a model of this name is asked not to think aloud."""
    return _THINKING.search(model) is not None
