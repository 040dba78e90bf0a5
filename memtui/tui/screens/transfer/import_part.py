"""A step of the import wizard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.tui.screens.transfer.stepped import Part

if TYPE_CHECKING:
    from memtui.tui.screens.transfer.importing import Import
    from memtui.tui.screens.transfer.screen import TransferScreen
    from memtui.tui.screens.transfer.state import ImportState


class ImportPart(Part):
    """Works on the state of its flow."""

    def __init__(self, screen: TransferScreen, flow: Import) -> None:
        super().__init__(screen)
        self.flow = flow

    @property
    def state(self) -> ImportState:
        """What the wizard knows."""
        return self.flow.state

    def keep(self, **changes: Any) -> None:
        """Replace parts of the state without showing it yet."""
        self.flow.state = replace(self.flow.state, **changes)

    def set(self, **changes: Any) -> None:
        """Replace parts of the state and show it."""
        self.flow.set(**changes)
