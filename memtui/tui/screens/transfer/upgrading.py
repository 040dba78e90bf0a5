"""Upgrade: rows of the old form."""

from __future__ import annotations

from memtui.engine import CancelToken, ChangeSet
from memtui.engine.progress import OnProgress
from memtui.tui.screens.transfer.mending import Mend
from memtui.tui.screens.transfer.parts import Setting


class Upgrade(Mend):
    """Rows of the old form get what the plugin's own upgrade gives them."""

    name, title = "upgrade", "Upgrade"
    about_it = (
        "Memories that an older version of the plugin wrote have no summaries (L0, L1, L2), no category of six and no"
        " tier. Recall and lifecycle treat them worse than the others.",
        "Summaries are the beginnings of the texts; a chat service, where you name one, writes better ones. What a row"
        " has already stays as it is.",
    )

    def settings(self) -> list[Setting]:
        state = self.state
        return [
            Setting("llm", "chat service", state.llm or "none", "for better summaries", bool(state.llm)),
            Setting("llm_model", "its model", state.llm_model or "-", "", bool(state.llm_model)),
            Setting("llm_key", "key in", state.llm_key or "-", "name of a variable", bool(state.llm_key)),
        ]

    @property
    def asks(self) -> bool:
        return bool(self.state.llm and self.state.llm_model)

    def change(self, key: str) -> None:
        titles = {
            "llm": ("Chat service", "Root of an OpenAI-compatible service, with its /v1. - takes it away."),
            "llm_model": ("Model", "Its name, as the service has it."),
            "llm_key": ("Key", "Name of the environment variable that holds the key, never the key itself."),
        }
        title, hint = titles[key]
        self.ask(title, hint, getattr(self.state, key), lambda text: self.set(**{key: text}))

    def plan(self, report: OnProgress, stop: CancelToken, *, dry: bool) -> ChangeSet:
        import os

        from memtui.engine.providers.chat import ChatSettings

        state = self.state
        chat = None
        if self.asks:
            chat = ChatSettings(
                state.llm, state.llm_model, os.environ.get(state.llm_key, "") if state.llm_key else ""
            )
        return self.engine.transfer.upgrade(chat, dry_run=dry, on_progress=report, cancel=stop)
