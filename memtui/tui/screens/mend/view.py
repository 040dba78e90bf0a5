"""Mend as lines: the head, the list of what was found, and the whole of what is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.style import Style

from memtui.engine import (
    Memory,
    counted,
    mask,
    one_line,
)
from memtui.tui.actions.action import Action
from memtui.tui.paint.cells import crop, fit, flowing, right
from memtui.tui.paint.difference import own_words
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import age, ago, full, score, short
from memtui.tui.screens.mend.state import (
    PARTS,
    MendState,
    Part,
    merged,
    shown_clusters,
    shown_suspects,
    survivor_of,
)
from memtui.tui.theme.tokens import brightness, scope_style, tier_style
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.changes import (
        TrashedMemory,
    )
    from memtui.engine.health import (
        Cluster,
        Suspect,
    )


LISTED = 1_000
"""Rows that are painted; with so many found, the first are worth more than the rest."""

MEMBERS = 100
"""Members of one cluster that are read and painted."""

_LOSERS = {"supersede": "replaced", "delete": "deleted"}

_WHAT = {"secret": "secret", "injection": "injection"}


def head_lines(state: MendState, width: int, keys: Mapping[str, Action]) -> list[Content]:
    """The parts as tabs with their counts, and what is looked for in the present one."""
    counts: dict[Part, int | None] = {
        "duplicates": None if state.near is None else len(shown_clusters(state)),
        "trash": None if state.trash is None else len(state.trash),
    }
    tabs = []
    for part, name in PARTS:
        found = state.suspects.get(part)
        count = counts.get(part, None if found is None else _left(found, state))
        label = f"{name} {short(count)}" if count is not None else name
        here = part == state.part
        text = Content.styled(f"[{label}]" if here else f" {label} ", "bold $primary" if here else "$dim")
        tabs.append(text.stylize(Style.from_meta({"@click": f"screen.{part}"})))
    return [Content("  ").join([Content(), *tabs]), _setting(state, width, keys)]


def _left(found: Sequence[Suspect], state: MendState) -> int:
    return len({each.id for each in found} - state.done)


def _setting(state: MendState, width: int, keys: Mapping[str, Action]) -> Content:
    if state.part == "duplicates":
        clusters = shown_clusters(state)
        extra = sum(len(cluster.ids) - 1 for cluster in clusters)
        wide = width >= 100
        parts = [
            _chip(
                keys["mend.stricter"],
                f"{'similarity from ' if wide else ''}{score(state.threshold)}{'' if wide else ' alike'}",
            ),
            _chip(keys["mend.losers"], f"{'others ' if wide else ''}{_LOSERS[state.losers]}"),
            _chip(keys["mend.across"], "all scopes together" if state.across else "within a scope"),
        ]
        if state.near is not None:
            of = counted(extra + len(clusters), "memory", "memories")
            told = f"{counted(len(clusters), 'cluster')} of {of}"
            if wide:
                told += f", {full(state.near.compared)} compared"
            if wide and state.near.without:
                told += f", {full(state.near.without)} without a vector"
            parts.append(Content.styled(told, "$foreground"))
    elif state.part == "trash":
        parts = [_chip(keys["mend.restore"], "restores deleted or archived memories")]
    else:
        found = shown_suspects(state)
        doubted = len({each.id for each in found if each.doubt})
        parts = [
            Content.styled(
                f"{counted(len({each.id for each in found}), 'memory', 'memories')}", "$foreground"
            )
        ]
        if doubted:
            parts.append(Content.styled(f"{full(doubted)} uncertain", "$stale"))
    if state.filter and state.part != "trash":
        what = crop(f"only {one_line(state.filter)}", 40) if state.narrow else "all memories"
        parts.insert(0, _chip(keys["mend.within"], what))
    if state.marks:
        parts.append(Content.styled(f"{full(len(state.marks))} marked", "bold $primary"))
    return Content.assemble(" ", Content("   ").join(parts)).truncate(max(1, width), ellipsis=True)


def _chip(key: Action, text: str) -> Content:
    return Content.assemble((key.cap, "bold $key"), (f" {text}", "$foreground"))


# ---------------------------------------------------------------------- the list


def listed(state: MendState) -> Sequence[Cluster] | Sequence[Suspect] | Sequence[TrashedMemory]:
    """What the present part has found, in the order of the list; a suspect of several rules once."""
    if state.part == "duplicates":
        return shown_clusters(state)
    if state.part == "trash":
        return state.trash or ()
    return tuple({suspect.id: suspect for suspect in reversed(shown_suspects(state))}.values())[::-1]


def key_of(each: Cluster | Suspect | TrashedMemory) -> str:
    """What a row of the list is known by: an id; of a cluster, the first of its ids."""
    return each.id if hasattr(each, "id") else each.ids[0]


def list_rows(state: MendState, width: int, glyphs: Glyphs, now_ms: int) -> list[Row]:
    """What the present part has found, one line each, or two where the text needs them."""
    paint: Callable[[Any], Row]
    if state.part == "duplicates":
        paint = partial(_cluster, state=state, width=width, glyphs=glyphs)
    elif state.part == "trash":
        paint = partial(_discarded, state=state, width=width, glyphs=glyphs, now_ms=now_ms)
    else:
        paint = partial(_suspect, state=state, width=width, glyphs=glyphs)
    found = listed(state)
    rows = [paint(each) for each in found[:LISTED]]
    left = len(found) - len(rows)
    return [*rows, Row((Content.styled(f"  and {full(left)} more", "$dim"),))] if left > 0 else rows


def _text_of(state: MendState, memory: str) -> str:
    found = state.memories.get(memory)
    return "" if found is None else one_line(mask(found.raw_text)[0])


def _cluster(cluster: Cluster, state: MendState, width: int, glyphs: Glyphs) -> Row:
    wide = width >= 64
    near = "same" if cluster.exact else score(cluster.lowest)
    scope = one_line(cluster.scope or "(none)")
    line = Content.assemble(
        "  ",
        (right(short(len(cluster.ids)), 4), "bold $foreground"),
        " ",
        (fit(near, 5), "$match" if cluster.exact else brightness(cluster.lowest)),
        *(((fit(scope, 16, glyphs.ellipsis) + " ", scope_style(cluster.scope)),) if wide else ()),
    )
    text = _text_of(state, cluster.ids[0]) or glyphs.skeleton * min(24, max(1, width - line.cell_length - 1))
    return Row(flowing(line, text, Content(), width - 1, glyphs.ellipsis), cluster.ids[0])


def _suspect(suspect: Suspect, state: MendState, width: int, glyphs: Glyphs) -> Row:
    mark = (glyphs.mark, "bold $primary") if suspect.id in state.marks else (" ", "")
    doubt = ("?", "bold $stale") if suspect.doubt else (" ", "")
    rule = f"{_WHAT.get(suspect.kind, '')} {suspect.rule.replace('_', ' ')}".strip()
    line = Content.assemble(
        " ",
        mark,
        doubt,
        " ",
        (
            fit(rule, min(28 if suspect.kind == "noise" else 34, width * 2 // 5), glyphs.ellipsis),
            "$stage-cut",
        ),
        " ",
    )
    style = "$dim" if suspect.doubt else "$foreground"
    return Row(flowing(line, suspect.excerpt, Content(), width - 1, glyphs.ellipsis, style), suspect.id)


def _discarded(each: TrashedMemory, state: MendState, width: int, glyphs: Glyphs, now_ms: int) -> Row:
    mark = (glyphs.mark, "bold $primary") if each.id in state.marks else (" ", "")
    how = (fit(each.how, 9), "$delta-down" if each.how == "deleted" else "$stale")
    when = ago(each.when_ms, now_ms) if each.when_ms else ""
    line = Content.assemble(" ", mark, " ", how, (fit(when, 14), "$dim"))
    title = one_line(mask(each.title)[0])
    return Row(flowing(line, title, Content(), width - 1, glyphs.ellipsis), each.id)


# ---------------------------------------------------------------------- the whole of one


def detail_rows(
    state: MendState, selected: str, width: int, glyphs: Glyphs, now_ms: int, keys: Mapping[str, Action]
) -> list[Row]:
    """The cluster, the suspect or the discarded memory under the cursor of the list."""
    if not selected:
        return []
    if state.part == "duplicates":
        cluster = next((cluster for cluster in shown_clusters(state) if cluster.ids[0] == selected), None)
        return [] if cluster is None else list(_members(cluster, state, width, glyphs, now_ms))
    if state.part == "trash":
        found = next((memory for memory in state.trash or () if memory.id == selected), None)
        return [] if found is None else _inset(_trash_lines(found, state, width - 1, now_ms, keys))
    return _inset(_suspect_lines(state, selected, width - 1, glyphs, now_ms, keys))


def _inset(lines: Iterable[Content]) -> list[Row]:
    return [Row((Content.assemble(" ", line),)) for line in lines]


def _members(cluster: Cluster, state: MendState, width: int, glyphs: Glyphs, now_ms: int) -> Iterator[Row]:
    survivor, taking = survivor_of(state, cluster), merged(state, cluster)
    kept = state.memories.get(survivor)
    base = "" if kept is None else (kept.text if state.text is None else state.text)
    fate = _LOSERS[state.losers]
    for memory, similarity in list(zip(cluster.ids, cluster.similarities, strict=True))[:MEMBERS]:
        found = state.memories.get(memory)
        if memory == survivor:
            what = Content.styled(f"{glyphs.mark} kept", "bold $ok")
        elif memory in taking:
            what = Content.styled(f"{glyphs.cross} {fate}", "$delta-down")
        else:
            what = Content.styled("  left out", "$dim")
        near = "" if memory == cluster.ids[0] else f"  {score(similarity)}"
        head = Content.assemble("  ", what, (near, "$dim"), "  ", _facts(found, glyphs, now_ms))
        upper, *below = head.wrap(max(12, width - 4))
        lines = [upper, *(Content.assemble("    ", part) for part in below)]
        if found is None:
            lines.append(Content.styled(f"    {glyphs.skeleton * 24}", "$faint"))
        elif memory == survivor:
            lines += _indented(Content.styled(mask(base)[0], "bold $foreground"), width)
        elif found.text == base:
            lines.append(Content.styled("    the same text", "$dim"))
        else:
            lines += _indented(own_words(base, found.text, "new", glyphs)[0], width)
        yield Row((*lines, Content()), memory)
    if len(cluster.ids) > MEMBERS:
        yield Row((Content.styled(f"  and {full(len(cluster.ids) - MEMBERS)} more", "$dim"),))


def _facts(memory: Memory | None, glyphs: Glyphs, now_ms: int) -> Content:
    if memory is None:
        return Content()
    parts = [
        Content.styled(f"{glyphs.tier(memory.tier)} {one_line(memory.tier or '-')}", tier_style(memory.tier))
    ]
    if memory.importance is not None:
        parts.append(Content.styled(f"imp {score(memory.importance)}", "$dim"))
    if memory.access_count:
        parts.append(Content.styled(f"used {full(memory.access_count)}", "$dim"))
    parts.append(Content.styled(age(memory.timestamp_ms, now_ms), "$dim"))
    parts.append(Content.styled(one_line(memory.scope or "(none)"), scope_style(memory.scope)))
    return Content("  ").join(parts)


def _indented(text: Content, width: int) -> list[Content]:
    return [Content.assemble("    ", line) for line in text.wrap(max(12, width - 6))]


def _suspect_lines(
    state: MendState, selected: str, width: int, glyphs: Glyphs, now_ms: int, keys: Mapping[str, Action]
) -> Iterator[Content]:
    memory = state.memories.get(selected)
    shown = state.revealed == selected
    text = "" if memory is None else memory.text if shown else mask(memory.text)[0]
    yield from Content.styled(text or glyphs.skeleton * 24, "$foreground").wrap(max(12, width - 1))
    yield Content()
    for suspect in (suspect for suspect in shown_suspects(state) if suspect.id == selected):
        kind = {"noise": "noise filter", "secret": "secret", "injection": "prompt injection"}[suspect.kind]
        yield Content.assemble((f"{kind}: ", "$dim"), (suspect.rule.replace("_", " "), "bold $stage-cut"))
        if suspect.doubt:
            doubt = Content.styled(f"? perhaps not: {suspect.doubt}", "$stale")
            yield from doubt.wrap(max(12, width - 1))
    if state.part == "secrets" and not shown and memory is not None and mask(memory.text)[1]:
        yield Content.assemble((keys["mend.reveal"].cap, "bold $key"), (" shows what is masked", "$dim"))
    yield Content()
    yield _facts(memory, glyphs, now_ms).truncate(max(1, width), ellipsis=True)
    yield Content.styled(one_line(selected)[:8], "$dim").truncate(max(1, width), ellipsis=True)


def _trash_lines(
    each: TrashedMemory, state: MendState, width: int, now_ms: int, keys: Mapping[str, Action]
) -> Iterator[Content]:
    memory = state.memories.get(each.id)
    text = mask(each.title if memory is None else memory.text)[0]
    yield from Content.styled(text, "$foreground").wrap(max(12, width - 1))
    yield Content()
    by = f"with entry {full(each.entry)} of the journal" if each.entry is not None else "by the agent"
    when = f"{ago(each.when_ms, now_ms)}, " if each.when_ms else ""
    yield from Content.styled(f"{each.how} {when}{by}", "$dim").wrap(max(12, width - 1))
    back = "makes it confirmed" if each.entry is None else "restores its earlier state"
    if each.how == "deleted":
        back = "restores the whole row, with its vector"
    told = Content.assemble((keys["mend.restore"].cap, "bold $key"), (f" {back}", "$dim"))
    yield from told.wrap(max(12, width - 1))
    yield Content()
    yield Content.styled(one_line(each.scope or "(none)"), scope_style(each.scope))
    yield Content.styled(one_line(each.id)[:8], "$dim").truncate(max(1, width), ellipsis=True)
