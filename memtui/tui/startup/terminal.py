"""The terminal while the app has it, and as it is left: not as it was changed for the keys of the start."""

from __future__ import annotations

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from memtui.early_keys import terminal_before
from memtui.patches.textual_input import OpenInput


class Terminal(OpenInput):
    """Textual's driver, which gives the terminal back, also to an editor, as it was before the program started."""

    def start_application_mode(self) -> None:
        """Take the terminal."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self.attrs_before is not None:
            self.attrs_before = terminal_before() or self.attrs_before


def give_back(app: App[None]) -> None:
    """Let the app drive its terminal so, where it has one."""
    if app.driver_class is LinuxDriver:
        app.driver_class = Terminal
