"""A change set in words and rows: what it brings with it, what stands in its way, what each memory becomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import Change, ChangeSet, Conflict, MemtuiError, Progress, clean, one_line, word_diff
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, plural
from memtui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from memtui.engine import RecallEffect

SHOWN = 300
"""Nobody reads more rows of one change than this; the rest is counted by scope."""
FIELD_CELLS = 18
MOST_LINES = 8
"""Lines of one text among many changes; a change that stands alone is shown whole."""
LONG = 40
"""From so many characters a value is compared word by word."""
_LAYERS = ("l0_abstract", "l1_overview", "l2_content")
_TIMES = ("_at", "_ms", "_from", "valid_until", "timestamp")
_FIRST_MS, _LAST_MS = 1e11, 2.5e14
"""Milliseconds since the epoch, from 1973 to the year 9892: other numbers in such fields are shown as they are."""
_GOES = ("text", "scope", "category", "importance")


def value_words(value: Any, name: str = "") -> str:
    """A stored value on one line; of a field that is a time by its `name`, the time."""
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list):
        return one_line(json.dumps(value, ensure_ascii=False))
    if name.endswith(_TIMES) and isinstance(value, int | float) and _FIRST_MS < value < _LAST_MS:
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.15g}"
    text = str(value)
    said = one_line(text)
    if said and (text[0].isspace() or text[-1].isspace()):  # nobody sees a space that is too many
        return f"“{' ' * text[0].isspace()}{said.strip()}{' ' * text[-1].isspace()}”"
    return said or "(empty)"


def sentences(texts: Iterable[str], width: int, mark: str, style: str) -> Iterator[Content]:
    """Each text wrapped, behind a mark."""
    for text in texts:
        for i, line in enumerate(Content.styled(one_line(text), "$foreground").wrap(max(12, width - 4))):
            yield Content.assemble((f" {mark} " if i == 0 else "   ", style), line)


def heading(text: str, style: str = "bold $heading") -> list[Content]:
    """An empty line and a heading."""
    return [Content(), Content.styled(f" {text}", style)]


def plan_rows(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Row]:
    """The change set for lines of `width` cells; rows that can be dropped carry the id of their memory."""
    head = _head(plan, notes, width, glyphs)
    rows = [Row((*head, Content()))] if head else []
    pairs = _paired(plan.changes[:SHOWN])
    alone = len(pairs) == 1
    for change, old in pairs:
        lines = change_lines(change, width, glyphs, old=old, most=0 if alone else MOST_LINES)
        if alone:  # nothing to choose between: the lines scroll one by one
            rows += [Row((line,)) for line in lines]
        else:
            rows.append(Row(tuple(lines), change.id))
    left = len(plan.changes) - SHOWN
    if left > 0:
        rows.append(Row(tuple(heading(f"and {full(left)} more", "$dim"))))
    return rows


def _head(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Content]:
    lines = list(sentences((*notes, *plan.warnings), width, glyphs.warn, "bold $stale"))
    lines += sentences(plan.notes, width, glyphs.dot, "$dim")
    if plan.conflicts:
        count = plural(len(plan.conflicts), "conflict", "conflicts")
        lines += heading(f"{count}: this cannot be applied as it is", "bold $danger")
        for conflict in plan.conflicts[:SHOWN]:
            lines += conflict_lines(conflict, width, glyphs)
    if plan.left:
        count = plural(len(plan.left), "memory stays as it is", "memories stay as they are")
        lines += heading(f"{count}: {one_line(plan.left[0].sentence)}", "$dim")
    if plan.purges:
        lines += heading(f"deleted before, and now without a trace: {full(len(plan.purges))}")
    lines += _copies(plan, width, glyphs)
    if plan.changes:
        reasons = Counter(each.why for each in plan.changes if each.op == "delete")
        whys = [_reason(why, n) for why, n in reasons.items()] if len(reasons) > 1 else []
        scopes = [f"{value_words(scope)} {full(n)}" for scope, n in plan.by_scope]
        for words in (whys, scopes):
            if words:
                lines += heading(crop(", ".join(words), width - 2, glyphs.ellipsis), "$dim")
    return lines


def _reason(why: str, count: int) -> str:
    """How many memories go for one reason."""
    plain = plural(count, "older version") if why == "older version" else f"{full(count)} {why or 'named'}"
    return one_line(plain)


def _copies(plan: ChangeSet, width: int, glyphs: Glyphs) -> Iterator[Content]:
    """Where else the text stands: from the end of the path, which tells files apart."""
    if not plan.copies:
        return
    goes = sum(bool(each["goes"]) for each in plan.copies)
    yield from heading(f"COPIES IN FILES  {full(goes)} go, {full(len(plan.copies) - goes)} stay")
    for copy in plan.copies[:SHOWN]:
        mark, style = (glyphs.cross, "$delta-down") if copy["goes"] else (" ", "$dim")
        verb = "goes" if copy["goes"] else "stays"
        tail = f"  line {copy['line']}  {copy['kind']}  {verb}"
        path = one_line(str(copy["path"]))
        room = max(8, width - len(tail) - 5)
        shown = path if len(path) <= room else glyphs.ellipsis + path[-(room - 1) :]
        yield Content.assemble(
            f" {mark} ", (fit(shown, min(room, max(len(shown), 1))), "$foreground"), (tail, style)
        )


def _paired(changes: Sequence[Change]) -> list[tuple[Change, Change | None]]:
    """A new version with the row that it supersedes; every other change alone."""
    old = {each.group: each for each in changes if each.group and each.op == "edit"}
    fresh = {each.group for each in changes if each.group and each.op == "add"}
    return [
        (each, old.get(each.group) if each.op == "add" else None)
        for each in changes
        if each.op == "add" or each.group not in fresh or not each.group
    ]


def change_lines(
    change: Change, width: int, glyphs: Glyphs, *, old: Change | None = None, most: int = MOST_LINES
) -> list[Content]:
    """One change: its memory, then what differs. `old` is the version it supersedes; `most` lines a text, 0: all."""
    done, mark = {"edit": ("", "~"), "add": ("new  ", "+"), "delete": ("goes  ", "-")}[change.op]
    if old is not None:
        done, mark = "new version  ", "~"
    why = f"  {one_line(change.why)}" if change.why and old is None else ""
    shown = old or change
    name = f" {mark} {done}{one_line(shown.id)[:8]}{why}  {one_line(shown.title)}"
    head = Content.styled(crop(name, width - 1, glyphs.ellipsis), "bold $foreground")
    return [head, *_becomes(change, old, width, glyphs, most), Content()]


def _becomes(change: Change, old: Change | None, width: int, glyphs: Glyphs, most: int) -> list[Content]:
    """What is below the name of a change."""
    if old is not None:
        after = {"text": change.after.get("text")}
        said = f"     {change.id[:8]} takes its place; this one stays as history"
        return [
            *field_lines({"text": old.title}, after, width, glyphs, most=most),
            Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"),
        ]
    if change.op == "edit":
        return field_lines(change.before, change.after, width, glyphs, most=most)
    lines: list[Content] = []
    values = change.after if change.op == "add" else change.before
    kept = {key: values[key] for key in _GOES if key in values}
    text = kept.pop("text", None)
    if text is not None and change.op == "add":
        lines += _block(Content.styled(clean(str(text)), "$delta-up"), width, glyphs, most)
    facts = "   ".join(f"{key} {value_words(value, key)}" for key, value in kept.items() if value is not None)
    return (
        [*lines, Content.styled(crop(f"     {facts}", width - 1, glyphs.ellipsis), "$dim")]
        if facts
        else lines
    )


def field_lines(
    before: Mapping[str, Any], after: Mapping[str, Any], width: int, glyphs: Glyphs, *, most: int = 0
) -> list[Content]:
    """Field by field from `before` to `after`; long values word by word."""
    room = max(8, (width - FIELD_CELLS - 10) // 2)
    lines: list[Content] = []
    names = list(dict.fromkeys((*before, *after)))
    follow = [name for name in names if name in _LAYERS and _follows(after.get(name), after.get("text"))]
    for name in sorted((name for name in names if name not in follow), key=lambda name: name != "text"):
        old, new = before.get(name), after.get(name)
        long = isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) >= LONG
        if long:
            lines.append(Content.styled(f"     {one_line(name)}", "$dim"))
            if (
                name == "metadata"
            ):  # the whole text of an object: word by word it is all quotes and backslashes
                for mark, value, style in (("-", old, "$delta-down"), ("+", new, "$delta-up")):
                    lines += _block(Content.styled(f"{mark} {clean(str(value))}", style), width, glyphs, most)
            else:
                lines += _block(difference(str(old), str(new)), width, glyphs, most)
            continue
        lines.append(
            Content.assemble(
                "     ",
                (fit(one_line(name), FIELD_CELLS, glyphs.ellipsis), "$dim"),
                (crop(value_words(old, name), room, glyphs.ellipsis), "$delta-down"),
                (f" {glyphs.forth} ", "$dim"),
                (crop(value_words(new, name), room, glyphs.ellipsis), "$delta-up"),
            )
        )
    if follow:
        said = f"     {', '.join(follow)} follow the text"
        lines.append(Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"))
    return lines


def _follows(layer: Any, text: Any) -> bool:
    """Whether a summary is nothing but the text."""
    return isinstance(layer, str) and isinstance(text, str) and layer in (text, f"- {text}")


def difference(before: str, after: str) -> Content:
    """Both texts in one: what is gone in brackets with a minus, what is new with a plus, as git writes it."""
    parts = word_diff(clean(before), clean(after))
    styles = {"same": "$foreground", "gone": "$delta-down", "new": "bold $delta-up"}
    ends = {"same": ("", ""), "gone": ("[-", "-]"), "new": ("{+", "+}")}
    return Content.assemble(
        *((f"{ends[kind][0]}{text}{ends[kind][1]}", styles[kind]) for kind, text in parts)
    )


def _block(text: Content, width: int, glyphs: Glyphs, most: int) -> list[Content]:
    """A text in lines, set off to the right; at most `most` of them where that is not 0."""
    wrapped = list(text.wrap(max(12, width - 9)))
    shown = wrapped if not most or len(wrapped) <= most else wrapped[: most - 1]
    lines = [Content.assemble("       ", line) for line in shown]
    if len(shown) < len(wrapped):
        lines.append(
            Content.styled(f"       {glyphs.ellipsis} {len(wrapped) - len(shown)} lines more", "$dim")
        )
    return lines


def effect_lines(value: RecallEffect | Progress | MemtuiError, width: int, glyphs: Glyphs) -> list[Content]:
    """What a change does to recall, or how far the asking is, or why it is not known."""
    name = Content.styled(" EFFECT ON RECALL  ", "bold $heading")
    if isinstance(value, Progress):
        return [
            Content.assemble(
                name, (f"asking {full(value.done)} of {plural(value.total or 0, 'question')}", "$dim")
            )
        ]
    if isinstance(value, MemtuiError):
        reason = crop(f"not known: {one_line(value.message)}", width - 20, glyphs.ellipsis)
        return [Content.assemble(name, (reason, "$stale"))]
    asked = plural(value.asked, "question")
    failed = f", {full(value.failed)} could not be asked" if value.failed else ""
    if not value.changed:
        return [Content.assemble(name, (f"none of {asked} is answered differently{failed}", "$dim"))]
    count = full(len(value.changed))
    lines = [Content.assemble(name, (f"{count} of {asked} answered differently{failed}", "bold $stale"))]
    for change in sorted(value.changed, key=lambda each: (not each.lost, not each.saved))[:MOST_LINES]:
        kind = "case" if change.saved else "asked"
        line = Content.assemble(
            (f" {glyphs.warn} " if change.lost else "   ", "bold $danger"),
            (fit(kind, 6), "$dim"),
            (crop(one_line(change.query), 36, glyphs.ellipsis), "$foreground"),
            "  ",
            _flow(change.left, value.texts, "loses", "$delta-down", glyphs),
            _flow(change.entered, value.texts, "brings", "$delta-up", glyphs),
            ("" if change.left or change.entered else "the same memories in another order", "$dim"),
        )
        lines.append(line.truncate(width - 2, ellipsis=True))
    more = len(value.changed) - MOST_LINES
    return [*lines, Content.styled(f"   and {full(more)} more", "$dim")] if more > 0 else lines


def _flow(ids: Sequence[str], texts: Mapping[str, str], verb: str, style: str, glyphs: Glyphs) -> Content:
    if not ids:
        return Content()
    named = crop(one_line(texts.get(ids[0], ids[0][:8])), 30, glyphs.ellipsis)
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return Content.assemble((f"{verb} ", "$dim"), (named, style), (f"{more}  ", "$dim"))


def conflict_lines(conflict: Conflict, width: int, glyphs: Glyphs) -> list[Content]:
    """What stands in the way of one memory, and where fields are in dispute: before, mine, theirs."""
    text = f" {one_line(conflict.id)[:8]}  {one_line(conflict.sentence)}"
    lines = [Content.styled(crop(text, width - 1, glyphs.ellipsis), "$foreground")]
    for field in conflict.fields:
        for name, value in (("before", field.before), ("mine", field.mine), ("theirs", field.theirs)):
            first = fit(one_line(field.field), FIELD_CELLS) if name == "before" else " " * FIELD_CELLS
            line = f"   {first}{name:<8}{value_words(value, field.field)}"
            style = "$foreground" if name == "theirs" else "$dim"
            lines.append(Content.styled(crop(line, width - 1, glyphs.ellipsis), style))
    return lines
