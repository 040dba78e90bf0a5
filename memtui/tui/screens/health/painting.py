"""Health as rows: findings and their evidence, indexes, versions, the configuration. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.health.state import VIEWS, HealthState
from memtui.tui.widgets.row_list import Row

GROUPS = {"wrong": "answers wrong", "lost": "lost or leaked", "slow": "slow and fat"}

SIGNS = {"S1": ("✗", "bold $danger"), "S2": ("!", "bold $stale"), "S3": (" ", ""), "S4": (" ", "$dim")}

_LABEL = 10

_WRITERS = {
    "memtui": "~ memtui",
    "injection": "┄ agent",
    "capture": "+ agent",
    "change": "~ agent",
    "maintenance": "≡ upkeep",
    "restore": "‹ restore",
    "index": "# index",
    "unknown": "? writer",
}


@dataclass(frozen=True, slots=True)
class Look:
    """What painting needs beside the state."""

    glyphs: Glyphs
    zone: tzinfo | None


def views(state: HealthState, width: int, look: Look) -> list[Row]:
    """The place's views, the active one in brackets, and how many checks were made."""
    parts = []
    for name in VIEWS:
        count = (
            f" {len(state.found.findings)}"
            if name == "doctor" and state.found and state.found.findings
            else ""
        )
        style = "bold $primary" if name == state.view else "$dim"
        parts.append(Content.styled(f"[{name}{count}]" if name == state.view else f" {name}{count} ", style))
    left = Content.assemble(" ", Content(" ").join(parts))
    room = max(0, width - left.cell_length - 1)
    return [Row((Content.assemble(left, (right(crop(_where(state), room), room), "$dim")),))]


def _where(state: HealthState) -> str:
    if state.looking:
        return state.looking
    if state.view == "config" and state.config is not None:
        return f"plan {state.config.plan}, not written"
    if state.found is None:
        return ""
    passes = "all passes" if state.deep else "vectors not looked at"
    return f"{state.found.looked} checks, {passes}"


def listed(state: HealthState, width: int, look: Look) -> list[Row]:
    """The list of the view."""
    paint = {"doctor": _doctor, "indexes": _indexes, "versions": _versions, "config": _config}
    return paint[state.view](state, width, look)


def detail(state: HealthState, width: int, look: Look) -> list[Row]:
    """What belongs to the row under the cursor."""
    paint = {"doctor": _evidence, "indexes": _advice, "versions": _difference, "config": _before_writing}
    return paint[state.view](state, width, look)


def _doctor(state: HealthState, width: int, look: Look) -> list[Row]:
    if state.found is None:
        return []
    rows: list[Row] = []
    for group, words in GROUPS.items():
        found = [each for each in state.found.findings if each.check.group == group]
        if not found:
            continue
        rows.append(Row((Content.styled(f" {words}", "bold $heading"),)))
        for each in found:
            sign, style = SIGNS[each.severity]
            tail = f" {each.seen.count:>6,} {each.check.how:>8} "
            room = max(1, width - 4 - len(tail))
            said = fit(crop(one_line(each.seen.sentence), room, look.glyphs.ellipsis), room)
            rows.append(Row((Content.assemble((f" {sign} ", style), said, (tail, "$dim")),), each.kind))
    fine = len(state.found.fine)
    if fine:
        rows.append(Row((Content.styled(f" {fine} checks found nothing", "$dim"),)))
    if state.found.unlooked:
        rows.append(Row((Content.styled(f" {len(state.found.unlooked)} could not be made", "$stale"),)))
    return rows


def _evidence(state: HealthState, width: int, look: Look) -> list[Row]:
    finding = state.finding
    if finding is None:
        fine = state.found.looked if state.found is not None else 0
        return [Row((Content.styled(f" {fine} checks, nothing found", "$dim"),))] if state.found else []
    seen, check = finding.seen, finding.check
    beside = {True: "the agent may run on", False: "stop the agent first", None: "nothing is written"}[
        check.safe
    ]
    lines = [
        ("kind", f"{finding.kind}, severity {finding.severity[1]}"),
        ("seen", seen.sentence),
        *(("", line) for line in seen.evidence),
        ("since", _moment(seen.since_ms, look.zone) if seen.since_ms else "not known"),
        ("sure", "counted" if seen.sure is None else f"{seen.sure:.2f}".lstrip("0")),
        ("does", check.effect),
        ("remedy", finding.remedy),
        ("costs", check.price or "nothing"),
        ("beside", beside),
        ("back", check.back or ("none" if check.reversible is False else "none is needed")),
        *(("file", path) for path in seen.files[:8]),
    ]
    return _labelled(lines, width)


def _indexes(state: HealthState, width: int, look: Look) -> list[Row]:
    rows = []
    for each in state.indexes or ():
        index = each.index
        size = "" if index.size is None else f"{index.size / 1e6:.1f} MB"
        covered = f"{index.indexed:,} of {index.indexed + index.unindexed:,}"
        head = f" {index.name}  {index.kind} on {', '.join(index.columns)}  {covered}  {size}"
        style = {"needed": "$dim", "useless": "$stale", "harmful": "bold $danger"}[each.verdict]
        room = max(1, width - 10)
        line = Content.assemble(
            fit(crop(head, room, look.glyphs.ellipsis), room), (f" {each.verdict:>8}", style)
        )
        rows.append(Row((line,), index.name))
    if not rows and state.indexes is not None:
        rows.append(Row((Content.styled(" no index", "$dim"),)))
    return rows


