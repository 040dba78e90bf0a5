"""The clients that a person let in: their rights, and the hashes of their tokens, in one file."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.core.private_file import make_private_folder, write_private

PREFIX = "memtui_"

RIGHTS = ("update", "forget")
"""What an owner can allow a client to do without a question; else a person is asked, or a preview comes first."""

OWNER = "local"
"""The client that the first server makes which would otherwise let everybody on this machine write."""


def rights_of(text: str) -> tuple[str, ...]:
    """The rights of a list such as `update,forget`, in the order of `RIGHTS`. Raises UsageError for another word."""
    words = {word.strip() for word in text.split(",") if word.strip()}
    if unknown := sorted(words - set(RIGHTS)):
        raise UsageError(
            f"--allow does not know {unknown[0]!r}.", fix=f"Name one or more of: {', '.join(RIGHTS)}."
        )
    return tuple(right for right in RIGHTS if right in words)


@dataclass(frozen=True, slots=True)
class Client:
    """One client. Without a token it is known by its name alone, as over standard input and output."""

    name: str
    token_hash: str = ""
    """SHA-256 of the token, which itself is kept nowhere."""
    agent: str = ""
    """Whom it acts for: it reads `global` and this agent's scope, and writes there."""
    reads: tuple[str, ...] | None = None
    """The scopes that it reads instead."""
    writes: str | None = None
    """The scope that it writes to instead; empty: none."""
    rate: int = 0
    """Calls a minute at most; 0 without a limit."""
    paused: bool = False
    added_ms: int = 0
    store: str = ""
    """The folder or address of the one store that it is let in on; empty: every store that goes by the register."""
    allow: tuple[str, ...] = ()
    """What it does without asking a person first, of `RIGHTS`: the owner said so beforehand."""
    as_started: bool = False
    """Whether it has the rights of the options that the server was started with, instead of rights of its own."""


