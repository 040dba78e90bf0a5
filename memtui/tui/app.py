"""The app: four modes with lazy screens, themes from files, and a store that opens after the first paint."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, SuspendNotSupported
from textual.filter import LineFilter
from textual.screen import Screen

from memtui.demo_store import DEMO
from memtui.editor import edited_text
from memtui.engine import (
    MemtuiError,
    mask,
    one_line,
)
from memtui.patches.textual_ellipsis import EllipsisFilter
from memtui.patches.textual_emoji import PlainEmoji, in_multiplexer
from memtui.patches.textual_stylesheet import CachedStylesheet
from memtui.patches.textual_timers import never_lose_timers
from memtui.tui.actions.keymap import Keymap
from memtui.tui.actions.table import bindings, load_keys
from memtui.tui.appearance import Appearance
from memtui.tui.base_screen import BaseScreen
from memtui.tui.messages import (
    AskCapture,
    AskExport,
    AskImport,
    AskRecall,
    AskWhyNot,
    Flash,
    OpenBisect,
    OpenBlame,
    RunAdvanced,
    RunFailed,
    RunFinished,
    ShowEntry,
    ShowFinding,
    ShowInBrowse,
    ShowMemory,
    ShowReach,
)
from memtui.tui.paint.glyphs import UNICODE, choose
from memtui.tui.startup.last_session import LastSession
from memtui.tui.startup.open_store import WATCH_S, Clock, Opener, StoreOpener, default_now
from memtui.tui.startup.open_store import opener as real_opener
from memtui.tui.startup.preload import MODES, GcTuning, screen_module
from memtui.tui.startup.session_app import SessionApp
from memtui.tui.theme.files import LOOK_S, LiveThemes
from memtui.tui.theme.tokens import defaults
from memtui.tui.tour import Guide
from memtui.ui_state import UiState, app_state, knew_before, store_ui_state, unsaved_edits


def _screen(mode: str, name: str) -> Screen[Any]:
    screen: Screen[Any] = getattr(import_module(screen_module(mode)), name)()
    return screen


NEW_STORE = "~/memories"
"""Where a store is made unless another place is typed."""


class MemtuiApp(SessionApp):
    """The terminal console. `target` as in the command line; tests give their own `opener` and `now`."""

    CSS_PATH = "app.tcss"
    TITLE = "memtui"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        mode: partial(_screen, mode, f"{mode.title()}Screen") for mode in MODES
    }
    DEFAULT_MODE = "home"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = bindings("app")

    def __init__(
        self,
        target: str | None = None,
        *,
        opener: Opener | None = None,
        now: Clock = default_now,
        environ: Mapping[str, str] = os.environ,
        themes: Path | None = None,
        look: Appearance = Appearance(),
        keys: Keymap | None = None,
        kept: UiState | None = None,
        steady: bool = False,
    ) -> None:
        if look.screen in self.MODES:
            self.DEFAULT_MODE = look.screen  # type: ignore[misc]
        never_lose_timers()
        super().__init__(keys or load_keys())
        self.stylesheet = CachedStylesheet(variables=self.get_css_variables())
        self._guide = Guide(self, kept)
        self._kept = kept
        self._as_left = LastSession(self, kept, look)
        self._wanted_mode = ""
        """Where to go as soon as the store is open."""
        self._copy_to = look.clipboard
        self._steady = GcTuning(self) if steady else None
        self.glyphs = choose({**environ, **look.glyphs})
        self._ends: list[LineFilter] = [] if self.glyphs is UNICODE else [EllipsisFilter(self.glyphs)]
        self._ends += [PlainEmoji()] if in_multiplexer(environ) else []
        self._now = now
        self.environ = environ
        self._target = target
        self._warned = 0
        """So many staged changes a person was told of, who wanted to leave."""
        self._store = StoreOpener(self, opener or real_opener(environ, Path.cwd()), now)
        self.set_reactive(
            MemtuiApp.session, self._store.first(target)
        )  # the first frame is drawn before it opens
        self._themes = LiveThemes(self, look.theme, themes)
        self.zone = look.zone
        self._problems = [*look.problems, *self.keys.problems]
        if look.theme != self.theme:
            self._problems.append(f"There is no theme {look.theme}; {self.theme} is used.")
        self.animation_level = "none"

    def watch_session(self) -> None:
        """The screens that are seen hear of it; the others when they are shown again."""
        for screen in self.screen_stack if self._running else ():
            if isinstance(screen, BaseScreen):
                screen.catch_up()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Every semantic token, so that Textual's own themes work too."""
        return defaults(self.current_theme.dark)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """As Textual does; where the terminal has no ellipsis, or counts an emoji otherwise, another one is shown."""
        filters = super().get_line_filters()
        return [*filters, *self._ends] if self._ends else filters

    def now_ms(self) -> int:
        """The clock of the app, in milliseconds since the epoch."""
        return self._now()

    def ui_state(self, uri: str) -> UiState:
        """What is kept of how the store at `uri` was looked at."""
        return store_ui_state(uri, self.environ)

    def unsaved_edits(self, uri: str) -> UiState:
        """Where edits of the store at `uri` are kept until they are applied."""
        return unsaved_edits(uri, self.environ)

    def on_mount(self) -> None:
        if self.glyphs.name == "ascii":
            self.add_class("-ascii")
        self.begun = False
        self.call_after_refresh(self._start)

    @property
    def themes(self) -> tuple[str, ...]:
        """Names of the themes that were read from files and can be chosen."""
        return self._themes.names

    def _start(self) -> None:
        self.in_parts = True
        if self._steady is not None:
            self._steady.begin()
        self._problems += self._themes.load_all()
        if self._kept is not None:
            self.knew_before = knew_before(self._kept)
        self._store.open(self._target)
        self.begun = True
        self.set_interval(WATCH_S, self._store.watch)
        self.set_interval(LOOK_S, self._look_at_theme)
        if self._problems:
            more = len(self._problems) - 1
            self.say(f"{self._problems[0]}{f' ({more} more)' if more else ''}", "error")

    def on_run_advanced(self, message: RunAdvanced) -> None:
        self._store.advanced(message)
        if self.session.info is not None:
            self._as_left.opened(self.session.info.uri)

    def on_run_finished(self, message: RunFinished) -> None:
        self._store.finished(message)
        if self._steady is not None and self.session.phase == "ready":
            self._steady.loaded()
        if self.session.target == DEMO and self.session.phase == "ready":
            self._guide.offer()

    def on_run_failed(self, message: RunFailed) -> None:
        self._store.failed(message)

    def on_unmount(self) -> None:
        self._store.close()
        if self._steady is not None:
            self._steady.end()
        self._as_left.end()

    def _look_at_theme(self) -> None:
        if self._themes.saved():
            problem = self._themes.reload()
            self.say(problem or f"theme {self.theme}, as saved", "error" if problem else "note")

    def _fatal_error(self) -> None:
        """As Textual does, without the values of all local variables: memories are among them."""
        from rich.text import Text

        error = sys.exception()
        for screen in self.screen_stack:
            if (keep := getattr(screen, "keep_unsaved", None)) is not None:
                with suppress(Exception):  # the first fault is what is told
                    keep()
        self.panic(Text(stopped(error)) if error is not None else "memtui stopped.")

    def on_flash(self, message: Flash) -> None:
        self.say(message.text, message.kind)

    def copy(self, text: str, what: str) -> None:
        """Copy `text`, and say how it went."""
        self.run_worker(self._copy(text, what), group="copy", exclusive=True)

    async def _copy(self, text: str, what: str) -> None:

        try:
            how = await copy(self, text, self.environ, self._copy_to)
        except ValueError as error:
            self.say(f"not copied: {error}", "error")
        else:
            self.say(f"copied the {what} ({how})")

    def in_editor(self, text: str) -> str:
        """`text` as the person left it in $EDITOR, which has the terminal meanwhile; MemtuiError when that fails."""

        return in_editor(self, text, self.environ)

    def take(self, name: str, value: object = None) -> None:
        """A way out that a panel offered."""
        if name in ("demo", "store", "new") and not self._may_leave():
            return
        if name == "demo":
            self._store.open(DEMO)
        elif name in ("open", "make", "bring"):
            self._wanted_mode = "transfer" if name == "bring" else ""
            self._ask_store("" if name == "open" else NEW_STORE)
        elif name in ("import", "capture"):
            self.call_next(self.switch_mode, "transfer" if name == "import" else name)
        elif name == "add":
            from memtui.tui.actions.perform import perform

            self.run_worker(perform(self, ("browse.add",)))
        elif name == "connect":
            from memtui.tui.no_store import connecting

            self.push_screen(connecting())
        elif name in ("store", "new"):
            self._store.open(str(value), make=name == "new")
        elif name == "retry":
            self.action_reload()
        elif name == "changed":
            self._store.reload(str(value))
        elif name == "staged" and isinstance(value, int):
            self.set_session(staged=value)
        elif name == "unlock" and (engine := self.session.engine) is not None:
            engine.unlock()
            if (info := self.session.info) is not None:
                self.set_session(info=replace(info, read_only=False))

    def action_open_demo(self) -> None:
        self.take("demo")

    def action_open_path(self) -> None:
        self.take("open")

    def _ask_store(self, fill: str) -> None:
        """Ask which store to open, or where to make one."""
        from memtui.tui.dialogs.open_store import OpenStore

        def opened(answer: tuple[str, str] | None) -> None:
            if answer is not None:
                self.take(*answer)

        self.push_screen(OpenStore(self._as_left.recent(), self.environ, Path.cwd(), fill), opened)

    async def on_show_in_browse(self, message: ShowInBrowse) -> None:
        await self._hand_over("browse", message)

    async def on_show_memory(self, message: ShowMemory) -> None:
        await self._hand_over("browse", message)

    async def on_show_entry(self, message: ShowEntry) -> None:
        await self._hand_over("journal", message)

    async def on_show_finding(self, message: ShowFinding) -> None:
        await self._hand_over("health", message)

    async def on_show_reach(self, message: ShowReach) -> None:
        await self._hand_over("audit", message)

    async def on_ask_recall(self, message: AskRecall) -> None:
        await self._hand_over("recall", message)

    async def on_ask_capture(self, message: AskCapture) -> None:
        await self._hand_over("capture", message)

    async def on_open_bisect(self, message: OpenBisect) -> None:
        await self._hand_over("recall", message)

    async def on_open_blame(self, message: OpenBlame) -> None:
        """The cause of a sentence, over the screen where one is; what was opened over that is about something else."""
        from memtui.tui.dialogs.text_prompt import TextPrompt
        from memtui.tui.screens.blame.state import HINT, OF_A_TURN

        while len(self.screen_stack) > 1:
            await self.pop_screen()
        engine, mode = self.session.engine, getattr(self.screen, "MODE", "audit")
        if engine is None or not self.session.open:
            self.say("The store is not open yet.", "note")
        elif message.sentence:
            from memtui.tui.screens.blame.screen import BlameScreen

            await self.push_screen(
                BlameScreen(engine, message.sentence, message.session, message.turn, mode=mode)
            )
        else:

            def taken(sentence: str | None) -> None:
                if sentence:
                    self.post_message(replace(message, sentence=sentence))

            hint = OF_A_TURN if message.answer else HINT
            await self.push_screen(TextPrompt("Wrong answer", hint, message.answer), taken)

    async def on_ask_import(self, message: AskImport) -> None:
        await self._hand_over("transfer", message)

    async def on_ask_export(self, message: AskExport) -> None:
        await self._hand_over("transfer", message)

    async def on_ask_why_not(self, message: AskWhyNot) -> None:
        await self._hand_over("recall", message)

    async def _hand_over(self, mode: str, message: Any) -> None:
        """Switch to a screen, then let it `receive` the wish."""
        await self.switch_mode(mode)
        while len(self.screen_stack) > 1:  # what was opened over the screen is about something else
            await self.pop_screen()
        screen = self.screen
        if isinstance(screen, BaseScreen):
            screen.catch_up()
            screen.receive(message)

    async def action_go(self, mode: str) -> None:
        await self.switch_mode(mode)

    async def action_quit(self) -> None:
        if self._may_leave():
            await super().action_quit()

    def _may_leave(self) -> bool:
        """Whether no staged change is lost by it, or a person insists."""
        staged = self.session.staged
        if not staged or self._warned == staged:
            return True
        self._warned = staged
        cap = self.keys.cap("browse.staged")
        self.say(
            f"{staged:,} staged and not applied: {cap} in Browse shows them. Press it again to drop them.",
            "error",
        )
        return False

    def action_help(self) -> None:
        from memtui.tui.dialogs.help import HelpOverlay

        self.push_screen(HelpOverlay.of(self.screen))

    def action_tour(self) -> None:
        self._guide.start()

    def action_skip_tour(self) -> None:
        if not self._guide.running:
            self.say("no tour: the palette begins it at any time", "note")
        self._guide.stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "tour":
            return self.session.target == DEMO and self.session.open
        if action == "take_back" and not self.session.open:
            return None
        coming = self.session.target == DEMO and not self.session.stats and self._guide.coming
        return action != "skip_tour" or self._guide.running or coming

    def action_jump(self) -> None:
        from memtui.tui.jump import Jump, spots

        self.push_screen(Jump(spots(self.screen)))

    def action_palette(self, prefix: str = "") -> None:
        from memtui.tui.dialogs.palette import Palette

        self.push_screen(Palette(self.screen, prefix))

    def action_reload(self) -> None:
        if self.session.open:
            self._store.reload()
        elif self.session.phase == "failed":
            self._store.open(self.session.target or self._target)

    def action_take_back(self) -> None:
        if self.frame is not None:
            self.frame.undo_last()

    def action_make_again(self) -> None:
        if self.frame is not None:
            self.frame.action_redo()

    def action_next_theme(self) -> None:
        self.theme = self._themes.after(self.theme)
        self.say(f"theme {self.theme}", "note")

    def store_opened(self) -> None:
        """A store was read for the first time: say what an earlier session left behind."""
        from memtui.tui.startup.last_session import look_for_mishaps

        engine = self.session.engine
        if self._wanted_mode:
            self.call_next(self.switch_mode, self._wanted_mode)
            self._wanted_mode = ""
        if engine is not None and not engine.locked:
            self.run_worker(look_for_mishaps(self, engine), group="mishaps", exclusive=True)


