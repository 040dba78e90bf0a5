"""Keys of the dialogs, the overlays and the palette."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, FIND, GO, MOVE, Action

TABLE: tuple[Action, ...] = (
    # a list of which several can be chosen
    Action("choice.mark", "space", "mark", ACT, bar=10, shown="space"),
    Action("choice.take", "enter", "take the marked", ACT, bar=20, shown="enter"),
    Action("choice.close", "escape,q", "close", GO, bar=30, shown="esc"),
    # a chooser (sort, copy)
    Action("pick.down", "j,down", "next", MOVE, shown="j ↓"),
    Action("pick.up", "k,up", "previous", MOVE, shown="k ↑"),
    Action("pick.take", "enter", "take it", ACT, bar=10),
    Action("pick.close", "escape,q", "close", GO, bar=20, shown="esc"),
    # what a change will do
    Action("preview.down", "j,down", "scroll down", MOVE, shown="j ↓"),
    Action("preview.up", "k,up", "scroll up", MOVE, shown="k ↑"),
    Action("preview.page-down", "pagedown,ctrl+d,space", "page down", MOVE, shown="pgdn"),
    Action("preview.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Action(
        "change.apply",
        "enter",
        "apply",
        ACT,
        bar=10,
        needs="no conflicts, no deletion to agree to, no staged change of the same memory",
    ),
    Action("change.agree", "y", "delete them", ACT, bar=11, needs="a deletion of fewer than 20"),
    Action(
        "change.stage",
        "s",
        "stage",
        ACT,
        bar=12,
        help="keep it with other changes, to be applied together",
        needs="a change that can wait: no undo, no conflicts",
    ),
    Action(
        "change.drop",
        "d",
        "drop this row",
        ACT,
        bar=15,
        help="from the change set: its memory stays as it is",
        needs="several rows, one under the cursor",
    ),
    Action("change.stopped", "Y", "apply: the agent is stopped", ACT, needs="an agent to be stopped"),
    Action("change.leave-out", "x", "leave the conflicts out", ACT, needs="conflicts beside other rows"),
    Action("change.force", "f", "overwrite what others changed", ACT, needs="rows that others changed"),
    Action("change.close", "escape,q", "change nothing", GO, bar=20, shown="esc"),
    # what is staged
    Action("staged.amend", "e", "edit this row", ACT, bar=16, needs="a memory that stays, under the cursor"),
    Action("staged.clear", "X", "drop all", ACT, help="nothing of it is made"),
    # one memory of the store
    Action("memories.close", "escape", "close", GO, bar=20, shown="esc"),
    # a memory in the form
    Action("edit.review", "ctrl+s", "look at the change", ACT, bar=10, shown="^s"),
    Action("edit.external", "ctrl+o", "the text in $EDITOR", ACT, bar=20, shown="^o"),
    Action("edit.close", "escape", "close", GO, bar=30, shown="esc"),
    # one line of text
    Action("ask.close", "escape", "close", GO, bar=10, shown="esc"),
    # letters on everything that can be gone to
    Action("jump.close", "escape", "close", GO, bar=10, shown="esc"),
    # overlays that only close
    Action("overlay.close", "escape,q,question_mark,f1", "close", GO, bar=10, shown="esc"),
    # the keys of a panel
    Action("help.search", "slash", "search", FIND, bar=20),
    Action("help.topics", "t", "topics", GO, bar=30, help="how to do a task"),
    # a topic of the help
    Action("topic.down", "j,down", "scroll down", MOVE, shown="j ↓"),
    Action("topic.up", "k,up", "scroll up", MOVE, shown="k ↑"),
    Action("topic.page-down", "pagedown,ctrl+d,space", "page down", MOVE, shown="pgdn"),
    Action("topic.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Action("topic.first", "g,home", "top", MOVE, shown="g"),
    Action("topic.last", "G,end", "bottom", MOVE, shown="G"),
    # the palette
    Action("palette.down", "down,ctrl+n", "next", MOVE, shown="↓"),
    Action("palette.up", "up,ctrl+k", "previous", MOVE, shown="↑"),
    Action("palette.page-down", "pagedown", "page down", MOVE),
    Action("palette.page-up", "pageup", "page up", MOVE),
    Action("palette.group", "tab", "next group", FIND),
    Action("palette.copy", "ctrl+y", "copy its id", ACT, shown="^y"),
    Action("palette.close", "escape,ctrl+p", "close", GO, bar=20, shown="esc"),
)
