"""The JSON that a row carries: read, patched and classified."""
