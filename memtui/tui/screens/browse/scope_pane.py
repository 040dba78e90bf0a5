"""The side panel of Browse: scopes and facets as one list; choosing a line narrows the memories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.style import Style

from memtui.engine import one_line
from memtui.engine.catalog import AGES, Facets
from memtui.patches.textual_scrollbar import SyncedScroll
from memtui.tui.actions.table import bindings
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.host import host
from memtui.tui.jump import JumpTarget
from memtui.tui.paint.cells import crop
from memtui.tui.paint.numbers import full, short
from memtui.tui.screens.browse.filter_text import term_of, terms
from memtui.tui.screens.browse.state import BrowseState
from memtui.tui.theme.tokens import as_stored, category_style, scope_style, tier_rank, tier_style
from memtui.tui.widgets.splitter import Splitter

# The lines of the side panel: scopes nested by kind, then tiers, categories and states, with counts.

Kind = Literal[
    "all",
    "kind",
    "scope",
    "head",
    "tier",
    "category",
    "state",
    "layer",
    "source",
    "label",
    "trust",
    "age",
    "more",
    "gap",
]

FACETS = ("tier", "category", "state", "layer", "source", "label", "trust", "age")

KIND_ORDER = ("global", "agent", "project", "user", "custom", "reflection")

CAP = 200
"""Leaves of one kind that are drawn; a store with more has the filter line for them."""


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """One line. `scopes` is what choosing it narrows to; `term` is the filter term it toggles."""

    kind: Kind
    label: str
    count: int | None = None
    depth: int = 0
    key: str = ""
    """What identifies the line while counts change around it."""
    scopes: tuple[str | None, ...] | None = None
    term: str = ""
    raw: str | None = None
    """The scope, tier or category exactly as stored."""
    is_open: bool | None = None
    """For a kind with leaves: whether they are shown."""

    @property
    def can_choose(self) -> bool:
        """Whether Enter does something here."""
        return self.kind in ("all", "kind", "scope", *FACETS)


def scope_kind(scope: str | None) -> str:
    """The kind of a scope: what stands before its first colon; NULL and blank scopes are of no kind."""
    if scope is None or not scope.strip():
        return "(none)"
    return scope.strip().split(":", 1)[0] if ":" in scope else scope.strip()


def outline(
    facets: Facets, scopes: Iterable[tuple[str | None, int]], total: int, closed: frozenset[str]
) -> list[ScopeLine]:
    """All lines, in drawing order.

    `scopes` are counts by stored scope without the narrowing to scopes itself; `closed` are the kinds folded.
    """
    lines = [ScopeLine("all", "all", total, key="all", scopes=None)]
    by_kind: dict[str, list[tuple[str | None, int]]] = {}
    for scope, count in scopes:
        by_kind.setdefault(scope_kind(scope), []).append((scope, count))
    for kind in sorted(by_kind, key=lambda k: (_rank(k), -sum(n for _, n in by_kind[k]), k)):
        lines += _kind_lines(kind, by_kind[kind], kind in closed)
    lines += _facet("TIER", "tier", sorted(facets.tiers, key=lambda pair: tier_rank(pair[0])))
    lines += _facet("CATEGORY", "category", facets.categories)
    states = [(name, n) for name, n in facets.states if name != "confirmed"]
    lines += _facet("STATE", "state", states)
    if len(facets.layers) > 1:
        lines += _facet("LAYER", "layer", facets.layers)
    if len(facets.sources) > 1:
        lines += _facet("SOURCE", "source", facets.sources)
    lines += _facet("LABEL", "label", facets.labels)
    lines += _facet("TRUST", "trust", facets.trust)
    lines += _facet("AGE", "age", facets.ages)
    return lines


def _rank(kind: str) -> int:
    return KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER)


def _kind_lines(kind: str, members: list[tuple[str | None, int]], folded: bool) -> list[ScopeLine]:
    """A kind with one member of the same name is a leaf; others are a branch with leaves."""
    total = sum(count for _, count in members)
    names = tuple(scope for scope, _ in members)
    if len(members) == 1 and (members[0][0] is None or ":" not in members[0][0]):
        scope = members[0][0]
        label = kind if scope is None else as_stored(scope)
        return [ScopeLine("scope", label, total, key=f"scope:{scope!r}", scopes=(scope,), raw=scope)]
    lines = [
        ScopeLine(
            "kind", one_line(kind), total, key=f"kind:{kind}", scopes=names, raw=kind, is_open=not folded
        )
    ]
    if folded:
        return lines
    for scope, count in members[:CAP]:
        lines.append(
            ScopeLine("scope", _leaf(scope), count, 1, f"scope:{scope!r}", scopes=(scope,), raw=scope)
        )
    if len(members) > CAP:
        lines.append(
            ScopeLine(
                "more", f"{len(members) - CAP:,} more, press {{browse.filter}}", depth=1, key=f"more:{kind}"
            )
        )
    return lines


def _leaf(scope: str | None) -> str:
    """A scope within its kind; what is malformed is shown as it is stored."""
    if scope is None:
        return "NULL"
    if not scope.strip() or scope != scope.strip():
        return as_stored(scope)
    return one_line(scope.split(":", 1)[1] if ":" in scope else scope)


_FIELD = {
    "tier": "tier",
    "category": "cat",
    "state": "state",
    "layer": "layer",
    "source": "source",
    "label": "label",
    "trust": "trust",
}

_AGES = dict(zip(AGES, ("a day", "a week", "4 weeks", "half a year", "older"), strict=True))


def _facet(title: str, kind: Kind, counts: Iterable[tuple[str | None, int]]) -> list[ScopeLine]:
    rows = [(name, count) for name, count in counts if count]
    if not rows:
        return []
    lines = [ScopeLine("gap", "", key=f"gap:{title}"), ScopeLine("head", title, key=f"head:{title}")]
    for name, count in rows:
        label = "(none)" if not name else one_line(name) or '" "'
        term = term_of(_FIELD.get(kind, ""), name)
        if kind == "age":
            label, term = _AGES.get(name or "", label), f"age:{name}"
        lines.append(ScopeLine(kind, label, count, key=f"{kind}:{name!r}", term=term, raw=name))
    return lines


class ScopePane(SyncedScroll, can_focus=True):
    """A cursor over the lines of `outline`; branches fold, leaves narrow."""

    DEFAULT_CSS = """
    ScopePane { height: 1fr; background: $background; overflow-x: hidden; overflow-y: auto; }
    """
    BINDINGS = bindings("scopes")

    cursor: reactive[int] = reactive(0)

    @dataclass
    class ScopesChosen(Message):
        """Narrow to these stored scopes; None for all."""

        scopes: tuple[str | None, ...] | None

    @dataclass
    class TermToggled(Message):
        """Put this term into the filter, or take it out."""

        term: str

    @dataclass
    class Right(Message):
        """The person wants to go to the list."""

    @dataclass
    class CopyWanted(Message):
        """Copy this scope or facet name."""

        text: str

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[ScopeLine] = []
        self._folded: frozenset[str] = frozenset()
        self._facets = Facets()
        self._scopes: tuple[tuple[str | None, int], ...] = ()
        self._total = 0
        self._chosen: tuple[str | None, ...] | None = None
        self._terms: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        """The scopes that are listed and have a name."""
        return [scope for scope, _ in self._scopes if scope]

    def show(
        self,
        facets: Facets,
        scopes: tuple[tuple[str | None, int], ...],
        total: int,
        chosen: tuple[str | None, ...] | None,
        terms: frozenset[str],
    ) -> None:
        """Show new counts; the cursor stays on the line it was on, wherever that has moved."""
        self._facets, self._scopes, self._total = facets, scopes, total
        self._chosen, self._terms = chosen, terms
        self._rebuild()

    def _rebuild(self) -> None:
        here = self.lines[self.cursor].key if self.cursor < len(self.lines) else ""
        self.lines = outline(self._facets, self._scopes, self._total, self._folded)
        keys = [line.key for line in self.lines]
        self.set_reactive(ScopePane.cursor, keys.index(here) if here in keys else 0)
        self.virtual_size = Size(0, len(self.lines))
        self._keep_in_sight()
        self.refresh()

    @property
    def current(self) -> ScopeLine | None:
        """The line under the cursor."""
        return self.lines[self.cursor] if self.cursor < len(self.lines) else None

    # drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        if index >= len(self.lines) or width <= 0:
            return Strip.blank(self.size.width, self.visual_style.rich_style)
        line = self.lines[index]
        here = index == self.cursor
        base = self.visual_style
        if here:
            base += Style.parse("on $cursor" if self.has_focus else "on $cursor-idle")
        content = self._content(line, here, width)
        return Strip(content.render_segments(base)).adjust_cell_length(width, base.rich_style)

    def _content(self, line: ScopeLine, here: bool, width: int) -> Content:
        glyphs = host(self).glyphs
        lead = (glyphs.cursor if here and self.has_focus else " ", "$primary")
        if line.kind == "gap":
            return Content.assemble(lead)
        if line.kind == "head":
            return Content.assemble(lead, (line.label, "bold $heading"))
        arrow = " " if line.is_open is None else (glyphs.open if line.is_open else glyphs.closed)
        mark, style = self._mark_and_style(line)
        chosen = self._is_chosen(line)
        count = full(line.count) if line.count is not None else ""
        indent = "  " * line.depth
        head = f"{indent}{arrow} " if line.kind in ("all", "kind", "scope", "more") else f"{mark} "
        room = width - 2 - cell_len(head) - 1
        if cell_len(count) > room - 6:
            count = short(line.count)
        name = host(self).keys.words(line.label) if line.kind == "more" else line.label
        label = crop(name, max(1, room - cell_len(count) - 1), glyphs.ellipsis)
        gap = " " * max(1, room - cell_len(label) - cell_len(count))
        tail = glyphs.mark if chosen else " "
        return Content.assemble(
            lead,
            (head, style if line.kind in ("tier",) else "$dim"),
            (label, f"bold {style}" if chosen else style),
            gap,
            (count, "$dim"),
            (f" {tail}", "bold $mark"),
        )

    def _mark_and_style(self, line: ScopeLine) -> tuple[str, str]:
        if line.kind == "tier":
            return host(self).glyphs.tier(line.raw), tier_style(line.raw)
        if line.kind == "category":
            return " ", category_style(line.raw)
        if line.kind in ("kind", "scope"):
            return " ", scope_style(line.raw)
        return " ", "$foreground"

    def _is_chosen(self, line: ScopeLine) -> bool:
        if line.term:
            return line.term in self._terms
        if line.kind not in ("kind", "scope", "all"):
            return False
        if line.scopes is None or self._chosen is None:
            return line.scopes is None and self._chosen is None and line.kind == "all"
        return set(line.scopes) == set(self._chosen)

    # moving and choosing

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.lines) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_line(old)
        self.refresh_line(new)
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        height = max(1, self.size.height)
        if self.cursor < self.scroll_offset.y:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= self.scroll_offset.y + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def _step(self, by: int) -> None:
        """Move to the next line that can be chosen, stopping at the ends."""
        at = self.cursor + by
        direction = 1 if by > 0 else -1
        at = max(0, min(at, len(self.lines) - 1))
        while 0 <= at < len(self.lines) and not self.lines[at].can_choose:
            at += direction
        if 0 <= at < len(self.lines):
            self.cursor = at

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if index < len(self.lines) and self.lines[index].can_choose:
            self.cursor = index
            line = self.lines[index]
            if line.is_open is not None and event.x <= 3:
                self._fold(line, line.is_open)
            else:
                self.action_choose()

    def jump_spots(self) -> Iterable[JumpTarget]:
        """Every line that can be chosen."""
        top = self.scroll_offset.y
        able = (i for i, line in enumerate(self.lines) if line.can_choose)
        return (JumpTarget(0, i - top, partial(setattr, self, "cursor", i)) for i in able)

    def _fold(self, line: ScopeLine, folded: bool) -> None:
        kind = line.raw or ""
        self._folded = self._folded | {kind} if folded else self._folded - {kind}
        self._rebuild()

    def action_down(self) -> None:
        self._step(1)

    def action_up(self) -> None:
        self._step(-1)

    def action_page_down(self) -> None:
        self._step(max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self._step(-max(1, self.size.height - 1))

    def action_first(self) -> None:
        self._step(-len(self.lines))

    def action_last(self) -> None:
        self._step(len(self.lines))

    def action_open(self) -> None:
        line = self.current
        if line is not None and line.is_open is False:
            self._fold(line, False)
        else:
            self.post_message(self.Right())

    def action_close(self) -> None:
        line = self.current
        if line is None:
            return
        if line.is_open:
            self._fold(line, True)
        elif line.depth:
            for index in range(self.cursor, -1, -1):
                if self.lines[index].kind == "kind":
                    self.cursor = index
                    break

    def action_choose(self) -> None:
        line = self.current
        if line is None or not line.can_choose:
            return
        if line.term:
            self.post_message(self.TermToggled(line.term))
        else:
            self.post_message(self.ScopesChosen(None if self._is_chosen(line) else line.scopes))

    def action_copy(self) -> None:
        line = self.current
        if line is not None and line.can_choose:
            self.post_message(self.CopyWanted(line.raw if line.raw is not None else line.label))


class ScopesPanel(BoundPanel[BrowseState], Splitter):
    """The counts of the list that is shown, by scope and by facet."""

    EDGE, SIGN = "right", -1

    def __init__(self) -> None:
        super().__init__(ScopePane(), title="Scopes", id="scopes")

    def part(self, state: BrowseState) -> tuple[object, ...]:
        return (state.answer,)

    def paint_part(self, state: BrowseState) -> None:
        found = state.answer
        if found is None:
            self.headline(which="", where="")
            return
        query = found.view.query
        self.query_one(ScopePane).show(
            Facets() if state.partly else found.facets,
            found.scopes,
            found.all_total,
            query.scopes,
            terms(query.filter),
        )
        self.headline(where=f"{len(found.scopes):,}")

    @property
    def names(self) -> list[str]:
        """The scopes that are listed and have a name."""
        return self.query_one(ScopePane).names
