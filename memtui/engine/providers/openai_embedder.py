"""Vectors from any service that speaks the OpenAI form of `/v1/embeddings`, and from Ollama."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import trim
from memtui.engine.core.text import counted
from memtui.engine.providers.embedding_services import (
    EmbeddingSettings,
    Refusal,
    TooLongError,
    kind_of,
    question,
    refused,
    request,
    service_of,
    unanswered,
    vectors,
)
from memtui.engine.providers.http import HttpReply, PostError, excerpt, new_client, post_json

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray
    from tenacity import RetryCallState


# Several API keys of one service, used in turn.


class KeyRing:
    """Hands out each key once per round, every round beginning one key further. Safe from any thread."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        # Keys are pasted with line ends; the service without keys is asked once, without one.
        self.keys = tuple(key.strip() for key in keys if key.strip()) or ("",)
        self._turn = 0
        self._lock = threading.Lock()

    def round(self) -> tuple[str, ...]:
        """All keys in the order in which this request shall try them."""
        with self._lock:
            start = self._turn
            self._turn = (start + 1) % len(self.keys)
        return self.keys[start:] + self.keys[:start]


# Asking an embedding service: keys in turn, another try where one makes sense, answers checked.

ATTEMPTS = 3

FIRST_WAIT_S = 0.25
"""Doubled with every try; a service's own Retry-After counts instead."""


class Budget:
    """Seconds that a piece of work may take, all its requests and waits together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left, 0 when used up."""
        return max(0.0, self._end - time.monotonic())


