"""What a service of objects answers, and what a person can do about it: the errors of stores far away in words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memtui.engine.core.errors import MemtuiError

PAGE = "a web page answers there, not a service of objects"

_NO_SERVICE = "what answers there is not a service of objects"

_WRONG_PLACE = (
    "Check the endpoint in [storage.NAME] of config.toml: a login page or another program may stand there."
)

_REGION = "Name its region, and the endpoint of that region, in [storage.NAME] of config.toml."

# The first sign that holds is the reason. Signs stand in the text that the engine gives, and in its longer form.
_REASONS = (
    (
        ("NoSuchBucket", "bucket does not exist", "ContainerNotFound"),
        "there is no bucket of that name",
        "Check the bucket's name, its region, and the endpoint.",
    ),
    (
        ("InvalidBucketName",),
        "the service takes that for no name of a bucket",
        "Check the bucket's name in the address.",
    ),
    (
        ("RequestTimeTooSkewed", "clock is skewed"),
        "this machine's clock is too far from the service's",
        "Set the clock, and try again.",
    ),
    (
        ("BareRedirect", "redirect without LOCATION", "PermanentRedirect", "AuthorizationHeaderMalformed"),
        "the bucket is in another region",
        _REGION,
    ),
    (
        (
            "InvalidAccessKeyId",
            "SignatureDoesNotMatch",
            "InvalidToken",
            "ExpiredToken",
            "401 Unauthorized",
            "AuthenticationFailed",
            "Invalid Access Key",
        ),
        "the service does not accept the key",
        "Check the key and its secret; a session's token may have run out.",
    ),
    (
        ("AccessDenied", "AuthorizationFailure", "AllAccessDisabled"),
        "the service denies access",
        "Ask for the right to list, read and write below that address.",
    ),
    (
        ("no Azure account name",),
        "no account is named",
        "Name account_name in [storage.NAME] of config.toml, or set AZURE_STORAGE_ACCOUNT_NAME.",
    ),
    (
        ("GCP credential error", 'store: "GCS", source: TokenRequest'),
        "no key was found",
        "Name the file of a service account: google_service_account in [storage.NAME] of config.toml, "
        "or GOOGLE_APPLICATION_CREDENTIALS.",
    ),
    (
        ('store: "MicrosoftAzure", source: TokenRequest',),
        "no key was found",
        "Name account_key as a variable in [storage.NAME] of config.toml, or set AZURE_STORAGE_ACCOUNT_KEY.",
    ),
    (
        (
            "Failed to get AWS credentials",
            "CredentialsNotLoaded",
            "NoCredentials",
            "could not load credentials",
        ),
        "no key was found",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name variables in [storage.NAME] of config.toml.",
    ),
    (
        ("Failed to resolve region",),
        "the region of its bucket cannot be asked for",
        "Name region and endpoint in [storage.NAME] of config.toml, or AWS_REGION; check the network.",
    ),
    (
        ("InvalidContentType", "wrong version number"),
        "its endpoint says https, and what answers there speaks plain http",
        "Check the port; where the network is your own, write http:// in the endpoint and allow_http = true.",
    ),
    (
        ("invalid peer certificate", "InvalidCertificate", "UnknownIssuer"),
        "the certificate of the service is not trusted",
        "Check the host in the endpoint; name a certificate of your own in SSL_CERT_FILE.",
    ),
    (
        ("hyper::Error(Parse(", "invalid HTTP version"),
        "what answers there does not speak HTTP",
        "Check host and port of the endpoint in [storage.NAME] of config.toml.",
    ),
    (
        ("dns error", "failed to lookup address"),
        "the host of the endpoint is not known",
        "Check the spelling of the endpoint, and the network.",
    ),
    (
        ("tcp connect error", "Connection refused", "ConnectError", "connection reset", "connection closed"),
        "the service cannot be reached",
        "Check the endpoint and the network; nothing was changed.",
    ),
    (
        (
            "operation timed out",
            "TimedOut",
            "deadline has elapsed",
            "HTTP error: error decoding response body",
        ),
        "the service did not answer in time",
        "Try again; or raise timeout in [storage.NAME] of config.toml.",
    ),
    (
        (
            "SlowDown",
            "503 Service Unavailable",
            "TooManyRequests",
            "429 Too Many",
            "status: 503",
            "status: 429",
        ),
        "the service asks to be called less often",
        "Try again in a moment.",
    ),
    (
        ("BadScheme", "URL scheme is not allowed", "builder error"),
        "the endpoint is plain http",
        "Use https; where the network is your own, set allow_http = true in [storage.NAME].",
    ),
    (
        ("is not valid for store", "UnknownConfigurationKey"),
        "an option of its storage is not known",
        "Check the names of the options in [storage.NAME] of config.toml.",
    ),
)

# What is known only by the shape of the answer, where no sign above stands in it.
_SHAPES = (
    (
        ("InvalidListResponse", "invalid list response", "Unable to extract metadata", "InvalidXml"),
        _NO_SERVICE,
        _WRONG_PLACE,
    ),
    (
        ("Invalid range",),
        "the service sent something else than the object that was asked for",
        f"Try again. {_WRONG_PLACE}",
    ),
    (
        ("error sending request",),
        "the service cannot be reached",
        "Check the endpoint and the network; nothing was changed.",
    ),
    (
        ("403 Forbidden", "status: 403"),
        "the service denies access",
        "Ask for the right to list, read and write below that address.",
    ),
)

_HTML = re.compile(r"<!doctype html|<html[\s>]", re.IGNORECASE)

_BREAKS = re.compile(r"\s+")

_STATUS = re.compile(r"(?:status code: |status: )(\d{3})")

_CODE = re.compile(r"<Code>([\w.-]{1,80})</Code>")

_MESSAGE = re.compile(r"<Message>([^<]{1,200})</Message>")

_MISSING = re.compile(r"NoSuchKey|BlobNotFound|Not found: (?!Wrapped)")

_FAULT = 500
"""From this status on the fault is the service's own."""

