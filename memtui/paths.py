"""Folders of memtui itself: settings, state, cache. Asking for one does not create it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

FOLDER_VARIABLES = ("MEMTUI_CONFIG_DIR", "MEMTUI_STATE_DIR", "MEMTUI_CACHE_DIR")
"""Each moves one folder; without it the platform's own place is taken."""

_HOST_VARIABLES = (
    *("OPENCLAW_", "CLAWDBOT_", "CLAUDE_", "CODEX_", "CREWAI_", "HERMES_"),
    *("XDG_", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
)
"""How the variables begin that say where the agents of this machine keep their sessions and settings."""


def config_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Where config.toml, keys.toml and the user's themes are."""
    return _folder("config", environ)


def state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Where journals, saved questions and the state of the screen are kept."""
    return _folder("state", environ)


def of_another_home(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """`environ` with the agents of the user whose home is `home`; memtui's own folders stay where they are."""
    own = {name: str(_folder(name.split("_")[1].lower(), environ)) for name in FOLDER_VARIABLES}
    kept = {k: v for k, v in environ.items() if not k.startswith(_HOST_VARIABLES)}
    return {**kept, **own, "HOME": str(home)}


SERVER_EXTRA = "pip install 'memtui[mcp]'"
"""What installs the package that the MCP server needs."""


def has_server() -> bool:
    """Whether the package that the MCP server needs is installed here; it is not imported."""
    from importlib.util import find_spec

    return find_spec("mcp") is not None


def store_state_dir(uri: str, environ: Mapping[str, str] = os.environ) -> Path:
    """What memtui keeps about one store: its cases, its journal, its questions. `uri` as in `StoreInfo`."""
    from hashlib import sha256  # not before the first frame

    return state_dir(environ) / "stores" / sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def column_maps_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The column maps that a person keeps for tables of other programs."""
    return config_dir(environ) / "column-maps.json"


def cases_file(uri: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The saved questions of one store; what a capture is expected to write stands beside it."""
    return store_state_dir(uri, environ) / "cases.json"


def review_file(uri: str, environ: Mapping[str, str] = os.environ) -> Path:
    """What was decided in the review of one store, and when."""
    return store_state_dir(uri, environ) / "review.json"


def versions_file(uri: str, table: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The names that a person gave to versions of one table."""
    return store_state_dir(uri, environ) / f"versions-{table}.json"


def questions_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The history of questions, of all stores."""
    return state_dir(environ) / "questions.sqlite"


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Where things are kept that can be made again, the demo store for one."""
    return _folder("cache", environ)


def settings_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The one settings file."""
    return config_dir(environ) / "config.toml"


def keys_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own keys."""
    return config_dir(environ) / "keys.toml"


def clients_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The clients that a person let in, with the hashes of their tokens."""
    return config_dir(environ) / "clients.json"


def themes_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own themes."""
    return config_dir(environ) / "themes"


def own_command() -> str:
    """The program itself, in full where it was started by a script of its own."""
    if os.path.basename(sys.argv[0]) == "memtui":
        return os.path.abspath(sys.argv[0]) if os.sep in sys.argv[0] else sys.argv[0]
    beside = Path(sys.executable).parent / "memtui"
    return str(beside) if beside.is_file() else "memtui"


def _folder(kind: str, environ: Mapping[str, str]) -> Path:
    given = environ.get(f"MEMTUI_{kind.upper()}_DIR", "").strip()
    if given:
        return Path(given).expanduser()
    from platformdirs import PlatformDirs

    place: Path = getattr(PlatformDirs("memtui", appauthor=False), f"user_{kind}_path")
    return place
