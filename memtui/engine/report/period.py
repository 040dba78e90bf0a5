"""What some days did to a store, gathered from the checks that the screens show; nothing is written or sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.alive import check_alive
from memtui.engine.cases import CaseAnswer, CaseBook, CaseSetup, run_cases
from memtui.engine.catalog.types import ListQuery
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import DAY_MS, counted
from memtui.engine.cost import NEVER_COMPARED, read_cost
from memtui.engine.health import examine, patient_of
from memtui.engine.lifecycle import SCENARIOS, find_crossings, own_settings
from memtui.engine.witness import read_economy, read_rights

if TYPE_CHECKING:
    from memtui.engine.access import DenyRule
    from memtui.engine.engine import Engine

Verdict = Literal["good", "wrong", "unknown"]

LISTED = 8
"""Rows of a section."""

MOST_DAYS = 14
"""Days of which the store's history of injections is counted."""

_SHOWN = 140

_FATES = {"stale": "turn stale", "rises": "rise a tier", "sinks": "sink a tier", "expires": "expire"}


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One part of the report: counts, then rows, each a text and what is said of it."""

    name: str
    verdict: Verdict
    facts: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    by_day: tuple[int, ...] = ()
    """A count for each day, today last; empty where there is none."""

    def as_json(self) -> dict[str, Any]:
        """The section of the command-line contract."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "facts": dict(self.facts),
            "rows": [{"text": text, "note": note} for text, note in self.rows],
            "by_day": list(self.by_day),
        }


