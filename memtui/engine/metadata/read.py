"""A row's metadata as memory-lancedb-pro reads it: every key normalised, every absent one defaulted."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from memtui.engine.core import iso_time
from memtui.engine.core.javascript import LINE, SAFE_INTEGER, SPACE, number, trim, utf16_len, whole
from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.metadata.categories import (
    MAPPED_REFLECTION,
    TEMPORAL_VERSIONED,
    normalise_category,
    smart_of,
)

DEFAULT_CONFIDENCE = 0.7

DEFAULT_IMPORTANCE = 0.7

_OLD_SCALE = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.8, 5: 0.95}

SECONDS_BELOW = 1e12
"""A time below this is taken as seconds."""

SOURCES = ("manual", "auto-capture", "reflection", "dreaming-engine", "session-summary", "legacy")

TEMPORAL_TYPES = ("static", "dynamic")

_SOURCE_OF_TYPE = {
    "session-summary": "session-summary",
    "memory-reflection": "reflection",
    "memory-reflection-item": "reflection",
    MAPPED_REFLECTION: "reflection",
}

_REFLECTIVE = ("reflection", "dreaming-engine", "session-summary")

_DURABLE = ("profile", "preferences", "events")

_LONGEST_INT = 400
"""More digits than a double can hold; Python refuses to parse very long ones."""

_TOPIC_LENGTH = 120

_BEFORE_COLON = re.compile(f"({LINE}{{1,{_TOPIC_LENGTH}}}?)[：:]")

_BEFORE_ARROW = re.compile(f"({LINE}{{1,{_TOPIC_LENGTH}}}?)[{SPACE}]*[-=]>")

_SPACES = re.compile(f"[{SPACE}]+")

_END_MARKS = "。.!?"


class Metadata(NamedTuple):
    """Normalised metadata; times in milliseconds since the epoch, None where absent.

    A tuple, because every candidate of every recall has one: a frozen dataclass takes 30 times as long to make.
    """

    l0_abstract: str
    l1_overview: str
    l2_content: str
    memory_category: str
    """The stored word verbatim, whatever it is; derived from the column when there is none."""
    tier: str
    access_count: int
    confidence: float
    last_accessed_at: int
    valid_from: int
    invalidated_at: int | None
    valid_until: int | None
    memory_temporal_type: str | None
    fact_key: str | None
    supersedes: str | None
    superseded_by: str | None
    canonical_id: str | None
    source_session: str | None
    state: str
    source: str
    memory_layer: str
    injected_count: int
    last_injected_at: int | None
    last_confirmed_use_at: int | None
    bad_recall_count: int
    suppressed_until_turn: int
    suppressed_until_ms: int | None
    """None: never touched; 0: not suppressed."""
    values: Mapping[str, Any]
    """The parsed object with all its keys, as stored."""
    valid: bool
    """False when something is stored that is not a JSON object."""

    def active(self, t_ms: float) -> bool:
        """valid_from <= t, and not invalidated by then."""
        return self.valid_from <= t_ms and (not self.invalidated_at or self.invalidated_at > t_ms)

    def expired(self, t_ms: float) -> bool:
        """valid_until <= t."""
        return self.valid_until is not None and self.valid_until <= t_ms

    def suppressed(self, t_ms: float) -> bool:
        """Whether auto-recall leaves the memory out at t."""
        return self.suppressed_until_ms is not None and t_ms < self.suppressed_until_ms


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_INT else float(digits)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


_decode = json.JSONDecoder(parse_int=_whole_number, parse_constant=_refuse).decode


def parse_object(raw: str | None) -> tuple[dict[str, Any], bool]:
    """The metadata object and whether what is stored is one.

    Nothing stored is an empty object and no fault; an array gives its indices as keys; what does not
    parse, and any other JSON value, gives an empty object.
    """
    if not raw:
        return {}, True
    try:
        value = _decode(raw)
    except RecursionError:
        try:
            value = loads(raw)
        except ValueError:
            return {}, False
    except ValueError:
        return {}, False
    if isinstance(value, dict):
        return value, True
    if isinstance(value, list):
        return {str(i): item for i, item in enumerate(value)}, False
    return {}, False


def normalise(
    raw: str | None, *, text: str, category: str | None, timestamp_ms: float | None, now_ms: int
) -> Metadata:
    """Read the metadata of one row with the text, column category and time of that row.

    `timestamp_ms` None means that the row has no time: `now_ms` stands in for it.
    """
    values, valid = parse_object(raw)
    get = values.get
    stamp: Any = now_ms if timestamp_ms is None else timestamp_ms
    row_type = get("type")
    stored_category = get("memory_category")
    word: str = (
        stored_category if isinstance(stored_category, str) else smart_of(category, text, row_type=row_type)
    )
    l0 = text_or(get("l0_abstract"), text)
    source = one_of(
        SOURCES, get("source"), _SOURCE_OF_TYPE.get(row_type) if isinstance(row_type, str) else None, "legacy"
    )
    state = one_of(STATES, get("state"), "archived" if source == "session-summary" else None, "confirmed")
    temporal = get("memory_temporal_type")
    session = get("source_session")
    valid_from = positive(get("valid_from"), stamp)
    invalidated = positive(get("invalidated_at"), None)
    suppressed = get("suppressed_until_ms")
    return Metadata(
        l0_abstract=l0,
        l1_overview=text_or(get("l1_overview"), "- " + l0),
        l2_content=text_or(get("l2_content"), text),
        memory_category=word,
        tier=tier_of(get("tier")),
        access_count=count(get("access_count", _ABSENT), 0),
        confidence=share(get("confidence", _ABSENT), DEFAULT_CONFIDENCE),
        last_accessed_at=count(get("last_accessed_at", _ABSENT), stamp),
        valid_from=valid_from,
        invalidated_at=invalidated if invalidated and invalidated >= valid_from else None,
        valid_until=positive(get("valid_until"), None),
        memory_temporal_type=temporal if isinstance(temporal, str) and temporal in TEMPORAL_TYPES else None,
        fact_key=text_or(get("fact_key"), None) or fact_key(word, l0),
        supersedes=text_or(get("supersedes"), None),
        superseded_by=text_or(get("superseded_by"), None),
        canonical_id=text_or(get("canonical_id"), None),
        source_session=session if isinstance(session, str) else None,
        state=state,
        source=source,
        memory_layer=one_of(LAYERS, get("memory_layer"), _layer(source, state, word, row_type), "working"),
        injected_count=count(get("injected_count", _ABSENT), 0),
        last_injected_at=positive(get("last_injected_at"), None),
        last_confirmed_use_at=positive(get("last_confirmed_use_at"), None),
        bad_recall_count=count(get("bad_recall_count", _ABSENT), 0),
        suppressed_until_turn=count(get("suppressed_until_turn", _ABSENT), 0),
        suppressed_until_ms=None if suppressed is None else count(suppressed, 0),
        values=values,
        valid=valid,
    )


def _layer(source: str, state: str, category: str, row_type: Any) -> str:
    if source in _REFLECTIVE and row_type != MAPPED_REFLECTION:
        return "reflection"
    if state == "archived":
        return "archive"
    return "durable" if normalise_category(category) in _DURABLE else "working"


def fact_key(category: str, abstract: str) -> str | None:
    """`category:topic` of what a versioned memory is about: the abstract up to its first colon or arrow.

    None for categories that are not versioned and for a blank abstract.
    """
    if category not in TEMPORAL_VERSIONED:
        return None
    topic = trim(abstract)
    if ":" in topic or "：" in topic or ">" in topic:
        heads = (pattern.match(topic) for pattern in (_BEFORE_COLON, _BEFORE_ARROW))
        topic = next((head[1] for head in heads if head and utf16_len(head[1]) <= _TOPIC_LENGTH), topic)
    topic = trim(_SPACES.sub(" ", topic.lower()).rstrip(_END_MARKS))
    return f"{category}:{topic}" if topic else None


_ABSENT: Any = object()
"""A missing key, where a null is not the same: JavaScript reads null as the number 0."""


def count(value: Any, default: Any) -> Any:
    """A whole number of at least 0, rounded down; else `default`."""
    if type(value) is int and 0 <= value <= SAFE_INTEGER:
        return value
    if value is _ABSENT:
        return default
    n = number(value)
    return whole(n) if math.isfinite(n) and n >= 0 else default


def positive(value: Any, default: Any) -> Any:
    """A time above 0, rounded down; else `default`."""
    if type(value) is int and 0 < value <= SAFE_INTEGER:
        return value
    if value is None or value is _ABSENT:
        return default
    n = number(value)
    return whole(n) if math.isfinite(n) and n > 0 else default


def share(value: Any, default: float) -> float:
    """A number clamped to 0..1; `default` for what is no finite number."""
    if value is _ABSENT:
        return default
    n = number(value)
    return min(1.0, max(0.0, n)) if math.isfinite(n) else default


def text_or(value: Any, default: Any) -> Any:
    """A trimmed text that is not blank; else `default`."""
    return (isinstance(value, str) and trim(value)) or default


def tier_of(value: Any) -> str:
    """A known tier, `working` for anything else."""
    return value if isinstance(value, str) and value in TIERS else "working"


def one_of(words: tuple[str, ...], value: Any, derived: str | None, default: str) -> str:
    """`value` when it is one of `words`; absent or null: `derived` or `default`; anything else: `default`."""
    if value is None:
        return derived or default
    return value if isinstance(value, str) and value in words else default


def coerce_importance(value: Any) -> float:
    """An importance clamped to 0..1; 0.7 for what is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return DEFAULT_IMPORTANCE
    return min(1.0, max(0.0, float(value)))


