"""The first pass over a source: every record becomes a row in the spool and a few numbers in memory."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core import content_rules, secrets
from memtui.engine.core.column_sieves import suspect_texts, texts_suspected_of_secrets
from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.javascript import trim, utf16_len
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.row_values import hash64
from memtui.engine.transfer.detection import Detected, detect
from memtui.engine.transfer.importing.embedding_cost import VectorChoice
from memtui.engine.transfer.importing.existing import fact_hash, plain_hash, text_hash, text_hash_of
from memtui.engine.transfer.importing.links import linked_ids
from memtui.engine.transfer.importing.near_copies import kind_of, words_of
from memtui.engine.transfer.importing.request import SHORTEST, ImportRequest
from memtui.engine.transfer.importing.to_row import RowBuilder, fresh_id
from memtui.engine.transfer.record import ConversionNote, Read, Record, Rejected
from memtui.engine.transfer.sources.options import ReadOptions, ReadProgress
from memtui.engine.transfer.stored_metadata import mask_json

if TYPE_CHECKING:
    from memtui.engine.transfer.importing.spool import SpoolWriter


TOO_SHORT, NOISE, SECRET, ORDERS, OWN_ID, HAS_VECTOR, MASKED = (1 << bit for bit in range(7))
"""What is known of a record beside its hashes: a row of flags."""

REPEATED = "twice in one object of the source: the last one counts, the others are lost"

_LOOK = 512

_KEPT = 10_000
"""Rejected parts that are kept with their reasons; of more, the reasons are counted."""

_SHORTEST_STORED = 2


@dataclass(frozen=True, slots=True)
class FileState:
    """Size and time of a file: they change when it is written."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> FileState:
        """The state of a file; of a folder, that of its files together."""
        found = path.stat()
        if not path.is_dir():
            return cls(found.st_size, found.st_mtime_ns)
        size, newest = 0, 0
        for folder, _, names in os.walk(path):
            for name in names:
                try:
                    each = os.stat(os.path.join(folder, name), follow_symlinks=False)
                except FileNotFoundError:
                    continue
                size, newest = size + each.st_size, max(newest, each.st_mtime_ns)
        return cls(size, newest)

    def still(self, path: Path) -> bool:
        """Whether the file is as it was."""
        try:
            return FileState.of(path) == self
        except OSError:
            return False


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise MemtuiError at the end when the source is no longer what it was at the start."""
    before = FileState.of(path)
    yield
    if not before.still(path):
        raise MemtuiError(
            f"{path.name} was changed while it was read.",
            fix="Try again when nobody writes to it; nothing was imported.",
        )


@dataclass(slots=True)
class ImportDraft:
    """The records of a source in columns; number i of each belongs to row i of the spool.

    Columns that serve to find copies are empty for our own exports, which are taken as they are.
    """

    ids: array[int] = field(default_factory=lambda: array("q"))
    plain: array[int] = field(default_factory=lambda: array("q"))
    """Of the text alone; 0 is not worked out yet."""
    texts: array[int] = field(default_factory=lambda: array("q"))
    """Of the text in its scope; 0 where no copies are looked for."""
    facts: array[int] = field(default_factory=lambda: array("q"))
    scopes: array[int] = field(default_factory=lambda: array("q"))
    kinds: array[int] = field(default_factory=lambda: array("q"))
    words: array[int] = field(default_factory=lambda: array("q"))
    flags: array[int] = field(default_factory=lambda: array("H"))
    chars: array[int] = field(default_factory=lambda: array("I"))
    names: array[int] = field(default_factory=lambda: array("q"))
    """Hash of the id that the source knows each record by; empty for our own exports, which keep theirs."""
    links: set[str] = field(default_factory=set)
    """Ids of the source that other records of it name: what replaced them, what they replaced."""
    notes: array[int] = field(default_factory=lambda: array("I"))
    """Which set of `note_sets` each record has."""
    note_sets: list[tuple[ConversionNote, ...]] = field(default_factory=list)
    note_examples: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    reasons: dict[tuple[str, bool], int] = field(default_factory=dict)
    """How often each reason for leaving something out came, and whether it is broken."""
    remarks: list[str] = field(default_factory=list)
    secrets: dict[str, int] = field(default_factory=dict)
    """Rows with each kind of secret."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def broken(self) -> int:
        """How many parts of the source cannot be read."""
        return sum(count for (_, broken), count in self.reasons.items() if broken)