def run(target: str | None = None, *, mouse: bool = True, **options: Any) -> None:
    """Run the app on `target` (None: the discovered store) until the person quits.

    Without `mouse` the terminal keeps it, for selecting text. `options` are those of `open_engine`: settings, table,
    columns, writable.
    """
    from memtui.paths import keys_file, themes_dir

    settings = options.get("settings")
    opener = real_opener(os.environ, Path.cwd(), **options)
    keys = load_keys(keys_file(), settings.keys if settings is not None else "default")
    kept = app_state()
    look = Appearance.of(settings, kept.read())
    themes = themes_dir()
    app = MemtuiApp(target, opener=opener, themes=themes, look=look, keys=keys, kept=kept, steady=True)
    if sys.platform != "win32":
        from memtui.tui.startup.terminal import give_back

        give_back(app)
    app.run(mouse=mouse)


# Copying, whichever way works here or is set: the system clipboard, or the terminal's (OSC 52).

_OSC52_LIMIT = 74_000
"""Terminals and multiplexers drop longer OSC 52 sequences without a word."""


async def copy(app: App[None], text: str, environ: Mapping[str, str] = os.environ, way: str = "auto") -> str:
    """Copy `text` and say where to; raises `ValueError` when that cannot be done.

    `way` as in the settings: auto, osc52, native or off; `MEMTUI_CLIPBOARD` in `environ` comes first. With auto, over
    SSH and in a browser the system clipboard is the wrong machine's, so the terminal's is used. The system's is
    reached through a program of its own, which may be slow: it runs in a thread.
    """
    way = environ.get("MEMTUI_CLIPBOARD", way)
    if way == "off":
        raise ValueError('copying is switched off (clipboard = "off" in the settings)')
    far = app.is_web or environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")
    if way == "native" or (way != "osc52" and not far):
        if await asyncio.to_thread(_native, text):
            return "clipboard"
        if way == "native":
            raise ValueError("there is no clipboard program here (xclip, xsel, wl-copy)")
    if len(text.encode("utf-8", "replace")) > _OSC52_LIMIT:
        raise ValueError("too long for the terminal's clipboard, and there is no system clipboard here")
    app.copy_to_clipboard(text)
    if app.is_web:
        return "clipboard of the browser"
    return "terminal clipboard; tmux needs set-clipboard on" if environ.get("TMUX") else "terminal clipboard"


