"""A memory in full, as lines: everything that is known of it, and everything that its row holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.style import Style

from memtui.engine import Memory, clean, counted, dump_json, mask, one_line
from memtui.tui.actions.action import Action
from memtui.tui.actions.table import BY_ID
from memtui.tui.dialogs.change_preview_view import value_words
from memtui.tui.paint.bars import padded_bar, spark
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.difference import difference
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import age, ago, date, full, score
from memtui.tui.theme.tokens import as_stored, brightness, category_style, scope_style, tier_style

if TYPE_CHECKING:
    from memtui.engine.changes import (
        EntryRow,
        JournalEntry,
        Story,
    )
    from memtui.engine.lifecycle import MemoryLife
    from memtui.engine.witness import (
        Got,
    )


# The story of a memory as lines: its versions one after the other, and what memtui changed in it.

ENTRIES = 12
"""Entries that are told; the journal has them all."""


def version_lines(story: Story, width: int, glyphs: Glyphs, zone: tzinfo | None) -> Iterator[Content]:
    """From the oldest version to the newest, each with the words that differ from the one before."""
    before: Memory | None = None
    for memory in story.versions:
        here = memory.id == story.memory
        day = date(memory.timestamp_ms, zone)[:10]
        name = Content.styled(one_line(memory.id)[:8], "bold $foreground" if here else "underline $primary")
        if not here:
            name = name.stylize(Style.from_meta({"memory": memory.id}))
        mark = glyphs.forth if here else glyphs.dot
        tail = "  this one" if here else "" if memory.active else "  replaced"
        yield Content.assemble(
            (f"{mark} ", "bold $primary" if here else "$dim"), (f"{day}  ", "$dim"), name, (tail, "$dim")
        )
        text = (
            Content.styled(mask(memory.text)[0].strip(), "$dim")
            if before is None
            else difference(before.text, memory.text, glyphs)
        )
        if before is not None and before.text == memory.text:
            text = Content.styled("the same text", "$dim")
        yield from (Content.assemble("  ", line) for line in text.wrap(max(8, width - 2)))
        before = memory


def change_lines(story: Story, width: int, now_ms: int, glyphs: Glyphs) -> Iterator[Content]:
    """The entries of the journal that changed it, the last first, with the fields."""
    for entry, row in story.changes[:ENTRIES]:
        undone = "  undone" if entry.state == "undone" else ""
        head = f"{full(entry.entry)}  {entry.action}  {ago(entry.time_ms, now_ms)}"
        yield Content.assemble((crop(head, width, glyphs.ellipsis), "$foreground"), (undone, "$stale"))
        yield from _fields(entry, row, width, glyphs)
    left = len(story.changes) - ENTRIES
    if left > 0:
        yield Content.styled(f"and {full(left)} more in the journal", "$dim")


def _fields(entry: JournalEntry, row: EntryRow, width: int, glyphs: Glyphs) -> Iterator[Content]:
    if row.op != "edit":
        yield Content.styled("  made" if row.op == "add" else "  deleted", "$dim")
        return
    for name in dict.fromkeys((*row.before, *row.after)):
        room = max(6, (width - len(name) - 7) // 2)
        yield Content.assemble(
            (f"  {one_line(name)} ", "$dim"),
            (crop(value_words(row.before.get(name), name), room, glyphs.ellipsis), "$delta-down"),
            (f" {glyphs.forth} ", "$dim"),
            (crop(value_words(row.after.get(name), name), room, glyphs.ellipsis), "$delta-up"),
        ).truncate(max(1, width), ellipsis=True)


LABEL = 12
"""Cells for the labels on the left."""

DEPENDING = 4
"""Saved questions of a memory that are named."""

GOT_TURNS = 6
"""Turns that are told one by one, the last ones; Audit has them all."""

LONGEST_VALUE = 4_000
"""Characters of one metadata value that are drawn; copying gives all of it."""


def detail_lines(
    memory: Memory,
    width: int,
    *,
    now_ms: int,
    glyphs: Glyphs,
    zone: tzinfo | None = UTC,
    story: Story | None = None,
    got: Got | None = None,
    keys: Mapping[str, Action] = BY_ID,
    sought: re.Pattern[str] | None = None,
    folded: bool = False,
    life: MemoryLife | None = None,
    cases: Sequence[tuple[str, bool]] = (),
    revealed: bool = False,
) -> list[Content]:
    """The memory as lines of at most `width` cells, in reading order; times in `zone` (None: local time).

    `keys` are those in force, for the links; what `sought` finds is brightened. `folded`: metadata and other columns
    in one line. `life` is its decay, `cases` are the saved questions that expect it (true) or reject it.
    Secrets are masked unless they are `revealed`.
    """
    width = max(16, width)
    stored, memory = memory, memory if revealed else concealed(memory)
    sections = (
        _body(memory, width, sought),
        _concealing(stored, memory, width, keys),
        _warnings(memory, width, now_ms, glyphs),
        _facts(memory, width, now_ms, glyphs, zone),
        _decay(life, width, now_ms, glyphs, zone),
        _links(memory, story, width, glyphs, keys),
        _story(story, width, now_ms, glyphs, zone),
        _depends(cases, width, glyphs),
        _got(memory, got, width, now_ms, glyphs, zone),
        _more(memory, width, now_ms, zone),
        _layers(memory, width),
        _folded(memory, width, glyphs, keys)
        if folded and memory.metadata_valid
        else _metadata(memory, width, zone),
        () if folded and memory.metadata_valid else _columns(memory, width),
    )
    lines: list[Content] = []
    for section in sections:
        found = list(section)
        if found:
            lines += [Content(), *found] if lines else found
    return lines


def concealed(memory: Memory) -> Memory:
    """The memory with every secret masked, wherever it stands; the very same one where there is none."""
    texts: dict[str, Any] = {
        name: masked
        for name in ("text", "l0_abstract", "l1_overview", "l2_content", "metadata")
        if (stored := getattr(memory, name)) and (masked := mask(stored)[0]) != stored
    }
    values, extra = _concealed(memory.metadata_values), _concealed(memory.extra)
    if not texts and values == memory.metadata_values and extra == memory.extra:
        return memory
    return replace(memory, **texts, metadata_values=values, extra=extra)


def _concealed(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        plain = value is None or isinstance(value, bool | int | float)
        masked, secrets = ("", 0) if plain else mask(value_text(value))
        found[mask(key)[0]] = masked if secrets else value
    return found


def _concealing(stored: Memory, shown: Memory, width: int, keys: Mapping[str, Action]) -> Iterator[Content]:
    """Where something is masked: the key that shows it."""
    if shown is not stored:
        said = Content.assemble((keys["detail.reveal"].cap, "bold $key"), (" shows what is masked", "$dim"))
        yield from said.wrap(width)


MATCH = "bold $match"
"""The style of what the filter asks for, by which a line with it is known."""


def brightened(text: Content, sought: re.Pattern[str] | None) -> Content:
    """`text` with everything that `sought` finds in it brightened."""
    for match in sought.finditer(text.plain) if sought is not None else ():
        if match.end() > match.start():
            text = text.stylize(MATCH, match.start(), match.end())
    return text


def summary(memory: Memory, now_ms: int, glyphs: Glyphs) -> Content:
    """The memory in one line, for a panel too low for the whole."""
    parts: list[Content] = []
    if memory.tier:
        tier_mark = f"{glyphs.tier(memory.tier)} {one_line(memory.tier)}"
        parts.append(Content.styled(tier_mark, tier_style(memory.tier)))
    parts.append(Content.styled(one_line(memory.scope or "no scope"), scope_style(memory.scope)))
    if memory.importance is not None:
        parts.append(Content.styled(f"imp {score(memory.importance)}", "$dim"))
    parts.append(Content.styled(ago(memory.timestamp_ms, now_ms), "$dim"))
    if memory.access_count is not None:
        parts.append(Content.styled(f"used {full(memory.access_count)}", "$dim"))
    return Content("  ").join(parts)


def title(memory: Memory) -> str:
    """The short name of a memory: the first group of its id."""
    name = one_line(memory.id)
    return name.split("-", 1)[0] if len(name) == 36 and name.count("-") == 4 else name[:12]


def _wrapped(text: str, width: int, style: str = "") -> Iterator[Content]:
    content = Content.styled(text, style) if style else Content(text)
    yield from content.wrap(width)


def _row(label: str, value: Content | str, width: int, style: str = "$foreground") -> Iterator[Content]:
    """A labelled value; a long one goes on under itself."""
    value = Content.styled(value, style) if isinstance(value, str) else value
    for i, part in enumerate(value.wrap(max(4, width - LABEL)) or [Content()]):
        yield Content.assemble((fit(label if i == 0 else "", LABEL), "$dim"), part)


def _head(text: str) -> Content:
    return Content.styled(text, "bold $heading")


def _body(memory: Memory, width: int, sought: re.Pattern[str] | None) -> Iterator[Content]:
    text = memory.text.strip("\n")
    if not text.strip():
        yield Content.styled("(no text)", "$dim")
    else:
        style = "bold $foreground" if memory.tier == "core" else "$foreground"
        yield from brightened(Content.styled(text, style), sought).wrap(width)


def _warnings(memory: Memory, width: int, now_ms: int, glyphs: Glyphs) -> Iterator[Content]:
    said: list[tuple[str, str]] = []
    if memory.superseded_by:
        said.append(("replaced: a newer memory has taken its place", "$delta-down"))
    elif memory.invalidated_at_ms is not None:
        said.append((f"invalidated {ago(memory.invalidated_at_ms, now_ms)}", "$delta-down"))
    elif not memory.active:
        said.append(("not valid yet, or no longer", "$delta-down"))
    if memory.expired:
        said.append((f"expired {ago(memory.valid_until_ms, now_ms)}", "$delta-down"))
    if memory.state == "archived":
        said.append(("archived: recall leaves it out", "$stale"))
    if memory.state == "pending":
        said.append(("pending: not confirmed yet", "$stale"))
    if memory.suppressed:
        said.append(("suppressed: held back from auto-recall for now", "$stale"))
    if not memory.metadata_valid:
        said.append(("its metadata is not a JSON object: defaults are used", "$danger"))
    for text, style in said:
        yield from _wrapped(f"{glyphs.warn} {text}", width, style)


def _facts(memory: Memory, width: int, now_ms: int, glyphs: Glyphs, zone: tzinfo | None) -> Iterator[Content]:
    """Whose it is and what it is in one line where that fits, how much it counts, how old it is, how often used."""
    scope = memory.scope
    whose = Content.styled("(no scope)" if scope is None else as_stored(scope), scope_style(scope))
    kind = Content.styled(one_line(memory.category or "(no category)"), category_style(memory.category))
    category = memory.category or ""
    plural = (category, f"{category}s", f"{category[:-1]}ies")
    if memory.memory_category and memory.memory_category not in plural:
        smart = Content.styled(one_line(memory.memory_category), category_style(memory.memory_category))
        kind = Content.assemble(kind, (" (", "$dim"), smart, (")", "$dim"))
    parts = [whose, kind]
    if memory.tier:
        tier = f"{glyphs.tier(memory.tier)} {one_line(memory.tier)}"
        parts.insert(1, Content.styled(tier, tier_style(memory.tier)))
    line = Content()
    for part in parts:
        if line.plain and line.cell_length + 3 + part.cell_length > width:
            yield from line.wrap(width)
            line = Content()
        line = Content.assemble(line, "   ", part) if line.plain else part
    yield from line.wrap(width)
    bar = max(4, min(14, width - LABEL - 6))
    for label, value in (("importance", memory.importance), ("confidence", memory.confidence)):
        if value is not None:
            strip = Content.styled(padded_bar(value, bar, glyphs), brightness(value))
            yield from _row(label, Content.assemble((fit(score(value), 5), "$foreground"), strip), width)
    for label, column in (("label", "importance_label"), ("trust", "trust_tier")):
        if isinstance(stored := memory.extra.get(column), str):
            yield from _row(label, one_line(stored) or '" "', width)
    if "trust_tier" not in memory.extra and memory.untrusted:
        yield from _row("origin", "untrusted content", width, "bold $danger")
    if memory.timestamp_ms:
        yield from _row("created", _moment(memory.timestamp_ms, width, now_ms, zone), width)
    else:
        yield from _row("created", "unknown", width, "$dim")
    if memory.access_count:
        often = f"{counted(memory.access_count, 'time')}"
        last = f"  last {ago(memory.last_used_ms, now_ms)}" if memory.last_used_ms else ""
        if len(often) + len(last) <= width - LABEL:
            yield from _row("used", Content.assemble((often, "$foreground"), (last, "$dim")), width)
        else:
            yield from _row("used", often, width)
            if last:
                yield from _row("last used", _moment(memory.last_used_ms, width, now_ms, zone), width)
    elif memory.access_count is not None:
        yield from _row("used", "never", width, "$dim")


def _moment(ms: float | None, width: int, now_ms: int, zone: tzinfo | None) -> Content:
    """A time as day and hour and how long ago, as much of that as there is room for."""
    day, since = date(ms, zone), f"  {ago(ms, now_ms)}"
    if len(day) + len(since) > width - LABEL:
        day = day[:10]
    if len(day) + len(since) > width - LABEL:
        since = f"  {age(ms, now_ms)}"
    return Content.assemble((day, "$foreground"), (since, "$dim"))


def _more(memory: Memory, width: int, now_ms: int, zone: tzinfo | None) -> Iterator[Content]:
    """What is seldom asked for: where it came from, in which state it is, from when to when it holds."""
    rows: list[tuple[str, Content | str]] = [
        (label, one_line(text))
        for label, text in (("state", memory.state), ("layer", memory.layer), ("source", memory.source))
        if text
    ]
    times = [("valid until", memory.valid_until_ms), ("invalidated", memory.invalidated_at_ms)]
    if memory.valid_from_ms and memory.valid_from_ms != memory.timestamp_ms:
        times.insert(0, ("valid from", memory.valid_from_ms))
    rows += [(label, _moment(ms, width, now_ms, zone)) for label, ms in times if ms is not None]
    if memory.fact_key:
        rows.append(("fact key", one_line(memory.fact_key)))
    if memory.source_session:
        rows.append(("session", one_line(memory.source_session)))
    if rows:
        yield _head("ORIGIN")
        for label, value in rows:
            yield from _row(label, value, width)


LINK_LINES = 2
"""Lines for the words of a linked memory; going there shows them all."""


def _links(
    memory: Memory, story: Story | None, width: int, glyphs: Glyphs, keys: Mapping[str, Action]
) -> Iterator[Content]:
    """The memory that it replaces and the one that replaces it, by their words once these are known."""
    words = {version.id: version.title for version in story.versions} if story is not None else {}
    rows: list[tuple[str, Content]] = []
    for label, key, mark, target in (
        ("replaces", keys["detail.older"].cap, glyphs.back, memory.supersedes),
        ("replaced by", keys["detail.newer"].cap, glyphs.forth, memory.superseded_by),
    ):
        if target:
            room = max(8, (width - LABEL) * LINK_LINES - len(key) - 6)
            said = crop(words.get(target) or f"memory {one_line(target)[:8]}", room, glyphs.ellipsis)
            link = Content.styled(f"{mark} {said}", "underline $primary")
            link = link.stylize(Style.from_meta({"memory": target}))
            rows.append((label, Content.assemble(link, (f"  {key}", "bold $key"))))
    if rows:
        yield _head("LINKS")
        for label, value in rows:
            yield from _row(label, value, width)


_CROSSES = {
    "rises": "rises to {to}",
    "sinks": "sinks to {to}",
    "stale": "falls below the stale threshold",
    "expires": "expires",
}


def _decay(
    life: MemoryLife | None, width: int, now_ms: int, glyphs: Glyphs, zone: tzinfo | None
) -> Iterator[Content]:
    """The score of a memory now and ahead, and when it crosses a line."""
    if life is None:
        return
    yield _head("DECAY")
    cells = max(8, min(24, width - LABEL - 8))
    ahead = [value for at, value in zip(life.at_ms, life.curve, strict=True) if at >= now_ms]
    drawn = spark([ahead[i * (len(ahead) - 1) // (cells - 1)] for i in range(cells)], glyphs) if ahead else ""
    yield from _row(
        "score now",
        Content.assemble((fit(score(life.composite), 6), "$foreground"), (drawn, "$primary")),
        width,
    )
    for crossing in life.crossings[:2]:
        said = _CROSSES.get(crossing.kind, crossing.kind).format(to=crossing.to)
        yield from _row(date(crossing.at_ms, zone)[:10], said, width, "$stale")
    if not life.crossings and life.horizon_days:
        yield from _row("next", f"no change in {counted(round(life.horizon_days), 'day')}", width, "$dim")


def _depends(cases: Sequence[tuple[str, bool]], width: int, glyphs: Glyphs) -> Iterator[Content]:
    """The saved questions whose answer is held against it."""
    if not cases:
        return
    yield _head("DEPENDS ON IT")
    for query, expected in cases[:DEPENDING]:
        mark, style = (glyphs.mark, "$ok") if expected else (glyphs.cross, "$delta-down")
        verb = "expected by" if expected else "rejected by"
        said = crop(f"{verb} “{one_line(mask(query)[0])}”", max(4, width - 2), glyphs.ellipsis)
        yield Content.assemble((f"{mark} ", style), (said, "$foreground"))
    if len(cases) > DEPENDING:
        yield Content.styled(f"  and {counted(len(cases) - DEPENDING, 'case')} more", "$dim")


def _got(
    memory: Memory, got: Got | None, width: int, now_ms: int, glyphs: Glyphs, zone: tzinfo | None
) -> Iterator[Content]:
    if got is None:
        return
    yield _head("USED BY")
    if not got.turns:
        yield from _row("turns", "not recorded", width, "$dim")
    else:
        yield from _row("turns", f"minimum {full(len(got.turns))}", width)
        last = got.last_seen
        seen = (
            f"by {one_line(last.agent)}, {ago(last.time_ms, now_ms)}" if last is not None else "not recorded"
        )
        yield from _row("last seen", seen, width, "$foreground" if last is not None else "$dim")
    for turn in reversed(got.turns[-GOT_TURNS:]):
        who = (
            f"{one_line(turn.agent)}, {one_line(turn.session)[:8]} {turn.name}" if turn.agent else "the store"
        )
        yield Content.styled(
            crop(f"  {date(turn.time_ms, zone)}  {who}", width, glyphs.ellipsis), "$foreground"
        )
    if got.captured_in:
        said = f"{one_line(got.captured_by)}, session {one_line(got.captured_in)[:8]}"
        yield from _row("session", said, width)
    elif memory.source_session:
        yield from _row("session", "files are not here", width, "$dim")
    else:
        yield from _row("session", "not recorded", width, "$dim")


def _story(
    story: Story | None, width: int, now_ms: int, glyphs: Glyphs, zone: tzinfo | None
) -> Iterator[Content]:
    if story is None:
        return
    if story.versions:
        yield _head("VERSIONS")
        yield from version_lines(story, width, glyphs, zone)
    if story.changes:
        if story.versions:
            yield Content()
        yield _head("CHANGED BY MEMTUI")
        yield from change_lines(story, width, now_ms, glyphs)


def _layers(memory: Memory, width: int) -> Iterator[Content]:
    seen = {" ".join(memory.text.split())}
    for heading, text in (
        ("ABSTRACT", memory.l0_abstract),
        ("OVERVIEW", memory.l1_overview),
        ("CONTENT", memory.l2_content),
    ):
        flat = " ".join(text.split()).removeprefix("- ")
        if flat and flat not in seen:
            seen.add(flat)
            yield _head(heading)
            yield from _wrapped(clean(text).strip("\n"), width)


_SHOWN_ABOVE = frozenset(
    (
        *(
            "tier",
            "confidence",
            "access_count",
            "last_accessed_at",
            "state",
            "memory_layer",
            "memory_category",
        ),
        *("source", "supersedes", "superseded_by", "fact_key", "source_session", "valid_from", "valid_until"),
        *("invalidated_at", "l0_abstract", "l1_overview", "l2_content"),
    )
)
"""Keys of the metadata that the lines above tell in words."""


def _folded(memory: Memory, width: int, glyphs: Glyphs, keys: Mapping[str, Action]) -> Iterator[Content]:
    """How many fields the metadata has and how many columns there are beside, with the key that shows them."""
    parts = []
    if memory.metadata is not None:
        fields = len(memory.metadata_values)
        parts.append(f"metadata {counted(fields, 'field')}" if fields else "metadata without fields")
    if memory.extra:
        parts.append(counted(len(memory.extra), "column"))
    if parts:
        said = f"{glyphs.closed} {', '.join(parts)}   {keys['browse.zoom'].cap} shows them"
        yield Content.styled(crop(said, width, glyphs.ellipsis), "$dim")


def _metadata(memory: Memory, width: int, zone: tzinfo | None) -> Iterator[Content]:
    if memory.metadata is None:
        return
    yield _head("METADATA")
    if not memory.metadata_valid:
        yield from _wrapped(clean(memory.metadata)[:LONGEST_VALUE], width, "$stale")
        return
    if not memory.metadata_values:
        yield Content.styled("empty", "$dim")
    text = " ".join(memory.text.split())
    above = [key for key in memory.metadata_values if key in _SHOWN_ABOVE]
    for key, value in memory.metadata_values.items():
        if key in _SHOWN_ABOVE:
            continue  # nothing is told twice
        timed = key.endswith(("_at", "_ms", "_from", "_until")) and isinstance(value, int | float)
        shown = date(value, zone) if timed and 1e11 < value < 2.5e14 else value_text(value)
        same = len(shown) > 24 and " ".join(shown.split()) == text
        yield from _field(one_line(key) or '""', "(the text above)" if same else shown, width, dim=same)
    if above:
        said = f"{counted(len(above), 'field')} shown above: {', '.join(one_line(key) for key in above)}"
        yield from _wrapped(said, width, "$dim")


def _columns(memory: Memory, width: int) -> Iterator[Content]:
    if memory.extra:
        yield _head("OTHER COLUMNS")
        for key, value in memory.extra.items():
            yield from _field(one_line(str(key)), value_text(value), width)


def _field(key: str, value: str, width: int, *, dim: bool = False) -> Iterator[Content]:
    """A key of any length: beside its value where both fit, above it where they do not."""
    if len(key) < LABEL + 8 and len(key) + 2 + len(value) <= width and "\n" not in value:
        gap = max(1, LABEL + 8 - len(key)) if len(value) <= width - LABEL - 8 else 2
        yield Content.assemble((key, "$dim"), " " * gap, (value, "$dim" if dim else "$foreground"))
        return
    yield from _wrapped(key, width, "$dim")
    for line in Content.styled(value, "$dim" if dim else "$foreground").wrap(max(4, width - 2)):
        yield Content.assemble("  ", line)


def value_text(value: Any) -> str:
    """A stored value as text for people: strings as they are, everything else as JSON."""
    if isinstance(value, str):
        text = value if value.strip() else f'"{value}"'
    else:
        try:
            text = dump_json(value, ensure_ascii=False)
        except (TypeError, ValueError):
            text = str(value)
    text = clean(text)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"
