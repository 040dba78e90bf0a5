"""Bringing memories in and taking them out: readers, a plan, a ledger of what is lost, writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.providers.chat import ChatClient, ChatSettings, HourBudget
    from memtui.engine.providers.embedder import Embedder, embedder_named
    from memtui.engine.providers.embedding_services import KNOWN_DIMENSIONS
    from memtui.engine.providers.reply_json import whole_items
    from memtui.engine.providers.static_embedder import BUNDLED_DIMS
    from memtui.engine.transfer.exporting.export import PastExport
    from memtui.engine.transfer.exporting.request import (
        EXPORT_FORMATS,
        EXPORT_TITLES,
        FOLDERS,
        Exported,
        ExportRequest,
    )
    from memtui.engine.transfer.exporting.rows import CHOOSABLE, fields_of, left_out, parse_fields
    from memtui.engine.transfer.facade import ImportPreview
    from memtui.engine.transfer.importing.adding import as_source
    from memtui.engine.transfer.importing.embedding_cost import Cost
    from memtui.engine.transfer.importing.import_plan import ImportPlan, ImportResult, PlannedRecord
    from memtui.engine.transfer.importing.request import (
        GROUPS,
        MEANINGS,
        NEAR,
        SWITCHABLE,
        Group,
        ImportRequest,
        Resolution,
        parse_numbers,
    )
    from memtui.engine.transfer.importing.unfinished import Unfinished
    from memtui.engine.transfer.migration import FORM_TITLES, FORMS, Form, Migration, Migrator, request_for
    from memtui.engine.transfer.readers.kinds import Detected
    from memtui.engine.transfer.readers.registry import FORMATS, KINDS
    from memtui.engine.transfer.record import FieldLoss
    from memtui.engine.transfer.reembed.build import Estimate, Origin, Reembedded
    from memtui.engine.transfer.reembed.rehearse import Rehearsal
    from memtui.engine.transfer.reembed.switch import back, last_switch, note_of
    from memtui.engine.transfer.repairs import REPAIRS
    from memtui.engine.transfer.scope_mapping import parse_scopes
    from memtui.engine.transfer.sources.column_mapping import ROLES, parse_mapping
    from memtui.engine.transfer.sources.original_lines import SourceLines, source_lines
    from memtui.engine.transfer.sources.paths import (
        GivenPath,
        common_start,
        completions,
        given_paths,
        looks_like_paths,
    )
    from memtui.engine.transfer.sources.preview import SourcePreview
    from memtui.engine.transfer.sources.values import read_time

__all__ = [
    "BUNDLED_DIMS",
    "CHOOSABLE",
    "EXPORT_FORMATS",
    "EXPORT_TITLES",
    "FOLDERS",
    "FORMATS",
    "FORMS",
    "FORM_TITLES",
    "GROUPS",
    "KINDS",
    "KNOWN_DIMENSIONS",
    "MEANINGS",
    "NEAR",
    "REPAIRS",
    "ROLES",
    "SWITCHABLE",
    "ChatClient",
    "ChatSettings",
    "Cost",
    "Detected",
    "Embedder",
    "Estimate",
    "ExportRequest",
    "Exported",
    "FieldLoss",
    "Form",
    "GivenPath",
    "Group",
    "HourBudget",
    "ImportPlan",
    "ImportPreview",
    "ImportRequest",
    "ImportResult",
    "Migration",
    "Migrator",
    "Origin",
    "PastExport",
    "PlannedRecord",
    "Reembedded",
    "Rehearsal",
    "Resolution",
    "SourceLines",
    "SourcePreview",
    "Unfinished",
    "as_source",
    "back",
    "common_start",
    "completions",
    "embedder_named",
    "fields_of",
    "given_paths",
    "last_switch",
    "left_out",
    "looks_like_paths",
    "note_of",
    "parse_fields",
    "parse_mapping",
    "parse_numbers",
    "parse_scopes",
    "read_time",
    "request_for",
    "source_lines",
    "whole_items",
]

__getattr__ = lazy_names(
    __name__,
    {
        "BUNDLED_DIMS": "memtui.engine.providers.static_embedder",
        "CHOOSABLE": "memtui.engine.transfer.exporting.rows",
        "ChatClient": "memtui.engine.providers.chat",
        "ChatSettings": "memtui.engine.providers.chat",
        "Cost": "memtui.engine.transfer.importing.embedding_cost",
        "Detected": "memtui.engine.transfer.readers.kinds",
        "EXPORT_FORMATS": "memtui.engine.transfer.exporting.request",
        "EXPORT_TITLES": "memtui.engine.transfer.exporting.request",
        "Embedder": "memtui.engine.providers.embedder",
        "Estimate": "memtui.engine.transfer.reembed.build",
        "ExportRequest": "memtui.engine.transfer.exporting.request",
        "Exported": "memtui.engine.transfer.exporting.request",
        "FOLDERS": "memtui.engine.transfer.exporting.request",
        "FORMATS": "memtui.engine.transfer.readers.registry",
        "FORMS": "memtui.engine.transfer.migration",
        "FORM_TITLES": "memtui.engine.transfer.migration",
        "FieldLoss": "memtui.engine.transfer.record",
        "Form": "memtui.engine.transfer.migration",
        "GROUPS": "memtui.engine.transfer.importing.request",
        "GivenPath": "memtui.engine.transfer.sources.paths",
        "Group": "memtui.engine.transfer.importing.request",
        "HourBudget": "memtui.engine.providers.chat",
        "ImportPlan": "memtui.engine.transfer.importing.import_plan",
        "ImportPreview": "memtui.engine.transfer.facade",
        "ImportRequest": "memtui.engine.transfer.importing.request",
        "ImportResult": "memtui.engine.transfer.importing.import_plan",
        "KINDS": "memtui.engine.transfer.readers.registry",
        "KNOWN_DIMENSIONS": "memtui.engine.providers.embedding_services",
        "MEANINGS": "memtui.engine.transfer.importing.request",
        "Migration": "memtui.engine.transfer.migration",
        "Migrator": "memtui.engine.transfer.migration",
        "NEAR": "memtui.engine.transfer.importing.request",
        "Origin": "memtui.engine.transfer.reembed.build",
        "PastExport": "memtui.engine.transfer.exporting.export",
        "PlannedRecord": "memtui.engine.transfer.importing.import_plan",
        "REPAIRS": "memtui.engine.transfer.repairs",
        "ROLES": "memtui.engine.transfer.sources.column_mapping",
        "Reembedded": "memtui.engine.transfer.reembed.build",
        "Rehearsal": "memtui.engine.transfer.reembed.rehearse",
        "Resolution": "memtui.engine.transfer.importing.request",
        "SWITCHABLE": "memtui.engine.transfer.importing.request",
        "SourceLines": "memtui.engine.transfer.sources.original_lines",
        "SourcePreview": "memtui.engine.transfer.sources.preview",
        "Unfinished": "memtui.engine.transfer.importing.unfinished",
        "as_source": "memtui.engine.transfer.importing.adding",
        "back": "memtui.engine.transfer.reembed.switch",
        "common_start": "memtui.engine.transfer.sources.paths",
        "completions": "memtui.engine.transfer.sources.paths",
        "embedder_named": "memtui.engine.providers.embedder",
        "fields_of": "memtui.engine.transfer.exporting.rows",
        "given_paths": "memtui.engine.transfer.sources.paths",
        "last_switch": "memtui.engine.transfer.reembed.switch",
        "left_out": "memtui.engine.transfer.exporting.rows",
        "looks_like_paths": "memtui.engine.transfer.sources.paths",
        "note_of": "memtui.engine.transfer.reembed.switch",
        "parse_fields": "memtui.engine.transfer.exporting.rows",
        "parse_mapping": "memtui.engine.transfer.sources.column_mapping",
        "parse_numbers": "memtui.engine.transfer.importing.request",
        "parse_scopes": "memtui.engine.transfer.scope_mapping",
        "read_time": "memtui.engine.transfer.sources.values",
        "request_for": "memtui.engine.transfer.migration",
        "source_lines": "memtui.engine.transfer.sources.original_lines",
        "whole_items": "memtui.engine.providers.reply_json",
    },
)