def legacy_importance(value: Any) -> float:
    """An importance that may be on the old scale of 1 to 5; what is not on it is clamped to 0..1."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return _OLD_SCALE.get(value, coerce_importance(value)) if known else DEFAULT_IMPORTANCE


def coerce_timestamp(value: Any) -> int:
    """Milliseconds since the epoch, rounded down; seconds and ISO 8601 text are recognised, 0 for what is no time."""
    n = number(value)
    if math.isnan(n) and isinstance(value, str):
        return iso_time.milliseconds(value)
    if not math.isfinite(n) or n <= 0:
        return 0
    ms = whole(n)
    return ms * 1000 if ms < SECONDS_BELOW else ms


def read_time(value: Any, zone: str = "", unit: str = "") -> int:
    """Milliseconds since the epoch, rounded down; 0 for what is no time, or one before 1970.

    `zone` is that of texts and moments which name none; `unit` that of numbers (see `dialects.base.TimeForm`).
    """
    if isinstance(value, date):
        return max(0, iso_time.moment_microseconds(value, zone) // 1000)
    n = number(value)
    if math.isnan(n) and isinstance(value, str):
        return iso_time.milliseconds(value, zone)
    if unit in ("", "iso") or not math.isfinite(n) or n <= 0:
        return coerce_timestamp(value)
    if unit == "by size":
        unit = "s" if n < 1e11 else "ms" if n < 1e14 else "us" if n < 1e17 else "ns"
    return whole(n * {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}[unit])


# JSON nested deeper than the standard library can go, read and written with a stack of its own.

_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(json.decoder)["scanstring"]

_WHITE = re.compile(r"[ \t\n\r]*")

_SCALAR = re.compile(r'[^\[\]{}",:\s]+')


def loads(text: str) -> Any:
    """The value of a JSON text of any depth; ValueError when it is not JSON (NaN and Infinity are not)."""
    return _Reader(text).read()


def finite(value: Any) -> Any:
    """A value as JSON can hold it: None, as JavaScript writes it, for what is not a number or infinite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


