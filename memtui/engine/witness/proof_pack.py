"""The proof pack: one file for whoever must be told what was stored, who could and did read it, and what remains."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.forgetting import read_receipts
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import counted, day
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.leaks import hunt_leaks
from memtui.engine.witness.matching import Matcher
from memtui.engine.witness.reach import Reach, reach_of
from memtui.engine.witness.rights import Rights, read_rights

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


SCHEMA = "memtui.proof-pack.v1"

_MOST = 200

_EPOCH = (1980, 1, 1, 0, 0, 0)


def find_subject(engine: Engine, words: str) -> list[str]:
    """The ids of the memories about a subject: those that hold every one of the words, newest first.

    Raises UsageError for no words, for none found and for more than a pack should hold.
    """
    from memtui.engine.catalog.types import ListQuery

    if not words.strip():
        raise UsageError("A subject needs words.", fix='Try: memtui proof-pack --subject "Ines" pack.zip')
    engine.load_catalog()
    view = engine.view(ListQuery(filter=" ".join(json.dumps(word) for word in words.split())))
    ids = engine.ids(view, 0, _MOST + 1)
    if not ids:
        raise UsageError(
            f"No memory holds {words!r}.", fix="Look with: memtui ls. A removed one goes by its id."
        )
    if len(ids) > _MOST:
        raise UsageError(f"More than {_MOST} memories hold {words!r}.", fix="Take more words.")
    return ids


def collect_proof(
    engine: Engine,
    ids: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path,
    *,
    subject: str = "",
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> dict[str, Any]:
    """Everything that the pack says, as one document; secrets are masked."""
    rights = read_rights(engine, environ, cwd, cancel=cancel)
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    events = injection_history(engine, cancel=cancel).events()
    crossed = hunt_leaks(engine, rights, environ, cwd, cancel=cancel).leaks
    memories = []
    for memory_id in ids:
        reach = reach_of(engine, memory_id, environ, cwd, on_progress=on_progress, cancel=cancel)
        memory = _memory(engine, reach, rights, matcher)
        memory["injections"] = [
            {"time_ms": event.time_ms, "version": event.version} for event in events if reach.id in event.ids
        ]
        memory["leaks"] = [leak.as_json() for leak in crossed if leak.id == reach.id]
        memories.append(memory)
    return {
        "schema": SCHEMA,
        "made_ms": engine.now_ms,
        "subject": mask(subject)[0] or None,
        "store": {"uri": engine.info.uri, "table": engine.info.table, "version": engine.store.version},
        "rules": rights.source or "default permissions (no configuration)",
        "memories": memories,
        "hashes": _hashes(engine),
        "not_known": [
            "what an agent told others, and copies outside the folders listed here",
            "who read the table's files directly",
            "injections older than the readable versions and memtui's own log",
        ],
    }


def write_pack(document: Mapping[str, Any], file: Path) -> list[tuple[str, str]]:
    """Write the pack as a zip; (name, SHA-256) of its parts. The same document gives the same bytes.

    Raises UsageError where the file exists already, MemtuiError where it cannot be written.
    """
    parts = {
        "proof.json": json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"),
        "READ-ME-FIRST.md": _readable(document).encode("utf-8", "surrogatepass"),
    }
    sums = [(name, hashlib.sha256(content).hexdigest()) for name, content in parts.items()]
    parts["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in sums).encode("ascii")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            pack.writestr(info, content)
    try:
        with file.open("xb") as out:
            out.write(buffer.getvalue())
        file.chmod(0o600)
    except FileExistsError:
        raise UsageError(f"{file} exists already.", fix="Name a new file.") from None
    except OSError as error:
        raise MemtuiError(f"{file} cannot be written: {error.strerror}.", fix="Name another place.") from None
    return sums


def _memory(engine: Engine, reach: Reach, rights: Rights, matcher: Matcher) -> dict[str, Any]:
    states = sorted(matcher.writings(reach.id), key=lambda each: each.version)
    row = matcher.row(reach.id)
    stored: list[dict[str, Any]] = []
    for state in [*states, *([row] if row is not None else [])]:
        entry = {
            "text": mask(state.text)[0],
            "sha256": hashlib.sha256(state.text.encode("utf-8", "surrogatepass")).hexdigest(),
            "scope": state.scope,
            "source": state.meta.source,
            "state": state.meta.state,
            "created_ms": state.timestamp_ms,
        }
        if not stored or {**stored[-1], "version": 0} != {**entry, "version": 0}:
            stored.append({**entry, "version": state.version})
    scopes = {each["scope"] for each in stored}
    return {
        "id": reach.id,
        "stored": stored,
        "could_read": [
            {"agent": cell.agent, "scope": cell.scope, "reason": cell.reason}
            for cell in rights.matrix.cells
            if cell.read and cell.scope in scopes
        ],
        "reach": reach.as_json(),
        "findings": [
            finding.as_json()
            for finding in rights.matrix.findings
            if finding.rows and finding.subject in scopes
        ],
        "changes": _changes(engine, reach.id),
        "receipts": _receipts(engine, reach.id),
        "removed": not reach.there,
        "removal": _removal(engine, reach),
        "now": None if row is None else matcher.state_of(reach.id, None).state,
    }


def _removal(engine: Engine, reach: Reach) -> dict[str, Any] | None:
    """The version that no longer has a memory that is gone, and when it was written; None where it is still there."""
    if reach.there or reach.versions is None:
        return None
    after = next((version for version in engine.store.versions() if version[0] > reach.versions[1]), None)
    return None if after is None else {"version": after[0], "time_ms": after[1]}


def _changes(engine: Engine, memory_id: str) -> list[dict[str, Any]]:
    """The journal's entries about the memory: what was changed through memtui, and when."""
    try:
        history = engine.write_state.journal.of_memory(memory_id)
    except MemtuiError:
        return []
    return [
        {
            "entry": entry.entry,
            "time_ms": entry.time_ms,
            "action": entry.action,
            "state": entry.state,
            "op": row.op,
        }
        for entry, row in history
    ]


