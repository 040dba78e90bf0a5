"""Whether the keys and services of a configuration answer: one small request each, with the word "test" alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.engine.discovery.plugins import embedding_of, rerank_of
from memtui.engine.discovery.variables import expand_field
from memtui.engine.providers import reranker
from memtui.engine.providers.embedding_services import EmbeddingSettings, request, service_of
from memtui.engine.providers.http import PostError, host_of

WORD = "test"

TIMEOUT_S = 15.0

_MEANING: Mapping[int, tuple[str, str]] = {
    400: ("the service does not take this request", "Check the model and the numbers that are asked for."),
    401: ("the key is wrong or has expired", "Check the key."),
    402: ("there is no credit left", "Top up the account."),
    403: ("the key has no permission for this", "Check the key's permissions."),
    404: ("there is no such model or address", "Check the model, and that the address ends in /v1."),
    429: ("too many requests, or no quota left", "Check the account's quota, or try later."),
}


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """One request to be made: what for, whom, with which key (by name), and what goes out."""

    purpose: str
    url: str
    key_name: str
    key: str
    body: Mapping[str, Any] | None
    """None: a GET."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With the key in them, in the service's own form."""
    expect_dims: int | None = None

    @property
    def host(self) -> str:
        """Who is asked."""
        return host_of(self.url)

    def __repr__(self) -> str:
        return f"KeyCheck({self.purpose!r}, host={self.host!r}, key={self.key_name!r})"


@dataclass(frozen=True, slots=True)
class KeyResult:
    """What came back."""

    purpose: str
    host: str
    key_name: str
    ok: bool
    status: int | None
    sentence: str
    remedy: str = ""
    ms: float | None = None

    def as_json(self) -> dict[str, Any]:
        """For the command line; no key is in it."""
        return {
            "for": self.purpose,
            "host": self.host,
            "key": self.key_name or None,
            "ok": self.ok,
            "status": self.status,
            "sentence": self.sentence,
            "remedy": self.remedy or None,
            "ms": None if self.ms is None else round(self.ms),
        }


