"""A service of objects on this machine for tests: moto's server, with a bucket of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import httpx
import numpy as np
import pyarrow as pa
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from memtui.engine.dialects.memtui import own_schema
from tests.conftest import NOW_MS

BUCKET = "memories"

DIMS = 8


@contextmanager
def object_service() -> Iterator[str]:
    """The endpoint of a running service with the bucket `memories`; stopped at the end."""
    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=MotoRequestHandler)
    # moto's own thread looks every half second whether it is to stop, and a test waits for that
    running = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    running.start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        # All services of a process share their objects.
        httpx.post(f"{endpoint}/moto-api/reset").raise_for_status()
        httpx.put(f"{endpoint}/{BUCKET}").raise_for_status()
        yield endpoint
    finally:
        server.shutdown()
        running.join()


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