@dataclass(frozen=True, slots=True)
class PeriodReport:
    """The report of a store over some days."""

    store: str
    from_ms: int
    until_ms: int
    sections: tuple[ReportSection, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """wrong: any section is; unknown: any could not be read; else good."""
        found = {section.verdict for section in self.sections}
        return "wrong" if "wrong" in found else "unknown" if "unknown" in found else "good"

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui report --json`."""
        return {
            "schema": "memtui.report.v1",
            "store": self.store,
            "from_ms": self.from_ms,
            "until_ms": self.until_ms,
            "verdict": self.verdict,
            "sections": [section.as_json() for section in self.sections],
        }


def write_report(
    engine: Engine,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    days: int = 7,
    cases: Path | None = None,
    rules: Sequence[DenyRule] = (),
) -> PeriodReport:
    """Gather the report of the last `days` days (1 to 14).

    `cases` is the file of saved questions, `rules` are deny rules that no agent may break. A part that cannot be
    read says so with the reason; it never looks like a part in which nothing happened.
    """
    now_ms = engine.now_ms
    since_ms = now_ms - days * DAY_MS
    engine.load_catalog()
    engine.load_metadata()
    parts: tuple[tuple[str, Callable[[], ReportSection]], ...] = (
        ("Memory of the agents", lambda: _alive(engine, environ, cwd)),
        ("Learned", lambda: _learned(engine, days)),
        ("Used", lambda: _used(engine, environ, cwd, days)),
        ("Cost", lambda: _cost(engine, environ, cwd, since_ms)),
        ("Changed and fading", lambda: _changed(engine, since_ms, days)),
        ("Store", lambda: _store(engine, now_ms)),
        ("Saved questions", lambda: _questions(engine, cases)),
        ("Permissions", lambda: _permissions(engine, environ, cwd, rules)),
    )
    sections = tuple(_guarded(name, part) for name, part in parts)
    return PeriodReport(engine.info.name, since_ms, now_ms, sections)


def _guarded(name: str, part: Callable[[], ReportSection]) -> ReportSection:
    try:
        return part()
    except MemtuiError as failure:
        return ReportSection(name, "unknown", (("not read", f"{failure.message} {failure.fix}".strip()),))


def _preview(text: str) -> str:
    line = " ".join(mask(text)[0].split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _counts(found: Iterable[str], most: int = 5) -> str:
    counts = Counter(found).most_common()
    shown = ", ".join(f"{name or '(none)'} {count:,}" for name, count in counts[:most])
    return shown + (f" and {len(counts) - most} more" if len(counts) > most else "")


def _alive(engine: Engine, environ: Mapping[str, str], cwd: Path) -> ReportSection:
    found = check_alive(environ, cwd, now_ms=engine.now_ms).of_store(engine.info.uri)
    if not found.agents:
        said = "none is configured for this store"
        return ReportSection("Memory of the agents", "good", (("agents", said),))
    verdict: Verdict = {"alive": "good", "dead": "wrong"}.get(found.verdict, "unknown")  # type: ignore[assignment]
    rows = [
        (f"{agent.agent}: {part.part} is {part.state}", part.sentence)
        for agent in found.agents
        for part in agent.parts
        if part.state in ("dead", "weak")
    ]
    return ReportSection("Memory of the agents", verdict, (("verdict", found.summary),), tuple(rows[:LISTED]))


def _learned(engine: Engine, days: int) -> ReportSection:
    view = engine.view(ListQuery(filter=f"age<{days}d", sort="-importance"))
    kept = engine.page(view, 0, min(view.total, 10_000))
    facts = [("memories", f"{view.total:,}")]
    if kept:
        facts += [
            ("by scope", _counts(memory.scope or "" for memory in kept)),
            ("by category", _counts(memory.category or "" for memory in kept)),
        ]
    by_day = [0] * days
    for memory in kept:
        ago = (engine.now_ms - memory.timestamp_ms) // DAY_MS
        if 0 <= ago < days:
            by_day[days - 1 - ago] += 1
    rows = tuple((_preview(memory.text), memory.scope or "(no scope)") for memory in kept[:LISTED])
    return ReportSection("Learned", "good", tuple(facts), rows, tuple(by_day))


def _used(engine: Engine, environ: Mapping[str, str], cwd: Path, days: int) -> ReportSection:
    found = read_economy(engine, environ, cwd)
    by_day = found.by_day[-days:]
    facts = [
        ("injections", f"minimum {sum(by_day):,}"),
        ("turns of all sessions", f"{found.turns:,}"),
        ("turns without a memory", f"{found.silent:,}"),
        ("turns not recorded", f"{found.unknown:,}"),
    ]
    rows = [
        (memory.preview, f"injected {counted(memory.times, 'time')} or more in {MOST_DAYS} days")
        for memory in found.most[:LISTED]
    ]
    tokens = sum(memory.tokens for memory in found.dearest)
    if found.dearest:
        facts.append(("injected, apparently unused", f"about {tokens:,} tokens"))
        rows += [
            (
                memory.preview,
                f"about {memory.tokens:,} tokens in {counted(memory.times, 'turn')}, apparently unused",
            )
            for memory in found.dearest[:3]
        ]
    return ReportSection("Used", "good", tuple(facts), tuple(rows), by_day)


def _cost(engine: Engine, environ: Mapping[str, str], cwd: Path, since_ms: int) -> ReportSection:
    """What the injections cost; each figure says whether it was measured or estimated."""
    report = read_cost(engine, environ, cwd, since_ms=since_ms)
    total = report.total
    if not total.turns:
        return ReportSection("Cost", "good", (("turns", "no session of these days"),))
    share = total.used_share
    measured, estimated = total.measured, total.estimated
    facts = (
        ("injected", f"{total.tokens:,} tokens, estimated" if total.recorded else "not recorded"),
        ("used", "not recorded" if share is None else f"{share:.0%} of these tokens, estimated"),
        (
            "block changed",
            f"in {total.changed} of {counted(total.pairs, 'turn')}" if total.pairs else "not recorded",
        ),
        (
            "prompt cache",
            f"{measured.read:,} tokens read, {measured.written:,} written, measured in "
            f"{counted(total.measured_turns, 'turn')}"
            if total.measured_turns
            else f"{estimated.read:,} tokens read, {estimated.written:,} written, estimated"
            if total.estimated_turns
            else "not recorded",
        ),
        ("note", NEVER_COMPARED),
    )
    return ReportSection("Cost", "good", facts)


def _changed(engine: Engine, since_ms: int, days: int) -> ReportSection:
    entries = [
        entry for entry in engine.write_state.journal.entries(limit=10_000) if entry.time_ms >= since_ms
    ]
    ahead = find_crossings(engine, days=float(days), scenario=SCENARIOS[0], settings=own_settings(engine))
    facts = [
        ("changes through memtui", _counts(entry.action for entry in entries) or "none"),
        (
            f"in the next {counted(days, 'day')}",
            _counts(_FATES[crossing.kind] for crossing in ahead) or "nothing fades",
        ),
    ]
    rows = [
        (_preview(entry.title), f"entry {entry.entry}, {counted(entry.rows, 'row')}") for entry in entries
    ]
    return ReportSection("Changed and fading", "good", tuple(facts), tuple(rows[:LISTED]))


def _store(engine: Engine, now_ms: int) -> ReportSection:
    info = engine.info
    found = examine(patient_of(engine, now_ms=now_ms), passes=("facts", "light"))
    grave = [finding for finding in found.findings if finding.severity in ("S1", "S2")]
    facts = (
        ("memories", f"{info.rows:,}"),
        ("size", f"{info.size_bytes / 1e6:,.1f} MB"),
        ("findings of the doctor", f"{len(found.findings)}, {len(grave)} of severity 1 or 2"),
    )
    rows = [
        (_preview(finding.seen.sentence), f"{finding.kind}, {finding.severity}") for finding in found.findings
    ]
    verdict: Verdict = "wrong" if grave else "unknown" if found.unlooked else "good"
    return ReportSection("Store", verdict, facts, tuple(rows[:LISTED]))


def _questions(engine: Engine, file: Path | None) -> ReportSection:
    saved = CaseBook(file).cases() if file is not None else ()
    if not saved:
        return ReportSection("Saved questions", "good", (("questions", "none saved: memtui cases add"),))
    report = run_cases(saved, CaseSetup("A", engine.default_recipe), engine.recall, engine.memories)
    if engine.withheld:
        said = f"not measured: {engine.withheld}; --send measures it"
        return ReportSection("Saved questions", "unknown", (("questions", f"{len(saved)}"), ("recall", said)))
    failed = [answer for answer in report.answers if _fails(answer)]
    recall = report.mean.get("recall")
    facts = (
        ("questions", f"{len(saved)}"),
        ("recall", "not measured" if recall is None else f"{recall:.2f}"),
        ("not answered as saved", f"{len(failed)}"),
    )
    rows = [(_preview(answer.case.query), _fails(answer)) for answer in failed]
    return ReportSection("Saved questions", "wrong" if failed else "good", facts, tuple(rows[:LISTED]))


def _fails(answer: CaseAnswer) -> str:
    """Why an answer is not what its case asks for; empty where it is."""
    if answer.error:
        return answer.error
    if answer.missing:
        return f"{counted(len(answer.missing), 'expected memory', 'expected memories')} not in the store any more"
    found = answer.measures
    if found is None:
        return "not answered"
    if found.rejected:
        return "a rejected memory came back"
    if found.silence == 0:
        return "memories came back where none was expected"
    return "" if found.recall in (None, 1.0) else f"{found.recall:.0%} of the expected memories came back"


def _permissions(
    engine: Engine, environ: Mapping[str, str], cwd: Path, rules: Sequence[DenyRule]
) -> ReportSection:
    rights = read_rights(engine, environ, cwd)
    facts = [("agents", f"{len(rights.matrix.agents)}"), ("deny rules", f"{len(rules)}")]
    if rules and rights.access is None:
        return ReportSection(
            "Permissions", "unknown", (*facts, ("not checked", "the configuration cannot be read"))
        )
    broken = rights.matrix.broken(rules, rights.access)
    rows = [(f"{each.cell.agent} reaches {each.cell.scope}", each.cell.reason) for each in broken]
    return ReportSection("Permissions", "wrong" if broken else "good", tuple(facts), tuple(rows[:LISTED]))