def _native(text: str) -> bool:
    import pyperclip

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError, UnicodeError):
        return False
    return True


# The terminal lent to another program: the user's editor.


def in_editor(app: App[Any], text: str, environ: Mapping[str, str]) -> str:
    """`text` as the user left it in the editor; MemtuiError when it fails, or where the app cannot step aside."""
    failed: Exception | None = None
    left = text
    try:
        with app.suspend():
            try:
                left = edited_text(text, environ)
            except Exception as error:  # Textual comes back to the screen only when the block ends well
                failed = error
    except SuspendNotSupported as error:
        raise MemtuiError("No editor can be opened from here.", fix="Change the text in the form.") from error
    if failed is not None:
        raise failed
    return left


# What a person sees when the app stops by a fault of its own: where it was, and no value of theirs.

_HERE = str(Path(__file__).parents[1])


def stopped(error: BaseException) -> str:
    """Some lines about `error`: its words (secrets masked), the places in memtui, and what to do."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_HERE)] or list(frames)
    places = [
        f"  memtui{each.filename.removeprefix(_HERE)}:{each.lineno} in {each.name}" for each in ours[-6:]
    ]
    words = one_line(mask(str(error))[0])[:300]
    return "\n".join(
        [
            f"memtui stopped by a fault of its own: {type(error).__name__}: {words}",
            *places,
            "A change that had begun is finished or undone at the next start. Report these lines.",
        ]
    )
