"""The report of some days: what each part says of a store whose days are known, and that it only reads."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from memtui.engine import open_engine
from memtui.engine.access import read_rules
from memtui.engine.cases import Case, CaseBook
from memtui.engine.report import PeriodReport, ReportSection, as_html, as_markdown, write_report
from memtui.engine.report.page import bars
from tests.conftest import NOW_MS, tree_hash
from tests.engine.pro_store import row, write_store

DAY = 86_400_000
SECRET = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    rows = [
        row("new1", "The gateway port is 8443", (1, 0), timestamp=NOW_MS - DAY // 2, scope="project:atlas"),
        row("new2", f"The key of the gateway is {SECRET}", (0, 1), timestamp=NOW_MS - 3 * DAY),
        row("new3", "# A heading | *bold* <script>alert(1)</script>", (0.6, 0.8), timestamp=NOW_MS - 3 * DAY),
        row("old1", "The printer hangs on Fridays", (0.8, 0.6), timestamp=NOW_MS - 40 * DAY),
    ]
    write_store(tmp_path / "store", rows, dims=2)
    return tmp_path


def report_of(home: Path, **more: object) -> PeriodReport:
    environ = {"HOME": str(home)}
    engine = open_engine(home / "store", now=lambda: NOW_MS, environ=environ, cwd=home, state=home / "state")
    engine.send_nothing()
    return write_report(engine, environ, home, **more)  # type: ignore[arg-type]


def part(report: PeriodReport, name: str) -> ReportSection:
    return next(section for section in report.sections if section.name == name)


def test_what_was_learned_is_counted_by_its_days_and_nothing_is_written(home: Path) -> None:
    before = tree_hash(home / "store")
    learned = part(report_of(home), "Learned")
    assert dict(learned.facts)["memories"] == "3"
    assert learned.by_day == (0, 0, 0, 2, 0, 0, 1)
    assert {"project:atlas"} <= {note for _, note in learned.rows}
    assert dict(part(report_of(home, days=1), "Learned").facts)["memories"] == "1"
    assert tree_hash(home / "store") == before


@pytest.mark.parametrize("page", [as_markdown, as_html])
def test_a_page_masks_secrets_and_lays_no_memory_out(home: Path, page: object) -> None:
    text = page(report_of(home))  # type: ignore[operator]
    assert SECRET not in text
    assert "<script" not in text
    assert "The gateway port is 8443" in text
    assert "The printer hangs" not in text


def test_the_page_in_html_is_well_formed_and_loads_nothing(home: Path) -> None:
    opened: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not {"src", "href"} & {name for name, _ in attrs}
            if tag not in ("meta", "rect"):
                opened.append(tag)

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not {"src", "href"} & {name for name, _ in attrs}

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Tags().feed(as_html(report_of(home)))
    assert opened == []


def test_a_saved_question_that_fails_and_a_broken_rule_make_the_report_wrong(home: Path) -> None:
    book = CaseBook(home / "cases.jsonl")
    book.put(Case(id="c1", query="which port?", expected=("gone",), created_ms=NOW_MS))
    found = report_of(home, cases=home / "cases.jsonl", rules=read_rules("deny: * project:atlas"))
    questions = part(found, "Saved questions")
    assert questions.verdict in ("wrong", "unknown")
    assert dict(questions.facts)["questions"] == "1"
    assert part(report_of(home), "Saved questions").verdict == "good"
    assert dict(part(found, "Permissions").facts)["deny rules"] == "1"
    assert found.verdict == "wrong" or questions.verdict == "unknown"


def test_a_part_that_cannot_be_read_says_so_and_is_not_taken_for_a_quiet_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "cases.jsonl").write_bytes(b"\xff\xfe not a case")
    found = part(report_of(home, cases=home / "cases.jsonl"), "Saved questions")
    assert found.verdict == "unknown"
    assert "not read" in dict(found.facts)


def test_each_day_has_a_bar_and_a_day_of_one_is_seen_beside_a_day_of_thousands() -> None:
    assert bars((0, 1, 4_000)) == " ▁█"
    assert bars(()) == ""
