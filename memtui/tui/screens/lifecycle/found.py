"""The findings panel: what the model says and what really happens here; rows lead into Browse."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from memtui.engine import Finding, one_line
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.rows import Row

_STYLES = {"error": "bold $danger", "warning": "$stale", "info": "$dim"}


def finding_rows(findings: Sequence[Finding] | None, width: int, glyphs: Glyphs) -> list[Row]:
    """Each finding with its count, then what it means, wrapped."""
    if findings is None:
        return [Row((Content.styled(" reading how memories were used", "$dim"),))]
    if not findings:
        return [Row((Content.assemble((f" {glyphs.mark} ", "$ok"), "the lifecycle runs as its model says"),))]
    return [
        Row(_lines(each, width, glyphs), f"filter:{each.filter}" if each.filter else "") for each in findings
    ]


def _lines(finding: Finding, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    room = max(10, width - 4)
    mark = glyphs.dot if finding.severity == "info" else glyphs.warn
    title = f"{full(finding.count)} {one_line(finding.title)}"
    head = Content.styled(title, "$foreground").wrap(room)
    body = Content.styled(one_line(finding.remedy), "$dim").wrap(room)
    lead = (f" {mark} ", _STYLES.get(finding.severity, "$dim"))
    return (
        Content.assemble(lead, head[0] if head else ""),
        *(Content.assemble("   ", line) for line in (*head[1:], *body)),
    )
