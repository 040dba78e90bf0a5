"""What is sent of a conversation, where it goes and what it cost; without a model what the rules cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.capture.state import CaptureState
from memtui.tui.widgets.row_list import Row

_ROOM = 100
"""Cells from which the panel has several lines; below it has one."""


def sent(state: CaptureState, width: int, glyphs: Glyphs) -> list[Row]:
    """The lines of the panel, the most important first."""
    lines = _of_rules() if not state.model else _of_model(state)
    if width < _ROOM:
        lines = [_in_one_line(state, lines)]
    return [
        Row((Content.styled(f" {crop(one_line(line), width - 2, glyphs.ellipsis)}", "$dim"),))
        for line in lines
    ]


def _in_one_line(state: CaptureState, lines: list[str]) -> str:
    """What matters most: that a model failed, and what to do then; else what went where, and its cost."""
    if not state.model:
        return "nothing leaves this machine; uncertain texts go to the inbox"
    trace = state.trace
    waits = 0 if trace is None else sum(text.gate == "model failed" for text in trace.texts)
    if trace is None or not waits:
        return lines[0]
    return f"{counted(waits, 'text waits', 'texts wait')}, nothing is lost: {_taken(state)}"


def _of_rules() -> list[str]:
    return [
        "no model: statements are found by rules in 6 languages, similarity by the store's own vectors",
        "cannot tell fiction from fact or merge two texts: uncertain ones go to the inbox, merges stay two rows",
        "nothing leaves this machine",
    ]


def _of_model(state: CaptureState) -> list[str]:
    """What goes, or went, to the model; behind the first call what it took."""
    trace = state.trace
    count, size = _sendable(state)
    where = "nothing leaves this machine" if state.local else "these texts leave this machine"
    calls = () if trace is None else trace.calls
    what = (
        f"{counted(count, 'text')}, {full(size)} characters"
        if count
        else "texts without secrets and prompt injection"
    )
    went = "asked on this machine" if state.local else "left this machine"  # 80 columns hold the cost, too
    lines = [f"{went}: {what}; {_taken(state)}" if calls else f"{where}: {what}"]
    if trace is not None and trace.warnings:
        lines.append(trace.warnings[0])
    if calls:
        lines.append("   ".join(_took(call.as_json()) for call in calls))
    lines.append("secrets and prompt injection are cut before the first call")
    return lines


def _took(call: Mapping[str, Any]) -> str:
    """How long a call took, and how often it was asked where no answer came."""
    asked = call.get("attempts", 1)
    times = f" in {counted(asked, 'try', 'tries')}" if asked > 1 else ""
    return f"{call['purpose']} {call['ms'] / 1000:.1f} s{times}{', no answer' if 'error' in call else ''}"


def _taken(state: CaptureState) -> str:
    """Calls, tokens and cost in one phrase."""
    assert state.trace is not None
    told = [call.as_json() for call in state.trace.calls]
    tokens = [each["tokens"] for each in told if each["tokens"] is not None]
    costs = [each["cost"] for each in told if each.get("cost") is not None]
    unanswered = sum("error" in each for each in told)
    if unanswered == len(told):
        return f"{counted(len(told), 'call')} without an answer"
    said = f"{counted(len(told), 'call')}, " + (
        f"{full(sum(tokens))} tokens" if tokens else "tokens not known"
    )
    if not costs:
        return f"{said}, cost not known"
    return f"{said}, {'no cost' if not sum(costs) else f'cost {sum(costs):.4g}'}"


def _sendable(state: CaptureState) -> tuple[int, int]:
    if state.trace is None:
        return 0, 0
    stopped = ("empty", "assistant text", "tool output", "system text", "command", "order", "secret")
    going = [text for text in state.trace.texts if text.gate not in stopped]
    return len(going), sum(len(text.text) for text in going)
