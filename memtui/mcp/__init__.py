"""The agents' door: an MCP server over the engine, with the tools that an agent calls by itself."""
