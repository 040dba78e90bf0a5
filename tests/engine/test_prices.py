"""The price of what is sent: of a hosted model from its list, of the own machine none, of an unknown one no guess."""

from __future__ import annotations

import pytest

from memtui.engine.providers.prices import price_in_words, price_of, tokens_of


@pytest.mark.parametrize(
    ("model", "host", "chars", "dollars", "said"),
    [
        ("text-embedding-3-small", "api.openai.com", 4_000_000, 0.02, "perhaps 0.02 dollars"),
        ("text-embedding-3-large", "api.openai.com", 40_000_000, 1.30, "perhaps 1.30 dollars"),
        ("openai/text-embedding-3-small", "openrouter.ai", 400_000_000, 2.0, "perhaps 2.00 dollars"),
        ("text-embedding-3-small", "api.openai.com", 400, 2e-6, "less than 0.01 dollars"),
        ("jina-embeddings-v5-text-small", "api.jina.ai:443", 4_000_000, 0.05, "perhaps 0.05 dollars"),
        ("text-embedding-3-small", "localhost:8080", 4_000_000, 0.0, "free, on your own machine"),
        ("text-embedding-3-small", "192.168.1.7", 4_000_000, 0.0, "free, on your own machine"),
        ("text-embedding-3-small", "localhost.example.com", 4_000_000, 0.02, "perhaps 0.02 dollars"),
        ("a-model-of-nobody", "api.example.com", 4_000_000, None, "price not known"),
        (None, "api.openai.com", 4_000_000, None, "price not known"),
    ],
)
def test_the_price_of_a_model(
    model: str | None, host: str, chars: int, dollars: float | None, said: str
) -> None:
    found = price_of(model, host, chars)
    assert found == (None if dollars is None else pytest.approx(dollars))
    assert price_in_words(found) == said


def test_a_part_of_a_token_is_paid_as_a_whole_one() -> None:
    assert [tokens_of(chars) for chars in (0, 1, 4, 5)] == [0, 1, 1, 2]