def dump_json(value: Any, *, default: Callable[[Any], Any] = str, **options: Any) -> str:
    """`json.dumps` for values of any depth: what is nested too deep for it is written on one line."""
    try:
        return json.dumps(value, default=default, **options)
    except RecursionError:
        encode = json.JSONEncoder(
            ensure_ascii=options.get("ensure_ascii", True), allow_nan=options.get("allow_nan", True)
        ).encode
        return "".join(_written(value, encode, default))


def _written(value: Any, encode: Callable[[Any], str], default: Callable[[Any], Any]) -> Iterator[str]:
    """The pieces of a JSON text; containers that are still open wait on a list."""
    waiting: list[Any] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Piece):
            yield each
        elif isinstance(each, Mapping):
            waiting.append(_Piece("}"))
            for at, (key, item) in enumerate(reversed(list(each.items()))):
                name = key if isinstance(key, str) else encode(key)
                comma = "," if at < len(each) - 1 else ""
                waiting += [item, _Piece(f"{comma}{encode(name)}:")]
            yield "{"
        elif isinstance(each, list | tuple):
            waiting.append(_Piece("]"))
            for at, item in enumerate(reversed(each)):
                waiting += [item, _Piece("," if at < len(each) - 1 else "")]
            yield "["
        elif each is None or isinstance(each, str | int | float):
            yield encode(each)
        else:
            waiting.append(default(each))


