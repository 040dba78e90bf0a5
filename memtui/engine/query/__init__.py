"""The filter language: one parser for the app and the command line.

    term := [-] ( field op value | "quoted phrase" | word | ~semantic words | /regex/ )

White space is *and*, `|` is *or*, parentheses group. `parse` makes a tree in which everything carries
its span, `compile` turns the tree into a mask over the catalog, `chips`, `complete` and `remedies` are
for people who are still typing. Only `compile`, `terms` and `remedies` need numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.query.ast import FieldTerm, Range, Text
    from memtui.engine.query.errors import FilterError
    from memtui.engine.query.matches import match_pattern
    from memtui.engine.query.parser import lex, parse
    from memtui.engine.query.render import add, chips, literal, quoted, remove, rendered, top_terms

__all__ = [
    "FieldTerm",
    "FilterError",
    "Range",
    "Text",
    "add",
    "chips",
    "lex",
    "literal",
    "match_pattern",
    "parse",
    "quoted",
    "remove",
    "rendered",
    "top_terms",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Text": "memtui.engine.query.ast",
        "Range": "memtui.engine.query.ast",
        "FieldTerm": "memtui.engine.query.ast",
        "FilterError": "memtui.engine.query.errors",
        "add": "memtui.engine.query.render",
        "chips": "memtui.engine.query.render",
        "lex": "memtui.engine.query.parser",
        "literal": "memtui.engine.query.render",
        "match_pattern": "memtui.engine.query.matches",
        "parse": "memtui.engine.query.parser",
        "quoted": "memtui.engine.query.render",
        "remove": "memtui.engine.query.render",
        "rendered": "memtui.engine.query.render",
        "top_terms": "memtui.engine.query.render",
    },
)
