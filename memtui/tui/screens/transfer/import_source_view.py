"""Where memories come from, and what they look like there: the first two steps of an import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date, score, size
from memtui.tui.screens.transfer.import_state import DetectedSources, ImportState
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import FormRow, blank, fact_row, heading_row, setting_row, text_rows, warning_rows

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        GivenPath,
        ImportPreview,
        SourcePreview,
    )


FORMATS_SHOWN = (
    ("memtui", "JSON lines and Parquet, with everything"),
    ("LanceDB", "stores of memory-lancedb(-pro), openclaw-mem-engine, memtui"),
    ("plugin export", "memory-lancedb-pro's JSON, openclaw-mem-engine's JSON lines"),
    ("Markdown", "MEMORY.md, daily files, mirrors, Obsidian, basic-memory"),
    ("others", "memory-core SQLite, mem0, Letta, ChatGPT, Claude, pasted lists"),
    ("tables", "CSV, Parquet, JSON of any program; you map the columns"),
)

COLUMN_CELLS = 24


# ---------------------------------------------------------------------- source


def place_rows(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    """What is in the folder; first, that folder itself where it can be imported."""
    rows: list[Row] = []
    if state.found is not None and state.found.sources and state.found.sources[0].path.is_dir():
        title = one_line(state.found.sources[0].format.title)
        line = Content.styled(
            crop(f" {glyphs.forth} this folder: {title}", width - 1, glyphs.ellipsis), "bold $ok"
        )
        rows.append(Row((line,), "here"))
    rows += [place_row(place, width, glyphs) for place in state.places]
    if not rows and state.listed is not None:
        rows += text_rows(
            "Nothing here begins so. Type a path, drop a file here, or paste a text.",
            width,
            "$dim",
        )
    return rows


def place_row(place: GivenPath, width: int, glyphs: Glyphs) -> Row:
    """One entry of a folder."""
    tail = "" if place.folder else size(place.size)
    kind = place.kind if width >= 46 else ""
    name = one_line(place.name) + ("/" if place.folder else "")
    room = max(6, width - 10 - (13 if kind else 0))
    line = Content.assemble(
        " ",
        (fit(name, room, glyphs.ellipsis), "$foreground" if place.folder or place.kind else "$dim"),
        (fit(f" {kind}", 13) if kind else "", "$dim"),
        (right(tail, 8), "$dim"),
    )
    return Row((line,), f"place:{place.path}")


def longest(places: Sequence[GivenPath], text: str) -> str:
    """How far a path can be completed: as all that begin so go on, or as it is."""
    from memtui.engine.transfer import (
        common_start,
    )

    start = common_start(places)
    return start if len(start) > len(text) else text


def found_rows(found: DetectedSources | None, width: int, glyphs: Glyphs) -> list[Row]:
    """What was found at the path, with the evidence; without a path, what can be imported."""
    if found is None:
        rows = [heading_row("WHAT CAN BE IMPORTED")]
        for name, what in FORMATS_SHOWN:
            rows.append(fact_row(name, what, width, glyphs, 15))
        rows += [
            blank(),
            *text_rows("The format is detected from the content, never from the name alone.", width, "$dim"),
        ]
        return rows
    if found.error is not None:
        rows = [
            Row(
                (Content.assemble((f" {glyphs.warn} ", "bold $danger"), ("this cannot be imported", "bold")),)
            ),
            blank(),
        ]
        rows += text_rows(found.error.message, width)
        if found.error.fix:
            rows += [blank(), *text_rows(found.error.fix, width, "$ok")]
        return rows
    return [row for source in found.sources for row in _detected(found, source, width, glyphs)]


def _detected(found: DetectedSources, source: object, width: int, glyphs: Glyphs) -> list[Row]:
    from memtui.engine.transfer import (
        KINDS,
        Detected,
    )

    assert isinstance(source, Detected)
    rows = [
        Row(
            (
                Content.assemble(
                    (f" {glyphs.mark} ", "bold $ok"), (one_line(source.format.title), "bold $foreground")
                ),
            )
        )
    ]
    rows.append(fact_row("file", source.path.name, width, glyphs))
    what = KINDS[source.kind] + (f", {size(found.size)}" if found.size and len(found.sources) == 1 else "")
    rows.append(fact_row("it is", what, width, glyphs))
    for number, phrase in enumerate(source.evidence):
        rows.append(fact_row("detected from" if number == 0 else "", phrase, width, glyphs))
    if source.format.own:
        rows.append(fact_row("whole rows", "what comes from it is equal to what it was", width, glyphs))
    elif source.format.maps:
        rows.append(fact_row("columns", "are mapped in the next step", width, glyphs))
    return [*rows, blank()]


# ---------------------------------------------------------------------- map


def settings(state: ImportState) -> list[FormRow]:
    """What can be decided before the plan is made."""
    request, preview = state.request, state.preview
    found: list[FormRow] = []
    auto = request.format == "auto"
    title = preview.title if preview is not None else "?"
    found.append(FormRow("format", "form", title, "found out" if auto else "as you said", not auto))
    if preview is not None and preview.maps:
        from memtui.engine.transfer import (
            ROLES,
        )

        roles = dict(preview.mapping)
        found += [
            FormRow(
                f"role:{role}",
                role,
                roles.get(role, "-"),
                changed=role in request.mapping and request.mapping[role] == roles.get(role),
            )
            for role in ROLES
        ]
    found += [
        FormRow("scope", "into scope", request.default_scope, "where there is none", request.scope is not None),
        FormRow("scopes", "other scopes", _scopes(request.scopes) or "as they are", "", bool(request.scopes)),
        FormRow("agent", "agent", request.agent or "-", "whose memories they are", request.agent is not None),
        FormRow("vectors", "vectors", _VECTORS[request.vectors], "", request.vectors != "auto"),
        FormRow("without_embedding", "embed later", meaning="no vector until then", on=request.without_embedding),
        FormRow("near", "near copies", f"cosine {request.near:g}", "and above", request.near != _near()),
        FormRow("find_near", "find them", _FIND[request.find_near], "", request.find_near is not None),
        FormRow("mask_secrets", "mask secrets", meaning="take them, masked", on=request.mask_secrets),
    ]  # fmt: skip
    from memtui.engine.transfer import FORMATS

    asks = next(
        (
            known_format.asks
            for known_format in FORMATS
            if preview is not None and known_format.name == preview.format
        ),
        (),
    )
    if "prose" in asks:
        found.append(FormRow("prose", "prose", meaning="paragraphs too, not only lists", on=request.prose))
    if "sessions" in asks:
        found.append(FormRow("sessions", "sessions", meaning="conversations too", on=request.sessions))
    if "encoding" in asks:
        found.append(
            FormRow("encoding", "encoding", request.encoding or "found out", "", bool(request.encoding))
        )
    return found


_VECTORS = {"auto": "keep those of our model", "keep": "keep all: you vouch", "new": "re-embed all"}

_FIND = {None: "if no service is asked", True: "yes", False: "no"}


def _near() -> float:
    from memtui.engine.transfer import (
        NEAR,
    )

    return NEAR


def _scopes(scopes: object) -> str:
    assert hasattr(scopes, "items")
    return ", ".join(f"{theirs or '(none)'}={ours}" for theirs, ours in scopes.items())


def setting_rows(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    """The settings; columns under a heading of their own."""
    rows: list[Row] = []
    columns = False
    for setting in settings(state):
        role = setting.key.startswith("role:")
        if role != columns:
            rows.append(heading_row("COLUMNS" if role else "HOW"))
            columns = role
        rows.append(setting_row(setting, width, glyphs, 14))
    return rows


def sample_rows(
    preview: ImportPreview | None, width: int, height: int, glyphs: Glyphs, now_ms: int
) -> list[Row]:
    """The first rows as they are in the source with the mapped columns lit, then as memories."""
    if preview is None:
        return []
    rows: list[Row] = []
    if preview.maps:
        rows += _table(preview, width, max(2, height * 2 // 5 - 3), glyphs)
        rows.append(blank())
    seen = preview.glimpse
    if seen is None:
        return [*rows, *warning_rows("No column is the text yet: choose one on the left.", width, glyphs)]
    rows += [heading_row("AS MEMORIES"), *_memories(seen, width, glyphs)]
    for where, why in seen.rejected:
        line = crop(f" {glyphs.cross} {one_line(where)}: {one_line(why)}", width - 1, glyphs.ellipsis)
        rows.append(Row((Content.styled(line, "$stale"),)))
    for remark in seen.remarks:
        rows += text_rows(remark, width, "$dim")
    return rows


def _table(preview: ImportPreview, width: int, most: int, glyphs: Glyphs) -> list[Row]:
    roles = {column: role for role, column in preview.mapping}
    ordered = sorted(range(len(preview.columns)), key=lambda i: preview.columns[i] not in roles)
    cells = {i: _cells(preview, i) for i in ordered}
    shown: list[int] = []
    room = width - 2
    for i in ordered:
        if room < cells[i] + 1:
            break
        shown.append(i)
        room -= cells[i] + 1
    more = len(ordered) - len(shown)
    names = Content(" ").join(
        Content.styled(fit(one_line(preview.columns[i]), cells[i], glyphs.ellipsis), "bold $heading")
        for i in shown
    )
    above = Content(" ").join(
        Content.styled(fit(roles.get(preview.columns[i], ""), cells[i]), "$match") for i in shown
    )
    rows = [
        heading_row(f"IN THE SOURCE{', ' + counted(more, 'more column') if more else ''}"),
        Row((Content.assemble(" ", above),)),
        Row((Content.assemble(" ", names),)),
    ]
    for sample in preview.samples[:most]:
        line = Content(" ").join(
            Content.styled(
                fit(one_line(sample[i]), cells[i], glyphs.ellipsis),
                "$foreground" if preview.columns[i] in roles else "$dim",
            )
            for i in shown
        )
        rows.append(Row((Content.assemble(" ", line),)))
    return rows


def _cells(preview: ImportPreview, column: int) -> int:
    name = preview.columns[column]
    longest = max((len(sample[column]) for sample in preview.samples[:10]), default=4)
    most = 44 if dict(preview.mapping).get("text") == name else COLUMN_CELLS
    return max(5, min(most, max(longest, len(name), 10)))


def _memories(seen: SourcePreview, width: int, glyphs: Glyphs) -> list[Row]:
    wide = width >= 70
    tail = 46 if wide else 0
    rows = []
    if wide:
        head = (
            f" {fit('TEXT', width - tail - 2)}{fit('SCOPE', 16)}{fit('CATEGORY', 12)}{right('IMP', 5)}  DATE"
        )
        rows.append(Row((Content.styled(crop(head, width, glyphs.ellipsis), "$dim"),)))
    for number, record in enumerate(seen.records):
        lost = f" {glyphs.loss}" if record.lost else ""
        text = fit(one_line(record.text) + lost, max(8, width - tail - 3), glyphs.ellipsis) + " "
        parts: list[tuple[str, str] | str] = [" ", (text, "$foreground")]
        if wide:
            day = date(record.timestamp_ms)[:10]
            parts += [
                (
                    fit(one_line(record.scope or "-"), 16, glyphs.ellipsis),
                    scope_style(record.scope) if record.scope else "$dim",
                ),
                (fit(one_line(record.category or "-"), 12, glyphs.ellipsis), "$dim"),
                (right(score(record.importance), 5), "$dim"),
                (f"  {day}", "$dim"),
            ]
        rows.append(Row((Content.assemble(*parts),), f"sample:{number}"))
    if not seen.records:
        rows += text_rows("No memory was found at the beginning of it.", width, "$stale")
    return rows
