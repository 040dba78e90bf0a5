"""A language model behind any service of OpenAI's chat form: asked within a budget, every call accounted for."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.private_file import write_private
from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import time_span
from memtui.engine.providers import codex
from memtui.engine.providers.http import HttpReply, PostError, excerpt, host_of, new_client, post_json
from memtui.engine.providers.prices import tokens_of
from memtui.engine.providers.reply_json import read_object

if TYPE_CHECKING:
    import httpx


_WAIT_S = 0.5

_LONGEST_WAIT_S = 60.0

_PASSING = (408, 409, 429)

HOUR_MS = 3_600_000

CALLS_PER_HOUR = 30
"""As many as memory-lancedb-pro allows itself."""

_NO_SCHEMA = ("response_format", "json_schema", "structured", "schema")

_THINKS = ("qwen3", "qwq")

_LOCAL = ("localhost", "127.", "[::1]", "::1")

Waits = Callable[[int, str, float], None]
"""(attempt that failed, why, seconds until the next)."""


@dataclass(frozen=True, slots=True, repr=False)
class ChatSettings:
    """A chat service. `repr` never shows the key."""

    base_url: str
    """Its root, with `/v1`."""
    model: str
    api_key: str = ""
    timeout_s: float = 60.0
    think_level: str = ""
    """`reasoning.effort` of a model that takes one; blank sends none."""
    calls_per_hour: int = CALLS_PER_HOUR
    price_in: float | None = None
    """Of a million tokens sent, in the person's currency; None: not known."""
    price_out: float | None = None
    """Of a million tokens answered."""
    oauth_file: Path | None = None
    """The plugin's login in place of a key: only read."""

    def __repr__(self) -> str:
        return f"ChatSettings(model={self.model!r}, host={host_of(self.base_url)!r})"

    @property
    def host(self) -> str:
        """Host and port, which a screen may show."""
        return host_of(codex.endpoint(self.base_url) if self.oauth_file else self.base_url)

    @property
    def local(self) -> bool:
        """Whether the texts stay on this machine."""
        return self.host.startswith(_LOCAL)

    def price_of(self, chars: int) -> float | None:
        """What sending so many characters costs, the answer not counted; None where no price is configured."""
        if self.price_in is None:
            return 0.0 if self.local else None
        return tokens_of(chars) / 1e6 * self.price_in


def reasoning_disabled(model: str) -> bool:
    """Whether the model thinks aloud unless a flag of its template forbids it."""
    name = model.lower()
    return any(each in name for each in _THINKS) or ("deepseek" in name and "r1" in name.split("deepseek")[1])