class ClientRegister:
    """The clients in one file, read again when it changes. Changes are made whole or not at all, one after another.

    `store` says which store the register is asked for, when it is first needed: clients of other stores are then not
    seen. None, or nothing said: all are seen.
    """

    def __init__(self, path: Path, *, store: Callable[[], str] | None = None) -> None:
        self.path = path
        self._store = store
        self._seen: tuple[int, int] | None = None
        self._clients: tuple[Client, ...] = ()
        self._token_stores: frozenset[str] = frozenset()
        """The stores for which a token was ever made, empty: for every store; revoked tokens count, too."""

    def all(self) -> tuple[Client, ...]:
        """Every client of the store, by name.

        Raises UsageError for a file that cannot be read: nobody is let in by mistake.
        """
        clients = self.everywhere()
        if self._store is None or not any(client.store for client in clients):
            return clients
        here = self._store()
        return tuple(client for client in clients if client.store in ("", here))

    def everywhere(self) -> tuple[Client, ...]:
        """Every client in the file, of whichever store, by name. Raises UsageError as `all` does."""
        try:
            found = self.path.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
            if stamp != self._seen:
                given = json.loads(self.path.read_text(encoding="utf-8"))
                self._clients = tuple(_client(client) for client in given["clients"])
                self._token_stores = frozenset(given.get("token_stores", ())) | {
                    client.store for client in self._clients if client.token_hash
                }
                self._seen = stamp
        except FileNotFoundError:
            self._clients, self._token_stores, self._seen = (), frozenset(), None
        except (OSError, ValueError, KeyError, TypeError):
            raise UsageError(
                f"{self.path} cannot be read as the register of clients.", fix="Correct it, or move it away."
            ) from None
        return self._clients

    def needs_token(self) -> bool:
        """Whether a caller must have a token: one was made for this store, even if it was revoked since.

        Raises UsageError as `all` does.
        """
        self.everywhere()
        if not self._token_stores or "" in self._token_stores or self._store is None:
            return bool(self._token_stores)
        return self._store() in self._token_stores

    def named(self, name: str) -> Client | None:
        """The client of this name."""
        return next((client for client in self.all() if client.name == name), None)

    def of_caller(self, caller: str) -> Client | None:
        """The client that a call in the journal is of: `mcp:codex` is codex's, where codex has a token."""
        known = {client.name: client for client in self.all()}
        return known.get(caller) or known.get(caller.partition(":")[2])

    def of_token(self, token: str) -> Client | None:
        """The client that this token was given to."""
        digest = hash_of(token)
        return next(
            (
                client
                for client in self.all()
                if client.token_hash and hmac.compare_digest(client.token_hash, digest)
            ),
            None,
        )

    def add(self, client: Client) -> str:
        """Let a client in; the token, which is told once. Raises UsageError for a name that is taken."""
        token = PREFIX + secrets.token_urlsafe(32)
        with self._changing() as clients:
            if client.name in clients and clients[client.name].token_hash:
                raise UsageError(
                    f"There is a client {client.name} already.", fix="Take another name, or revoke it first."
                )
            clients[client.name] = replace(client, token_hash=hash_of(token))
        return token

    def add_first(self, client: Client) -> tuple[str, str]:
        """Let in the first client of a store; its name and token. Both are empty where a token was made before.

        A name that is taken gets a number. Raises UsageError as `all` does.
        """
        token = PREFIX + secrets.token_urlsafe(32)
        with self._changing() as clients:
            if self.needs_token():
                return "", ""
            name, number = client.name, 1
            while name in clients:
                number += 1
                name = f"{client.name}-{number}"
            clients[name] = replace(client, name=name, token_hash=hash_of(token))
        return name, token

    def change(self, name: str, **rights: Any) -> None:
        """Give a client other rights; `rights` are fields of `Client`. Raises UsageError for an unknown name."""
        self._known(name)
        with self._changing() as clients:
            clients[name] = replace(clients[name], **rights)

    def revoke(self, name: str) -> None:
        """Take a client's token away for good. Raises UsageError for an unknown name."""
        self._known(name)
        with self._changing() as clients:
            clients.pop(name, None)

    def pause(self, name: str, paused: bool = True) -> None:
        """Refuse a client's calls until it is let in again; one without a token is noted by its name."""
        with self._changing() as clients:
            clients[name] = replace(clients.get(name) or Client(name), paused=paused)
            if not paused and not clients[name].token_hash:
                del clients[name]

    def _known(self, name: str) -> None:
        known = [
            client.name for client in self.everywhere()
        ]  # a name stands once in the file, whatever its store
        if name not in known:
            names = ", ".join(known) or "none"
            raise UsageError(f"There is no client {name!r}.", fix=f"The clients are: {names}.")

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Client]]:
        make_private_folder(self.path.parent)
        with self.path.with_name(f".{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._seen = None
            clients = {client.name: client for client in self.everywhere()}
            yield clients
            listed = [asdict(clients[name]) for name in sorted(clients)]
            made = self._token_stores | {client.store for client in clients.values() if client.token_hash}
            told = {"clients": listed, "token_stores": sorted(made)}
            write_private(self.path, json.dumps(told, indent=1))


def hash_of(token: str) -> str:
    """SHA-256: tokens are long and random, so a slow hash would protect nothing more."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _client(given: dict[str, object]) -> Client:
    client = Client(**given)  # type: ignore[arg-type]
    reads = None if client.reads is None else tuple(client.reads)
    return replace(client, reads=reads, allow=tuple(client.allow))


class RateLimit:
    """How many calls each client made in the running minute. `now` in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._minutes: dict[str, tuple[int, int]] = {}

    def wait(self, client: Client) -> int:
        """Count a call; 0 where it may be made, else the seconds until it may."""
        if not client.rate:
            return 0
        now = self._now()
        minute, count = self._minutes.get(client.name, (-1, 0))
        if minute != int(now // 60):
            minute, count = int(now // 60), 0
        self._minutes[client.name] = (minute, count + 1)
        return 0 if count < client.rate else 60 - int(now % 60)
