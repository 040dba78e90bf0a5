"""The panels of Browse: which are shown, which has the keyboard, and the way from one to the next."""

from __future__ import annotations

from textual import on

from memtui.tui.base_screen import BaseScreen
from memtui.tui.layout import Arrangement, browse, size_class
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.scope_pane import ScopePane
from memtui.tui.screens.browse.state import ListRequest, shaped
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel

_PANELS = {"scopes": ScopePane, "list": MemoryList, "detail": MemoryDetail}


class BrowsePanels(BaseScreen):
    """The frame of Browse; a subclass asks the engine and fills the panels."""

    def __init__(self) -> None:
        super().__init__()
        self.wish = ListRequest()

    def arrange_panels(self, width: int, height: int) -> Arrangement:
        """Where the panels stand."""
        return browse(width, height, self.wish.shape)

    def want(self, wish: ListRequest) -> None:
        """Change what is shown; a different list is asked for, different panels are arranged."""
        old, self.wish = self.wish, wish
        if wish.shape != old.shape:
            self.query_one(LayoutContainer).rearrange()
            self.call_after_refresh(self.name_panels)
        if wish.query != old.query:
            self.ask(keep_cursor=False)
        if wish != old:
            self.wished()

    def rearrange(self) -> None:
        """Place the panels anew: the wish was replaced as a whole."""
        self.query_one(LayoutContainer).rearrange()

    def wished(self) -> None:
        """Another list, or other panels, are wanted."""

    def ask(self, *, keep_cursor: bool) -> None:
        """Ask the engine for the list that is wanted."""
        raise NotImplementedError

    def name_panels(self) -> None:
        """Write the titles of the panels again."""
        raise NotImplementedError

    # going from panel to panel

    @on(MemoryList.Left)
    def _list_left(self) -> None:
        self.action_scopes()

    @on(MemoryList.Right)
    def _list_right(self) -> None:
        self._go("detail")

    @on(ScopePane.Right)
    def _scopes_right(self) -> None:
        if self.wish.shape.overlay:
            self.want(shaped(self.wish, overlay=False))
        self._go("list")

    @on(MemoryDetail.Left)
    def _detail_left(self) -> None:
        if self.wish.shape.zoom == "detail":
            self.want(shaped(self.wish, zoom=""))
        self.query_one(MemoryList).announce()
        self._go("list")

    @on(MemoryDetail.Moved)
    def _detail_moved(self, message: MemoryDetail.Moved) -> None:
        self.query_one(MemoryList).move(message.by)

    def _go(self, panel: str) -> None:
        """Give a panel the keyboard; one that has no room to be read fills the body."""
        shape = self.wish.shape
        cramped = panel == "detail" and size_class(self.size.width) == "narrow"
        if (cramped or not self.query_one(LayoutContainer).shows(panel)) and shape.zoom != panel:
            self.want(shaped(self.wish, zoom="" if panel == "list" else panel, overlay=False))
        target = _PANELS[panel]
        self.call_after_refresh(lambda: self.query_one(target).focus())

    def _focused_panel(self) -> str:
        for name in _PANELS:
            if self.query_one(f"#{name}", Panel).has_focus_within:
                return name
        return "list"

    def action_scopes(self) -> None:
        shape = self.wish.shape
        if size_class(self.size.width) == "narrow":
            self.want(shaped(self.wish, overlay=not shape.overlay, zoom=""))
            self._go("list" if shape.overlay else "scopes")
        elif not shape.scopes or shape.zoom:
            self.want(shaped(self.wish, scopes=True, zoom=""))
            self._go("scopes")
        elif self._focused_panel() == "scopes":
            self.want(shaped(self.wish, scopes=False))
            self._go("list")
        else:
            self._go("scopes")

    def action_detail(self) -> None:
        if self._focused_panel() == "detail" or not self.wish.shape.detail:
            self.want(shaped(self.wish, detail=not self.wish.shape.detail, zoom=""))
            self._go("list")
        else:
            self._go("detail")

    def action_zoom(self) -> None:
        panel = self._focused_panel()
        self.want(shaped(self.wish, zoom="" if self.wish.shape.zoom else panel, overlay=False))
        self._go(panel)

    def action_narrower(self) -> None:
        self.want(shaped(self.wish, nudge=max(-12, self.wish.shape.nudge - 3)))

    def action_wider(self) -> None:
        self.want(shaped(self.wish, nudge=min(30, self.wish.shape.nudge + 3)))
