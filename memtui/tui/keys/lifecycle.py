"""Keys of Lifecycle and its panels."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, MOVE, VIEW, WRITES, Key

_MEMORY = "a memory under the cursor"

TABLE: tuple[Key, ...] = (
    # Lifecycle
    Key("lifecycle.panel-before", "left_square_bracket", "previous panel", VIEW, shown="["),
    Key("lifecycle.panel-after", "right_square_bracket", "next panel", VIEW, bar=30, shown="]"),
    Key(
        "lifecycle.aside", "e", "flow, numbers, history, findings", VIEW, help="what stands below the curves"
    ),
    Key("lifecycle.view", "v", "forecast or plan", VIEW, bar=20, help="what will change, or what is due now"),
    Key("lifecycle.measure", "m", "measure", VIEW, bar=45, help="composite, recency, or weight in recall"),
    Key("lifecycle.chart", "c", "next chart", VIEW, help="calendar, ages, use, growth"),
    Key("lifecycle.longer", "greater_than_sign", "further ahead", ACT, shown=">"),
    Key("lifecycle.shorter", "less_than_sign", "less far", ACT, shown="<"),
    Key("lifecycle.later", "plus", "as of a later day", ACT, shown="+"),
    Key("lifecycle.sooner", "minus", "less late", ACT, shown="-"),
    Key("lifecycle.scenario", "n", "unused, or used as before", ACT),
    Key("lifecycle.scope", "s", "scope", ACT, help="only the memories of one scope"),
    Key("lifecycle.whatif", "w", "what if", ACT, bar=35, help="turn the settings and see what they do"),
    Key(
        "lifecycle.reset",
        "0",
        "own settings",
        ACT,
        help="take back everything that was tried",
        needs="a setting that was tried",
    ),
    Key(
        "lifecycle.remedy",
        "p",
        "remedy",
        ACT,
        bar=40,
        help="pin, touch, raise or promote: the curve it gives",
    ),
    Key(
        "lifecycle.act",
        "a",
        "keep or forget",
        ACT,
        bar=25,
        help="pin, touch, raise, promote, archive or forget it",
        needs=WRITES,
    ),
    Key(
        "lifecycle.sweep",
        "S",
        "sweep",
        ACT,
        bar=55,
        help="move memories to the tiers the rules want",
        needs=WRITES,
    ),
    Key(
        "lifecycle.undo",
        "u,ctrl+z",
        "undo",
        ACT,
        help="take back the last change or decision",
        needs=WRITES,
        shown="u",
    ),
    Key("lifecycle.redo", "U", "redo", ACT, help="make again what was taken back", needs=WRITES),
    Key("lifecycle.review", "W", "weekly review", GO, bar=50, help="what to look at first, and why"),
    Key("lifecycle.browse", "b", "show in Browse", GO, needs=_MEMORY),
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
    Key("review.fix", "f", "fix", ACT, bar=12, help="change a field of it; b opens it in Browse"),
    Key("review.merge", "M", "merge", ACT, help="with the memory that contradicts or replaces it"),
    Key("review.archive", "a", "archive", ACT, bar=13),
    Key("review.pin", "p", "pin", ACT, bar=14),
    Key("review.forget", "x", "forget", ACT, bar=15, help="delete it for good; undo brings it back"),
)
