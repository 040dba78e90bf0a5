"""memory-lancedb-pro's write side, reproduced: hooks, queues, extraction, tools, reflection, jobs."""
