#!/usr/bin/env bash
# The clients of tests/mcp/test_real_clients.py in a folder of their own: tests/mcp/clients/install.sh FOLDER
# Needs uv and, for the hosts in JavaScript, npm; what cannot be installed is left out by the test, with its reason.
set -uo pipefail
mkdir -p "$1" && cd "$1" || exit 2
venv() { # NAME, then the requirements
  [ -d "$1" ] || uv venv -q -p 3.11 "$1"
  uv pip install -q -p "$1/bin/python" "${@:2}"
}
venv mcp-1.2 mcp==1.2.1 'pydantic<2.11'
venv mcp-1.9 mcp==1.9.4 'pydantic<2.11'
venv mcp-1 'mcp<2'
venv mcp-2 'mcp>=2'
venv fastmcp fastmcp
venv openai_agents openai-agents
venv pydantic_ai 'pydantic-ai-slim[mcp]' fastmcp
venv langchain langchain-mcp-adapters
venv smolagents 'smolagents[mcp]' 'mcp<2'
npm install --silent --no-audit --no-fund --prefix . sdk-1-0@npm:@modelcontextprotocol/sdk@1.0.4 \
  @modelcontextprotocol/sdk @ai-sdk/mcp ai zod @anthropic-ai/claude-code @openai/codex @qwen-code/qwen-code
