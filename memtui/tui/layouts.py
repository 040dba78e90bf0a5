"""Where the panels of Transfer stand at which size: pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memtui.tui.layout import SHORT_HEIGHT, Arrangement, Box, size_class, stacked

Layout = Literal["one", "two", "review"]
"""one: `b` alone. two: `a` and `b`. review: `a` and `b` above the record `c`, beside it `d` where there is room."""

SIDE = 40

SETTINGS = 46
"""The same where it holds names and values."""

FOOT_ROWS = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides the arrangement beside the size."""

    layout: Layout = "two"
    line: bool = False
    """A line to type into, above the panels."""
    said: bool = False
    """Words in place of `b`: what it waits for, or why it is empty."""
    side_rows: int = 8
    """How many rows `a` needs where it stands above `b`."""
    record: bool = True
    """A record below, in the review; without it the panels have the room."""
    mirrored: bool = False
    """`b` is the narrow one: a list of choices beside a wide text."""
    even: bool = False
    """Both are alike."""


def transfer(width: int, height: int, shape: Shape = Shape()) -> Arrangement:
    """Stepper on top, what is missing at the bottom, the panels of the step between them."""
    narrow = size_class(width) == "narrow"
    head = min(2 if narrow and shape.layout == "review" else 1, max(1, height - 6))
    foot = FOOT_ROWS if height >= 20 else 1
    found = {"head": Box(0, 0, width, head)}
    top, rest = head, height - head - foot
    if shape.line:
        rows = 2 if narrow else 3
        found["line"] = Box(0, top, width, rows)
        top, rest = top + rows, rest - rows
    main = "state" if shape.said else "b"
    if shape.layout == "one":
        found[main] = Box(0, top, width, rest)
    elif shape.layout == "review":
        found |= _review(width, top, rest, main, record=shape.record)
    elif narrow:
        upper = max(3, min(shape.side_rows + 1, rest - 6, rest * 3 // 5))
        found["a"] = Box(0, top, width, upper)
        found[main] = Box(0, top + upper, width, rest - upper)
    else:
        side = width // 2 if shape.even else SETTINGS if size_class(width) != "wide" else _side(width)
        left = side if not shape.mirrored else width - side
        found["a"] = Box(0, top, left, rest)
        found[main] = Box(left, top, width - left, rest)
    found["foot"] = Box(0, height - foot, width, foot)
    return found


def _side(width: int) -> int:
    return SIDE if size_class(width) != "wide" else 58


def _review(width: int, top: int, rest: int, main: str, *, record: bool) -> Arrangement:
    kind = size_class(width)
    if not record:
        left = 0 if kind == "narrow" else _side(width)
        side = {"a": Box(0, top, left, rest)} if left else {}
        return {**side, main: Box(left, top, width - left, rest)}
    if kind == "narrow":
        lower = max(4, min(8, rest * 2 // 5))
        return {
            main: Box(0, top, width, rest - lower),
            "c": Box(0, top + rest - lower, width, lower),
        }
    lower = max(6, min(18 if kind == "normal" else 22, rest * 52 // 100))
    upper = rest - lower
    left = _side(width)
    found = {
        "a": Box(0, top, left, upper),
        main: Box(left, top, width - left, upper),
    }
    third = width - 136 if kind == "wide" else 0
    found["c"] = Box(0, top + upper, width - third, lower)
    if third:
        found["d"] = Box(width - third, top + upper, third, lower)
    return found


# Where the panels of Recall stand at which size: pure arithmetic.

ASK_ROWS = {"narrow": 2, "normal": 4, "wide": 4}


@dataclass(frozen=True, slots=True)
class RecallShape:
    """What decides the arrangement beside the size."""

    stages: int = 0
    """Rows that the stages need, notes included."""
    results: int = 6
    """How many came back, two rows each."""
    moves: int = 8
    """Steps of the longest score."""
    dropped: bool = False
    """The dropped memories instead of the results, where there is room for one list."""
    zoom: str = ""
    answered: bool = True
    """Whether there is a score to take apart."""


def recall(width: int, height: int, shape: RecallShape = RecallShape()) -> Arrangement:
    """Question on top; stages and results beside or above each other; the score taken apart below."""
    kind = size_class(width)
    ask = ASK_ROWS[kind]
    body = max(4, height - ask)
    line = {"ask": Box(0, 0, width, ask)}
    found = "dropped" if shape.dropped else "results"
    if shape.zoom:
        return line | {shape.zoom: Box(0, ask, width, body)}
    if kind == "narrow":
        why = 3 if shape.answered and body >= 14 else 0
        stages = min(1 + shape.stages, (body - why) * 2 // 5) if shape.stages else 0
        boxes = dict(line)
        if stages > 1:
            boxes["stages"] = Box(0, ask, width, stages)
        else:
            stages = 0
        boxes[found] = Box(0, ask + stages, width, body - stages - why)
        if why:
            boxes["why"] = Box(0, height - why, width, why)
        return boxes
    why = _why_rows(body, shape, wide=kind == "wide") if shape.answered and body >= 20 else 0
    upper = body - why
    if not shape.stages:
        return line | {found: Box(0, ask, width, body)}
    left = 48 if kind == "normal" else 64
    boxes = line | {"stages": Box(0, ask, left, upper)}
    if kind == "normal":
        boxes[found] = Box(left, ask, width - left, upper)
        if why:
            boxes["why"] = Box(0, ask + upper, width, why)
        return boxes
    boxes["results"] = Box(left, ask, width - left, upper)
    if not why:
        return boxes
    lower = body - upper
    third, text = width * 30 // 100, width * 24 // 100
    boxes["why"] = Box(0, ask + upper, width - third - text, lower)
    boxes["dropped"] = Box(width - third - text, ask + upper, third, lower)
    boxes["memory"] = Box(width - text, ask + upper, text, lower)
    return boxes


def _why_rows(body: int, shape: RecallShape, *, wide: bool) -> int:
    """Rows for the account: what it needs; on a wide screen what the lists above leave, for its neighbours' sake."""
    needed = shape.moves + 6
    if wide:
        lists = max(shape.stages + 3, 2 * shape.results + 2, 14)
        return max(needed, min(body - lists, body * 2 // 3))
    return max(6, min(needed, body - 12, body // 2))


# Where the panels of Lifecycle stand at which size: pure arithmetic.

HEAD_ROWS = {"narrow": 2, "normal": 1, "wide": 1}
"""What is asked; on a narrow screen the names of the panels below it."""

TALL_BODY = 34
"""Rows above the sliders in which scores and flow are shown whole, and a calendar still below them."""


@dataclass(frozen=True, slots=True)
class LifecycleShape:
    """What decides the arrangement beside the size."""

    panel: str = "curves"
    """The panel that is shown where there is room for one."""
    aside: str = "flow"
    """Which of the smaller panels, where there is room for one of them."""
    zoom: str = ""
    reviewing: bool = False
    said: bool = False
    """There is nothing to show but words: why, and the ways out."""


def lifecycle(width: int, height: int, shape: LifecycleShape = LifecycleShape()) -> Arrangement:
    """One panel; two by two with the sliders below; or three columns with the sliders below."""
    kind = size_class(width)
    top = 1 if shape.reviewing else min(HEAD_ROWS[kind], max(1, height - 4))
    rest = height - top
    head = {"head": Box(0, 0, width, top)}
    if shape.said:
        return {"state": Box(0, 0, width, height)}
    if shape.reviewing:
        return head | _lifecycle_review(width, top, rest, narrow=kind == "narrow")
    if shape.zoom:
        return head | {shape.zoom: Box(0, top, width, rest)}
    if kind == "narrow":
        return head | {shape.panel: Box(0, top, width, rest)}
    if kind == "normal":
        return head | _normal(width, top, rest, shape)
    return head | _wide(width, top, rest)


def _lifecycle_review(width: int, top: int, rest: int, *, narrow: bool) -> Arrangement:
    if narrow:
        upper = max(5, rest // 2)
        return {
            "review": Box(0, top, width, upper),
            "card": Box(0, top + upper, width, rest - upper),
        }
    left = width * 52 // 100
    return {"review": Box(0, top, left, rest), "card": Box(left, top, width - left, rest)}


def _normal(width: int, top: int, rest: int, shape: LifecycleShape) -> Arrangement:
    sliders = 9 if rest >= SHORT_HEIGHT - 2 else 0
    left = width // 2
    upper = (rest - sliders) // 2 + 1
    lower = rest - sliders - upper
    second = top + upper
    boxes = {
        "curves": Box(0, top, left, upper),
        "scores": Box(left, top, width - left, upper),
        shape.aside: Box(0, second, left, lower),
        "next": Box(left, second, width - left, lower),
    }
    if sliders:
        boxes["whatif"] = Box(0, second + lower, width, sliders)
    elif shape.panel == "whatif":
        del boxes[shape.aside], boxes["next"]
        boxes["whatif"] = Box(0, second, width, lower)
    return boxes


def _wide(width: int, top: int, rest: int) -> Arrangement:
    sliders = min(12, max(9, rest // 5))
    body = rest - sliders
    first, second = width * 36 // 100, width * 30 // 100
    third = width - first - second
    curves = body * 56 // 100
    scores, flow = (max(13, body * 36 // 100), 12) if body >= TALL_BODY else (body * 42 // 100, 8)
    following = body * 64 // 100
    return {
        "curves": Box(0, top, first, curves),
        "numbers": Box(0, top + curves, first, body - curves),
        "scores": Box(first, top, second, scores),
        "flow": Box(first, top + scores, second, flow),
        "history": Box(first, top + scores + flow, second, body - scores - flow),
        "next": Box(first + second, top, third, following),
        "findings": Box(first + second, top + following, third, body - following),
        "whatif": Box(0, top + body, width, sliders),
    }


# Where the panels of Mend stand: the list beside what is selected, or above it.

MEND_HEAD_ROWS = 2


def mend(width: int, height: int, *, said: bool = False, zoom: str = "") -> Arrangement:
    """The head, then list and detail; only words where there is nothing to list."""
    top = min(MEND_HEAD_ROWS, max(1, height - 2))
    rest = max(1, height - top)
    found = {"head": Box(0, 0, width, top)}
    if said:
        return found | {"said": Box(0, top, width, rest)}
    if zoom:
        return found | {zoom: Box(0, top, width, rest)}
    if size_class(width) == "narrow":
        upper = max(4, rest * 9 // 20)
        return found | {"found": Box(0, top, width, upper), "one": Box(0, top + upper, width, rest - upper)}
    left = width * 11 // 20
    return found | {"found": Box(0, top, left, rest), "one": Box(left, top, width - left, rest)}


# Where the panels of the Journal stand: pure arithmetic.


def journal(width: int, height: int, *, said: bool, zoom: str) -> Arrangement:
    """Words alone; one panel; one above the other on a narrow screen; side by side."""
    if said:
        return {"state": Box(0, 0, width, height)}
    if zoom:
        return {zoom: Box(0, 0, width, height)}
    if size_class(width) == "narrow":
        upper = max(4, height * 5 // 9)
        return {"entries": Box(0, 0, width, upper), "entry": Box(0, upper, width, height - upper)}
    left = width * 54 // 100
    return {"entries": Box(0, 0, left, height), "entry": Box(left, 0, width - left, height)}


# Where the panels of Cases stand at which size: pure arithmetic.

CASES_HEAD_ROWS = {"narrow": 2, "normal": 4, "wide": 4}


def cases(width: int, height: int, *, shown: str = "measures", filled: bool = True) -> Arrangement:
    """The setups on top; the list; beside or below it the measures and the case under the cursor."""
    kind = size_class(width)
    head = CASES_HEAD_ROWS[kind]
    body = max(4, height - head)
    found = {"head": Box(0, 0, width, head)}
    if not filled:
        return found | {"list": Box(0, head, width, body)}
    if kind == "narrow":
        lower = body * 55 // 100 if body >= 12 else 0
        found["list"] = Box(0, head, width, body - lower)
        if lower:
            found[shown] = Box(0, height - lower, width, lower)
        return found
    left = width * 52 // 100 if kind == "normal" else width * 48 // 100
    upper = body * 60 // 100
    return found | {
        "list": Box(0, head, left, body),
        "measures": Box(left, head, width - left, upper),
        "case": Box(left, head + upper, width - left, body - upper),
    }


# Where the panels of a comparison stand at which size: pure arithmetic.

COMPARE_HEAD_ROWS = {"narrow": 2, "normal": 4, "wide": 4}

STAGE_CELLS = 52

LEAST_LOWER = 8


@dataclass(frozen=True, slots=True)
class CompareShape:
    """What decides the arrangement beside the size."""

    flows: int = 0
    """Memories in either list."""
    stages: int = 0
    shown: str = "differs"
    zoom: str = ""
    answered: bool = False


def compare(width: int, height: int, shape: CompareShape = CompareShape()) -> Arrangement:
    """The question on top, the two lists with the flow between them, below what differs and why.

    Wide: the stages beside the lists, both accounts below. Normal: what differs beside one account.
    Narrow: one merged list, and one panel below.
    """
    kind = size_class(width)
    head = COMPARE_HEAD_ROWS[kind]
    body = max(4, height - head)
    found = {"head": Box(0, 0, width, head)}
    if shape.zoom:
        return found | {shape.zoom: Box(0, head, width, body)}
    if not shape.answered:
        return found | {"flow": Box(0, head, width, body)}
    if kind == "narrow":
        lower = min(9, body // 2) if body >= 12 else 0
        found["merged"] = Box(0, head, width, body - lower)
        if lower:
            found[_panel(shape.shown)] = Box(0, height - lower, width, lower)
        return found
    wanted = max(shape.flows, shape.stages if kind == "wide" else 0) + 3
    upper = max(min(wanted, body - LEAST_LOWER), body // 3)
    lower, below = body - upper, head + upper
    if kind == "normal":
        half = width * 52 // 100
        found["flow"] = Box(0, head, width, upper)
        found["differs"] = Box(0, below, half, lower)
        beside = _panel(shape.shown) if shape.shown != "differs" else "why-b"
        found[beside] = Box(half, below, width - half, lower)
        return found
    third = width * 30 // 100
    found["stages"] = Box(0, head, STAGE_CELLS, upper)
    found["flow"] = Box(STAGE_CELLS, head, width - STAGE_CELLS, upper)
    found["why-a"] = Box(0, below, third, lower)
    found["why-b"] = Box(third, below, third, lower)
    found["differs"] = Box(2 * third, below, width - 2 * third, lower)
    return found


def _panel(shown: str) -> str:
    return "differs" if shown == "differs" else f"why-{shown}"


# Where the panels of What if stand at which size: pure arithmetic.

ABOUT = 7


def what_if(width: int, height: int, zoom: str = "") -> Arrangement:
    """Sliders and the list beside, or below each other; what is known of the setting under the cursor below it."""
    kind = size_class(width)
    if zoom:
        return {zoom: Box(0, 0, width, height)}
    if kind == "narrow":
        upper = max(6, height * 55 // 100)
        return {
            "sliders": Box(0, 0, width, upper),
            "list": Box(0, upper, width, height - upper),
        }
    left = width * 56 // 100 if kind == "normal" else width * 44 // 100
    boxes = {
        "sliders": Box(0, 0, left, height - ABOUT),
        "about": Box(0, height - ABOUT, left, ABOUT),
    }
    if kind == "normal":
        return boxes | {"list": Box(left, 0, width - left, height)}
    middle = width - left
    lower = max(14, height * 40 // 100)
    return boxes | {
        "list": Box(left, 0, middle, height - lower),
        "why": Box(left, height - lower, middle, lower),
    }


# Where the panels of Why not stand at which size: pure arithmetic.


def why_not(width: int, height: int, verdict_rows: int, remedy_rows: int, zoom: str = "") -> Arrangement:
    """The verdict on top; gates beside changes and remedies, or all below each other; the text where there is room."""
    kind = size_class(width)
    top = min(verdict_rows, max(3, height - 8))
    rest = height - top
    head = {"verdict": Box(0, 0, width, top)}
    if zoom:
        return head | {zoom: Box(0, top, width, rest)}
    if kind == "narrow":
        lower = min(remedy_rows, rest // 3)
        upper = (rest - lower) // 2
        return head | {
            "ladder": Box(0, top, width, upper),
            "changes": Box(0, top + upper, width, rest - upper - lower),
            "remedies": Box(0, top + rest - lower, width, lower),
        }
    lower = min(remedy_rows, rest // 2)
    if kind == "normal":
        left = width * 47 // 100
        return head | {
            "ladder": Box(0, top, left, rest),
            "changes": Box(left, top, width - left, rest - lower),
            "remedies": Box(left, top + rest - lower, width - left, lower),
        }
    left, right = width * 42 // 100, width * 22 // 100
    return head | {
        "ladder": Box(0, top, left, rest),
        "changes": Box(left, top, width - left - right, rest - lower),
        "remedies": Box(left, top + rest - lower, width - left - right, lower),
        "memory": Box(width - right, top, right, rest),
    }


# Screens with several views: Health, Audit, Agents.


def health(width: int, height: int) -> Arrangement:
    """List and detail, above each other on a narrow screen."""
    if size_class(width) == "narrow":
        upper = max(4, height * 5 // 9)
        return stacked(0, width, {"list": upper, "detail": height - upper})
    left = width * 54 // 100
    return {"list": Box(0, 0, left, height), "detail": Box(left, 0, width - left, height)}


# Where the panels of Capture stand.


def capture(width: int, height: int, *, view: str, said: bool, listed: bool, zoom: str) -> Arrangement:
    """Words alone; one panel; conversations, texts and what is sent; candidate and trace, too, once `listed`."""
    if said:
        return {"state": Box(0, 0, width, height)}
    if zoom:
        return {zoom: Box(0, 0, width, height)}
    if view == "inbox":
        upper = max(5, height * 5 // 9)
        return {"inbox": Box(0, 0, width, upper), "item": Box(0, upper, width, height - upper)}
    if view == "funnel":
        return _funnel(width, height)
    if view == "jobs":
        return {"jobs": Box(0, 0, width, 6), "plan": Box(0, 6, width, height - 6)}
    if size_class(width) == "narrow":
        if not listed:
            return {"talks": Box(0, 0, width, height)}
        sent = 2
        texts = max(5, height * 4 // 9)
        candidate = max(4, (height - texts - sent) * 2 // 5)
        trace = height - texts - candidate - sent
        return stacked(0, width, {"texts": texts, "candidate": candidate, "trace": trace, "sent": sent})
    left = max(28, width // 5)
    right = max(40, width // 3)
    middle = width - left - right
    sent = 6
    upper = (height - sent) * 5 // 9
    if not listed:
        upper, middle = height - sent, width - left
    boxes = {
        "talks": Box(0, 0, left, upper),
        "texts": Box(left, 0, middle, upper),
        "sent": Box(0, height - sent, width, sent),
    }
    decided = {
        "candidate": Box(left + middle, 0, right, height - sent),
        "trace": Box(0, upper, left + middle, height - sent - upper),
    }
    return boxes | decided if listed else boxes


def _funnel(width: int, height: int) -> Arrangement:
    steps = 7
    if size_class(width) == "narrow":
        other = 7
        return {
            "steps": Box(0, 0, width, steps),
            "losses": Box(0, steps, width, height - steps - other),
            "otherwise": Box(0, height - other, width, other),
        }
    low = min(12, (height - steps) // 2)
    half = width * 3 // 5
    return {
        "steps": Box(0, 0, width, steps),
        "losses": Box(0, steps, width, height - steps - low),
        "otherwise": Box(0, height - low, half, low),
        "days": Box(half, height - low, width - half, low),
    }


# Where the panels of Audit stand.


def blame(
    width: int, height: int, verdict_rows: int, suspect_rows: int, *, said: bool, zoom: str = ""
) -> Arrangement:
    """The verdict on top; suspects and what would have been right beside the memory, or all below each other."""
    kind = size_class(width)
    top = min(verdict_rows, max(3, height - 9))
    rest = height - top
    head = {"verdict": Box(0, 0, width, top)}
    if said or zoom:
        return head | {"state" if said else zoom: Box(0, top, width, rest)}
    if kind == "narrow":
        upper = max(3, min(suspect_rows, rest // 3))
        lower = max(3, (rest - upper) // 2)
        parts = {"suspects": upper, "memory": rest - upper - lower, "others": lower}
        below = stacked(0, width, parts)
    elif kind == "normal":
        left, upper = width * 46 // 100, max(5, min(suspect_rows, rest // 2))
        below = stacked(0, left, {"suspects": upper, "others": rest - upper})
        below |= {"memory": Box(left, 0, width - left, rest)}
    else:
        first, second = width * 32 // 100, width * 38 // 100
        below = {
            "suspects": Box(0, 0, first, rest),
            "memory": Box(first, 0, second, rest),
            "others": Box(first + second, 0, width - first - second, rest),
        }
    return head | {name: box._replace(y=box.y + top) for name, box in below.items()}


def audit(width: int, height: int, *, view: str) -> Arrangement:
    """List, what belongs to it, and detail."""
    kind = size_class(width)
    if kind == "narrow":
        return _narrow_audit(width, height, view)
    if view == "live":
        left, upper = width * 56 // 100, min(9, height // 3)
        side = stacked(left, width - left, {"aside": upper, "detail": height - upper})
        return side | {"list": Box(0, 0, left, height)}
    if view == "access":
        upper = height * 5 // 9
        left = width * 58 // 100
        return {
            "list": Box(0, 0, width, upper),
            "aside": Box(0, upper, left, height - upper),
            "detail": Box(left, upper, width - left, height - upper),
        }
    if kind == "wide":
        first, second = width * 26 // 100, width * 30 // 100
        return {
            "list": Box(0, 0, first, height),
            "aside": Box(first, 0, second, height),
            "detail": Box(first + second, 0, width - first - second, height),
        }
    left = width * 42 // 100
    upper = height * 4 // 9
    side = stacked(0, left, {"list": upper, "aside": height - upper})
    return side | {"detail": Box(left, 0, width - left, height)}


def _narrow_audit(width: int, height: int, view: str) -> Arrangement:
    """One above the other; the matrix, the tree of a reach and what happens take most of the room, else the detail."""
    first = max(4, height * 4 // 9) if view in ("access", "reach", "live") else max(3, height * 2 // 9)
    second = max(3, height * 2 // 9)
    return stacked(0, width, {"list": first, "aside": second, "detail": height - first - second})


# Where the panels of Agents stand.


def agents(width: int, height: int) -> Arrangement:
    """List, who is here, one thing, and the day where there is room for it."""
    kind = size_class(width)
    upper = height * 9 // 20
    if kind == "narrow":
        upper, middle = max(3, upper), max(3, height * 5 // 20)
        return stacked(0, width, {"list": upper, "aside": middle, "detail": height - upper - middle})
    left = width * 58 // 100
    right = width - left
    if kind == "wide":
        below = max(8, height // 4)
        call = (height - below) * 3 // 5
        side = stacked(left, right, {"detail": call, "aside": height - below - call})
        return side | {"list": Box(0, 0, left, height - below), "day": Box(0, height - below, width, below)}
    below = max(6, height // 5)
    return {
        "list": Box(0, 0, width, upper),
        "detail": Box(0, upper, left, height - upper - below),
        "aside": Box(left, upper, right, height - upper - below),
        "day": Box(0, height - below, width, below),
    }
