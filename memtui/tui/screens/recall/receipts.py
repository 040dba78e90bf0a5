"""Receipts and the history of questions: saved, opened again, replayed, asked again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.message import Message

from memtui.engine import CancelToken, UsageError, counted, explain, one_line
from memtui.engine.explain import History
from memtui.paths import questions_file
from memtui.tui.bound_panel import BoundPart
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.find_list import FindItem, FindList
from memtui.tui.dialogs.sheet import Sheet, SheetLine, SheetSection
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.paint.numbers import ago, date
from memtui.tui.paint.waterfall import number
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.state import RecallState

if TYPE_CHECKING:
    from memtui.engine import RecallRequest
    from memtui.engine.explain import PastQuestion, Receipt, Replay
    from memtui.tui.screens.compare.state import Side


WAYS = (
    Option("full", "save", "with its texts: can be replayed", "s"),
    Option("bare", "save without texts", "no words: safe to show", "n"),
    Option("replay", "replay", "ask again, list what differs", "r"),
    Option("beside", "open", "beside the current answer", "o"),
)

SAVED, REPLAYED, BESIDE, LISTED, AGAIN = (
    "receipt-saved",
    "replayed",
    "receipt-open",
    "history",
    "history-again",
)

FORGET = "\0forget"
"""The item of the history that empties it; no number is this."""

MOST_LISTED = 500

MOST_DIFFERENCES = 200

VALUE_CHARS = 60


def file_name(at_ms: int, folder: Path) -> Path:
    """A name that is not taken: `memtui-recall-2026-09-01.json`, `...-2.json`."""
    day = date(at_ms)[:10]
    names = [f"memtui-recall-{day}.json", *(f"memtui-recall-{day}-{n}.json" for n in range(2, 1000))]
    return folder / next((name for name in names if not (folder / name).exists()), names[0])


def shown(value: Any) -> str:
    """A value of a difference on one line."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return number(value, 6)
    if isinstance(value, list):
        return f"{len(value)} ids: {', '.join(str(item)[:8] for item in value)}"
    return one_line(str(value))[:VALUE_CHARS]


def replay_sheet(name: str, receipt: Receipt, found: Replay) -> Sheet:
    """What a replay found, as a sheet."""
    verdict = "It comes out as it did." if found.same else "It comes out differently."
    intro = [
        f"{verdict} {counted(found.checked, 'step')} of the receipt recomputed from their own inputs.",
        f"Saved {date(receipt.saved_ms)}, version {receipt.table_version} of the table, {receipt.recipe}"
        + (f", asked: {one_line(receipt.query)}" if receipt.query else ""),
    ]
    kinds: dict[str, list[SheetLine]] = {}
    for difference in found.differences[:MOST_DIFFERENCES]:
        line = SheetLine(
            one_line(difference.where)[:24] or difference.what,
            f"{shown(difference.was)}  now  {shown(difference.now)}",
        )
        kinds.setdefault(difference.what, []).append(line)
    sections = [SheetSection(kind.upper(), tuple(lines)) for kind, lines in kinds.items()]
    left = len(found.differences) - MOST_DIFFERENCES
    notes = [found.note] if found.note else []
    notes += [f"{left:,} more differences are not listed."] if left > 0 else []
    return Sheet(f"Replay of {one_line(name)}", intro, notes, sections)


