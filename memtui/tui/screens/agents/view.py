"""Agents as rows: the feed, who is here, one call; rights; documents and working sets; to-dos. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import counted, duration, mask, one_line
from memtui.engine.clients import UNANSWERED
from memtui.engine.hosts import HOSTS, TOKEN, host_config, host_config_http
from memtui.tui.paint.bars import spark
from memtui.tui.paint.cells import crop, fit, right, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, full, score, size
from memtui.tui.screens.agents.state import (
    VIEWS,
    AgentsState,
    ClientRow,
    PlannedRights,
    key_of,
    question_of,
    text_of,
)
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look, views_line

if TYPE_CHECKING:
    from memtui.engine.clients import Activity, Call

ASCII_SIGNS = str.maketrans("✓✗†○┄–“”", '+x+o.-""')

NAME_CELLS = 11

TOOL_CELLS = 15

WEEK = 6
"""Days back in which the name of the day tells it."""

HTTP_PORT = 8765
"""The port that the example of a server over HTTP names."""

ADD = "+"
"""The key of the row that lets a client in."""


def clock(ms: int, look: Look) -> str:
    """The time of today; the day and the time of this week, else the day alone."""
    when, now = (datetime.fromtimestamp(at / 1000, look.zone) for at in (ms, look.now_ms))
    if when.date() == now.date():
        return f"{when:%H:%M:%S}"
    return f"{when:%a %H:%M}" if (now - when).days < WEEK else f"{when.day} {when:%b}"


def views(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The place's views, the active one in brackets, and what the feed is narrowed to."""
    counts = {"to-dos": len(state.todos or ()), "documents": documents_of(state)}
    names = {name: "permissions" if name == "rights" else name for name in VIEWS}
    labels = (
        (f"{names[name]} {counts[name]}" if counts.get(name) else names[name], name == state.view)
        for name in VIEWS
    )
    said = "paused" if state.paused else "following"
    far = f"/ {one_line(state.words)}   {said}" if state.words else f"calls on this store   {said}"
    return views_line(labels, far, width)


def line(text: str, style: str = "$foreground") -> Row:
    """One row that cannot be chosen."""
    return Row((Content.styled(text, style),))


def fact(name: str, text: str, width: int, style: str = "$foreground", most: int = 3) -> Row:
    """A name and its words on `most` lines."""
    room = max(10, width - NAME_CELLS - 3)
    parts = [part.plain for part in Content(one_line(text)).wrap(room)][:most] or [""]
    return Row(
        tuple(
            Content.assemble(" ", (fit(name if at == 0 else "", NAME_CELLS), "$dim"), (part, style))
            for at, part in enumerate(parts)
        )
    )


# ------------------------------------------------------------------ live

TO_BEGIN = (
    ("to begin", "connect host writes memtui into the file of claude, codex, cursor, openclaw and others"),
    ("in a shell", "memtui connect claude shows what it would write, --yes writes it"),
    ("hooks", "memtui help agents shows the lines for a host with hooks"),
)
"""What makes the first call come, for a store that nobody has called."""


def who_of(call: Call) -> str:
    """The name that a person knows the caller by."""
    return call.client.partition(":")[2] or call.client


def what_of(call: Call) -> str:
    """The tool, or what a host's event did."""
    if call.outcome == "injected":
        return f"injected {len(call.ids)}"
    if call.outcome == "stored":
        return f"stored {len(call.ids)}"
    return call.tool


def result_of(call: Call, glyphs: Glyphs) -> tuple[str, str]:
    """What became of it in a few cells, and its style."""
    gate = one_line(call.gate)
    if call.outcome == "refused":
        return f"{glyphs.cross} {gate or 'refused'}", "bold $danger"
    if call.outcome == UNANSWERED:
        return "no answer", "$stale"
    if call.outcome == "preview":
        return "○ unconfirmed", "$stale"
    if call.outcome == "injected":
        return f"{full(call.chars)} c" if call.chars else "", "$foreground"
    if call.outcome == "silent":
        return "no memory", "$dim"
    if call.outcome in ("created", "stored"):
        return f"+{len(call.ids) if call.via == 'hook' else 1}", "$ok"
    if call.outcome in ("updated", "superseded"):
        return "~1", "$ok"
    if call.outcome in ("archived", "deleted"):
        return f"-{max(1, len(call.ids))}", "$stale"
    if call.outcome == "duplicate":
        return "duplicate", "$dim"
    return (gate if call.tool == "memory_why" and gate else f"{len(call.ids)} found"), "$foreground"


