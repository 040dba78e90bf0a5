"""The clients of the server: who may do what, and what they called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.clients.activity import Activity, CallCounts, activities, day_of_calls
    from memtui.engine.clients.address import is_loopback, place_of
    from memtui.engine.clients.calls import (
        UNANSWERED,
        Call,
        CallJournal,
        Via,
        asked_of,
        gate_of,
        ids_in,
        masked,
        scores_in,
    )
    from memtui.engine.clients.reach import ClientReach
    from memtui.engine.clients.register import OWNER, Client, ClientRegister, RateLimit, rights_of

__all__ = [
    "OWNER",
    "UNANSWERED",
    "Activity",
    "Call",
    "CallCounts",
    "CallJournal",
    "Client",
    "ClientReach",
    "ClientRegister",
    "RateLimit",
    "Via",
    "activities",
    "asked_of",
    "day_of_calls",
    "gate_of",
    "ids_in",
    "is_loopback",
    "masked",
    "place_of",
    "rights_of",
    "scores_in",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Activity": "memtui.engine.clients.activity",
        "Call": "memtui.engine.clients.calls",
        "CallJournal": "memtui.engine.clients.calls",
        "Client": "memtui.engine.clients.register",
        "ClientRegister": "memtui.engine.clients.register",
        "CallCounts": "memtui.engine.clients.activity",
        "OWNER": "memtui.engine.clients.register",
        "RateLimit": "memtui.engine.clients.register",
        "rights_of": "memtui.engine.clients.register",
        "UNANSWERED": "memtui.engine.clients.calls",
        "ClientReach": "memtui.engine.clients.reach",
        "Via": "memtui.engine.clients.calls",
        "activities": "memtui.engine.clients.activity",
        "asked_of": "memtui.engine.clients.calls",
        "day_of_calls": "memtui.engine.clients.activity",
        "gate_of": "memtui.engine.clients.calls",
        "is_loopback": "memtui.engine.clients.address",
        "place_of": "memtui.engine.clients.address",
        "ids_in": "memtui.engine.clients.calls",
        "masked": "memtui.engine.clients.calls",
        "scores_in": "memtui.engine.clients.calls",
    },
)
