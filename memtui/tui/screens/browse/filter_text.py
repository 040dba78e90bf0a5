"""The filter line's view of the filter language: terms that toggle, chips, colours, completion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.engine import ListView, MemtuiError, one_line
from memtui.engine.catalog import (
    complete_in,
)
from memtui.engine.query import (
    FieldTerm,
    FilterError,
    Range,
    Text,
    add,
    chips,
    lex,
    literal,
    parse,
    remove,
    rendered,
    top_terms,
)

if TYPE_CHECKING:
    from memtui.engine.catalog import CompletionItem


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """Why a filter does not work: the sentence, the remedy, and the characters that it is about."""

    message: str
    fix: str
    start: int
    end: int


def term_of(field: str, value: str | None) -> str:
    """The filter term for one stored value; the empty value stands for none."""
    return f"{field}:{literal(value or '')}"


def trouble_of(error: MemtuiError, text: str) -> FilterProblem:
    """The place and the words of a filter error."""
    span = getattr(error, "span", None)
    start, end = (span.start, span.end) if span is not None else (0, len(text))
    start = max(0, min(start, len(text)))
    return FilterProblem(one_line(error.message), one_line(error.fix), start, max(start, min(end, len(text))))


def check(text: str) -> FilterProblem | None:
    """What is wrong with the spelling of a filter; None when it parses."""
    try:
        parse(text)
    except FilterError as error:
        return trouble_of(error, text)
    return None


def without_last(text: str) -> str | None:
    """The filter without what is still being written: the `tier:` of "port tier:", the comma of "tier:core,".

    None where the rest is no filter either.
    """
    rest = text.rstrip(",")
    if rest == text or check(rest) is not None:
        rest = text[: text.rfind(" ") + 1].strip()
    return rest if check(rest) is None else None


def terms(text: str) -> frozenset[str]:
    """The single values that the filter asks for: `tier:core,working` is two. The side panel marks them."""
    try:
        found = top_terms(parse(text))
    except FilterError:
        return frozenset()
    return frozenset(
        term_of(term.name, value.text)
        if isinstance(value, Text)
        else rendered(replace(term, values=(value,)))
        for term in found
        if isinstance(term, FieldTerm) and term.op == ":"
        for value in term.values
        if isinstance(value, Range) or (isinstance(value, Text) and not value.glob)
    )


def toggled(text: str, term: str) -> str:
    """The filter with a `field:value` put in or taken out; values of one field are joined by commas.

    A text that does not parse is replaced: there is nothing in it to keep.
    """
    try:
        return _toggled(text, term)
    except FilterError:
        return term


def _toggled(text: str, term: str) -> str:
    wanted = parse(term)
    if not isinstance(wanted, FieldTerm):
        return add(text, term)
    for index, old in enumerate(top_terms(parse(text))):
        if not isinstance(old, FieldTerm) or (old.name, old.op) != (wanted.name, wanted.op):
            continue
        value = wanted.values[0]
        if value not in old.values:
            better = replace(old, values=(*old.values, value))
        elif len(old.values) == 1:
            return remove(text, index)
        else:
            better = replace(old, values=tuple(each for each in old.values if each != value))
        return text[: old.span.start] + rendered(better) + text[old.span.end :]
    return add(text, term)


def shorter(text: str) -> list[tuple[str, str]]:
    """For each term: the term as written, and the filter without it. Empty for a single term."""
    try:
        found = chips(text)
    except FilterError:
        return []
    return [(chip.text, remove(text, i)) for i, chip in enumerate(found)] if len(found) > 1 else []


def chip_texts(text: str) -> list[str]:
    """The terms of the filter as written; the whole text when it does not parse."""
    try:
        return [chip.text for chip in chips(text)]
    except FilterError:
        return [text] if text.strip() else []


def without(text: str, index: int) -> str:
    """The filter without its chip number `index`."""
    try:
        return remove(text, index)
    except (FilterError, IndexError):
        return ""


def completed(text: str, view: ListView | None = None) -> str | None:
    """The text with its last word completed by the best proposal; None when there is none.

    `view`, the list that is shown, knows the values of the store.
    """
    found = complete_in(view, text, len(text))
    if not found.proposals or found.span.end != len(text) or found.span.start == found.span.end:
        return None
    best = text[: found.span.start] + found.proposals[0].insert
    return best if best.startswith(text) and best != text and one_line(best) == best else None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What can stand at the end of a filter: after `head`, where `written` stands now."""

    head: str
    written: str
    proposals: tuple[CompletionItem, ...]

    def taken(self, insert: str) -> str:
        """The filter with one of them."""
        return self.head + insert


def candidates(text: str, view: ListView | None = None) -> Candidates:
    """Everything that the last word of the filter can become: all values of the field, whatever of one is written."""
    here = complete_in(view, text, len(text))
    start = here.span.start if here.span.end == len(text) else len(text)
    everything = complete_in(view, text[:start], start).proposals
    if not text[:start].rstrip().endswith((":", "=", ">", "<", ",")):
        everything = here.proposals  # names and whole terms: of what is written only
    return Candidates(text[:start], text[start:], everything)


_STYLES = {
    "name": "$primary",
    "op": "$dim",
    "-": "bold $delta-down",
    "|": "bold $key",
    "(": "$dim",
    ")": "$dim",
    "phrase": "$match",
    "regex": "$stage-rerank",
    "~": "bold $stage-vector",
    "value": "$foreground",
}


def coloured(text: str) -> list[tuple[int, int, str]]:
    """Start, end and style of each token, for text that may not be finished."""
    try:
        tokens = lex(text, tolerant=True)
    except FilterError:
        return []
    return [
        (token.span.start, token.span.end, _STYLES[token.kind]) for token in tokens if token.kind in _STYLES
    ]


def choosing(text: str, scopes: tuple[str | None, ...] | None) -> str:
    """The filter with these scopes as a term of it, and without the ~words that only order; empty for everything."""
    try:
        gone = [i for i, chip in enumerate(chips(text)) if chip.kind == "semantic"]
        for index in reversed(gone):
            text = remove(text, index)
        if scopes is None:
            return text
        return add(text, f"scope={','.join(literal(scope or '', '=') for scope in scopes)}")
    except FilterError:
        return ""
