"""A real HTTP server on loopback that embeds and reranks: deterministic, and naughty on demand.

Embeddings: any path that ends in `/embeddings` (OpenAI's form; Ollama's single form under `/api/`).
Reranker: any other path. Its form follows the request (five providers), its mood a part of the path:
`/partial/` every other document, `/fail/` 500, `/invalid/` JSON of another shape, `/garbage/` no JSON,
`/empty/` no items, `/slow/` no answer until the server closes, `/drip/` headers at once, then byte by byte.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

CANNED = ("Content-Type", "Authorization", "Api-Key", "X-Pinecone-API-Version")
"""The headers that the recorded requests keep."""


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def key(self) -> str:
        """The API key it carries, whatever the header."""
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return bearer or self.headers.get("Api-Key", "")

    def recorded(self) -> dict[str, Any]:
        """The request in the form of the recorded ones: path, headers without the transport's own, body."""
        headers = {name: self.headers[name] for name in CANNED if name in self.headers}
        return {"path": self.path, "headers": headers, "body": self.body}


@dataclass(frozen=True)
class Answer:
    """A status, a body (JSON unless bytes) and headers."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def bytes(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def chat_answer(content: Any, tokens: tuple[int, int] = (100, 20), **message: Any) -> Answer:
    """What a chat service answers: `content` as text, or as the JSON of an object."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return Answer(
        200, {"choices": [{"message": {"role": "assistant", "content": text, **message}}], "usage": usage}
    )


DROP = Answer(0)
"""Close the connection without a word."""


def text_vector(text: str, dims: int) -> list[float]:
    """The vector of `text`: a unit vector drawn from its hash, the same everywhere."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dims)
    return [float(x) for x in vector / np.linalg.norm(vector)]


def overlap(query: str, text: str) -> float:
    """The reranker's score: the share of the question's words that the text has."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / max(1, len(words))


class Loopback:
    """The running server. Set the attributes to change what the next requests get."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.dims = 8
        self.requests: list[Request] = []
        self.script: list[Answer] = []
        """Answers for the next requests, whatever they ask; then the server is itself again."""
        self.by_key: dict[str, Answer] = {}
        """Answers for every request with that API key."""
        self.vectors: dict[str, list[float]] = {}
        """Vectors of texts; another text's is drawn from its hash."""
        self.max_chars: int | None = None
        """Longest input of the embedding model."""
        self.hang = False
        """Whether embeddings are never answered."""
        self.late_s = 0.0
        """Seconds that an embedding takes."""
        self.chat: Callable[[Request], Answer] | None = None
        """What answers a question to a language model (any path that ends in `/chat/completions`)."""
        self.score: Callable[[str, str], float] = overlap
        """The reranker's score of (question, document)."""
        self.answered: list[str] = []
        """Paths of the requests that were answered to the end."""
        self.closing = threading.Event()

    def answer(self, request: Request) -> Answer:
        if self.script:
            return self.script.pop(0)
        if request.key in self.by_key:
            return self.by_key[request.key]
        if request.path.split("?")[0].endswith("/embeddings"):
            return self._embed(request)
        if self.chat is not None and request.path.endswith("/chat/completions"):
            return self.chat(request)
        return self._rerank(request)

    def _embed(self, request: Request) -> Answer:
        if self.hang:
            self.closing.wait(120)
        if self.late_s:
            self.closing.wait(self.late_s)
        asked = request.body.get("prompt", request.body.get("input"))
        texts = [asked] if isinstance(asked, str) else asked
        if self.max_chars is not None and max(map(len, texts)) > self.max_chars:
            return Answer(400, {"error": {"message": "This model's maximum context length is exceeded"}})
        found = [self.vectors.get(text) or text_vector(text, self.dims) for text in texts]
        if "prompt" in request.body:
            return Answer(200, {"embedding": found[0]})
        items = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(found)]
        return Answer(200, {"object": "list", "data": items})

    def _rerank(self, request: Request) -> Answer:
        for part, bad in _MOODS.items():
            if part in request.path:
                return bad
        body = request.body
        inner = body.get("input", body)
        documents = [
            d if isinstance(d, str) else d["text"] for d in inner.get("documents", inner.get("texts"))
        ]
        key = "score" if "texts" in body or "rank_fields" in body else "relevance_score"
        ranked = sorted(
            ({"index": i, key: self.score(inner["query"], text)} for i, text in enumerate(documents)),
            key=lambda item: -item[key],
        )[: body.get("top_n", body.get("top_k", len(documents)))]
        if "/partial/" in request.path:
            ranked = ranked[::2]
        if "texts" in body:
            return Answer(200, ranked)
        if "input" in body:
            return Answer(200, {"output": {"results": ranked}})
        return Answer(200, {"data" if key == "score" or "top_k" in body else "results": ranked})


_MOODS = {
    "/fail/": Answer(500, {"detail": "reranker is down"}),
    "/invalid/": Answer(200, {"ranking": [3, 1, 2]}),
    "/garbage/": Answer(200, b"<html>proxy login</html>"),
    "/empty/": Answer(200, {"results": []}),
}


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A server on a free port of 127.0.0.1 for the time of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = Request(self.path, dict(self.headers.items()), json.loads(raw or "null"))
            state.requests.append(request)
            if "/slow/" in self.path:
                state.closing.wait(120)
            answer = state.answer(request)
            if answer.status == 0:
                self.close_connection = True
                return
            body = answer.bytes()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for piece in _pieces(body, drip="/drip/" in self.path):
                self.wfile.write(piece)
                if len(piece) < len(body) and state.closing.wait(0.05):
                    return
            state.answered.append(self.path)

        def log_message(self, *_: Any) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up on purpose
    state = Loopback(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()


def _pieces(body: bytes, *, drip: bool) -> Sequence[bytes]:
    return [body[i : i + 1] for i in range(len(body))] if drip else [body]
