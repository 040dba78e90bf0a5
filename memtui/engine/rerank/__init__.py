"""Reranking by a service over HTTP."""

from memtui.engine.rerank.ask import rerank
from memtui.engine.rerank.settings import RerankSettings

__all__ = ["RerankSettings", "rerank"]
