"""A count and its noun go through `counted`: "1 memories", "2 row(s)" and a plural made by hand are found here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tests.conftest import ROOT

PROGRAM = sorted((ROOT / "memtui").rglob("*.py"))

NOUNS = (
    "memories|questions|rows|texts|turns|files|cases|entries|changes|words|results|days|versions|agents|scopes"
    "|sessions|conversations|candidates|clusters|steps|lines|secrets|copies|indexes|matches|places|clients|calls"
    "|findings|items|documents|pieces|vectors|fragments|answers|stores|fields|columns|notes|settings|models|options"
    "|folders|probes|gates|stages|conflicts|links|names|groups|tables|chunks|facts|parts|rounds|hits|bullets|times"
    "|duplicates|records"
)

THINGS = re.compile(rf"^ (?:{NOUNS})\b")

BY_HAND = re.compile(r"[a-z]\((?:s|es|ies)\)(?![a-z])")

NOT_OURS = "memtui/engine/capture/recipes/pro/"
"""Says what memory-lancedb-pro says, letter by letter."""

NO_COUNT = {
    "figure(i.get('e_folding_days'), 1)": "a length of time with its fraction",
    "figure(i.get('half_life_days'), 0)": "a length of time with its fraction",
    "half": "a length of time with its fraction",
    "stretch_words(i, 'met')": "a range of factors",
    "board.ask.horizon_days": "a length of time with its fraction",
    "ratio": "how many times as much",
    "category": "a word",
    "_answers(effect)": "two counts with their signs",
    "lane": "a name: its hits",
    "agent": "a name: what it does",
    "agent.id": "a name: what it does",
    "part": "a name: what it does",
    "self.path": "a name: what it does",
    "plugin": "a name: what it does",
    "file.id": "a name: what it does",
    "urlsplit(url).hostname": "a name: what it does",
    "keys.cap('cases.copy')": "a key: what it does",
    "_dotted(place)": "a name: what it does",
    "'holds' if count.secrets == 1 else 'hold'": "a verb",
}
"""What stands before such a word and is no count."""

NEVER_ONE = {
    "len(at)": "ids that several rows share",
    "len(here)": "ids that several rows share",
    "n": "ids that several rows share",
    "len(found)": "two or more match a name; none and one are said otherwise",
    "len(ids)": "one text for several memories",
    "len(tier)": "two or more to choose from",
    "len(names)": "three or more agents",
    "len(scopes)": "two or more scopes",
    "len(edits)": "one is said otherwise",
    "len(new)": "more than a limit",
    "rows": "more than a limit: vectors of one question",
    "count": "one is said otherwise",
    "times": "one is said otherwise",
    "asked.hot": "at least as many as are enough",
    "self.days": "one is said otherwise",
    "done.files": "one is said otherwise",
    "KEPT.days": "fourteen",
    "self.budget.limit": "calls of an hour, a limit that is some dozens",
    "days": "a length of time",
}


def nodes(source: str) -> list[ast.AST]:
    """What a source consists of, but the words of its grammar."""
    return [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.expr)]


def told(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """What stands before a plural in a sentence that is put together, where it is not `counted`."""
    for node in nodes:
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if (
                isinstance(value, ast.FormattedValue)
                and isinstance(after, ast.Constant)
                and THINGS.match(str(after.value))
            ):
                before = ast.unparse(value.value)
                if (
                    "counted(" not in before
                    and not before.isupper()
                    and not before.rpartition(".")[2].isupper()
                ):
                    yield before


def by_hand(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """ "(s)" in a text, and a choice between "row" and "rows"."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and BY_HAND.search(node.value):
            yield node.value
        if isinstance(node, ast.IfExp) and isinstance(node.orelse, ast.JoinedStr):
            one = node.body.value if isinstance(node.body, ast.Constant) else None
            last = node.orelse.values[-1]
            if isinstance(one, str) and one.startswith("1 ") and isinstance(last, ast.Constant):
                yield f"{one} / {last.value}"


def test_what_is_looked_for_is_found() -> None:
    bad = nodes("f'{count_of(x):,} memories'; 'row(s)'; x = '1 row' if n == 1 else f'{n} rows'")
    assert [*told(bad), *by_hand(bad)] == ["count_of(x)", "n", "row(s)", "1 row /  rows"]
    good = nodes("f'{counted(n, \"memory\", \"memories\")}'; f'{name} rows_of'; 'f(x)'; 'print(s)'")
    assert [*told(good), *(each for each in by_hand(good) if "print" not in each)] == []


def test_a_count_and_its_noun_are_put_together_in_one_place() -> None:
    found, known = {}, set()
    for path in PROGRAM:
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(NOT_OURS):
            continue
        inside = nodes(path.read_text(encoding="utf-8"))
        before = list(told(inside))
        known |= set(before)
        unlisted = [each for each in before if each not in NO_COUNT and each not in NEVER_ONE]
        if wrong := [*unlisted, *by_hand(inside)]:
            found[name] = wrong
    assert found == {}, "counted(count, one, many) of memtui.engine"
    assert sorted((set(NO_COUNT) | set(NEVER_ONE)) - known) == [], "no longer exceptions"
