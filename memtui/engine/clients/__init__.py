"""The clients of the server: who may do what, and what they called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.clients.calls import Call, CallJournal, asked_of, ids_in
    from memtui.engine.clients.reach import Reach
    from memtui.engine.clients.register import Client, ClientRegister, RateLimit

__all__ = [
    "Call",
    "CallJournal",
    "Client",
    "ClientRegister",
    "RateLimit",
    "Reach",
    "asked_of",
    "ids_in",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Call": "memtui.engine.clients.calls",
        "CallJournal": "memtui.engine.clients.calls",
        "Client": "memtui.engine.clients.register",
        "ClientRegister": "memtui.engine.clients.register",
        "RateLimit": "memtui.engine.clients.register",
        "Reach": "memtui.engine.clients.reach",
        "asked_of": "memtui.engine.clients.calls",
        "ids_in": "memtui.engine.clients.calls",
    },
)
