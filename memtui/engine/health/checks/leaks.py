"""Secrets that live on: in older versions of the table, and in files beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memtui.engine.core.errors import UsageError
from memtui.engine.core.secrets import find_secrets, may_hold_secrets
from memtui.engine.core.text import counted
from memtui.engine.health.check import Check, Patient, Seen

MOST_VERSIONS = 400

LIGHT_ROWS = 20_000
"""Rows of all older versions together that are looked through without being asked: a second or two."""

LARGEST_FILE = 32 << 20

MOST_FILES = 3_000

_BESIDE = (
    "backups/*.jsonl",
    "admission-audit/*.jsonl",
    "*-unrecovered-*.json",
    "*.md",
    "*/*.md",
    "*/memory/*.md",
)
"""Files that the plugin leaves beside its store."""

_OF_STATE = (
    "agents/*/sessions/*.jsonl*",
    "trajectory-exports/**/*",
    "workspace*/*.md",
    "workspace*/memory/*.md",
    "memory/*.md",
    "backups/*.jsonl",
)
"""Files of the agent's host, below its state folder."""

_STATE_NAMES = (".openclaw", ".clawdbot", ".moldbot", ".moltbot")


def _in_past(patient: Patient) -> Seen | None:
    store = patient.store
    if store is None:
        return None
    from memtui.engine.health.versions import vanished_texts

    ids: list[str] = []
    versions = store.versions()
    older = len(versions) - 1
    if older < 1:
        return None
    if not patient.deep and store.count() * min(older, MOST_VERSIONS) > LIGHT_ROWS:
        raise UsageError("older versions of a table of this size are read with --deep only")
    for id_, then, now in vanished_texts(store, patient.files, MOST_VERSIONS, patient.cancel):
        if any(then[secret.start : secret.end] not in now for secret in find_secrets(then)):
            ids.append(id_)
    if not ids:
        return None
    found = tuple(dict.fromkeys(ids))
    return Seen(
        f"{counted(len(found), 'removed or masked secret')} still in {counted(older, 'older version')} of the table",
        len(found),
        ids=found,
        remedy="with the agent stopped: memtui doctor --fix D28 --yes, or memtui forget ID --past; "
        "every older version goes",
    )


def _in_copies(patient: Patient) -> Seen | None:
    if patient.folder is None:
        return None
    found: dict[str, int] = {}
    for path in _copies(patient):
        if patient.cancel is not None:
            patient.cancel.check()
        count = _secrets_in(path)
        if count:
            found[str(path)] = count
    if not found:
        return None
    where = counted(len(found), "file")
    return Seen(
        f"{counted(sum(found.values()), 'secret')} in {where} outside the table",
        len(found),
        files=tuple(found),
        evidence=tuple(
            f"{Path(path).name}: {counted(count, 'secret')}" for path, count in list(found.items())[:8]
        ),
    )


def _copies(patient: Patient) -> Iterator[Path]:
    assert patient.folder is not None
    beside, seen = patient.folder.parent, set[Path]()
    roots = [(beside, _BESIDE), (patient.folder, (".legacy-timestamp-backfill-backups/*.json",))]
    state = _state_folder(patient)
    if state is not None:
        roots.append((state, _OF_STATE))
    mirror = patient.found.settings.get("mdMirror") if patient.found is not None else None
    folder = mirror.get("dir") if isinstance(mirror, dict) else None
    if isinstance(folder, str) and folder:
        roots.append((Path(folder).expanduser(), ("**/*.md",)))
    trajectories = patient.environ.get("OPENCLAW_TRAJECTORY_DIR", "").strip()
    if trajectories:
        roots.append((Path(trajectories), ("*.jsonl",)))
    for root, patterns in roots:
        for pattern in patterns:
            for path in sorted(root.glob(pattern)):
                if len(seen) >= MOST_FILES:
                    return
                if path not in seen and path.is_file() and not path.is_symlink():
                    seen.add(path)
                    yield path


def _state_folder(patient: Patient) -> Path | None:
    """The state folder of the agent's host: of the configuration that names the store, else the one around it."""
    if patient.found is not None and patient.found.config:
        return Path(patient.found.config).parent
    assert patient.folder is not None
    return next((parent for parent in patient.folder.parents if parent.name in _STATE_NAMES), None)


def _secrets_in(path: Path) -> int:
    try:
        if path.stat().st_size > LARGEST_FILE:
            return 0
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return 0
    return sum(len(find_secrets(line)) for line in text.splitlines()) if may_hold_secrets(text) else 0


PROTOCOL = 1

CHECKS = (
    Check(
        "D28", "secrets in older versions", "light", "S1", "lost",
        "whoever reads the folder reads what was removed",
        "remove the older versions, with the agent stopped: memtui forget ID --past", _in_past, how="stop",
        safe=False, reversible=False, back="none",
    ),
    Check(
        "D29", "secrets in files beside the store", "light", "S1", "lost",
        "whoever reads these files has them", "change the secret, then take it out of each file by hand",
        _in_copies, how="by hand", safe=None, reversible=None,
    ),
)  # fmt: skip
