"""Keys of Recall and its panels."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, FIND, GO, MOVE, VIEW, Key

_ANSWER = "a question that was answered"

TABLE: tuple[Key, ...] = (
    # Recall
    Key("recall.ask", "slash", "question", FIND, bar=10),
    Key("recall.again", "ctrl+r", "run again", ACT, bar=45, shown="^r", needs=_ANSWER),
    Key(
        "recall.missing", "m", "missing", VIEW, bar=30, help="what did not come back, and why", needs=_ANSWER
    ),
    Key(
        "recall.why-not",
        "n",
        "why not",
        VIEW,
        bar=32,
        help="the gate that stopped a memory, the smallest change",
    ),
    Key(
        "recall.what-if",
        "w",
        "what if",
        VIEW,
        bar=34,
        help="settings, clock and version as sliders",
    ),
    Key("recall.more-like", "M", "more like this", ACT, help="the memory's own vector as the question"),
    Key("recall.settings", "p", "settings", VIEW, bar=35, help="the recipe as it was resolved"),
    Key("recall.recipe", "e", "recipe", ACT, bar=40, help="which pipeline answers"),
    Key("recall.scope", "s", "scopes", ACT, help="whose memories are searched"),
    Key("recall.category", "t", "category", ACT, help="only one kind of memory"),
    Key("recall.source", "a", "who asks", ACT, help="the caller that the recipe stands for"),
    Key("recall.limit", "K", "how many", ACT, help="how many memories to return"),
    Key("recall.more", "plus", "one more", ACT, shown="+"),
    Key("recall.fewer", "minus", "one fewer", ACT, shown="-"),
    Key("recall.previous", "left_square_bracket", "previous result", MOVE, shown="[", needs=_ANSWER),
    Key("recall.next", "right_square_bracket", "next result", MOVE, shown="]", needs=_ANSWER),
    Key("recall.explain", "x", "explain", VIEW, help="every stage of the selected memory", needs=_ANSWER),
    Key(
        "recall.compare",
        "C",
        "compare",
        VIEW,
        bar=37,
        help="with another recipe, other settings, version or time",
    ),
    Key(
        "recall.injected", "I", "what the agent sees", VIEW, help="the block before its prompt", needs=_ANSWER
    ),
    Key(
        "recall.bisect",
        "B",
        "bisect",
        VIEW,
        help="this memory's rank over the table's versions",
        needs=_ANSWER,
    ),
    Key("recall.receipts", "S", "receipts", ACT, help="save, replay or open a recall"),
    Key("recall.history", "H", "history", FIND, help="questions that were asked, to be asked again"),
    Key("recall.cases", "T", "cases", GO, help="saved questions: run, compared, tuned"),
    Key("recall.right", "o", "right", ACT, bar=42, help="this memory belongs in the answer: saved as a case"),
    Key("recall.wrong", "f", "wrong", ACT, bar=43, help="this memory does not belong in the answer"),
    Key("recall.expected", "E", "expected", ACT, help="a memory that should have come back"),
    Key(
        "recall.expect-nothing", "0", "expect nothing", ACT, help="nothing should come back for this question"
    ),
    Key("recall.browse", "v", "show in Browse", GO, bar=31, help="to mend it there", needs=_ANSWER),
    Key("recall.copy", "y", "copy", ACT, bar=50, help="id, text or the whole trace", needs=_ANSWER),
    Key("recall.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen", needs=_ANSWER),
    Key("recall.back", "escape", "step back", MOVE),
    # why not
    Key("whynot.pick", "slash,n", "another memory", FIND, bar=20, shown="/"),
    Key("whynot.again", "ctrl+r", "ask again", ACT, shown="^r"),
    Key("whynot.browse", "v", "show in Browse", GO, bar=30),
    Key("whynot.copy", "y", "copy", ACT, bar=40, help="the verdict as JSON"),
    Key("whynot.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("whynot.back", "escape", "stop, or back", GO, bar=50, shown="esc"),
    Key(
        "changes.open",
        "enter,space",
        "try it",
        ACT,
        bar=10,
        shown="enter",
        help="the change, or stage it",
    ),
    # what if
    Key("whatif.next-flip", "greater_than_sign", "to the next flip point", ACT, bar=20, shown=">"),
    Key("whatif.previous-flip", "less_than_sign", "to the one before", ACT, bar=21, shown="<"),
    Key("whatif.reset", "0", "all back", ACT, bar=30, help="every setting at its own value"),
    Key("whatif.why-not", "n", "why not", VIEW, bar=40, help="the selected memory under these settings"),
    Key("whatif.copy", "y", "copy", ACT, bar=45, help="the tried settings, to paste into a configuration"),
    Key("whatif.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen"),
    Key("whatif.back", "escape", "back, with these", GO, bar=50, shown="esc"),
    Key("settings.open", "enter,space", "set it", ACT, bar=10, shown="enter"),
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
    Key("rows.open", "enter,space", "open", VIEW, bar=20, shown="enter"),
    # every stage of one memory
    Key("ledger.next", "n,right_square_bracket", "next", MOVE, bar=20, shown="n"),
    Key("ledger.previous", "p,left_square_bracket", "previous", MOVE, bar=25, shown="p"),
    Key("ledger.copy", "y", "copy", ACT, bar=40, help="this account as JSON"),
    Key("ledger.close", "escape,q,enter,x", "close", GO, bar=50, shown="esc"),
)
