"""A service of objects on this machine for tests: moto's server, with a bucket of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import numpy as np
import pyarrow as pa
from moto.server import ThreadedMotoServer

from memtui.engine.dialects.memtui import own_schema
from tests.conftest import NOW_MS

BUCKET = "memories"

DIMS = 8


@contextmanager
def object_service() -> Iterator[str]:
    """The endpoint of a running service with the bucket `memories`; stopped at the end."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        # All services of a process share their objects.
        httpx.post(f"{endpoint}/moto-api/reset").raise_for_status()
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


def rows(count: int) -> pa.Table:
    """So many memories of our own dialect, newest last, with vectors of chance."""
    rng = np.random.default_rng(4)
    columns = {
        "id": [f"{n:08d}-0000-4000-8000-000000000000" for n in range(count)],
        "text": [f"gauge {n} of the weir" for n in range(count)],
        "vector": pa.FixedSizeListArray.from_arrays(
            pa.array(rng.standard_normal(DIMS * count).astype(np.float32)), DIMS
        ),
        "scope": ["global"] * count,
        "category": ["fact"] * count,
        "importance": np.full(count, 0.5),
        "timestamp": float(NOW_MS) - count + np.arange(count),
        "metadata": ["{}"] * count,
    }
    schema = own_schema(DIMS)
    filled = [
        pa.array(columns[each.name]).cast(each.type) if each.name in columns else pa.nulls(count, each.type)
        for each in schema
    ]
    return pa.table(filled, schema)
