"""The address that a server over HTTP is reached at."""

from __future__ import annotations

import ipaddress

from memtui.engine.core.errors import UsageError


def place_of(text: str) -> tuple[str, int]:
    """Host and port of `PORT` or `HOST:PORT`. Raises UsageError."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or not 0 <= int(port) < 65_536:
        raise UsageError(f"--http cannot read {text!r}.", fix="Write PORT or HOST:PORT, such as 8765.")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
