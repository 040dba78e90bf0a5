"""Keys of what is opened over Recall: the comparison, the cases, the rank over versions."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, MOVE, VIEW, Key

_PAIR, _CASE, _BLOCK = "a second side", "a saved case", "the plugin's block"

TABLE: tuple[Key, ...] = (
    # two recalls side by side
    Key("compare.other", "C", "compare with another", ACT, bar=10),
    Key("compare.settings", "p", "change a setting", ACT, bar=20, help="of B, or of A as a new B"),
    Key("compare.swap", "percent_sign", "swap A and B", ACT, bar=30, needs=_PAIR),
    Key(
        "compare.turn",
        "b",
        "A, B, what differs",
        VIEW,
        bar=35,
        help="what the lower panel tells",
        needs=_PAIR,
    ),
    Key("compare.again", "ctrl+r", "run both again", ACT, bar=40, shown="^r", needs=_PAIR),
    Key(
        "compare.explain",
        "x",
        "explain",
        VIEW,
        help="every stage of the selected memory, on this side",
        needs=_PAIR,
    ),
    Key("compare.browse", "v", "show in Browse", GO, needs=_PAIR),
    Key("compare.previous", "left_square_bracket", "previous memory", MOVE, shown="[", needs=_PAIR),
    Key("compare.next", "right_square_bracket", "next memory", MOVE, shown="]", needs=_PAIR),
    Key("compare.left", "h,left", "to A's list", MOVE, shown="h ←", needs=_PAIR),
    Key("compare.right", "l,right", "to B's list", MOVE, shown="l →", needs=_PAIR),
    Key("compare.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen", needs=_PAIR),
    Key("compare.back", "escape", "back to Recall", MOVE, bar=70, shown="esc"),
    Key(
        "compare.cases",
        "T",
        "run on the cases",
        GO,
        bar=50,
        help="both sides on every saved case",
        needs=_PAIR,
    ),
    # saved cases
    Key("cases.run", "R", "run all", ACT, bar=10, needs=_CASE),
    Key("cases.other", "C", "compare with", ACT, bar=20, help="another recipe or configuration as B"),
    Key("cases.first", "e", "recipe of A", ACT, bar=25),
    Key("cases.how-many", "K", "how many count", ACT, bar=30, help="the k of hit@k"),
    Key(
        "cases.tune",
        "T",
        "search settings",
        ACT,
        bar=35,
        help="better ones, judged on cases kept apart",
        needs=_CASE,
    ),
    Key(
        "cases.copy",
        "y",
        "copy the block",
        ACT,
        bar=40,
        help="the settings that were found",
        needs="settings that were found",
    ),
    Key("cases.turn", "b", "measures, case", VIEW, bar=45, help="what the lower panel tells", needs=_CASE),
    Key("cases.import", "i", "import", ACT, help="cases from a file of JSON lines"),
    Key("cases.remove", "D", "remove", ACT, bar=60, help="this case; u puts it back", needs=_CASE),
    Key(
        "cases.put-back",
        "u",
        "put back",
        ACT,
        bar=61,
        help="the case that was removed",
        needs="a case that was removed",
    ),
    Key("cases.back", "escape", "stop, or back", MOVE, bar=70, shown="esc"),
    # one memory's rank over the versions
    Key(
        "bisect.compare",
        "c",
        "before and after",
        VIEW,
        bar=10,
        help="the version that changed it beside the one before",
        needs="a version that changed it",
    ),
    Key("bisect.since", "d", "when it was right", ACT, bar=20),
    Key(
        "bisect.settings",
        "f",
        "settings then",
        ACT,
        bar=30,
        help="from a file, as they were when it was right",
    ),
    Key("bisect.again", "ctrl+r", "look again", ACT, bar=40, shown="^r"),
    Key("bisect.browse", "v", "show in Browse", GO),
    Key("bisect.back", "escape", "stop, or back", MOVE, bar=70, shown="esc"),
    # what the agent would see
    Key("injected.mode", "m", "mode", ACT, bar=10, help="full, summary, adaptive, off", needs=_BLOCK),
    Key("injected.more", "plus", "one more", ACT, bar=20, shown="+", needs=_BLOCK),
    Key("injected.fewer", "minus", "one fewer", ACT, bar=21, shown="-", needs=_BLOCK),
    Key("injected.larger", "greater_than_sign", "more room", ACT, bar=30, shown=">", needs=_BLOCK),
    Key("injected.smaller", "less_than_sign", "less room", ACT, bar=31, shown="<", needs=_BLOCK),
    Key("injected.copy", "y", "copy", ACT, bar=40, help="the block as it goes out"),
    Key("injected.close", "escape,q,I", "close", GO, bar=50, shown="esc"),
    # a chooser for many things
    Key("find.close", "escape", "close", GO, bar=20, shown="esc"),
)
