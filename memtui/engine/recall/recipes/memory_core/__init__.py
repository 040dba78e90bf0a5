"""The recall of OpenClaw's memory-core: words and meaning merged, age, variety."""
