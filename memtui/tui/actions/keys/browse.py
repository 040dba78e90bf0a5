"""Keys of Browse and its panels."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, FIND, GO, MOVE, VIEW, Action

TABLE: tuple[Action, ...] = (
    # Browse
    Action("browse.filter", "slash", "filter", FIND, bar=10),
    Action("browse.clear-filter", "escape", "clear marks, filter; step back", FIND),
    Action("browse.scopes", "left_square_bracket", "scopes", VIEW, bar=50),
    Action("browse.detail", "right_square_bracket", "detail", VIEW),
    Action("browse.zoom", "z", "zoom", VIEW, help="the focused panel fills the screen"),
    Action("browse.sort", "s", "sort", VIEW, bar=30, help="choose the order"),
    Action("browse.reverse", "S", "reverse the order", VIEW),
    Action("browse.narrower", "less_than_sign", "narrower side panels", VIEW, shown="<"),
    Action("browse.wider", "greater_than_sign", "wider side panels", VIEW, shown=">"),
    Action("browse.ask", "R", "recall this text", ACT, help="ask Recall the text under the cursor"),
    Action("browse.reach", "", "who got it", GO, help="in Audit: the turns and agents that a memory reached"),
    Action(
        "browse.why-not", "N", "why not recalled", GO, help="why it does not come back for the last question"
    ),
    Action(
        "browse.change", "c", "change", ACT, bar=25, help="the marked memories, or the one under the cursor"
    ),
    Action("browse.edit", "e", "edit", ACT, bar=24, help="text and fields of this memory, in a form"),
    Action("browse.external", "o", "text in $EDITOR", ACT),
    Action("browse.forget", "D", "forget", ACT, bar=26, help="archive, delete, or delete with every trace"),
    Action("browse.export", "x", "export", GO, help="the marked memories, or all of the list, to a file"),
    Action("browse.views", "w", "views", FIND, help="lists saved under a name: filter, scopes and order"),
    Action(
        "browse.neighbours",
        "K",
        "nearest",
        GO,
        help="the five memories nearest in meaning, and a merge with them",
    ),
    Action("browse.mend", "m", "mend", GO, bar=45, help="duplicates, noise, secrets, trash"),
    Action(
        "browse.staged",
        "C",
        "staged changes",
        ACT,
        help="every row with its diff and effect: drop, edit, or apply them as one change",
        needs="changes staged from the look at a change",
    ),
    Action(
        "browse.undo",
        "u,ctrl+z",
        "undo",
        ACT,
        help="take back the last change, after a look at it",
        shown="u",
    ),
    Action("browse.redo", "U", "redo", ACT, help="make again what was taken back"),
    # the filter line while it is typed
    Action("filter.take", "enter", "to the list", FIND, bar=10),
    Action("filter.earlier", "up", "earlier filter", FIND, bar=25, shown="↑"),
    Action("filter.later", "down", "later filter, or to the list", FIND, shown="↓"),
    Action("filter.complete", "tab", "complete", FIND, bar=20),
    Action("filter.cancel", "escape", "take it back", FIND, bar=30),
    # the list of memories
    Action("list.down", "j,down", "next", MOVE, shown="j ↓"),
    Action("list.up", "k,up", "previous", MOVE, shown="k ↑"),
    Action("list.page-down", "pagedown,ctrl+f", "page down", MOVE, shown="pgdn"),
    Action("list.page-up", "pageup,ctrl+b", "page up", MOVE, shown="pgup"),
    Action("list.half-down", "ctrl+d", "half a page down", MOVE),
    Action("list.half-up", "ctrl+u", "half a page up", MOVE),
    Action("list.first", "g,home", "first", MOVE, shown="g"),
    Action("list.last", "G,end", "last", MOVE, shown="G"),
    Action("list.left", "h,left", "to the scopes", MOVE, shown="h"),
    Action("list.right", "l,right,enter", "open", MOVE, bar=20, shown="enter"),
    Action("list.copy", "y", "copy", ACT, bar=40, help="id, text or JSON"),
    Action("list.mark", "space", "mark", ACT, bar=22, shown="space"),
    Action("list.mark-range", "v", "mark a range", ACT, help="once at each end"),
    Action("list.mark-all", "asterisk", "mark all of the filter", ACT, shown="*"),
    Action("list.invert-marks", "tilde", "invert the marks", ACT, shown="~", help="within the filter"),
    # scopes and facets
    Action("scopes.down", "j,down", "next", MOVE, shown="j ↓"),
    Action("scopes.up", "k,up", "previous", MOVE, shown="k ↑"),
    Action("scopes.first", "g,home", "first", MOVE, shown="g"),
    Action("scopes.last", "G,end", "last", MOVE, shown="G"),
    Action("scopes.page-down", "pagedown,ctrl+d", "page down", MOVE, shown="pgdn"),
    Action("scopes.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Action("scopes.open", "l,right", "unfold, or to the list", MOVE, shown="l"),
    Action("scopes.close", "h,left", "fold", MOVE, shown="h"),
    Action("scopes.choose", "enter,space", "narrow to this", FIND, bar=20, shown="enter"),
    Action("scopes.copy", "y", "copy the name", ACT),
    # the nearest memories
    Action("near.open", "enter,space", "show it", GO, bar=20, shown="enter"),
    Action(
        "near.merge",
        "M",
        "merge with it",
        ACT,
        bar=22,
        help="the one that counts more survives; after a look at it",
    ),
    # one memory in full
    Action("detail.down", "j,down", "scroll down", MOVE, shown="j ↓"),
    Action("detail.up", "k,up", "scroll up", MOVE, shown="k ↑"),
    Action("detail.page-down", "pagedown,ctrl+d,space", "page down", MOVE, shown="pgdn"),
    Action("detail.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Action("detail.first", "g,home", "top", MOVE, shown="g"),
    Action("detail.last", "G,end", "bottom", MOVE, shown="G"),
    Action("detail.left", "h,left,escape", "back to the list", MOVE, shown="h esc"),
    Action("detail.next", "n", "next", MOVE, bar=20),
    Action("detail.previous", "p", "previous", MOVE, bar=25),
    Action("detail.older", "comma", "what it supersedes", GO, needs="a memory that supersedes another"),
    Action("detail.newer", "full_stop", "what supersedes it", GO, needs="a memory that was superseded"),
    Action("detail.copy", "y", "copy", ACT, bar=40, help="id, text or JSON"),
)
