"""Whether the keys and services of a configuration answer: one small request each, with the word "test" alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.discovery.variables import expand_field
from memtui.engine.providers.http import PostError, host_of

WORD = "test"

TIMEOUT_S = 15.0

_MEANING: Mapping[int, tuple[str, str]] = {
    400: ("the service does not take this request", "Check the model and the numbers that are asked for."),
    401: ("the key is wrong or has expired", "Check the key."),
    402: ("there is no credit left", "Top up the account."),
    403: ("the key is not allowed to do this", "Check the key's rights."),
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
    """The requests that tell whether the services of these settings (dotted path to value) work; none is made."""
    out: list[KeyCheck] = []
    base = _text(settings, "embedding.baseURL", environ) or "https://api.openai.com/v1"
    model = _text(settings, "embedding.model", environ) or "text-embedding-3-small"
    name, key = _key(settings.get("embedding.apiKey"), environ)
    dims = settings.get("embedding.dimensions")
    if _is_ollama(base):
        out.append(KeyCheck("Ollama is running", f"{_root(base)}/api/tags", "", "", None))
    body: dict[str, Any] = {"model": model, "input": [WORD]}
    if settings.get("embedding.taskPassage"):
        body["task"] = settings["embedding.taskPassage"]
    out.append(
        KeyCheck(
            f"embedding with {model}",
            f"{base.rstrip('/')}/embeddings",
            name,
            key,
            body,
            dims if isinstance(dims, int) else None,
        )
    )
    if settings.get("retrieval.rerank") == "cross-encoder" and settings.get("retrieval.rerankApiKey"):
        name, key = _key(settings["retrieval.rerankApiKey"], environ)
        url = _text(settings, "retrieval.rerankEndpoint", environ) or "https://api.jina.ai/v1/rerank"
        body = {
            "model": settings.get("retrieval.rerankModel", "jina-reranker-v3"),
            "query": WORD,
            "documents": [WORD],
        }
        if settings.get("retrieval.rerankProvider", "jina") == "jina":
            body["top_n"] = 1
        out.append(KeyCheck(f"reranking with {body['model']}", url, name, key, body))
    if settings.get("llm.model") and settings.get("smartExtraction") is not False:
        name, key = _key(settings.get("llm.apiKey"), environ)
        url = _text(settings, "llm.baseURL", environ) or "https://api.openai.com/v1"
        body = {
            "model": settings["llm.model"],
            "messages": [{"role": "user", "content": WORD}],
            "max_tokens": 1,
        }
        out.append(
            KeyCheck(
                f"extracting with {settings['llm.model']}",
                f"{url.rstrip('/')}/chat/completions",
                name,
                key,
                body,
            )
        )
    return tuple(out)


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
    more = f", {dims} numbers" if dims is not None else ""
    return KeyResult(check.purpose, check.host, check.key_name, True, status, f"{status}{more}", "", ms)


def _ask(check: KeyCheck, timeout_s: float) -> tuple[int, Any, float]:
    """(status, body, milliseconds). Raises PostError without an answer."""
    import time

    import httpx

    from memtui.engine.providers.http import new_client

    headers = {"Authorization": f"Bearer {check.key}"} if check.key else {}
    begun = time.perf_counter()
    try:
        with new_client(check.url) as client:
            method = "GET" if check.body is None else "POST"
            reply = client.request(method, check.url, json=check.body, headers=headers, timeout=timeout_s)
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
        return None


def _text(settings: Mapping[str, Any], path: str, environ: Mapping[str, str]) -> str:
    value = settings.get(path)
    return (expand_field(value, environ) or value) if isinstance(value, str) else ""


def _key(value: Any, environ: Mapping[str, str]) -> tuple[str, str]:
    """(name of the variable, key); the name is empty for a key that is written out."""
    from memtui.engine.discovery.variables import key_refs

    refs = key_refs("key", value, value, environ, None)
    if not refs:
        return "", ""
    ref = refs[0]
    return (ref.name if ref.source == "environment" else ""), ref.read()


def _is_ollama(base: str) -> bool:
    return ":11434" in base


def _root(base: str) -> str:
    return base.rstrip("/").removesuffix("/v1")
