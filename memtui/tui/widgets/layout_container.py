"""A container whose children stand where a pure function of the size says."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from memtui.tui.layout import Arrangement

Arrange = Callable[[int, int], Arrangement]


class _ByName(Layout):
    """Places each child at the rectangle that carries its id; later rectangles lie on top."""

    name: ClassVar[str] = "by-name"

    def __init__(self, arrange: Arrange) -> None:
        self._arrange = arrange

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        boxes = self._arrange(size.width, size.height)
        order = {name: index for index, name in enumerate(boxes)}
        return [
            WidgetPlacement(
                Region(*boxes[child.id]),
                NULL_OFFSET,
                NULL_SPACING,
                child,
                order[child.id],
                False,
                False,
                False,
            )
            for child in children
            if child.id in boxes
        ]


class LayoutContainer(Widget):
    """Children by id, placed by `arrange(width, height)`; a child that it does not name is not shown."""

    DEFAULT_CSS = """
    LayoutContainer { height: 1fr; background: $background; }
    """

    def __init__(self, *children: Widget, arrange: Arrange, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._by_name = _ByName(arrange)
        self._arrange = arrange

    @property
    def layout(self) -> Layout:
        """Our own layout, which no style can replace."""
        return self._by_name

    def on_resize(self) -> None:
        self.rearrange()

    def shows(self, name: str) -> bool:
        """Whether the panel has a place at the present size."""
        return name in self._arrange(*self.size)

    def rearrange(self) -> None:
        """Ask the function again: after a resize, or when what it closes over has changed."""
        if not self.size.width:
            return
        boxes = self._arrange(*self.size)
        for child in self.children:
            child.display = child.id in boxes
            child.refresh(layout=True)  # clears our cached arrangement, which our own refresh would not
        self.refresh(layout=True)