def direct_model_ref(model: str) -> str:
    """The model's name for a service that is asked directly: without the router's `openrouter/`."""
    router, slash, name = model.strip().partition("/")
    direct = slash and router.strip().lower() == "openrouter" and name.strip()
    return name.strip() if direct else model.strip()


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One question to a model, for the account of what it cost: answered or not."""

    purpose: str
    model: str
    host: str
    tokens_in: int | None = None
    """None where the service does not say."""
    tokens_out: int | None = None
    ms: float = 0.0
    attempts: int = 1
    status: Literal["answered", "failed", "refused"] = "answered"
    """refused: never sent, because the budget of the hour is used up."""
    problem: str = ""
    cost: float | None = None
    """In the currency of the prices; 0 on this machine, None where no price is known."""
    structured: bool = False
    """Whether the service held the model to the schema."""

    @property
    def tokens(self) -> int | None:
        """Both together, None where the service does not say."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return self.tokens_in + self.tokens_out

    def as_json(self) -> dict[str, Any]:
        """The call of the command-line contract."""
        return {
            "purpose": self.purpose,
            "model": self.model,
            "host": self.host,
            "tokens": self.tokens,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "ms": round(self.ms, 1),
            "attempts": self.attempts,
            "status": self.status,
            "problem": self.problem,
            "cost": self.cost,
        }


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said: its text as it was, the object in it (None when there is none), and the call."""

    text: str
    value: dict[str, Any] | None
    call: ChatCall


class ChatError(MemtuiError):
    """A model gave no answer; `call` says what was tried."""

    def __init__(self, message: str, call: ChatCall, *, fix: str = "", details: str = "") -> None:
        super().__init__(message, fix=fix, details=details)
        self.call = call


@dataclass(slots=True)
class HourBudget:
    """A budget of calls in any sixty minutes; safe from several threads. `path` keeps it over several runs."""

    limit: int
    path: Path | None = None
    _taken: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, now_ms: int) -> bool:
        """Charge one call; False when the hour has none left, and nothing is charged."""
        with self._lock:
            self._read(now_ms)
            if len(self._taken) >= self.limit:
                return False
            self._taken.append(now_ms)
            self._write()
            return True

    def used(self, now_ms: int) -> int:
        """Calls of the last sixty minutes."""
        with self._lock:
            self._read(now_ms)
            return len(self._taken)

    def next_ms(self, now_ms: int) -> int:
        """Milliseconds until a call is free again, 0 when one is."""
        with self._lock:
            self._read(now_ms)
            if len(self._taken) < self.limit or not self._taken:
                return 0
            return max(0, self._taken[-self.limit] + HOUR_MS - now_ms) if self.limit > 0 else HOUR_MS

    def _read(self, now_ms: int) -> None:
        if self.path is not None:
            try:
                kept = json.loads(self.path.read_text("utf-8"))
            except (OSError, ValueError, RecursionError):
                kept = []
            self._taken = [each for each in kept if isinstance(each, int)] if isinstance(kept, list) else []
        self._taken = [each for each in self._taken if now_ms - HOUR_MS < each <= now_ms]

    def _write(self) -> None:
        if self.path is None:
            return
        try:
            write_private(self.path, json.dumps(self._taken))
        except OSError:
            return  # a budget that cannot be kept still holds for this run


class ChatClient:
    """Asks one service; to be used in a `with` block, which keeps one connection. Safe from several threads."""

    def __init__(
        self,
        settings: ChatSettings,
        *,
        now: Callable[[], int],
        budget: HourBudget | None = None,
        attempts: int = 3,
        timer: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self.budget = budget
        self.calls: list[ChatCall] = []
        """Every call of this client, in order."""
        self._now, self._timer, self._sleep, self._attempts = now, timer, sleep, attempts
        self._structured = settings.oauth_file is None
        self._lock = threading.Lock()
        try:
            self._client: httpx.Client = new_client(self._url)
        except PostError as error:
            raise MemtuiError(
                f"The chat service cannot be asked: {error}.", fix="Check its address."
            ) from None

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def _url(self) -> str:
        if self.settings.oauth_file is not None:
            return codex.endpoint(self.settings.base_url)
        return f"{self.settings.base_url.rstrip('/')}/chat/completions"

    def ask(
        self,
        purpose: str,
        system: str,
        user: str,
        *,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.1,
        on_text: Callable[[str], None] | None = None,
        on_wait: Waits | None = None,
        cancel: CancelToken | None = None,
    ) -> ChatReply:
        """Ask once, again where that may help (429, 5xx, a broken connection), within the budget of the hour.

        `schema` is a JSON schema that the service is asked to hold the answer to; one that does not know that is
        asked without. `on_text` hears the whole text so far, each time more of it came. Raises ChatError when
        there is no answer, Cancelled.
        """
        started = self._timer()
        call = ChatCall(purpose, self.settings.model, self.settings.host)
        problem, wait, attempt = "", _WAIT_S, 0
        details = ""
        while attempt < self._attempts:
            if cancel is not None:
                cancel.check()
            if self.budget is not None and not self.budget.take(self._now()):
                raise self._refused(call, started)
            attempt += 1
            call = replace(call, attempts=attempt)
            structured = schema is not None and self._structured
            try:
                reply = self._post(system, user, schema if structured else None, temperature, on_text, cancel)
            except PostError as error:
                problem, again, pause = str(error), error.kind != "invalid", wait
            else:
                if reply.ok:
                    return self._answered(reply, call, started, structured)
                details = excerpt(reply.text, (self.settings.api_key,), 400)
                problem = f"status {reply.status}: {excerpt(reply.text, (self.settings.api_key,))}"
                if structured and reply.status in (400, 404, 415, 422, 501) and _about_schema(reply):
                    self._structured = False
                    attempt -= 1
                    continue
                again = reply.status in _PASSING or reply.status >= 500
                pause = max(wait, _retry_after(reply))
            if not again or attempt >= self._attempts:
                break
            if on_wait is not None:
                on_wait(attempt, problem, pause)
            self._wait(pause, cancel)
            wait *= 2
        failed = replace(call, status="failed", problem=problem, ms=self._ms(started))
        self._account(failed)
        raise ChatError(
            f"{self.settings.model} at {self.settings.host}: {problem}.",
            failed,
            fix="Check address, model and key; nothing was written.",
            details=details,
        )

    def _refused(self, call: ChatCall, started: float) -> ChatError:
        assert self.budget is not None
        minutes = -(-self.budget.next_ms(self._now()) // 60_000)
        problem = f"the {self.budget.limit} calls of this hour are used up"
        refused = replace(call, status="refused", problem=problem, ms=self._ms(started))
        self._account(refused)
        return ChatError(
            f"{self.settings.model} was not asked: {problem}.",
            refused,
            fix=f"The next one is free in {time_span(60 * minutes)}; chat.calls_per_hour sets how many.",
        )

    def _wait(self, seconds: float, cancel: CancelToken | None) -> None:
        """Sleep in short pieces, so that a stop is heard."""
        if cancel is None:
            self._sleep(seconds)
            return
        left = seconds
        while left > 0:
            cancel.check()
            self._sleep(min(0.2, left))
            left -= 0.2
        cancel.check()

    # ------------------------------------------------------------------ one request

    def _post(
        self,
        system: str,
        user: str,
        schema: Mapping[str, Any] | None,
        temperature: float,
        on_text: Callable[[str], None] | None,
        cancel: CancelToken | None,
    ) -> HttpReply:
        headers, body = self._request(system, user, schema, temperature, stream=on_text is not None)
        heard = None if on_text is None else _Heard(on_text)
        return post_json(
            self._client,
            self._url,
            headers=headers,
            body=body,
            timeout_s=self.settings.timeout_s,
            on_bytes=None if heard is None else heard.more,
            cancel=cancel,
        )

    def _request(
        self, system: str, user: str, schema: Mapping[str, Any] | None, temperature: float, *, stream: bool
    ) -> tuple[dict[str, str], dict[str, Any]]:
        settings = self.settings
        if settings.oauth_file is not None:
            account = codex.read_account(settings.oauth_file, self._now())
            headers = {"Authorization": f"Bearer {account.token}", "Accept": "text/event-stream"}
            if account.account_id:
                headers["chatgpt-account-id"] = account.account_id
            content = [{"type": "input_text", "text": user}]
            return headers, {
                "model": codex.bare_model(settings.model),
                "instructions": system,
                "input": [{"role": "user", "content": content}],
                "store": False,
                "stream": True,
            }
        headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        body: dict[str, Any] = {
            "model": settings.model,
            "temperature": temperature,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        }
        if level := settings.think_level.strip():
            body["reasoning"] = {"effort": level}
        if reasoning_disabled(settings.model):
            body["chat_template_kwargs"] = {"enable_thinking": False}
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema), "strict": True},
            }
        if stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        return headers, body

    def _answered(self, reply: HttpReply, call: ChatCall, started: float, structured: bool) -> ChatReply:
        text, usage = said(reply.text)
        tokens_in, tokens_out = (_count(usage.get(key)) for key in ("prompt_tokens", "completion_tokens"))
        call = replace(
            call,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            ms=self._ms(started),
            cost=self._cost(tokens_in, tokens_out),
            structured=structured,
            problem="" if text else "an empty answer",
        )
        self._account(call)
        return ChatReply(text, read_object(text), call)

    def _cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        settings = self.settings
        if settings.local and settings.price_in is None:
            return 0.0
        if None in (tokens_in, tokens_out, settings.price_in, settings.price_out):
            return None
        assert tokens_in is not None
        assert tokens_out is not None
        assert settings.price_in is not None
        assert settings.price_out is not None
        return (tokens_in * settings.price_in + tokens_out * settings.price_out) / 1e6

    def _account(self, call: ChatCall) -> None:
        with self._lock:
            self.calls.append(call)

    def _ms(self, started: float) -> float:
        return (self._timer() - started) * 1000


class _Heard:
    """Puts together what a stream has said so far; a service that does not stream is heard once, at its end."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text, self._bytes, self._before = on_text, bytearray(), ""

    def more(self, piece: bytes) -> None:
        """Another piece of the body came."""
        self._bytes += piece
        whole = self._bytes[: self._bytes.rfind(b"\n") + 1]
        if not whole.startswith((b"data:", b"event:", b":")):
            return
        text = said(whole.decode("utf-8", "replace"))[0]
        if text != self._before:
            self._before = text
            self._on_text(text)


