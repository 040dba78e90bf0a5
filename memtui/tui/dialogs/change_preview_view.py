"""A change set in words and rows: what it brings with it, what stands in its way, what each memory becomes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import (
    Change,
    ChangeSet,
    Conflict,
    clean,
    counted,
    dump_json,
    one_line,
    veiled,
)
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.difference import difference
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.row_list import Row

SHOWN = 300
"""Nobody reads more rows of one change than this; the rest is counted by scope."""

FIELD_CELLS = 18

MOST_LINES = 8
"""Lines of one text among many changes; a change that stands alone is shown whole."""

HEAD_LINES = 3
"""Lines of a memory's text in the head of a change, among many changes."""

LONG = 40
"""From so many characters a value is compared word by word."""

_LAYERS = ("l0_abstract", "l1_overview", "l2_content")

_TIMES = ("_at", "_ms", "_from", "valid_until", "timestamp")

_FIRST_MS, _LAST_MS = 1e11, 2.5e14
"""Milliseconds since the epoch, from 1973 to the year 9892: other numbers in such fields are shown as they are."""

_GOES = ("text", "scope", "category", "importance")

_REPLACED = ("superseded_by", "canonical_id")
"""Fields that name the memory that takes this one's place."""

_WORDS = {"superseded_by": "replaced by", "supersedes": "replaces"}
"""What a link to another memory says, by its kind in the row."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


_DONE = {"archived": "archive", "deleted": "delete", "restored": "bring back"}

_SHRUNK = "deleted, history shrunk"

_AGAIN = {"undo": "take back", "redo": "make again"}


def would(plan: ChangeSet) -> str:
    """The title of a change that is looked at: what it would do, where the journal will say what it did."""
    title = one_line(plan.title)
    count, _, done = title.partition(" memories ") if " memories " in title else title.partition(" memory ")
    if count.replace(",", "").isdigit() and (done in _DONE or done == _SHRUNK):
        deed = f"{_DONE[done.partition(',')[0]]} {counted(int(count.replace(',', '')), 'memory', 'memories')}"
        return f"Would {deed}{', every trace of them' if done == _SHRUNK else ''}"
    if title.endswith(", history shrunk") and " deleted, " in title:
        kept = title.removesuffix(", history shrunk").partition(" deleted, ")
        return f"Would delete {kept[0]} and redact {kept[2].removesuffix(' redacted')}, every trace"
    if title.endswith(" redacted, history shrunk"):
        return f"Would redact {title.removesuffix(' redacted, history shrunk')}, every trace"
    if title.endswith(": history removed"):
        return f"Would remove the history of {title.removesuffix(': history removed')}"
    for action, deed in _AGAIN.items():
        if title.startswith(f"{action} of entry "):
            return f"Would {deed} {title.removeprefix(f'{action} of ')}"
    if not plan.changes:
        return title
    if re.match(r"[\d,]+ memor(y|ies): ", title):  # it is counted already
        return f"Would change {title}"
    return f"Would change {counted(len(plan.changes), 'memory', 'memories')}: {title}"


def value_words(value: Any, name: str = "") -> str:
    """A stored value on one line; of a field that is a time by its `name`, the time."""
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list):
        return one_line(veiled(dump_json(value, ensure_ascii=False)))
    if name.endswith(_TIMES) and isinstance(value, int | float) and _FIRST_MS < value < _LAST_MS:
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.15g}"
    text = veiled(str(value))
    said = one_line(text)
    if _ID.fullmatch(said):
        return said[:8]
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


def plan_rows(
    plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs, *, whole: bool = False
) -> list[Row]:
    """The change set for lines of `width` cells; rows that can be dropped carry the id of their memory.

    `whole`: every text to its end, also among many changes.
    """
    head = head_lines(plan, notes, width, glyphs)
    rows = [Row((*head, Content()))] if head else []
    pairs = _paired(plan.changes[:SHOWN])
    alone = len(pairs) == 1
    names = {each.id: one_line(veiled(each.title)) for each in plan.changes}
    for change, old in pairs:
        lines = change_lines(
            change, width, glyphs, old=old, most=0 if alone or whole else MOST_LINES, names=names
        )
        if alone:  # nothing to choose between: the lines scroll one by one
            rows += [Row((line,)) for line in lines]
        else:
            rows.append(Row(tuple(lines), change.id))
    left = len(plan.changes) - SHOWN
    if left > 0:
        rows.append(Row(tuple(heading(f"and {full(left)} more", "$dim"))))
    return rows


def head_lines(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Content]:
    """What stands above the changes: what has to be known first, what is in the way, where else the texts stand."""
    lines = list(sentences((*notes, *plan.warnings), width, glyphs.warn, "bold $stale"))
    if plan.conflicts:
        count = counted(len(plan.conflicts), "conflict", "conflicts")
        lines += heading(f"{count}: this cannot be applied as it is", "bold $danger")
        for conflict in plan.conflicts[:SHOWN]:
            lines += conflict_lines(conflict, width, glyphs)
    if plan.left:
        count = counted(len(plan.left), "memory stays as it is", "memories stay as they are")
        lines += heading(f"{count}: {one_line(plan.left[0].sentence)}", "$dim")
    if plan.purges:
        lines += heading(f"deleted before, and now without a trace: {full(len(plan.purges))}")
    lines += _copies(plan, width, glyphs)
    if plan.changes:
        reasons = Counter(each.why for each in plan.changes if each.op == "delete")
        whys = [_reason(why, n) for why, n in reasons.items()] if len(reasons) > 1 else []
        if whys:
            lines += heading(crop(", ".join(whys), width - 2, glyphs.ellipsis), "$dim")
    return lines


def _reason(why: str, count: int) -> str:
    """How many memories go for one reason."""
    plain = counted(count, "older version") if why == "older version" else f"{full(count)} {why or 'named'}"
    return one_line(plain)


def _copies(plan: ChangeSet, width: int, glyphs: Glyphs) -> Iterator[Content]:
    """Where else the text stands: from the end of the path, which tells files apart."""
    if not plan.copies:
        return
    goes = sum(bool(each["goes"]) for each in plan.copies)
    stay = len(plan.copies) - goes
    yield from heading(
        f"COPIES IN FILES  {full(goes)} go{'es' if goes == 1 else ''}, {full(stay)} stay{'s' if stay == 1 else ''}"
    )
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
    change: Change,
    width: int,
    glyphs: Glyphs,
    *,
    old: Change | None = None,
    most: int = MOST_LINES,
    names: Mapping[str, str] | None = None,
) -> list[Content]:
    """One change: its memory in words, then what differs.

    `old` is the version it supersedes; `most` lines a text, 0: all; `names` are the texts of memories by their ids.
    """
    done, mark = {"edit": ("", "~"), "add": ("new", "+"), "delete": ("goes", "-")}[change.op]
    shown = old or change
    if old is not None:
        done, mark = "new version", "~"
    why = "" if old is not None else _ID.sub(lambda id: id.group()[:8], one_line(change.why))
    far = "  ".join(part for part in (done, why, one_line(shown.id)[:8]) if part)
    reworded = old is not None or "text" in change.after
    room = max(12, width - len(far) - 6)
    text = Content.styled(one_line(veiled(shown.title)), "bold $foreground")
    if reworded and change.op != "delete":  # the text itself follows, word by word
        wrapped = [Content.styled(crop(text.plain, room, glyphs.ellipsis), "bold $foreground")]
    else:
        wrapped = list(text.wrap(room))
    cut = len(wrapped) - (HEAD_LINES if most else len(wrapped))
    if cut > 0:
        last = Content.assemble(wrapped[HEAD_LINES - 1].truncate(room - 1).rstrip(), glyphs.ellipsis)
        wrapped = [*wrapped[: HEAD_LINES - 1], last]
    lines = [
        Content.assemble((f" {mark} ", "bold $foreground") if i == 0 else "   ", line)
        for i, line in enumerate(wrapped)
    ]
    gap = " " * max(2, width - 1 - lines[0].cell_length - len(far))
    lines[0] = Content.assemble(lines[0], gap, (far, "$dim"))
    return [*lines, *_becomes(change, old, width, glyphs, most, names or {}), Content()]


def _becomes(
    change: Change, old: Change | None, width: int, glyphs: Glyphs, most: int, names: Mapping[str, str]
) -> list[Content]:
    """What is below the name of a change."""
    if old is not None:
        after = {"text": change.after.get("text")}
        said = "     the version before stays as history"
        rest = {key: value for key, value in change.after.items() if key in _GOES and key != "text"}
        was = {key: old.before.get(key) for key in rest if key in old.before}
        more = {key: value for key, value in rest.items() if key in was and was[key] != value}
        return [
            *field_lines({"text": old.title}, after, width, glyphs, most=most, names=names),
            *field_lines({key: was[key] for key in more}, more, width, glyphs, names=names),
            Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"),
        ]
    if change.op == "edit":
        return field_lines(change.before, change.after, width, glyphs, most=most, names=names)
    lines: list[Content] = []
    values = change.after if change.op == "add" else change.before
    facts = {key: values[key] for key in _GOES if key in values}
    text = facts.pop("text", None)
    if text is not None and change.op == "add":
        lines += _block(Content.styled(clean(veiled(str(text))), "$delta-up"), width, glyphs, most)
    said = "   ".join(f"{key} {value_words(value, key)}" for key, value in facts.items() if value is not None)
    return (
        [*lines, Content.styled(crop(f"     {said}", width - 1, glyphs.ellipsis), "$dim")] if said else lines
    )


def field_lines(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    width: int,
    glyphs: Glyphs,
    *,
    most: int = 0,
    names: Mapping[str, str] | None = None,
) -> list[Content]:
    """Field by field from `before` to `after`; long values word by word, links by the words of their memories."""
    room = max(8, (width - FIELD_CELLS - 10) // 2)
    links, linked = _links(before, after, width, glyphs, names or {})
    lines: list[Content] = []
    fields = [name for name in dict.fromkeys((*before, *after)) if name not in linked]
    follow = [name for name in fields if name in _LAYERS and _follows(after.get(name), after.get("text"))]
    for name in sorted((name for name in fields if name not in follow), key=lambda name: name != "text"):
        old, new = before.get(name), after.get(name)
        long = isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) >= LONG
        if long:
            lines.append(Content.styled(f"     {one_line(name)}", "$dim"))
            if (
                name == "metadata"
            ):  # the whole text of an object: word by word it is all quotes and backslashes
                for mark, value, style in (("-", old, "$delta-down"), ("+", new, "$delta-up")):
                    lines += _block(
                        Content.styled(f"{mark} {clean(veiled(str(value)))}", style), width, glyphs, most
                    )
            else:
                lines += _block(difference(str(old), str(new), glyphs), width, glyphs, most)
            continue
        whole = max(8, width - FIELD_CELLS - 10)
        was, now = value_words(old, name), value_words(new, name)
        if cell_len(was) + cell_len(now) > whole:
            was, now = crop(was, room, glyphs.ellipsis), crop(now, room, glyphs.ellipsis)
        lines.append(
            Content.assemble(
                "     ",
                (fit(one_line(name), FIELD_CELLS, glyphs.ellipsis), "$dim"),
                (was, "$delta-down"),
                (f" {glyphs.forth} ", "$dim"),
                (now, "$delta-up"),
            )
        )
    if follow:
        said = f"     {', '.join(follow)} follow{'s' if len(follow) == 1 else ''} the text"
        lines.append(Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"))
    return [*links, *lines]


def _links(
    before: Mapping[str, Any], after: Mapping[str, Any], width: int, glyphs: Glyphs, names: Mapping[str, str]
) -> tuple[list[Content], set[str]]:
    """New links to other memories, each said once in that memory's words; and the fields that they are taken from."""
    told: dict[tuple[str, str], None] = {}
    used: set[str] = set()
    for name in (*_REPLACED, "supersedes"):
        target = after.get(name)
        if isinstance(target, str) and target in names:
            told[_WORDS["supersedes" if name == "supersedes" else "superseded_by"], target] = None
            used.add(name)
    relations = after.get("relations")
    if isinstance(relations, list):
        old = before.get("relations")
        known = old if isinstance(old, list) else []
        fresh = [each for each in relations if each not in known]
        ends = [(each.get("type"), each.get("targetId")) for each in fresh if isinstance(each, dict)]
        kept = all(each in relations for each in known)
        if kept and fresh and len(ends) == len(fresh) and all(target in names for _, target in ends):
            for kind, target in ends:
                told[_WORDS.get(str(kind), one_line(str(kind))), str(target)] = None
            used.add("relations")
    lines = []
    for words, target in told:
        text = crop(names[target], max(8, width - FIELD_CELLS - 7), glyphs.ellipsis)
        lines.append(Content.assemble("     ", (fit(words, FIELD_CELLS), "$dim"), (text, "$foreground")))
    return lines, used


def _follows(layer: Any, text: Any) -> bool:
    """Whether a summary is nothing but the text."""
    return isinstance(layer, str) and isinstance(text, str) and layer in (text, f"- {text}")


def _block(text: Content, width: int, glyphs: Glyphs, most: int) -> list[Content]:
    """A text in lines, set off to the right; at most `most` of them where that is not 0."""
    wrapped = list(text.wrap(max(12, width - 9)))
    shown = wrapped if not most or len(wrapped) <= most else wrapped[: most - 1]
    lines = [Content.assemble("       ", line) for line in shown]
    if len(shown) < len(wrapped):
        lines.append(
            Content.styled(
                f"       {glyphs.ellipsis} {counted(len(wrapped) - len(shown), 'line')} more", "$dim"
            )
        )
    return lines


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