class Receipts(BoundPart[RecallState]):
    """The dialogs about receipts and the history, and what they return."""

    @dataclass
    class Beside(Message):
        """Show these two answers beside each other."""

        a: Side
        b: Side

    @staticmethod
    def _history() -> History:
        return History(questions_file())

    # ------------------------------------------------------------------ receipts

    def menu(self) -> None:
        """Save, replay or open."""
        answered = self.state.trace is not None
        ways = [way for way in WAYS if answered or way.value in ("replay", "beside")]

        def taken(value: str | None) -> None:
            if value in ("full", "bare"):
                self._save(texts=value == "full")
            elif value is not None:
                self._open(value)

        self.app.push_screen(ChooseOne("Receipt", ways), taken)

    def _save(self, *, texts: bool) -> None:
        trace, engine = self.state.trace, self.session.engine
        if trace is None or engine is None:
            return

        def taken(path: str | None) -> None:
            if not path:
                return

            def work(cancel: CancelToken, report: Report) -> Path:
                from memtui.engine.explain import save_receipt

                if Path(path).expanduser().exists():
                    raise UsageError(f"{path} exists already.", fix="Give another name.")
                return save_receipt(explain.receipt(engine, trace, texts=texts), Path(path))

            self.call(SAVED, work, lambda path: self.flash(f"saved {path}"))

        hint = (
            "With the question and every text." if texts else "Without any word of the question or a memory."
        )
        proposed = str(file_name(host(self).now_ms(), Path(os.curdir).absolute()))
        self.app.push_screen(TextPrompt("Save the receipt as", hint, proposed), taken)

    def _open(self, way: str) -> None:
        engine = self.session.engine
        if engine is None:
            self.flash("The store is not open yet.", "note")
            return

        def taken(path: str | None) -> None:
            if not path:
                return

            def work(cancel: CancelToken, report: Report) -> tuple[str, Receipt, Replay]:
                from memtui.engine.explain import open_receipt

                receipt = open_receipt(Path(path))
                return Path(path).name, receipt, explain.replay(engine, receipt)

            if way == "replay":
                self.call(REPLAYED, work, lambda found: self._replayed(*found))
            else:
                self.call(BESIDE, work, lambda found: self._beside(*found))

        self.app.push_screen(
            TextPrompt("Open the receipt", "A receipt that Recall saved, or memtui recall --save."), taken
        )

    def _replayed(self, name: str, receipt: Receipt, found: Replay) -> None:
        self.app.push_screen(replay_sheet(name, receipt, found))

    def _beside(self, name: str, receipt: Receipt, found: Replay) -> None:
        """The receipt as A, the answer of now as B."""
        from memtui.tui.screens.compare.state import Side

        trace = found.trace or self.state.trace
        if trace is None:
            self.flash(
                "The receipt holds no question. Ask it first, then open the receipt beside it.", "note"
            )
            return
        a = Side(f"receipt {one_line(name)}", None, receipt)
        b = Side("now", trace.request, trace)
        self.post_message(self.Beside(a, b))

    # ------------------------------------------------------------------ the history

    def history(self) -> None:
        """Questions that were asked of this store, newest first; one of them can be asked again."""
        info = self.session.info
        if info is None:
            self.flash("The store is not open yet.", "note")
            return
        self.call(
            LISTED,
            lambda cancel, report: self._history().search(store=info.uri, limit=MOST_LISTED),
            self._listed,
        )

    def _listed(self, questions: tuple[PastQuestion, ...]) -> None:
        now = host(self).now_ms()
        items = [
            FindItem(
                str(question.number),
                question.query,
                f"{question.recipe}   {len(question.returned)} returned   {ago(question.asked_ms, now)}",
            )
            for question in questions
        ]
        if items:
            items.append(FindItem(FORGET, "clear history", "empties this history, nothing else"))
        by_number = {str(question.number): question for question in questions}

        def taken(value: str | None) -> None:
            engine = self.session.engine
            if value is None or engine is None:
                return
            if value == FORGET:
                self.call(
                    AGAIN,
                    lambda cancel, report: self._forget(tuple(by_number.values())),
                    lambda count: self.flash(f"{counted(count, 'question')} forgotten"),
                )
                return
            question = by_number[value]
            self.call(AGAIN, lambda cancel, report: explain.again(question, self._history()), self._again)

        self.app.push_screen(
            FindList("Questions of this store", items, empty="Nothing was asked of this store yet."), taken
        )

    def _forget(self, questions: tuple[PastQuestion, ...]) -> int:
        history = self._history()
        return sum(history.forget(question.number) for question in questions)

    def _again(self, request: RecallRequest) -> None:
        """Ask as it was asked; its vector is used where nothing here makes one."""
        info = self.session.info
        config = {
            f"{block}.{key}": value
            for block, values in (request.config or {}).items()
            if isinstance(values, dict)
            for key, value in values.items()
        }
        none_here = info is not None and info.embedder.startswith("none")
        vector = request.query_vector if none_here else None
        source = request.source if isinstance(request.source, str) else None
        scopes = tuple(request.scopes) if isinstance(request.scopes, list | tuple) else None
        asked: dict[str, Any] = {**config, **({"query_vector": vector} if vector else {})}

        def change(state: RecallState) -> RecallState:
            form = reduce.edit(
                state,
                query=request.query,
                recipe=request.recipe,
                limit=request.limit,
                scopes=scopes,
                agent=request.agent,
                everyone=request.scopes is None,
                category=request.category,
                source=source,
                tried=(),
            )
            return reduce.turned(form, asked)

        self.become(change, ask=True)
