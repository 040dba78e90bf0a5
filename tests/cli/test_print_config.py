"""`memtui mcp --print-config HOST` in the form that each host reads."""

from __future__ import annotations

import json
import tomllib

import pytest

from memtui.engine import UsageError
from memtui.engine.hosts import HOSTS, WHERE, host_config, host_config_http

ARGUMENTS = ["mcp", "--store", '/a folder/it\'s "one"', "--rw"]


@pytest.mark.parametrize("host", HOSTS)
def test_each_host_starts_the_same_command_by_what_is_printed(host: str) -> None:
    text = host_config(host, "/usr/bin/memtui", ARGUMENTS)
    assert WHERE[host]
    if host == "continue":
        words = [json.loads(line.strip().removeprefix("- ")) for line in text.splitlines()[4:]]
        assert words == ARGUMENTS
        return
    if host == "codex":
        server = tomllib.loads(text)["mcp_servers"]["memtui"]
        assert server["required"] is True
    else:
        tree = json.loads(text)
        tree = tree.get("mcp", tree)
        server = tree.get("servers", tree.get("mcpServers", tree))["memtui"]
    command = server["command"]
    words = command if isinstance(command, list) else [command, *server["args"]]
    assert words == ["/usr/bin/memtui", *ARGUMENTS]


def test_a_form_that_is_not_known_is_not_guessed() -> None:
    with pytest.raises(UsageError, match="cline"):
        host_config_http("cline", "http://127.0.0.1:8765/mcp", token=True)