def said(body: str) -> tuple[str, Mapping[str, Any]]:
    """(text, token counts) of an answer, whole or streamed; empty where it says nothing."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _streamed(body)
    if not isinstance(value, dict):
        return "", {}
    return _message(value, "message"), _usage(value)


def _streamed(body: str) -> tuple[str, Mapping[str, Any]]:
    pieces: list[str] = []
    thoughts: list[str] = []
    usage: Mapping[str, Any] = {}
    for line in body.splitlines():
        if not line.startswith("data:"):
            continue
        try:
            event = json.loads(line[5:])
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict):
            continue
        usage = _usage(event) or usage
        for choice in event.get("choices") or ():
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if isinstance(delta, dict):
                pieces.append(_content(delta.get("content")))
                thoughts.append(_content(delta.get("reasoning_content") or delta.get("reasoning")))
    text = "".join(pieces) or "".join(thoughts) or codex.streamed_text(body) or ""
    return text, usage


def _message(value: Mapping[str, Any], key: str) -> str:
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get(key) if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return codex.streamed_text(f"data: {json.dumps(value)}") or ""
    content = _content(message.get("content"))
    return content or _content(message.get("reasoning_content")) or _content(message.get("reasoning"))


def _content(value: Any) -> str:
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else ()
    return "".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)


def _usage(value: Mapping[str, Any]) -> Mapping[str, Any]:
    usage = value.get("usage")
    return usage if isinstance(usage, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _about_schema(reply: HttpReply) -> bool:
    text = reply.text.lower()
    return any(word in text for word in _NO_SCHEMA)


def _retry_after(reply: HttpReply) -> float:
    try:
        return min(_LONGEST_WAIT_S, max(0.0, float(reply.headers["retry-after"])))
    except (KeyError, ValueError):
        return 0.0  # absent, or a date: clocks differ


# Mending rows of older forms: upgrade of what has no summaries and categories, repair of what agents
# misread.


@dataclass(frozen=True, slots=True)
class Summary:
    """L0, L1, L2 and the six-word category of a text."""

    abstract: str
    overview: str
    content: str
    category: str | None = None