def _receipts(engine: Engine, memory_id: str) -> list[dict[str, Any]]:
    """The receipts that name the memory, as they stand in memtui's state, each with its file's name and hash.

    They hold ids and hashes; other memories of the same receipt are left out.
    """
    try:
        found = read_receipts(engine, memory_id)
    except MemtuiError:
        return []
    out = []
    for path, receipt in found:
        own = {key: _only(value, memory_id) for key, value in receipt.items()}
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        out.append({"file": path.name, "sha256": digest, "receipt": own})
    return out


def _only(value: Any, memory_id: str) -> Any:
    """Of a list of documents about memories those that are about this one."""
    if not isinstance(value, list):
        return value
    return [item for item in value if not isinstance(item, dict) or item.get("id", memory_id) == memory_id]


def _hashes(engine: Engine) -> list[dict[str, Any]]:
    """The SHA-256 of every readable version's manifest, where the store is a folder."""
    folder = engine.store.folder
    if folder is None:
        return []
    versions = folder / f"{engine.store.table_name}.lance" / "_versions"
    out = []
    for version, time_ms in engine.store.versions():
        for name in (f"{2**64 - 1 - version:020d}.manifest", f"{version}.manifest"):
            try:
                digest = hashlib.sha256((versions / name).read_bytes()).hexdigest()
            except OSError:
                continue
            out.append({"version": version, "time_ms": time_ms, "manifest_sha256": digest})
            break
    return out


def _fate(memory: Mapping[str, Any]) -> str:
    """What became of a memory, for a person."""
    if not memory["removed"]:
        state = memory["now"]
        return "in the table" if state in (None, "same") else f"in the table, {state}: it is not recalled"
    gone = memory["removal"]
    return "removed from the table" + (
        f" {day(gone['time_ms'])}, by version {gone['version']}" if gone else ""
    )


def _readable(document: Mapping[str, Any]) -> str:
    """The same for a person."""
    lines = [
        "# What was stored, who could and did read it, and what remains",
        "",
        f"Made {day(document['made_ms'])} from version {document['store']['version']} of {document['store']['uri']}.",
        f"Rules: {document['rules']}. Secrets are masked. The whole account is proof.json; SHA256SUMS has the hashes.",
    ]
    for memory in document["memories"]:
        reach = memory["reach"]
        lines += ["", f"## {memory['id']}", ""]
        for each in memory["stored"]:
            lines.append(f"- stored {day(each['created_ms'])} in {each['scope']}: {each['text']}")
        lines.append(f"- now: {_fate(memory)}")
        if not memory["stored"]:
            lines.append("- no readable version holds it: its text and scope are not known here")
        could = ", ".join(dict.fromkeys(each["agent"] for each in memory["could_read"]))
        could = could or ("nobody" if memory["stored"] else "not known any more")
        lines.append(f"- could read it: {could}")
        did = ", ".join(f"{agent['agent']} in {counted(agent['turns'], 'turn')}" for agent in reach["agents"])
        lines.append(f"- received it (minimum): {did or 'no evidence of any turn'}")
        if reach["events"]:
            count = counted(len(reach["events"]), "injection")
            lines.append(f"- and {count}, of which only the store's history tells")
        for change in memory["changes"]:
            lines.append(
                f"- {day(change['time_ms'])}: {change['action']} (entry {change['entry']}, {change['state']})"
            )
        for each in memory["receipts"]:
            receipt = each["receipt"]
            clean = "nothing was found" if receipt.get("clean") else "something was still found"
            lines.append(
                f"- receipt {each['file']}: {receipt.get('mode', 'purged')}, {clean} {day(receipt['time_ms'])}"
            )
        for leak in memory["leaks"]:
            rules = f", {leak['rules']['words']}" if leak["rules"] else ""
            lines.append(
                f"- {'crossed' if leak['certainty'] == 'did' else 'could cross'}: {leak['sentence']}{rules}"
            )
        for finding in memory["findings"]:
            lines.append(f"- finding on its scope: {finding['sentence']}")
        if memory["injections"]:
            times = ", ".join(dict.fromkeys(day(each["time_ms"]) for each in memory["injections"]))
            lines.append(f"- injected according to the store's history (minimum): {times}")
        if reach["versions"]:
            lines.append(
                f"- its text is in versions {reach['versions']['first']} to {reach['versions']['last']}"
            )
        for file in reach["files"]:
            lines.append(f"- a copy remains in {file['path']} ({file['kind']})")
    lines += ["", "## Not known", "", *(f"- {each}" for each in document["not_known"]), ""]
    return "\n".join(lines)
