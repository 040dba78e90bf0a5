"""One JSON request over HTTP under one deadline: name look-up, connection, headers and body together."""

from __future__ import annotations

import json
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import one_line

if TYPE_CHECKING:
    import httpx


MAX_REPLY_BYTES = 64 << 20
"""More than the largest batch of vectors; a server that sends more is not answering us."""

_NO_ADDRESS = "the address is not an http or https address"

_ERRNO = re.compile(r"\[Errno -?\d+\]\s*")

_LOOK_S = 0.1
"""How often a wait looks whether it was told to stop."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What the server answered, whatever its status."""

    status: int
    text: str
    headers: Mapping[str, str]
    """Names in lower case."""

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The body as JSON; raises ValueError when it is not."""
        return json.loads(self.text)


class PostError(Exception):
    """No answer could be had. The text never holds a header, so never a key."""

    def __init__(self, kind: Literal["timeout", "unreachable", "dropped", "invalid"], text: str) -> None:
        super().__init__(text)
        self.kind = kind


def host_of(url: str) -> str:
    """Host and port of `url`, without user, password, path and query: what a message may show.

    Where an @ stands behind the host, a password with / ? or # in it may have been taken for one: it is hidden.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(no host)"
    if parts.netloc and "@" in url.partition(parts.netloc)[2]:
        return "(host hidden)"
    return parts.netloc.rsplit("@", 1)[-1] or "(no host)"


def excerpt(text: str, secrets: Iterable[str], length: int = 200) -> str:
    """The first `length` characters of a server's text on one line, safe to draw, every secret masked."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "[key]")
    return one_line(text)[:length]


def _said(error: Exception) -> str:
    """What a library says of a broken connection, without the number of the system's error."""
    return one_line(_ERRNO.sub("", str(error))).lower()


def new_client(url: str) -> httpx.Client:
    """A client for the service at `url`, to be kept for its connections or closed after one request.

    Raises PostError `invalid` for an address that is none, or a proxy that cannot be used.
    """
    import ssl

    import httpx

    try:
        parts = urlsplit(url)
    except ValueError:
        raise PostError("invalid", _NO_ADDRESS) from None
    # A trust store takes 20 ms to load; over plain http an empty one does, and trusts nobody.
    verify = True if parts.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        # A proxy from the environment can never be the way to this machine itself.
        return httpx.Client(verify=verify, trust_env=parts.hostname not in _LOOPBACK)
    except (ImportError, ValueError):
        raise PostError(
            "invalid", "the proxy that the environment names is of a kind we cannot use"
        ) from None


def post_json(
    client: httpx.Client,
    url: str,
    *,
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    timeout_s: float,
    on_bytes: Callable[[bytes], None] | None = None,
    cancel: CancelToken | None = None,
) -> HttpReply:
    """POST `body` as JSON and read the whole answer within `timeout_s` seconds.

    `on_bytes` gets every piece of a good answer as it comes, on another thread. Raises Cancelled soon after
    `cancel` was told to stop; the request is left behind then.
    Redirects are not followed: they would carry the key to another host. Raises PostError, kind `timeout`,
    `unreachable` (no connection), `dropped` (the connection broke: worth one more try) or `invalid` (address
    or header that cannot be sent).
    """
    # A lone surrogate becomes its JSON escape, as JavaScript writes it.
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    deadline = time.monotonic() + timeout_s
    outcome: queue.SimpleQueue[HttpReply | PostError] = queue.SimpleQueue()
    late = f"no answer within {_seconds(timeout_s)}"

    left = threading.Event()

    def work() -> None:
        try:
            outcome.put(_exchange(client, url, headers, content, deadline, on_bytes, left, late))
        except PostError as error:
            outcome.put(error)

    # Neither a name look-up nor a server that drips header bytes can be interrupted: they are left behind.
    threading.Thread(target=work, name="memtui-post", daemon=True).start()
    try:
        result = _waited(outcome, deadline, cancel)
    except queue.Empty:
        result = PostError("timeout", late)
    finally:
        left.set()
    if isinstance(result, PostError):
        raise result
    return result


def _seconds(value: float) -> str:
    return f"{value:g} s" if value >= 1 else f"{value * 1000:.0f} ms"


def _waited(
    outcome: queue.SimpleQueue[HttpReply | PostError], deadline: float, cancel: CancelToken | None
) -> HttpReply | PostError:
    """What came of it; queue.Empty when the time is up."""
    while cancel is not None:
        cancel.check()
        try:
            return outcome.get(timeout=min(_LOOK_S, max(deadline - time.monotonic(), 0.0)))
        except queue.Empty:
            if time.monotonic() >= deadline:
                raise
    return outcome.get(timeout=max(deadline - time.monotonic(), 0.0))


def _exchange(
    client: httpx.Client,
    url: str,
    headers: Mapping[str, str],
    content: bytes,
    deadline: float,
    on_bytes: Callable[[bytes], None] | None,
    left: threading.Event,
    late: str,
) -> HttpReply:
    import httpx

    try:
        with client.stream(
            "POST",
            url,
            headers={"Content-Type": "application/json", "User-Agent": "memtui", **headers},
            content=content,
            timeout=max(deadline - time.monotonic(), 0.001),
        ) as response:
            received = bytearray()
            for piece in response.iter_bytes():
                received += piece
                if left.is_set():
                    raise PostError("dropped", "nobody waits for it any more")
                if on_bytes is not None and response.is_success:
                    on_bytes(piece)
                if time.monotonic() > deadline:
                    raise PostError("timeout", "the answer came too slowly")
                if len(received) > MAX_REPLY_BYTES:
                    raise PostError("invalid", f"the answer is longer than {MAX_REPLY_BYTES >> 20} MB")
            text = received.decode("utf-8", "replace")
            return HttpReply(response.status_code, text, {k.lower(): v for k, v in response.headers.items()})
    except PostError:
        raise
    except httpx.TimeoutException:
        raise PostError("timeout", late) from None  # its time is what is left of ours
    except httpx.ConnectError as error:
        raise PostError("unreachable", _said(error) or "no connection") from None
    except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
        raise PostError("dropped", _said(error) or "the connection broke") from None
    except (httpx.LocalProtocolError, UnicodeEncodeError):
        # Their texts quote the header, key included.
        raise PostError("invalid", "the API key holds characters that no HTTP header can carry") from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise PostError("invalid", _NO_ADDRESS) from None
    except Exception as error:
        # A thread has nobody to raise to: what httpx did not foresee is a failed request too.
        raise PostError("invalid", type(error).__name__) from None
