"""Any configuration whatever: discovery never raises, never writes, never shows a secret."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.discovery import discover
from memtui.engine.discovery.types import BUILTIN, PRO
from tests.conftest import tree_hash

SECRET = "sesame-open-4711"
WORDS = (
    "",
    "env",
    "cross-encoder",
    "${NOPE}",
    "$${X}",
    "/x\0y",
    "~",
    "relative",
    "undefined",
    "openclaw.json",
)
BAD_WORDS = ("s3://b/c", "http://[bad", "file://%", "redis://h:99999999", "\ud800\u202e")
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**20), st.floats(), st.sampled_from(WORDS + BAD_WORDS)
)
NAMES = st.sampled_from(["source", "id", "redis", "enabled", "default", "config", "$include", "vars"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
KEYS = st.recursive(
    st.sampled_from(
        [SECRET, "${KEY}", "${lower}", {"source": "env", "id": "KEY"}, {"source": "env", "value": SECRET}]
    )
    | TREES,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
SERVICES = st.sampled_from(
    (
        f"https://u:{SECRET}@h/v1",
        f"https://{SECRET}@h/v1",
        f"https://h/v1?api_key={SECRET}",
        "https://${KEY}@h/v1",
    )
)
ADDRESSES = SERVICES | st.sampled_from(
    (f"redis://:{SECRET}@h:1/2", "rediss://u:${KEY}@h", f"redis://:{SECRET}/x@h", f"redis://u:{SECRET}#@h/1")
)
"""A password with a slash or a hash breaks the URL apart in unexpected places."""


def some(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with any of these keys, or something else altogether."""
    return st.fixed_dictionaries({}, optional=parts) | TREES


BLOCK = some(
    dbPath=TREES | ADDRESSES,
    dimensions=TREES,
    embedding=some(apiKey=KEYS, baseURL=TREES | SERVICES, model=TREES, dimensions=TREES, maxInputChars=TREES),
    retrieval=some(rerank=TREES, rerankApiKey=KEYS, rerankEndpoint=TREES | SERVICES, rerankTimeoutMs=TREES),
    locking=some(redis=some(url=TREES | ADDRESSES, enabled=TREES, ttlMs=TREES, keyPrefix=TREES)),
    redisUrl=TREES | ADDRESSES,
    storageMaintenance=some(
        autoCleanup=some(enabled=TREES, retentionDays=TREES), readConsistencyIntervalSeconds=TREES
    ),
    scopes=some(default=TREES, definitions=TREES, agentAccess=some(main=TREES, undefined=TREES)),
    storageOptions=some(token=KEYS, region=TREES),
    llm=some(apiKey=KEYS, headers=some(x=KEYS)),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(pro=BLOCK, builtin=BLOCK, agents=TREES, load=TREES, env=TREES)
def test_no_configuration_breaks_the_search(pro: Any, builtin: Any, agents: Any, load: Any, env: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / ".openclaw"
        (state / "memory/lancedb-pro/memories.lance").mkdir(parents=True)
        (state / "memory/lancedb/memories.lance").mkdir(parents=True)
        config = {
            "agents": {"list": [agents, {"id": "main", "workspace": agents}]},
            "env": env,
            "plugins": {
                "slots": {"memory": PRO},
                "load": {"paths": [load]},
                "entries": {PRO: {"config": pro}, BUILTIN: {"config": builtin, "enabled": load}},
            },
        }
        (state / "openclaw.json").write_text(json.dumps(config))
        before = tree_hash(Path(folder))
        found = discover({"HOME": folder, "KEY": SECRET, "lower": SECRET}, cwd=Path(folder))
        assert SECRET not in repr(found)
        assert SECRET not in repr(asdict(found))
        assert found.configs[0].parse in ("ok", "incomplete")
        for store in found.stores:
            assert store.gate.reason
            assert SECRET not in repr((store.embedding, store.rerank, store.base_url))
        assert tree_hash(Path(folder)) == before
