"""The report of some days: what was learned, used, forgotten, wrong and costly, and whether memory is alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.report.page import as_html, as_markdown
    from memtui.engine.report.period import PeriodReport, ReportSection, write_report

__all__ = ["PeriodReport", "ReportSection", "as_html", "as_markdown", "write_report"]

__getattr__ = lazy_names(
    __name__,
    {
        "PeriodReport": "memtui.engine.report.period",
        "ReportSection": "memtui.engine.report.period",
        "as_html": "memtui.engine.report.page",
        "as_markdown": "memtui.engine.report.page",
        "write_report": "memtui.engine.report.period",
    },
)
