"""Keys of the dialogs, the overlays and the palette."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, FIND, GO, MOVE, Key

TABLE: tuple[Key, ...] = (
    # a list of which several can be chosen
    Key("choice.mark", "space", "mark", ACT, bar=10, shown="space"),
    Key("choice.take", "enter", "take the marked", ACT, bar=20, shown="enter"),
    Key("choice.close", "escape,q", "close", GO, bar=30, shown="esc"),
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
    Key(
        "change.apply",
        "enter",
        "apply",
        ACT,
        bar=10,
        needs="no conflicts, no deletion to agree to, no staged change of the same memory",
    ),
    Key("change.agree", "y", "delete them", ACT, bar=11, needs="a deletion of fewer than 20"),
    Key(
        "change.stage",
        "s",
        "stage",
        ACT,
        bar=12,
        help="keep it with other changes, to be applied together",
        needs="a change that can wait: no undo, no conflicts",
    ),
    Key(
        "change.drop",
        "d",
        "drop this row",
        ACT,
        bar=15,
        help="from the change set: its memory stays as it is",
        needs="several rows, one under the cursor",
    ),
    Key("change.stopped", "Y", "apply: the agent is stopped", ACT, needs="an agent to be stopped"),
    Key("change.leave-out", "x", "leave the conflicts out", ACT, needs="conflicts beside other rows"),
    Key("change.force", "f", "overwrite what others changed", ACT, needs="rows that others changed"),
    Key("change.close", "escape,q", "change nothing", GO, bar=20, shown="esc"),
    # what is staged
    Key("staged.amend", "e", "edit this row", ACT, bar=16, needs="a memory that stays, under the cursor"),
    Key("staged.clear", "X", "drop all", ACT, help="nothing of it is made"),
    # one memory of the store
    Key("memories.close", "escape", "close", GO, bar=20, shown="esc"),
    # a memory in the form
    Key("edit.review", "ctrl+s", "look at the change", ACT, bar=10, shown="^s"),
    Key("edit.external", "ctrl+o", "the text in $EDITOR", ACT, bar=20, shown="^o"),
    Key("edit.close", "escape", "close", GO, bar=30, shown="esc"),
    # one line of text
    Key("ask.close", "escape", "close", GO, bar=10, shown="esc"),
    # letters on everything that can be gone to
    Key("jump.close", "escape", "close", GO, bar=10, shown="esc"),
    # overlays that only close
    Key("overlay.close", "escape,q,question_mark,f1", "close", GO, bar=10, shown="esc"),
    # the keys of a panel
    Key("help.search", "slash", "search", FIND, bar=20),
    Key("help.topics", "t", "topics", GO, bar=30, help="how to do a task"),
    # a topic of the help
    Key("topic.down", "j,down", "scroll down", MOVE, shown="j ↓"),
    Key("topic.up", "k,up", "scroll up", MOVE, shown="k ↑"),
    Key("topic.page-down", "pagedown,ctrl+d,space", "page down", MOVE, shown="pgdn"),
    Key("topic.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Key("topic.first", "g,home", "top", MOVE, shown="g"),
    Key("topic.last", "G,end", "bottom", MOVE, shown="G"),
    # the palette
    Key("palette.down", "down,ctrl+n", "next", MOVE, shown="↓"),
    Key("palette.up", "up,ctrl+k", "previous", MOVE, shown="↑"),
    Key("palette.page-down", "pagedown", "page down", MOVE),
    Key("palette.page-up", "pageup", "page up", MOVE),
    Key("palette.group", "tab", "next group", FIND),
    Key("palette.copy", "ctrl+y", "copy its id", ACT, shown="^y"),
    Key("palette.close", "escape,ctrl+p", "close", GO, bar=20, shown="esc"),
)
