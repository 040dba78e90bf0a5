"""Asking an embedding service: keys in turn, another try where one makes sense, answers checked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.embed.keys import KeyRing
from memtui.engine.embed.refusals import Refusal, kind_of, refused, unanswered
from memtui.engine.embed.services import request, service_of, vectors
from memtui.engine.embed.settings import EmbeddingSettings
from memtui.engine.errors import EmbeddingError
from memtui.engine.post import PostError, Reply, excerpt, new_client, post_json

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray
    from tenacity import RetryCallState

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

    def _each_key(self, texts: Sequence[str], task: str | None, budget: Budget, patient: bool) -> Reply:
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

    def _checked(self, reply: Reply, count: int) -> list[NDArray[np.float32]]:
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
                f"{settings.host} sent no usable vectors for {count} text(s).",
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


def _retry_after(reply: Reply) -> float | None:
    try:
        return max(0.0, float(reply.headers["retry-after"]))
    except (KeyError, ValueError):
        return None  # absent, or a date: clocks differ
