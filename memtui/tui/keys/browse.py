"""Keys of Browse and its panels."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, FIND, GO, MOVE, VIEW, Key

TABLE: tuple[Key, ...] = (
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
    Key(
        "browse.why-not", "N", "why not recalled", GO, help="why it does not come back for the last question"
    ),
    Key("browse.change", "c", "change", ACT, bar=25, help="the marked memories, or the one under the cursor"),
    Key("browse.edit", "e", "edit", ACT, bar=24, help="text and fields of this memory, in a form"),
    Key("browse.external", "o", "text in $EDITOR", ACT),
    Key("browse.forget", "D", "forget", ACT, bar=26, help="archive, delete, or delete with every trace"),
    Key("browse.views", "w", "views", FIND, help="lists saved under a name: filter, scopes and order"),
    Key(
        "browse.neighbours",
        "K",
        "nearest",
        GO,
        help="the five memories nearest in meaning, and a merge with them",
    ),
    Key("browse.mend", "m", "mend", GO, bar=45, help="duplicates, noise, secrets, trash"),
    Key("browse.undo", "u", "undo", ACT, help="take back the last change, after a look at it"),
    Key("browse.redo", "U", "redo", ACT, help="make again what was taken back"),
    # the filter line while it is typed
    Key("filter.take", "enter", "to the list", FIND, bar=10),
    Key("filter.earlier", "up", "earlier filter", FIND, bar=25, shown="↑"),
    Key("filter.later", "down", "later filter, or to the list", FIND, shown="↓"),
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
    # the nearest memories
    Key("near.open", "enter,space", "show it", GO, bar=20, shown="enter"),
    Key(
        "near.merge",
        "M",
        "merge with it",
        ACT,
        bar=22,
        help="the one that counts more survives; after a look at it",
    ),
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
    Key("detail.older", "comma", "what it supersedes", GO, needs="a memory that supersedes another"),
    Key("detail.newer", "full_stop", "what supersedes it", GO, needs="a memory that was superseded"),
    Key("detail.copy", "y", "copy", ACT, bar=40, help="id, text or JSON"),
)
