"""Keys of Mend: duplicates, noise, secrets, trash."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, MOVE, VIEW, Action

TABLE: tuple[Action, ...] = (
    Action("mend.part-before", "left_square_bracket", "previous part", VIEW, shown="["),
    Action("mend.part-after", "right_square_bracket", "next part", VIEW, bar=80, shown="]"),
    Action("mend.duplicates", "d", "duplicates", GO),
    Action("mend.noise", "n", "noise", GO),
    Action("mend.secrets", "s", "secrets and orders", GO),
    Action("mend.trash", "t", "trash", GO),
    Action(
        "mend.stricter",
        "plus",
        "more alike",
        ACT,
        bar=12,
        shown="+",
        help="a higher similarity: fewer clusters",
    ),
    Action(
        "mend.looser", "minus", "less alike", ACT, bar=13, shown="-", help="a lower similarity: more clusters"
    ),
    Action("mend.much-stricter", "greater_than_sign", "much more alike", ACT, shown=">"),
    Action("mend.much-looser", "less_than_sign", "much less alike", ACT, shown="<"),
    Action("mend.across", "A", "across scopes", ACT, help="compare memories of different scopes, too"),
    Action("mend.within", "F", "filter or all", ACT, help="only the list that Browse shows, or every memory"),
    Action(
        "mend.merge", "M", "merge", ACT, bar=10, help="make one memory of the cluster, after a look at it"
    ),
    Action("mend.losers", "L", "losers", ACT, bar=15, help="superseded and kept as history, or deleted"),
    Action("mend.survivor", "f", "this one survives", ACT, help="the memory under the cursor of the cluster"),
    Action("mend.text", "e", "its text", ACT, help="another text for the memory that survives"),
    Action(
        "mend.skip",
        "S",
        "leave them",
        ACT,
        bar=16,
        help="they are no duplicates: not shown again until looked for anew",
    ),
    Action(
        "mend.mark-sure",
        "asterisk",
        "mark the sure ones",
        ACT,
        bar=20,
        shown="*",
        help="those that are not in doubt",
    ),
    Action(
        "mend.archive", "a", "archive", ACT, bar=21, help="recall leaves them out; the trash brings them back"
    ),
    Action(
        "mend.forget", "x", "forget", ACT, bar=22, help="delete them; the preview says what goes with them"
    ),
    Action(
        "mend.every-trace",
        "X",
        "delete every trace",
        ACT,
        help="out of the table's history and the journal, too: for secrets; no undo",
    ),
    Action("mend.mask", "m", "mask", ACT, bar=23, help="put [REDACTED] in the place of the secret"),
    Action(
        "mend.past",
        "H",
        "remove the history",
        ACT,
        help="of what was masked last, or the marked: older versions and the journal lose it; no undo",
    ),
    Action(
        "mend.reveal", "v", "reveal", VIEW, bar=24, help="show the secret of this memory until you move on"
    ),
    Action("mend.restore", "R", "bring back", ACT, bar=25, help="the marked, or the one under the cursor"),
    Action("mend.browse", "b", "show in Browse", GO, bar=60),
    Action("mend.copy", "y", "copy its id", ACT),
    Action(
        "mend.undo", "u,ctrl+z", "undo", ACT, help="take back the last change, after a look at it", shown="u"
    ),
    Action("mend.redo", "U", "redo", ACT, help="make again what was taken back"),
    Action(
        "mend.back", "escape", "back", MOVE, bar=90, shown="esc", help="stop looking, clear marks, or leave"
    ),
    # the lists of Mend
    Action("finds.down", "j,down", "next", MOVE, shown="j ↓"),
    Action("finds.up", "k,up", "previous", MOVE, shown="k ↑"),
    Action("finds.page-down", "pagedown,ctrl+d", "page down", MOVE, shown="pgdn"),
    Action("finds.page-up", "pageup,ctrl+u", "page up", MOVE, shown="pgup"),
    Action("finds.first", "g,home", "first", MOVE, shown="g"),
    Action("finds.last", "G,end", "last", MOVE, shown="G"),
    Action(
        "finds.mark", "space", "mark", ACT, bar=18, shown="space", help="in a cluster: leave out of the merge"
    ),
    Action("finds.right", "l,right,enter", "to the memory", MOVE, shown="l"),
    Action("finds.left", "h,left", "to the list", MOVE, shown="h"),
)
