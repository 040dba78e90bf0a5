"""A service of objects on this machine for tests: moto's server, with a bucket of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from moto.server import ThreadedMotoServer

BUCKET = "memories"


@contextmanager
def object_service() -> Iterator[str]:
    """The endpoint of a running service with the bucket `memories`; stopped at the end."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        httpx.put(f"{endpoint}/{BUCKET}").raise_for_status()
        yield endpoint
    finally:
        server.stop()


def options(endpoint: str) -> dict[str, str]:
    """The options that reach it."""
    return {
        "endpoint": endpoint,
        "region": "us-east-1",
        "aws_access_key_id": "someone",
        "aws_secret_access_key": "something",
        "allow_http": "true",
        "client_retry_timeout": "3",
    }


def settings_text(endpoint: str) -> str:
    """The settings file that reaches it, with the keys in two variables."""
    return f"""
[storage.team]
uri = "s3://{BUCKET}/team"
endpoint = "{endpoint}"
region = "us-east-1"
aws_access_key_id = "${{TEAM_KEY}}"
aws_secret_access_key = "${{TEAM_SECRET}}"
allow_http = true
client_retry_timeout = 3
"""
