"""What can go wrong, said so that a person knows what to do next."""

from __future__ import annotations


class MemtuiError(Exception):
    """A failure with a remedy.

    `message` says what is wrong in one sentence, `fix` what to do about it; `details` keeps the
    original text of a library for those who want it. `exit_code` is what the command line ends with.
    """

    exit_code = 1

    def __init__(self, message: str, *, fix: str = "", details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()


class UsageError(MemtuiError):
    """The request itself is wrong: an unknown recipe, a filter that does not parse, a bad config key."""

    exit_code = 2


class RefusedError(MemtuiError):
    """Refused for safety: read-only store, changed underneath, needs an explicit yes."""

    exit_code = 3


class StoreNotFoundError(MemtuiError):
    """There is no LanceDB store at the place named."""


class UnknownDialectError(MemtuiError):
    """A table is there, but it is not one whose rows we know how to read as memories."""


class DamagedStoreError(MemtuiError):
    """A file of the store is missing, cut or corrupt."""


class ConfigError(UsageError):
    """A setting is unknown or ill-typed; `path` names the key, for example `retrieval.minScore`."""

    def __init__(self, message: str, *, path: str = "", fix: str = "", details: str = "") -> None:
        super().__init__(message, fix=fix, details=details)
        self.path = path


class EmbeddingError(MemtuiError):
    """No query vector could be had: no embedder, unreachable, refused, wrong dimension."""


class RerankError(MemtuiError):
    """The reranker gave no usable answer; `reason` is one of the peer's words (http_error, timeout, ...)."""

    def __init__(self, message: str, *, reason: str, fix: str = "", details: str = "") -> None:
        super().__init__(message, fix=fix, details=details)
        self.reason = reason


class WithheldError(RefusedError):
    """A preview would have to send texts or questions to a service, and sends nothing; the message says what."""


class Cancelled(Exception):  # noqa: N818 - an outcome, not an error
    """The caller asked to stop."""
