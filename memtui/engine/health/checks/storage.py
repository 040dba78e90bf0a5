"""Fragments, versions, masked rows, files that nothing names, names that hold versions back."""

from __future__ import annotations

from datetime import UTC, datetime

from memtui.engine.core.text import counted
from memtui.engine.health.check import Check, Patient, Seen

FRAGMENTS = 20

FRAGMENT_SHARE = 0.05
"""Of a thousand rows: so many small fragments are in order."""

VERSIONS_LEAST = 64 << 10
"""Bytes of manifests below which nobody minds."""

MASKED_SHARE, MASKED_ROWS = 0.01, 20

LAG_SHARE, LAG_ROWS = 0.01, 20

YOUNG_S = 7 * 86_400
"""Seconds for which nothing is taken for a leftover: an agent may work with it."""

_NEWEST_FOR_PRO = (2, 1)
"""The newest data format that the plugin's engine reads; of a newer one its process dies."""


def _small_fragments(patient: Patient) -> Seen | None:
    facts = patient.facts
    if facts is None or facts.small_fragments <= max(FRAGMENTS, FRAGMENT_SHARE * facts.rows / 1000):
        return None
    count = facts.small_fragments
    return Seen(
        f"{counted(count, 'small fragment')} for {counted(facts.rows, 'row')}: each read opens every one of them",
        count,
    )


def _manifests(patient: Patient) -> Seen | None:
    files = patient.files
    if files is None or files.versions_bytes <= max(VERSIONS_LEAST, files.data_bytes):
        return None
    sizes = f"{files.versions_bytes / 1e6:.1f} MB of {files.data_bytes / 1e6:.1f} MB of data"
    count = len(files.manifests)
    return Seen(f"the lists of {counted(count, 'version')} take more room than the memories: {sizes}", count)


def _masked(patient: Patient) -> Seen | None:
    facts = patient.facts
    if facts is None or not facts.masked_rows:
        return None
    if facts.masked_rows <= MASKED_ROWS and facts.masked_rows < MASKED_SHARE * facts.rows:
        return None
    count = facts.masked_rows
    where = counted(facts.deletion_files, "deletion file")
    return Seen(f"{counted(count, 'deleted row')} still read and left out again, by {where}", count)


def _lag(patient: Patient) -> Seen | None:
    facts = patient.facts
    late = [
        index
        for index in (facts.indexes if facts is not None else ())
        if index.details is not None
        and index.unindexed
        and (index.unindexed > LAG_ROWS or index.unindexed > LAG_SHARE * (index.indexed + index.unindexed))
    ]
    if not late:
        return None
    count = max(index.unindexed for index in late)
    names = ", ".join(f"{index.name} {index.unindexed:,}" for index in late)
    return Seen(f"{counted(count, 'row')} beside an index, read one by one ({names})", count)


def _orphans(patient: Patient) -> Seen | None:
    files = patient.files
    if files is None or not files.readable or not files.orphans:
        return None
    found = files.orphans
    size = sum(
        files.data.get(name.partition("/")[2], files.indices.get(name.partition("/")[2], 0)) for name in found
    )
    young = sum(patient.now_ms / 1000 - files.times.get(name, 0) < YOUNG_S for name in found)
    lines = (
        (f"{counted(young, 'file')} younger than 7 days: may be another program's work in hand",)
        if young
        else ()
    )
    oldest = min(files.times.get(name, 0) for name in found)
    return Seen(
        f"{size / 1e6:.1f} MB in {counted(len(found), 'file')} that no version names",
        len(found),
        files=tuple(str(files.folder / name) for name in found),
        evidence=lines,
        remedy=too_young(oldest) if young == len(found) else "",
    )


def too_young(since_s: float) -> str:
    """When what was written then (seconds since the epoch) may be removed beside a running agent."""
    when = datetime.fromtimestamp(since_s + YOUNG_S, UTC)
    return (
        f"wait until {when.day} {when:%b %Y}: younger than 7 days it may be what another program works with; "
        "with the agent stopped memtui forget --past removes it, and every older version with it"
    )


def _names(patient: Patient) -> Seen | None:
    facts = patient.facts
    if facts is None or not facts.tags or not (patient.can.writable and not patient.can.own_store):
        return None
    names = ", ".join(f"{name} (version {version})" for name, version in facts.tags.items())
    return Seen(
        f"{counted(len(facts.tags), 'name')} in the table: the agent's clean-up fails on {names}",
        len(facts.tags),
        detail={"tags": dict(facts.tags)},
    )


def _too_new(patient: Patient) -> Seen | None:
    files = patient.files
    if files is None or not patient.is_pro:
        return None
    newest = files.newest_format
    if newest is None or newest <= _NEWEST_FOR_PRO:
        return None
    return Seen(
        f"the data is of format {newest[0]}.{newest[1]}; the plugin's engine reads up to 2.1 and crashes on it",
        1,
        detail={"format": f"{newest[0]}.{newest[1]}"},
    )


_FOLD = "fold the table: many small files become one"

_BACK = "the version before stays readable until it is cleaned away"

PROTOCOL = 1

CHECKS = (
    Check(
        "D1", "small fragments", "facts", "S3", "slow",
        "every list and recall opens each fragment: slower with each memory", _FOLD, _small_fragments,
        back=_BACK, price="seconds",
    ),
    Check(
        "D2", "size of the version lists", "facts", "S3", "slow",
        "the disk fills with the square of the number of writes",
        "fold the table, then remove versions older than 7 days", _manifests,
        reversible=False, back="none for removed versions", price="seconds",
    ),
    Check(
        "D3", "masked rows", "facts", "S3", "slow",
        "deleted rows are read with every scan", _FOLD, _masked, back=_BACK, price="seconds",
    ),
    Check(
        "D4", "rows beside an index", "facts", "S3", "slow",
        "words in these rows are found by a slower scan", "fold the table, which takes them into the index", _lag,
        back=_BACK, price="seconds",
    ),
    Check(
        "D30", "files that nothing names", "facts", "S3", "slow",
        "they only take room", "remove what is older than 7 days", _orphans,
        reversible=False, back="none", price="seconds",
    ),
    Check(
        "D32", "names that hold versions back", "facts", "S3", "slow",
        "the agent's own clean-up fails and old versions pile up",
        "remove the name from the table, or keep it by copying the version", _names, how="yours",
        back="name the version again while it lives",
    ),
    Check(
        "D40", "data format", "facts", "S1", "lost",
        "the agent's process crashes when it opens the table",
        "copy the memories into a new table of format 2.0: memtui migrate", _too_new, how="by hand",
        safe=False, reversible=True, back="the old table stays",
    ),
)  # fmt: skip
