"""Health as rows: findings and their evidence, indexes, versions, the configuration. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import Memory, counted, mask, one_line
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.health.state import VIEWS, HealthState
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look, views_line

if TYPE_CHECKING:
    from memtui.engine.health import IndexReport


GROUPS = {"wrong": "WRONG ANSWERS", "lost": "LOSS AND LEAKS", "slow": "SPEED AND SIZE"}


def signs(glyphs: Glyphs) -> dict[str, tuple[str, str]]:
    """The sign of each severity and its style: no two alike, with colour or without."""
    return {
        "S1": (glyphs.cross, "bold $danger"),
        "S2": (glyphs.warn, "bold $stale"),
        "S3": (" ", ""),
        "S4": (glyphs.dot, "$dim"),
    }


_LABEL = 10


def views(state: HealthState, width: int, look: Look) -> list[Row]:
    """The place's views, the active one in brackets, and how many checks were made."""
    found = len(state.found.findings) if state.found else 0
    labels = (
        (f"{name} {found}" if name == "doctor" and found else name, name == state.view) for name in VIEWS
    )
    return views_line(labels, _where(state), width)


def _where(state: HealthState) -> str:
    if state.looking:
        return state.looking
    if state.view == "config" and state.config is not None:
        if state.config.error:
            return "no plan can be made"
        if state.config.owner:
            return f"{state.config.owner} has the slot"
        turned = len(state.config.turned.edits) + len(state.config.turned.dropped)
        more = f", {turned} turned" if turned else ""
        return f"plan {state.config.plan}{more}, not applied"
    if state.found is None:
        return ""
    passes = "all passes" if state.deep else "vectors not checked"
    return f"{state.found.looked} checks, {passes}"


def doctor(state: HealthState, width: int, look: Look) -> list[Row]:
    if state.found is None:
        return []
    rows: list[Row] = []
    counts = max((len(f"{finding.seen.count:,}") for finding in state.found.findings), default=0)
    hows = max((len(finding.check.how) for finding in state.found.findings), default=0)
    for group, words in GROUPS.items():
        found = [finding for finding in state.found.findings if finding.check.group == group]
        if not found:
            continue
        rows.append(Row((Content.styled(f" {words}", "bold $heading"),)))
        for finding in found:
            sign, style = signs(look.glyphs)[finding.severity]
            tail = f"  {finding.seen.count:>{counts},}  {finding.check.how:>{hows}} "
            room = max(1, width - 4 - len(tail))
            first, *more = _sentence(state, finding.seen.sentence, room, look)
            line = Content.assemble((f" {sign} ", style), fit(first, room), (tail, "$dim"))
            rows.append(Row((line, *(Content(f"   {part}") for part in more)), finding.kind))
    fine = len(state.found.fine)
    if fine:
        rows.append(Row((Content.styled(f" {fine} checks passed", "$dim"),)))
    if state.found.unlooked:
        rows.append(
            Row((Content.styled(f" {counted(len(state.found.unlooked), 'check')} undecided", "$stale"),))
        )
    return [*rows, *_fine(state, width, look.height - sum(len(row.lines) for row in rows), look)]


SENTENCE_ROWS = 2
"""Rows that the sentence of a finding may take in the list, where every finding has room for them."""


def _sentence(state: HealthState, sentence: str, room: int, look: Look) -> list[str]:
    """The sentence of a finding in the list: on two rows where there is room for that, else on one."""
    found = state.found.findings if state.found is not None else ()
    if len(found) * SENTENCE_ROWS + len(GROUPS) + 2 > look.height:
        return [crop(one_line(sentence), room, look.glyphs.ellipsis)]
    lines = textwrap.wrap(one_line(sentence), room) or [""]
    rest = " ".join(lines[SENTENCE_ROWS - 1 :])
    return [*lines[: SENTENCE_ROWS - 1], crop(rest, room, look.glyphs.ellipsis)] if rest else lines


def _fine(state: HealthState, width: int, room: int, look: Look) -> list[Row]:
    """What was looked at and is fine, by name, where all of it has room."""
    fine = state.found.fine if state.found is not None else ()
    if not fine or room < len(fine) + 3:
        return []
    line = [
        Content.assemble(
            (f" {look.glyphs.mark} ", "$ok"),
            (f"{check.kind:<4}", "$dim"),
            (crop(one_line(check.title), max(1, width - 8), look.glyphs.ellipsis), "$dim"),
        )
        for check in fine
    ]
    head = Content.styled(" PASSED CHECKS", "bold $heading")
    return [Row((Content(),)), Row((head,)), *(Row((each,)) for each in line)]


