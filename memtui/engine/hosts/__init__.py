"""The configuration files of agents' hosts: the server and the hooks written into them, checked, taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.hosts.check import CheckedHost, check_host, entry_of
    from memtui.engine.hosts.hooks import HOOK_HOSTS, PERMISSION, permission_block, plan_hooks
    from memtui.engine.hosts.places import server_file
    from memtui.engine.hosts.servers import (
        HOSTS,
        HTTP_HOSTS,
        TOKEN,
        WHERE,
        host_config,
        host_config_http,
        server_pieces,
        server_pieces_http,
    )
    from memtui.engine.hosts.written import (
        HostPlan,
        HostRecord,
        plan_host_undo,
        plan_pieces,
        write_plan,
    )

__all__ = [
    "HOOK_HOSTS",
    "HOSTS",
    "HTTP_HOSTS",
    "PERMISSION",
    "TOKEN",
    "WHERE",
    "CheckedHost",
    "HostPlan",
    "HostRecord",
    "check_host",
    "entry_of",
    "host_config",
    "host_config_http",
    "permission_block",
    "plan_hooks",
    "plan_host_undo",
    "plan_pieces",
    "server_file",
    "server_pieces",
    "server_pieces_http",
    "write_plan",
]

__getattr__ = lazy_names(
    __name__,
    {
        "CheckedHost": "memtui.engine.hosts.check",
        "check_host": "memtui.engine.hosts.check",
        "entry_of": "memtui.engine.hosts.check",
        "HOOK_HOSTS": "memtui.engine.hosts.hooks",
        "PERMISSION": "memtui.engine.hosts.hooks",
        "permission_block": "memtui.engine.hosts.hooks",
        "plan_hooks": "memtui.engine.hosts.hooks",
        "server_file": "memtui.engine.hosts.places",
        "HOSTS": "memtui.engine.hosts.servers",
        "HTTP_HOSTS": "memtui.engine.hosts.servers",
        "TOKEN": "memtui.engine.hosts.servers",
        "WHERE": "memtui.engine.hosts.servers",
        "host_config": "memtui.engine.hosts.servers",
        "host_config_http": "memtui.engine.hosts.servers",
        "server_pieces": "memtui.engine.hosts.servers",
        "server_pieces_http": "memtui.engine.hosts.servers",
        "HostPlan": "memtui.engine.hosts.written",
        "HostRecord": "memtui.engine.hosts.written",
        "plan_host_undo": "memtui.engine.hosts.written",
        "plan_pieces": "memtui.engine.hosts.written",
        "write_plan": "memtui.engine.hosts.written",
    },
)