_LOOK_S = 5.0

_ENDPOINT_NAMES = ("endpoint", "aws_endpoint", "endpoint_url")


def explain_service(text: str, where: str) -> MemtuiError | None:
    """The error of a store on object storage in words; None for a local one, and for what is not its service's."""
    if "://" not in where:
        return None
    reason, fix = _reason(text)
    if not reason:
        return None
    lines = text.splitlines() or [""]
    return MemtuiError(f"{where}: {reason}.", fix=fix, details=lines[0][:2_000])


def _reason(text: str) -> tuple[str, str]:
    """Why a service gave nothing, and the remedy; empty where the text is not a service's."""
    text = _BREAKS.sub(" ", text).replace("( ", "(")  # the longer form stands on lines of its own
    status = int(found[1]) if (found := _STATUS.search(text)) else 0
    if _HTML.search(text) and status < _FAULT:
        return PAGE, _WRONG_PLACE
    for signs, reason, fix in (*_REASONS, *_SHAPES):
        if any(sign in text for sign in signs):
            return reason, fix
    if _MISSING.search(text):  # an object that is not there: which one it is says what that means
        return "", ""
    if status >= _FAULT:
        return (
            f"the service has a fault of its own ({status})",
            "Try again in a moment; if it stays, check the endpoint in [storage.NAME] of config.toml.",
        )
    if code := _CODE.search(text):
        said = _MESSAGE.search(text)
        return (
            f"the service refuses: {code[1]}" + (f" ({said[1].strip().rstrip('.')})" if said else ""),
            "Check the options in [storage.NAME] of config.toml; the word is the service's own.",
        )
    if 300 <= status < 400:
        return f"the service sends to another address ({status})", _REGION
    if status:
        return (
            f"the service answers {status}, and does not say why",
            "Check the endpoint in [storage.NAME] of config.toml: it is the service's address without the bucket.",
        )
    if 'store: "' in text or re.search(r"Generic \w+ error", text) or "Generic {" in text:
        return (
            "the service of objects answered with an error",
            "Check the options in [storage.NAME] of config.toml; --json has what it said.",
        )
    return "", ""


def refuse_web_page(uri: str, options: Mapping[str, str]) -> None:
    """Raise MemtuiError when a web page stands at the endpoint: to the engine such a place is one without a table.

    One request without any key, to a named endpoint only.
    """
    endpoint = next((options[key] for key in _ENDPOINT_NAMES if key in options), "")
    if not endpoint.startswith(("http://", "https://")):
        return
    import httpx

    bucket = uri.partition("://")[2].partition("/")[0]
    try:
        found = httpx.get(f"{endpoint.rstrip('/')}/{bucket}", timeout=_LOOK_S, follow_redirects=True)
    except httpx.HTTPError:  # what can be said of it was said already
        return
    if _HTML.search(found.text[:1_000]):
        raise MemtuiError(f"{uri}: {PAGE}.", fix=_WRONG_PLACE, details=found.text[:200])


_ENDPOINTS: dict[str, Mapping[str, str]] = {}
"""The endpoint of each store far away that was opened, by its address."""


def note_endpoint(uri: str, options: Mapping[str, str]) -> None:
    """Remember where a store is asked for, without any key: what answers there may later be something else."""
    _ENDPOINTS[uri] = {key: options[key] for key in _ENDPOINT_NAMES if key in options}


def refuse_page_at(where: str) -> None:
    """Raise MemtuiError when a web page stands by now where the store of the table `where` was opened.

    Asked where an object is missing: of a page that says 404 the engine tells no more than that.
    """
    uri = where.partition(" (table ")[0]
    if uri in _ENDPOINTS:
        refuse_web_page(uri, _ENDPOINTS[uri])


def no_service(uri: str) -> MemtuiError:
    """The error of a place that answers, and not as a service of objects does."""
    return MemtuiError(f"{uri}: {_NO_SERVICE}.", fix=_WRONG_PLACE)