class DraftBuilder:
    """Reads sources into a draft and a spool."""

    def __init__(
        self,
        request: ImportRequest,
        target: RowBuilder,
        choice: VectorChoice,
        spool: SpoolWriter,
        now_ms: int,
    ) -> None:
        self._request, self._target, self._choice, self._spool = request, target, choice, spool
        self._now_ms = now_ms
        self._text_hash = text_hash_of(target.dialect)
        self._in_scopes = self._text_hash is text_hash
        self._sets: dict[tuple[ConversionNote, ...], int] = {}
        self._scopes: dict[str | None, int] = {}
        self.draft = ImportDraft()

    def read(
        self,
        detected: list[Detected],
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> ImportDraft:
        """Read every source; MemtuiError when one cannot be read at all, or changes meanwhile."""
        for each in detected:
            with unchanged(each.path):
                self._read_one(each, len(detected) > 1, on_progress, cancel)
        self._spool.close()
        return self.draft

    def _read_one(
        self, source: Detected, several: bool, on_progress: OnProgress | None, cancel: CancelToken | None
    ) -> None:
        request = self._request
        meter = ReadProgress()
        meter.total = 0 if source.path.is_dir() else source.path.stat().st_size
        options = ReadOptions(
            now_ms=self._now_ms,
            mapping=request.mapping or None,
            encoding=request.encoding,
            agent=request.agent,
            prose=request.prose,
            sessions=request.sessions,
            whole=self._target.whole,
            meter=meter,
        )
        lead = f"{source.path.name}, " if several else ""
        waiting: list[Record] = []
        for number, value in enumerate(self._values(source, options)):
            if number % _LOOK == 0:
                if cancel is not None:
                    cancel.check()
                if on_progress:
                    on_progress(Progress(f"reading {source.path.name}", meter.done, meter.total, "bytes"))
            repeated = meter.repeated()
            if isinstance(value, Record):
                value.where = lead + value.where
                for key in repeated:
                    value.lost(key, REPEATED)
                waiting.append(value)
                if len(waiting) >= _LOOK:
                    self._take_all(waiting, source)
                    waiting = []
            elif isinstance(value, Rejected):
                self._reject(value, lead)
            else:
                self.draft.remarks.append(lead + value.what)
        self._take_all(waiting, source)

    @staticmethod
    def _values(source: Detected, options: ReadOptions) -> Iterator[Read]:
        try:
            yield from source.format.reader(source.kind)(source.path, options)
        except (OSError, EOFError) as error:
            raise MemtuiError(
                f"{source.path.name} cannot be read to its end: {error}.",
                fix="Fetch it again; nothing was imported.",
            ) from error

    def _reject(self, each: Rejected, lead: str) -> None:
        draft = self.draft
        reason = (each.why, each.broken)
        draft.reasons[reason] = draft.reasons.get(reason, 0) + 1
        if len(draft.rejected) < _KEPT:
            draft.rejected.append(Rejected(lead + each.where, each.why, each.broken, each.text))

    def _take_all(self, records: list[Record], source: Detected) -> None:
        for record, flags in zip(records, self._judge(records, source), strict=True):
            self._take(record, flags, source)

    def _take(self, record: Record, flags: int, source: Detected) -> None:
        vector = self._choice.vector(record)
        row = self._target.row(record)
        values = row.values
        row_id = str(values.get("id") or "")
        if row_id and self._target.may_keep(row_id):
            flags |= OWN_ID
        else:
            row_id = self._target.named(fresh_id(source.format.name, record))
        values["id"] = row_id
        if vector is not None:
            flags |= HAS_VECTOR
        elif self._request.without_embedding:
            self._target.mark_bare(values)
        text, scope = record.text, values.get(self._target.dialect.columns.scope or "scope")
        draft = self.draft
        draft.ids.append(hash64(row_id))
        draft.flags.append(flags)
        draft.chars.append(len(text))
        draft.notes.append(self._note_set(row.notes, record.where))
        if not source.format.own:
            draft.names.append(hash64(record.id or record.foreign_id or ""))
            draft.links |= linked_ids(values.get("metadata"))
            scope_hash, plain = self._scope_hash(scope), plain_hash(text)
            draft.scopes.append(scope_hash)
            draft.plain.append(plain)
            draft.texts.append(plain ^ scope_hash if self._in_scopes else self._text_hash(text, scope))
            draft.facts.append(fact_hash(values.get("metadata") or "", scope))
            draft.kinds.append(kind_of(text))
            draft.words.append(words_of(text) ^ scope_hash)
        self._spool.add(values, record.where, vector)

    def _judge(self, records: list[Record], source: Detected) -> list[int]:
        """The flags of some texts; masks their secrets when that was asked for."""
        texts = [record.text for record in records]
        flags = [MASKED if record.masked else 0 for record in records]
        for at in suspect_texts(texts, content_rules.order_hint()):
            if content_rules.instruction_like(texts[at]) is not None:
                flags[at] |= ORDERS
        for at in texts_suspected_of_secrets(texts):
            kinds = {secret.kind for secret in secrets.find_secrets(texts[at])}
            for kind in kinds:
                self.draft.secrets[kind] = self.draft.secrets.get(kind, 0) + 1
            if kinds:
                flags[at] |= self._secret(records[at])
        if not source.format.own:
            least = _SHORTEST_STORED if source.format.stored else SHORTEST
            for at, text in enumerate(texts):
                if utf16_len(trim(text)) < least:
                    flags[at] |= TOO_SHORT
                elif noise_rule(text) is not None:
                    flags[at] |= NOISE
        return flags

    def _secret(self, record: Record) -> int:
        """The flag of a text with a secret; none any more when the secret is masked."""
        if not self._request.mask_secrets:
            return SECRET
        record.text = secrets.mask(record.text)[0]
        record.metadata = mask_json(record.metadata)[0]
        if record.row is not None and {"text", "metadata"} <= record.row.keys():
            record.row = {**record.row, "text": record.text, "metadata": record.metadata}
        else:
            record.row = None
        record.lost("text", "secrets in it masked, as asked")
        return MASKED

    def _scope_hash(self, scope: str | None) -> int:
        found = self._scopes.get(scope)
        if found is None:
            found = self._scopes[scope] = hash64(scope or "")
        return found

    def _note_set(self, notes: tuple[ConversionNote, ...], where: str) -> int:
        known = self._sets.get(notes)
        if known is None:
            known = self._sets[notes] = len(self._sets)
            self.draft.note_sets.append(notes)
            self.draft.note_examples.append(where)
        return known


def detect_all(request: ImportRequest) -> list[Detected]:
    """What each source is; MemtuiError when two are of different formats or one is given twice."""
    found = [detect(path, request.format) for path in dict.fromkeys(request.sources)]
    if not found:
        raise MemtuiError("Nothing was named to import.", fix="Name a file or a folder.")
    names = {each.format.name for each in found}
    if len(names) > 1:
        listed = ", ".join(f"{each.path.name}: {each.format.name}" for each in found)
        raise MemtuiError(
            f"The sources are of different forms ({listed}).", fix="Import each format separately."
        )
    return found