def feed(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The calls, the newest first."""
    rows: list[Row] = []
    shown = state.shown
    hour = False
    who_cells = min(NAME_CELLS, 1 + max((len(one_line(who_of(call))) for call in shown), default=0))
    tools = [one_line(what_of(call)).removeprefix("memory_") for call in shown]
    tool_cells = min(TOOL_CELLS, 1 + max(map(len, tools), default=0))
    took_cells = 2 + max((len(_took(call)) for call in shown), default=0)
    for call in shown:
        if not hour and look.now_ms - call.time_ms > 3_600_000 and rows:
            hour = True
            rows.append(line(f" {look.glyphs.rule} an hour ago", "$dim"))
        became, style = result_of(call, look.glyphs)
        took = _took(call)
        far = f"{crop(became, 14, look.glyphs.ellipsis)}{right(took, took_cells)}" if became or took else ""
        asked = question_of(call)
        words = f"“{one_line(mask(asked)[0])}”" if asked else _about(call, state)
        room = max(0, width - 11 - who_cells - tool_cells - (cell_len(far) + 3 if far else 1))
        left = Content.assemble(
            " ",
            (fit(clock(call.time_ms, look), 10), "$dim"),
            (fit(one_line(who_of(call)), who_cells, look.glyphs.ellipsis), "$foreground"),
            (
                fit(one_line(what_of(call)).removeprefix("memory_"), tool_cells, look.glyphs.ellipsis),
                "$heading",
            ),
            (fit(words, room, look.glyphs.ellipsis), "$foreground" if asked else "$dim"),
            " ",
            (far.removesuffix(right(took, took_cells)), style),
            (right(took, took_cells) if far else "", "$dim"),
        )
        rows.append(Row((left,), key_of(call)))
    if rows:
        return rows
    if state.words:
        return [line(" no call has these words", "$dim")]
    return [
        line(" calls of agents will appear here", "$dim"),
        *(fact(name, said, width, "$dim") for name, said in TO_BEGIN),
    ]


def _took(call: Call) -> str:
    """How long an answer took; empty where nothing was asked or answered."""
    return duration(call.ms) if call.asked and call.outcome != UNANSWERED else ""


def _about(call: Call, state: AgentsState) -> str:
    """What is known of a call whose words nobody kept: its hash, or the first of the memories that it brought."""
    if call.asked:
        return f"#{call.asked[:6]}"
    memory = state.memories.get(call.ids[0]) if call.ids else None
    if memory is None:
        return "injected by the plugin"
    more = f", {len(call.ids) - 1} more" if len(call.ids) > 1 else ""
    return f"{one_line(mask(memory.text)[0])}{more}"


def rights_sign(row: ClientRow) -> str:
    """What a client may, in four cells."""
    if row.paused:
        return "paused"
    if row.client is None:
        return ""
    return "r  " if row.client.writes == "" else "r w"


def here(state: AgentsState, width: int, look: Look) -> list[Row]:
    """Who called, the latest first, and agents of the configuration that did not."""
    rows = []
    for client in state.clients:
        act = client.activity
        via = act.via if act is not None else "http" if client.client is not None else "agent"
        narrow = width < 60
        curve = spark(act.slots[6 if narrow else 0 :], look.glyphs) if act is not None else ""
        said = counted(act.calls, "call") if act is not None else "no call"
        last = (
            ago(act.last_ms, look.now_ms).removesuffix(" ago").removeprefix("just ")
            if act is not None
            else "–"
        )
        far = f"{curve:<{6 if narrow else 12}}{right(said, 10)}  {rights_sign(client):<6}"
        room = max(4, width - len(far) - 15)
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ",
                        (fit(one_line(client.name), room, look.glyphs.ellipsis), "$foreground"),
                        (fit(f" {via}", 7), "$dim"),
                        (fit(last, 7), "$dim"),
                        (far, "$stale" if client.paused else "$dim"),
                    ),
                ),
                client.name,
            )
        )
    return rows or [line(" clients are listed here from their first call", "$dim")]


def call_rows(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The call under the cursor: what was asked, as whom, and what it gave, as that is now."""
    call = state.chosen
    if call is None:
        return [line(" no call under the cursor", "$dim")]
    given = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (call.arguments or {}).items()
    )
    asked = f"{call.tool}, asked #{call.asked}" if call.asked else "automatic injection"
    head = f"{call.tool}({one_line(mask(given)[0])})" if given else asked
    who = f"agent {call.agent or 'not named'}" if call.asked else "prompt not recorded"
    rows = [fact("tool", head, width), fact("client", f"{call.client}, {who}", width)]
    became, style = result_of(call, look.glyphs)
    rows.append(fact("outcome", f"{call.outcome}: {became}" if became else call.outcome, width, style))
    if call.outcome == UNANSWERED:
        rows.append(fact("note", "under way or cut off; the Journal shows what it wrote", width, "$stale"))
    if call.said:
        rows.append(fact("message", mask(call.said)[0], width, "$stale"))
    for at, id in enumerate(call.ids[:20]):
        memory = state.memories.get(id)
        known = id in state.memories
        text = one_line(mask(memory.text)[0]) if memory is not None else "gone since" if known else "┄"
        value = score(call.scores[at]) if at < len(call.scores) else ""
        mark = look.glyphs.tier(memory.tier) if memory is not None else "†" if known else " "
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {at + 1:>2} ",
                        (fit(value, 5), "$dim"),
                        f"{mark} ",
                        (crop(text, width - 13, look.glyphs.ellipsis), "$foreground" if memory else "$stale"),
                    ),
                ),
                id,
            )
        )
    if call.chars:
        rows.append(fact("sent", f"{full(call.chars)} characters before the prompt", width))
    if not call.asked:
        rows.append(fact("evidence", "inferred from store counters; minimum", width, "$dim"))
    elif not call.arguments:
        rows.append(
            fact("words", "not kept: --keep-texts keeps what is asked, secrets masked", width, "$dim")
        )
    return rows


