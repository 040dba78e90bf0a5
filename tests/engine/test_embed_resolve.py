"""Which embedder serves a store, and the words when none does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memtui.engine.providers.embedder import NoEmbedder, resolve_embedder
from memtui.engine.providers.embedding_services import EmbeddingSettings, service_of
from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.providers.static_embedder import BUNDLED, StaticEmbedder

OPENAI = EmbeddingSettings(api_keys=("sk-x",))
LOCAL = EmbeddingSettings(model="bge-m3", base_url="http://127.0.0.1:8080/v1")


def test_what_is_configured_comes_first():
    found = resolve_embedder(OPENAI, own_store=True, dims=1536)
    assert isinstance(found, OpenAIEmbedder)
    assert found.describe() == "text-embedding-3-small at api.openai.com, 1536 dimensions"


@pytest.mark.parametrize("hint", [None, BUNDLED])
def test_own_stores_have_the_bundled_model(hint: str | None):
    found = resolve_embedder(None, own_store=True, dims=256, model_hint=hint)
    assert isinstance(found, StaticEmbedder)
    assert found.describe() == f"{BUNDLED}, bundled, offline, 256 dimensions"


def test_the_bundled_model_can_be_configured():
    found = resolve_embedder(EmbeddingSettings(model=BUNDLED), own_store=False, dims=256)
    assert isinstance(found, StaticEmbedder)


def test_a_store_that_names_the_bundled_model_is_not_asked_elsewhere():
    assert isinstance(resolve_embedder(OPENAI, own_store=True, dims=256, model_hint=BUNDLED), StaticEmbedder)


def test_a_foreign_store_without_a_provider_has_no_embedder():
    found = resolve_embedder(None, own_store=False, dims=256)
    assert isinstance(found, NoEmbedder)
    assert "No embedding provider" in found.reason


WRONG = [
    (OPENAI, True, 768, None, "text-embedding-3-small gives 1536 dimensions, this table holds 768."),
    (EmbeddingSettings(model="m", dimensions=512, base_url="http://h/v1"), False, 1024, None, "512"),
    (
        EmbeddingSettings(model="bge-m3", request_dimensions=256, base_url="http://h/v1"),
        False,
        1024,
        None,
        "256",
    ),
    (None, True, 384, None, f"{BUNDLED} gives 256 dimensions, this table holds 384."),
    (OPENAI, True, 1536, "nomic-embed-text", "made by nomic-embed-text, and the configured model is"),
    (None, True, 768, "nomic-embed-text", "made by nomic-embed-text, and no provider"),
    (EmbeddingSettings(base_url="${JINA_URL}/v1"), False, 1536, None, "is not an http or https address."),
    (EmbeddingSettings(api_keys=(" ",)), False, 1536, None, "There is no API key for api.openai.com."),
]


@pytest.mark.parametrize(("settings", "own_store", "dims", "hint", "words"), WRONG)
def test_what_cannot_work_is_said_with_a_remedy(settings, own_store, dims, hint, words):
    found = resolve_embedder(settings, own_store=own_store, dims=dims, model_hint=hint)
    assert isinstance(found, NoEmbedder)
    assert words in found.reason
    assert found.fix.endswith(".")


def test_a_local_server_needs_no_key_and_an_unknown_length_is_trusted():
    assert isinstance(resolve_embedder(LOCAL, own_store=False, dims=1024), OpenAIEmbedder)
    unknown = EmbeddingSettings(model="house-model", base_url="http://h/v1")
    found = resolve_embedder(unknown, own_store=False, dims=333)
    assert isinstance(found, OpenAIEmbedder)
    assert found.dims == 333


SERVICES = [
    ("https://api.openai.com/v1", "jina-x", "openai"),
    ("https://x.openai.azure.com/openai", "m", "azure-openai"),
    ("https://api.jina.ai/v1", "m", "jina"),
    ("https://api.voyageai.com/v1", "m", "voyage"),
    ("https://integrate.api.nvidia.com/v1", "jina-x", "nvidia"),
    ("https://gateway.example/api.jina.ai/v1", "m", "generic"),
    ("http://localhost:11434/v1", "jina-x", "ollama"),
    ("https://h.example/ollama/v1", "m", "ollama"),
    ("http://h:8000/v1", "jina-embeddings-v3", "jina"),
    ("http://h:8000/v1", "voyage-3", "voyage"),
    ("http://h:8000/v1", "nvidia/nv-embed", "nvidia"),
    ("", "anything", "openai"),
]


@pytest.mark.parametrize(("base_url", "model", "name"), SERVICES)
def test_the_host_counts_before_the_model(base_url: str, model: str, name: str):
    settings = EmbeddingSettings(model=model, base_url=base_url, provider="openai-compatible")
    assert service_of(settings).name == name


def test_resolving_imports_no_client():
    code = (
        "import sys; from memtui.engine.providers.embedder import resolve_embedder as r;"
        "from memtui.engine.providers.embedding_services import EmbeddingSettings as S;"
        "import memtui.engine.providers.reranker;"
        "r(S(api_keys=('k',)), own_store=False, dims=None); r(None, own_store=True, dims=256);"
        "print([m for m in ('numpy', 'httpx', 'tenacity', 'tokenizers', 'ssl') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
