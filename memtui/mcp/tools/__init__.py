"""The tools: one file each with its `TOOL`; the registry finds them."""
