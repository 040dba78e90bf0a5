"""Keys of Lifecycle and its panels."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, MOVE, VIEW, WRITES, Action

_MEMORY = "a memory under the cursor"

TABLE: tuple[Action, ...] = (
    # Lifecycle
    Action("lifecycle.panel-before", "left_square_bracket", "previous panel", VIEW, shown="["),
    Action("lifecycle.panel-after", "right_square_bracket", "next panel", VIEW, bar=30, shown="]"),
    Action(
        "lifecycle.aside", "e", "flow, numbers, history, findings", VIEW, help="what stands below the curves"
    ),
    Action(
        "lifecycle.view", "v", "forecast or plan", VIEW, bar=20, help="what will change, or what is due now"
    ),
    Action("lifecycle.measure", "m", "measure", VIEW, bar=45, help="composite, recency, or weight in recall"),
    Action("lifecycle.chart", "c", "next chart", VIEW, help="calendar, ages, use, growth"),
    Action("lifecycle.longer", "greater_than_sign", "further ahead", ACT, shown=">"),
    Action("lifecycle.shorter", "less_than_sign", "less far", ACT, shown="<"),
    Action("lifecycle.later", "plus", "as of a later day", ACT, shown="+"),
    Action("lifecycle.sooner", "minus", "less late", ACT, shown="-"),
    Action("lifecycle.scenario", "n", "unused, or used as before", ACT),
    Action("lifecycle.scope", "s", "scope", ACT, help="only the memories of one scope"),
    Action("lifecycle.whatif", "w", "what if", ACT, bar=35, help="turn the settings and see what they do"),
    Action(
        "lifecycle.reset",
        "0",
        "own settings",
        ACT,
        help="take back everything that was tried",
        needs="a setting that was tried",
    ),
    Action(
        "lifecycle.remedy",
        "p",
        "remedy",
        ACT,
        bar=40,
        help="pin, touch, raise or promote: the curve it gives",
    ),
    Action(
        "lifecycle.act",
        "a",
        "keep or forget",
        ACT,
        bar=25,
        help="pin, touch, raise, promote, archive or forget it",
        needs=WRITES,
    ),
    Action(
        "lifecycle.sweep",
        "S",
        "sweep",
        ACT,
        bar=55,
        help="move memories to the tiers the rules want",
        needs=WRITES,
    ),
    Action(
        "lifecycle.undo",
        "u,ctrl+z",
        "undo",
        ACT,
        help="take back the last change or decision",
        needs=WRITES,
        shown="u",
    ),
    Action("lifecycle.redo", "U", "redo", ACT, help="make again what was taken back", needs=WRITES),
    Action("lifecycle.review", "W", "weekly review", GO, bar=50, help="what to look at first, and why"),
    Action("lifecycle.browse", "b", "show in Browse", GO, needs=_MEMORY),
    Action("lifecycle.copy", "y", "copy", ACT, help="id, numbers, plan, settings"),
    Action("lifecycle.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Action("lifecycle.back", "escape", "step back", MOVE),
    # the settings as sliders
    Action("knobs.less", "h,left", "less", ACT, bar=10, shown="h ←"),
    Action("knobs.more", "l,right", "more", ACT, bar=11, shown="l →"),
    Action("knobs.much-less", "H,shift+left", "much less", ACT, shown="H"),
    Action("knobs.much-more", "L,shift+right", "much more", ACT, shown="L"),
    Action("knobs.own", "backspace", "its own value", ACT, bar=12, shown="bksp"),
    # the curves
    Action("plot.left", "h,left", "probe to the left", MOVE, shown="h ←"),
    Action("plot.right", "l,right", "probe to the right", MOVE, bar=10, shown="l →"),
    Action("plot.far-left", "H,shift+left", "far to the left", MOVE, shown="H"),
    Action("plot.far-right", "L,shift+right", "far to the right", MOVE, shown="L"),
    Action("plot.none", "backspace", "no probe", MOVE, shown="bksp"),
    # the weekly review
    Action("review.keep", "i", "it is fine", ACT, bar=10),
    Action("review.skip", "s", "skip", ACT, bar=11, help="not now: it comes back in a week"),
    Action("review.fix", "f", "fix", ACT, bar=12, help="change a field of it; b opens it in Browse"),
    Action("review.merge", "M", "merge", ACT, help="with the memory that contradicts or replaces it"),
    Action("review.archive", "a", "archive", ACT, bar=13),
    Action("review.pin", "p", "pin", ACT, bar=14),
    Action("review.forget", "x", "forget", ACT, bar=15, help="delete it for good; undo brings it back"),
)
