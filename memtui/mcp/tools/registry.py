"""The tools that are there: every module of this folder with a `TOOL`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import memtui.mcp.tools
from memtui.mcp.tools.base import Tool


@cache
def all_tools() -> tuple[Tool, ...]:
    """Every tool, those for reading first."""
    names = [found.name for found in iter_modules(memtui.mcp.tools.__path__)]
    modules = [import_module(f"memtui.mcp.tools.{name}") for name in names]
    tools = [module.TOOL for module in modules if hasattr(module, "TOOL")]
    return tuple(sorted(tools, key=lambda tool: tool.order))
