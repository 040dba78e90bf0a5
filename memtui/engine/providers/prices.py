"""What sending texts to an embedding service costs, where its price is known."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

from memtui.engine.providers.embedding_services import bare_model

CHARS_A_TOKEN = 4
"""Of English text; a service counts on its own."""

DOLLARS: Mapping[str, float] = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "jina-embeddings-v5-text-small": 0.05,
    "jina-embeddings-v5-text-nano": 0.05,
}
"""Dollars for a million tokens, written down in 2026 and not looked up; another model's price is not known."""


def tokens_of(chars: int) -> int:
    """About how many tokens a service counts for so many characters."""
    return -(-chars // CHARS_A_TOKEN)


def price_of(model: str | None, host: str | None, chars: int) -> float | None:
    """Dollars for embedding so many characters; 0 on an own machine, None where no price is known."""
    if is_own(host):
        return 0.0
    known = DOLLARS.get(bare_model(model)) if model else None
    return None if known is None else tokens_of(chars) / 1e6 * known


def price_in_words(money: float | None) -> str:
    """A price as a part of a sentence."""
    if money is None:
        return "price not known"
    if money == 0:
        return "free, on your own machine"
    return "less than 0.01 dollars" if money < 0.01 else f"perhaps {money:.2f} dollars"


def is_own(host: str | None) -> bool:
    """Whether a host is this machine or in the own network, where nobody asks a price; it may name its port."""
    if not host:
        return False
    name = host.rpartition("@")[2]
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    try:
        address = ip_address(name)
    except ValueError:
        return name == "localhost" or name.endswith((".local", ".localhost"))
    return address.is_private or address.is_loopback