class _Piece(str):
    """A piece of JSON text that is written as it is."""

    __slots__ = ()


class _Reader:
    """One pass over a text; containers that are still open wait on a list, not on the call stack."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> Any:
        """The value of the whole text."""
        top: list[Any] = []
        open_containers: list[Any] = []
        put: Callable[[Any], None] = top.append
        while True:
            value = self._value()
            put(value)
            if isinstance(value, list | dict) and not self._take("]" if isinstance(value, list) else "}"):
                open_containers.append(value)
                put = self._slot(value)
                continue
            while open_containers and not self._take(","):
                container = open_containers[-1]
                self._need("]" if isinstance(container, list) else "}")
                open_containers.pop()
            if not open_containers:
                break
            put = self._slot(open_containers[-1])
        self._skip_white()
        if self._at != len(self._text):
            raise self._fault("extra data")
        return top[0]

    def _value(self) -> Any:
        """A scalar, or an empty container just opened."""
        if self._take("["):
            return []
        if self._take("{"):
            return {}
        if self._next() == '"':
            return self._string()
        match = _SCALAR.match(self._text, self._at)
        if match is None:
            raise self._fault("no value")
        self._at = match.end()
        return json.loads(match[0], parse_constant=_deep_json_refuse, parse_int=_deep_json_whole_number)

    def _slot(self, container: Any) -> Callable[[Any], None]:
        """Where the next value of an open container goes; reads the key of an object."""
        if isinstance(container, list):
            return container.append
        if self._next() != '"':
            raise self._fault("no key")
        key = self._string()
        self._need(":")
        return lambda value: container.__setitem__(key, value)

    def _string(self) -> str:
        value, self._at = _scan_string(self._text, self._at + 1, True)
        return value

    def _next(self) -> str:
        self._skip_white()
        return self._text[self._at : self._at + 1]

    def _take(self, mark: str) -> bool:
        if self._next() != mark:
            return False
        self._at += 1
        return True

    def _need(self, mark: str) -> None:
        if not self._take(mark):
            raise self._fault(f"no {mark}")

    def _skip_white(self) -> None:
        if match := _WHITE.match(self._text, self._at):
            self._at = match.end()

    def _fault(self, what: str) -> ValueError:
        return ValueError(f"{what} at {self._at}")


def _deep_json_refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _deep_json_whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float(digits)
