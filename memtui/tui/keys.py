"""The one table of keys. Bindings, key bar, help and palette are made from it.

An id is `context.action`: the action method is `action_<action>` (dashes become underscores) of the widget
or screen that takes the context's bindings. Every id is unique; every key is unique within a context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """One action and the keys that do it.

    `bar` is its place in the key bar (1 first; 0 is not shown there). `shown` is how the keys are written
    for people; empty derives it from the first key. `group` is the heading in the help overlay.
    """

    id: str
    keys: str
    title: str
    group: str
    bar: int = 0
    shown: str = ""
    help: str = ""

    @property
    def context(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]

    @property
    def action(self) -> str:
        """The name that Textual calls: `action_<this>`."""
        return self.id.split(".", 1)[1].replace("-", "_")

    @property
    def caps(self) -> str:
        """The keys as printed on the screen."""
        return self.shown or " ".join(_cap(key) for key in self.keys.split(","))


_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "backslash": "\\",
    "full_stop": ".",
    "comma": ",",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "equals_sign": "=",
    "plus": "+",
    "minus": "-",
    "percent_sign": "%",
    "asterisk": "*",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def _cap(key: str) -> str:
    *modifiers, name = key.strip().split("+")
    name = _NAMES.get(name, name)
    if "ctrl" in modifiers:
        name = f"^{name}"
    return f"shift+{name}" if "shift" in modifiers else name


GO, MOVE, FIND, ACT, VIEW = "GO", "MOVE", "FIND", "ACT", "VIEW"

TABLE: tuple[Key, ...] = (
    # the app: everywhere, unless an input has the keyboard
    Key("app.go-home", "1", "Home", GO, shown="1"),
    Key("app.go-browse", "2", "Browse", GO, shown="2"),
    Key("app.go-recall", "3", "Recall", GO, shown="3"),
    Key("app.go-lifecycle", "4", "Lifecycle", GO, shown="4"),
    Key("app.palette", "ctrl+p,colon", "every command", GO, shown="^p :"),
    Key("app.help", "question_mark,f1", "help", GO, bar=90, shown="?"),
    Key("app.reload", "r", "reload", ACT, help="read the newest version of the store"),
    Key("app.next-theme", "f2", "next theme", VIEW),
    Key("app.quit", "q,ctrl+q", "quit", GO, shown="q"),
    # Home
    Key("home.filter", "slash", "filter memories", FIND, bar=10),
    Key("home.open-demo", "d", "demo store", ACT),
    Key("home.open-path", "o", "open a store", ACT, bar=40),
    # a list of links on Home
    Key("links.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("links.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("links.follow", "enter,space", "open in Browse", ACT, bar=20, shown="enter"),
    # Browse
    Key("browse.filter", "slash", "filter", FIND, bar=10),
    Key("browse.clear-filter", "escape", "clear marks, filter; step back", FIND),
    Key("browse.scopes", "left_square_bracket", "scopes", VIEW, bar=50),
    Key("browse.detail", "right_square_bracket", "detail", VIEW),
    Key("browse.zoom", "z", "zoom", VIEW, help="the focused panel fills the screen"),
    Key("browse.sort", "s", "sort", VIEW, bar=30, help="choose the order"),
    Key("browse.reverse", "S", "reverse the order", VIEW),
    Key("browse.narrower", "less_than_sign", "narrower side panels", VIEW, shown="<"),
    Key("browse.wider", "greater_than_sign", "wider side panels", VIEW, shown=">"),
    Key("browse.ask", "R", "recall this text", ACT, help="ask Recall the text under the cursor"),
    Key("browse.change", "c", "change", ACT, bar=25, help="the marked memories, or the one under the cursor"),
    Key("browse.undo", "u", "undo", ACT, help="take back the last change, after a look at it"),
    Key("browse.redo", "U", "redo", ACT, help="make again what was taken back"),
    # the filter line while it is typed
    Key("filter.take", "enter,down", "to the list", FIND, bar=10, shown="enter"),
    Key("filter.complete", "tab", "complete", FIND, bar=20),
    Key("filter.cancel", "escape", "take it back", FIND, bar=30),
    # the list of memories
    Key("list.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("list.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("list.page-down", "pagedown,ctrl+f", "page down", MOVE, shown="pgdn"),
    Key("list.page-up", "pageup,ctrl+b", "page up", MOVE, shown="pgup"),
    Key("list.half-down", "ctrl+d", "half a page down", MOVE),
    Key("list.half-up", "ctrl+u", "half a page up", MOVE),
    Key("list.first", "g,home", "first", MOVE, shown="g"),
    Key("list.last", "G,end", "last", MOVE, shown="G"),
    Key("list.left", "h,left", "to the scopes", MOVE, shown="h"),
    Key("list.right", "l,right,enter", "open", MOVE, bar=20, shown="enter"),
    Key("list.copy", "y", "copy", ACT, bar=40, help="id, text or JSON"),
    Key("list.mark", "space", "mark", ACT, bar=22, shown="space"),
    Key("list.mark-range", "v", "mark a range", ACT, help="once at each end"),
    Key("list.mark-all", "asterisk", "mark all of the filter", ACT, shown="*"),
    Key("list.invert-marks", "tilde", "invert the marks", ACT, shown="~", help="within the filter"),
    # scopes and facets
    Key("scopes.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("scopes.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("scopes.first", "g,home", "first", MOVE, shown="g"),
    Key("scopes.last", "G,end", "last", MOVE, shown="G"),
    Key("scopes.page-down", "pagedown,ctrl+d", "page down", MOVE, shown="pgdn"),
    Key("scopes.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Key("scopes.open", "l,right", "unfold, or to the list", MOVE, shown="l"),
    Key("scopes.close", "h,left", "fold", MOVE, shown="h"),
    Key("scopes.choose", "enter,space", "narrow to this", FIND, bar=20, shown="enter"),
    Key("scopes.copy", "y", "copy the name", ACT),
    # one memory in full
    Key("detail.down", "j,down", "scroll down", MOVE, shown="j ↓"),
    Key("detail.up", "k,up", "scroll up", MOVE, shown="k ↑"),
    Key("detail.page-down", "pagedown,ctrl+d,space", "page down", MOVE, shown="pgdn"),
    Key("detail.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Key("detail.first", "g,home", "top", MOVE, shown="g"),
    Key("detail.last", "G,end", "bottom", MOVE, shown="G"),
    Key("detail.left", "h,left,escape", "back to the list", MOVE, shown="h esc"),
    Key("detail.next", "n", "next", MOVE, bar=20),
    Key("detail.previous", "p", "previous", MOVE, bar=25),
    Key("detail.older", "o", "what it supersedes", GO),
    Key("detail.newer", "O", "what supersedes it", GO),
    Key("detail.copy", "y", "copy", ACT, bar=40, help="id, text or JSON"),
    # Recall
    Key("recall.ask", "slash", "question", FIND, bar=10),
    Key("recall.again", "ctrl+r", "run again", ACT, bar=45, shown="^r"),
    Key("recall.missing", "m", "missing", VIEW, bar=30, help="what did not come back, and why"),
    Key("recall.settings", "p", "settings", VIEW, bar=35, help="the recipe as it was resolved"),
    Key("recall.recipe", "e", "recipe", ACT, bar=40, help="which pipeline answers"),
    Key("recall.scope", "s", "scopes", ACT, help="whose memories are searched"),
    Key("recall.category", "t", "category", ACT, help="only one kind of memory"),
    Key("recall.source", "w", "who asks", ACT, help="the caller that the recipe stands for"),
    Key("recall.limit", "K", "how many", ACT, help="how many memories to return"),
    Key("recall.more", "plus", "one more", ACT, shown="+"),
    Key("recall.fewer", "minus", "one fewer", ACT, shown="-"),
    Key("recall.previous", "left_square_bracket", "previous result", MOVE, shown="["),
    Key("recall.next", "right_square_bracket", "next result", MOVE, shown="]"),
    Key("recall.explain", "x", "explain", VIEW, help="every stage of the selected memory"),
    Key("recall.browse", "v", "show in Browse", GO),
    Key("recall.copy", "y", "copy", ACT, bar=50, help="id, text or the whole trace"),
    Key("recall.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("recall.back", "escape", "step back", MOVE),
    # the question
    Key("question.run", "enter", "run", ACT, bar=10),
    Key("question.earlier", "up", "earlier question", FIND, bar=20, shown="↑"),
    Key("question.later", "down", "later question", FIND, bar=21, shown="↓"),
    Key("question.leave", "escape", "to the results", MOVE, bar=30, shown="esc"),
    # the options under the question
    Key("options.left", "h,left", "previous option", MOVE, shown="h ←"),
    Key("options.right", "l,right", "next option", MOVE, shown="l →"),
    Key("options.open", "enter,space", "choose", ACT, bar=10, shown="enter"),
    # results, dropped memories and stages of a recall
    Key("rows.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("rows.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("rows.page-down", "pagedown,ctrl+d", "page down", MOVE, shown="pgdn"),
    Key("rows.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Key("rows.first", "g,home", "first", MOVE, shown="g"),
    Key("rows.last", "G,end", "last", MOVE, shown="G"),
    Key("rows.open", "enter,space", "explain", VIEW, bar=20, shown="enter"),
    # Lifecycle
    Key("lifecycle.panel-before", "left_square_bracket", "previous panel", VIEW, shown="["),
    Key("lifecycle.panel-after", "right_square_bracket", "next panel", VIEW, bar=30, shown="]"),
    Key(
        "lifecycle.aside", "e", "flow, numbers, history, findings", VIEW, help="what stands below the curves"
    ),
    Key("lifecycle.view", "v", "forecast or plan", VIEW, bar=35, help="what will change, or what is due now"),
    Key("lifecycle.measure", "m", "measure", VIEW, bar=45, help="composite, recency, or weight in recall"),
    Key("lifecycle.chart", "c", "next chart", VIEW, help="calendar, ages, use, growth"),
    Key("lifecycle.longer", "greater_than_sign", "further ahead", ACT, shown=">"),
    Key("lifecycle.shorter", "less_than_sign", "less far", ACT, shown="<"),
    Key("lifecycle.later", "plus", "as of a later day", ACT, shown="+"),
    Key("lifecycle.sooner", "minus", "less late", ACT, shown="-"),
    Key("lifecycle.scenario", "u", "unused, or used as before", ACT),
    Key("lifecycle.scope", "s", "scope", ACT, help="only the memories of one scope"),
    Key("lifecycle.whatif", "w", "what if", ACT, bar=25, help="turn the settings and see what they do"),
    Key("lifecycle.reset", "0", "own settings", ACT, help="take back everything that was tried"),
    Key(
        "lifecycle.remedy",
        "p",
        "remedy",
        ACT,
        bar=40,
        help="pin, touch, raise or promote: the curve it gives",
    ),
    Key("lifecycle.review", "W", "weekly review", GO, bar=50, help="what to look at first, and why"),
    Key("lifecycle.browse", "b", "show in Browse", GO),
    Key("lifecycle.copy", "y", "copy", ACT, help="id, numbers, plan, settings"),
    Key("lifecycle.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("lifecycle.back", "escape", "step back", MOVE),
    # the settings as sliders
    Key("knobs.less", "h,left", "less", ACT, bar=10, shown="h ←"),
    Key("knobs.more", "l,right", "more", ACT, bar=11, shown="l →"),
    Key("knobs.much-less", "H,shift+left", "much less", ACT, shown="H"),
    Key("knobs.much-more", "L,shift+right", "much more", ACT, shown="L"),
    Key("knobs.own", "backspace", "its own value", ACT, bar=12, shown="bksp"),
    # the curves
    Key("plot.left", "h,left", "probe to the left", MOVE, shown="h ←"),
    Key("plot.right", "l,right", "probe to the right", MOVE, bar=10, shown="l →"),
    Key("plot.far-left", "H,shift+left", "far to the left", MOVE, shown="H"),
    Key("plot.far-right", "L,shift+right", "far to the right", MOVE, shown="L"),
    Key("plot.none", "backspace", "no probe", MOVE, shown="bksp"),
    # the weekly review
    Key("review.keep", "i", "it is fine", ACT, bar=10),
    Key("review.skip", "s", "skip", ACT, bar=11, help="not now: it comes back in a week"),
    Key("review.fix", "f", "fix in Browse", GO, bar=12),
    # a list of which several can be chosen
    Key("choice.mark", "space", "mark", ACT, bar=10, shown="space"),
    Key("choice.take", "enter", "take the marked", ACT, bar=20, shown="enter"),
    Key("choice.close", "escape,q", "close", GO, bar=30, shown="esc"),
    # every stage of one memory
    Key("ledger.next", "n,right_square_bracket", "next", MOVE, bar=20, shown="n"),
    Key("ledger.previous", "p,left_square_bracket", "previous", MOVE, bar=25, shown="p"),
    Key("ledger.copy", "y", "copy", ACT, bar=40, help="this account as JSON"),
    Key("ledger.close", "escape,q,enter,x", "close", GO, bar=50, shown="esc"),
    # a chooser (sort, copy)
    Key("pick.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("pick.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("pick.take", "enter", "take it", ACT, bar=10),
    Key("pick.close", "escape,q", "close", GO, bar=20, shown="esc"),
    # what a change will do
    Key("preview.down", "j,down", "scroll down", MOVE, shown="j ↓"),
    Key("preview.up", "k,up", "scroll up", MOVE, shown="k ↑"),
    Key("preview.page-down", "pagedown,ctrl+d,space", "page down", MOVE, shown="pgdn"),
    Key("preview.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Key("change.apply", "enter", "apply", ACT, bar=10),
    Key("change.stopped", "Y", "apply: the agent is stopped", ACT),
    Key("change.leave-out", "x", "leave the conflicts out", ACT),
    Key("change.force", "f", "overwrite what others changed", ACT),
    Key("change.close", "escape,q", "change nothing", GO, bar=20, shown="esc"),
    # one line of text
    Key("ask.close", "escape", "close", GO, bar=10, shown="esc"),
    # overlays that only close
    Key("overlay.close", "escape,q,question_mark,f1", "close", GO, bar=10, shown="esc"),
    # the palette
    Key("palette.down", "down,ctrl+n", "next", MOVE, shown="↓"),
    Key("palette.up", "up,ctrl+k", "previous", MOVE, shown="↑"),
    Key("palette.page-down", "pagedown", "page down", MOVE),
    Key("palette.page-up", "pageup", "page up", MOVE),
    Key("palette.close", "escape,ctrl+p", "close", GO, bar=20, shown="esc"),
    # what a panel says when it is empty or failed
    Key("state.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("state.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("state.take", "enter,space", "do it", ACT, bar=10, shown="enter"),
)

BY_ID: dict[str, Key] = {key.id: key for key in TABLE}


def context(name: str) -> Iterator[Key]:
    """The keys of one context, in the order of the table."""
    return (key for key in TABLE if key.context == name)


def bindings(*contexts: str, only: tuple[str, ...] = ()) -> list[BindingType]:
    """Textual bindings for whole contexts; `only` keeps these actions (as written in the table)."""
    return [
        Binding(
            key.keys,
            f"app.{key.action}" if key.context == "app" else key.action,
            key.title,
            show=key.bar > 0,
            key_display=key.caps,
            id=key.id,
        )
        for name in contexts
        for key in context(name)
        if not only or key.id.split(".", 1)[1] in only
    ]