def checks_for(settings: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[KeyCheck, ...]:
    """The requests that tell whether the services of these settings (dotted path to value) work; none is made.

    Each has the form in which its service is asked in earnest. A model that is signed in to with OAuth has no key to
    be checked.
    """
    embedding = _embedding(settings, environ)
    keys = _keys(settings.get("embedding.apiKey"), environ)
    out = [*_vectors(embedding, keys), *_reranking(settings, environ)]
    if (
        settings.get("llm.model")
        and settings.get("llm.auth") != "oauth"
        and settings.get("smartExtraction") is not False
    ):
        name, key = (_keys(settings.get("llm.apiKey"), environ) or keys or [("", "")])[0]
        url = _text(settings, "llm.baseURL", environ) or embedding.url  # as the plugin takes it
        model = _text(settings, "llm.model", environ)
        body = {"model": model, "messages": [{"role": "user", "content": WORD}], "max_tokens": 1}
        purpose = f"extracting with {model}"
        out.append(KeyCheck(purpose, f"{url.rstrip('/')}/chat/completions", name, key, body, _bearer(key)))
    return tuple(out)


def _embedding(settings: Mapping[str, Any], environ: Mapping[str, str]) -> EmbeddingSettings:
    """The embedding service as the plugin would ask it, without keys."""
    block: dict[str, Any] = {}
    for path, value in settings.items():
        top, dot, name = path.partition(".")
        if top == "embedding" and dot and "." not in name and name != "apiKey":
            block[name] = (expand_field(value, environ) or value) if isinstance(value, str) else value
    given = {"embedding": block, "dimensions": settings.get("dimensions")}
    found = embedding_of(given, given, environ, None)[0]
    assert found is not None
    return found


def _vectors(embedding: EmbeddingSettings, keys: list[tuple[str, str]]) -> list[KeyCheck]:
    out: list[KeyCheck] = []
    service = service_of(embedding)
    if service.name == "ollama":
        root = embedding.url.removesuffix("/v1")
        body: dict[str, Any] = {"model": embedding.model, "input": [WORD]}
        name, key = (keys or [("", "")])[0]
        out.append(KeyCheck("Ollama is running", f"{root}/api/tags", "", "", None))
        out.append(
            KeyCheck(
                f"embedding with {embedding.model}", f"{root}/v1/embeddings", name, key, body, _bearer(key),
                embedding.expected_dimensions,
            )
        )  # fmt: skip
        return out
    for number, (name, key) in enumerate(keys or [("", "")], 1):
        url, headers, body = request(embedding, service, [WORD], task=embedding.task_passage, key=key)
        which = f", key {number} of {len(keys)}" if len(keys) > 1 else ""
        out.append(
            KeyCheck(
                f"embedding with {embedding.model}{which}", url, name, key, {**body, "input": [WORD]}, headers,
                embedding.expected_dimensions,
            )
        )  # fmt: skip
    return out


def _reranking(settings: Mapping[str, Any], environ: Mapping[str, str]) -> list[KeyCheck]:
    retrieval = {
        path.removeprefix("retrieval."): value
        for path, value in settings.items()
        if path.startswith("retrieval.")
    }
    if not retrieval.get("rerank") and not retrieval.get("rerankApiKey"):
        return []
    found, _ = rerank_of(retrieval, retrieval, environ, None)
    if found is None:
        return []
    name, key = (_keys(retrieval.get("rerankApiKey"), environ) or [("", "")])[0]
    headers, body = reranker.request(replace(found, api_key=key), WORD, [WORD], 1)
    return [KeyCheck(f"reranking with {found.model}", found.endpoint, name, key, body, headers)]


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def run_checks(checks: Sequence[KeyCheck], *, timeout_s: float = TIMEOUT_S) -> tuple[KeyResult, ...]:
    """Make the requests one after the other; the first that fails stops them."""
    out: list[KeyResult] = []
    for check in checks:
        result = _run(check, timeout_s)
        out.append(result)
        if not result.ok:
            break
    return tuple(out)


def _run(check: KeyCheck, timeout_s: float) -> KeyResult:
    if check.key_name and not check.key:
        return KeyResult(
            check.purpose, check.host, check.key_name, False, None, f"{check.key_name} is not set here",
            "Set it, here and for the gateway's service.",
        )  # fmt: skip
    try:
        status, reply, ms = _ask(check, timeout_s)
    except PostError as error:
        said = "did not answer in time" if error.kind == "timeout" else "cannot be reached"
        remedy = "Start Ollama." if "Ollama" in check.purpose else "Check the address and the network."
        return KeyResult(
            check.purpose, check.host, check.key_name, False, None, f"{check.host} {said}", remedy
        )
    if not 200 <= status < 300:
        said, remedy = _MEANING.get(status, ("the service failed", "Try again in a moment."))
        return KeyResult(
            check.purpose, check.host, check.key_name, False, status, f"{status}: {said}", remedy, ms
        )
    dims = _dims(reply)
    if check.expect_dims is not None and dims is not None and dims != check.expect_dims:
        return KeyResult(
            check.purpose, check.host, check.key_name, False, status,
            f"the model gives {dims} numbers, {check.expect_dims} are configured",
            "Set embedding.dimensions to what the model gives.", ms,
        )  # fmt: skip
    more = f", {dims} dimensions" if dims is not None else ""
    return KeyResult(check.purpose, check.host, check.key_name, True, status, f"{status}{more}", "", ms)


def _ask(check: KeyCheck, timeout_s: float) -> tuple[int, Any, float]:
    """(status, body, milliseconds). Raises PostError without an answer."""
    import time

    import httpx

    from memtui.engine.providers.http import new_client

    begun = time.perf_counter()
    try:
        with new_client(check.url) as client:
            method = "GET" if check.body is None else "POST"
            reply = client.request(
                method, check.url, json=check.body, headers=dict(check.headers), timeout=timeout_s
            )
            ms = (time.perf_counter() - begun) * 1000
            try:
                return reply.status_code, reply.json(), ms
            except ValueError:
                return reply.status_code, None, ms
    except httpx.TimeoutException:
        raise PostError("timeout", "no answer in time") from None
    except (httpx.HTTPError, OSError, ValueError):
        raise PostError("unreachable", "cannot be reached") from None


def _dims(reply: Any) -> int | None:
    try:
        return len(reply["data"][0]["embedding"])
    except (TypeError, KeyError, IndexError):
        return None  # a list of models, a ranking, a conversation


def _text(settings: Mapping[str, Any], path: str, environ: Mapping[str, str]) -> str:
    value = settings.get(path)
    return (expand_field(value, environ) or value) if isinstance(value, str) else ""


def _keys(value: Any, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """(name of the variable, key) of each key; the name is empty for a key that is written out."""
    from memtui.engine.discovery.variables import key_refs

    refs = key_refs("key", value, value, environ, None)
    return [(ref.name if ref.source == "environment" else "", ref.read()) for ref in refs]
