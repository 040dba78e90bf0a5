"""Small objects beside a table on object storage, written only where nobody was faster: our lock and our journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.store.service_errors import no_service, refuse_web_page
from memtui.engine.store.storage_options import with_limits

EXTRA = "pip install 'memtui[cloud]'"

_CLIENT = frozenset(
    {"allow_http", "allow_invalid_certificates", "connect_timeout", "proxy_url", "timeout", "user_agent"}
)
"""Options of the connection; the rest are the service's own, and both libraries name them alike."""

_ENGINES = ("client_", "new_table_", "download_", "read_consistency", "request_timeout")
"""Beginnings of options that only LanceDB reads."""


class FasterError(MemtuiError):
    """Another program wrote the object first: nothing was written."""


class ObjectFolder:
    """The objects below one URI (`s3://`, `gs://`, `az://`). Every call is one request; safe from several threads.

    Raises RefusedError without the extra `memtui[cloud]`, and MemtuiError, with the remedy, when a request fails.
    """

    def __init__(self, uri: str, options: Mapping[str, str]) -> None:
        self.uri = uri
        try:
            from obstore import store as services
        except ImportError as error:
            raise RefusedError(
                "Writing to object storage needs the extra memtui[cloud].",
                fix=f"Install it: {EXTRA}. Nothing was changed.",
            ) from error
        whole = with_limits(options)
        self._options = whole
        client: dict[str, Any] = {
            key: value == "true" if value in ("true", "false") else value
            for key, value in whole.items()
            if key in _CLIENT
        }
        config: dict[str, Any] = {
            key: value for key, value in whole.items() if key not in _CLIENT and not key.startswith(_ENGINES)
        }
        retry: Any = {
            "max_retries": int(whole["client_max_retries"]),
            "retry_timeout": timedelta(seconds=float(whole["client_retry_timeout"])),
        }
        make: Any = services.from_url  # typed for each service; the address decides which it is
        with self._explained():
            self._store: Any = make(uri, config=config, client_options=client, retry_config=retry)

    def get(self, name: str) -> tuple[bytes, str] | None:
        """The object's bytes and its tag; None where there is none."""
        import obstore

        with self._explained():
            try:
                found = obstore.get(self._store, name)
                tag = found.meta["e_tag"]
                if tag is None:  # services of objects name one with each
                    refuse_web_page(self.uri, self._options)
                    raise no_service(self.uri)
                return bytes(found.bytes()), str(tag)
            except FileNotFoundError:
                return None

    def tag(self, name: str) -> str | None:
        """The tag of the object as it is now; None where there is none."""
        import obstore

        with self._explained():
            try:
                return str(obstore.head(self._store, name)["e_tag"])
            except FileNotFoundError:
                return None

    def put(self, name: str, data: bytes, *, tag: str | None) -> str:
        """Write the object where it still has `tag` (None: where there is none yet); its new tag.

        Raises FasterError when another program was first.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._explained():
            try:
                done = obstore.put(
                    self._store,
                    name,
                    data,
                    mode="create" if tag is None else {"e_tag": tag},
                    use_multipart=False,
                )
            except (AlreadyExistsError, PreconditionError, FileNotFoundError) as error:
                raise FasterError(
                    f"Another program wrote {self.uri}/{name} first.", fix="Try again."
                ) from error
            return str(done["e_tag"])

    def put_new(self, name: str, data: bytes) -> None:
        """Write an object whatever is there."""
        import obstore

        with self._explained():
            obstore.put(self._store, name, data)

    def delete(self, name: str) -> None:
        """Remove an object; one that is not there is as good as removed."""
        import obstore

        with self._explained(), suppress(FileNotFoundError):
            obstore.delete(self._store, name)

    def send(self, name: str, file: Path) -> None:
        """Write an object whatever is there, out of a file of any size."""
        import obstore

        with self._explained():
            obstore.put(self._store, name, file)

    def names(self, prefix: str) -> tuple[str, ...]:
        """The names of the objects that begin with the folder `prefix`."""
        return tuple(self.sizes(prefix))

    def sizes(self, prefix: str) -> dict[str, int]:
        """As `names`, with the bytes of each object."""
        import obstore

        with self._explained():
            found = obstore.list(self._store, prefix)
            return {str(each["path"]): int(each["size"]) for batch in found for each in batch}

    def tables(self) -> tuple[str, ...]:
        """The names of the Lance tables right below the URI."""
        import obstore

        with self._explained():
            found = obstore.list_with_delimiter(self._store)["common_prefixes"]
        return tuple(
            sorted(
                each.rstrip("/").removesuffix(".lance")
                for each in found
                if each.rstrip("/").endswith(".lance")
            )
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        from memtui.engine.store.errors import explain

        try:
            yield
        except BaseError as error:
            raise explain(error, self.uri) from error
