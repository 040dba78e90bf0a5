"""The published rules of prompt caching, read from `rules.toml`: whose model, which minimum, lifetime and price."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from memtui.engine.core.errors import UsageError

DEFAULT_LIFETIME = "5m"


@dataclass(frozen=True, slots=True)
class CacheLifetime:
    """How long an entry lives without a read, and what writing it costs."""

    seconds: int
    write_price: float
    """In shares of the price of an input token."""


@dataclass(frozen=True, slots=True)
class CacheRule:
    """The rule of one provider for one model."""

    name: str
    title: str
    kind: Literal["breakpoints", "automatic"]
    source: str
    """The address of the page."""
    read: str
    """The day on which the page was read, YYYY-MM-DD."""
    minimum: int
    """Tokens of the shortest prefix that is cached."""
    read_price: float
    """In shares of the price of an input token."""
    lifetime: CacheLifetime
    step: int = 1
    """Tokens by which a prefix grows above the minimum."""
    breakpoints: int = 0
    """Breakpoints of one request at most; 0 where the provider sets them itself."""
    lookback: int = 0
    """Positions that one breakpoint looks at, itself the first."""

    def as_json(self) -> dict[str, Any]:
        """The rule of the command-line contract."""
        return {
            "name": self.name,
            "source": self.source,
            "read": self.read,
            "minimum_tokens": self.minimum,
            "lifetime_s": self.lifetime.seconds,
            "write_price": self.lifetime.write_price,
            "read_price": self.read_price,
        }


def rule_names() -> tuple[str, ...]:
    """The providers whose rule is known."""
    return tuple(_document())


def rule_of(provider: str, model: str) -> CacheRule | None:
    """The rule for a model as a transcript names it; None for a provider whose rule is not known."""
    for name, rule in _document().items():
        if provider.lower() in rule["providers"]:
            return named_rule(name, model)
    return None


def named_rule(name: str, model: str = "", lifetime: str = DEFAULT_LIFETIME) -> CacheRule:
    """A provider's rule by its name here. Raises UsageError for an unknown name or lifetime."""
    rule = _document().get(name)
    if rule is None:
        raise UsageError(f"No rule is named {name!r}.", fix=f"Name one of {', '.join(rule_names())}.")
    lifetimes: Mapping[str, Mapping[str, Any]] = rule["lifetimes"]
    if lifetime not in lifetimes:
        raise UsageError(
            f"{rule['title']} publishes no lifetime of {lifetime}.",
            fix=f"Name one of {', '.join(lifetimes)}.",
        )
    return CacheRule(
        name,
        rule["title"],
        rule["kind"],
        rule["source"],
        rule["read"],
        _minimum(rule, model),
        rule["read_price"],
        CacheLifetime(lifetimes[lifetime]["seconds"], lifetimes[lifetime]["write_price"]),
        rule.get("step", 1),
        rule.get("breakpoints", 0),
        rule.get("lookback", 0),
    )


def _minimum(rule: Mapping[str, Any], model: str) -> int:
    """The minimum of a model; of one that the page does not name, that of the provider's last entry."""
    plain = model.lower().replace(".", "-")
    for entry in rule["minimum"]:
        if any(pattern in plain for pattern in entry["models"]):
            return int(entry["tokens"])
    return int(rule["minimum"][-1]["tokens"])


@cache
def _document() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