def _advice(state: HealthState, width: int, look: Look) -> list[Row]:
    lines: list[tuple[str, str]] = []
    for each in state.indexes or ():
        lines += [
            (each.index.name[:_LABEL], f"serves {each.serves}: {each.verdict}"),
            ("", each.sentence),
            ("", each.action),
        ]
    if state.advice:
        lines.append(("advice", f"vector index: {state.advice}"))
    return _labelled(lines, width)


def _versions(state: HealthState, width: int, look: Look) -> list[Row]:
    rows, day = [], ""
    for each in state.versions or ():
        when = datetime.fromtimestamp(each.time_ms / 1000, look.zone)
        here = f"{when.day} {when:%b %Y}"
        if here != day:
            day = here
            rows.append(Row((Content.styled(f" {here}", "bold $heading"),)))
        number = f"v{each.version}" if each.first is None else f"{each.versions} versions"
        counts = " ".join(
            f"{sign}{count}"
            for sign, count in (("+", each.added), ("~", each.changed), ("-", each.removed))
            if count
        )
        room = max(1, width - 14 - 7 - 11 - 12)
        title = fit(crop(one_line(each.title), room, look.glyphs.ellipsis), room)
        line = f" {number:<12} {when:%H:%M} {_WRITERS[each.writer]:<11}{title} {counts:>10} "
        style = "$dim" if each.writer == "injection" else ""
        rows.append(
            Row((Content.styled(crop(line, width - 1, look.glyphs.ellipsis), style),), str(each.version))
        )
    return rows


def _difference(state: HealthState, width: int, look: Look) -> list[Row]:
    entry = state.entry
    if entry is None:
        return []
    lines = [
        ("version", f"{entry.version}, {_moment(entry.time_ms, look.zone)}"),
        ("writer", f"{entry.writer}: {entry.title}"),
        ("rows", f"{entry.rows:,} afterwards"),
    ]
    if entry.entry is not None:
        lines.append(("journal", f"entry {entry.entry}"))
    if state.difference is None:
        lines.append(("", "enter shows what differs from the version before"))
    for each in (state.difference or ())[:200]:
        sign = {"add": "+", "remove": "-", "change": "~"}[each.op]
        more = f" ({', '.join(each.fields)})" if each.fields else ""
        lines.append((f"{sign} {each.id[:8]}", one_line(each.title) + more))
    return _labelled(lines, width)


def _config(state: HealthState, width: int, look: Look) -> list[Row]:
    config = state.config
    if config is None:
        return []
    rows = [Row((Content.styled(f" {crop(config.file, width - 2, look.glyphs.ellipsis)}", "$dim"),))]
    if config.error:
        return [*rows, *_labelled([("", config.error)], width)]
    rows.append(Row((Content.styled(f" problems {len(config.problems)}", "bold $heading"),)))
    for problem in config.problems:
        sign, style = {
            "error": ("✗", "bold $danger"),
            "warning": ("!", "bold $stale"),
            "note": (" ", "$dim"),
        }[problem.severity]
        said = crop(one_line(problem.sentence), width - 4, look.glyphs.ellipsis)
        rows.append(
            Row((Content.assemble((f" {sign} ", style), said),), f"problem:{problem.path}:{problem.rule}")
        )
    title = f" plan {config.plan}, {config.title}: {len(config.changes)} settings"
    rows.append(Row((Content.styled(crop(title, width - 1, look.glyphs.ellipsis), "bold $heading"),)))
    for change in config.changes:
        shown = change.as_json()
        before = f"{shown['from']} ▸ " if change.there else "– ▸ "
        after = "goes" if shown["removed"] else str(shown["to"])
        line = crop(f"   {change.short}  {one_line(before + after)}", width - 1, look.glyphs.ellipsis)
        rows.append(Row((Content(line),), change.dotted))
    return rows


def _before_writing(state: HealthState, width: int, look: Look) -> list[Row]:
    config = state.config
    if config is None or config.error:
        return []
    lines: list[tuple[str, str]] = []
    for problem in config.problems:
        if state.cursor == f"problem:{problem.path}:{problem.rule}":
            lines += [
                ("wrong", problem.sentence),
                ("where", problem.path),
                ("remedy", problem.remedy),
                ("", ""),
            ]
    for change in config.changes:
        if state.cursor == change.dotted:
            lines += [("setting", change.dotted), ("why", change.reason or "part of the plan")]
            lines += [("file", str(change.file)), ("", "")]
    lines += [(each.kind, each.sentence) for each in config.consequences]
    if config.changes:
        lines.append(
            ("write it", f"memtui config apply {config.plan}: asks the services first, keeps a backup")
        )
        lines.append(("way back", "memtui config undo, while the file is as it was left"))
    else:
        lines.append(("", f"the configuration is as plan {config.plan} has it"))
    return _labelled(lines, width)


def _labelled(lines: Sequence[tuple[str, str]], width: int) -> list[Row]:
    """Label and text, the text wrapped beside its label."""
    rows = []
    room = max(10, width - _LABEL - 3)
    for label, text in lines:
        for number, part in enumerate(textwrap.wrap(one_line(text), room) or [""]):
            head = fit(label if not number else "", _LABEL)
            rows.append(Row((Content.assemble((f" {head} ", "$dim"), part),)))
    return rows


def _moment(time_ms: int, zone: tzinfo | None) -> str:
    when = datetime.fromtimestamp(time_ms / 1000, zone)
    return f"{when.day} {when:%b %Y, %H:%M}"