# ------------------------------------------------------------------ rights


def rights(state: AgentsState, width: int, look: Look) -> list[Row]:
    """Every caller with what it reads and writes."""
    room = max(12, (width - 40) // 2)
    head = f" {'client':<14}{fit('reads', room)}{fit('writes', room)}{'per min':>9}  status"
    rows = [line(crop(head, width), "$heading")]
    for client in state.clients:
        reads, writes, rate = told_rights(client)
        rest = "paused" if client.paused else "active" if client.client is not None else "start options"
        dots = look.glyphs.ellipsis
        (read, more_read), (write, more_write) = (
            _two_lines(text, room - 1, dots) for text in (reads, writes)
        )
        first = Content.assemble(
            " ",
            (f"{fit(one_line(client.name), 13, dots)} {fit(read, room)}{fit(write, room)}", "$foreground"),
            (right(rate, 9), "$dim"),
            "  ",
            (crop(rest, max(0, width - 26 - 2 * room)), "$stale" if client.paused else "$dim"),
        )
        below = f"{'':15}{fit(more_read, room)}{more_write}".rstrip()
        rows.append(Row((first, Content.styled(below, "$foreground")) if below else (first,), client.name))
    rows.append(Row((Content.styled(" + add client", "$primary"),), ADD))
    return rows


def _two_lines(text: str, width: int, dots: str) -> tuple[str, str]:
    """A text in two lines of so many cells, broken between its words where that is possible."""
    first, *rest = wrap(text, width, break_on_hyphens=False) or [""]
    return first, crop(" ".join(rest), width, dots)


def told_rights(row: ClientRow) -> tuple[str, str, str]:
    """What it reads, what it writes, its rate, in words."""
    client = row.client
    if client is None or not client.token_hash:
        agent = row.agent
        own = f"agent:{agent}" if agent else "everything"
        return (f"global {own}" if agent else own), own if agent else "anywhere", "–"
    own = f"agent:{client.agent or client.name}"
    reads = " ".join(client.reads) if client.reads is not None else f"global {own}"
    writes = own if client.writes is None else client.writes or "nothing"
    return reads or "nothing", writes, f"{client.rate}" if client.rate else "–"


def plan_line(plan: PlannedRights) -> str:
    """Rights as one line that can be edited."""
    reads = ",".join(plan.reads) if plan.reads is not None else "own"
    writes = "own" if plan.writes is None else plan.writes or "nothing"
    return f"reads={reads} writes={writes} rate={plan.rate} as={plan.agent or plan.name}"


def parse_plan(name: str, text: str) -> PlannedRights | str:
    """Rights from such a line; a sentence where it is none."""
    given = dict(part.partition("=")[::2] for part in text.split())
    if unknown := sorted(given.keys() - {"reads", "writes", "rate", "as"}):
        return f"{unknown[0]} is not known: write reads, writes, rate or as."
    rate = given.get("rate", "0")
    if not rate.isdigit():
        return f"rate={rate} is no number of calls a minute; 0 is no limit."
    reads = given.get("reads", "own")
    writes = given.get("writes", "own")
    listed = None if reads == "own" else tuple(part for part in reads.split(",") if part)
    where = None if writes == "own" else "" if writes == "nothing" else writes
    agent = given.get("as", name)
    return PlannedRights(name, "" if agent == name else agent, listed, where, int(rate))


def edited(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The rights of the client under the cursor, what is planned, and what to paste."""
    if state.token is not None:
        name, token = state.token
        return [
            line(f" {one_line(name)} was added; its token, shown once:", "bold $foreground"),
            fact("token", token, width, "bold $primary", most=4),
            line(" only its hash is kept: copy it now", "$dim"),
            line(""),
            fact("server", f"memtui mcp --rw --http {HTTP_PORT} starts it", width),
            fact("variable", f"{TOKEN} holds the token where the client runs", width),
            line(" CLAUDE CODE, .mcp.json", "$heading"),
            *(
                line(f" {crop(part, width - 2)}", "$dim")
                for part in host_config_http("claude", f"http://127.0.0.1:{HTTP_PORT}/mcp", token=True).split(
                    "\n"
                )
            ),
        ]
    row = state.who
    if row is None:
        return [line(" add a client by its name; its token is shown once", "$dim")]
    reads, writes, rate = told_rights(row)
    rows = [
        fact("reads", reads, width),
        fact("writes", writes, width),
        fact("per minute", rate or "no limit", width),
    ]
    plan = state.plan
    if plan is not None and plan.name == row.name:
        rows.append(line(f" {look.glyphs.rule} plan (not written)", "bold $stale"))
        rows.append(fact("new", plan_line(plan), width))
        rows += [fact("", consequence, width, "$stale") for consequence in consequences(state, row, plan)]
    elif row.client is None or not row.client.token_hash:
        rows.append(fact("token", "none: the client uses standard input; its start options decide", width))
    rows += [
        line(""),
        line(
            f" memtui connect claude   also {', '.join(HOSTS[1:4])} and {len(HOSTS) - 4} more",
            "$heading",
        ),
    ]
    rows += [line(f" {crop(part, width - 2)}", "$dim") for part in block_of(row).split("\n")]
    return rows


def consequences(state: AgentsState, row: ClientRow, plan: PlannedRights) -> list[str]:
    """What a plan would change, in memories."""
    client = row.client
    own = f"agent:{plan.agent or plan.name}"
    before = set(client.reads if client is not None and client.reads is not None else ("global", own))
    after = set(plan.reads if plan.reads is not None else ("global", own))

    def told(verb: str, scopes: set[str]) -> list[str]:
        return [
            f"{row.name} {verb} {one_line(scope)}: {counted(state.counts.get(scope, 0), 'memory', 'memories')}"
            for scope in sorted(scopes)
        ]

    found = told("gains", after - before) + told("loses", before - after)
    return found or ["no change in what it can read"]


def block_of(row: ClientRow) -> str:
    """What to paste into Claude Code for this caller."""
    writes = row.client is None or row.client.writes != ""
    arguments = ["mcp", *(["--rw"] if writes else []), *(["--as", row.agent] if row.agent else [])]
    return host_config("claude", "memtui", arguments)


def clients_of_day(state: AgentsState, width: int, look: Look) -> list[Row]:
    """What each client did: its calls by tool, the last one, what it stored and was given, what refused it."""
    rows = []
    for client in state.clients:
        act = client.activity
        if act is None:
            continue
        calls = [call for call in state.calls or () if call.client == act.client and call.asked]
        rows.append(fact(one_line(client.name)[: NAME_CELLS - 1], _calls_of(act, calls), width))
        numbers = [("stored", act.stored), ("injected", act.injected)]
        done = [f"{full(count)} {what}" for what, count in numbers if count]
        if done:
            rows.append(fact("", ", ".join(done), width, "$dim"))
        if act.refused:
            gates = Counter(one_line(call.gate) for call in calls if call.outcome == "refused" and call.gate)
            by = f", by {_most_first(gates)}" if gates else ""
            rows.append(fact("", f"{full(act.refused)} refused{by}", width, "$stale"))
        if calls:
            last = f"last {ago(act.last_ms, look.now_ms)}, slowest {duration(max(call.ms for call in calls))}"
            rows.append(fact("", last, width, "$dim"))
    return rows or [line(" the activity of clients is listed here", "$dim")]


def _calls_of(act: Activity, calls: Sequence[Call]) -> str:
    """How many calls, and of which tools where each of them is in the list."""
    tools = Counter(one_line(call.tool).removeprefix("memory_") for call in calls)
    by = f": {_most_first(tools)}" if calls and len(calls) == act.calls else ""
    return f"{counted(act.calls, 'call')}{by}"


def _most_first(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


# ------------------------------------------------------------------ documents, to-dos


def scopes(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The scopes with their memories."""
    rows = []
    for scope in state.scopes:
        made = state.sets.get(scope)
        far = f"{counted(state.counts[scope], 'memory', 'memories')}"
        said = (
            ""
            if made is None
            else f"{len(made.consumed)} in the working set"
            if made.text
            else "no working set"
        )
        room = max(8, width - len(far) - 26)
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ",
                        (fit(one_line(scope), room, look.glyphs.ellipsis), "$foreground"),
                        (right(said, 23), "$dim"),
                        " ",
                        (far, "$dim"),
                    ),
                ),
                scope,
            )
        )
    return rows or [line(" no scopes yet: a memory brings its own", "$dim")]


