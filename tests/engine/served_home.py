"""An agent's home whose configuration names services for vectors, answers and order."""

from __future__ import annotations

import json
from pathlib import Path

from tests.engine.loopback import text_vector
from tests.engine.pro_store import row, write_store

IDS = [f"0b7f3a52-6c1e-4f0a-9d55-00000000000{number}" for number in range(1, 7)]
"""The memories of its store; the vector of the last one is of zeros."""


def served_home(home: Path, url: str) -> Path:
    """Write the home, its services at `url`; the folder of its store."""
    rows = [
        row(
            id, text := f"Tool {number} hangs on hook {number} of the wall.", text_vector(text, 8), age=number
        )
        for number, id in enumerate(IDS[:5])
    ]
    rows.append(row(IDS[5], "The van of the joiner is in the yard.", [0.0] * 8, age=9))
    store = write_store(home / ".openclaw" / "memory" / "lancedb-pro", rows, dims=8)
    entry = {
        "enabled": True,
        "config": {
            "embedding": {
                "provider": "openai-compatible",
                "apiKey": "sk-here",
                "model": "their-model",
                "baseURL": f"{url}/v1",
                "dimensions": 8,
            },
            "dbPath": str(store),
            "llm": {"apiKey": "sk-here", "model": "their-chat", "baseURL": f"{url}/v1"},
            "smartExtraction": True,
            "retrieval": {
                "rerank": "cross-encoder",
                "rerankApiKey": "sk-here",
                "rerankEndpoint": f"{url}/rerank",
            },
        },
    }
    (home / ".openclaw" / "openclaw.json").write_text(
        json.dumps(
            {
                "plugins": {
                    "slots": {"memory": "memory-lancedb-pro"},
                    "entries": {"memory-lancedb-pro": entry},
                }
            }
        )
    )
    return store
