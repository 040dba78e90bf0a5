"""A report as one page of Markdown or HTML; a bar for each day is the only picture, and it needs no other file."""

from __future__ import annotations

from datetime import datetime, tzinfo
from html import escape

from memtui.engine.report.period import PeriodReport, ReportSection

_WORDS = {"good": "nothing wrong found", "wrong": "something is wrong", "unknown": "not all could be read"}

_BARS = " ▁▂▃▄▅▆▇█"

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c2330;background:#fff}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .4rem;border-bottom:1px solid #d5dbe5}
p.period{color:#566072;margin:.2rem 0 1rem}b.good{color:#17683b}b.wrong{color:#a3261b}b.unknown{color:#7a5200}
dl{display:grid;grid-template-columns:13rem 1fr;gap:.1rem 1rem;margin:.4rem 0}dt{color:#566072}dd{margin:0}
li{margin:.25rem 0}li span{color:#566072;display:block;font-size:.9rem}svg{display:block;margin:.5rem 0;max-width:100%}
body{overflow-wrap:anywhere}ol{padding-left:1.6rem}
@media(max-width:34rem){dl{grid-template-columns:1fr}dd{margin:0 0 .3rem}}
@media(prefers-color-scheme:dark){body{color:#dfe5ee;background:#11161e}dt,p.period,li span{color:#9aa6b8}
h2{border-color:#2a3340}b.good{color:#7fd0a0}b.wrong{color:#f08b80}b.unknown{color:#e6b85c}}
"""


def as_markdown(report: PeriodReport, zone: tzinfo | None = None) -> str:
    """The page as Markdown; `zone` is the time zone of its dates, None that of the machine."""
    lines = [
        f"# Memory of {_plain(report.store)}",
        "",
        f"{_period(report, zone)}: **{_WORDS[report.verdict]}**",
    ]
    for section in report.sections:
        lines += ["", f"## {section.name}", ""]
        if section.verdict != "good":
            lines += [f"**{_WORDS[section.verdict]}**", ""]
        lines += [f"- {name}: {_plain(value)}" for name, value in section.facts]
        if any(section.by_day):
            lines.append(f"- by day: `{bars(section.by_day)}` {', '.join(map(str, section.by_day))}")
        if section.rows:
            lines += [
                "",
                *(
                    f"{number}. {_plain(text)}" + (f" ({_plain(note)})" if note else "")
                    for number, (text, note) in enumerate(section.rows, 1)
                ),
            ]
    return "\n".join(lines) + "\n"


def as_html(report: PeriodReport, zone: tzinfo | None = None) -> str:
    """The page as one HTML document that loads nothing."""
    title = f"Memory of {escape(report.store)}"
    body = "".join(_html_section(section) for section in report.sections)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f'<h1>{title}</h1><p class="period">{escape(_period(report, zone))}: '
        f'<b class="{report.verdict}">{_WORDS[report.verdict]}</b></p>{body}</body></html>\n'
    )


def bars(counts: tuple[int, ...]) -> str:
    """One block character for each count, the highest full; a blank only for nothing."""
    most = max(counts, default=0) or 1
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in counts)


def _period(report: PeriodReport, zone: tzinfo | None) -> str:
    first, last = (
        datetime.fromtimestamp(each / 1000, zone).strftime("%Y-%m-%d %H:%M")
        for each in (report.from_ms, report.until_ms)
    )
    return f"{first} to {last}"


def _plain(text: str) -> str:
    """`text` where no sign of it becomes Markdown or HTML: a memory is quoted, never laid out."""
    entities = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{sign}" if sign in "\\`*_[]|" else sign for sign in entities)


def _html_section(section: ReportSection) -> str:
    said = "" if section.verdict == "good" else f' <b class="{section.verdict}">{_WORDS[section.verdict]}</b>'
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in section.facts)
    rows = "".join(
        f"<li>{escape(text)}" + (f"<span>{escape(note)}</span>" if note else "") + "</li>"
        for text, note in section.rows
    )
    return (
        f"<h2>{escape(section.name)}{said}</h2><dl>{facts}</dl>"
        + (_svg(section.by_day) if any(section.by_day) else "")
        + (f"<ol>{rows}</ol>" if rows else "")
    )


def _svg(counts: tuple[int, ...]) -> str:
    """A bar for each span of 24 hours with its count above and how long ago it began below."""
    most = max(counts)
    drawn = []
    for place, count in enumerate(counts):
        height = round(60 * count / most) if count else 0
        began = len(counts) - place
        left, middle = place * 48, place * 48 + 20
        drawn.append(
            f'<rect x="{left}" y="{80 - height}" width="40" height="{max(height, 1)}" fill="#3b7dd8"/>'
            f'<text x="{middle}" y="{74 - height}" text-anchor="middle" font-size="12" fill="currentColor">{count}'
            f'</text><text x="{middle}" y="97" text-anchor="middle" font-size="11" fill="currentColor" '
            f'opacity=".7">{f"{began} d" if began > 1 else "24 h"}</text>'
        )
    title = f"by day, the last 24 hours last: {', '.join(map(str, counts))}"
    wide = len(counts) * 48
    return (
        f'<svg width="{wide}" height="102" viewBox="0 0 {wide} 102" role="img" aria-label="{title}">'
        f"{''.join(drawn)}</svg>"
    )
