"""The clients of the server: who may do what, and what they asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.clients.reach import Reach

__all__ = ["Reach"]

__getattr__ = lazy_names(__name__, {"Reach": "memtui.engine.clients.reach"})
