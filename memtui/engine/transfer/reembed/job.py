"""Re-embedding a store with another model: what the screen and the command line call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.providers.embedder import NoEmbedder

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.recall_effect import EffectQuestion
    from memtui.engine.engine import Engine
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.store.table import Store
    from memtui.engine.transfer.reembed.build import Estimate, Reembedded
    from memtui.engine.transfer.reembed.rehearse import Rehearsal
    from memtui.engine.transfer.reembed.switch import Switched


_ODD = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, eq=False)
class ReembedJob:
    """The steps of a re-embedding, in their order: estimate, rehearse, make, switch, back."""

    engine: Engine
    work: Path

    @property
    def store(self) -> Store:
        """The store as it is."""
        return self.engine.store

    def destination(self, model: str) -> Path | str:
        """Where the second table goes unless somebody names another place: beside the store.

        Raises RefusedError for a store behind a service.
        """
        folder, uri = self.store.folder, self.store.uri.rstrip("/")
        end = f".reembed-{_ODD.sub('-', model)}"
        if folder is not None:
            return folder.with_name(f"{folder.name}{end}")
        if uri.startswith("db://"):
            raise RefusedError(f"{self.store.name} is behind a service.", fix="Name a folder for the copy.")
        return f"{uri}{end}"

    def estimate(self, new: Embedder, *, ask: bool = True, cancel: CancelToken | None = None) -> Estimate:
        """What it takes; see `build.estimate`."""
        from memtui.engine.transfer.reembed.build import estimate

        return estimate(self.store, new, self.engine.timer, ask=ask, cancel=cancel)

    def sends(self, new: Embedder) -> bool:
        """Whether a rehearsal with `new` sends texts or questions to a service: to that of either model."""
        from memtui.engine.transfer.importing.embedding_cost import is_offline

        return not (is_offline(new) and is_offline(self.engine.configured_embedder))

    def rehearse(
        self,
        new: Embedder,
        cases: Sequence[Case],
        *,
        recipe: str,
        context: RecallContext,
        last: Sequence[EffectQuestion] = (),
        sample: int | None = None,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> Rehearsal:
        """Saved and `last` questions over a sample, this store's model against `new`; see `rehearse.rehearse`."""
        from memtui.engine.transfer.reembed.rehearse import SAMPLE, rehearse

        embedder = self.engine.configured_embedder
        if isinstance(embedder, NoEmbedder):
            raise RefusedError(embedder.reason, fix=embedder.fix)
        return rehearse(
            self.store,
            context,
            embedder,
            new,
            cases,
            work=self.work,
            timer=self.engine.timer,
            recipe=recipe,
            last=last,
            sample=sample or SAMPLE,
            on_progress=on_progress,
            cancel=cancel,
        )

    def make(
        self,
        new: Embedder,
        destination: Path | str,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
        *,
        parts: str = "",
    ) -> Reembedded:
        """Make and verify the second table, of a cluster's `parts` where given; see `build.reembed`.

        A text as `destination` is an address on object storage (`far.reembed_to`). The store is only read.
        """
        if isinstance(destination, str):
            from memtui.engine.transfer.reembed.far import reembed_to

            return reembed_to(
                self.store,
                new,
                destination,
                self.engine.reach(destination),
                work=self.work,
                parts=parts,
                on_progress=on_progress,
                cancel=cancel,
            )
        from memtui.engine.transfer.reembed.build import reembed

        return reembed(
            self.store, new, destination, work=self.work, parts=parts, on_progress=on_progress, cancel=cancel
        )

    def switch(self, made: Path | str, *, confirmed: bool) -> Switched:
        """Put the second table in the place of the store's own; see `switch.switch`. Open the store anew then.

        Raises RefusedError on object storage, where nothing can be renamed.
        """
        if isinstance(made, str) or self.store.folder is None:
            raise RefusedError(
                "On object storage a table is not put in the place of another.",
                fix=f'Set uri = "{made}" in [storage.NAME] of config.toml, and for the agent; '
                "the old address undoes the switch.",
            )
        from memtui.engine.transfer.reembed.switch import note_of, switch

        note = note_of(self.work, self.store.uri)
        return switch(self.engine, made, note, confirmed=confirmed)

    @property
    def last_switch(self) -> Switched | None:
        """The switch that can be taken back."""
        from memtui.engine.transfer.reembed.switch import last_switch, note_of

        return last_switch(note_of(self.work, self.store.uri))

    def back(self, *, confirmed: bool) -> Switched:
        """Take the last switch back; see `switch.back`. Open the store anew then."""
        from memtui.engine.transfer.reembed.switch import back, note_of

        return back(note_of(self.work, self.store.uri), now_ms=self.engine.now_ms, confirmed=confirmed)