def evidence(state: HealthState, width: int, look: Look) -> list[Row]:
    finding = state.finding
    if finding is None:
        if state.found is None:
            return []
        said = [f"{state.found.looked} checks, nothing found"]
        if not state.deep:
            said += ["vectors, texts and the vector index", "were not read yet: refresh reads them"]
        return [Row((Content.styled(f" {each}", "$dim"),)) for each in said]
    seen, check = finding.seen, finding.check
    agent = {True: "may keep running", False: "stop it first", None: "may keep running: nothing is written"}[
        check.safe
    ]
    sentence = [
        Row((Content.styled(f" {line}", "bold"),))
        for line in textwrap.wrap(one_line(seen.sentence), width - 2)
    ]
    lines = [
        ("impact", _as_sentence(check.effect)),
        ("fix", _as_sentence(finding.remedy)),
        *(("evidence" if not at else "", line) for at, line in enumerate(seen.evidence)),
        ("cost", check.price or "nothing"),
        ("agent", agent),
        ("undo", check.back or ("not possible" if check.reversible is False else "not needed")),
        ("since", moment(seen.since_ms, look.zone) if seen.since_ms else "not known"),
        ("certainty", "counted" if seen.sure is None else f"{seen.sure:.2f}".lstrip("0")),
        ("check", f"{finding.kind}, severity {finding.severity[1]}"),
        *(("file", path) for path in seen.files[:8]),
    ]
    rows = [*sentence, *labelled(lines, width)]
    return [*rows, *_named(state, width, look.height - sum(len(row.lines) for row in rows), look)]


def _as_sentence(words: str) -> str:
    """The words with a capital and a full stop; a command keeps its first letter, and no stop is taken for its own."""
    if not words or words.startswith(("memtui ", "openclaw ")):
        return words
    return words[0].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


LEAST_NAMED = 6
"""Rows from which the memories of a finding stand below its facts."""

MOST_NAMED = 40
"""Memories of a finding that are read for that."""


def _scope(memory: Memory) -> str:
    """The scope as it is named in a list; quoted where it is blank or has blanks around it."""
    if memory.scope is None:
        return "no scope"
    return (
        one_line(memory.scope)
        if memory.scope and memory.scope == memory.scope.strip()
        else repr(memory.scope)
    )


def _named(state: HealthState, width: int, room: int, look: Look) -> list[Row]:
    """The memories that the finding is about, as far as there is room: scope, age and words of each."""
    finding = state.finding
    ids = finding.seen.ids if finding is not None else ()
    known = [state.rows[memory_id] for memory_id in ids[:MOST_NAMED] if memory_id in state.rows]
    if not known or room < LEAST_NAMED:
        return []
    head = f" {counted(len(ids), 'memory', 'memories')}"
    rows = [Row((Content(),)), Row((Content.styled(head, "bold $heading"),))]
    shown = known[: room - 3]
    column = min(18, max((len(_scope(memory)) + 1 for memory in shown), default=0))
    for memory in shown:
        words = crop(one_line(mask(memory.text)[0]), max(8, width - column - 3), look.glyphs.ellipsis)
        scope = fit(_scope(memory), column, look.glyphs.ellipsis)
        rows.append(Row((Content.assemble(" ", (scope, "$dim"), " ", words),)))
    if len(ids) > len(rows) - 2:
        rows.append(Row((Content.styled(f" and {len(ids) - len(rows) + 2:,} more", "$dim"),)))
    return rows


def indexes(state: HealthState, width: int, look: Look) -> list[Row]:
    rows = []
    for each in state.indexes or ():
        index = each.index
        size = "" if index.size is None else f"{index.size / 1e6:.1f} MB"
        covered = f"{index.indexed:,} of {counted(index.indexed + index.unindexed, 'row')}"
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


def index_advice(state: HealthState, width: int, look: Look) -> list[Row]:
    lines: list[tuple[str, str]] = []
    for index in state.indexes or ():
        lines += [
            (index.index.name[:_LABEL], f"{index.verdict}, serves {index.serves}"),
            ("", index.sentence),
            ("", _kept(index, look)),
            ("", index.action),
        ]
    if state.advice:
        lines.append(("advice", f"vector index: {state.advice}"))
    return labelled(lines, width)


def _kept(report: IndexReport, look: Look) -> str:
    """Rows, size, format and age of an index."""
    index = report.index
    words = [f"{index.indexed:,} of {counted(index.indexed + index.unindexed, 'row')}"]
    if index.size is not None:
        words.append(f"{index.size / 1e6:.1f} MB")
    if index.version is not None:
        words.append(f"format {index.version}")
    words.append(
        "age not known" if index.created_ms is None else f"made {moment(index.created_ms, look.zone)}"
    )
    return ", ".join(words)


def labelled(lines: Sequence[tuple[str, str]], width: int) -> list[Row]:
    """Label and text, the text wrapped beside its label."""
    rows = []
    room = max(10, width - _LABEL - 3)
    for label, text in lines:
        for number, part in enumerate(textwrap.wrap(one_line(text), room) or [""]):
            head = fit(label if not number else "", _LABEL)
            rows.append(Row((Content.assemble((f" {head} ", "$dim"), part),)))
    return rows


def moment(time_ms: int, zone: tzinfo | None) -> str:
    when = datetime.fromtimestamp(time_ms / 1000, zone)
    return f"{when.day} {when:%b %Y, %H:%M}"