class _Again(Exception):  # noqa: N818 - a request to try once more; `error` is what it becomes in the end
    def __init__(self, error: EmbeddingError, after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after_s = after_s


class EmbeddingClient:
    """One service and model. `dims` is the vector length that answers must have, None for any."""

    def __init__(
        self, settings: EmbeddingSettings, dims: int | None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._settings = settings
        self._service = service_of(settings)
        self._dims = dims
        self._sleep = sleep
        self._keys = KeyRing(settings.api_keys)
        self._http: httpx.Client | None = None
        self._lock = threading.Lock()

    def ask(
        self, texts: Sequence[str], task: str | None, budget: Budget, *, patient: bool
    ) -> list[NDArray[np.float32]]:
        """The vectors of `texts`, float32 [dims] each, from one request.

        A broken connection and a passing failure of the server are tried up to three times. When every key is
        rate limited, `patient` waits as the service says. Raises EmbeddingError, TooLongError among them.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_before_delay

        heard: list[EmbeddingError] = []
        tries = Retrying(
            retry=retry_if_exception_type(_Again),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(budget.left),
            wait=_pause,
            sleep=self._sleep,
            before_sleep=lambda state: heard.extend(_told(state)),
            reraise=True,
        )
        try:
            reply = tries(self._each_key, texts, task, budget, patient)
        except _Again as last:
            raise _with_words(last.error, heard) from None
        except EmbeddingError as error:
            raise _with_words(error, heard) from None
        return self._checked(reply, len(texts))

    def close(self) -> None:
        """Give the connection back; the next request opens a new one."""
        with self._lock:
            http, self._http = self._http, None
        if http is not None:
            http.close()

    def _each_key(self, texts: Sequence[str], task: str | None, budget: Budget, patient: bool) -> HttpReply:
        settings = self._settings
        for key in self._keys.round():
            try:
                connection = self._connection()
                url, headers, body = request(settings, self._service, texts, task=task, key=key)
                reply = post_json(connection, url, headers=headers, body=body, timeout_s=budget.left)
            except PostError as failure:
                error = unanswered(settings, failure, budget.seconds)
                if failure.kind == "dropped":
                    raise _Again(error) from None
                raise error from None
            if reply.ok:
                return reply
            kind = kind_of(reply)
            if kind is not Refusal.RATE:
                break
        error = refused(settings, reply)
        if kind is Refusal.PASSING or (kind is Refusal.RATE and patient):
            raise _Again(error, _retry_after(reply))
        raise error

    def _connection(self) -> httpx.Client:
        with self._lock:
            if self._http is None:
                self._http = new_client(self._settings.url)
            return self._http

    def _checked(self, reply: HttpReply, count: int) -> list[NDArray[np.float32]]:
        import numpy as np

        settings = self._settings
        try:
            found = vectors(reply.json(), count)
            with np.errstate(over="ignore"):  # what does not fit becomes infinite, and is refused below
                arrays = [np.asarray(vector, np.float32) for vector in found or ()]
        except (ValueError, TypeError, RecursionError):
            arrays = []
        if len(arrays) != count or any(array.ndim != 1 or not array.size for array in arrays):
            raise EmbeddingError(
                f"{settings.host} sent no usable vectors for {counted(count, 'text')}.",
                fix="Check that embedding.baseURL is the root of an OpenAI-compatible service, with its /v1.",
                details=excerpt(reply.text, settings.api_keys),
            )
        for array in arrays:
            if self._dims is not None and len(array) != self._dims:
                raise EmbeddingError(
                    f"{settings.model} at {settings.host} gives {len(array)} dimensions, not {self._dims}.",
                    fix="Configure the model (or requestDimensions) that made this store's vectors.",
                )
            if not np.isfinite(array).all() or not array.any():
                raise EmbeddingError(
                    f"{settings.model} at {settings.host} sent a vector of zeros or of no numbers.",
                    fix="Check the model on the server; such a vector finds everything and nothing.",
                )
        return arrays


def _pause(state: RetryCallState) -> float:
    last = state.outcome.exception() if state.outcome else None
    if isinstance(last, _Again) and last.after_s is not None:
        return last.after_s
    return float(FIRST_WAIT_S * 2 ** (state.attempt_number - 1))


def _told(state: RetryCallState) -> list[EmbeddingError]:
    """The error of one try, as a list."""
    error = state.outcome.exception() if state.outcome is not None else None
    return [error.error] if isinstance(error, _Again) else []


def _with_words(error: EmbeddingError, heard: Sequence[EmbeddingError]) -> EmbeddingError:
    """A last try without an answer, with what an earlier one was told: that names the cause."""
    before = next((each for each in reversed(heard) if each.message != error.message), None)
    if before is None or type(error) is not EmbeddingError:
        return error
    return EmbeddingError(
        f"{error.message} The try before: {before.message}", fix=error.fix, details=error.details
    )


def _retry_after(reply: HttpReply) -> float | None:
    try:
        return max(0.0, float(reply.headers["retry-after"]))
    except (KeyError, ValueError):
        return None  # absent, or a date: clocks differ


# Splitting a text that is too long for a model into overlapping pieces, as memory-lancedb-pro does.
#
# The row's vector is then the mean of the pieces' vectors, so equal pieces make equal vectors. One
# difference on purpose: the peer stops after a fixed number of pieces and silently drops the end of a long
# bullet list.

CONTEXT: Mapping[str, int] = MappingProxyType(
    {
        "gemini-embedding-001": 2048,
        "all-MiniLM-L6-v2": 512,
        "all-mpnet-base-v2": 512,
    }
)
"""Context length by exact model name; every other model counts as 8,192."""

MAX_LINES = 50

CJK_DIVISOR = 2.5
"""A Chinese, Japanese or Korean character is two to three tokens."""

_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")

_SENTENCE_ENDS = ".!?。！？"


def split(text: str, model: str, limit: int | None = None) -> list[str]:
    """Trimmed pieces of `text`, none longer than `limit` characters where one is given.

    A piece has at most 0.7 of the model's context in characters, ends at a sentence, a line or a word, and
    begins 0.05 of the context before the end of the last one.
    """
    context = CONTEXT.get(model, 8192)
    solid = "".join(text.split())
    divisor = CJK_DIVISOR if solid and len(_CJK.findall(solid)) / len(solid) > 0.3 else 1.0
    most = max(200, int(context * 0.7 / divisor))
    overlap = int(context * 0.05 / divisor)
    least = max(100, int(context * 0.1 / divisor))

    found = []
    start = 0
    while len(text) - start > most:
        end = _end(text, start, start + least, start + most)
        if len(trim(text[start:end])) < least:
            end = start + most
        found.append(trim(text[start:end]))
        start = max(end - overlap, start + 1)
    found.append(trim(text[start:]))
    if limit is not None:
        found = [trim(piece[at : at + limit]) for piece in found for at in range(0, len(piece), limit)]
    return [piece for piece in found if piece]


def _end(text: str, start: int, low: int, high: int) -> int:
    """The best place in [low, high] to end the piece that begins at `start`."""
    if text.count("\n", start, high) >= MAX_LINES:
        after = start
        for _ in range(MAX_LINES):
            after = text.index("\n", after) + 1
        return max(after, low)
    sentence = max(text.rfind(mark, low, high) for mark in _SENTENCE_ENDS)
    if sentence >= 0:
        end = sentence + 1
        while end < high and text[end].isspace():
            end += 1
        return end
    line = text.rfind("\n", low, high)
    if line >= 0:
        return line + 1
    return next((at for at in range(high - 1, low - 1, -1) if text[at].isspace()), high)


CACHED_QUESTIONS = 256

BATCH = 64

SHORTEST = 100
"""A text is not made shorter than this many characters: its length is then not what the service minds."""


class OpenAIEmbedder:
    """An embedding model behind HTTP. Keeps its connection and the vectors of the last 256 questions.

    `table_dims` is the vector length of the table to search: an answer of another length is an error, never a
    search. `sleep` waits between two tries. Safe from any thread; `close` when done.
    """

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        table_dims: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._dims = table_dims or settings.expected_dimensions
        self._client = EmbeddingClient(settings, self._dims, sleep)
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._settings.model

    @property
    def settings(self) -> EmbeddingSettings:
        """What is asked, and where; with the keys."""
        return self._settings

    @property
    def dims(self) -> int | None:
        """Vector length, None when neither table nor settings nor the model's name tell."""
        return self._dims

    @property
    def host(self) -> str:
        """The host that texts are sent to, with its port."""
        return self._settings.host

    def describe(self) -> str:
        """The model, its host and its vector length, on one line."""
        length = f", {self._dims} dimensions" if self._dims else ""
        return f"{self.name} at {self._settings.host}{length}"

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, float32 [dims], read-only; not asked for again while among the last 256.

        One time budget (`timeout_s`) covers every request. Raises EmbeddingError.
        """
        asked = self._clipped(trim(text))
        if not asked:
            raise EmbeddingError("There is no question to embed.", fix="Type a question.")
        with self._lock:
            if asked in self._cache:
                self._cache.move_to_end(asked)
                return self._cache[asked]
        budget = Budget(self._settings.timeout_s)
        vector = self._one(question(self._settings, asked), self._settings.task_query, budget, patient=False)
        vector.setflags(write=False)
        with self._lock:
            self._cache[asked] = vector
            if len(self._cache) > CACHED_QUESTIONS:
                self._cache.popitem(last=False)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of stored texts, float32 [n, dims], in batches of 64 with a time budget each.

        A rate limit is waited for within that budget. Raises EmbeddingError, for an empty text too.
        """
        import numpy as np

        passages = [self._clipped(trim(text)) for text in texts]
        if "" in passages:
            where = passages.index("") + 1
            raise EmbeddingError(f"Text {where} of {len(passages)} is empty.", fix="Leave empty texts out.")
        found: list[NDArray[np.float32]] = []
        for start in range(0, len(passages), BATCH):
            found += self._many(passages[start : start + BATCH])
        return np.stack(found) if found else np.zeros((0, self._dims or 0), np.float32)

    def close(self) -> None:
        """Give the connection back; the next request opens a new one."""
        self._client.close()

    def _clipped(self, text: str) -> str:
        rules = self._settings.clip
        return text if rules is None else rules.clip(text)

    def _many(self, passages: list[str]) -> list[NDArray[np.float32]]:
        settings, limit = self._settings, self._settings.input_limit
        if len(passages) > 1 and (limit is None or max(map(len, passages)) <= limit):
            budget = Budget(settings.batch_timeout_s)
            try:
                return self._client.ask(passages, settings.task_passage, budget, patient=True)
            except TooLongError:
                pass  # some services limit the sum of a batch; one by one tells which text it is, if any
        return [
            self._one(text, settings.task_passage, Budget(settings.batch_timeout_s), patient=True)
            for text in passages
        ]

    def _one(self, text: str, task: str | None, budget: Budget, *, patient: bool) -> NDArray[np.float32]:
        """The vector of one text; one that is too long becomes the mean of its pieces' vectors, or is cut."""
        import numpy as np

        limit = self._settings.input_limit
        if limit is not None and len(text) > limit:
            pieces = split(text, self.name, limit) if self._settings.chunking else [_cut(text, limit)]
        else:
            try:
                return self._client.ask([text], task, budget, patient=patient)[0]
            except TooLongError:
                if len(text) < 2 * SHORTEST:
                    raise
            pieces = split(text, self.name) if self._settings.chunking else []
            if len(pieces) < 2:
                # Our measure says it fits, the service says no: the first half will have to speak for it.
                pieces = [text[: len(text) // 2]]
        vectors = np.stack([self._one(piece, task, budget, patient=patient) for piece in pieces])
        # Not made unit length again: this is how memory-lancedb-pro stores it.
        mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)


def _cut(text: str, limit: int) -> str:
    return text[:limit] if limit <= 3 else text[: limit - 3].rstrip() + "..."