def documents_of(state: AgentsState) -> int:
    """Files that answers consult, and folders of agents."""
    return len(state.sources or ()) + len(state.folders or ())


def folders(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The store's own documents, then the Markdown of the agents."""
    if state.folders is None or state.sources is None:
        return [line(" looking for documents", "$dim")]
    rows = []
    if state.sources:
        pieces = counted(sum(source.pieces for source in state.sources), "piece")
        rows.append(line(f" {pieces}, asked where memories are few", "$dim"))
    for source in state.sources:
        far = f"{', '.join(source.kinds)} {counted(source.pieces, 'piece')}"
        name = fit(one_line(source.path), max(8, width - len(far) - 3), look.glyphs.ellipsis)
        rows.append(Row((Content.assemble(" ", (name, "$foreground"), " ", (far, "$dim")),)))
    for folder in state.folders:
        rows.append(fact(one_line(folder.agent)[: NAME_CELLS - 1], tilde(folder.path), width, most=1))
        said = f"{counted(folder.files, 'file')}, {size(folder.size)}, newest {ago(folder.newest_ms, look.now_ms)}"
        rows.append(fact("", said, width, "$dim"))
    if not rows:
        return [
            line(" Markdown of agents will be listed here", "$dim"),
            line(" memtui docs FOLDER --cold --store S makes it the store's", "$dim"),
        ]
    return rows


def working_set(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The working set of the scope under the cursor, and what recall leaves out for it."""
    made = state.sets.get(state.scope)
    if made is None:
        return [
            line(" making the working set", "$dim")
            if state.scope
            else line(" no scope under the cursor", "$dim")
        ]
    if not made.text:
        return [
            line(f" {one_line(made.scope)} has no working set", "$foreground"),
            line(" it is made of preferences, decisions and to-dos, from two of them on", "$dim"),
        ]
    rows = [line(" preview of the injected block; nothing is written", "$dim")]
    rows += [line(f" {crop(one_line(mask(part)[0]), width - 2)}") for part in made.text.split("\n")]
    if made.cut:
        rows.append(
            fact(look.glyphs.warn, f"{full(made.cut)} characters did not fit into 240", width, "$stale")
        )
    rows += [
        line(""),
        fact(
            "suppresses", f"{counted(len(made.consumed), 'memory', 'memories')} that it says already", width
        ),
    ]
    for each in made.consumed:
        memory = state.memories.get(each)
        text = one_line(mask(memory.text)[0]) if memory is not None else one_line(each)[:36]
        rows.append(Row((Content.styled(f"   {crop(text, width - 4, look.glyphs.ellipsis)}", "$dim"),), each))
    return rows


def todos(state: AgentsState, width: int, look: Look) -> list[Row]:
    """To-dos with their age; a stale one goes into no prompt."""
    if state.todos is None:
        return [line(" looking for to-dos", "$dim")]
    rows = []
    for each in state.todos:
        far = f"{ago(each.memory.timestamp_ms, look.now_ms)}{'   stale' if each.stale else ''}"
        room = max(8, width - len(far) - 24)
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {'✗' if each.stale else '○'} ",
                        (fit(one_line(mask(each.memory.text)[0]), room, look.glyphs.ellipsis), "$foreground"),
                        (fit(f" {one_line(each.memory.scope or '')}", 19), "$dim"),
                        (right(far, len(far) + 1), "$stale" if each.stale else "$dim"),
                    ),
                ),
                each.memory.id,
            )
        )
    return rows or [
        line(" to-dos will be listed here: memories of the category todo, or beginning with TODO", "$dim")
    ]


def todo_rules(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The guardrails of the engine that makes to-dos."""
    stale = sum(each.stale for each in state.todos or ())
    return [
        fact("fresh", full(len(state.todos or ()) - stale), width),
        fact("stale", f"{full(stale)}, older than 7 days, not injected", width),
        fact("capture", "1 a turn; the same words within 24 hours are one", width, "$dim"),
    ]


def todo(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The to-do under the cursor."""
    each = state.listed
    if each is None:
        return [line(" no to-do under the cursor", "$dim")]
    said = "not injected: older than 7 days" if each.stale else "may be injected"
    return [
        fact("text", mask(each.memory.text)[0], width, most=8),
        fact("scope", each.memory.scope or "none", width),
        fact("since", ago(each.memory.timestamp_ms, look.now_ms), width),
        fact("status", said, width, "$stale" if each.stale else "$foreground"),
    ]


def openable(state: AgentsState) -> Sequence[str]:
    """What the call under the cursor can be opened in: recall, capture, browse."""
    call = state.chosen
    if call is None:
        return ()
    asked = bool(question_of(call)) and call.tool in (
        "memory_search",
        "memory_recall",
        "memory_why",
        "prompt_build",
    )
    said = bool(text_of(call))
    return [
        *(["recall"] if asked else []),
        *(["capture"] if said else []),
        *(["browse"] if call.ids else []),
    ]
