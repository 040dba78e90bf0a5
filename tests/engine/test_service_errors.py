"""What stands at the endpoint is no service of objects, or says what nobody knows: in words, with the remedy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from memtui.engine import MemtuiError
from memtui.engine.core.errors import DamagedStoreError
from memtui.engine.store.create import create_own
from memtui.engine.store.object_store import ObjectFolder
from memtui.engine.store.open import open_store
from tests.engine.counting_proxy import counting_proxy
from tests.engine.object_storage import BUCKET, object_service, rows
from tests.engine.object_storage import options as reaching
from tests.engine.odd_services import LOGIN, Answer, answering, not_http

XML = b'<?xml version="1.0"?><Error><Code>TeapotIsShort</Code><Message>Stout.</Message></Error>'

MOVED = b'<?xml version="1.0"?><Error><Code>PermanentRedirect</Code><Message>Elsewhere.</Message></Error>'

ODD = {
    "login": (Answer(200, LOGIN), "a web page answers there", "a login page"),
    "sent to a login": (Answer(302, b"", {"Location": "/login"}), "a web page answers there", "a login page"),
    "page not found": (Answer(404, LOGIN), "a web page answers there", "Check the endpoint"),
    "page forbidden": (Answer(403, LOGIN), "a web page answers there", "Check the endpoint"),
    "another program": (Answer(200, b'{"ok":true}'), "not a service of objects", "Check the endpoint"),
    "nothing": (Answer(200), "not a service of objects", "Check the endpoint"),
    "noise": (Answer(200, bytes(range(256)) * 4), "not a service of objects", "Check the endpoint"),
    "region": (Answer(301, MOVED), "the bucket is in another region", "Name its region"),
    "unknown code": (Answer(400, XML), "the service refuses: TeapotIsShort (Stout)", "Check the options"),
    "silent 400": (Answer(400), "the service answers 400", "Check the endpoint"),
    "forbidden": (Answer(403), "the service denies access", "Ask for the right"),
    "silent 404": (Answer(404), "the service answers 404", "Check the endpoint"),
    "gateway": (Answer(502, LOGIN), "the service has a fault of its own (502)", "Try again"),
}


def options(endpoint: str) -> dict[str, str]:
    return {**reaching(endpoint), "client_max_retries": "1", "client_retry_timeout": "2"}


def told(error: MemtuiError, reason: str, remedy: str) -> None:
    assert reason in error.message
    assert remedy in (error.fix or "")
    assert "lance" not in str(error).lower()
    assert "Generic" not in str(error)


def refused(name: str) -> MemtuiError | None:
    """What is said of a store at that place; None where it opens."""
    with answering(ODD[name][0]) as place:
        try:
            open_store("s3://memories/team", storage_options=options(f"http://{place}"))
        except MemtuiError as error:
            return error
    return None


def test_a_store_at_an_odd_place_is_refused_in_words() -> None:
    """All places at once: the engine asks each of them six times, over two seconds and more."""
    with ThreadPoolExecutor(len(ODD)) as pool:
        found = dict(zip(ODD, pool.map(refused, ODD), strict=True))
    assert [name for name, error in found.items() if error is None] == []
    for name, error in found.items():
        assert error is not None
        told(error, *ODD[name][1:])


@pytest.mark.parametrize(
    ("service", "scheme", "reason", "remedy"),
    [
        (answering(Answer(200, LOGIN)), "https", "speaks plain http", "write http://"),
        (not_http(), "http", "does not speak HTTP", "Check host and port"),
    ],
)
def test_another_language_is_named(
    service: AbstractContextManager[str], scheme: str, reason: str, remedy: str
) -> None:
    with service as place:
        for ask in (
            lambda uri, given: open_store(uri, storage_options=given),
            lambda uri, given: ObjectFolder(uri, given).tables(),
        ):
            with pytest.raises(MemtuiError) as found:
                ask("s3://memories/team", options(f"{scheme}://{place}"))
            told(found.value, reason, remedy)


@pytest.mark.parametrize("name", ["login", "another program", "nothing"])
def test_a_page_is_never_taken_for_an_object(name: str) -> None:
    answer, _, remedy = ODD[name]
    with answering(answer) as place:
        folder = ObjectFolder("s3://memories/team", options(f"http://{place}"))
        for ask in (
            lambda: folder.get("lock"),
            lambda: folder.put("lock", b"mine", tag=None),
        ):
            with pytest.raises(MemtuiError) as found:
                ask()
            told(found.value, "not a service of objects", remedy)


@pytest.mark.parametrize(
    ("uri", "given", "reason", "remedy"),
    [
        ("gs://memories/team", {"google_service_account": "/nowhere"}, "no key was found", "service account"),
        ("az://memories/team", {}, "no account is named", "account_name"),
        (
            "az://memories/team",
            {"account_name": "team", "account_key": "not a key!"},
            "does not accept the key",
            "Check the key",
        ),
    ],
)
def test_other_services_say_what_they_lack(
    uri: str, given: dict[str, str], reason: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AZURE_STORAGE_ACCOUNT_NAME", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MemtuiError) as found:
        open_store(uri, storage_options=given)
    told(found.value, reason, remedy)


def test_the_options_of_another_service_are_heard() -> None:
    """The account, its key and its endpoint lead to the service that is meant: no account, the protocol only."""
    with answering(Answer(400, XML)) as place:
        given = {
            "account_name": "devstoreaccount1",
            "account_key": "c29tZXRoaW5n",
            "endpoint": f"http://{place}/devstoreaccount1",
            "allow_http": "true",
            "client_max_retries": "0",
        }
        with pytest.raises(MemtuiError) as found:
            open_store("az://memories/team", storage_options=given)
        told(found.value, "TeapotIsShort", "Check the options")


def test_an_endpoint_that_turns_into_a_web_page_is_no_missing_file() -> None:
    with object_service() as endpoint, counting_proxy(endpoint) as proxy:
        create_own(f"s3://{BUCKET}/team", rows(40), reaching(endpoint))
        store = open_store(f"s3://{BUCKET}/team", storage_options=reaching(proxy.endpoint))
        proxy.page = LOGIN
        for read in (lambda: list(store.scan(["text"])), store.newest_version):
            with pytest.raises(MemtuiError) as found:
                read()
            assert "a web page answers there" in found.value.message
            assert "Check the endpoint" in found.value.fix
        proxy.page = b""
        assert sum(batch.num_rows for batch in store.scan(["text"])) == 40


def test_a_file_that_is_gone_from_a_service_that_stands_is_a_missing_file() -> None:
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/team", rows(40), reaching(endpoint))
        store = open_store(f"s3://{BUCKET}/team", storage_options=reaching(endpoint))
        objects = ObjectFolder(f"s3://{BUCKET}/team", reaching(endpoint))
        (file,) = objects.names("memories.lance/data/")
        objects.delete(file)
        with pytest.raises(DamagedStoreError, match="is missing"):
            list(store.scan(["text"]))
